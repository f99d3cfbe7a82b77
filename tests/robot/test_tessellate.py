"""Triangles of primitives: closed, wound outward, and enclosing what they stand for."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from elbowroom.robot import _tessellate

sizes = st.floats(1e-3, 10.0)


def check(data, support, radius):
    """The mesh is closed and convex, its support in any direction is at least the primitive's, and little more."""
    mesh = trimesh.Trimesh(data.vertices, data.faces, process=False)
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert mesh.volume > 0
    # Support at the face normals decides containment of a convex body in a convex mesh.
    normals, heights = mesh.face_normals, np.einsum("ij,ij->i", mesh.face_normals, mesh.triangles[:, 0])
    solid = mesh.area_faces > 1e-9 * mesh.area_faces.max()
    assert np.all(heights[solid] >= support(normals[solid]) - 1e-9 * radius)
    directions = np.random.default_rng(0).normal(size=(200, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    reach = (directions @ data.vertices.T).max(axis=1)
    assert np.all(reach - support(directions) <= 0.01 * radius)


@given(sizes, sizes)
@settings(max_examples=20, deadline=None)
def test_cylinder(radius, length):
    check(
        _tessellate.cylinder_mesh(radius, length),
        lambda n: radius * np.hypot(n[:, 0], n[:, 1]) + length / 2 * np.abs(n[:, 2]),
        radius,
    )


@given(sizes, sizes)
@settings(max_examples=20, deadline=None)
def test_capsule(radius, length):
    check(_tessellate.capsule_mesh(radius, length), lambda n: radius + length / 2 * np.abs(n[:, 2]), radius)


@given(sizes)
@settings(max_examples=10, deadline=None)
def test_sphere(radius):
    check(_tessellate.sphere_mesh(radius), lambda n: np.full(len(n), radius), radius)


@pytest.mark.parametrize("axes", [(1.0, 1.0, 1.0), (0.1, 0.2, 0.3), (0.5, 0.05, 0.2)])
def test_ellipsoid(axes):
    check(_tessellate.ellipsoid_mesh(axes), lambda n: np.linalg.norm(n * axes, axis=1), max(axes))


def test_box_is_exact():
    data = _tessellate.box_mesh((0.1, 0.2, 0.3))
    mesh = trimesh.Trimesh(data.vertices, data.faces, process=False)
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(0.006)


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        ("cylinder", (0.07, 0.3)),
        ("capsule", (0.2, 0.3)),
        ("sphere", (0.12,)),
        ("ellipsoid", (0.3, 0.05, 0.1)),
    ],
)
def test_finer_triangles_are_as_close_as_asked_and_inside_the_coarse_ones(kind, size):
    shape = _tessellate.primitive(kind, np.eye(4), size)
    radius = max(size) if kind == "ellipsoid" else size[0]
    support = {
        "cylinder": lambda n: radius * np.hypot(n[:, 0], n[:, 1]) + size[-1] / 2 * np.abs(n[:, 2]),
        "capsule": lambda n: radius + size[-1] / 2 * np.abs(n[:, 2]),
        "sphere": lambda n: np.full(len(n), radius),
        "ellipsoid": lambda n: np.linalg.norm(n * size, axis=1),
    }[kind]
    fine, coarse = _tessellate.fine_triangles(shape, 1e-4), shape.load()
    assert len(fine.faces) > len(coarse.faces)
    check(fine, support, radius)
    directions = np.random.default_rng(1).normal(size=(500, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    assert np.all((directions @ fine.vertices.T).max(axis=1) - support(directions) <= 1e-4)
    mesh = trimesh.Trimesh(coarse.vertices, coarse.faces, process=False)
    solid = mesh.area_faces > 1e-9 * mesh.area_faces.max()
    heights = np.einsum("ij,ij->i", mesh.face_normals, mesh.triangles[:, 0])
    assert np.all((mesh.face_normals @ fine.vertices.T).max(axis=1)[solid] <= heights[solid] + 1e-9)
    np.testing.assert_array_equal(_tessellate.fine_triangles(shape, 0.01 * radius).faces, coarse.faces)
