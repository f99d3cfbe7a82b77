"""Tight oriented boxes of a robot's collision geometry, one for each collision element of a link.

Boxes, cylinders, capsules, spheres and ellipsoids have exact boxes; meshes the smallest that `tight_box` finds. They
are computed once for a robot. They are what `ObstacleCost` compares with obstacles.

A box of least volume has, for each of its axes, the smallest rectangle around what is seen along that axis. So: begin
with the directions of the largest faces of the convex hull (one of which the best box has in nearly all cases), the
principal axes and the frame as it is; turn about each axis in turn to the smallest rectangle, which has a side along an
edge of the outline (Freeman and Shapira 1975); repeat while the box gets smaller. The same points always give the same
box. That it holds all points is checked in the end, and rounding is added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float

from ..._frozen import Frozen, frozen
from ..._poses import matrix_from_wxyz_xyz
from ...robot import Robot, Shape, as_robot
from ...typing import RobotLike

FACES = 48
"""Directions of hull faces to begin with, those of the largest area; more do not make boxes smaller by a percent."""
REFINED = 6
"""Beginnings that are turned further."""
ROUNDS = 8
"""Turns about all three axes at most."""
FLAT = 1e-6
"""Share of the size added to each edge when boxes are compared: flat points have no volume, yet a smallest box."""
ROUNDING = 1e-14
"""Share of the coordinates by which a box is enlarged: some dozens of roundings."""

Frame = Float[np.ndarray, "3 3"]

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


# The smallest box around points -------------------------------------------------------------------


def tight_box(
    points: Float[np.ndarray, "n 3"],
) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"], Frame]:
    """Centre, half edges and axes (columns, right-handed) of a small box that holds all points.

    Args:
        points: at least one, metres, in any order.
    """
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    corners, normals = _hull(points - middle)
    size = FLAT * float(np.abs(corners).max(initial=0.0))
    beginnings = [np.eye(3), np.linalg.svd(corners - corners.mean(axis=0), full_matrices=True)[2].T]
    frames = [_turned(corners, frame, 2) for frame in beginnings + [_frame_of(n) for n in normals]]
    frames.sort(key=lambda frame: _volume(corners, frame, size))
    best = min(
        (_refined(corners, frame, size) for frame in frames[:REFINED]),
        key=lambda frame: _volume(corners, frame, size),
    )
    if np.linalg.det(best) < 0.0:
        best = best * np.array([1.0, 1.0, -1.0])
    return _around(points, best)


def _around(points: np.ndarray, axes: Frame) -> tuple[np.ndarray, np.ndarray, Frame]:
    """The box with these axes around points; enlarged so that no rounding leaves a point outside."""
    seen = points @ axes
    center = axes @ (0.5 * (seen.min(axis=0) + seen.max(axis=0)))
    half = np.abs((points - center) @ axes).max(axis=0)
    return center, half + ROUNDING * (half.sum() + np.abs(points).max()), axes


def _hull(points: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Corners of the convex hull, and normals of its largest faces; of flat points all, and none."""
    from scipy.spatial import ConvexHull, QhullError  # a third of a second that a plan without boxes saves

    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):  # flat, or fewer than four
        return np.unique(points, axis=0), []
    a, b, c = np.moveaxis(points[hull.simplices], 1, 0)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    area_of: dict[tuple[float, ...], float] = {}
    normal_of: dict[tuple[float, ...], np.ndarray] = {}
    for normal, area in zip(hull.equations[:, :3], areas.tolist(), strict=True):
        one_side = normal * (
            1.0 if tuple(normal) > tuple(-normal) else -1.0
        )  # opposite faces are one direction
        key = tuple((np.round(one_side, 6) + 0.0).tolist())
        area_of[key] = area_of.get(key, 0.0) + area
        normal_of.setdefault(key, normal)
    largest = sorted(area_of, key=lambda key: (-area_of[key], key))[:FACES]
    return points[np.sort(hull.vertices)], [normal_of[key] for key in largest]


def _frame_of(normal: np.ndarray) -> Frame:
    """A frame whose third axis is the normal."""
    z = normal / np.linalg.norm(normal)
    x = np.cross(np.eye(3)[int(np.abs(z).argmin())], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _volume(points: np.ndarray, axes: Frame, size: float) -> float:
    return float(np.prod(np.ptp(points @ axes, axis=0) + size))


def _refined(points: np.ndarray, axes: Frame, size: float) -> Frame:
    """The frame turned about its axes, one after the other, for as long as that makes the box smaller."""
    volume = _volume(points, axes, size)
    for _ in range(ROUNDS):
        before = volume
        for axis in range(3):
            turned = _turned(points, axes, axis)
            smaller = _volume(points, turned, size)
            if smaller < volume:
                axes, volume = turned, smaller
        if volume > before * (1.0 - 1e-9):
            break
    return axes


def _turned(points: np.ndarray, axes: Frame, axis: int) -> Frame:
    """The frame turned about one axis so that the rectangle around what is seen along it is smallest."""
    from scipy.spatial import ConvexHull, QhullError  # a third of a second that a plan without boxes saves

    others = axes[:, [(axis + 1) % 3, (axis + 2) % 3]]
    seen = points @ others
    try:
        outline = seen[ConvexHull(seen).vertices]
    except (QhullError, ValueError):  # on a line
        outline = seen
    edges = np.roll(outline, -1, axis=0) - outline
    lengths = np.linalg.norm(edges, axis=1)
    along = edges[lengths > 0.0] / lengths[lengths > 0.0, None]
    if not len(along):
        return axes
    width = np.ptp(outline @ along.T, axis=0)
    height = np.ptp(outline @ np.column_stack([-along[:, 1], along[:, 0]]).T, axis=0)
    least = 1e-9 * float(lengths.max())
    u = along[int(np.argmin((width + least) * (height + least)))]
    turned = axes.copy()
    turned[:, (axis + 1) % 3] = others @ u
    turned[:, (axis + 2) % 3] = others @ np.array([-u[1], u[0]])
    return turned
