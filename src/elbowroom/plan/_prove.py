"""prove_path: a path is free, all of it, or the first place where it is not.

Cubic pieces, straight ones too, are proved by `CollisionModel.curves_free`: by spheres, and where these refuse, short
parts as their chords with slack: each joint stays within the bulge of a part, so what is free within it is free on the
curve. Pieces that cannot be proved are halved, which quarters the bulge, until they are proved, a configuration of the
path itself is found to touch something, or they are all but straight. Only a configuration is reported as blocked, one
of the path that the meshes refuse.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from .._clash import Clash
from .._frozen import frozen
from .._text import number
from ..collision import CollisionModel, as_model
from ..collision.internal import as_slacks
from ..errors import InputError
from ..typing import RobotLike
from ._curve import Curve, bulges_of, halves, straight_pieces
from ._path_proof import PathProof

STRAIGHT = 1e-7
"""Bulge (rad, m) below which halving a piece shows nothing new."""
HARDLY = 0.05
"""Share of the slack below which a bulge hardly matters."""
FIRST = 2.0**-10
"""Part of a segment between waypoints to which the first blocked place is known."""

Clock = Callable[[float], float]
"""Seconds at a place of the path."""


class PieceEvidence(NamedTuple):
    """What was proved of the pieces of a curve one by one: evidence for the whole."""

    moves: Bool[np.ndarray, "dof"]
    """Joints that may be off the pieces."""
    spares: Float[np.ndarray, "n"]
    """By how much, rad or m; -1 where nothing is proved."""
    margins: Float[np.ndarray, "n"]
    """Metres of clearance then."""
    segments: int
    """Pieces and halves of pieces that were proved."""

    def covers(self, slack: Float[np.ndarray, "dof"]) -> Bool[np.ndarray, "n"]:
        """Which pieces are proved with joints this far off them (rad, m)."""
        return (slack <= np.where(self.moves, self.spares[:, None], 0.0)).all(axis=1) & (self.spares >= 0.0)


def prove_path(
    model: CollisionModel | RobotLike, path: Any, *, times: Any = None, slack: Any = None
) -> PathProof:
    """Proves that a path is free between its waypoints too, or finds the first place where it is not.

    Args:
        model: the robot, its pairs, attached objects and obstacles.
        path: configurations (n, dof), joined by straight lines in joint space; a `Curve`; or a `Motion`, whose curve
            is proved: speeds do not matter. One configuration is a path too.
        times: (n,) seconds at the waypoints, increasing; a `Motion` has its own.
        slack: (dof,) or a number: how far joints may be off the path, rad or m, at any time in either direction. What a
            controller may be off; or `motion.chord_error(rate)`, and straight lines between rows of
            `motion.resampled(rate)` are proved too (not under limits of jerk; prove the rows).

    Raises:
        InputError: no configurations, wrong shape, NaN, values that no error bound covers, times that do not increase,
            slack that is negative.
    """
    model = as_model(model)
    pieces, clock = _pieces(model, path, times)
    return _proof(model, pieces, clock, as_slacks(slack, 1, model.robot.dof)[0], None)


def prove_rest(
    model: CollisionModel, curve: Curve, slack: Float[np.ndarray, "dof"], evidence: PieceEvidence | None
) -> PathProof:
    """`prove_path` of a curve some pieces of which are proved: only the others are checked.

    Args:
        model: of the evidence.
        curve: of the evidence.
        slack: how far joints may be off it, rad or m.
        evidence: what is known of its pieces; None for nothing.
    """
    return _proof(model, curve.pieces, None, slack, evidence)


def _proof(
    model: CollisionModel,
    pieces: Float[np.ndarray, "k 4 dof"],
    clock: Clock | None,
    row: Float[np.ndarray, "dof"],
    evidence: PieceEvidence | None,
) -> PathProof:
    start = time.perf_counter()
    found = _search(model, pieces, row, evidence)
    place, pair = found.blocked if found.blocked is not None else found.undecided or (None, None)
    if place is None:
        return PathProof.of_free(found.margin, row, found.segments, time.perf_counter() - start)
    decided = found.blocked is not None
    when = None if clock is None else clock(place)
    clash = _measured(model, _at(pieces, place), pair)
    by, distance = (pair, None) if clash is None else (clash.pair, clash.distance)
    still = not np.ptp(pieces.reshape(-1, pieces.shape[2]), axis=0).any()
    where = "where the path stands" if still else _where(place, len(pieces), when)
    return PathProof(
        free=False,
        margin=found.margin,
        blocked_at=place,
        time=when,
        by=by,
        distance=distance,
        decided=decided,
        slack=row,
        segments=found.segments,
        seconds=time.perf_counter() - start,
        refused=_why_not(where, clash, pair, model.buffer, decided, bool(row.any())),
    )


# Search -------------------------------------------------------------------------------------------


class _Found:
    """What the search knows."""

    def __init__(self) -> None:
        self.margin = np.inf
        """Of what is proved."""
        self.segments = 0
        self.blocked: tuple[float, tuple[str, str]] | None = None
        """First place found blocked, and by whom."""
        self.undecided: tuple[float, tuple[str, str]] | None = None
        """First place that was given up."""


def _search(
    model: CollisionModel,
    pieces: Float[np.ndarray, "k 4 dof"],
    slack: Float[np.ndarray, "dof"],
    evidence: PieceEvidence | None,
) -> _Found:
    """Proves pieces, halves what cannot be proved, and looks for the first place that is blocked."""
    found = _Found()
    places = np.arange(len(pieces), dtype=np.float64)
    if evidence is not None:
        known = evidence.covers(slack)
        found.margin = float(evidence.margins[known].min(initial=np.inf))
        found.segments = evidence.segments
        if known.all():
            return found
        pieces, places = pieces[~known], places[~known]
    widths = np.ones(len(pieces))
    end = np.inf
    while len(pieces):
        bulges = bulges_of(pieces)
        proofs = model.curves_free(pieces, slack)
        found.segments += len(pieces)
        found.margin = min(found.margin, float(proofs.clearance[proofs.free].min(initial=np.inf)))
        if proofs.free.all():
            break
        t = np.where(np.isnan(proofs.blocked_at), proofs.undecided_at, proofs.blocked_at)
        at = places + t * widths
        touching = ~np.isnan(proofs.blocked_at)
        for k in np.flatnonzero(touching & (at < end)).tolist():
            if not model.free(_bezier(pieces[k], t[k])):
                end = at[k]
                found.blocked = float(end), proofs.pairs[proofs.pair_idx[k]]
                break
            touching[k] = False  # the chord does, the curve does not
        left = ~proofs.free & (places < end)
        bent = (bulges > STRAIGHT + HARDLY * slack).any(axis=1)
        again = left & (bent | touching) & ((widths > FIRST) | bent & ~touching)
        for k in np.flatnonzero(left & ~again & ~touching).tolist():
            if found.undecided is None or at[k] < found.undecided[0]:
                found.undecided = float(at[k]), proofs.pairs[proofs.pair_idx[k]]
        pieces, widths = halves(pieces[again]), np.repeat(0.5 * widths[again], 2)
        places = np.repeat(places[again], 2)
        places[1::2] += widths[1::2]
    return found


def _measured(
    model: CollisionModel, cfg: Float[np.ndarray, "dof"], pair: tuple[str, str] | None
) -> Clash | None:
    """What touches at a configuration, the deepest, else the pair, else the closest."""
    clashes = model.clashes(cfg)
    if clashes:
        return clashes[0]
    near = model.near(cfg)
    return next((clash for clash in near if clash.pair == pair), near[0] if near else None)


# Pieces -------------------------------------------------------------------------------------------


def _pieces(
    model: CollisionModel, path: Any, times: Any
) -> tuple[Float[np.ndarray, "k 4 dof"], Clock | None]:
    """A path as cubic pieces, one from each waypoint to the next, and its clock."""
    motion, curve = None, path
    if not isinstance(path, Curve) and isinstance(getattr(path, "curve", None), Curve):
        if times is not None:
            raise InputError("times: a motion has its own")
        motion, curve = path, path.curve
    if isinstance(curve, Curve):
        pieces, dof = curve.pieces, model.robot.dof
        if pieces.shape[2] != dof:
            raise InputError(f"{model.robot.name} has {dof} joints, found a curve of {pieces.shape[2]}")
        waypoints = len(pieces) + 1
    else:
        rows = model.robot.as_cfgs(path)
        if len(rows) == 0:
            raise InputError("a path needs at least one configuration, found none")
        pieces = straight_pieces(rows if len(rows) > 1 else rows[[0, 0]])
        waypoints = len(rows)
    if motion is not None:
        return pieces, lambda place: float(np.interp(_parameter(curve, place), motion.places, motion.times))
    return pieces, None if times is None else _clock(times, waypoints)


def _clock(times: Any, n: int) -> Clock:
    seconds = np.asarray(times, dtype=np.float64)
    if seconds.shape != (n,):
        raise InputError(f"times must be ({n},), one for every waypoint, found the shape {seconds.shape}")
    if not np.isfinite(seconds).all() or not (np.diff(seconds) > 0.0).all():
        raise InputError("times must be seconds that increase from waypoint to waypoint")
    return lambda place: float(np.interp(place, np.arange(n), seconds))


def _parameter(curve: Curve, place: float) -> float:
    return float(np.interp(place, np.arange(len(curve.knots)), curve.knots))


def _at(pieces: Float[np.ndarray, "k 4 dof"], place: float) -> Float[np.ndarray, "dof"]:
    """The configuration at a place of the path."""
    k = min(int(place), len(pieces) - 1)
    return _bezier(pieces[k], place - k)


def _bezier(control: Float[np.ndarray, "4 dof"], t: float) -> Float[np.ndarray, "dof"]:
    while len(control) > 1:
        control = control[:-1] * (1.0 - t) + control[1:] * t
    return frozen(control[0])


# Words --------------------------------------------------------------------------------------------


def _where(place: float, pieces: int, when: float | None) -> str:
    """A place of the path; waypoints count from 0."""
    between = f"between waypoints {int(place)} and {int(place) + 1}"
    if place == int(place) or place >= pieces:
        between = f"waypoint {min(int(place), pieces)}"
    return f"at {number(place, 5)} of the path ({between})" + ("" if when is None else f", {number(when)} s")


def _why_not(
    where: str,
    clash: Clash | None,
    pair: tuple[str, str] | None,
    buffer: float,
    decided: bool,
    with_slack: bool,
) -> str:
    """A sentence on the place that is not free."""
    if decided:
        return f"blocked: {'something' if clash is None else clash.refused(buffer)} {where}"
    room = " with this slack" if with_slack else ""
    who = "" if pair is None else f" of {pair[0]} and {pair[1]}"
    measured = "" if clash is None else f"; measured there: {clash}"
    return f"not decided: neither a proof nor a contact{who} was found {where}{room}{measured}"
