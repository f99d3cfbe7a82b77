"""The floor, and where one looks from at first: so that the robot fills the view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._meshes import drawn_meshes

if TYPE_CHECKING:
    from ...robot import Robot
    from .._view import View

FROM = np.array([1.0, -0.55, 0.45])
"""Direction of the first look at the robot, from its front, a little from the right and above."""
FIELD = np.deg2rad(50.0)
"""Vertical field of view."""


class Stage:
    """Floor and first look."""

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._robot: Robot | None = None
        self._floor: Any = None

    def show(self, view: View) -> None:
        """Looks at another robot when there is one; afterwards the user's look is left alone."""
        if view.robot is self._robot or view.robot is None or view.poses is None:
            return
        self._robot = view.robot
        _, radius, lowest = bounds(view.robot, view.poses)
        if self._floor is not None:
            self._floor.remove()
        size = float(np.clip(np.ceil(6.0 * radius), 1.0, 40.0))
        self._floor = self._scene.add_grid(
            "/floor",
            size,
            size,
            position=(0.0, 0.0, min(lowest, 0.0)),
            cell_size=size / 20,
            section_size=size / 4,
        )
        camera = getattr(self._scene._owner, "camera", None)
        if camera is not None:
            center, eye, camera.fov = first_look(view.robot, view.poses)
            camera.up_direction = np.array([0.0, 0.0, 1.0])
            camera.position = eye
            camera.look_at = center  # after the position, which takes the point looked at along


def first_look(robot: Robot, *poses: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """What to look at, where from, and the vertical field of view, radians: the robot fills the picture."""
    center, radius, _ = bounds(robot, *poses)
    return center, center + FROM / np.linalg.norm(FROM) * radius / np.sin(FIELD / 2), float(FIELD)


def bounds(robot: Robot, *poses: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Center and radius of a ball around the robot as it stands in one or more poses, and its lowest height; metres."""
    from ..._poses import matrix_from_wxyz_xyz

    Ts = np.stack([matrix_from_wxyz_xyz(pose) for pose in poses])
    points = [Ts[..., :3, 3].reshape(-1, 3)]
    for k, link in enumerate(robot.link_names):
        for mesh in drawn_meshes(robot, link):
            corners = np.stack(np.meshgrid(*np.asarray(mesh.bounds).T), axis=-1).reshape(-1, 3)
            points += [corners @ T[:3, :3].T + T[:3, 3] for T in Ts[:, k]]
    cloud = np.concatenate(points)
    center = (cloud.min(axis=0) + cloud.max(axis=0)) / 2
    radius = float(np.linalg.norm(cloud - center, axis=1).max())
    return center, max(radius, 0.05), float(cloud[:, 2].min())
