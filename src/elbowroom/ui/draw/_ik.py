"""The robot at an answer of inverse kinematics, with its targets: frames, points, directions, and what touches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from ..._poses import matrix_from_wxyz_xyz
from ...ik import AxisTarget, LookAt, PoseTarget, PositionTarget
from ...robot import as_robot
from ...robot.internal import primitive
from ...typing import RobotLike
from ._picture import Camera, Colour, Picture, robot_picture
from ._world import add_world

if TYPE_CHECKING:
    from ...ik import IkResult, Target

AXES: tuple[Colour, ...] = ((0.85, 0.16, 0.16), (0.13, 0.62, 0.20), (0.16, 0.33, 0.85))
"""Colours of x, y and z."""
CONTACT: Colour = (0.86, 0.24, 0.20)
WANTED: Colour = (0.93, 0.55, 0.05)
"""Of points, of directions, and of the way from a link to a target that it did not reach."""
LENGTH = 0.06
"""Of the axes of a frame, relative to the size of the robot."""
WIDTH = 0.07
"""Of a stick, relative to its length."""
APART = 1e-3
"""Distance above which a link and its target are joined by a line, metres."""


def ik_picture(
    robot: RobotLike, result: IkResult, *, width: int = 640, height: int = 720
) -> Float[np.ndarray, "height 2*width 3"]:
    """The robot from the front left and from the right, values in [0, 1].

    Targets are frames with red x, green y and blue z, orange points and arrows; links that touch something are red.
    """
    robot = as_robot(robot)
    verdict = result.verdict
    red = {name: CONTACT for clash in (verdict.clashes if verdict else ()) for name in (clash.a, clash.b)}
    picture = robot_picture(robot, result.cfg, colours=red)
    size = _size(picture)
    if result.model is not None and result.model.world is not None:
        add_world(picture, result.model.world, red)
    Ts_world_link = matrix_from_wxyz_xyz(robot.link_poses(result.cfg))
    for target in result.targets:
        if isinstance(target, (PoseTarget, PositionTarget, AxisTarget, LookAt)):
            _add_target(picture, target, Ts_world_link[robot.link_index(target.link)], LENGTH * size)
    views = [
        picture.draw(Camera(azimuth_deg=azimuth, elevation_deg=22.0, width=width, height=height))
        for azimuth in (40.0, -50.0)
    ]
    return np.concatenate(views, axis=1)


def _size(picture: Picture) -> float:
    """Diagonal of what is drawn; of a robot without meshes, a metre."""
    if not picture.solid:
        return 1.0
    corners = np.concatenate([corners.reshape(-1, 3) for corners, _ in picture.solid])
    return float(np.linalg.norm(np.ptp(corners, axis=0)))


def _add_target(picture: Picture, target: Target, T_world_link: np.ndarray, length: float) -> None:
    R, here = T_world_link[:3, :3], T_world_link[:3, 3]
    match target:
        case PoseTarget():
            T = matrix_from_wxyz_xyz(target.pose)
            for axis, colour in enumerate(AXES):
                _add_stick(picture, T[:3, 3], T[:3, 3] + length * T[:3, axis], WIDTH * length, colour)
            _join(picture, here, T[:3, 3], length)
        case PositionTarget():
            _add_ball(picture, target.position, 0.2 * length)
            _join(picture, here + R @ target.point, target.position, length)
        case AxisTarget():
            _add_stick(picture, here, here + 1.5 * length * target.direction, WIDTH * length, WANTED)
        case LookAt():
            _add_ball(picture, target.point, 0.2 * length)
            _add_stick(picture, here, target.point, 0.3 * WIDTH * length, WANTED)
        case _:
            pass


def _join(picture: Picture, here: np.ndarray, there: np.ndarray, length: float) -> None:
    if float(np.linalg.norm(there - here)) > APART:
        _add_stick(picture, here, there, 0.4 * WIDTH * length, WANTED)


def _add_ball(picture: Picture, centre: np.ndarray, radius: float) -> None:
    mesh = primitive("sphere", np.eye(4), (radius,)).load()
    picture.add_mesh(mesh.vertices + centre, mesh.faces, WANTED)


def _add_stick(picture: Picture, start: np.ndarray, end: np.ndarray, radius: float, colour: Colour) -> None:
    """A cylinder between two points of the world."""
    along = end - start
    length = float(np.linalg.norm(along))
    if length < 1e-9:
        return
    z = along / length
    x = np.cross(z, [1.0, 0.0, 0.0] if abs(z[0]) < 0.9 else [0.0, 1.0, 0.0])
    x /= np.linalg.norm(x)
    mesh = primitive("cylinder", np.eye(4), (radius, length)).load()
    R = np.column_stack([x, np.cross(z, x), z])
    picture.add_mesh(mesh.vertices @ R.T + 0.5 * (start + end), mesh.faces, colour)
