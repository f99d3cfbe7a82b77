"""Triangles that enclose primitives.

Boxes are exact. Cylinders, capsules, spheres and ellipsoids are convex bodies of revolution (up to a
scale): a polygon is circumscribed about the meridian and about every parallel, so the triangle mesh
contains the primitive. With the sides below no point of the mesh is farther from the primitive than
1 % of its radius (0.5 % for cylinders); what is proved of the mesh therefore holds for the primitive.
`fine_triangles` are as close as asked, and inside these: an odd multiple of the sides has the planes of all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from ..typing import Matrix4
from ._types import MeshData, Shape, ShapeKind

SIDES = 32
"""Facets around the axis."""
MERIDIAN = 16
"""Facets from pole to pole; even, so that the middle one is parallel to the axis."""
FINEST = 15
"""Multiple of the sides at most: a ball then has a quarter of a million triangles and is enclosed within 0.005 %."""


def box_mesh(size: tuple[float, ...]) -> MeshData:
    """A box with full edge lengths `size`, centred."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [triangle for a, b, c, d in quads for triangle in ((a, b, c), (a, c, d))]
    return _mesh(corners * np.asarray(size), np.array(faces))


def cylinder_mesh(radius: float, length: float, finer: int = 1) -> MeshData:
    """A cylinder about z, centred; caps exact, sides circumscribed."""
    return _revolved(np.array([[radius, length / 2], [radius, -length / 2]]), finer * SIDES)


def capsule_mesh(radius: float, length: float, finer: int = 1) -> MeshData:
    """A capsule about z, centred; `length` is the cylindrical part."""
    facets = finer * MERIDIAN
    angles = (np.arange(facets) + 0.5) * np.pi / facets
    outer = radius / np.cos(np.pi / (2 * facets))
    profile = outer * np.stack([np.sin(angles), np.cos(angles)], axis=1)
    profile[:, 1] += np.where(angles < np.pi / 2, length / 2, -length / 2)
    return _revolved(profile, finer * SIDES)


def sphere_mesh(radius: float, finer: int = 1) -> MeshData:
    """A sphere, centred."""
    return capsule_mesh(radius, 0.0, finer)


def ellipsoid_mesh(semi_axes: tuple[float, ...], finer: int = 1) -> MeshData:
    """An ellipsoid with semi-axes along x, y, z, centred."""
    unit = sphere_mesh(1.0, finer)
    return _mesh(unit.vertices * np.asarray(semi_axes), unit.faces)


def _revolved(profile: Float[np.ndarray, "rings 2"], sides: int) -> MeshData:
    """Revolves (radius, z) points, top to bottom, into a closed mesh with flat ends."""
    rings = len(profile)
    turn = 2 * np.pi * np.arange(sides) / sides
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1) / np.cos(np.pi / sides)
    vertices = np.empty((rings * sides + 2, 3))
    for ring, (radius, z) in enumerate(profile):
        vertices[ring * sides : (ring + 1) * sides, :2] = radius * circle
        vertices[ring * sides : (ring + 1) * sides, 2] = z
    top, bottom = rings * sides, rings * sides + 1
    vertices[top] = (0.0, 0.0, profile[0, 1])
    vertices[bottom] = (0.0, 0.0, profile[-1, 1])
    side = np.arange(sides)
    following = (side + 1) % sides
    faces = [np.stack([np.full(sides, top), side, following], axis=1)]
    for ring in range(rings - 1):
        upper, lower = ring * sides, (ring + 1) * sides
        faces.append(np.stack([upper + side, lower + side, lower + following], axis=1))
        faces.append(np.stack([upper + side, lower + following, upper + following], axis=1))
    last = (rings - 1) * sides
    faces.append(np.stack([np.full(sides, bottom), last + following, last + side], axis=1))
    return _mesh(vertices, np.concatenate(faces))


def _mesh(vertices: np.ndarray, faces: np.ndarray) -> MeshData:
    return MeshData(frozen(np.ascontiguousarray(vertices, dtype=np.float64)), frozen(faces.astype(np.int64)))


TRIANGLES: dict[ShapeKind, Callable[..., MeshData]] = {
    "box": lambda *size, finer=1: box_mesh(size),
    "cylinder": cylinder_mesh,
    "capsule": capsule_mesh,
    "sphere": sphere_mesh,
    "ellipsoid": lambda *axes, finer=1: ellipsoid_mesh(axes, finer),
}
"""Kind of primitive -> its triangles from its sizes, which are those of `Shape.size`."""


def fine_triangles(shape: Shape, within: float) -> MeshData:
    """Triangles of a shape, those of a curved primitive nowhere farther outside it than `within` metres.

    They are inside the triangles of `shape.load`, and those themselves for boxes, meshes and what is close enough.
    Primitives so large that this would take more than `FINEST` times the sides are as close as these come.
    """
    if shape.kind in ("mesh", "box"):
        return shape.load()
    radius = max(shape.size) if shape.kind == "ellipsoid" else shape.size[0]
    finer = 1
    while radius * _outside(shape.kind, finer) > within and finer < FINEST:
        finer += 2
    return shape.load() if finer == 1 else TRIANGLES[shape.kind](*shape.size, finer=finer)


def _outside(kind: ShapeKind, finer: int) -> float:
    """Largest distance of the triangles from a curved primitive, as a share of its radius."""
    around, along = np.cos(np.pi / (finer * SIDES)), np.cos(np.pi / (2 * finer * MERIDIAN))
    return 1.0 / around - 1.0 if kind == "cylinder" else 1.0 / (around * along) - 1.0


def primitive(kind: ShapeKind, T_link_shape: Matrix4, size: tuple[float, ...], source: str = "") -> Shape:
    """Collision geometry of a primitive: box, cylinder, capsule, sphere or ellipsoid; sizes as in `Shape.size`."""
    return Shape(kind, T_link_shape, size, partial(_triangles, kind, size), source)


def mesh_shape(vertices: Any, faces: Any, T_link_shape: Matrix4, source: str = "") -> Shape:
    """Collision geometry of triangles that are at hand."""
    return Shape(
        "mesh", T_link_shape, (1.0, 1.0, 1.0), partial(_mesh, np.array(vertices), np.array(faces)), source
    )


def _triangles(kind: ShapeKind, size: tuple[float, ...]) -> MeshData:
    return TRIANGLES[kind](*size)
