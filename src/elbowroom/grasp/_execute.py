"""A grasp as a timed sequence: down to the object with the hand open wider, then closed at constant grasp height.

While closing, the grasp is planned again at every intermediate width, so the fingertips stay at the grasp's
height and the hand follows. Around a cylinder the hand comes down open to where it will be and only the fingers
move, until they touch. Timing is minimum-jerk (Flash & Hogan 1985) over the path's length measured in
seconds at the speed limits: no control, base or tilt rate exceeds its limit.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from .._brief import brief
from .._frozen import frozen
from ..errors import InputError
from ._grasp import Grasp, as_number, rotation
from ._planner import GraspPlanner

JERK_PEAK = 1.875
"""Peak speed of a minimum-jerk motion over its mean speed."""
PATH_SAMPLES = 200
"""Grasps planned between the open and the final width."""
HOLD = 0.1
"""s; standstill between coming down and closing."""


@dataclass(frozen=True)
class ApproachOptions:
    """How a grasp is approached."""

    opening: float = 0.03
    """m; how much wider than the object the hand comes down, as far as it can; around cylinders it is fully open."""
    lift: float = 0.10
    """m; height over the grasp at which the motion begins."""
    ctrl_speed: float = 1.5
    """rad/s; largest rate of a control (the hand's own limits count too)."""
    base_speed: float = 0.15
    """m/s; largest speed of the base."""
    tilt_speed: float = 1.0
    """rad/s; largest rate of the tilt."""
    dt: float = 0.02
    """s; time between rows."""


@brief
@dataclass(frozen=True, eq=False)
class GraspMotion:
    """A timed sequence of controls and base poses that ends in a grasp."""

    grasp: Grasp
    height: float
    """World height of the grasp, m."""
    times: Float[np.ndarray, "steps"]
    ctrl: Float[np.ndarray, "steps actuators"]
    """Controls in actuator order, rad."""
    Ts_world_base: Float[np.ndarray, "steps 4 4"]
    tilt: Float[np.ndarray, "steps"]
    widths: Float[np.ndarray, "steps"]
    """Width between the fingers, m; around a cylinder its diameter throughout."""
    phases: tuple[str, ...]
    """ "descend" or "close", per row."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values: SI units, poses as 4 x 4 rows."""
        return {
            "format": "elbowroom grasp motion",
            "version": 1,
            "grasp": self.grasp.to_dict(self.height),
            "actuators": list(self.grasp.hand.actuator_names),
            "times": self.times.tolist(),
            "phases": list(self.phases),
            "widths": self.widths.tolist(),
            "tilt_y": self.tilt.tolist(),
            "ctrl": self.ctrl.tolist(),
            "T_world_base": self.Ts_world_base.tolist(),
        }

    def to_json(self) -> str:
        """The motion as JSON text."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    def to_csv(self) -> str:
        """The motion as CSV text: one row per time; floating-base coordinates as in `base_coordinates`."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        names = self.grasp.hand.actuator_names
        writer.writerow(
            ["time", "phase", "width", *names, "base_x", "base_y", "base_z", "rot_x", "rot_y", "rot_z"]
        )
        for i, time in enumerate(self.times):
            base = base_coordinates(self.Ts_world_base[i], float(self.tilt[i]))
            numbers = [time, self.widths[i], *self.ctrl[i], *base]
            texts = [repr(float(value)) for value in numbers]
            writer.writerow([texts[0], self.phases[i], *texts[1:]])
        return out.getvalue()


def base_coordinates(T_world_base: Float[np.ndarray, "4 4"], tilt: float) -> tuple[float, ...]:
    """Six coordinates of a floating base: x, y, z, then rot_x = pi, rot_y = -tilt, rot_z = 0.

    Joints act in the order x, y, z, rot_x, rot_y, rot_z: Rx(pi) Ry(-tilt) equals Ry(tilt) Rx(pi).
    """
    x, y, z = (float(value) for value in T_world_base[:3, 3])
    return x, y, z, float(np.pi), -tilt, 0.0


def plan_approach(
    planner: GraspPlanner, grasp: Grasp, *, height: float = 0.1, options: ApproachOptions | None = None
) -> GraspMotion:
    """Timed sequence from above the object, open, to the closed grasp.

    Args:
        planner: the planner that made the grasp.
        grasp: where the motion ends.
        height: world height of the grasp, m.
        options: opening, lift, speeds and time step.

    Raises:
        InputError: a speed, step or length that is not positive, or a grasp of another hand.
    """
    chosen = options or ApproachOptions()
    for name in ("ctrl_speed", "base_speed", "tilt_speed", "dt"):
        if not as_number(getattr(chosen, name), name) > 0:
            raise InputError(f"{name} must be positive, found {getattr(chosen, name)}")
    for name in ("opening", "lift"):
        if as_number(getattr(chosen, name), name) < 0:
            raise InputError(f"{name} must not be negative, found {getattr(chosen, name)}")
    if grasp.hand is not planner.hand:
        raise InputError(f"the grasp is of another hand than the planner's, {planner.hand.name!r}")
    goal = as_number(height, "height")
    if grasp.touching:
        opened = planner.wrap(grasp.opposition).opened()
        widths, tilt = np.full(2, grasp.width), np.full(2, grasp.tilt_y)
        ctrl, Ts = np.array([opened, grasp.ctrl]), np.array([grasp.to_world(goal).T_world_base] * 2)
    else:
        widest = min(grasp.width + chosen.opening, planner.range(grasp.opposition)[1])
        widths = np.linspace(widest, grasp.width, PATH_SAMPLES)
        steps = [planner.oppose(grasp.opposition, float(width)) for width in widths[:-1]] + [grasp]
        ctrl = np.array([step.ctrl for step in steps])
        tilt = np.array([step.tilt_y for step in steps])
        Ts = np.array([step.to_world(goal).T_world_base for step in steps])
    above = Ts[:1].copy()
    above[0, 2, 3] += chosen.lift
    limits = np.minimum(chosen.ctrl_speed, _velocity_limits(planner))
    down = _timed(
        np.concatenate([above, Ts[:1]]), ctrl[[0, 0]], tilt[[0, 0]], widths[[0, 0]], limits, chosen, "descend"
    )
    close = _timed(Ts, ctrl, tilt, widths, limits, chosen, "close")
    start = down[0][-1] + HOLD if len(down[0]) > 1 else 0.0
    joined = [np.concatenate([a, b]) for a, b in zip(down[1:5], close[1:5], strict=True)]
    return GraspMotion(
        grasp=grasp,
        height=goal,
        times=frozen(np.concatenate([down[0], close[0] + start])),
        ctrl=frozen(joined[1]),
        Ts_world_base=frozen(joined[0]),
        tilt=frozen(joined[2]),
        widths=frozen(joined[3]),
        phases=(*down[5], *close[5]),
    )


def _velocity_limits(planner: GraspPlanner) -> np.ndarray:
    limits = dict(zip(planner.hand.robot.joint_names, planner.hand.robot.velocity_limits, strict=True))
    return np.array([limits[actuator.joint] for actuator in planner.hand.actuators])


_Timed = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, tuple[str, ...]]


def _timed(
    Ts: np.ndarray,
    ctrl: np.ndarray,
    tilt: np.ndarray,
    widths: np.ndarray,
    limits: np.ndarray,
    options: ApproachOptions,
    phase: str,
) -> _Timed:
    """Samples a path at equal times with minimum-jerk progress; nothing when it has no length."""
    seconds = np.max(
        [
            (np.abs(np.diff(ctrl, axis=0)) / limits).max(axis=1),
            np.linalg.norm(np.diff(Ts[:, :3, 3], axis=0), axis=1) / options.base_speed,
            np.abs(np.diff(tilt)) / options.tilt_speed,
        ],
        axis=0,
    )
    keep = np.concatenate([[True], seconds > 1e-12])
    lengths = np.concatenate([[0.0], np.cumsum(seconds)])[keep]
    total = float(lengths[-1])
    duration = max(JERK_PEAK * total, options.dt) if total > 0 else 0.0
    count = max(int(np.ceil(duration / options.dt)), 1) if total > 0 else 0
    times = np.linspace(0.0, count * options.dt, count + 1)
    f = times / max(times[-1], 1e-300)
    at = total * f**3 * (10.0 - 15.0 * f + 6.0 * f**2)

    def along(values: np.ndarray) -> np.ndarray:
        flat = values[keep].reshape(len(lengths), -1)
        columns = [np.interp(at, lengths, column) for column in flat.T]
        return np.stack(columns, axis=1).reshape(len(at), *values.shape[1:])

    angle = along(tilt)
    poses = along(Ts)
    poses[:, :3, :3] = [rotation(float(value)) for value in angle]
    return times, poses, along(ctrl), angle, along(widths), (phase,) * len(times)
