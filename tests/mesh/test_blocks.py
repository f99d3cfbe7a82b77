"""The blocks of eight hold every triangle once, and batched contacts equal those of single triangle pairs."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.mesh import TriangleMesh, mesh_mesh_contact, triangle_triangle_intersection
from elbowroom.mesh._kernels_wide import BLOCK_COLUMN, BLOCK_ROWS, FIELDS, LANES, TRIANGLE

from .mesh_tools import mesh, poses, shape


def lanes(m: TriangleMesh, node: int) -> np.ndarray:
    row = int(m.packed[node, BLOCK_COLUMN])
    assert row >= len(m.nodes)
    block = m.packed[row : row + BLOCK_ROWS].reshape(FIELDS, LANES).T
    return block[block[:, 3] >= 0.0]


@pytest.mark.parametrize("name", ["cube0", "talos_torso"])
def test_every_triangle_is_in_one_lane_and_inside_the_boxes_above_it(name: str):
    m = mesh(name)
    seen: list[int] = []
    work = [(1, m.center - m.half_extents, m.center + m.half_extents)]
    while work:
        node, low, high = work.pop()
        for entry in lanes(m, node):
            bottom, top = entry[:3] - entry[3:6], entry[:3] + entry[3:6]
            assert np.all(bottom >= low - 1e-12)
            assert np.all(top <= high + 1e-12)
            if entry[11] < TRIANGLE:
                work.append((int(entry[11]), bottom, top))
                continue
            t = int(entry[11]) - TRIANGLE
            seen.append(t)
            corners = m.triangles[t].reshape(3, 3)
            assert np.all(corners >= bottom - 1e-12)
            assert np.all(corners <= top + 1e-12)
            assert np.all(np.abs(corners @ entry[6:9] - entry[9]) <= entry[10] + 1e-12)
    assert sorted(seen) == list(range(len(m.order)))


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
