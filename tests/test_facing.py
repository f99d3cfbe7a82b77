"""Pieces wound against each other: overlaps are solid, cavities stay empty, whatever the winding of the file."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import trimesh

from elbowroom._closed import closed_pieces, merge_vertices
from elbowroom.mesh import TriangleMesh, collide


def box(low: tuple[float, ...], high: tuple[float, ...]) -> trimesh.Trimesh:
    return trimesh.creation.box(bounds=(low, high))


def joined(parts: list[trimesh.Trimesh], outward: tuple[bool, ...]) -> TriangleMesh:
    """One mesh of several pieces, some of them wound inside out, moved off the axes."""
    pieces = [part.copy() for part in parts]
    for part, keep in zip(pieces, outward, strict=True):
        if not keep:
            part.invert()
    return TriangleMesh.from_trimesh(trimesh.util.concatenate(pieces).apply_transform(TILT))


TILT = trimesh.transformations.rotation_matrix(0.3, (1, 2, 3))


def holds(mesh: TriangleMesh, point: tuple[float, float, float]) -> bool:
    """Whether a speck about a point, which touches no surface, is inside."""
    speck = TriangleMesh.box((1e-3, 1e-3, 1e-3))
    place = np.eye(4)
    place[:3, 3] = trimesh.transform_points([point], TILT)[0]
    answer = collide(mesh, np.eye(4), speck, place)
    assert collide(speck, place, mesh, np.eye(4)) == answer
    return answer


def every_winding(n: int) -> list[tuple[bool, ...]]:
    return list(product((True, False), repeat=n))


@pytest.mark.parametrize("outward", every_winding(2))
def test_overlapping_cubes_hold_what_is_in_their_overlap(outward):
    mesh = joined([box((0, 0, 0), (1, 1, 1)), box((0.5, 0.4, 0.3), (1.5, 1.4, 1.3))], outward)
    assert mesh.closed
    assert holds(mesh, (0.75, 0.7, 0.65))
    assert holds(mesh, (0.2, 0.2, 0.2))
    assert holds(mesh, (1.3, 1.2, 1.1))
    assert not holds(mesh, (1.3, 0.2, 0.2))


@pytest.mark.parametrize("outward", every_winding(2))
def test_a_bar_whose_corners_are_all_inside_is_no_cavity(outward):
    """The bar bridges the legs of a U: every corner is within the solid, its middle is not."""
    outline = [(0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)]
    flat = np.array(outline, dtype=float)
    level = np.array([(0, 1, 4), (0, 4, 5), (0, 5, 7), (5, 6, 7), (1, 2, 4), (2, 3, 4)])
    n = len(flat)
    walls = [t for i in range(n) for j in [(i + 1) % n] for t in ((i, j, n + j), (i, n + j, n + i))]
    u = trimesh.Trimesh(
        np.concatenate([np.c_[flat, np.zeros(n)], np.c_[flat, np.ones(n)]]),
        np.concatenate([level[:, ::-1], level + n, walls]),
    )
    assert u.is_watertight
    assert u.volume == pytest.approx(7.0)
    mesh = joined([u, box((0.3, 1.8, 0.3), (2.7, 2.2, 0.7))], outward)
    assert holds(mesh, (0.5, 2.0, 0.5))
    assert holds(mesh, (2.5, 2.0, 0.5))
    assert holds(mesh, (1.5, 2.0, 0.5))
    assert not holds(mesh, (1.5, 2.6, 0.5))


@pytest.mark.parametrize("outward", [(True, False), (False, True)])
def test_a_cavity_stays_empty_also_when_the_whole_is_inside_out(outward):
    mesh = joined([box((0, 0, 0), (1, 1, 1)), box((0.3, 0.3, 0.3), (0.7, 0.7, 0.7))], outward)
    assert not holds(mesh, (0.5, 0.5, 0.5))
    assert holds(mesh, (0.15, 0.5, 0.5))


@pytest.mark.parametrize("outward", [(True, True), (False, False)])
def test_a_shell_wound_like_the_one_around_it_is_no_cavity(outward):
    mesh = joined([box((0, 0, 0), (1, 1, 1)), box((0.3, 0.3, 0.3), (0.7, 0.7, 0.7))], outward)
    assert holds(mesh, (0.5, 0.5, 0.5))


@pytest.mark.parametrize("inner", [True, False])
@pytest.mark.parametrize("outward", [(True, False), (False, True)])
def test_a_core_within_a_cavity_is_solid(outward, inner):
    parts = [box((0, 0, 0), (1, 1, 1)), box((0.2, 0.2, 0.2), (0.8, 0.8, 0.8)), box((0.4,) * 3, (0.6,) * 3)]
    mesh = joined(parts, (*outward, inner))
    assert holds(mesh, (0.1, 0.5, 0.5))
    assert not holds(mesh, (0.3, 0.5, 0.5))
    assert holds(mesh, (0.5, 0.5, 0.5))


@pytest.mark.parametrize("outward", every_winding(2))
def test_a_piece_that_touches_the_surface_from_inside_or_outside_is_solid(outward):
    within = joined([box((0, 0, 0), (1, 1, 1)), box((0.3, 0.3, 0.5), (0.7, 0.7, 1.0))], outward)
    assert holds(within, (0.5, 0.5, 0.75))
    assert holds(within, (0.5, 0.5, 0.2))
    beside = joined([box((0, 0, 0), (1, 1, 1)), box((0.3, 0.3, 1.0), (0.7, 0.7, 1.4))], outward)
    assert holds(beside, (0.5, 0.5, 1.2))
    assert holds(beside, (0.5, 0.5, 0.8))


@pytest.mark.parametrize("outward", every_winding(3))
def test_an_axle_through_a_hollow_housing_is_solid_in_wall_and_cavity(outward):
    axle = trimesh.creation.cylinder(radius=0.1, segment=((-0.5, 0.5, 0.5), (1.5, 0.5, 0.5)))
    parts = [box((0, 0, 0), (1, 1, 1)), box((0.2, 0.2, 0.2), (0.8, 0.8, 0.8)), axle]
    mesh = joined(parts, outward)
    for x in (-0.2, 0.1, 0.5, 0.9, 1.2):
        assert holds(mesh, (x, 0.5, 0.5)), x
    hollow = outward[0] != outward[1]
    assert holds(mesh, (0.5, 0.3, 0.3)) is not hollow


def test_random_pieces_hold_what_any_of_them_holds():
    """Overlapping balls, wound at random; one that lies wholly within another one is left out."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        centers, radii = rng.uniform(-0.5, 0.5, (6, 3)), rng.uniform(0.2, 0.5, 6)
        gaps = np.linalg.norm(centers[:, None] - centers, axis=-1) + radii[:, None] - radii
        keep = [i for i in range(6) if all(gaps[i, j] > 0.05 for j in range(6) if j != i)]
        parts = [trimesh.creation.icosphere(2, radius=radii[i]).apply_translation(centers[i]) for i in keep]
        mesh = joined(parts, tuple(rng.random(len(keep)) < 0.5))
        points = rng.uniform(-0.9, 0.9, (60, 3))
        depth = np.array([part.nearest.signed_distance(points) for part in parts])
        for p, near in zip(points, depth.T, strict=True):
            if np.abs(near).min() > 2e-3:
                assert holds(mesh, tuple(p)) == bool((near > 0.0).any())


def test_pieces_wound_alike_are_left_as_they_are():
    for outward in ((True, True), (False, False)):
        parts = [box((0, 0, 0), (1, 1, 1)), box((0.5, 0.4, 0.3), (1.5, 1.4, 1.3))]
        if not outward[0]:
            parts[0].invert(), parts[1].invert()
        mesh = trimesh.util.concatenate(parts)
        label, first = merge_vertices(np.asarray(mesh.vertices))
        faces = label[np.asarray(mesh.faces)]
        np.testing.assert_array_equal(closed_pieces(np.asarray(mesh.vertices)[first], faces).faces, faces)
