"""Triangle against triangle: listed cases, exact integer arithmetic, known contacts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elbowroom.errors import InputError
from elbowroom.mesh import triangle_triangle_intersection as meet

BASE = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])


def orient(a, b, c, d) -> int:
    """Sign of the volume of abcd, exact for whole numbers."""
    m = [[q[k] - a[k] for k in range(3)] for q in (b, c, d)]
    det = (
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
        - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    )
    return (det > 0) - (det < 0)


def turn(p, q, r) -> int:
    det = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
    return (det > 0) - (det < 0)


def segments_meet_2d(p, q, r, s) -> bool:
    d1, d2, d3, d4 = turn(r, s, p), turn(r, s, q), turn(p, q, r), turn(p, q, s)
    if d1 * d2 < 0 and d3 * d4 < 0:
        return True

    def within(a, b, c):
        return turn(a, b, c) == 0 and all(min(a[k], b[k]) <= c[k] <= max(a[k], b[k]) for k in range(2))

    return within(r, s, p) or within(r, s, q) or within(p, q, r) or within(p, q, s)


def in_triangle_2d(p, t) -> bool:
    signs = [turn(t[k], t[(k + 1) % 3], p) for k in range(3)]
    return not (1 in signs and -1 in signs)


def exact(a, b) -> bool:
    """Do two triangles with whole coordinates and some area meet? Integer arithmetic only."""
    edges = [(0, 1), (1, 2), (2, 0)]
    normal = np.cross(np.subtract(a[1], a[0]), np.subtract(a[2], a[0]))
    if all(orient(*a, p) == 0 for p in b):
        keep = [k for k in range(3) if k != int(np.argmax(np.abs(normal)))]
        a2, b2 = [[p[k] for k in keep] for p in a], [[p[k] for k in keep] for p in b]
        crossing = any(segments_meet_2d(a2[i], a2[j], b2[k], b2[m]) for i, j in edges for k, m in edges)
        return crossing or in_triangle_2d(a2[0], b2) or in_triangle_2d(b2[0], a2)
    return any(edge_meets(s[i], s[j], t) for s, t in ((a, b), (b, a)) for i, j in edges)


def edge_meets(p, q, t) -> bool:
    side_p, side_q = orient(*t, p), orient(*t, q)
    if side_p * side_q > 0:
        return False
    if side_p == 0 and side_q == 0:
        normal = np.cross(np.subtract(t[1], t[0]), np.subtract(t[2], t[0]))
        keep = [k for k in range(3) if k != int(np.argmax(np.abs(normal)))]
        p2, q2, t2 = [p[k] for k in keep], [q[k] for k in keep], [[c[k] for k in keep] for c in t]
        crossing = any(segments_meet_2d(p2, q2, t2[k], t2[(k + 1) % 3]) for k in range(3))
        return crossing or in_triangle_2d(p2, t2)
    signs = [orient(p, q, t[k], t[(k + 1) % 3]) for k in range(3)]
    return not (1 in signs and -1 in signs)


whole = st.integers(-3, 3)
corner = st.tuples(whole, whole, whole)
triangle = st.tuples(corner, corner, corner).filter(
    lambda t: np.any(np.cross(np.subtract(t[1], t[0]), np.subtract(t[2], t[0])) != 0)
)


@settings(max_examples=400, deadline=None)
@given(triangle, triangle)
def test_equals_integer_arithmetic_touching_included(a, b):
    assert (meet(a, b) is not None) == exact(a, b)


def test_equals_integer_arithmetic_on_a_small_grid():
    rng = np.random.default_rng(1)
    checked = {True: 0, False: 0}
    for t in rng.integers(-2, 3, size=(6000, 6, 3)).tolist():
        a, b = t[:3], t[3:]
        if any(not np.any(np.cross(np.subtract(s[1], s[0]), np.subtract(s[2], s[0]))) for s in (a, b)):
            continue
        expected = exact(a, b)
        checked[expected] += 1
        assert (meet(a, b) is not None) == expected, (a, b)
    assert min(checked.values()) > 1000


CASES = {
    "coplanar overlapping": (BASE + np.array([0.2, 0.2, 0]), True),
    "coplanar apart": (BASE + np.array([2.0, 0, 0]), False),
    "coplanar inside": (0.1 * BASE + np.array([0.2, 0.2, 0]), True),
    "coplanar apart across the diagonal": ([[1, 1, 0], [0.6, 1, 0], [1, 0.6, 0]], False),
    "crossing": ([[0.2, 0.2, -1], [0.2, 0.2, 1], [0.3, 0.2, 1]], True),
    "parallel planes": (BASE + np.array([0, 0, 1e-6]), False),
    "edge-edge": ([[0.5, -0.5, -0.5], [0.5, 0.5, 0.1], [0.5, -0.5, 0.1]], True),
    "vertex in face": ([[0.2, 0.2, -0.01], [0.2, 0.3, 1], [0.3, 0.2, 1]], True),
    "identical": (BASE, True),
    "touching at a vertex": ([[1, 0, 0], [2, 0, 1], [2, 0, -1]], True),
    "touching at an edge": ([[0, 0, 0], [1, 0, 0], [0, 0, 1]], True),
    "vertex on face": ([[0.2, 0.2, 0], [0.2, 0.3, 1], [0.3, 0.2, 1]], True),
    "just above the vertex on face": ([[0.2, 0.2, 1e-9], [0.2, 0.3, 1], [0.3, 0.2, 1]], False),
    "inverted": (BASE[::-1], True),
    "sliver through": ([[0.2, 0.2, -1], [0.2, 0.2, 1], [0.2 + 1e-9, 0.2, 1]], True),
    "sliver beside": ([[0.7, 0.7, -1], [0.7, 0.7, 1], [0.7 + 1e-9, 0.7, 1]], False),
    "zero area segment through": ([[0.2, 0.2, -1], [0.2, 0.2, 1], [0.2, 0.2, 1]], True),
    "zero area segment beside": ([[0.7, 0.7, -1], [0.7, 0.7, 1], [0.7, 0.7, 1]], False),
    "zero area point on": ([[0.2, 0.2, 0]] * 3, True),
    "zero area point off": ([[0.2, 0.2, 0.1]] * 3, False),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_listed_cases_at_every_scale_order_and_side(name, scale):
    other, expected = np.array(CASES[name][0], dtype=float), CASES[name][1]
    for order in itertools.permutations(range(3)):
        b = scale * other[list(order)]
        found = meet(scale * BASE, b)
        assert (found is not None) == expected
        assert (meet(b, scale * BASE) is not None) == expected
        if found is not None:
            assert abs(np.linalg.norm(found.normal) - 1) < 1e-12
            assert 0 <= found.depth <= 3 * scale


def test_vertex_in_face_gives_the_vertex():
    c = meet(BASE, [[0.2, 0.2, -0.02], [0.2, 0.3, 1], [0.3, 0.2, 1]])
    assert c.kind == "face of a"
    np.testing.assert_allclose(c.normal, [0, 0, 1], atol=1e-12)
    assert c.depth == pytest.approx(0.02, abs=1e-12)
    np.testing.assert_allclose(c.point, [0.2, 0.2, -0.01], atol=1e-12)


def test_edge_edge_gives_the_closest_points_of_the_edges():
    a = [[-1, 0, 0], [1, 0, 0], [0, 0, -1]]
    b = [[0, -1, -0.1], [0, 1, -0.1], [0, 0, 1]]
    c = meet(a, b)
    assert c.kind == "edge-edge"
    np.testing.assert_allclose(c.normal, [0, 0, 1], atol=1e-12)
    assert c.depth == pytest.approx(0.1, abs=1e-12)
    np.testing.assert_allclose(c.point, [0, 0, -0.05], atol=1e-12)


def test_face_to_face_gives_the_middle_of_the_common_polygon():
    c = meet(BASE, BASE[::-1])
    assert c.depth == 0.0
    np.testing.assert_allclose(np.abs(c.normal), [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(c.point, BASE.mean(axis=0), atol=1e-9)


def test_moving_by_the_depth_parts_the_triangles():
    rng = np.random.default_rng(2)
    parted = 0
    for t in rng.normal(size=(2000, 6, 3)):
        c = meet(t[:3], t[3:])
        if c is None:
            continue
        parted += 1
        assert meet(t[:3], t[3:] + (c.depth + 1e-9) * c.normal) is None
        assert meet(t[:3], t[3:] + (0.999 * c.depth) * c.normal) is not None
    assert parted > 300


def test_swapping_turns_the_normal_and_a_rigid_motion_turns_everything():
    rng = np.random.default_rng(3)
    for t in rng.normal(size=(500, 6, 3)):
        c, s = meet(t[:3], t[3:]), meet(t[3:], t[:3])
        assert (c is None) == (s is None)
        q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        q *= np.sign(np.linalg.det(q))
        moved = meet(t[:3] @ q.T + [1, 2, 3], t[3:] @ q.T + [1, 2, 3])
        assert (c is None) == (moved is None)
        if c is not None:
            assert c.depth == pytest.approx(s.depth, abs=1e-12)
            np.testing.assert_allclose(c.normal, -s.normal, atol=1e-9)
            np.testing.assert_allclose(moved.normal, q @ c.normal, atol=1e-8)
            np.testing.assert_allclose(moved.point, q @ c.point + [1, 2, 3], atol=1e-8)


@pytest.mark.parametrize("bad", [np.zeros((2, 3)), [[np.nan] * 3] * 3, "x", [[1e300, 0, 0]] * 3])
def test_bad_triangles_are_refused(bad):
    with pytest.raises(InputError, match="tri_b"):
        meet(BASE, bad)
