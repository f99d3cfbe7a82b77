"""Costs of leaving what a task asks of a path: keep a link upright, a point of it on a plane or within a tube.

Each costs what is beyond its tolerance (rad or m), at every step, and nothing within.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from .._poses import matrix_from_wxyz_xyz
from .._text import short
from ..errors import InputError
from ..robot import Robot, as_robot
from ..typing import RobotLike
from ._cost import as_trajectories, checked_number, checked_weight


class _OfLink:
    """What the costs below share: a link, and where it is at every step."""

    def __init__(self, robot: Robot, link: str, weight: float) -> None:
        self.robot, self.link = robot, link
        self._idx = robot.link_index(link)
        self.weight = checked_weight(type(self).__name__, weight)

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
        """Takes a link and where it shall point.

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
        self.radius = checked_number("TubeCost: radius", radius, unit="metres")

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
