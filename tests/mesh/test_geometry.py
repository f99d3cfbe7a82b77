"""Small helpers of geometry against brute force and trimesh."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from elbowroom.errors import InputError
from elbowroom.mesh import (
    closest_points_on_segments,
    ray_triangle,
    transform_aabb,
    triangle_aabbs_overlap,
)

from .mesh_tools import rotations, segment_distances, shift


def test_closest_points_of_segments_equal_brute_force():
    rng = np.random.default_rng(0)
    ends = rng.normal(size=(4, 400, 3))
    ends[1, :40] = ends[0, :40]  # points
    ends[3, 20:80] = ends[2, 20:80]
    ends[3, 100:150] = ends[2, 100:150] + (ends[1] - ends[0])[100:150] * rng.normal(size=(50, 1))  # parallel
    ends[2, 150:170] = 0.5 * (ends[0] + ends[1])[150:170]  # touching
    a, b, gap = closest_points_on_segments(*ends)
    steps = np.linspace(0.0, 1.0, 201)[:, None, None]
    on_a, on_b = ends[0] + steps * (ends[1] - ends[0]), ends[2] + steps * (ends[3] - ends[2])
    brute = np.array([np.linalg.norm(on_a[:, None, k] - on_b[None, :, k], axis=-1).min() for k in range(400)])
    assert np.all(gap <= brute + 1e-12)
    assert np.all(gap >= brute - 0.03)  # half a step of the longest segments
    proper = slice(80, 100)
    p, p_end, q, q_end = ends[:, proper]
    np.testing.assert_allclose(gap[proper], segment_distances(p, p_end - p, q, q_end - q), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(a - b, axis=1), gap, atol=1e-12)
    for point, start, end in ((a, ends[0], ends[1]), (b, ends[2], ends[3])):  # on the segments
        around = np.linalg.norm(point - start, axis=1) + np.linalg.norm(point - end, axis=1)
        np.testing.assert_allclose(around, np.linalg.norm(end - start, axis=1), atol=1e-12)


def test_one_segment_against_many():
    a, b, gap = closest_points_on_segments(
        (0, 0, 0), (1, 0, 0), [[0.5, 1, 0], [3, 0, 0]], [[0.5, 2, 0], [4, 0, 0]]
    )
    np.testing.assert_allclose(gap, [1.0, 2.0])
    np.testing.assert_allclose(a, [[0.5, 0, 0], [1, 0, 0]])
    np.testing.assert_allclose(b, [[0.5, 1, 0], [3, 0, 0]])
    assert closest_points_on_segments((0, 0, 0), (1, 0, 0), (0, 0, 2), (1, 0, 2)).distance == pytest.approx(
        2.0
    )


def test_bounding_boxes_of_triangles():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 500, 3, 3))
    found = triangle_aabbs_overlap(a, b + rng.normal(size=(500, 1, 3)))
    assert found.shape == (500,)
    b = rng.normal(size=(500, 3, 3)) + rng.normal(size=(500, 1, 3))
    expected = [
        all(p[:, c].min() <= q[:, c].max() and q[:, c].min() <= p[:, c].max() for c in range(3))
        for p, q in zip(a, b, strict=True)
    ]
    np.testing.assert_array_equal(triangle_aabbs_overlap(a, b), expected)
    assert 50 < sum(expected) < 450
    unit = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    assert triangle_aabbs_overlap(unit, unit + np.array([1, 0, 0]))  # touching counts
    assert not triangle_aabbs_overlap(unit, unit + np.array([1 + 1e-12, 0, 0]))
    assert triangle_aabbs_overlap(unit, unit[None].repeat(4, axis=0)).shape == (4,)


def test_a_moved_box_is_that_of_its_corners():
    rng = np.random.default_rng(2)
    low = rng.normal(size=(50, 3))
    high = low + rng.uniform(0, 1, (50, 3))
    T = np.tile(np.eye(4), (50, 1, 1))
    T[:, :3, :3], T[:, :3, 3] = rotations(rng, 50), rng.normal(size=(50, 3))
    found_low, found_high = transform_aabb(low, high, T)
    pick = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T
    for k in range(50):
        corners = np.where(pick, high[k], low[k]) @ T[k, :3, :3].T + T[k, :3, 3]
        np.testing.assert_allclose(found_low[k], corners.min(axis=0), atol=1e-12)
        np.testing.assert_allclose(found_high[k], corners.max(axis=0), atol=1e-12)
    moved = transform_aabb((0, 0, 0), (1, 2, 3), (1, 0, 0, 0, 10, 0, 0))
    np.testing.assert_allclose(moved, [[10, 0, 0], [11, 2, 3]])
    assert transform_aabb((0, 0, 0), (1, 1, 1), T)[0].shape == (50, 3)


def test_rays_hit_what_trimesh_says():
    rng = np.random.default_rng(3)
    body = trimesh.creation.icosphere(subdivisions=1)
    origins, ways = rng.normal(size=(200, 3)), rng.normal(size=(200, 3))
    found = ray_triangle(origins[:, None], ways[:, None], body.triangles[None])
    assert found.hit.shape == (200, len(body.faces))
    rows, rays = body.ray.intersects_id(origins, ways, multiple_hits=True)
    expected = np.zeros_like(found.hit)
    expected[rays, rows] = True
    np.testing.assert_array_equal(found.hit, expected)
    assert found.hit.any(axis=1).sum() > 30
    places = origins[:, None] + found.distance[..., None] * ways[:, None]
    by_weights = np.einsum("rtc,tck->rtk", found.barycentric, body.triangles)
    np.testing.assert_allclose(places[found.hit], by_weights[found.hit], atol=1e-12)
    assert np.all(np.isinf(found.distance[~found.hit]))
    assert np.all(np.isnan(found.barycentric[~found.hit]))
    front = ray_triangle(origins[:, None], ways[:, None], body.triangles[None], both_sides=False)
    facing = np.einsum("rk,tk->rt", ways, body.face_normals) < 0
    np.testing.assert_array_equal(front.hit, found.hit & facing)


def test_rays_at_edges_behind_and_along():
    unit = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]])
    assert ray_triangle((0.2, 0.2, 3), (0, 0, -2), unit).distance == pytest.approx(
        1.5
    )  # lengths of the direction
    assert ray_triangle((0, 0, 1), (0, 0, -1), unit).hit  # a corner
    assert ray_triangle((0.5, 0.5, 1), (0, 0, -1), unit).hit  # an edge
    assert not ray_triangle((0.2, 0.2, 1), (0, 0, 1), unit).hit  # behind
    assert not ray_triangle((-1, 0.2, 0), (1, 0, 0), unit).hit  # in the plane
    assert not ray_triangle((0.2, 0.2, 1), (0, 0, -1), unit[[0, 0, 0]]).hit  # a point


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: closest_points_on_segments((0, 0), (1, 0, 0), (0, 0, 0), (1, 0, 0)), "start_a"),
        (lambda: closest_points_on_segments((0, 0, 0), (1, 0, np.nan), (0, 0, 0), (1, 0, 0)), "end_a"),
        (
            lambda: closest_points_on_segments(np.zeros((2, 3)), np.ones((3, 3)), (0, 0, 0), (1, 0, 0)),
            "go together",
        ),
        (lambda: closest_points_on_segments("a", "b", "c", "d"), "start_a"),
        (lambda: triangle_aabbs_overlap(np.zeros((2, 3)), np.zeros((3, 3))), "tri_a"),
        (lambda: triangle_aabbs_overlap(np.zeros((3, 3)), np.full((3, 3), np.inf)), "tri_b"),
        (lambda: transform_aabb((1, 0, 0), (0, 1, 1), np.eye(4)), "lower"),
        (lambda: transform_aabb((0, 0, 0), (1, 1, 1), np.eye(3)), "T"),
        (lambda: transform_aabb(np.zeros((2, 3)), np.ones((2, 3)), np.tile(shift(), (3, 1, 1))), "as many"),
        (lambda: ray_triangle((0, 0, 0), (0, 0, 0), np.eye(3)), "direction"),
        (lambda: ray_triangle((0, 0, 0), (0, 0, 1), np.eye(4)), "triangle"),
        (lambda: ray_triangle(np.zeros((2, 3)), np.ones((2, 3)), np.zeros((3, 3, 3))), "as many"),
        (lambda: ray_triangle(None, (0, 0, 1), np.eye(3)), "origin"),
    ],
)
def test_bad_input_is_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()
