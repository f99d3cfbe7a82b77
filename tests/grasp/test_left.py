"""The left hand: everything that is planned, measured and checked is the mirror image of the right hand's."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pytest

from elbowroom.cli._grasp import Options, run
from elbowroom.grasp import (
    GraspChecker,
    GraspPlanner,
    Hand,
    Sweep,
    contacts_on_cylinder,
    contacts_on_sides,
    grasp_quality,
    load_hand,
    mount,
    plan_approach,
)
from elbowroom.grasp.internal import grasped_object, rh56_spec
from elbowroom.robot import load_robot

MIRROR = np.diag([1.0, -1.0, 1.0])
"""The X-Z plane, of the base frame and of the world."""
MIRROR_4 = np.diag([1.0, -1.0, 1.0, 1.0])
SAME = 1e-9
"""m and rad."""
CASES = [
    (method, mode, fingers, revision)
    for revision in ("spec", "newest")
    for method in ("smooth", "proportional")
    for mode, fingers in (("line", 2), ("plane", 3), ("plane", 5), ("cylinder", 5))
    if revision == "spec" or fingers != 3
]


def sweeps(method: str, mode: str, fingers: int, revision: str) -> tuple[Sweep, Sweep]:
    right, left = (
        GraspPlanner(load_hand(name, revision=revision), method).sweep(mode, 21, fingers=fingers)
        for name in ("rh56", "rh56_left")
    )
    return right, left


@pytest.mark.parametrize("revision", ["spec", "newest", "newest_grasp_scene"])
def test_the_left_hand_is_the_mirrored_right_one_and_mujoco_agrees(revision: str) -> None:
    right, left = load_hand("rh56", revision=revision), load_hand("rh56_left", revision=revision)
    assert left.name == "rh56_left"
    assert left.actuators == right.actuators
    model = rh56_spec(revision, "rh56_left").compile()
    data = mujoco.MjData(model)
    low, high = np.array([(a.lower, a.upper) for a in right.actuators]).T
    for ctrl in np.random.default_rng(5).uniform(low, high, (200, 6)):
        np.testing.assert_allclose(left.tips(ctrl), right.tips(ctrl) @ MIRROR, atol=1e-15)
        np.testing.assert_allclose(left.knuckles(ctrl), right.knuckles(ctrl) @ MIRROR, atol=1e-15)
        for name, value in zip(left.joint_names, left.joints(ctrl), strict=True):
            data.qpos[model.joint(name).qposadr[0]] = value
        mujoco.mj_kinematics(model, data)
        tips = [data.site(f"left_{name}_tip").xpos for name in left.finger_names]
        np.testing.assert_allclose(left.tips(ctrl), tips, atol=1e-12)
    thumb = left.tips(left.ctrl_rest)[left.finger_index("thumb")]
    assert thumb[1] < 0.0 < right.tips(right.ctrl_rest)[right.finger_index("thumb")][1]


@pytest.mark.parametrize(("method", "mode", "fingers", "revision"), CASES)
def test_grasps_are_mirror_images(method: str, mode: str, fingers: int, revision: str) -> None:
    for right, left in zip(*(sweep.grasps for sweep in sweeps(method, mode, fingers, revision)), strict=True):
        assert left.hand.name == "rh56_left"
        for name in (
            "width",
            "s",
            "tilt_y",
            "width_error",
            "height_error",
            "height_spread",
            "range_violation",
        ):
            assert getattr(left, name) == pytest.approx(getattr(right, name), abs=SAME), name
        assert left.wrapped == pytest.approx(right.wrapped, abs=SAME)
        assert left.side_offset == pytest.approx(-right.side_offset, abs=SAME)
        assert (left.mode, left.fingers, left.palm_mode) == (right.mode, right.fingers, right.palm_mode)
        assert left.to_registers() == right.to_registers()
        np.testing.assert_allclose(left.ctrl, right.ctrl, atol=SAME)
        np.testing.assert_allclose(left.midpoint, MIRROR @ right.midpoint, atol=SAME)
        for mine, theirs in ((left.tips, right.tips), (left.touching, right.touching)):
            assert list(mine) == list(theirs)
            for key, point in mine.items():
                np.testing.assert_allclose(point, MIRROR @ theirs[key], atol=SAME)
        ours, other = left.to_world(0.07), right.to_world(0.07)
        np.testing.assert_allclose(ours.T_world_base, MIRROR_4 @ other.T_world_base @ MIRROR_4, atol=SAME)
        for key, point in ours.tips_world.items():
            np.testing.assert_allclose(point, MIRROR @ other.tips_world[key], atol=SAME)


@pytest.mark.parametrize("mode", ["line", "plane", "cylinder"])
def test_checks_quality_and_motions_are_mirror_images(mode: str) -> None:
    right, left = (GraspPlanner(load_hand(name)) for name in ("rh56", "rh56_left"))
    checkers = GraspChecker(right.hand), GraspChecker(left.hand)
    assert checkers[0].pairs == checkers[1].pairs
    low, high = right.range(mode)
    assert left.range(mode) == (low, high)
    for height, width in ((0.1, low), (0.02, 0.5 * (low + high)), (-0.01, 0.9 * high)):
        pair = right.grasp(mode, width), left.grasp(mode, width)
        found: list[Any] = [
            checker.check(grasp, height=height, object_mesh=grasped_object(grasp, height).mesh())
            for checker, grasp in zip(checkers, pair, strict=True)
        ]
        assert found[0].table_clearance == pytest.approx(found[1].table_clearance, abs=SAME)
        assert found[0].object_distances == pytest.approx(found[1].object_distances, abs=SAME)
        for name in ("tip_links", "self_collisions", "free", "blocked"):
            assert getattr(found[0], name) == getattr(found[1], name), name
        contacts = contacts_on_cylinder if mode == "cylinder" else contacts_on_sides
        quality = [grasp_quality(contacts(grasp)) for grasp in pair]
        assert quality[0].epsilon == pytest.approx(quality[1].epsilon, abs=SAME)
        motions = [
            plan_approach(planner, grasp, height=height)
            for planner, grasp in zip((right, left), pair, strict=True)
        ]
        np.testing.assert_allclose(motions[0].times, motions[1].times, atol=SAME)
        np.testing.assert_allclose(motions[0].ctrl, motions[1].ctrl, atol=SAME)
        np.testing.assert_allclose(
            motions[1].Ts_world_base, MIRROR_4 @ motions[0].Ts_world_base @ MIRROR_4, atol=SAME
        )


def test_tables_of_the_right_hand_serve_the_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two have one table and one branch in the cache; nothing is computed for the second."""
    right = [GraspPlanner(load_hand("rh56"), method).range("line") for method in ("proportional", "smooth")]
    monkeypatch.setattr("elbowroom.grasp._tables.TableFingers._build", lambda self: pytest.fail("computed"))
    monkeypatch.setattr("elbowroom.grasp._smooth.SmoothClosure._build", lambda self: pytest.fail("computed"))
    left = [
        GraspPlanner(load_hand("rh56_left"), method).range("line") for method in ("proportional", "smooth")
    ]
    assert left == right


def test_a_changed_left_hand_has_tables_of_its_own() -> None:
    """What is no longer the mirror image does not take the right hand's tables."""
    left = load_hand("rh56_left")
    index = left.finger("index")
    x, y, z = index.tip_point
    longer = replace(index, tip_point=(x, y - 0.01, z))
    fingers = tuple(longer if finger is index else finger for finger in left.fingers)
    changed = replace(left, fingers=fingers)
    assert changed.original is None
    ctrl = left.ctrl_upper
    planner = GraspPlanner(changed, "proportional")
    np.testing.assert_allclose(
        planner.proportional.points.tip("index", ctrl),
        changed.tips(ctrl)[changed.finger_index("index")],
        atol=1e-4,
    )
    assert GraspPlanner(changed).line(0.03).width_error == pytest.approx(0.0, abs=1e-6)


def test_the_shapes_of_the_left_hand_are_the_mirrored_ones() -> None:
    right, left = load_robot("rh56"), load_robot("rh56_left")
    assert left.mesh_links == right.mesh_links
    for link in left.mesh_links:
        mine, theirs = left.link_mesh(link), right.link_mesh(link)
        assert mine is not None
        assert theirs is not None
        np.testing.assert_allclose(mine.bounds, np.sort(theirs.bounds @ MIRROR, axis=0), atol=1e-12)
        assert mine.volume == pytest.approx(theirs.volume, rel=1e-9)


def test_command_line_and_two_handed_robots_know_it(hand: Hand, capsys: pytest.CaptureFixture[str]) -> None:
    arguments: dict[str, Any] = {"width_mm": 30.0, "check": True, "registers": True, "json": True}
    assert run(Options("line", hand="rh56_left", **arguments)) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["hand"], found["check"]["free"]) == ("rh56_left", True)
    assert [row["register"] for row in found["registers"]] == list(range(1486, 1492))
    assert found["tips_base"]["thumb"][1] < 0.0
    both = mount(
        mount(load_robot("teaarm"), "rh56", "right_arm_l7", prefix="right_"),
        "rh56_left",
        "left_arm_l7",
        prefix="left_",
    )
    assert {"right_index_proximal", "left_index_proximal"} <= set(both.link_names)
