"""Audit of a recorded motion: what touches, when and how deep, and what is proved between the rows.

Every row gets the meshes' verdict and a measured clearance. Between two free rows the joints are assumed to move
straight (`segment_free`), so that a gap in the recording is not a gap in the answer: a segment is proved free, blocked
at a place that is named, or too close to tell. Depths of penetration are searched, which takes milliseconds, so in long
contacts they are measured at some rows only: evenly, then around the deepest. Those that are not are NaN.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from .._clash import Clash
from .._frozen import freeze, frozen
from .._parallel import Progress
from ..errors import InputError
from ..typing import LinkPair, RobotLike
from ._audit_report import BLOCKED, CONTACT, PROVED, UNDECIDED, Audit, Moment
from ._constant import ConstantClearance, moving_joints
from ._model import CollisionModel, as_model

BLOCK = 4096
"""Rows asked at a time: distances of all pairs are held in memory for so many."""
DEPTHS = 300
"""Rows in contact whose depth is measured by default."""


def audit(
    model: CollisionModel | RobotLike,
    cfgs: Any,
    times: Any = None,
    *,
    depths: int | None = DEPTHS,
    progress: Progress | None = None,
) -> Audit:
    """Audits a motion: (n, dof) rows in order, and the motion between them.

    Args:
        model: who decides.
        cfgs: (n, dof), at least one row.
        times: (n,) seconds, never decreasing; used in reports only.
        depths: rows in contact whose depth is measured at most, the first and the worst found among them; None for all.
        progress: called with (rows done, rows).

    Raises:
        InputError: wrong shapes, values that are not finite, times that go back.
    """
    model = as_model(model)
    start = time.perf_counter()
    rows = model.robot.as_cfgs(cfgs)
    n = len(rows)
    if n == 0:
        raise InputError("a motion needs at least one row")
    stamps = None if times is None else _as_times(times, n)
    pairs = _Pairs(model.pairs.checked)
    free = np.empty(n, np.bool_)
    clearance, closest = np.full(n, np.nan), np.full(n, -1)
    varying, varying_pair = np.full(n, np.nan), np.full(n, -1)
    joints = moving_joints(model.robot, rows)
    moving = None if joints is None else frozenset(joints)
    constant: dict[LinkPair, ConstantClearance] = {}
    between = np.full(n - 1, CONTACT)
    at, pair, proved = np.full(n - 1, np.nan), np.full(n - 1, -1), np.full(n - 1, np.nan)
    for begin in range(0, n, BLOCK):
        part = slice(begin, min(begin + BLOCK, n))
        free[part] = model.free(rows[part])
        open_rows = begin + np.flatnonzero(free[part])
        clearance[open_rows], near = model._measured(rows[open_rows])  # pyright: ignore[reportPrivateUsage]
        closest[open_rows] = [pairs.number(pair) for pair in near]
        moved = model._varying_of(rows[open_rows], clearance[open_rows], near, moving)  # pyright: ignore[reportPrivateUsage]
        varying[open_rows], varying_pair[open_rows] = (
            moved.clearance,
            [pairs.number(pair) for pair in moved.pairs],
        )
        constant |= {one.pair: one for one in moved.constant}
        first = max(begin - 1, 0)  # segments that end in this block
        asked = first + np.flatnonzero(free[first : part.stop - 1] & free[first + 1 : part.stop])
        found = model.segments_free(rows[asked], rows[asked + 1]) if len(asked) else None
        if found is not None:
            blocked = np.isfinite(found.blocked_at)
            between[asked] = np.where(found.free, PROVED, np.where(blocked, BLOCKED, UNDECIDED))
            at[asked] = np.where(blocked, found.blocked_at, found.undecided_at)
            pair[asked] = [pairs.number(found.pairs[k] if k >= 0 else None) for k in found.pair_idx.tolist()]
            proved[asked] = np.where(found.free, found.clearance, np.nan)
        if progress is not None:
            progress(part.stop, n)
    moments = _measure(model, rows, stamps, np.flatnonzero(~free), depths)
    for moment in moments:
        clearance[moment.row] = varying[moment.row] = moment.clashes[0].distance
        closest[moment.row] = varying_pair[moment.row] = pairs.number(moment.clashes[0].pair)
    if moments:
        worst: Moment | None = min(moments, key=lambda moment: moment.clashes[0].distance)
    else:
        row = int(np.argmin(varying))
        worst = _nearest(model, rows[row], stamps, row, pairs.named_at(int(varying_pair[row])))
    outside = (rows < model.robot.lower) | (rows > model.robot.upper)
    freeze(free, clearance, closest, varying, varying_pair, between, at, pair, proved, outside)
    notes = list(_jumps(model, rows))
    if len(moments) < int((~free).sum()):
        notes.append(f"depth measured at {len(moments)} of the {int((~free).sum())} rows that are not free")
    return Audit(
        robot_name=model.robot.name,
        joint_names=model.robot.joint_names,
        buffer=model.buffer,
        times=stamps,
        rows_free=free,
        clearance=clearance,
        closest_idx=closest,
        varying_clearance=varying,
        varying_idx=varying_pair,
        constant=tuple(sorted(constant.values(), key=lambda one: (one.distance, one.pair))),
        between=between,
        blocked_at=at,
        blocked_idx=pair,
        proved_clearance=proved,
        pairs=pairs.named,
        first=moments[0] if moments else None,
        worst=worst,
        outside=outside,
        notes=tuple(notes),
        seconds=time.perf_counter() - start,
    )


class _Pairs:
    """Pairs by number: the checked ones, then each link and obstacle as they turn up."""

    def __init__(self, checked: Sequence[LinkPair]) -> None:
        self._number: dict[LinkPair, int] = {pair: k for k, pair in enumerate(checked)}

    def number(self, pair: LinkPair | None) -> int:
        """Place of a pair in `named`; -1 for None."""
        return -1 if pair is None else self._number.setdefault(pair, len(self._number))

    def named_at(self, number: int) -> LinkPair | None:
        """The pair at a place of `named`; None for -1."""
        return None if number < 0 else self.named[number]

    @property
    def named(self) -> tuple[LinkPair, ...]:
        """All pairs so far."""
        return tuple(self._number)


def _as_times(times: Any, n: int) -> Float[np.ndarray, "n"]:
    stamps = np.array(times, dtype=np.float64)
    if stamps.shape != (n,) or not np.isfinite(stamps).all():
        raise InputError(f"times: expected {n} finite numbers, one per row, found shape {stamps.shape}")
    if np.any(np.diff(stamps) < 0.0):
        raise InputError(f"times go back at row {int(np.argmax(np.diff(stamps) < 0.0)) + 2}")
    return frozen(stamps)


def _moment(stamps: np.ndarray | None, row: int, clashes: tuple[Clash, ...]) -> Moment:
    return Moment(row, None if stamps is None else float(stamps[row]), clashes)


def _measure(
    model: CollisionModel,
    rows: Float[np.ndarray, "n dof"],
    stamps: np.ndarray | None,
    bad: Int[np.ndarray, "k"],
    most: int | None,
) -> list[Moment]:
    """Rows in contact with their clashes, in order: all of them, or `most`, half of them around the deepest."""
    found: dict[int, Moment] = {}

    def measure(wanted: np.ndarray) -> None:
        for row in wanted.tolist():
            if row not in found:
                found[row] = _moment(stamps, row, model.clashes(rows[row]))

    if most is None or len(bad) <= most:
        measure(bad)
    elif len(bad):
        measure(bad[np.unique(np.linspace(0, len(bad) - 1, max(1, most // 2)).astype(np.int64))])
        deepest = min(found.values(), key=lambda moment: moment.clashes[0].distance).row
        known = np.array(sorted(found))
        k = int(np.searchsorted(known, deepest))
        low, high = known[max(k - 1, 0)], known[min(k + 1, len(known) - 1)]
        near = bad[(bad > low) & (bad < high)]
        measure(near[np.unique(np.linspace(0, len(near) - 1, max(1, most // 2)).astype(np.int64))])
    return [found[row] for row in sorted(found)]


def _nearest(
    model: CollisionModel,
    row: Float[np.ndarray, "dof"],
    stamps: np.ndarray | None,
    number: int,
    pair: LinkPair | None,
) -> Moment | None:
    """A pair at a free row, or the closest where no pair varies."""
    if pair is not None:
        near: Clash | None = model._known_constants().measured(row, pair)  # pyright: ignore[reportPrivateUsage]
    else:
        near = model.explain(row).closest
    return None if near is None else _moment(stamps, number, (near,))


def _jumps(model: CollisionModel, rows: Float[np.ndarray, "n dof"]) -> Iterator[str]:
    """Turning joints that seem to wrap around between two rows: taken as recorded, they sweep almost a whole turn."""
    steps = np.abs(np.diff(rows, axis=0))
    for k, joint in enumerate(model.robot.tree.actuated):
        if joint.type != "prismatic" and len(steps) and steps[:, k].max() > np.pi:
            row = int(np.argmax(steps[:, k]))
            yield (
                f"{joint.name} turns by {steps[row, k]:.2f} rad from row {row + 1} to {row + 2}; angles that wrap "
                "around must be unwrapped (numpy.unwrap), because the motion between rows is used as recorded"
            )
