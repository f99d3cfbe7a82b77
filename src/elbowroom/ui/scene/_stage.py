"""The floor and the camera: robot, obstacles and motion are in the picture.

The camera is placed when a robot is loaded, when other obstacles appear, when a motion has been found and when the
hand is shown. Until the user moves it, it also steps back whenever the robot would leave the canvas.
"""

from __future__ import annotations

from collections.abc import Callable
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
FILLED, EDGE = 0.86, 0.97
"""Share of the canvas that the picture fills when it is framed, and beyond which it is framed again."""
AROUND = 1.5
"""Obstacles are framed up to this many radii of the robot from its middle."""
MOMENTS = 12
"""Configurations of a motion that are framed."""
STEPPED = 0.02
"""Share of its distance by which the camera must move for the page to look again at what hides the robot."""
RESHAPED = 0.02
"""Change of the canvas's width over its height, as a share, from which the picture is framed again."""
ASIDE, HAND = 0.35, 0.2
"""Metres between the robot and the middle of the grasp, and the radius that is framed there."""


class Stage:
    """Floor and camera.

    Args:
        scene: a `viser.SceneApi`.
        moved: told that the user's camera stands elsewhere, or that the canvas has another shape.
    """

    def __init__(self, scene: Any, moved: Callable[[], None] = lambda: None) -> None:
        self._scene, self._camera = scene, camera_of(scene)
        self._robot: Robot | None = None
        self._floor: Any = None
        self._framed: tuple[Any, ...] = ()
        self._aspect = 0.0
        self._known: list[np.ndarray] = []
        self._subject = np.zeros((0, 3))
        if self._camera is not None:
            self._known.append(np.array(self._camera.position))  # where it is before the user moved it
            self._report(self._camera, moved)

    def _report(self, camera: Any, moved: Callable[[], None]) -> None:
        told = (
            [np.array(camera.position), float(camera.aspect)] if camera.image_height else [np.zeros(3), 0.0]
        )

        async def updated(_: Any) -> None:
            eye, aspect = np.array(camera.position), float(camera.aspect)
            far = np.linalg.norm(eye - np.array(camera.look_at))
            if np.linalg.norm(eye - told[0]) > STEPPED * far or aspect != told[1]:
                told[:] = eye, aspect
                moved()

        camera.on_update(updated)

    def show(self, view: View) -> None:
        """Frames what is new; keeps the robot in the picture while the camera is where it was put."""
        if view.robot is None or view.poses is None:
            return
        if view.robot is not self._robot:
            self._begin(view.robot, view.poses)
        if self._camera is None or not self._camera.image_height:
            return
        world, plan = view.state.model.world, view.state.plan.found
        found = plan if plan is not None and plan.asked.key == view.state.robot.key else None
        hand = view.state.grasp.shown
        framed = (
            view.robot,
            () if world is None else world.names,
            None if found is None else found.result,
            hand,
        )
        robot = corners(view.robot, view.poses)
        new = len(framed) != len(self._framed) or any(
            a is not b and a != b for a, b in zip(framed, self._framed, strict=True)
        )
        if new:
            self._framed = framed
            place = grasp_place(view) + np.array([0.0, 0.0, HAND]) if hand else None
            self._subject = _around(place, HAND) if place is not None else subject(view, robot, found)
        elif not self._owned() or (not self._reshaped() and (hand or self._inside(robot))):
            return
        self._look(self._subject if hand else np.concatenate([self._subject, robot]))

    def _begin(self, robot: Robot, poses: np.ndarray) -> None:
        self._robot, self._framed = robot, ()
        _, radius, lowest = bounds(robot, poses)
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
            cell_color=(205, 209, 214),
            section_color=(150, 156, 164),
        )
        if self._camera is not None:
            self._camera.up_direction, self._camera.fov = np.array([0.0, 0.0, 1.0]), float(FIELD)

    def _owned(self) -> bool:
        """Whether the camera is at a place where it was put; a report may be of a moment ago."""
        eye = np.array(self._camera.position)
        return any(np.allclose(eye, known, atol=1e-3) for known in self._known)

    def _reshaped(self) -> bool:
        """Whether the canvas has another shape than the one that was framed."""
        return abs(float(self._camera.aspect) - self._aspect) > RESHAPED * self._aspect

    def _inside(self, points: np.ndarray) -> bool:
        center = np.array(self._camera.look_at)
        return spread(points, np.array(self._camera.position), center, float(self._camera.aspect)) <= EDGE

    def _look(self, points: np.ndarray) -> None:
        self._aspect = float(self._camera.aspect)
        center, eye = framing(points, self._aspect)
        self._known = [*self._known[-8:], eye]
        self._camera.position = eye
        self._camera.look_at = center  # after the position, which takes the point looked at along


def camera_of(scene: Any) -> Any:
    """The user's camera; None where the scene has no user."""
    return getattr(scene._owner, "camera", None)


def subject(view: View, robot: np.ndarray, found: Any) -> np.ndarray:
    """Points that are to be in the picture: of the robot, of its motion, and of obstacles near it."""
    assert view.robot is not None
    middle = (robot.min(axis=0) + robot.max(axis=0)) / 2
    near = AROUND * float(np.linalg.norm(robot - middle, axis=1).max())
    points = [robot]
    path = None if found is None else found.result.path
    if path is not None and len(path):
        rows = np.asarray(path)[np.unique(np.linspace(0, len(path) - 1, MOMENTS).round().astype(int))]
        points.append(corners(view.robot, *view.robot.link_poses(rows)))
    for obstacle in view.state.model.world or ():
        if np.isfinite(obstacle.bounds).all():
            points.append(np.clip(_box(obstacle.bounds), middle - near, middle + near))
    return np.concatenate(points)


def _around(middle: np.ndarray, radius: float) -> np.ndarray:
    return _box(np.stack([middle - radius, middle + radius]))


def _box(ends: np.ndarray) -> np.ndarray:
    """(8, 3) corners of a box from its lower and upper one."""
    return np.stack(np.meshgrid(*np.asarray(ends).T), axis=-1).reshape(-1, 3)


def _axes(forward: np.ndarray) -> np.ndarray:
    """Rows: right, up and forward of a camera that is level."""
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= max(float(np.linalg.norm(right)), 1e-9)
    return np.stack([right, np.cross(right, forward), forward])


def framing(points: np.ndarray, aspect: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """What to look at, and the nearest place from which all points fill the picture in direction `FROM`.

    A point is in the picture when |x - eye_x| <= (z - eye_z) t, and so for y; of all points together that bounds eye_z
    from above, and leaves an interval for eye_x and eye_y.
    """
    axes = _axes(-FROM)
    local = points @ axes.T
    eye = np.zeros(3)
    lows, highs = np.zeros(2), np.zeros(2)
    slopes = FILLED * np.tan(FIELD / 2) * np.array([max(aspect, 0.05), 1.0])
    for k, slope in enumerate(slopes):
        lows[k] = (local[:, k] - slope * local[:, 2]).max()
        highs[k] = (local[:, k] + slope * local[:, 2]).min()
    eye[2] = ((highs - lows) / (2.0 * slopes)).min()
    eye[:2] = (lows + highs) / 2  # the middle of lows + slope z and highs - slope z
    center = np.array([*eye[:2], (local[:, 2].min() + local[:, 2].max()) / 2])
    return center @ axes, eye @ axes


def spread(points: np.ndarray, eye: np.ndarray, center: np.ndarray, aspect: float) -> float:
    """How far from the middle of the picture the outermost point is, as a share of the way to the edge."""
    local = (points - eye) @ _axes(center - eye).T
    if (local[:, 2] <= 1e-6).any():
        return float("inf")
    edge = np.tan(FIELD / 2) * np.array([max(aspect, 0.05), 1.0])
    return float((np.abs(local[:, :2]) / (local[:, 2:] * edge)).max())


def hidden_by(obstacles: list[Any], eye: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Share of the targets (n, 3) that each obstacle, taken as a box in its own frame, hides from the eye."""
    shares = np.zeros(len(obstacles))
    for k, obstacle in enumerate(obstacles):
        ends = obstacle.at(np.eye(4)).bounds
        if not np.isfinite(ends).all():
            continue
        R, t = obstacle.pose[:3, :3], obstacle.pose[:3, 3]
        start, along = (eye - t) @ R, (targets - eye) @ R
        along = np.where(np.abs(along) < 1e-12, 1e-12, along)
        near, far = (ends[0] - start) / along, (ends[1] - start) / along
        first, last = np.minimum(near, far).max(axis=1), np.maximum(near, far).min(axis=1)
        shares[k] = float(((first <= last) & (last > 0.0) & (first < 0.98)).mean())
    return shares


def grasp_place(view: View) -> np.ndarray:
    """Where the hand is shown: beside the robot, on its floor."""
    assert view.robot is not None
    assert view.poses is not None
    center, radius, lowest = bounds(view.robot, view.poses)
    return np.array([center[0] + radius + ASIDE, center[1], min(lowest, 0.0)])


def first_look(robot: Robot, *poses: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """What to look at, where from, and the vertical field of view, radians: the robot fills the picture."""
    return *framing(corners(robot, *poses)), float(FIELD)


def bounds(robot: Robot, *poses: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Center and radius of a ball around the robot as it stands in one or more poses, and its lowest height; metres."""
    cloud = corners(robot, *poses)
    center = (cloud.min(axis=0) + cloud.max(axis=0)) / 2
    radius = float(np.linalg.norm(cloud - center, axis=1).max())
    return center, max(radius, 0.05), float(cloud[:, 2].min())


def corners(robot: Robot, *poses: np.ndarray) -> np.ndarray:
    """(n, 3) corners of boxes around the links as they stand in one or more poses, and the links' origins."""
    from ..._poses import matrix_from_wxyz_xyz

    Ts = np.stack([matrix_from_wxyz_xyz(pose) for pose in poses])
    points = [Ts[..., :3, 3].reshape(-1, 3)]
    for k, link in enumerate(robot.link_names):
        for mesh in drawn_meshes(robot, link):
            box = _box(mesh.bounds)
            points += [box @ T[:3, :3].T + T[:3, 3] for T in Ts[:, k]]
    return np.concatenate(points)
