"""Tight oriented boxes of a robot's collision geometry, one for each collision element of a link.

Boxes, cylinders, capsules, spheres and ellipsoids have exact boxes; meshes the smallest that `tight_box` finds. They
are computed once for a robot. They are what `ObstacleCost` compares with obstacles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float

from .._frozen import Frozen, frozen
from .._poses import matrix_from_wxyz_xyz
from ..robot import Robot, Shape, as_robot
from ..typing import RobotLike
from ._tight_box import tight_box

_KNOWN: WeakKeyDictionary[Robot, LinkBoxes] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class LinkBoxes(Frozen):
    """Oriented boxes in the frames of their links."""

    links: tuple[str, ...]
    """Link of each box; a link has one for every collision element."""
    centers: Float[np.ndarray, "boxes 3"]
    """Middle of each box in the frame of its link, metres."""
    half_extents: Float[np.ndarray, "boxes 3"]
    """Half the edges of each box, metres."""
    axes: Float[np.ndarray, "boxes 3 3"]
    """Axes of each box as columns, right-handed."""

    def __len__(self) -> int:
        return len(self.links)

    @property
    def T_link_box(self) -> Float[np.ndarray, "boxes 4 4"]:
        """Pose of each box in the frame of its link: its centre, its axes along x, y, z."""
        T = np.tile(np.eye(4), (len(self), 1, 1))
        T[:, :3, :3], T[:, :3, 3] = self.axes, self.centers
        return T

    def poses(self, robot: RobotLike, cfgs: Any) -> Float[np.ndarray, "*n boxes 4 4"]:
        """Pose of each box in the world.

        Args:
            robot: whose boxes they are.
            cfgs: (dof,) or (n, dof).

        Raises:
            UnknownLinkError: boxes of another robot. InputError: a configuration that makes no sense.
        """
        robot = as_robot(robot)
        return self._link_poses(robot, cfgs) @ self.T_link_box

    def in_world(
        self, robot: RobotLike, cfgs: Any
    ) -> tuple[
        Float[np.ndarray, "*n boxes 3"], Float[np.ndarray, "*n boxes 3"], Float[np.ndarray, "*n boxes 3 3"]
    ]:
        """Centres, half edges and axes in the world, as `World.box_intersects` takes them.

        Args:
            robot: whose boxes they are.
            cfgs: (dof,) or (n, dof).
        """
        robot = as_robot(robot)
        T = self._link_poses(robot, cfgs)
        centers = np.einsum("...ij,...j->...i", T[..., :3, :3], self.centers) + T[..., :3, 3]
        return centers, np.broadcast_to(self.half_extents, centers.shape), T[..., :3, :3] @ self.axes

    def _link_poses(self, robot: Robot, cfgs: Any) -> Float[np.ndarray, "*n boxes 4 4"]:
        """Pose in the world of the link of each box."""
        links = [robot.link_index(name) for name in self.links]
        return matrix_from_wxyz_xyz(robot.link_poses(cfgs))[..., links, :, :]

    def __repr__(self) -> str:
        return f"LinkBoxes({len(self)} boxes of {len(set(self.links))} links)"


def link_boxes(robot: RobotLike) -> LinkBoxes:
    """Oriented boxes of all collision elements of a robot, attached objects included; made once and kept with it.

    Args:
        robot: the robot, or what `load_robot` takes; of a `CollisionModel`, its `robot`.

    Raises:
        InputError: something that is no robot. ElbowroomError: the robot cannot be loaded.
    """
    robot = as_robot(robot)
    known = _KNOWN.get(robot)
    if known is None:
        named = [(name, shape) for name in robot.mesh_links for shape in robot.shapes[name]]
        boxes = [_shape_box(shape) for _, shape in named]
        known = _KNOWN[robot] = LinkBoxes(
            links=tuple(name for name, _ in named),
            centers=frozen(np.array([center for center, _, _ in boxes]).reshape(-1, 3)),
            half_extents=frozen(np.array([half for _, half, _ in boxes]).reshape(-1, 3)),
            axes=frozen(np.array([axes for _, _, axes in boxes]).reshape(-1, 3, 3)),
        )
    return known


def _shape_box(shape: Shape) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centre, half edges and axes of the box around a collision element, in the link frame."""
    T = shape.T_link_shape
    match shape.kind:
        case "box":
            half = 0.5 * np.array(shape.size)
        case "sphere":
            half = np.full(3, shape.size[0])
        case "cylinder":
            half = np.array([shape.size[0], shape.size[0], 0.5 * shape.size[1]])
        case "capsule":
            half = np.array([shape.size[0], shape.size[0], 0.5 * shape.size[1] + shape.size[0]])
        case "ellipsoid":
            half = np.array(shape.size)
        case "mesh":
            points = shape.load().vertices
            return tight_box(points @ T[:3, :3].T + T[:3, 3])
    return T[:3, 3].copy(), half, T[:3, :3].copy()
