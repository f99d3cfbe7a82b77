"""How good a sphere model is: volumes and protrusion against formulas and dense samples.

Looks inside: one shape alone is measured.
"""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from elbowroom.spheres import SphereModel, sphere_quality
from elbowroom.spheres._quality import link_quality, measure_volumes, protrusion
from elbowroom.spheres._shape import LinkShape

from .shapes import Toy, open_patch


def box(*size: float) -> LinkShape:
    return LinkShape.from_mesh(trimesh.creation.box(size))


def test_volume_of_two_overlapping_balls() -> None:
    r, d = 0.3, 0.25
    lens = np.pi * (4 * r + d) * (2 * r - d) ** 2 / 12
    exact = 2 * 4 / 3 * np.pi * r**3 - lens
    volumes = measure_volumes(box(0.1, 0.1, 0.1), np.array([[0, 0, 0], [d, 0, 0.0]]), np.array([r, r]))
    assert volumes.union == pytest.approx(exact, rel=2e-3)
    assert abs(volumes.union - exact) < 6 * volumes.union_error + 1e-6
    assert volumes.reference == pytest.approx(1e-3, rel=1e-9)
    assert volumes.covered == pytest.approx(1.0)


def test_union_volume_against_random_points() -> None:
    rng = np.random.default_rng(3)
    centers, radii = rng.normal(size=(12, 3)) * 0.2, rng.uniform(0.05, 0.25, 12)
    volumes = measure_volumes(box(0.1, 0.1, 0.1), centers, radii)
    low, high = (centers - radii[:, None]).min(axis=0), (centers + radii[:, None]).max(axis=0)
    points = rng.uniform(low, high, (200_000, 3))
    hit = np.zeros(len(points), dtype=bool)
    for c, r in zip(centers, radii, strict=True):
        hit |= ((points - c) ** 2).sum(axis=1) < r * r
    whole = np.prod(high - low)
    error = 4 * whole * np.sqrt(hit.mean() * (1 - hit.mean()) / len(points))
    assert volumes.union == pytest.approx(hit.mean() * whole, abs=error + 6 * volumes.union_error)


def test_protrusion_of_a_ball_about_a_box() -> None:
    mean, largest = protrusion(box(0.2, 0.2, 0.2), np.zeros((1, 3)), np.array([0.25]))
    assert largest == pytest.approx(0.15, rel=1e-3)
    assert 0.25 - np.sqrt(3) * 0.1 < mean < 0.15


def test_protrusion_finds_a_narrow_peak() -> None:
    # a tiny ball on a face hardly shows among the samples of a large one, but protrudes farthest
    centers, radii = np.array([[0, 0, 0], [0, 0, 0.3]]), np.array([0.2, 0.04])
    assert protrusion(box(0.2, 0.2, 0.2), centers, radii)[1] == pytest.approx(0.24, rel=1e-3)


def test_occupancy_counts_what_is_inside() -> None:
    # a ball that holds one half of a long box
    shape = box(0.4, 0.05, 0.05)
    quality = link_quality(shape, np.array([[-0.1, 0, 0]]), np.array([0.12]), samples=8000)
    assert 0.45 < quality.surface_occupancy < 0.62
    assert 0.45 < quality.volume_occupancy < 0.62
    exact = (min(0.2, 0.1 + np.sqrt(0.12**2 - 0.0)) + 0.0) / 0.4
    assert quality.volume_occupancy <= exact + 0.05


def test_distance_against_trimesh() -> None:
    mesh = open_patch()
    points = np.random.default_rng(0).normal(size=(300, 3)) * 0.2
    expected = trimesh.proximity.closest_point(mesh, points)[1]
    assert LinkShape.from_mesh(mesh).distance(points) == pytest.approx(expected, abs=1e-12)


def test_inside_lattice_against_trimesh() -> None:
    mesh = trimesh.creation.annulus(r_min=0.03, r_max=0.05, height=0.1, sections=17)
    shape = LinkShape.from_mesh(mesh)
    low, spacing = np.array([-0.0601, -0.0602, -0.0603]), 0.0117
    inside = shape.signed_distances(low, spacing, (11, 11, 11)).reshape(-1) < 0.0
    nodes = low + spacing * np.stack(np.meshgrid(*[np.arange(11)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    assert np.array_equal(inside, trimesh.ray.ray_triangle.RayMeshIntersector(mesh).contains_points(nodes))
    assert inside.sum() > 50


def test_report_of_a_robot() -> None:
    robot = Toy(a=trimesh.creation.box((0.1, 0.1, 0.1)), b=open_patch())
    model = SphereModel.from_links(
        robot.link_names, {"a": ([[0, 0, 0]], [0.09]), "b": ([[0.1, 0.05, 0]], [0.2])}
    )
    report = sphere_quality(robot, model)
    assert list(report.links) == ["a", "b"]
    assert report.n_spheres == 2
    assert report.links["a"].volumes.is_mesh
    assert not report.links["b"].volumes.is_mesh
    union = sum(4 / 3 * np.pi * r**3 for r in (0.09, 0.2))
    hull = LinkShape.from_mesh(open_patch()).hull_volume
    assert report.volume_ratio == pytest.approx(union / (1e-3 + hull), rel=3e-3)
    assert "hull" in str(report)
    assert str(report).splitlines()[-1].startswith("all")


@pytest.mark.parametrize(
    "balls",
    [
        np.zeros((2, 3)),
        np.full((2, 4), np.nan),
        np.full((1, 4), -1.0),
        np.full((1, 4), 1e300),
        np.zeros(4),
        "balls",
    ],
    ids=["shape", "nan", "negative", "huge", "axes", "type"],
)
def test_the_core_refuses_arrays_that_are_not_balls(balls) -> None:
    # looks inside: what reaches the core by mistake must be an error, not a crash
    core = LinkShape.from_mesh(open_patch()).core
    for call in (core.volumes, core.protrusion, core.prove_coverage):
        with pytest.raises((TypeError, ValueError)):
            call(balls)
