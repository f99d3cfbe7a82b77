"""The tight fit: proved, tight, repeatable, and within the options given.

Looks inside: the search is tried on one shape, with its own budget.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import trimesh

from elbowroom import load_robot
from elbowroom.errors import InputError, UnknownLinkError
from elbowroom.spheres import ClipPlane, FitOptions, _fit, fit_spheres, prove_coverage, sphere_quality
from elbowroom.spheres._problem import FitProblem, comparison_volume
from elbowroom.spheres._shape import LinkShape
from elbowroom.spheres._tight import QUICK

from .shapes import (
    Toy,
    degenerate,
    flipped_box,
    one_triangle,
    open_patch,
    overlapping_boxes,
    thin_shell,
    thin_wall,
    two_boxes,
)


def quick(**options) -> FitOptions:
    return FitOptions(**{"effort": 0.3, "workers": 1, "cache": False, **options})


@pytest.mark.robots
@pytest.mark.long
def test_panda_with_sixty_spheres(load) -> None:
    robot = load("panda")
    model = fit_spheres(robot, FitOptions(n_spheres=60, workers=1, cache=False))
    assert len(model) <= 60
    proof = prove_coverage(robot, model)
    assert proof.proved
    assert all(link.volume_ratio <= 3.0 for link in proof.links.values() if link.closed)
    quality = sphere_quality(robot, model)
    assert quality.volume_ratio <= 1.45
    assert quality.max_protrusion <= 0.030
    assert all(q.surface_occupancy == 1.0 and q.volume_occupancy > 0.999999 for q in quality.links.values())


@pytest.mark.robots
@pytest.mark.long
def test_one_cylinder_per_link_does_not_beat_the_default(load) -> None:
    robot = load("allegro_right_hand")
    quality = sphere_quality(robot, fit_spheres(robot, FitOptions(cache=False)))
    cylinders = sum(float(robot.link_mesh(link).bounding_cylinder.volume) for link in robot.mesh_links)
    reference = sum(link.volumes.reference for link in quality.links.values())
    assert quality.volume_ratio < cylinders / reference
    assert len(quality.links) < quality.n_spheres <= 48 * len(quality.links)


@pytest.mark.long
def test_links_apart_at_rest_get_spheres_that_are_apart(load) -> None:
    from elbowroom.pairs import PairOptions, compute_pairs

    robot = load("teaarm")
    counts, sizes = [], []
    for apart in (False, True):
        model = fit_spheres(robot, FitOptions(n_spheres=120, effort=0.5, cache=False, apart_at_rest=apart))
        assert prove_coverage(robot, model, measure=False).proved
        counts.append(len(compute_pairs(robot, model, PairOptions(samples=500)).by_meshes))
        sizes.append(len(model))
    assert counts[1] < counts[0]
    assert sizes[1] > sizes[0]


@pytest.mark.robots
@pytest.mark.long
def test_same_seed_same_spheres_for_any_number_of_workers(load) -> None:
    robot = load("panda")
    options = {"n_spheres": 18, "effort": 0.1, "cache": False}
    one = fit_spheres(robot, FitOptions(workers=1, **options))
    two = fit_spheres(robot, FitOptions(workers=2, **options))
    assert one == two
    other = fit_spheres(robot, FitOptions(workers=1, seed=1, **options))
    assert other != one
    assert prove_coverage(robot, other, measure=False).proved


@pytest.mark.long
@pytest.mark.robots
def test_mirrored_links_get_mirrored_spheres(load) -> None:
    robot = load("panda")
    model = fit_spheres(robot, quick(n_spheres=24))
    (a, ra), (b, rb) = model.link("panda_leftfinger"), model.link("panda_rightfinger")
    assert ra == pytest.approx(rb, abs=1e-9)
    assert np.linalg.norm(a, axis=1) == pytest.approx(np.linalg.norm(b, axis=1), abs=1e-4)


def test_mirrored_meshes_share_one_fit_and_are_proved() -> None:
    left = trimesh.creation.icosphere(2)
    left.vertices = left.vertices * [0.1, 0.06, 0.04] + 0.02 * np.sin(40 * left.vertices[:, [1]])
    right = left.copy()
    right.vertices = right.vertices * [1, -1, 1] + [0.3, 0, 0]
    right.faces = right.faces[:, ::-1]
    robot = Toy(left=left, right=right)
    model = fit_spheres(robot, quick(n_spheres=12))
    (a, ra), (b, rb) = model.link("left"), model.link("right")
    assert b == pytest.approx(a * [1, -1, 1] + [0.3, 0, 0], abs=1e-9)
    assert rb == pytest.approx(ra, abs=1e-9)
    assert prove_coverage(robot, model).proved
    apart = fit_spheres(robot, quick(n_spheres=12, share_mirrored=False))
    assert prove_coverage(robot, apart).proved


@pytest.mark.parametrize(
    "make", [one_triangle, degenerate, open_patch, thin_shell, two_boxes, overlapping_boxes, flipped_box]
)
@pytest.mark.parametrize("method", ["tight", "centerline"])
def test_hard_meshes_are_covered(make, method) -> None:
    robot = Toy(link=make())
    model = fit_spheres(robot, quick(method=method, n_spheres=7))
    proof = prove_coverage(robot, model)
    assert proof.proved
    points = trimesh.sample.sample_surface(robot.link_mesh("link"), 4000, seed=1)[0]
    centers, radii = model.link("link")
    assert (np.linalg.norm(points[:, None] - centers, axis=2) - radii).min(axis=1).max() <= 0


@pytest.mark.parametrize(
    ("vertices", "faces"),
    [([[1, 2, 3]], [[0, 0, 0]]), ([[0, 0, 0], [1, 0, 0]], [[0, 1, 0]])],
    ids=["point", "line"],
)
def test_links_without_area_are_covered(vertices, faces) -> None:
    robot = Toy(link=trimesh.Trimesh(np.array(vertices, dtype=float), faces, process=False))
    for method in ("tight", "centerline"):
        model = fit_spheres(robot, quick(method=method, n_spheres=4))
        assert prove_coverage(robot, model).proved


@pytest.mark.parametrize("size", [1e-6, 1e3])
def test_any_size_is_fitted_alike(size) -> None:
    mesh = trimesh.creation.box((1.0, 0.5, 0.4))
    mesh.apply_scale(size)
    mesh.apply_translation([3 * size, 0, 0])
    robot = Toy(link=mesh)
    proof = prove_coverage(robot, fit_spheres(robot, quick(n_spheres=6)))
    assert proof.proved
    assert proof.links["link"].volume_ratio < 2.2


def test_two_pieces_apart_are_not_bridged() -> None:
    robot = Toy(link=two_boxes())
    quality = sphere_quality(robot, fit_spheres(robot, quick(n_spheres=12)))
    assert quality.volume_ratio < 3.0  # one ball around both is 30 times the volume


def test_more_spheres_are_tighter() -> None:
    robot = Toy(link=trimesh.creation.box((0.3, 0.1, 0.05)))
    ratios = [  # means over seeds: one fit of twelve differs by 0.005 from another, and with the last bits of sums
        np.mean([sphere_quality(robot, fit_spheres(robot, quick(n_spheres=n, effort=1, seed=seed))).volume_ratio
                 for seed in range(8)])
        for n in (1, 3, 12)
    ]  # fmt: skip
    assert ratios[0] > 1.5 * ratios[1] > 1.5 * ratios[2]
    assert ratios[2] < 1.9


def test_more_effort_is_more_work(monkeypatch) -> None:
    robot = Toy(link=trimesh.creation.annulus(0.03, 0.06, 0.2))
    work: list[int] = []
    improve = FitProblem.improve

    def counted(self, balls, trials, *rest):
        work.append(trials)
        return improve(self, balls, trials, *rest)

    monkeypatch.setattr(FitProblem, "improve", counted)
    trials = []
    for effort in (0.0, 0.5, 2.0):
        work.clear()
        fit_spheres(robot, quick(n_spheres=10, effort=effort))
        trials.append(sum(work))
    assert trials[0] == 0 < trials[1] < trials[2] / 2


@pytest.mark.robots
@pytest.mark.long
def test_more_effort_is_tighter(load) -> None:
    robot = load("panda")
    ratios = [
        sphere_quality(robot, fit_spheres(robot, quick(n_spheres=60, effort=effort))).volume_ratio
        for effort in (0.0, 0.25, 1.0)
    ]
    assert ratios[0] > ratios[1] > ratios[2]


def test_thin_shells_are_named_and_kept_near_their_hull() -> None:
    robot = Toy(shell=thin_wall())
    proof = prove_coverage(robot, fit_spheres(robot, quick(n_spheres=None)))
    shell = proof.links["shell"]
    assert proof.proved
    assert shell.thin_shell
    assert shell.wall == pytest.approx(0.001, rel=0.05)
    assert shell.hull_ratio <= 1.5
    assert "thin shell, walls of about 1.0 mm" in str(proof)


@pytest.mark.parametrize("method", ["tight", "centerline"])
def test_no_sphere_is_below_the_minimum(method) -> None:
    spike = trimesh.Trimesh(
        [[0, 0, 0], [0.1, 0, 0], [0, 0.07, 0.02], [0.9, 0, 0], [0.9, 1e-9, 0], [0.9, 0, 1e-9]],
        [[0, 1, 2], [3, 4, 5]],
        process=False,
    )
    robot = Toy(link=spike)
    model = fit_spheres(robot, quick(method=method, n_spheres=6 if method == "tight" else None))
    assert model.radii.min() >= (0.001 if method == "tight" else 0.005)
    assert prove_coverage(robot, model).proved


def test_a_ball_is_fitted_by_one_sphere() -> None:
    robot = Toy(link=trimesh.creation.icosphere(3, radius=0.1))
    model = fit_spheres(robot, quick(n_spheres=1))
    assert model.radii[0] == pytest.approx(0.1, rel=2e-3)


def test_budget_and_fixed_counts() -> None:
    robot = Toy(
        a=trimesh.creation.box((0.3, 0.1, 0.1)), b=trimesh.creation.box((0.1, 0.1, 0.07)), c=one_triangle()
    )
    model = fit_spheres(robot, quick(n_spheres=10, per_link={"b": 3}))
    assert len(model) <= 10
    assert model.counts["b"] == 3
    assert model.counts["a"] >= 3
    assert set(model.counts) == {"a", "b", "c"}
    with pytest.raises(InputError, match="n_spheres=2 is too small: 3 links"):
        fit_spheres(robot, quick(n_spheres=2))
    with pytest.raises(UnknownLinkError, match="per_link"):
        fit_spheres(robot, quick(per_link={"d": 3}))
    with pytest.raises(InputError, match="positive whole number"):
        FitOptions(n_spheres=0)
    with pytest.raises(InputError, match="margin"):
        FitOptions(margin=-0.1)


def test_small_closed_links_are_kept_below_the_cap() -> None:
    bar = trimesh.creation.box((0.06, 0.01, 0.01))
    robot = Toy(big=trimesh.creation.box((0.5, 0.4, 0.3)), bar=bar)
    proof = prove_coverage(robot, fit_spheres(robot, quick(n_spheres=20)))
    assert proof.links["bar"].volume_ratio <= 3.0


PINCER = """<robot name="pincer">
  <link name="base"><collision><geometry><box size="0.5 0.4 0.3"/></geometry></collision></link>
  <link name="mast"><collision><geometry><box size="0.03 0.03 0.5"/></geometry></collision></link>
  <joint name="up" type="fixed"><parent link="base"/><child link="mast"/><origin xyz="-0.2 0 0.42"/></joint>
  <link name="left"><collision><geometry><box size="0.2 0.02 0.03"/></geometry></collision></link>
  <link name="right"><collision><geometry><box size="0.2 0.02 0.03"/></geometry></collision></link>
  <joint name="l" type="prismatic"><parent link="base"/><child link="left"/><origin xyz="0.5 {side} 0"/>
    <axis xyz="0 1 0"/><limit lower="0" upper="0.01" velocity="1" effort="1"/></joint>
  <joint name="r" type="prismatic"><parent link="base"/><child link="right"/><origin xyz="0.5 -{side} 0"/>
    <axis xyz="0 -1 0"/><limit lower="0" upper="0.01" velocity="1" effort="1"/></joint>
</robot>"""
"""Two fingers on a large base, and a mast that nothing comes near."""


@pytest.mark.long
def test_spheres_go_to_links_that_are_in_each_others_way(tmp_path) -> None:
    counts = {}
    for name, side in (("near", 0.016), ("far", 0.3)):
        path = tmp_path / f"{name}.urdf"
        path.write_text(PINCER.format(side=side))
        robot = load_robot(path)
        model = fit_spheres(robot, quick(n_spheres=40))
        assert prove_coverage(robot, model).proved
        counts[name] = model.counts
    near, far = counts["near"], counts["far"]
    assert near["left"] == near["right"] > far["left"]
    assert near["mast"] <= far["mast"]
    assert sum(near.values()) == sum(far.values()) == 40


def test_an_exhausted_budget_is_said_with_the_count_that_would_do() -> None:
    bars = {f"bar_{k}": trimesh.creation.box((0.3, 0.03 + 0.004 * k, 0.03)) for k in range(8)}
    robot = Toy(**bars, cube=trimesh.creation.box((0.1, 0.1, 0.1)))
    model = fit_spheres(robot, quick(n_spheres=10))
    (note,) = model.notes
    assert note.startswith("8 links stay above 3 times the volume of the convex hull: bar_0 (")
    assert "and 2 more" in note
    enough = int(note.split("n_spheres=")[1].split()[0])
    assert enough < 48 * len(robot.meshes)
    better = fit_spheres(robot, quick(n_spheres=enough))
    assert better.notes == ()
    assert len(better) <= enough
    assert max(link.hull_ratio for link in prove_coverage(robot, better).links.values()) <= 3.0
    assert fit_spheres(robot, quick()).notes == ()  # without a budget there are as many as it takes


def test_links_that_no_count_mends_and_given_counts_are_named() -> None:
    sheet, bar = trimesh.creation.box((0.3, 0.3, 1e-4)), trimesh.creation.box((0.3, 0.03, 0.03))
    robot = Toy(sheet=sheet, bar=bar)
    (note,) = fit_spheres(robot, quick(n_spheres=6, per_link={"bar": 1})).notes
    assert "the count of bar is given" in note
    assert "no count that was tried would bring sheet below" in note
    assert "n_spheres" not in note
    stored = fit_spheres(robot, quick(n_spheres=6, per_link={"bar": 1}))
    assert type(stored).from_json(stored.to_json()).notes == (note,)


@pytest.mark.robots
@pytest.mark.long
def test_fingers_of_a_mobile_robot_get_spheres(load) -> None:
    """One sphere each once was 6 and 13 times their hull, 33 and 40 mm out, and most refusals were theirs."""
    robot = load("tiago_pro")
    model = fit_spheres(robot, quick())
    proof = prove_coverage(robot, model)
    assert proof.proved
    assert max(link.hull_ratio for link in proof.links.values()) <= 3.0
    assert model.notes == ()
    for link in ("gripper_left_fingertip_left_link", "gripper_left_outer_finger_left_link"):
        assert proof.links[link].max_protrusion < 0.020
    assert model.counts["base_dock_link"] < 10


def test_margin_grows_every_radius() -> None:
    robot = Toy(link=trimesh.creation.box((0.3, 0.1, 0.05)))
    plain, grown = (fit_spheres(robot, quick(n_spheres=4, margin=m)) for m in (0.0, 0.01))
    assert grown.radii == pytest.approx(plain.radii + 0.01)
    assert np.array_equal(grown.centers, plain.centers)


def test_clip_plane_keeps_spheres_up() -> None:
    robot = Toy(base=trimesh.creation.box((0.2, 0.2, 0.2)))
    free = fit_spheres(robot, quick(n_spheres=12))
    held = fit_spheres(robot, quick(n_spheres=12, clip_planes=(ClipPlane("base", (0, 0, 2), -0.1),)))
    depths = [float((-0.1 - m.centers[:, 2] + m.radii).max()) for m in (free, held)]
    assert depths[1] < 0.7 * depths[0]
    assert held.evidence["depth beyond clip plane of base"] == pytest.approx(depths[1])
    assert prove_coverage(robot, held).proved
    with pytest.raises(InputError, match="not all zero"):
        ClipPlane("base", (0, 0, 0), 0.0)
    with pytest.raises(InputError, match="no collision geometry"):
        fit_spheres(robot, quick(clip_planes=(ClipPlane("frame", (0, 0, 1), 0.0),)))


def test_robot_without_geometry_is_refused(tmp_path) -> None:
    path = tmp_path / "bare.urdf"
    path.write_text('<robot name="bare"><link name="a"/></robot>')
    with pytest.raises(InputError, match="no link has collision geometry"):
        fit_spheres(load_robot(path), quick())


def test_progress_is_reported_and_ends() -> None:
    seen: list[tuple[int, int]] = []
    robot = Toy(a=trimesh.creation.box((0.3, 0.1, 0.1)), b=one_triangle())
    fit_spheres(robot, quick(n_spheres=5), progress=lambda done, total: seen.append((done, total)))
    assert len(seen) >= 4
    assert all(0 <= done <= total for done, total in seen)
    assert seen[-1][0] == seen[-1][1]


def test_a_cached_fit_is_equal_and_not_made_again(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ELBOWROOM_CACHE", str(tmp_path))
    robot = Toy(a=trimesh.creation.icosphere(4, radius=0.1), b=trimesh.creation.box((0.1, 0.2, 0.3)))
    first = fit_spheres(robot, quick(n_spheres=8, cache=True))
    with monkeypatch.context() as patched:
        patched.setattr(_fit, "fit_tight", lambda *args: pytest.fail("the stored fit was not used"))
        assert fit_spheres(robot, quick(n_spheres=8, cache=True)) == first
    moved = Toy(a=robot.meshes["a"], b=trimesh.creation.box((0.1, 0.2, 0.31)))
    assert fit_spheres(moved, quick(n_spheres=8, cache=True)) != first
    assert len(list(tmp_path.rglob("*.npz"))) == 2


@pytest.mark.parametrize("damage", ["names", "counts", "radii"])
def test_a_foreign_cache_file_is_not_taken_for_a_fit(tmp_path, monkeypatch, damage: str) -> None:
    monkeypatch.setenv("ELBOWROOM_CACHE", str(tmp_path))
    robot = Toy(a=trimesh.creation.icosphere(4, radius=0.1), b=trimesh.creation.box((0.1, 0.2, 0.3)))
    first = fit_spheres(robot, quick(n_spheres=8, cache=True))
    (path,) = tmp_path.rglob("*.npz")
    with np.load(path) as file:
        arrays = dict(file)
    if damage == "names":
        arrays = {"other": arrays["radii"]}
    elif damage == "counts":
        arrays["counts"] = arrays["counts"] + 1
    else:
        arrays["radii"] = -arrays["radii"]
    np.savez(path, **arrays)
    assert fit_spheres(robot, quick(n_spheres=8, cache=True)) == first


def test_exposed_area_is_the_derivative_of_the_volume() -> None:
    # looks inside: the descent relies on dV/dr = exposed area, here compared with finite differences of the volume
    problem = FitProblem.build(LinkShape.from_mesh(open_patch()), deep=1e6)
    balls = np.array([[0.0, 0, 0, 0.5], [0.4, 0.1, 0, 0.45], [0.1, 0.5, 0.2, 0.4]])
    turns = range(problem.core.n_turns)
    scale = (
        comparison_volume(problem.shape) / problem.input["scale"] ** 3
    )  # costs are shares of this scaled volume
    grad = scale * np.mean([problem.core.cost_gradient(balls, turn) for turn in turns], axis=0)

    def volume(b: np.ndarray) -> float:
        return float(problem.shape.ray_volumes(b[:, :3], b[:, 3])[:, 1].mean())

    for k in range(3):
        for d in range(4):
            step = np.zeros((3, 4))
            step[k, d] = 0.02
            slope = (volume(balls + step) - volume(balls - step)) / 0.04
            assert grad[k, d] == pytest.approx(slope, abs=0.08)


def test_a_prepared_link_pickles_by_its_data() -> None:
    problem = FitProblem.build(LinkShape.from_mesh(thin_wall()), deep=0.01)
    balls = problem.clustered(4, np.random.default_rng(0))
    copy = pickle.loads(pickle.dumps(problem))
    assert np.array_equal(copy.descend(balls, QUICK), problem.descend(balls, QUICK))
