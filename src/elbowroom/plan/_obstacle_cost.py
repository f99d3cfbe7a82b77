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

import threading
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from .._frozen import freeze, frozen
from ..collision import CollisionModel, as_model
from ..errors import ApproximationWarning, InputError, UnknownLinkError, unknown
from ..robot.doors import find_bodies
from ..typing import RobotLike
from ._cost import as_trajectories, checked_number, checked_weight
from ._cost_pack import links_among_obstacles

BLOCK = 256
"""Configurations that `collides` looks at in one go."""


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
        self._local = threading.local()
        self._pack()
        if start is not None and skip_links is None and self.boxes_decide:
            self._spare(self.robot.as_cfgs(start))

    def _pack(self) -> None:
        among = self.model.parts.among
        self._among = among
        if among is None:
            return
        self._links = links_among_obstacles(self.model, self.skip_links)
        self._spared: Bool[np.ndarray, "boxes obstacles"] = among.allowed[self._links.box_of]
        freeze(self._spared)
        self._sides = tuple(self._links), tuple(among.world), tuple(among.grid), frozen(among.allowed[...])

    def _spare(self, rows: Float[np.ndarray, "n dof"]) -> None:
        """Leaves out boxes and obstacles that meet at configurations which are to count as free."""
        if self._among is None or not self.collides(rows).any():
            return
        spared, among, paths = self._spared.copy(), self._among, frozen(rows[None])

        def met(box: int, obstacles: Int[np.ndarray, "some"]) -> list[int]:
            """Which of some obstacles a box meets: none of them in one call, else those of both halves."""
            alone = np.ones_like(spared)
            alone[box, obstacles] = spared[box, obstacles]
            if not self._run(paths, 1.0, False, frozen(alone))[1].any():
                return []
            if len(obstacles) == 1:
                return obstacles.tolist()
            half = len(obstacles) // 2
            return met(box, obstacles[:half]) + met(box, obstacles[half:])

        hits = [(b, k) for b in range(len(spared)) for k in met(b, np.arange(len(among.obstacles)))]
        for b, k in hits:
            spared[b, k] = True
        self._spared = frozen(spared)
        of = self._links.box_of
        self.spared = tuple(sorted({(among.links[of[b]], among.obstacles[k]) for b, k in hits}))
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
        if self._among is None:
            return np.zeros(rows.shape[:2]), np.zeros(rows.shape[:2], np.bool_)
        near, meets = self._run(rows, 1.0 / dt, True, self._spared)
        return near, self._decided(rows, meets)

    def collides(self, cfgs: Any) -> Bool[np.ndarray, "n"]:
        """At which configurations the box of a link meets an obstacle (and the verdict agrees): the cost's own test.

        Args:
            cfgs: (n, dof).

        Raises:
            InputError: another shape, NaN.
        """
        rows = self.robot.as_cfgs(cfgs)
        out = np.zeros(len(rows), np.bool_)
        if self._among is not None:
            for first in range(0, len(rows), BLOCK):
                block = frozen(rows[None, first : first + BLOCK])
                out[first : first + BLOCK] = self._run(block, 1.0, False, self._spared)[1][0]
        return self._decided(rows, out)

    def _decided(self, cfgs: np.ndarray, meets: Bool[np.ndarray, "*n"]) -> Bool[np.ndarray, "*n"]:
        """Where boxes meet obstacles, or where the verdict refuses besides."""
        if not self.boxes_decide and meets.any():
            meets[meets] = ~np.asarray(self.model.free(cfgs[meets]))
        return meets

    def _run(
        self, paths: np.ndarray, rate: float, by_spheres: bool, spared: np.ndarray
    ) -> tuple[Float[np.ndarray, "k t"], Bool[np.ndarray, "k t"]]:
        from ._kernels_obstacle import obstacle_costs

        near, meets = np.empty(paths.shape[:2]), np.empty(paths.shape[:2], np.bool_)
        reach = self.clearance + self.model.buffer if by_spheres else 0.0
        links, world, grid, allowed = self._sides
        obstacle_costs(
            paths, rate, reach, by_spheres, links, world, grid, allowed, spared, near, meets,
            self._scratch(paths.shape[1]),
        )  # fmt: skip
        return near, meets

    def _scratch(self, steps: int) -> Any:
        """What the kernel works with, of the calling thread."""
        kept = getattr(self._local, "kept", None)
        if kept is None or kept[0] < steps:
            from ._kernels_obstacle import cost_scratch

            bodies, links = len(self._links.parents), len(self._links.links)
            kept = self._local.kept = steps, cost_scratch(steps, bodies, links)
        return kept[1]

    def __getstate__(self) -> dict[str, Any]:
        return {
            key: value
            for key, value in self.__dict__.items()
            if key not in ("_local", "_sides", "_links", "_among")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._local = threading.local()
        spared = state.get("_spared")
        self._pack()
        if spared is not None:
            self._spared = frozen(spared)

    def __repr__(self) -> str:
        return (
            f"ObstacleCost(clearance={self.clearance:g}, collision_penalty={self.collision_penalty:g}, "
            f"skip_links={self.skip_links}, weight={self.weight:g})"
        )


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
