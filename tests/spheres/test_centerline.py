"""The centerline fit: spheres along a link, as many as asked for, and what it refuses.

Looks inside: one link alone is fitted and checked.
"""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from scipy.optimize import minimize

from elbowroom.errors import InputError, UnknownLinkError
from elbowroom.spheres import FitOptions, fit_spheres, prove_coverage
from elbowroom.spheres._centerline import default_count, fit_centerline
from elbowroom.spheres._shape import LinkShape, bounding_sphere, check

ROBOTS = [
    "panda",
    "ur5",
    "baxter",
    "talos",
    "g1_with_hands",
    "tiago_dual",
    "pr2",
    "allegro_right_hand",
    "icub",
]


def tube(radius: float = 0.05, length: float = 0.4) -> LinkShape:
    """A cylinder about x from the origin, with rings of vertices all along it."""
    rings, sides = 41, 24
    x = np.repeat(np.linspace(0, length, rings), sides)
    a = np.tile(2 * np.pi * np.arange(sides) / sides, rings)
    hull = np.stack([x, radius * np.cos(a), radius * np.sin(a)], axis=1)
    k = np.arange(rings * sides).reshape(rings, sides)
    b = np.roll(k, -1, axis=1)
    faces = np.concatenate(
        [
            np.stack([k[:-1], b[:-1], b[1:]], -1).reshape(-1, 3),
            np.stack([k[:-1], b[1:], k[1:]], -1).reshape(-1, 3),
        ]
    )
    return LinkShape.from_arrays(hull, faces)


def fit(shape: LinkShape, origins, link="link", count=None, margin=0.0):
    return fit_centerline(link, shape, [np.array(o, float) for o in origins], count, 3, 0.005, margin)


def test_places_and_radii_are_those_specified() -> None:
    centers, radii = fit(tube(), [[0.4, 0, 0]], count=4)
    side = 0.4 / 8
    assert centers == pytest.approx(np.array([[(2 * i + 1) * side, 0, 0] for i in range(4)]))
    assert radii == pytest.approx(np.full(4, np.hypot(side, 0.05)), rel=1e-6)


def test_margin_is_added() -> None:
    plain = fit(tube(), [[0.4, 0, 0]], count=4)[1]
    assert fit(tube(), [[0.4, 0, 0]], count=4, margin=0.02)[1] == pytest.approx(plain + 0.02)


def test_parts_beyond_the_line_get_spheres_of_their_own() -> None:
    shape = tube()
    centers, radii = fit(shape, [[0.2, 0, 0]], count=2)
    assert len(radii) > 2
    assert centers[:2] == pytest.approx(np.array([[0.05, 0, 0], [0.15, 0, 0]]))
    assert check(shape, centers, radii).covered


def test_one_line_for_each_child() -> None:
    shape = LinkShape.from_mesh(trimesh.creation.box((0.6, 0.4, 0.1)))
    centers, _ = fit(shape, [[0.3, 0.2, 0], [0.3, -0.2, 0], [0.3, -0.2, 0]], link="torso_link")
    expected = [(2 * i + 1) / 8 * np.array([0.3, s * 0.2, 0]) for s in (1, -1) for i in range(4)]
    assert centers[:8] == pytest.approx(np.array(expected))


def test_a_link_without_child_gets_its_bounding_sphere() -> None:
    for origins in ([], [[0.0, 0.0, 0.0]]):
        centers, radii = fit(LinkShape.from_mesh(trimesh.creation.box((0.2, 0.1, 0.1))), origins)
        assert len(radii) == 1
        assert np.abs(centers).max() < 1e-9
        assert radii[0] == pytest.approx(np.linalg.norm([0.1, 0.05, 0.05]), rel=1e-6)


def test_a_segment_without_vertices_is_as_wide_as_the_mesh_there() -> None:
    shape = LinkShape.from_mesh(
        trimesh.creation.box(
            (0.6, 0.1, 0.1), transform=trimesh.transformations.translation_matrix([0.3, 0, 0])
        )
    )
    _, radii = fit(shape, [[0.6, 0, 0]], count=5)
    side = 0.06
    assert radii[:5] == pytest.approx(np.full(5, np.hypot(side, 0.05 * np.sqrt(2))), rel=1e-6)
    far = LinkShape.from_mesh(trimesh.creation.box((0.02, 0.02, 0.02)))
    _, radii = fit(far, [[1.0, 0, 0]], count=4)
    assert radii[1:4] == pytest.approx(np.full(3, 0.005))  # nothing there: the smallest radius


def test_default_counts_by_name() -> None:
    assert default_count("base_link", 0.3, 3) == 2
    assert default_count("torso_link", 0.3, 3) == 4
    assert default_count("waist_link", 0.1, 3) == 4
    assert default_count("left_arm_l1", 0.1, 3) == 3
    assert default_count("left_arm_l3", 0.2, 3) == 4
    assert default_count("frame_left_arm_ee", 0.2, 3) == 1
    assert default_count("panda_link3", 0.3, 5) == 5


def test_bounding_sphere_is_near_the_smallest() -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        points = rng.normal(size=(40, 3)) * rng.uniform(0.2, 1.0, 3)
        center, radius = bounding_sphere(points)
        assert np.linalg.norm(points - center, axis=1).max() <= radius
        start = points.mean(axis=0)
        for polish in range(3):  # Nelder and Mead know nothing of farthest points
            del polish
            start = minimize(
                lambda c, p=points: np.linalg.norm(p - c, axis=1).max(),
                start,
                method="Nelder-Mead",
                options={"xatol": 1e-7, "fatol": 1e-9},
            ).x
        assert radius <= (1 + 1e-6) * np.linalg.norm(points - start, axis=1).max()


@pytest.mark.long
@pytest.mark.robots
@pytest.mark.parametrize("name", [*ROBOTS, "teaarm"])
def test_centerline_is_proved_on_every_link(load, name) -> None:
    robot = load(name)
    model = fit_spheres(robot, FitOptions(method="centerline", cache=False))
    proof = prove_coverage(robot, model, measure=False)
    assert proof.uncovered == ()
    assert set(proof.links) == set(robot.mesh_links)
    assert set(model.counts) == set(robot.mesh_links)


@pytest.mark.robots
def test_options_of_the_centerline_fit(load) -> None:
    robot = load("panda")
    asked = FitOptions(method="centerline", cache=False, per_link={"panda_link2": 2, "panda_link4": 7})
    model = fit_spheres(robot, asked)
    more = fit_spheres(robot, FitOptions(method="centerline", cache=False, default_n_spheres=6))
    assert model.counts["panda_link4"] >= 7
    assert 6 <= more.counts["panda_link2"] > model.counts["panda_link2"] >= 2
    with pytest.raises(UnknownLinkError, match="did you mean 'panda_link1'"):
        fit_spheres(robot, FitOptions(method="centerline", per_link={"panda_lnk1": 2}))
    with pytest.raises(InputError, match="per_link"):
        FitOptions(per_link={"panda_link1": 0})
    with pytest.raises(InputError, match="method"):
        FitOptions(method="magic")  # type: ignore[arg-type]
