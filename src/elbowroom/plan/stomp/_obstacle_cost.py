"""ObstacleCost: what nearness to obstacles costs, and a flat penalty where a link's box meets one.

For every step of a trajectory,

    sum over spheres of max(0, clearance - distance) * speed  +  collision_penalty if any box meets an obstacle

where `distance` is the signed distance of a sphere to the nearest obstacle (`World.distance` at its centre, less its
radius), and `speed` is that of its centre, m/s: central differences of its places one step before and after, one-sided
at the first and the last step. Spheres are those that cover the links in the verdict (`CollisionModel.parts`, padding
against the world included), boxes those of `link_boxes`. Pairs that the model allows to touch count in neither part;
with a buffer, distances are what they exceed it by, and boxes are that much larger. The boxes hold their links: where
none meets an obstacle, no link touches one. Where one does, the links themselves may still be free: with
`boxes_decide=False` the penalty is only for steps that the verdict (`CollisionModel.free`) refuses too.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from ... import _core
from ..._frozen import frozen
from ...collision import CollisionModel, as_model
from ...collision.internal import Outside
from ...errors import ApproximationWarning, InputError, UnknownLinkError, unknown
from ...robot.internal import find_bodies
from ...typing import RobotLike
from ._cost import as_trajectories, checked_number, checked_weight
from ._link_boxes import link_boxes


class ObstacleCost:
    """The two-part obstacle cost; see the module. Zero without a world."""

    name = "obstacles"

    def __init__(
        self,
        model: CollisionModel | RobotLike,
        *,
        clearance: float = 0.01,
        collision_penalty: float = 100.0,
        skip_links: Iterable[str] | None = None,
        start: Any = None,
        boxes_decide: bool = True,
        weight: float = 1.0,
    ) -> None:
        """Packs links and obstacles of a model.

        Args:
            model: robot, spheres and obstacles.
            clearance: metres below which a sphere costs.
            collision_penalty: of a step at which a box meets an obstacle.
            skip_links: links whose boxes are not looked at. None: links that no joint moves, and with `start` the
                boxes that meet an obstacle there, each with those obstacles alone; the latter with a warning.
            start: (dof,) or (n, dof) configurations that are to count as free, such as start and goal.
            boxes_decide: whether boxes alone decide on the penalty. If not, the verdict is asked where they meet an
                obstacle: slower, but it sees ways that boxes do not fit through.
            weight: factor of both parts.

        Raises:
            UnknownLinkError: a link of `skip_links` does not exist. InputError: a number that makes no sense.
        """
        model = as_model(model)
        self.model, self.robot = model, model.robot
        self.clearance = checked_number("ObstacleCost: clearance", clearance, unit="metres")
        self.collision_penalty = checked_number("ObstacleCost: collision_penalty", collision_penalty)
        self.weight = checked_weight("ObstacleCost", weight)
        self.boxes_decide = bool(boxes_decide)
        self.skip_links = _skipped(model, skip_links)
        """Links whose boxes are never looked at."""
        self.spared: tuple[tuple[str, str], ...] = ()
        """(link, obstacle) whose boxes met at the start and do not count."""
        self._pack(None)
        if start is not None and skip_links is None and self.boxes_decide:
            self._spare(self.robot.as_cfgs(start))

    def _pack(self, spared: Bool[np.ndarray, "boxes obstacles"] | None) -> None:
        """Links and obstacles in the compiled core; `spared` boxes may meet obstacles, None for those that the model
        allows."""
        outside = self._outside = self.model.outside
        self._core = None
        if outside is None:
            return
        self._boxes, self._of = _boxes(self.model, outside, self.skip_links)
        places = [outside.links.index(self.robot.link_names[k]) for k in self._of.tolist()]
        self._spared = frozen(outside.allowed[places].copy() if spared is None else spared)
        self._core = _core.ObstacleCost(outside.core, self._boxes, self._of, self._spared)

    def _spare(self, rows: Float[np.ndarray, "n dof"]) -> None:
        """Leaves out boxes and obstacles that meet at configurations which are to count as free."""
        if self._core is None or self._outside is None:
            return
        met = self._core.meetings(rows) & ~self._spared
        if not met.any():
            return
        links, obstacles = self.robot.link_names, self._outside.world.names
        self.spared = tuple(
            sorted({(links[self._of[b]], obstacles[k]) for b, k in np.argwhere(met).tolist()})
        )
        self._pack(self._spared | met)
        named = "; ".join(f"{link} and {obstacle}" for link, obstacle in self.spared)
        warnings.warn(
            f"{self.robot.name}: boxes of links meet obstacles at the start and are not compared with them: {named}",
            ApproximationWarning,
            stacklevel=3,
        )

    # Answers ------------------------------------------------------------------------------------

    def cost(self, trajectories: Any, dt: float) -> Float[np.ndarray, "k t"]:
        """Cost of every step, weighted.

        Args:
            trajectories: (k, t, dof) configurations, steps `dt` apart, at least three.
            dt: seconds between steps.
        """
        near, meets = self.parts(trajectories, dt)
        return self.weight * (near + self.collision_penalty * meets)

    def parts(self, trajectories: Any, dt: float) -> tuple[Float[np.ndarray, "k t"], Bool[np.ndarray, "k t"]]:
        """Both parts of the cost of every step without weight: nearness times speed (m^2/s), and whether boxes meet.

        Args:
            trajectories: as in `cost`.
            dt: seconds between steps.
        """
        rows = as_trajectories(self.robot, trajectories, dt)
        if self._core is None:
            return np.zeros(rows.shape[:2]), np.zeros(rows.shape[:2], np.bool_)
        near, meets = self._core.parts(rows, dt, self.clearance, True)
        return near, self._decided(rows, meets)

    def collides(self, cfgs: Any) -> Bool[np.ndarray, "n"]:
        """At which configurations the box of a link meets an obstacle (and the verdict agrees): the cost's own test.

        Args:
            cfgs: (n, dof).

        Raises:
            InputError: another shape, NaN.
        """
        rows = self.robot.as_cfgs(cfgs)
        if self._core is None or not len(rows):
            return np.zeros(len(rows), np.bool_)
        return self._decided(rows, self._core.parts(rows[None], 1.0, 0.0, False)[1][0])

    def _decided(self, cfgs: np.ndarray, meets: Bool[np.ndarray, "*n"]) -> Bool[np.ndarray, "*n"]:
        """Where boxes meet obstacles, or where the verdict refuses besides."""
        if not self.boxes_decide and meets.any():
            meets[meets] = ~np.asarray(self.model.free(cfgs[meets]))
        return meets

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_core", "_outside")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._pack(state.get("_spared"))

    def __repr__(self) -> str:
        return (
            f"ObstacleCost(clearance={self.clearance:g}, collision_penalty={self.collision_penalty:g}, "
            f"skip_links={self.skip_links}, weight={self.weight:g})"
        )


def _boxes(
    model: CollisionModel, outside: Outside, skip_links: tuple[str, ...]
) -> tuple[Float[np.ndarray, "boxes 15"], Int[np.ndarray, "boxes"]]:
    """Boxes in the frames of their links, enlarged by the buffer: axes row by row, centre, half edges; and their links.

    Those of outer links come first: they are the ones that meet something. A link that exists only as spheres has the
    boxes of its spheres.
    """
    found, (centers, radii, link_idx) = link_boxes(model.robot), outside.balls
    names = np.array(found.links)
    rows: list[np.ndarray] = []
    of: list[int] = []
    for name in reversed(outside.links):
        if name in skip_links:
            continue
        link, mine = model.robot.link_index(name), np.flatnonzero(names == name)
        parts = [found.axes[mine].reshape(-1, 9), found.centers[mine], found.half_extents[mine]]
        if not len(mine):
            balls = np.flatnonzero(link_idx == link)
            parts = [
                np.tile(np.eye(3).ravel(), (len(balls), 1)),
                centers[balls],
                np.tile(radii[balls, None], 3),
            ]
        parts[2] = parts[2] + model.buffer
        rows.append(np.concatenate(parts, axis=1))
        of += [link] * len(rows[-1])
    return np.concatenate([np.zeros((0, 15)), *rows]), np.array(of, dtype=np.int64)


def _skipped(model: CollisionModel, names: Iterable[str] | None) -> tuple[str, ...]:
    """The links named, or those that no joint moves."""
    robot = model.robot
    if names is None:
        bodies, frames = find_bodies(robot.tree), robot.tree.link_frame.tolist()
        return tuple(
            name for name, f in zip(robot.link_names, frames, strict=True) if bodies.of_frame[f] == 0
        )
    if isinstance(names, str):
        raise InputError(f"skip_links must be names of links, found the text {names!r:.60}")
    found = tuple(names)
    for name in found:
        if name not in robot.link_names:
            raise UnknownLinkError(unknown("link", str(name), robot.link_names))
    return found
