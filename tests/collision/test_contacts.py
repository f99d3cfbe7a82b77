"""Depths of links in obstacles: what is known by hand, and brute force over the balls of a cloud.

Looks inside: prisms have a stated deviation and overlaps a formula, seen only in their effect elsewhere.
"""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from elbowroom.collision._contacts import PRISM_DEVIATION, overlap, prism
from elbowroom.mesh import TriangleMesh
from elbowroom.world import Box, Capsule, Cylinder, HalfSpace, MeshObstacle, PointCloud, Sphere
from tests.world.world_tools import at

CUBE = TriangleMesh.box((0.2, 0.2, 0.2))


def turned(seed: int) -> np.ndarray:
    """A random pose within a few centimetres."""
    rng = np.random.default_rng(seed)
    T = trimesh.transformations.random_rotation_matrix(rng.uniform(size=3))
    T[:3, 3] = rng.uniform(-0.05, 0.05, 3)
    return T


@pytest.mark.parametrize("radius", [0.01, 0.1, 1.0, 8.0])
def test_the_prism_encloses_its_cylinder_tightly(radius):
    corners = prism(radius, 2.0)
    assert corners.closed
    reach = np.linalg.norm(corners.vertices[:, :2], axis=1)
    assert (reach <= radius + PRISM_DEVIATION).all()
    middles = corners.vertices[corners.faces].mean(axis=1)
    sides = np.abs(middles[:, 2]) < 0.9
    normals = np.cross(*(corners.vertices[corners.faces[sides]][:, k] - corners.vertices[corners.faces[sides]][:, 0] for k in (1, 2)))  # fmt: skip
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    planes = np.einsum("ni,ni->n", normals, corners.vertices[corners.faces[sides]][:, 0])
    np.testing.assert_allclose(planes, radius, rtol=1e-9)  # every side touches the cylinder, from outside


@pytest.mark.parametrize(
    ("obstacle", "rough"),
    [
        (Box((0.2, 0.2, 0.2), pose=at(0.19)), 1e-9),
        (Sphere(0.1, pose=at(0.19)), 1e-9),
        (Cylinder(0.1, 0.2, pose=at(0.19)), PRISM_DEVIATION),
        (Capsule(0.1, 0.2, pose=at(0.19)), 1e-9),
        (HalfSpace((-1.0, 0.0, 0.0), -0.09), 1e-9),
        (MeshObstacle(trimesh.creation.box((0.2, 0.2, 0.2)), pose=at(0.19)), 1e-9),
        (PointCloud(np.array([[0.19, 0.0, 0.0], [0.195, 0.02, 0.0], [0.3, 0.05, 0.0]]), 0.1), 1e-9),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_a_cube_that_is_a_centimetre_deep(obstacle, rough):
    found = overlap(CUBE, np.eye(4), obstacle)
    assert -0.01 - rough - 1e-6 <= found.distance <= -0.01 + 1e-6
    np.testing.assert_allclose(found.normal, [1.0, 0.0, 0.0], atol=1e-6)
    assert found.point_link[0] == pytest.approx(0.1, abs=1e-6)
    np.testing.assert_allclose(
        found.point_obstacle - found.point_link, found.distance * found.normal, atol=1e-12
    )


@pytest.mark.parametrize(
    "obstacle",
    [
        Box((0.2, 0.2, 0.2), pose=at(0.2)),
        Sphere(0.1, pose=at(0.2)),
        Capsule(0.1, 0.2, pose=at(0.2)),
        HalfSpace((-1.0, 0.0, 0.0), -0.1),
        MeshObstacle(trimesh.creation.box((0.2, 0.2, 0.2)), pose=at(0.2)),
        PointCloud(np.array([[0.2, 0.0, 0.0]]), 0.1),
    ],
    ids=lambda value: value.kind,
)
@pytest.mark.parametrize("apart", [0.0, 1e-12])
def test_bare_contact_has_a_place_and_no_depth(obstacle, apart):
    """Whoever asks was told that they touch, to rounding."""
    found = overlap(CUBE, at(-apart), obstacle)
    assert found.distance == pytest.approx(0.0, abs=1e-9)
    assert found.point_link[0] == pytest.approx(0.1, abs=3e-6)
    np.testing.assert_allclose(np.abs(found.normal), [1.0, 0.0, 0.0], atol=1e-6)


def test_what_is_wholly_inside_a_link_must_come_out():
    found = overlap(CUBE, np.eye(4), Sphere(0.02, pose=at(0.05)))
    assert found.distance == pytest.approx(-0.07, abs=1e-6)
    np.testing.assert_allclose(found.normal, [1.0, 0.0, 0.0], atol=1e-6)
    inside = overlap(CUBE, np.eye(4), PointCloud(np.array([[0.05, 0.0, 0.0]]), 0.02))
    assert inside.distance == pytest.approx(-0.07, abs=1e-9)
    np.testing.assert_allclose(inside.normal, [1.0, 0.0, 0.0], atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_the_deepest_ball_of_a_cloud_is_found(seed):
    rng = np.random.default_rng(seed)
    link = trimesh.creation.torus(0.1, 0.03)
    T, T_cloud = turned(seed), turned(seed + 100)
    points = rng.uniform(-0.2, 0.2, (800, 3))
    cloud = PointCloud(points, 0.03, pose=T_cloud)
    found = overlap(TriangleMesh.from_trimesh(link), T, cloud)
    local = trimesh.transform_points(points, np.linalg.inv(T) @ T_cloud)
    signed = -trimesh.proximity.signed_distance(link, local)  # theirs is positive inside
    assert found.distance == pytest.approx(signed.min() - 0.03, abs=1e-6)
    out = trimesh.transform_points([found.point_link], np.linalg.inv(T))
    assert abs(trimesh.proximity.closest_point(link, out)[1][0]) < 1e-6
