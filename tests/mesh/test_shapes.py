"""Contacts of shapes against Coal's own shapes, in every combination.

Looks inside: `DISPATCH` lists the shape pairs, so that none is left out of the comparison.
"""

from __future__ import annotations

import functools
import typing

import numpy as np
import pytest

from elbowroom.errors import InputError
from elbowroom.mesh import Box, Capsule, ContactShape, HalfSpace, Sphere, TriangleMesh, detect_contact
from elbowroom.mesh._shape_contact import DISPATCH

from .mesh_tools import coal_hull, coal_pose, mesh, rotations, shape, shift

OURS = {
    "sphere": Sphere(0.3),
    "capsule": Capsule(0.2, 0.6),
    "box": Box((0.5, 0.7, 0.9)),
    "plane": HalfSpace((0.0, 0.0, 1.0), 0.05),
    "mesh": TriangleMesh.from_trimesh(shape("cylinder").convex_hull),
}


@functools.cache
def theirs_of(name: str):
    coal = pytest.importorskip("coal")
    made = {
        "sphere": lambda: coal.Sphere(0.3),
        "capsule": lambda: coal.Capsule(0.2, 0.6),
        "box": lambda: coal.Box(0.5, 0.7, 0.9),
        "plane": lambda: coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.05),
        "mesh": lambda: coal_hull(shape("cylinder"))[1],
    }
    return made[name]()


def random_pose(rng: np.random.Generator) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = rotations(rng, 1)[0]
    T[:3, 3] = rng.uniform(-0.6, 0.6, 3)
    return T


def coal_contact(a, T_a, b, T_b):
    coal = pytest.importorskip("coal")
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    request.enable_contact = True
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    request.gjk_max_iterations, request.epa_max_num_iterations = 1000, 2000
    coal.collide(a, coal_pose(T_a), b, coal_pose(T_b), request, result)
    return result.getContact(0) if result.isCollision() else None


@pytest.mark.parametrize("a", OURS)
@pytest.mark.parametrize("b", OURS)
def test_depth_and_normal_equal_coal(a, b):
    if a == b == "plane":
        pytest.skip("two half-spaces have their own test")
    rng = np.random.default_rng(sum(map(ord, a + b)))
    hits = 0
    for _ in range(25):
        T_a, T_b = random_pose(rng), random_pose(rng)
        c = detect_contact(OURS[a], T_a, OURS[b], T_b)
        theirs = coal_contact(theirs_of(a), T_a, theirs_of(b), T_b)
        depth = -1.0 if theirs is None else -theirs.penetration_depth
        if c is None:
            assert depth < 1e-6
            continue
        hits += 1
        assert c.depth == pytest.approx(depth, abs=1e-5)
        assert abs(np.linalg.norm(c.normal) - 1) < 1e-9
        np.testing.assert_allclose(c.point_a - c.point_b, c.depth * c.normal, atol=1e-9)
        apart = T_b.copy()
        apart[:3, 3] += (c.depth + 1e-6) * c.normal
        assert detect_contact(OURS[a], T_a, OURS[b], apart) is None
        swapped = detect_contact(OURS[b], T_b, OURS[a], T_a)
        assert swapped.depth == pytest.approx(c.depth, abs=1e-6)
    assert hits > 3


def test_the_table_holds_every_combination():
    types = set(typing.get_args(ContactShape))
    assert set(DISPATCH) == {(p, q) for p in types for q in types}


def test_shapes_deep_inside_each_other():
    c = detect_contact(Box((1, 1, 1)), None, Sphere(0.1), shift(0.2, 0.01))
    assert c.depth == pytest.approx(0.4, abs=1e-9)
    np.testing.assert_allclose(c.normal, [1, 0, 0], atol=1e-9)
    c = detect_contact(Sphere(0.1), None, Sphere(0.2), None)
    assert c.depth == pytest.approx(0.3)
    c = detect_contact(
        Capsule(0.1, 1.0), None, Capsule(0.1, 1.0), np.array([np.sqrt(0.5), np.sqrt(0.5), 0, 0, 0, 0, 0])
    )
    assert c.depth == pytest.approx(0.2)
    np.testing.assert_allclose(np.abs(c.normal), [1, 0, 0], atol=1e-9)
    c = detect_contact(mesh("cube2"), None, Capsule(0.05, 0.2), shift(0.3, 0.01, 0.02))
    assert c.depth == pytest.approx(0.25, abs=1e-6)
    c = detect_contact(Box((1, 1, 1)), None, Sphere(0.1), shift(0.5))
    assert c.depth == pytest.approx(0.1, abs=1e-9)
    np.testing.assert_allclose(c.normal, [1, 0, 0], atol=1e-9)


def test_half_spaces():
    up, down = HalfSpace(), HalfSpace((0, 0, -2.0))
    assert detect_contact(up, None, down, shift(z=0.1)) is None
    assert detect_contact(up, None, down, shift(z=-0.1)).depth == pytest.approx(0.1)
    assert detect_contact(up, None, HalfSpace((0, 1, 0)), None).depth == np.inf


@pytest.mark.parametrize(
    "make",
    [
        lambda: Sphere(-1.0),
        lambda: Sphere(float("nan")),
        lambda: Capsule(0.1, 0.0),
        lambda: Box((1, 1)),
        lambda: Box((1, 1, -1)),
        lambda: HalfSpace((0, 0, 0)),
        lambda: detect_contact("ball", None, Sphere(1.0), None),
    ],
)
def test_bad_shapes_are_refused(make):
    with pytest.raises(InputError):
        make()
