"""True depth: known answers, the separation property, agreement with EPA."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from elbowroom.errors import InputError
from elbowroom.mesh import (
    TriangleMesh,
    collide,
    collide_batch,
    distance,
    mesh_mesh_separation,
    separation_along,
)

from .mesh_tools import coal_hull, coal_pose, mesh, off_surface, poses, rotations, shape, shift


@pytest.mark.parametrize("subdivision", range(5))
@pytest.mark.parametrize(("offset", "depth"), [(0.9, 0.1), (0.5, 0.5), (1.0, 0.0)])
def test_cubes_overlapping_along_x(subdivision, offset, depth):
    cube = mesh(f"cube{subdivision}")
    c = mesh_mesh_separation(cube, None, cube, shift(offset))
    assert c.depth == pytest.approx(depth, abs=1e-12)
    np.testing.assert_allclose(c.normal, [1, 0, 0], atol=1e-9)
    np.testing.assert_allclose(c.point_a - c.point_b, c.depth * c.normal, atol=1e-12)
    assert c.point_a[0] == pytest.approx(0.5, abs=1e-9)


def test_apart_gives_none():
    assert mesh_mesh_separation(mesh("cube1"), None, mesh("cube1"), shift(1.1)) is None


def test_rotated_cubes_need_the_edge_edge_direction():
    s = np.sqrt(0.5)
    upright = np.array([[s, -s, 0, 0], [s, s, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
    turned = np.array([[s, 0, s, 2 * s - 0.05], [0, 1, 0, 0.02], [-s, 0, s, 0.01], [0, 0, 0, 1.0]])
    cube = mesh("cube0")
    c = mesh_mesh_separation(cube, upright, cube, turned)
    e = epa(coal_hull(shape("cube0"))[1], upright, coal_hull(shape("cube0"))[1], turned)
    assert c.depth == pytest.approx(0.05, abs=1e-9)
    assert c.depth == pytest.approx(e, abs=1e-9)
    np.testing.assert_allclose(c.normal, [1, 0, 0], atol=1e-9)


def test_a_contained_mesh_must_come_out_altogether():
    big, small = mesh("cube2"), TriangleMesh.box((0.2, 0.2, 0.2))
    c = mesh_mesh_separation(big, None, small, shift(0.1, 0.02))
    assert c.depth == pytest.approx(0.5, abs=1e-9)
    np.testing.assert_allclose(c.normal, [1, 0, 0], atol=1e-9)
    assert c.state == "b inside a"
    assert c.triangle_depth == 0
    assert mesh_mesh_separation(big, None, small, shift(0.1, 0.02), contain=False) is None
    s = mesh_mesh_separation(small, shift(0.1, 0.02), big, None)
    np.testing.assert_allclose(s.normal, -c.normal, atol=1e-9)
    assert s.state == "a inside b"


def test_surfaces_alone_may_part_inwards():
    big, small = mesh("cube2"), TriangleMesh.box((0.2, 0.2, 0.2))
    c = mesh_mesh_separation(big, None, small, shift(0.42, 0.05))
    assert c.depth == pytest.approx(0.18, abs=1e-9)
    np.testing.assert_allclose(c.normal, [1, 0, 0], atol=1e-9)
    c = mesh_mesh_separation(big, None, small, shift(0.42, 0.05), contain=False)
    assert c.depth == pytest.approx(0.02, abs=1e-9)
    np.testing.assert_allclose(c.normal, [-1, 0, 0], atol=1e-6)


def test_interlinked_tori_separate_at_the_first_gap_not_the_last():
    T = np.array([[1.0, 0, 0, 1], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    torus = mesh("torus")
    assert mesh_mesh_separation(torus, None, torus, T) is None
    T[0, 3] = 1.5  # the ring of B is 0.1 into the ring of A, still linked
    c = mesh_mesh_separation(torus, None, torus, T)
    assert 0.09 < c.depth < 0.11
    out = T.copy()
    out[:3, 3] += (c.depth + 1e-6) * c.normal
    assert not collide(torus, None, torus, out)
    along = separation_along(torus, None, torus, T, [[-1.0, 0, 0], [1.0, 0, 0]])
    assert along[0] == pytest.approx(c.depth, rel=0.05)
    assert along[1] > 0.4  # the other way leads through the ring


def test_separation_along_handles_directions_and_refuses_bad_ones():
    cube = mesh("cube1")
    np.testing.assert_allclose(
        separation_along(cube, None, cube, shift(0.9), [[1, 0, 0], [2, 0, 0], [-1, 0, 0]]), [0.1, 0.1, 1.9]
    )
    assert separation_along(cube, None, cube, shift(3.0), [[1, 0, 0]])[0] == 0
    with pytest.raises(InputError, match="zero"):
        separation_along(cube, None, cube, None, [[0, 0, 0]])
    with pytest.raises(InputError, match="directions"):
        separation_along(cube, None, cube, None, [[np.nan, 0, 0]])


LINK_PAIRS = [
    ("panda5", "panda_hand", 300),
    ("talos_arm4", "talos_torso", 250),
    ("ur5_forearm", "ur5_upperarm", 250),
    ("panda0", "panda_finger", 250),
    ("bracket", "torus", 100),
]


@pytest.mark.long
@pytest.mark.parametrize(("a", "b", "count"), LINK_PAIRS)
def test_moving_by_the_depth_separates_and_by_less_does_not(a, b, count):
    Ts = poses(shape(a), shape(b), 4 * count, 0.1, 0.8, seed=11)
    Ts = Ts[collide_batch(mesh(a), None, mesh(b), Ts)][:count]
    assert len(Ts) == count
    free, held = Ts.copy(), Ts.copy()
    for i, T in enumerate(Ts):
        c = mesh_mesh_separation(mesh(a), None, mesh(b), T)
        assert abs(np.linalg.norm(c.normal) - 1) < 1e-9
        free[i, :3, 3] += (c.depth + 1e-6) * c.normal
        held[i, :3, 3] += 0.99 * c.depth * c.normal
    assert not collide_batch(mesh(a), None, mesh(b), free).any()
    assert collide_batch(mesh(a), None, mesh(b), held).all()


def epa(a, T_a, b, T_b) -> float:
    coal = pytest.importorskip("coal")
    request = coal.CollisionRequest()
    request.enable_contact = True
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    request.gjk_max_iterations, request.epa_max_num_iterations = 1000, 2000
    result = coal.CollisionResult()
    coal.collide(a, coal_pose(T_a), b, coal_pose(T_b), request, result)
    return -result.getContact(0).penetration_depth if result.isCollision() else -1.0


@pytest.mark.long
@pytest.mark.parametrize(
    ("a", "b"),
    [("cube0", "cube0"), ("panda5", "panda_hand"), ("panda0", "panda_finger"), ("cylinder", "cube0")],
)
def test_convex_pairs_agree_with_epa(a, b):
    (hull_a, convex_a), (hull_b, convex_b) = coal_hull(shape(a)), coal_hull(shape(b))
    left, right = TriangleMesh.from_trimesh(hull_a), TriangleMesh.from_trimesh(hull_b)
    Ts = poses(hull_a, hull_b, 100, 0.1, 0.7, seed=12)
    compared = 0
    for T in Ts:
        theirs = epa(convex_a, np.eye(4), convex_b, T)
        c = mesh_mesh_separation(left, None, right, T)
        if theirs < 1e-6 or c is None:
            assert c is None or c.depth < 1e-5
            continue
        compared += 1
        assert c.depth == pytest.approx(theirs, abs=1e-4)
    assert compared > 50


def test_shallow_contacts_of_links_are_shallow():
    a, b = mesh("ur5_forearm"), mesh("ur5_upperarm")
    Ts = poses(shape("ur5_forearm"), shape("ur5_upperarm"), 40, 0.9, 1.2, seed=13)
    tried = 0
    for T in Ts:
        apart = distance(a, None, b, T)
        if apart.distance <= 0:
            continue
        pushed = T.copy()
        pushed[:3, 3] -= (apart.distance + 0.005) * apart.normal
        c = mesh_mesh_separation(a, None, b, pushed)
        if c is None:
            continue
        tried += 1
        assert c.depth < 0.0051
    assert tried > 20


def test_depth_is_the_same_after_a_rigid_motion_and_a_swap():
    a, b = mesh("bracket"), mesh("torus")
    Ts = poses(shape("bracket"), shape("torus"), 10, 0.3, 0.6, seed=14)
    G = poses(shape("cube0"), shape("cube0"), 1, 2.0, 2.0, seed=15)[0]
    for T in Ts[collide_batch(a, None, b, Ts)]:
        c = mesh_mesh_separation(a, None, b, T)
        d = mesh_mesh_separation(a, G, b, G @ T)
        assert d.depth == pytest.approx(c.depth, rel=1e-6)
        np.testing.assert_allclose(d.normal, G[:3, :3] @ c.normal, atol=1e-5)
        s = mesh_mesh_separation(b, T, a, None)
        assert s.depth == pytest.approx(c.depth, rel=1e-12)
        np.testing.assert_allclose(s.normal, -c.normal, atol=1e-12)
        np.testing.assert_allclose(s.point, c.point, atol=1e-12)


def worst_witness(a: TriangleMesh, b: TriangleMesh, Ts: np.ndarray) -> tuple[float, int]:
    """How far the points of the deepest contacts are from the surfaces at most, and how many contacts there were."""
    on_a: list[np.ndarray] = []
    on_b: list[np.ndarray] = []
    for T in Ts:
        c = mesh_mesh_separation(a, None, b, T)
        if c is not None:
            on_a.append(c.point_a)
            on_b.append(T[:3, :3].T @ (c.point_b - T[:3, 3]))
            np.testing.assert_allclose(c.point_a - c.point_b, c.depth * c.normal, atol=1e-12)
    return max(off_surface(a, np.array(on_a)), off_surface(b, np.array(on_b))), len(on_a)


def test_points_of_a_corner_in_a_plate_are_on_the_surfaces():
    rng = np.random.default_rng(16)
    plate, cube = TriangleMesh.box((1.0, 1.0, 0.1)), TriangleMesh.box((0.2, 0.2, 0.2))
    Ts = np.tile(np.eye(4), (200, 1, 1))
    Ts[:, :3, :3] = rotations(rng, 200)
    lowest = (cube.vertices @ np.swapaxes(Ts[:, :3, :3], 1, 2))[..., 2].min(axis=1)
    Ts[:, :2, 3] = rng.uniform(-0.3, 0.3, (200, 2))
    Ts[:, 2, 3] = 0.05 - 0.01 - lowest  # the lowest corner is 10 mm below the top
    off, n = worst_witness(plate, cube, Ts)
    assert n == 200
    assert off < 1e-6


@pytest.mark.parametrize(("a", "b"), [("cube0", "cube0"), ("cube1", "bracket"), ("bracket", "torus")])
def test_points_of_the_deepest_contact_are_on_the_surfaces(a, b):
    off, n = worst_witness(mesh(a), mesh(b), poses(shape(a), shape(b), 150, 0.1, 0.8, seed=17))
    assert n > 60
    assert off < 1e-6


def random_boxes(seed: int, n: int) -> list[tuple[TriangleMesh, TriangleMesh, np.ndarray]]:
    """Pairs of boxes of random sizes in random places, many of them meeting."""
    rng = np.random.default_rng(seed)
    pairs = []
    for R in rotations(rng, n):
        a, b = (TriangleMesh.box(10.0 ** rng.uniform(-1.5, 0.0, 3)) for _ in range(2))
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = R, rng.uniform(-0.4, 0.4, 3)
        pairs.append((a, b, T))
    return pairs


def test_swapping_equal_meshes_does_not_change_the_depth():
    tried = 0
    for name in ("cube1", "bracket", "torus"):
        m = mesh(name)
        for T in poses(shape(name), shape(name), 40, 0.1, 0.8, seed=18):
            c, s = mesh_mesh_separation(m, None, m, T), mesh_mesh_separation(m, T, m, None)
            assert (c is None) == (s is None)
            if c is not None:
                tried += 1
                assert s.depth == pytest.approx(c.depth, abs=1e-12)
                np.testing.assert_allclose(s.normal, -c.normal, atol=1e-12)
                np.testing.assert_allclose(s.point_a, c.point_b, atol=1e-12)
    assert tried > 60


def test_boxes_have_the_least_depth_of_all_directions():
    rng = np.random.default_rng(19)
    tried = 0
    for a, b, T in random_boxes(20, 400):
        c = mesh_mesh_separation(a, None, b, T)
        if c is None:
            continue
        tried += 1
        s = mesh_mesh_separation(b, T, a, None)
        assert s.depth == pytest.approx(c.depth, abs=1e-12)
        assert separation_along(a, None, b, T, rng.normal(size=(100, 3))).min() >= c.depth - 1e-9
        corners = (a.vertices, b.vertices @ T[:3, :3].T + T[:3, 3])
        edges = np.cross(np.eye(3)[:, None], T[:3, :3].T[None]).reshape(-1, 3)
        edges = edges[np.linalg.norm(edges, axis=1) > 1e-9]
        axes = np.concatenate([np.eye(3), T[:3, :3].T, edges / np.linalg.norm(edges, axis=1, keepdims=True)])
        p, q = (x @ axes.T for x in corners)
        overlap = np.minimum(p.max(axis=0) - q.min(axis=0), q.max(axis=0) - p.min(axis=0))
        assert c.depth == pytest.approx(overlap.min(), abs=1e-12)  # separating axes, by hand
    assert tried > 100


@pytest.mark.long
def test_random_directions_rarely_separate_sooner():
    rng = np.random.default_rng(21)
    better, much_better, tried = 0, 0, 0
    for a, b in (
        ("cube1", "bracket"),
        ("bracket", "bracket"),
        ("bracket", "torus"),
        ("panda5", "panda_hand"),
    ):
        Ts = poses(shape(a), shape(b), 150, 0.05, 0.8, seed=22)
        for T in Ts[collide_batch(mesh(a), None, mesh(b), Ts)][:60]:
            depth = mesh_mesh_separation(mesh(a), None, mesh(b), T).depth
            least = separation_along(mesh(a), None, mesh(b), T, rng.normal(size=(300, 3))).min()
            tried += 1
            better += least < depth * (1 - 1e-6)
            much_better += least < 0.95 * depth
    assert tried == 240
    assert better <= 0.03 * tried
    assert much_better <= 0.005 * tried


def test_depth_ends_in_a_notch_where_two_facets_meet():
    # A block sits in a V of two planks at 45 degrees; the least way out is along neither normal but up the middle.
    s = np.sqrt(0.5)
    planks = []
    for sign in (1.0, -1.0):
        T = np.array([[s, 0, -sign * s, -sign * s], [0, 1, 0, 0], [sign * s, 0, s, s], [0, 0, 0, 1]])
        T[:3, 3] = T[:3, :3] @ [sign * 1.0, 0, -0.1]
        planks.append(trimesh.creation.box((2.0, 2.0, 0.2)).apply_transform(T))
    groove = TriangleMesh.from_trimesh(trimesh.util.concatenate(planks))
    block = TriangleMesh.box((0.4, 0.4, 0.4))
    turned = np.array([[s, 0, s, 0], [0, 1, 0, 0], [-s, 0, s, 0.2 * np.sqrt(2.0) - 0.02], [0, 0, 0, 1]])
    c = mesh_mesh_separation(groove, None, block, turned)
    assert c.depth == pytest.approx(0.02, abs=1e-9)
    np.testing.assert_allclose(c.normal, [0, 0, 1], atol=1e-6)


@pytest.mark.parametrize(("a", "b"), [("torus", "torus"), ("bracket", "torus")])
def test_no_direction_of_a_dense_cover_parts_non_convex_meshes_sooner(a, b):
    """Brute force by the boolean alone: B moved by 1 % less, or by much less, along any of 2,000 directions collides."""
    Ts = poses(shape(a), shape(b), 200, 0.1, 0.8, seed=5)
    Ts = Ts[collide_batch(mesh(a), None, mesh(b), Ts)][:40]
    k = np.arange(2000) + 0.5
    z, turn = 1.0 - k / 1000.0, np.pi * (1.0 + np.sqrt(5.0)) * k
    directions = np.stack(
        [np.sqrt(1.0 - z * z) * np.cos(turn), np.sqrt(1.0 - z * z) * np.sin(turn), z], axis=1
    )
    for T in Ts:
        depth = mesh_mesh_separation(mesh(a), None, mesh(b), T).depth
        for share in (0.99, 0.9, 0.7, 0.5, 0.3):
            moved = np.repeat(T[None], len(directions), axis=0)
            moved[:, :3, 3] += share * depth * directions
            assert collide_batch(mesh(a), None, mesh(b), moved).all(), (T, depth, share)


@pytest.mark.parametrize(
    ("name", "row", "known"),
    [("torus", 82, 0.35836), ("torus", 104, 0.59249), ("bracket", 1, 0.71681), ("bracket", 124, 0.60215)],
)
def test_ways_out_that_a_coarser_search_missed_by_a_hundredth(name, row, known):
    Ts = poses(shape(name), shape(name), 400, 0.1, 0.8, seed=5)
    T = Ts[collide_batch(mesh(name), None, mesh(name), Ts)][row]
    c = mesh_mesh_separation(mesh(name), None, mesh(name), T)
    assert c.depth <= 1.001 * known
    T[:3, 3] += (c.depth + 1e-6) * c.normal
    assert not collide(mesh(name), None, mesh(name), T)
