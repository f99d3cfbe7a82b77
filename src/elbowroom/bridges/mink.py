"""Collision limits for mink from exact meshes: `limits=[mink.ConfigurationLimit(mj), CollisionLimit(model)]`.

mink's own limit takes lists of convex geoms. This one takes the pairs that the model checks and its obstacles,
measured on the meshes, and returns mink's `Constraint`. Like mink's it is a linearisation: it keeps apart to first
order, and proves nothing. For a proof, pass what mink finds through `elbowroom.Guard`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..collision import CollisionModel, as_model
from ..typing import RobotLike
from ._common import LimitRows, needs
from .mujoco import joint_numbers

try:
    mink: Any = importlib.import_module("mink")
except ImportError as missing:
    raise needs("mink", "pip install mink", missing) from missing

__all__ = ["CollisionLimit"]

FREE = 0
"""mujoco.mjtJoint.mjJNT_FREE."""
Base: Any = mink.Limit


class CollisionLimit(Base):
    """A `mink.Limit`: keeps links apart, and from obstacles, as far as a linearisation can.

    Joints are mapped by name to those of mink's configuration; other joints and a free base are not held back. A robot
    on a free base may have no obstacles.
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
            names: {joint in MuJoCo: joint of the model}, where they differ.

        Raises:
            InputError: numbers that make no sense.
        """
        self.model = as_model(model)
        self._rows, self._names = LimitRows(self.model, buffer, reach, approach_time), names
        self._of: Any = None
        self._qpos = self._dofs = np.zeros(0, dtype=np.int64)

    def compute_qp_inequalities(self, configuration: Any, dt: float) -> Any:
        """mink's `Constraint` at a configuration: `G @ change <= h`, inactive where everything is far apart.

        Raises:
            InputError: joints that cannot be mapped, a free base among obstacles, NaN, or `dt` not above zero.
        """
        mj = configuration.model
        if mj is not self._of:
            self._map(mj)
        A, room = self._rows.at(configuration.q[self._qpos], dt)
        if not len(A):
            return mink.Constraint()
        G = np.zeros((len(A), mj.nv))
        G[:, self._dofs] = -A
        return mink.Constraint(G=G, h=room)

    def _map(self, mj: Any) -> None:
        numbers = joint_numbers(mj, self.model.robot, self._names)
        body = int(mj.jnt_bodyid[numbers[0]]) if numbers else 0
        while body > 0:
            first = int(mj.body_jntadr[body])
            if first >= 0 and mj.jnt_type[first] == FREE:
                self._rows.refuse_free_base()
            body = int(mj.body_parentid[body])
        self._qpos, self._dofs = mj.jnt_qposadr[numbers], mj.jnt_dofadr[numbers]
        self._of = mj
