"""What a task asks of a path: keep a link upright, a point of it on a plane or within a tube.

For STOMP each costs what is beyond its tolerance (rad or m), at every step, and nothing within. `plan_motion(keep=)`
never leaves the tolerance: the sampler projects configurations to it, and the motion that is returned is shown to keep
it between its rows too (`keeps.hpp` of the core).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from .. import _core
from .._frozen import frozen
from .._poses import matrix_from_wxyz_xyz
from .._text import number, short
from ..collision import CollisionModel
from ..errors import InputError
from ..robot import Robot, as_robot
from ..typing import RobotLike
from .stomp._cost import as_trajectories, checked_number, checked_weight

UPRIGHT, PLANE, TUBE = 0, 1, 2
"""Kinds, as the core numbers them."""


class _OfLink:
    """What the costs below share: a link, and where it is at every step."""

    name = ""
    tolerance: float

    def __init__(self, robot: Robot, link: str, weight: float) -> None:
        self.robot, self.link = robot, link
        self._idx = robot.link_index(link)
        self.weight = checked_weight(type(self).__name__, weight)

    def packed(self) -> tuple[int, int, Float[np.ndarray, "n 3"], Float[np.ndarray, "2"]]:
        """As the core takes it: see `_core.Keeps`."""
        raise NotImplementedError

    def _poses(self, trajectories: Any, dt: float) -> Float[np.ndarray, "k t 4 4"]:
        rows = as_trajectories(self.robot, trajectories, dt)
        poses = self.robot.link_poses(rows.reshape(-1, rows.shape[2]))[:, self._idx]
        return matrix_from_wxyz_xyz(poses).reshape(*rows.shape[:2], 4, 4)

    def _points(self, trajectories: Any, dt: float, point: np.ndarray) -> Float[np.ndarray, "k t 3"]:
        T = self._poses(trajectories, dt)
        return T[..., :3, :3] @ point + T[..., :3, 3]


class UprightCost(_OfLink):
    """max(0, angle - tolerance), rad: the angle between an axis of a link and a direction of the world."""

    name = "upright"

    def __init__(
        self,
        robot: RobotLike,
        link: str,
        axis: Any = (0.0, 0.0, 1.0),
        direction: Any = (0.0, 0.0, 1.0),
        tolerance: float = 0.1,
        *,
        weight: float = 1.0,
    ) -> None:
        """Takes a link and where it must point.

        Args:
            robot: the robot (`model.robot`, where attached objects are links).
            link: name.
            axis: (3,) in the link frame; its length does not count.
            direction: (3,) in the world; its length does not count.
            tolerance: rad.
            weight: factor.

        Raises:
            UnknownLinkError: no such link. InputError: a vector of no length, or not of three numbers.
        """
        robot = as_robot(robot)
        super().__init__(robot, link, weight)
        self.axis, self.direction = (
            _unit("UprightCost: axis", axis),
            _unit("UprightCost: direction", direction),
        )
        self.tolerance = checked_number("UprightCost: tolerance", tolerance, unit="radians")

    def packed(self) -> tuple[int, int, Float[np.ndarray, "n 3"], Float[np.ndarray, "2"]]:
        """As the core takes it."""
        return UPRIGHT, self._idx, np.stack([self.axis, self.direction]), np.array([0.0, self.tolerance])

    def cost(self, trajectories: Any, dt: float) -> Float[np.ndarray, "k t"]:
        """Cost of every step, weighted; arguments as of `Cost.cost`."""
        seen = self._poses(trajectories, dt)[..., :3, :3] @ self.axis
        across = np.linalg.norm(np.cross(seen, self.direction), axis=-1)
        angle = np.arctan2(across, seen @ self.direction)  # exact near zero, where acos is not
        return self.weight * np.maximum(angle - self.tolerance, 0.0)


class PlaneCost(_OfLink):
    """`max(0, |height| - tolerance)`, m: the height of a point of a link above a plane of the world."""

    name = "plane"

    def __init__(
        self,
        robot: RobotLike,
        link: str,
        normal: Any,
        offset: float,
        tolerance: float = 0.001,
        *,
        point: Any = (0.0, 0.0, 0.0),
        weight: float = 1.0,
    ) -> None:
        """Takes a plane: all p of the world with normal . p = offset.

        Args:
            robot: the robot.
            link: name.
            normal: (3,) in the world; its length does not count.
            offset: metres along the unit normal.
            tolerance: metres to both sides.
            point: (3,) in the link frame, metres.
            weight: factor.

        Raises:
            UnknownLinkError: no such link. InputError: numbers that make no sense.
        """
        robot = as_robot(robot)
        super().__init__(robot, link, weight)
        self.normal, self.point = _unit("PlaneCost: normal", normal), _vector("PlaneCost: point", point)
        self.offset = checked_number("PlaneCost: offset", offset, -np.inf, unit="metres")
        self.tolerance = checked_number("PlaneCost: tolerance", tolerance, unit="metres")

    def packed(self) -> tuple[int, int, Float[np.ndarray, "n 3"], Float[np.ndarray, "2"]]:
        """As the core takes it."""
        return PLANE, self._idx, np.stack([self.point, self.normal]), np.array([self.offset, self.tolerance])

    def cost(self, trajectories: Any, dt: float) -> Float[np.ndarray, "k t"]:
        """Cost of every step, weighted; arguments as of `Cost.cost`."""
        height = self._points(trajectories, dt, self.point) @ self.normal - self.offset
        return self.weight * np.maximum(np.abs(height) - self.tolerance, 0.0)


class TubeCost(_OfLink):
    """max(0, distance - radius), m: the distance of a point of a link from a line of straight pieces in the world."""

    name = "tube"

    def __init__(
        self,
        robot: RobotLike,
        link: str,
        line: Any,
        radius: float,
        *,
        point: Any = (0.0, 0.0, 0.0),
        weight: float = 1.0,
    ) -> None:
        """Takes a tube.

        Args:
            robot: the robot.
            link: name.
            line: (n, 3) points of the world, metres, joined by straight pieces; one point makes a ball.
            radius: metres.
            point: (3,) in the link frame, metres.
            weight: factor.

        Raises:
            UnknownLinkError: no such link. InputError: numbers that make no sense.
        """
        robot = as_robot(robot)
        super().__init__(robot, link, weight)
        try:
            self.line = frozen(np.array(line, dtype=np.float64))
        except (TypeError, ValueError):
            self.line = np.zeros(0)
        if (
            self.line.ndim != 2
            or self.line.shape[1:] != (3,)
            or not len(self.line)
            or not np.isfinite(self.line).all()
        ):
            raise InputError(f"TubeCost: line must be (n, 3) points, found {short(line)}")
        self.point = _vector("TubeCost: point", point)
        self.radius = self.tolerance = checked_number("TubeCost: radius", radius, unit="metres")

    def packed(self) -> tuple[int, int, Float[np.ndarray, "n 3"], Float[np.ndarray, "2"]]:
        """As the core takes it."""
        return TUBE, self._idx, np.concatenate([self.point[None], self.line]), np.array([0.0, self.radius])

    def cost(self, trajectories: Any, dt: float) -> Float[np.ndarray, "k t"]:
        """Cost of every step, weighted; arguments as of `Cost.cost`."""
        places = self._points(trajectories, dt, self.point)
        nearest = np.linalg.norm(places - self.line[0], axis=-1)
        for a, b in zip(self.line[:-1], self.line[1:], strict=True):
            along, square = b - a, float((b - a) @ (b - a))
            s = (
                np.clip((places - a) @ along / square, 0.0, 1.0)
                if square > 0.0
                else np.zeros(places.shape[:2])
            )
            nearest = np.minimum(nearest, np.linalg.norm(places - a - s[..., None] * along, axis=-1))
        return self.weight * np.maximum(nearest - self.radius, 0.0)


class Kept:
    """What a plan keeps on its way, checked and in the core."""

    def __init__(self, model: CollisionModel, keep: Any) -> None:
        """Takes constraints of links.

        Raises:
            InputError: something else, or of another robot.
        """
        given = tuple(keep) if isinstance(keep, Sequence) else (keep,)
        for one in given:
            if not isinstance(one, _OfLink):
                raise InputError(f"keep: expected UprightCost, PlaneCost or TubeCost, found {short(one)}")
            if one.robot is not model.robot:
                raise InputError(
                    f"keep: the {one.name} constraint is of another robot: make it with model.robot"
                )
        self._given = given
        self.core = _core.Keeps(model.robot.tree.core, [one.packed() for one in given])

    def lost(self, cfg: Float[np.ndarray, "dof"]) -> str:
        """What a configuration does not keep, in words; "" where it keeps all."""
        if self.core.excess(cfg[None])[0] <= 0.0:
            return ""
        for one in self._given:
            beyond = (
                float(_core.Keeps(one.robot.tree.core, [one.packed()]).excess(cfg[None])[0]) * one.tolerance
            )
            if beyond > 0.0:
                return f"{one.link} is {number(beyond)} {_unit_of(one)} beyond the tolerance of {one.name}"
        return ""

    def on_path(self, rows: Float[np.ndarray, "n dof"]) -> bool:
        """Whether all tolerances are kept on the straight lines between rows."""
        return bool(self.core.on_path(np.ascontiguousarray(rows)))

    def __str__(self) -> str:
        kept = (
            f"{one.link} {one.name} within {number(one.tolerance)} {_unit_of(one)}" for one in self._given
        )
        return ", ".join(kept)


def _unit_of(one: _OfLink) -> str:
    return "rad" if isinstance(one, UprightCost) else "m"


def _vector(what: str, value: Any) -> Float[np.ndarray, "3"]:
    try:
        found = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (3,) or not np.isfinite(found).all():
        raise InputError(f"{what} must be three numbers, found {short(value)}")
    return frozen(found)


def _unit(what: str, value: Any) -> Float[np.ndarray, "3"]:
    found = _vector(what, value)
    length = float(np.linalg.norm(found))
    if not length > 0.0:
        raise InputError(f"{what} must not be zero, found {short(value)}")
    return frozen(found / length)
