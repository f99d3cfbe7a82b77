"""The walk over two trees loses no pair of triangles, and batched contacts equal those of single triangle pairs."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.mesh import (
    TriangleMesh,
    mesh_mesh_contact,
    query_bvh_pair,
    triangle_aabbs_overlap,
    triangle_triangle_intersection,
)

from .mesh_tools import mesh, moved, poses, rotations, shape


@pytest.mark.parametrize("name", ["cube0", "cube2", "torus", "panda_hand", "talos_torso"])
def test_a_mesh_meets_itself_in_every_triangle_and_each_pair_is_found_once(name: str):
    m = mesh(name)
    found = query_bvh_pair(m, m)
    assert len(np.unique(found, axis=0)) == len(found)
    own = found[found[:, 0] == found[:, 1], 0]
    assert sorted(own.tolist()) == sorted(m.order.tolist())


@pytest.mark.parametrize("far", [0.0, 1e3, 1e7])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e4])
def test_no_pair_of_triangles_that_meets_is_lost_at_any_size_and_place(size: float, far: float):
    rng = np.random.default_rng(7)
    corners = rng.normal(size=(2, 60, 3, 3)) * size
    place = far * rng.normal(size=3)
    a, b = (TriangleMesh((c + place).reshape(-1, 3), np.arange(180).reshape(-1, 3)) for c in corners)
    T = np.eye(4)
    T[:3, :3] = rotations(rng, 1)[0]
    T[:3, 3] = place - T[:3, :3] @ place + rng.normal(size=3) * 0.3 * size
    found = {tuple(pair) for pair in query_bvh_pair(a, b, None, T).tolist()}
    met = 0
    for i, one in enumerate(moved(a, np.eye(4))):
        for j, other in enumerate(moved(b, T)):
            if triangle_aabbs_overlap(one, other) and triangle_triangle_intersection(one, other) is not None:
                met += 1
                assert (i, j) in found
    assert met > 50
    contacts = mesh_mesh_contact(a, None, b, T)
    assert {*zip(contacts.tri_a.tolist(), contacts.tri_b.tolist(), strict=True)} <= found


def test_contacts_in_lanes_equal_those_of_single_pairs():
    a, b = mesh("talos_arm4"), mesh("talos_torso")
    checked = 0
    for T in poses(shape("talos_arm4"), shape("talos_torso"), 6, 0.2, 0.5, seed=4):
        found = mesh_mesh_contact(a, None, b, T)
        for k in range(min(len(found), 60)):
            corners_b = b.vertices[b.faces[found.tri_b[k]]] @ T[:3, :3].T + T[:3, 3]
            one = triangle_triangle_intersection(a.vertices[a.faces[found.tri_a[k]]], corners_b)
            assert one is not None
            assert found.depths[k] == pytest.approx(one.depth, abs=1e-10)
            if np.dot(found.normals[k], one.normal) > 1.0 - 1e-9:  # else two axes tie
                np.testing.assert_allclose(found.points[k], one.point, atol=1e-7)
                checked += 1
    assert checked > 100
