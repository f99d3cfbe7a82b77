"""What can be reached: many targets as a batch, and a slice of the workspace as a map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Bool, Float

from ..._brief import brief
from ..._frozen import freeze, frozen
from ..._text import short
from ...errors import InputError
from .._targets import FAR, PoseTarget, PositionTarget, Target
from ._result import IkResult

if TYPE_CHECKING:
    from ._solver import IkSolver

Plane = Literal["xy", "xz", "yz"]
CELLS = 32
"""Cells along the longer side of a map by default."""
AROUND = 2000
"""Random configurations that say how far a link gets."""
BEYOND = 0.05
"""Share of that by which a map goes further: the farthest places are seldom met by chance."""


@brief
@dataclass(frozen=True, eq=False)
class Reachability:
    """Which of many targets can be reached."""

    results: tuple[IkResult, ...] = field(repr=False)
    reached: Bool[np.ndarray, "n"]
    position_error: Float[np.ndarray, "n"]
    """Metres: of the worst target of each set."""
    orientation_error: Float[np.ndarray, "n"]
    """Radians, the same."""

    def __len__(self) -> int:
        return len(self.reached)

    @property
    def share(self) -> float:
        """Reached of all; NaN of none."""
        return float(self.reached.mean()) if len(self) else np.nan

    @cached_property
    def reasons(self) -> Mapping[str, int]:
        """How many were not reached for which reason (see `IkResult.reason`), the commonest first; takes a while."""
        return dict(Counter(result.reason for result in self.results if not result).most_common())

    def __str__(self) -> str:
        text = f"{int(self.reached.sum())} of {len(self)} reached"
        missed = ", ".join(f"{count} {reason}" for reason, count in self.reasons.items())
        return f"{text}; not reached: {missed}" if missed else text


def reachability(solver: IkSolver, targets: Any, *, workers: int | None = None) -> Reachability:
    """As `IkSolver.reachability`."""
    results = solver.solve_batch(targets, workers=workers)
    reached = np.array([result.success for result in results], dtype=bool)
    position = np.array([float(result.position_error.max()) for result in results])
    orientation = np.array([float(result.orientation_error.max()) for result in results])
    freeze(reached, position, orientation)
    return Reachability(results, reached, position, orientation)


@brief
@dataclass(frozen=True, eq=False)
class ReachMap:
    """A slice of the workspace of a link; `ui.draw.plot_reach` draws it."""

    robot_name: str
    link: str
    plane: Plane
    """The axes of the slice: across, then up."""
    at: float
    """Metres along the third axis."""
    across: Float[np.ndarray, "columns"]
    up: Float[np.ndarray, "rows"]
    """Centres of the cells, metres in the world."""
    orientations: int
    """How many were asked at every cell; 0: any would do."""
    share: Float[np.ndarray, "rows columns"]
    """Of the orientations asked, those that are reached free of collision."""
    met: Float[np.ndarray, "rows columns"]
    """The same, collisions allowed: `met - share` is what collision forbids."""
    clearance: Float[np.ndarray, "rows columns"]
    """The largest clearance bound of the answers in a cell, metres; NaN where there is none, or no model."""

    def __str__(self) -> str:
        some = float((self.share > 0.0).mean())
        return f"{self.link} of {self.robot_name}: {100.0 * some:.0f} % of the cells at {self._slice} can be reached"

    @property
    def _slice(self) -> str:
        third = next(axis for axis in "xyz" if axis not in self.plane)
        return f"{third} = {self.at:.3g} m"


def reach_map(
    solver: IkSolver,
    link: str,
    *,
    plane: Plane = "xz",
    at: float | None = None,
    extent: Sequence[float] | None = None,
    cells: int = CELLS,
    orientations: Any = None,
    workers: int | None = None,
) -> ReachMap:
    """Where in a slice of the workspace a link can be, free of collision.

    Args:
        solver: who answers.
        link: the link.
        plane: two axes of the world: "xy", "xz" or "yz".
        at: metres along the third axis; None: where the link is in the default pose.
        extent: (across from, across to, up from, up to) in metres; None: as far as random configurations get.
        cells: along the longer side; cells are squares.
        orientations: (4,) or (k, 4) wxyz that are asked at every cell; None: any orientation will do.
        workers: as of `solve_batch`.

    Raises:
        UnknownLinkError: no such link. InputError: another plane, extent or orientation.
    """
    robot = solver.robot
    frame = robot.link_index(link)
    if plane not in ("xy", "xz", "yz"):
        raise InputError(f"plane must be 'xy', 'xz' or 'yz', found {short(plane)}")
    if isinstance(cells, bool) or not isinstance(cells, int) or cells < 1:
        raise InputError(f"cells must be a whole number from 1 up, found {short(cells)}")
    i, j = "xyz".index(plane[0]), "xyz".index(plane[1])
    k = 3 - i - j
    places = robot.link_poses(_within_reach(solver))[:, frame, 4:]
    level = float(places[0, k]) if at is None else float(at)
    if not abs(level) < FAR:
        raise InputError(f"at must be metres, found {short(at)}")
    across, up = _grid(places[:, i], places[:, j], extent, cells)
    turns = _orientations(orientations)
    points = np.zeros((len(up), len(across), 3))
    points[..., i], points[..., j], points[..., k] = across[None, :], up[:, None], level
    sets = [_target(link, point, turn) for point in points.reshape(-1, 3) for turn in (turns or [None])]
    results = solver.solve_batch(sets, workers=workers)
    shape = (len(up), len(across), max(len(turns), 1))
    options = solver.options
    success = np.array([result.success for result in results]).reshape(shape)
    met = np.array(
        [
            result.position_error[0] <= options.position_tolerance
            and result.orientation_error[0] <= options.orientation_tolerance
            for result in results
        ]
    ).reshape(shape)
    clearance = np.full(len(results), np.nan)
    if solver.model is not None and success.any():
        clearance[success.ravel()] = solver.model.clearance(np.array([r.cfg for r in results if r]))
    best = np.where(np.isnan(clearance), -np.inf, clearance).reshape(shape).max(axis=2)
    out = success.mean(axis=2), met.mean(axis=2), np.where(np.isinf(best) & (best < 0.0), np.nan, best)
    freeze(across, up, *out)
    return ReachMap(robot.name, link, plane, level, across, up, len(turns), *out)


def _within_reach(solver: IkSolver) -> Float[np.ndarray, "n dof"]:
    """The default pose, and configurations all over the limits of the joints that may move."""
    robot = solver.robot
    rest = np.array(robot.default_cfg if solver.model is None else solver.model.default_cfg)
    for name, value in solver.held.items():
        rest[robot.joint_names.index(name)] = value
    rows = np.repeat(rest[None], AROUND, axis=0)
    names = robot.joint_names if solver.joints is None else solver.joints
    moving = [robot.joint_names.index(name) for name in names if name not in solver.held]
    rows[1:, moving] = robot.random_cfgs(AROUND - 1, seed=solver.options.seed)[:, moving]
    return frozen(rows)


def _grid(
    a: np.ndarray, b: np.ndarray, extent: Sequence[float] | None, cells: int
) -> tuple[Float[np.ndarray, "columns"], Float[np.ndarray, "rows"]]:
    """Centres of square cells that cover an extent."""
    if extent is None:
        least = 0.1 * max(
            float(np.ptp(a)), float(np.ptp(b)), 0.1
        )  # a planar arm reaches a line of another plane
        extent = [
            edge
            for v in (a, b)
            for edge in (
                min(v.min() - BEYOND * np.ptp(v), v.mean() - least),
                max(v.max() + BEYOND * np.ptp(v), v.mean() + least),
            )
        ]
    try:
        left, right, low, high = (float(value) for value in extent)
    except (TypeError, ValueError) as error:
        raise InputError(f"extent: expected four numbers, found {short(extent)}") from error
    if not (left < right and low < high and max(abs(left), abs(right), abs(low), abs(high)) < FAR):
        raise InputError(f"extent: expected (from, to, from, to) in metres, found {short(extent)}")
    side = max(right - left, high - low) / cells
    counts = max(1, round((right - left) / side)), max(1, round((high - low) / side))
    return (
        left + (np.arange(counts[0]) + 0.5) * ((right - left) / counts[0]),
        low + (np.arange(counts[1]) + 0.5) * ((high - low) / counts[1]),
    )


def _orientations(given: Any) -> list[Float[np.ndarray, "4"]]:
    if given is None:
        return []
    try:
        rows = np.atleast_2d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise InputError(f"orientations: expected (k, 4) wxyz, found {short(given)}") from error
    if rows.ndim != 2 or rows.shape[1] != 4 or not len(rows):
        raise InputError(f"orientations: expected (k, 4) wxyz, found shape {np.shape(given)}")
    return list(rows)


def _target(
    link: str, place: Float[np.ndarray, "3"], turn: Float[np.ndarray, "4"] | None
) -> tuple[Target, ...]:
    if turn is None:
        return (PositionTarget(link, place),)
    return (PoseTarget(link, np.concatenate([turn, place])),)
