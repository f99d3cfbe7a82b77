"""Force closure and Ferrari-Canny quality against linear programming, sampling and known answers."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from elbowroom.errors import InputError
from elbowroom.grasp import GraspContact, GraspPlanner, contacts_on_sides, grasp_quality
from elbowroom.grasp._quality import contacts_on_mesh, generators, wrench_space


def contact(point: list[float], normal: list[float]) -> GraspContact:
    n = np.array(normal, dtype=float)
    return GraspContact("f", np.array(point, dtype=float), n / np.linalg.norm(n), 0.0)


def random_contacts(seed: int, n: int) -> tuple[GraspContact, ...]:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return tuple(contact(list(p), list(-p + 0.3 * rng.normal(size=3))) for p in points)


def wrenches_of(contacts: tuple[GraspContact, ...], friction: float, torsion: float) -> np.ndarray:
    center = np.mean([c.point for c in contacts], axis=0)
    scale = max(float(np.linalg.norm(c.point - center)) for c in contacts)
    return np.concatenate([generators(c, center, scale, friction, torsion, 16) for c in contacts])


def inside_by_linear_programming(wrenches: np.ndarray) -> float:
    """Largest t such that the origin is a combination with every weight at least t; positive inside."""
    n = len(wrenches)
    equal = np.zeros((7, n + 1))
    equal[:6, :n], equal[6, :n] = wrenches.T, 1.0
    found = linprog(
        np.r_[np.zeros(n), -1.0],
        A_ub=np.c_[-np.eye(n), np.ones(n)],
        b_ub=np.zeros(n),
        A_eq=equal,
        b_eq=np.r_[np.zeros(6), 1.0],
        bounds=[(0, None)] * n + [(None, None)],
    )
    return float(found.x[-1]) if found.success else -1.0


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 5), friction=st.sampled_from([0.1, 0.4, 1.0]))
def test_force_closure_agrees_with_linear_programming(seed: int, n: int, friction: float) -> None:
    contacts = random_contacts(seed, n)
    quality = grasp_quality(contacts, friction=friction, torsion=0.0)
    wrenches = wrenches_of(contacts, friction, 0.0)
    margin = inside_by_linear_programming(wrenches)
    spans = np.linalg.matrix_rank(wrenches, tol=1e-9) == 6
    if quality.epsilon > 1e-6 or quality.epsilon == 0.0:
        assert quality.force_closure == (spans and margin > 1e-9)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_epsilon_is_the_smallest_support(seed: int) -> None:
    contacts = random_contacts(seed, 4)
    wrenches = wrenches_of(contacts, 1.0, 0.01)
    epsilon, _, weakest = wrench_space(wrenches)
    directions = np.random.default_rng(seed).normal(size=(3000, 6))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    support = (wrenches @ directions.T).max(axis=0).min()
    if epsilon > 0:
        assert support >= epsilon - 1e-9  # no direction is weaker than told
        assert (wrenches @ weakest).max() == pytest.approx(epsilon, abs=1e-9)  # and one is as weak
    else:
        assert inside_by_linear_programming(wrenches) <= 1e-9


def test_two_hard_fingers_cannot_resist_a_twist_and_soft_ones_can() -> None:
    pinch = (contact([0.01, 0, 0], [-1, 0, 0]), contact([-0.01, 0, 0], [1, 0, 0]))
    assert not grasp_quality(pinch, torsion=0.0).force_closure
    soft = grasp_quality(pinch, torsion=0.005)
    assert soft.force_closure
    assert soft.epsilon > 0.05
    assert not grasp_quality(pinch, friction=0.0, torsion=0.005).force_closure


def test_a_known_quality() -> None:
    """Six frictionless-like contacts at the axes' ends in 3 force dimensions: an octahedron of radius 1/sqrt(3)."""
    wrenches = np.concatenate([np.eye(3), -np.eye(3)])
    epsilon, volume, _ = wrench_space(wrenches)
    assert epsilon == pytest.approx(1 / np.sqrt(3))
    assert volume == pytest.approx(4 / 3)


def test_more_friction_and_rigid_motions() -> None:
    contacts = random_contacts(3, 4)
    values = [grasp_quality(contacts, friction=f).epsilon for f in (0.2, 0.5, 1.0)]
    assert values == sorted(values)
    R = trimesh.transformations.random_rotation_matrix(np.array([0.1, 0.6, 0.3]))[:3, :3]
    moved = tuple(contact(list(R @ c.point + 5.0), list(R @ c.normal)) for c in contacts)
    fine = grasp_quality(contacts, edges=32).epsilon  # the cones' edges start elsewhere after the motion
    assert grasp_quality(moved, edges=32).epsilon == pytest.approx(fine, rel=0.01)


def test_quality_of_planned_grasps(smooth: GraspPlanner) -> None:
    for fingers in (3, 4, 5):
        quality = grasp_quality(contacts_on_sides(smooth.plane(0.04, fingers=fingers)))
        assert quality.force_closure
        assert quality.epsilon > 0.1
    line = grasp_quality(contacts_on_sides(smooth.line(0.04)))
    assert line.force_closure
    assert line.largest_gap < 1e-9  # the fingertips are on the sides


def test_contacts_on_a_mesh_agree_with_the_sides(smooth: GraspPlanner) -> None:
    grasp = smooth.line(0.03)
    box = trimesh.creation.box((0.03, 0.05, 0.05))
    found = contacts_on_mesh(grasp.to_world(0.0).tips_world, box.vertices, box.faces)
    for ours, planned in zip(found, contacts_on_sides(grasp, 0.0), strict=True):
        np.testing.assert_allclose(ours.point, planned.point, atol=1e-9)
        np.testing.assert_allclose(ours.normal, planned.normal, atol=1e-9)
        assert abs(ours.gap) < 1e-9


def test_closest_points_agree_with_dense_sampling() -> None:
    rng = np.random.default_rng(0)
    corners = rng.normal(size=(30, 3, 3))
    u = np.linspace(0, 1, 60)
    a, b = np.meshgrid(u, u)
    keep = (a + b) <= 1
    weights = np.stack([1 - a[keep] - b[keep], a[keep], b[keep]], axis=1)
    for point in rng.normal(size=(20, 3)):
        sampled = np.linalg.norm(np.einsum("sk,tkd->tsd", weights, corners) - point, axis=2).min(axis=1)
        for triangle, distance in zip(corners, sampled, strict=True):
            (found,) = contacts_on_mesh({"tip": point}, triangle, [[0, 1, 2]])
            ours = np.linalg.norm(found.point - point)
            assert abs(found.gap) == pytest.approx(ours)
            assert distance - 0.08 <= ours <= distance + 1e-12  # the samples are that far apart at most


def test_bad_input_is_refused() -> None:
    good = (contact([1, 0, 0], [-1, 0, 0]),)
    for arguments, text in (
        ({"friction": -1.0}, "friction"),
        ({"torsion": np.nan}, "torsion"),
        ({"edges": 2}, "edges"),
    ):
        with pytest.raises(InputError, match=text):
            grasp_quality(good, **arguments)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="contact"):
        grasp_quality(())
    with pytest.raises(InputError, match="triangles"):
        contacts_on_mesh({}, np.zeros((3, 3)), np.zeros((0, 3), dtype=int))
