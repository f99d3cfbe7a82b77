"""Collision limits for pink from exact meshes: `limits=[*own, CollisionLimit(model)]` of `pink.solve_ik`.

pink's barriers take the convex shapes of a Pinocchio geometry model. This limit takes the pairs that the model
checks and its obstacles, measured on the meshes, and returns a pair `(G, h)` as pink's own limits do. It is a
linearisation and proves nothing. For a proof, pass what pink finds through `elbowroom.Guard`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from ..collision import CollisionModel, as_model
from ..typing import RobotLike
from ._common import JointMap, LimitRows, needs

try:
    limits: Any = importlib.import_module("pink.limits")
except ImportError as missing:
    raise needs("pink", "pip install pin-pink", missing) from missing

__all__ = ["CollisionLimit"]

Base: Any = limits.Limit


class CollisionLimit(Base):
    """A `pink.limits.Limit`: keeps links apart, and from obstacles, as far as a linearisation can.

    Joints are mapped by name to those of Pinocchio's model; other joints and a free base are not held back. A robot on
    a free base may have no obstacles.
    """

    def __init__(
        self,
        model: CollisionModel | RobotLike,
        *,
        buffer: float = 0.005,
        reach: float = 0.1,
        approach_time: float = 0.05,
        names: Mapping[str, str] | None = None,
    ) -> None:
        """Takes the model.

        Args:
            model: the robot among its obstacles.
            buffer: metres to keep; the model's own where it is larger.
            reach: metres above the buffer within which things hold the motion back.
            approach_time: seconds: nothing is approached faster than its distance divided by this.
            names: {joint in Pinocchio: joint of the model}, where they differ.

        Raises:
            InputError: numbers that make no sense.
        """
        self.model = as_model(model)
        self._rows, self._names = LimitRows(self.model, buffer, reach, approach_time), names
        self._of: Any = None
        self._joints = list[Any]()

    def compute_qp_inequalities(
        self, configuration: Any, dt: float
    ) -> tuple[Float[np.ndarray, "m nv"], Float[np.ndarray, "m"]] | None:
        """`G` and `h` of `G @ change <= h` at a configuration; None where everything is far apart.

        Raises:
            InputError: joints that cannot be mapped, a free base among obstacles, NaN, or `dt` not above zero.
        """
        if configuration.model is not self._of:
            self._map(configuration.model)
        q = configuration.q
        cfg = np.array([_value(joint, q) for joint in self._joints])
        A, room = self._rows.at(cfg, dt)
        if not len(A):
            return None
        G = np.zeros((len(A), configuration.model.nv))
        G[:, [joint.idx_v for joint in self._joints]] = -A
        return G, room

    def _map(self, model: Any) -> None:
        robot, renamed = self.model.robot, self._names or {}
        known = {model.names[k]: model.joints[k] for k in range(1, model.njoints)}
        single = {name: joint for name, joint in known.items() if joint.nv == 1}
        used = [name for name in single if name in renamed or name in robot.joint_names]
        complete = {renamed.get(name, name) for name in used} >= set(robot.joint_names)
        found = JointMap.of(
            robot, used if complete else list(single), "the joints of Pinocchio's model", names=self._names
        )
        if any(joint.nv > 1 for joint in known.values()):
            self._rows.refuse_free_base()
        by_joint = dict(zip(found.at.tolist(), used, strict=True))
        self._joints, self._of = [single[by_joint[k]] for k in range(robot.dof)], model


def _value(joint: Any, q: np.ndarray) -> float:
    """Of a joint; Pinocchio keeps cosine and sine of one without limits."""
    return float(q[joint.idx_q]) if joint.nq == 1 else float(np.arctan2(q[joint.idx_q + 1], q[joint.idx_q]))
