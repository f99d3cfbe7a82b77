"""The hand: couplings, ranges, fingertips and Jacobians against MuJoCo, Pinocchio and finite differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elbowroom.errors import ElbowroomError, InputError, UnknownNameError
from elbowroom.grasp import Hand, Opposition, UnknownFingerError, load_hand
from elbowroom.grasp._rh56 import facts
from elbowroom.grasp.internal import revisions, rh56_spec

REVISIONS = ("spec", "newest", "newest_grasp_scene")
ACTUATORS = ("pinky", "ring", "middle", "index", "thumb_proximal", "thumb_yaw")


def ctrl_limits(hand: Hand) -> tuple[np.ndarray, np.ndarray]:
    return np.array([a.lower for a in hand.actuators]), np.array([a.upper for a in hand.actuators])


def test_actuators_are_in_the_specified_order(hand: Hand) -> None:
    assert hand.actuator_names == ACTUATORS
    assert revisions() == REVISIONS


@pytest.mark.parametrize("revision", REVISIONS)
def test_tips_agree_with_mujoco_at_random_controls(hands: Callable[[str], Hand], revision: str) -> None:
    hand = hands(revision)
    model = rh56_spec(revision).compile()
    data = mujoco.MjData(model)
    low, high = ctrl_limits(hand)
    laws = {
        model.joint(model.eq_obj1id[i]).name: (model.joint(model.eq_obj2id[i]).name, model.eq_data[i, :5])
        for i in range(model.neq)
    }
    worst = 0.0
    for ctrl in np.random.default_rng(3).uniform(low, high, (500, 6)):
        joints = {a.joint: v for a, v in zip(hand.actuators, ctrl, strict=True)}
        joints |= {
            name: np.polynomial.polynomial.polyval(joints[driver], c) for name, (driver, c) in laws.items()
        }
        for name, value in joints.items():
            data.qpos[model.joint(name).qposadr[0]] = value
        mujoco.mj_kinematics(model, data)
        tips = np.array([data.site(f"right_{name}_tip").xpos for name in hand.finger_names])
        knuckles = np.array([data.body(f"{name}_intermediate").xpos for name in hand.finger_names])
        worst = max(worst, np.abs(tips - hand.tips(ctrl)).max(), np.abs(knuckles - hand.knuckles(ctrl)).max())
    assert worst < 1e-12


def test_tips_agree_with_the_table_of_facts(hand: Hand) -> None:
    for point in facts()["fk_checkpoints_spec_revision"]:
        tips, knuckles = hand.tips(point["ctrl"]), hand.knuckles(point["ctrl"])
        for name in hand.finger_names:
            i = hand.finger_index(name)
            np.testing.assert_allclose(tips[i], point["tips"][name], atol=1e-9)
            np.testing.assert_allclose(knuckles[i], point["intermediate_origins"][name], atol=1e-9)


def test_revisions_apply_their_couplings_and_ranges(hands: Callable[[str], Hand]) -> None:
    newest = hands("newest")
    joints = dict(zip(newest.joint_names, newest.joints([0.5] * 6), strict=True))
    assert joints["index_intermediate_joint"] == pytest.approx(-0.05 + 1.1169 * 0.5)
    assert joints["thumb_distal_joint"] == pytest.approx(0.15 + 0.66 * 0.5)
    assert newest.ctrl_lower[4] == pytest.approx(0.1)
    scene = hands("newest_grasp_scene")
    assert scene.finger("index").tip_point[0] == pytest.approx(-0.00212053)
    assert np.abs(scene.tips([0.5] * 6) - newest.tips([0.5] * 6)).max() > 1e-3


@pytest.mark.parametrize("which", ["hand", pytest.param("allegro", marks=pytest.mark.robots)])
def test_jacobians_agree_with_finite_differences(which: str, request: pytest.FixtureRequest) -> None:
    hand: Hand = request.getfixturevalue(which)
    rng = np.random.default_rng(0)
    step = 1e-6
    for _ in range(10):
        ctrl = rng.uniform(hand.ctrl_lower, hand.ctrl_upper)
        _, jacobian = hand.points(ctrl, True)
        for i in range(len(ctrl)):
            shift = step * np.eye(len(ctrl))[i]
            numeric = (hand.points(ctrl + shift)[0] - hand.points(ctrl - shift)[0]) / (2 * step)
            np.testing.assert_allclose(jacobian[:, :, i], numeric, atol=1e-9)


def test_allegro_tips_agree_with_pinocchio(allegro: Hand) -> None:
    pytest.importorskip("pinocchio")
    from tests.oracles import PinocchioModel

    oracle = PinocchioModel(allegro.robot.path)
    assert oracle.joint_names == allegro.actuator_names
    ctrls = np.random.default_rng(1).uniform(allegro.ctrl_lower, allegro.ctrl_upper, (20, 16))
    tips = oracle.link_poses(ctrls, [finger.tip_link for finger in allegro.fingers])[:, :, :3, 3]
    for ctrl, expected in zip(ctrls, tips, strict=True):
        np.testing.assert_allclose(allegro.tips(ctrl), expected, atol=1e-12)


def test_bounds_keep_every_joint_in_range(hand: Hand) -> None:
    np.testing.assert_allclose(hand.ctrl_lower, [0.0, 0.0, 0.0, 0.025, 0.05, 0.0], atol=1e-12)
    np.testing.assert_allclose(hand.ctrl_upper, [1.56, 1.56, 1.5, 1.5, 0.52, 1.308], atol=1e-12)
    inside = np.random.default_rng(2).uniform(hand.ctrl_lower, hand.ctrl_upper, (200, 6))
    assert hand.range_violation(inside).max() <= 1e-9
    assert hand.range_violation(np.array([0, 0, 0, 0.0, 0.6, 0.0])) == pytest.approx(0.1)


real = partial(st.floats, allow_subnormal=False)  # which some releases of MuJoCo do not read


@settings(max_examples=25, deadline=None)
@given(c1=real(-2.0, 2.0), c2=real(-2.0, 2.0), low=real(-1.0, 0.3), width=real(0.2, 2.0))
def test_allowed_interval_against_a_scan(c1: float, c2: float, low: float, width: float) -> None:
    xml = f"""<mujoco><compiler angle="radian"/><worldbody><body name="palm"><geom size=".01"/>
      <body name="a"><joint name="ja" axis="0 1 0" range="-1 1" limited="true"/><geom size=".01"/>
        <body name="b" pos="0 0 .1"><joint name="jb" axis="0 1 0" range="{low} {low + width}" limited="true"/>
          <geom size=".01"/></body></body>
      <body name="t" pos=".1 0 0"><joint name="jt" axis="0 1 0" range="-1 1" limited="true"/><geom size=".01"/></body>
      </body></worldbody>
      <equality><joint joint1="jb" joint2="ja" polycoef="0.1 {c1} {c2} 0 0"/></equality></mujoco>"""
    spec = mujoco.MjSpec.from_string(xml)
    hand = load_hand(spec, fingertips={"thumb": "t", "index": "b"})
    grid = np.linspace(-1.0, 1.0, 4001)
    follower = 0.1 + c1 * grid + c2 * grid**2
    allowed = (follower >= low) & (follower <= low + width)
    runs = np.split(grid, np.flatnonzero(np.diff(allowed.astype(int))) + 1)
    longest = max(
        (r for r in runs if allowed[np.searchsorted(grid, r[len(r) // 2])]), key=np.ptp, default=None
    )
    if longest is None or np.ptp(longest) < 0.01:
        return
    i = hand.actuator_index("ja")
    assert hand.ctrl_upper[i] - hand.ctrl_lower[i] == pytest.approx(np.ptp(longest), abs=2e-3)
    assert hand.range_violation(np.where(np.arange(2) == i, hand.ctrl_upper, 0.0)) <= 1e-9


def test_finger_actuators_and_names(hand: Hand) -> None:
    assert [hand.actuator_names[i] for i in hand.finger_actuators("thumb")] == ["thumb_proximal", "thumb_yaw"]
    assert [hand.actuator_names[i] for i in hand.finger_actuators("ring")] == ["ring"]
    with pytest.raises(UnknownFingerError, match="'indx'.*index"):
        hand.finger("indx")
    with pytest.raises(UnknownNameError, match="thumb_yaw"):
        hand.actuator_index("thumb_yawn")


@pytest.mark.parametrize(
    ("bad", "text"), [([0.0] * 5, "shape"), ([np.nan] * 6, "NaN"), (["a"] * 6, "numbers"), (0.3, "shape")]
)
def test_bad_controls_are_refused(hand: Hand, bad: object, text: str) -> None:
    with pytest.raises(InputError, match=text):
        hand.tips(bad)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"source": "rh56", "revision": "older"}, "spec, newest"),
        ({"source": "panda"}, "fingertips"),
        ({"source": "rh56", "fingertips": {"index": "index_intermediate"}}, "thumb"),
        ({"source": "rh56", "fingertips": {"thumb": "thumb_distl"}}, "thumb_distal"),
        ({"source": "rh56", "fingertips": {"thumb": "base"}}, "no joint moves"),
        ({"source": "rh56", "fingertips": {"thumb": ("thumb_distal", (0, 1))}}, "three"),
        ({"source": "teaarm", "revision": "spec", "fingertips": {"thumb": "x"}}, "revision"),
    ],
)
def test_wrong_hands_are_refused(arguments: dict[str, object], text: str) -> None:
    with pytest.raises(ElbowroomError, match=text):
        load_hand(**arguments)  # type: ignore[arg-type]


def test_opposition_sets_name_fingers_of_the_hand() -> None:
    tips = {"thumb": "thumb_distal", "index": "index_intermediate"}
    with pytest.raises(InputError, match="index"):
        load_hand("rh56", fingertips=tips, oppositions={"x": ("toe",)})
    hand = load_hand("rh56", fingertips=tips, oppositions={"x": Opposition(("index",))})
    assert hand.opposition("x").fingers == ("index",)
    with pytest.raises(UnknownFingerError, match="x"):
        hand.opposition("y")


def test_fingertips_may_be_sites(hand: Hand) -> None:
    sites = {name: f"right_{name}_tip" for name in hand.finger_names}
    for source in ("rh56", rh56_spec()):
        other = load_hand(source, fingertips=sites)
        values = dict(zip((a.joint for a in hand.actuators), np.full(6, 0.3), strict=True))
        ctrl = [values[name] for name in other.actuator_names]
        np.testing.assert_allclose(other.tips(ctrl), hand.tips(np.full(6, 0.3)), atol=1e-12)
        assert [finger.knuckle_link for finger in other.fingers] == [f.knuckle_link for f in hand.fingers]


def test_known_hands_need_no_fingertips(allegro: Hand) -> None:
    assert allegro.finger_names == ("thumb", "index", "middle", "ring")
    assert {finger.tip_radius for finger in allegro.fingers} == {0.012}
    np.testing.assert_array_equal(
        allegro.ctrl_rest[:12], 0.0
    )  # not the lower bounds, which spread the fingers
    left = load_hand("allegro_left_hand")
    ctrl = np.random.default_rng(2).uniform(allegro.ctrl_lower, allegro.ctrl_upper)
    by_name = dict(zip(allegro.actuator_names, ctrl, strict=True))
    spread = {f"joint_{i}.0" for i in (0, 4, 8)}  # turn about the extension axis: mirrored
    mirrored = [by_name[name] * (-1.0 if name in spread else 1.0) for name in left.actuator_names]
    np.testing.assert_allclose(left.tips(mirrored), allegro.tips(ctrl) * [1.0, -1.0, 1.0], atol=1e-9)


def test_rest_of_the_bundled_hand_is_its_lower_bound(hand: Hand) -> None:
    np.testing.assert_array_equal(hand.ctrl_rest, hand.ctrl_lower)


@pytest.mark.parametrize(
    ("radii", "text"), [(-0.01, "negative"), (np.nan, "finite"), ({"index": "thick"}, "number")]
)
def test_bad_tip_radii_are_refused(hand: Hand, radii: Any, text: str) -> None:
    tips = {finger.name: (finger.tip_link, finger.tip_point) for finger in hand.fingers}
    with pytest.raises(InputError, match=text):
        load_hand("rh56", fingertips=tips, tip_radii=radii)


def test_tip_radii_are_added_to_what_is_known(hand: Hand, allegro: Hand) -> None:
    def radii(hand: Hand) -> list[float]:
        return [finger.tip_radius for finger in hand.fingers]

    name = "allegro_right_hand"
    assert radii(load_hand(name, tip_radii=0.0)) == [0.0] * 4
    assert radii(load_hand(name, tip_radii={"thumb": 0.01})) == [0.01, 0.012, 0.012, 0.012]
    with pytest.raises(UnknownFingerError, match="did you mean 'thumb'"):
        load_hand(name, tip_radii={"thmb": 0.01})
    with pytest.raises(InputError, match="tip_radii can be given together with fingertips only"):
        load_hand("rh56", tip_radii=0.01)


def test_sets_are_not_named_like_modes(hand: Hand) -> None:
    for name in ("line", "plane", "cylinder"):
        with pytest.raises(InputError, match="name of a mode"):
            replace(hand, oppositions={name: Opposition(("index",))})


def test_links_fixed_to_the_tip_carry_it_too(hand: Hand, allegro: Hand) -> None:
    assert hand.tip_links(["thumb", "index"]) == ("thumb_distal", "index_intermediate")
    assert allegro.tip_links(["thumb"]) == ("link_15.0_tip", "link_15.0")
