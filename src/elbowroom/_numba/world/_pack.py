"""What the kernels of the world run on: obstacles packed into arrays, with a tree over those that have an end.

`PackedWorld` is a named tuple of arrays, so that a kernel takes it as one argument. Shapes are in the obstacle's own
frame; meshes, clouds and fields of all obstacles are laid end to end (`Geometry`) and shared between worlds that
differ only in poses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from ..._frozen import FrozenMap, freeze
from ...mesh import TriangleMesh
from ...world import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    MeshObstacle,
    Obstacle,
    PointCloud,
    SdfGrid,
    Sphere,
)
from ..mesh_tables import pack_meshes
from ._tree import box_tree, point_tree

BOX, SPHERE, CYLINDER, CAPSULE, HALF_SPACE, MESH, CLOUD, SDF = range(8)
"""Kinds of obstacles."""
KINDS: dict[type[Obstacle], int] = {
    Box: BOX,
    Sphere: SPHERE,
    Cylinder: CYLINDER,
    Capsule: CAPSULE,
    HalfSpace: HALF_SPACE,
    MeshObstacle: MESH,
    PointCloud: CLOUD,
    SdfGrid: SDF,
}
SIZES = 8
"""Columns of `sizes`."""
ROWS = 4
"""Columns of `rows`."""


class PackedWorld(NamedTuple):
    """Arrays of all obstacles, n in number."""

    kinds: Int[np.ndarray, "n"]
    """BOX ... SDF."""
    poses: Float[np.ndarray, "n 12"]
    """T_world_obstacle: rotation row by row, then translation."""
    sizes: Float[np.ndarray, "n 8"]
    """BOX: half edges x y z. SPHERE: radius. CYLINDER, CAPSULE: radius, half length. HALF_SPACE: unit normal x y z,
    offset (obstacle frame). MESH: 1 when it has closed pieces. CLOUD: radius. SDF: spacing x y z, origin x y z,
    slope."""
    rows: Int[np.ndarray, "n 4"]
    """MESH: row of the root in `nodes` (its header is the row before). CLOUD: row of the root in `cloud_nodes`.
    SDF: first entry of `values`, then samples along x, y, z."""
    tree: Float[np.ndarray, "tree_nodes 8"]
    """`BoxTree.nodes` over the world boxes of obstacles that have an end; first and count refer to `members`."""
    members: Int[np.ndarray, "bounded"]
    """Obstacles in the order of the tree's leaves."""
    boxes: Float[np.ndarray, "bounded 6"]
    """Lower and upper corners of the world boxes of `members`, in their order."""
    endless: Int[np.ndarray, "half_spaces"]
    """Obstacles without end."""
    nodes: Float[np.ndarray, "mesh_nodes 16"]
    tris: Float[np.ndarray, "mesh_tris 9"]
    """Meshes, as `pack_meshes` lays them."""
    cloud_nodes: Float[np.ndarray, "cloud_nodes 8"]
    """Trees of all clouds; rows of children and places of points are absolute."""
    points: Float[np.ndarray, "points 3"]
    """Points of all clouds."""
    values: Float[np.ndarray, "samples"]
    """Samples of all fields, float32."""


Part = TriangleMesh | np.ndarray
"""What of an obstacle is laid in `Geometry`: its mesh, the points of its cloud, the values of its field."""


@dataclass(frozen=True, eq=False)
class Geometry:
    """Meshes, clouds and fields laid end to end, each once however many obstacles have it, and where each begins."""

    made_of: tuple[Part, ...]
    """What was laid; kept, so that identities stay theirs."""
    places: Mapping[int, tuple[int, ...]]
    """Row of `PackedWorld.rows` by the identity of a part."""
    nodes: np.ndarray
    tris: np.ndarray
    cloud_nodes: np.ndarray
    points: np.ndarray
    values: np.ndarray

    def serves(self, obstacles: Sequence[Obstacle]) -> bool:
        """Whether it holds all that these obstacles need."""
        return all(part is None or id(part) in self.places for part in map(_part, obstacles))

    def rows(self, obstacles: Sequence[Obstacle]) -> Int[np.ndarray, "n 4"]:
        """`PackedWorld.rows`."""
        rows = np.zeros((len(obstacles), ROWS), np.int64)
        for k, part in enumerate(map(_part, obstacles)):
            if part is not None:
                place = self.places[id(part)]
                rows[k, : len(place)] = place
        return rows


def _part(obstacle: Obstacle) -> Part | None:
    """What of an obstacle is laid; None for primitives."""
    match obstacle:
        case MeshObstacle():
            return obstacle.mesh
        case PointCloud():
            return obstacle.points
        case SdfGrid():
            return obstacle.values
        case _:
            return None


def lay_geometry(obstacles: Sequence[Obstacle]) -> Geometry:
    """Lays meshes, clouds and fields of obstacles end to end."""
    own = {id(part): (part, obstacle) for obstacle in obstacles if (part := _part(obstacle)) is not None}
    meshes = [part for part, _ in own.values() if isinstance(part, TriangleMesh)]
    nodes, tris, roots = pack_meshes(meshes)
    places: dict[int, tuple[int, ...]] = {
        id(mesh): (root,) for mesh, root in zip(meshes, roots.tolist(), strict=True)
    }
    trees, points, fields = [np.zeros((0, 8))], [np.zeros((0, 3))], [np.zeros(0, np.float32)]
    n_nodes, n_points, n_values = 0, 0, 0
    for part, obstacle in own.values():
        if isinstance(obstacle, PointCloud):
            tree, ordered = _cloud_tree(obstacle)
            if n_points:
                tree = tree.copy()
                tree[:, 6] += np.where(tree[:, 7] > 0.0, n_points, n_nodes)
            places[id(part)] = (n_nodes,)
            trees.append(tree)
            points.append(ordered)
            n_nodes, n_points = n_nodes + len(tree), n_points + len(ordered)
        elif isinstance(obstacle, SdfGrid):
            places[id(part)] = (n_values, *obstacle.values.shape)
            fields.append(obstacle.values.ravel())
            n_values += obstacle.values.size
    laid = tuple(_joined(parts) for parts in (trees, points, fields))
    freeze(*laid)
    return Geometry(tuple(part for part, _ in own.values()), FrozenMap(places), nodes, tris, *laid)


def _cloud_tree(cloud: PointCloud) -> tuple[np.ndarray, np.ndarray]:
    """Nodes of the tree over a cloud's points, and the points in its order; kept with the cloud and its copies."""
    kept = cloud.__dict__.get("box_tree")
    if kept is None:
        tree, ordered = point_tree(cloud.points)
        kept = cloud.__dict__["box_tree"] = tree.nodes, ordered
    return kept


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """One array; a single part is not copied."""
    return parts[1] if len(parts) == 2 else np.concatenate(parts)


def pack_world(obstacles: Sequence[Obstacle], geometry: Geometry) -> PackedWorld:
    """Packs obstacles whose geometry is laid."""
    n = len(obstacles)
    kinds = np.array([KINDS[type(o)] for o in obstacles], dtype=np.int64)
    T = np.array([o.pose for o in obstacles]).reshape(n, 4, 4)
    poses = np.concatenate([T[:, :3, :3].reshape(n, 9), T[:, :3, 3]], axis=1)
    sizes = np.zeros((n, SIZES))
    for k, obstacle in enumerate(obstacles):
        values = _sizes(obstacle)
        sizes[k, : len(values)] = values
    ends = np.flatnonzero(kinds != HALF_SPACE)
    bounds = np.array([obstacles[int(k)].bounds for k in ends]).reshape(-1, 2, 3)
    tree = box_tree(np.ascontiguousarray(bounds[:, 0]), np.ascontiguousarray(bounds[:, 1]))
    members, endless = ends[tree.order], np.flatnonzero(kinds == HALF_SPACE)
    boxes = bounds[tree.order].reshape(-1, 6)
    rows = geometry.rows(obstacles)
    freeze(kinds, poses, sizes, rows, members, boxes, endless)
    return PackedWorld(
        kinds, poses, sizes, rows, tree.nodes, members, boxes, endless, geometry.nodes, geometry.tris,
        geometry.cloud_nodes, geometry.points, geometry.values,
    )  # fmt: skip


def _sizes(obstacle: Obstacle) -> tuple[float, ...]:
    """The row of `PackedWorld.sizes`."""
    match obstacle:
        case Box():
            return tuple(0.5 * edge for edge in obstacle.size)
        case Sphere() | PointCloud():
            return (obstacle.radius,)
        case Cylinder() | Capsule():
            return obstacle.radius, 0.5 * obstacle.length
        case HalfSpace():
            return *obstacle.normal, obstacle.offset
        case MeshObstacle():
            return (float(obstacle.mesh.closed_faces.any()),)
        case SdfGrid():
            return *obstacle.spacing, *obstacle.origin, obstacle.slope
        case _:
            raise TypeError(f"no kind for a {type(obstacle).__name__}")
