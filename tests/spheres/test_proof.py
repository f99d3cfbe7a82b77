"""The coverage proof against dense samples, which know nothing of power diagrams.

Looks inside: the proof is tried on shapes made for it, which no description would hold.
"""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from elbowroom.errors import InputError, UnknownLinkError
from elbowroom.spheres import SphereModel, prove_coverage
from elbowroom.spheres._shape import LinkShape, certify, check
from elbowroom.spheres.internal import prove_mesh_coverage

from .shapes import (
    Toy,
    degenerate,
    flipped_box,
    one_triangle,
    open_patch,
    overlapping_boxes,
    random_balls,
    random_mesh,
)


def gaps(points: np.ndarray, centers: np.ndarray, radii: np.ndarray) -> np.ndarray:
    return (np.linalg.norm(points[:, None] - centers, axis=2) - radii).min(axis=1)


def surface(mesh: trimesh.Trimesh, n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    tri = mesh.triangles[rng.choice(len(mesh.faces), n, p=mesh.area_faces / mesh.area_faces.sum())]
    w = rng.dirichlet((0.6, 0.6, 0.6), n)  # corners and edges more often than the middle
    return np.einsum("nk,nkd->nd", w, tri)


@pytest.mark.long
def test_random_sets_are_never_contradicted_by_dense_samples() -> None:
    rng = np.random.default_rng(7)
    proved = caught = doubted = 0
    for trial in range(300):
        mesh = random_mesh(rng)
        centers, radii = random_balls(mesh, rng)
        if trial % 3 == 0:
            radii = certify(LinkShape.from_mesh(mesh), centers, radii)
        if trial % 6 == 0:
            radii = radii - 1e-4 * (np.arange(len(radii)) == trial % len(radii))
        result = prove_mesh_coverage(mesh, centers, radii, measure=False)
        points = np.concatenate([mesh.vertices, surface(mesh, 3000, trial)])
        worst_on_surface = gaps(points, centers, radii).max()
        if mesh.is_convex:
            hull = ConvexHull(mesh.vertices)
            box = rng.uniform(*mesh.bounds, (3000, 3))
            inside = (box @ hull.equations[:, :3].T + hull.equations[:, 3] < -1e-9).all(axis=1)
            points = np.concatenate([points, box[inside]])
        worst = gaps(points, centers, radii).max()
        if result.proved:
            proved += 1
            assert worst <= 1e-12
            assert result.worst_gap <= 0.0
            assert worst_on_surface <= result.worst_gap + 1e-12  # the bound is a bound
        elif result.witness is None:
            doubted += 1
            assert result.worst_gap < 1e-13  # a ball through a vertex: rounding leaves it open
        else:
            caught += 1
            own = gaps(result.witness[None], centers, radii)[0]
            assert own > 0.0
            assert own == pytest.approx(result.worst_gap, rel=1e-6, abs=1e-12)
            on_surface = LinkShape.from_mesh(mesh).distance(result.witness[None])[0] < 1e-9
            assert on_surface or result.cavities > 0
    assert proved >= 80
    assert caught >= 80
    assert doubted <= 20


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_the_gap_does_not_depend_on_the_frame(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mesh = random_mesh(rng)
    centers, radii = random_balls(mesh, rng)
    first = prove_mesh_coverage(mesh, centers, radii, measure=False)
    T = trimesh.transformations.random_rotation_matrix(rng.random(3))
    T[:3, 3] = rng.normal(size=3)
    moved = mesh.copy()
    moved.apply_transform(T)
    second = prove_mesh_coverage(moved, trimesh.transform_points(centers, T), radii, measure=False)
    if abs(first.worst_gap) > 1e-9:  # at a touch, rounding may decide either way
        assert second.proved == first.proved
    if not first.proved:
        assert second.worst_gap == pytest.approx(first.worst_gap, abs=1e-9)


def test_witness_lies_on_the_surface_by_trimesh() -> None:
    mesh = overlapping_boxes()
    result = prove_mesh_coverage(mesh, [[0.0, 0.0, 0.0], [0.03, 0.01, 0.05]], [0.08, 0.05], measure=False)
    assert not result.proved
    assert result.witness is not None
    assert trimesh.proximity.closest_point(mesh, result.witness[None])[1][0] < 1e-12


def test_the_gap_of_a_box_in_one_ball_is_exact() -> None:
    box = trimesh.creation.box((0.2, 0.2, 0.2))
    corner = np.sqrt(3) * 0.1
    assert prove_mesh_coverage(box, [[0, 0, 0]], [corner * (1 + 1e-14)]).proved
    result = prove_mesh_coverage(box, [[0, 0, 0]], [corner - 1e-6])
    assert not result.proved
    assert result.worst_gap == pytest.approx(1e-6, rel=1e-6)


def test_one_ball_shrunk_by_a_micrometre_is_caught() -> None:
    mesh = trimesh.creation.box((0.4, 0.1, 0.1))
    centers = np.array([[-0.1, 0, 0], [0.1, 0, 0]])
    radii = np.full(2, np.sqrt(0.1**2 + 2 * 0.05**2)) * (1 + 1e-13)
    assert prove_mesh_coverage(mesh, centers, radii).proved
    for k in range(2):
        shrunk = radii - 1e-6 * (np.arange(2) == k)
        result = prove_mesh_coverage(mesh, centers, shrunk)
        assert not result.proved
        assert 0.3e-6 < result.worst_gap <= 1e-6 * (1 + 1e-6)


def test_a_seam_that_no_vertex_shows_is_found() -> None:
    # both balls hold four corners each, but not the middle of the long edges
    mesh = trimesh.creation.box((0.4, 0.1, 0.1))
    reach = np.sqrt(0.09**2 + 2 * 0.05**2) * (1 + 1e-9)
    result = prove_mesh_coverage(mesh, [[-0.11, 0, 0], [0.11, 0, 0]], [reach, reach])
    assert (
        gaps(np.asarray(mesh.vertices), np.array([[-0.11, 0, 0], [0.11, 0, 0]]), np.full(2, reach)).max() <= 0
    )
    assert not result.proved
    assert result.witness is not None
    assert abs(result.witness[0]) < 1e-9
    assert result.worst_gap == pytest.approx(np.sqrt(0.11**2 + 2 * 0.05**2) - reach, rel=1e-9)


def test_a_hidden_cavity_in_a_box_is_found() -> None:
    box = trimesh.creation.box((1, 1, 1))
    steps = np.linspace(-0.45, 0.45, 8)
    grid = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    shell = grid[np.abs(grid).max(axis=1) > 0.3]
    radii = np.full(len(shell), 0.12)
    assert gaps(surface(box, 20_000, 0), shell, radii).max() < 0
    result = prove_mesh_coverage(box, shell, radii, measure=False)
    assert not result.proved
    assert result.cavities > 0
    assert result.witness is not None
    assert np.abs(result.witness).max() < 0.4
    assert gaps(result.witness[None], shell, radii)[0] > 0
    filled = prove_mesh_coverage(box, grid, np.full(len(grid), 0.12), measure=False)
    assert filled.proved


def test_a_face_of_very_many_corners_has_each_in_its_place() -> None:
    """Two balls with a ring of 150 about the middle between them: all cells meet in the face of the two."""
    angles = 2.0 * np.pi * np.arange(150) / 150
    ring = 0.4 * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(150)])
    centers = np.concatenate([[[0.0, 0.0, -0.1], [0.0, 0.0, 0.1]], ring])
    radii = np.array([0.15, 0.15, *np.full(150, 0.05)])
    box = LinkShape.from_mesh(trimesh.creation.box((0.7, 0.7, 0.7)))
    result = check(box, centers, radii)
    assert result.cavities >= 150
    points = result.witnesses[-result.cavities :]
    powers = np.sort(((points[:, None] - centers) ** 2).sum(axis=2) - radii**2, axis=1)
    np.testing.assert_allclose(powers[:, 3], powers[:, 0], atol=1e-9)  # four balls are nearest: a vertex


def test_a_cavity_in_an_open_mesh_does_not_count() -> None:
    box = trimesh.creation.box((1, 1, 1))
    lidless = trimesh.Trimesh(box.vertices, box.faces[1:], process=False)
    steps = np.linspace(-0.45, 0.45, 8)
    grid = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    shell = grid[np.abs(grid).max(axis=1) > 0.3]
    result = prove_mesh_coverage(lidless, shell, np.full(len(shell), 0.12), measure=False)
    assert result.proved
    assert not result.closed


@pytest.mark.parametrize("make", [one_triangle, degenerate, open_patch, flipped_box])
def test_certify_covers_odd_meshes(make) -> None:
    mesh = make()
    shape = LinkShape.from_mesh(mesh)
    centers = shape.vertices[:3] + 0.01
    radii = certify(shape, centers, np.full(len(centers), 0.001))
    result = prove_mesh_coverage(mesh, centers, radii)
    assert result.proved
    assert gaps(np.asarray(mesh.vertices)[np.unique(mesh.faces)], centers, radii).max() <= 0


def test_loose_and_turned_triangles_are_seen_as_closed() -> None:
    shape = LinkShape.from_mesh(flipped_box())
    assert shape.closed
    assert shape.solid_volume == pytest.approx(0.1 * 0.08 * 0.06, rel=1e-3)


def test_overlapping_pieces_count_once() -> None:
    shape = LinkShape.from_mesh(overlapping_boxes())
    assert shape.closed
    overlap = 0.04 * 0.045 * 0.04
    assert shape.solid_volume == pytest.approx(0.2 * 0.05 * 0.04 + 0.04 * 0.06 * 0.15 - overlap, rel=0.01)


def test_tolerance_lets_a_known_gap_pass() -> None:
    box = trimesh.creation.box((0.2, 0.2, 0.2))
    radius = np.sqrt(3) * 0.1 - 1e-4
    assert not prove_mesh_coverage(box, [[0, 0, 0]], [radius], tolerance=0.9e-4).proved
    assert prove_mesh_coverage(box, [[0, 0, 0]], [radius], tolerance=1.1e-4).proved


def test_no_sphere_at_all_is_not_proved() -> None:
    result = prove_mesh_coverage(one_triangle(), np.zeros((0, 3)), np.zeros(0), measure=False)
    assert not result.proved
    assert result.worst_gap == np.inf


def test_equal_and_nested_balls_do_not_confuse_the_proof() -> None:
    box = trimesh.creation.box((0.4, 0.1, 0.1))
    r = np.sqrt(0.1**2 + 2 * 0.05**2) * (1 + 1e-12)
    centers = np.array([[-0.1, 0, 0], [-0.1, 0, 0], [0.1, 0, 0], [0.1, 0, 0], [-0.1, 0, 0], [0.1, 1e-15, 0]])
    assert prove_mesh_coverage(box, centers, [r, r, r, r, 0.5 * r, r]).proved
    assert not prove_mesh_coverage(box, centers, [r, r, r - 1e-6, r - 1e-6, 0.5 * r, r - 1e-6]).proved


def test_concentric_balls_inside_others_open_no_cavity() -> None:
    box = trimesh.creation.box((1, 1, 1))
    steps = np.linspace(-0.45, 0.45, 5)
    grid = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    centers, radii = np.concatenate([grid, grid]), np.concatenate([np.full(125, 0.21), np.full(125, 0.05)])
    assert prove_mesh_coverage(box, centers, radii, measure=False).proved


def test_bad_radii_are_refused() -> None:
    with pytest.raises(InputError, match="none negative"):
        prove_mesh_coverage(one_triangle(), [[0, 0, 0]], [-1.0])
    with pytest.raises(InputError, match="finite"):
        prove_mesh_coverage(one_triangle(), [[0, 0, np.nan]], [1.0])


def test_a_solid_link_with_large_spheres_is_no_thin_shell() -> None:
    box = trimesh.creation.box((0.02, 0.02, 0.02))
    result = prove_mesh_coverage(box, np.zeros((1, 3)), np.array([0.05]))
    assert result.volume_ratio > 3
    assert not result.thin_shell


def test_prove_coverage_of_a_robot() -> None:
    robot = Toy(base=trimesh.creation.box((0.2, 0.2, 0.2)))
    good = SphereModel.from_links(robot.link_names, {"base": ([[0, 0, 0]], [0.18])})
    proof = prove_coverage(robot, good)
    assert proof.proved
    assert list(proof.links) == ["base"]
    link = proof.links["base"]
    assert link.n_spheres == 1
    assert link.volume_ratio == pytest.approx(4 / 3 * np.pi * 0.18**3 / 0.008, rel=2e-3)
    assert link.max_protrusion == pytest.approx(0.08, rel=1e-3)
    assert "base" in str(proof)
    helped = SphereModel.from_links(robot.link_names, {"base": ([[0, 0, 0]], [0.1])}).attach(
        "base", [[0, 0, 0]], [0.5], "box"
    )
    assert not prove_coverage(robot, helped).proved  # an attached object may leave
    with pytest.raises(UnknownLinkError, match="toy"):
        prove_coverage(robot, SphereModel.from_links(("other",), {"other": ([[0, 0, 0]], [1.0])}))
    with pytest.raises(InputError, match="tolerance"):
        prove_coverage(robot, good, tolerance=-1.0)
