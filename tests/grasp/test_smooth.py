"""The smooth method on 400 widths a mode: exact in the world, continuous, within joint ranges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import mujoco
import numpy as np
import pytest
import trimesh

from elbowroom.errors import InputError
from elbowroom.grasp import GraspChecker, GraspPlanner, Hand, Opposition, Sweep, contacts_on_sides, load_hand
from elbowroom.grasp._execute import base_coordinates
from elbowroom.grasp._quality import rate_grasp
from elbowroom.grasp.internal import grasped_object
from elbowroom.ui.draw import floating_hand_spec

MODES = [("line", 2), ("plane", 3), ("plane", 4), ("plane", 5), ("cylinder", 5)]
Planners = Callable[..., GraspPlanner]


@cache
def _sweep(planner: GraspPlanner, mode: str, fingers: int) -> Sweep:
    return planner.sweep(mode, 400, fingers=fingers)


@pytest.fixture(params=MODES, ids=lambda mode: f"{mode[0]}{mode[1]}")
def swept(request: pytest.FixtureRequest, smooth: GraspPlanner) -> tuple[str, Sweep]:
    return request.param[0], _sweep(smooth, *request.param)


def test_width_and_height_are_exact(swept: tuple[str, Sweep]) -> None:
    _, sweep = swept
    assert len(sweep.grasps) == 400
    assert max(abs(g.width_error) for g in sweep.grasps) <= 1e-9
    assert max(abs(g.height_error) for g in sweep.grasps) <= 1e-9


def test_joints_stay_in_their_ranges(swept: tuple[str, Sweep]) -> None:
    assert max(g.range_violation for g in swept[1].grasps) <= 1e-9


def test_controls_are_continuous(swept: tuple[str, Sweep]) -> None:
    _, sweep = swept
    assert sweep.largest_jump <= 0.15
    assert np.degrees(sweep.largest_tilt_jump) <= 10.0
    assert sweep.largest_slope / 1e3 <= 0.02
    assert np.all(np.diff(sweep.s) < 0)  # closes all the way


def test_base_is_above_the_grasp_and_the_fingers_hang_down(swept: tuple[str, Sweep]) -> None:
    for grasp in swept[1].grasps[::7]:
        T, tips = grasp.to_world(0.1)
        assert T[2, 3] > 0.1 + 0.04
        assert T[2, 2] < 0.0  # extension points down
        assert tips["thumb"][0] > max(tips[name][0] for name in grasp.fingers)


def test_smallest_widths_and_tilts(smooth: GraspPlanner) -> None:
    for mode, fingers in MODES[:4]:
        low, high = smooth.range(mode, fingers=fingers)
        assert low <= 0.006
        assert high >= 0.105
    line = _sweep(smooth, "line", 2)
    assert np.degrees(np.abs(line.tilt).max()) <= 55.0
    assert abs(np.degrees(smooth.line(0.0087).tilt_y)) <= 30.0
    for _, fingers in MODES[1:4]:
        assert np.degrees(np.abs(_sweep(smooth, "plane", fingers).tilt).max()) <= 55.0


def test_a_line_has_no_sideways_offset(smooth: GraspPlanner) -> None:
    for grasp in _sweep(smooth, "line", 2).grasps:
        assert abs(grasp.side_offset) < 1e-9
        assert np.linalg.norm(grasp.tips["thumb"] - grasp.tips["index"]) == pytest.approx(
            grasp.width, abs=1e-9
        )


@pytest.mark.parametrize(("fingers", "deepest"), [(3, 0.0052), (4, 0.0054), (5, 0.0119)])
def test_planes_are_level_except_at_the_fold(smooth: GraspPlanner, fingers: int, deepest: float) -> None:
    fold = smooth.branch(f"plane {fingers}").fold
    assert fold is not None
    for grasp in _sweep(smooth, "plane", fingers).grasps:
        if fold[0] < grasp.width < fold[1]:
            assert grasp.height_spread <= deepest
        else:
            assert grasp.height_spread <= 1e-9


def test_no_level_branch_can_cross_the_fold(hand: Hand) -> None:
    """The reason for the bridge: at every tilt the middle finger reaches deeper than index and ring can."""
    ctrl = np.linspace(0.0, 1.5, 301)
    arcs = {}
    for name in ("index", "middle", "ring"):
        column, row = hand.actuator_index(name), hand.finger_index(name)
        arcs[name] = np.array([hand.tips(np.eye(6)[column] * value)[row] for value in ctrl])
    for tilt in np.radians(np.arange(0, 91, 5)):
        reach = {n: float((np.sin(tilt) * a[:, 0] + np.cos(tilt) * a[:, 2]).max()) for n, a in arcs.items()}
        assert reach["middle"] - max(reach["index"], reach["ring"]) > 0.003


def test_mujoco_sees_the_same_widths_and_heights(smooth: GraspPlanner, hand: Hand) -> None:
    model = floating_hand_spec(hand).compile()
    data = mujoco.MjData(model)
    for mode, fingers in MODES[:4]:
        for grasp in _sweep(smooth, mode, fingers).grasps[::40]:
            T, tips = grasp.to_world(0.12)
            names = ("base_x", "base_y", "base_z", "rot_x", "rot_y", "rot_z")
            values = dict(zip(names, base_coordinates(T, grasp.tilt_y), strict=True)) | grasp.joints
            for name, value in values.items():
                data.qpos[model.joint(name).qposadr[0]] = value
            mujoco.mj_kinematics(model, data)
            seen = {name: data.site(f"right_{name}_tip").xpos for name in tips}
            for name, tip in tips.items():
                np.testing.assert_allclose(seen[name], tip, atol=1e-9)
            others = np.mean([seen[name] for name in grasp.fingers], axis=0)
            assert seen["thumb"][0] - others[0] == pytest.approx(grasp.width, abs=1e-6)
            assert seen["thumb"][2] == pytest.approx(0.12, abs=1e-6)
            assert others[2] == pytest.approx(0.12, abs=1e-6)


def test_answers_depend_on_the_width_alone(hand: Hand, smooth: GraspPlanner) -> None:
    widths = np.random.default_rng(0).permutation(np.linspace(0.006, 0.1, 30))
    first = {w: smooth.plane(w).ctrl for w in widths}
    again = GraspPlanner(hand, rebuild=True)
    for width in sorted(widths):
        np.testing.assert_allclose(again.plane(width).ctrl, first[width], atol=1e-9)


def test_between_nodes_it_is_as_smooth_as_on_them(smooth: GraspPlanner) -> None:
    for mode, at in (("line", 0.03), ("plane", 0.0525), ("plane", 0.0904), ("cylinder", 0.07)):
        widths = at + np.linspace(-5e-4, 5e-4, 101)
        sweep = smooth.sweep(mode, widths=widths)
        bend = np.abs(np.diff(sweep.ctrl, n=2, axis=0)).max()
        assert sweep.largest_slope / 1e3 < 0.02
        assert bend < 2e-5  # no kink: neighbouring slopes differ by less than 2 rad/m over 10 micrometres


@pytest.mark.long
@pytest.mark.parametrize("revision", ["newest", "newest_grasp_scene"])
def test_later_revisions_keep_the_promises(planners: Planners, revision: str) -> None:
    planner = planners("smooth", revision)
    for mode, fingers in MODES:
        sweep = planner.sweep(mode, 100, fingers=fingers)
        assert max(abs(g.width_error) for g in sweep.grasps) <= 1e-9
        assert max(abs(g.height_error) for g in sweep.grasps) <= 1e-9
        assert max(g.range_violation for g in sweep.grasps) <= 1e-9
        assert sweep.largest_slope / 1e3 <= 0.02


@pytest.mark.parametrize("name", ["line index", "line middle", "line ring", "plane 3", "plane 4"])
def test_allegro_hand(allegro: Hand, name: str) -> None:
    """Sixteen actuators, and balls for fingertips: widths are between the balls."""
    planner = GraspPlanner(allegro)
    sweep = planner.sweep(name, 60)
    assert max(abs(g.width_error) for g in sweep.grasps) <= 1e-9
    assert max(g.height_spread for g in sweep.grasps) <= 1e-9
    assert max(g.range_violation for g in sweep.grasps) <= 1e-9
    assert sweep.largest_slope / 1e3 <= 0.02
    low, high = planner.range(name)
    assert low <= 0.006
    assert high > 0.1
    for grasp in sweep.grasps[::10]:
        T, tips = grasp.to_world(0.2)
        assert T[2, 3] > 0.2
        apart = tips["thumb"][0] - np.mean([tips[finger][0] for finger in grasp.fingers])
        assert apart - 0.024 == pytest.approx(grasp.width, abs=1e-9)
        assert grasp.sides(0.2) == pytest.approx((-grasp.width / 2, grasp.width / 2), abs=1e-9)


def test_allegro_balls_touch_the_sides_of_a_box(allegro: Hand) -> None:
    """Exact meshes: the spheres at the tips meet a box as wide as the grasp."""
    checker = GraspChecker(allegro)
    for width in (0.01, 0.04, 0.09):
        grasp = GraspPlanner(allegro).line(width)
        T = np.eye(4)
        T[2, 3] = 0.2
        box = trimesh.creation.box((width, 0.05, 0.012))
        found = checker.check(grasp, height=0.2, object_mesh=box, T_world_object=T)
        assert found.free, found.why
        for name in ("thumb", "index"):
            assert found.object_distances[allegro.finger(name).tip_link] == pytest.approx(0.0, abs=1e-4)
        assert all(abs(contact.gap) < 1e-9 for contact in contacts_on_sides(grasp))


def test_fingertips_of_different_radii(hand: Hand) -> None:
    """Thumb 10 mm, fingers 4 mm: the object is in the middle between the balls, not between their centres."""
    balls = replace(
        hand, fingers=tuple(replace(f, tip_radius=0.01 if f.name == "thumb" else 0.004) for f in hand.fingers)
    )
    planner = GraspPlanner(balls)
    for grasp in (planner.line(0.03), planner.plane(0.05, fingers=3)):
        tips = grasp.to_world(0.1).tips_world
        mean = np.mean([tips[name] for name in grasp.fingers], axis=0)
        assert tips["thumb"][0] - 0.01 == pytest.approx(grasp.width / 2, abs=1e-9)
        assert mean[0] + 0.004 == pytest.approx(-grasp.width / 2, abs=1e-9)
        assert grasp.sides() == pytest.approx((-grasp.width / 2, grasp.width / 2), abs=1e-9)
        thing = grasped_object(grasp)
        assert (thing.center[0], thing.size[0]) == pytest.approx((0.0, grasp.width), abs=1e-9)
        assert np.mean([c.gap for c in contacts_on_sides(grasp) if c.finger != "thumb"]) == pytest.approx(
            0.0, abs=1e-9
        )
    box = trimesh.creation.box(
        (0.03, 0.05, 0.04), transform=trimesh.transformations.translation_matrix((0, 0, 0.1))
    )
    rated = rate_grasp(planner.line(0.03), GraspChecker(balls), box)
    assert rated.quality.largest_gap < 1e-9
    with pytest.raises(InputError, match="between points"):
        GraspPlanner(balls, "proportional")


def test_fingers_without_actuators_are_told(allegro: Hand) -> None:
    joints = [f"joint_{i}.0" for i in range(4)]
    some = load_hand("allegro_right_hand", actuators=joints, oppositions={"a": ("middle",)})
    with pytest.raises(InputError, match="no actuator moves finger 'thumb'"):
        GraspPlanner(some).oppose("a", 0.05)


def test_impossible_postures_are_told(hand: Hand) -> None:
    bad = {"crossed": Opposition(("index",), closed={"index_proximal_joint": 0.8}, closed_width=0.5)}
    tips = {f.name: (f.tip_link, f.tip_point) for f in hand.fingers}
    other = load_hand("rh56", fingertips=tips, oppositions=bad)
    with pytest.raises(InputError, match="crossed.*(closed|open) posture"):
        GraspPlanner(other).oppose("crossed", 0.5)
