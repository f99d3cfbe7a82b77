"""SelfCollisionCost: what it costs that links come near each other, and a flat penalty where they touch.

For every step of a trajectory,

    sum over pairs of max(0, clearance - distance) * speed  +  collision_penalty if any checked pair touches

where `distance` is that of the two nearest spheres of a pair of links that spheres decide (`model.pairs.by_spheres`),
beyond the model's buffer, and `speed` is how fast their centres move relative to each other, m/s: central differences
of the segment between them, one-sided at the first and the last step. Pairs whose spheres always overlap cost only
where their meshes touch. Whether a pair touches is the verdict's answer, `model.free` without obstacles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from ... import _core
from ..._frozen import frozen
from ...collision import CollisionModel, as_model
from ...typing import RobotLike
from ._cost import as_trajectories, checked_number, checked_weight


class SelfCollisionCost:
    """The robot's cost of being near itself; see the module."""

    name = "self-collision"

    def __init__(
        self,
        model: CollisionModel | RobotLike,
        *,
        clearance: float = 0.01,
        collision_penalty: float = 100.0,
        weight: float = 1.0,
    ) -> None:
        """Packs the checked pairs of a model.

        Args:
            model: robot, spheres and pairs; its obstacles do not count.
            clearance: metres between spheres below which a pair costs.
            collision_penalty: of a step at which links touch, or come closer than the buffer.
            weight: factor of both parts.

        Raises:
            InputError: a number that makes no sense.
        """
        model = as_model(model)
        self.model, self.robot = model, model.robot
        self.clearance = checked_number("SelfCollisionCost: clearance", clearance, unit="metres")
        self.collision_penalty = checked_number("SelfCollisionCost: collision_penalty", collision_penalty)
        self.weight = checked_weight("SelfCollisionCost", weight)
        self._pack()

    def _pack(self) -> None:
        self._alone = self.model.with_world(None)
        index, spheres = self.robot.link_index, self._alone.own_links.spheres.counts
        pairs = [
            (index(a), index(b)) for a, b in self._alone.pairs.by_spheres if a in spheres and b in spheres
        ]
        self._pairs = frozen(np.array(pairs, dtype=np.int64).reshape(-1, 2))

    def cost(self, trajectories: Any, dt: float) -> Float[np.ndarray, "k t"]:
        """Cost of every step, weighted.

        Args:
            trajectories: (k, t, dof) configurations, steps `dt` apart, at least three.
            dt: seconds between steps.
        """
        near, touches = self.parts(trajectories, dt)
        return self.weight * (near + self.collision_penalty * touches)

    def parts(self, trajectories: Any, dt: float) -> tuple[Float[np.ndarray, "k t"], Bool[np.ndarray, "k t"]]:
        """Both parts of the cost of every step without weight: nearness times speed (m^2/s), and whether links touch.

        Args:
            trajectories: as in `cost`.
            dt: seconds between steps.
        """
        rows = as_trajectories(self.robot, trajectories, dt)
        reach = self.clearance + self.model.buffer
        near = _core.self_nearness(self._alone.own_links.core_spheres, self._pairs, rows, dt, reach)
        return near, self.collides(rows.reshape(-1, rows.shape[2])).reshape(rows.shape[:2])

    def collides(self, cfgs: Any) -> Bool[np.ndarray, "n"]:
        """At which configurations (n, dof) checked links touch or come closer than the buffer, obstacles apart."""
        return ~np.asarray(self._alone.free(self.robot.as_cfgs(cfgs)))

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if not key.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._pack()
