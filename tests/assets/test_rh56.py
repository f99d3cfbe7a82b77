"""The bundled hand: compiles in MuJoCo, keeps the facts, meets every check point, reproducible."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import mujoco
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
ASSETS = ROOT / "src" / "elbowroom" / "assets" / "rh56"
FACTS = json.loads((ASSETS / "rh56_facts.json").read_text(encoding="utf-8"))
BODIES = {body["name"]: body for body in FACTS["bodies"]}
PHALANGES = [body for body in FACTS["bodies"] if "joint" in body]
SPEC = FACTS["revisions"]["spec"]


@cache
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_path(str(ASSETS / "rh56.xml"))


def unit(quat: list[float]) -> np.ndarray:
    return np.asarray(quat) / np.linalg.norm(quat)


def at_controls(ctrl: list[float]) -> mujoco.MjData:
    hand, data = model(), mujoco.MjData(model())
    for actuator, value in zip(SPEC["actuators"], ctrl, strict=True):
        data.qpos[hand.joint(actuator["joint"]).qposadr[0]] = value
    for rule in SPEC["couplings"]:
        driver = data.qpos[hand.joint(rule["driver"]).qposadr[0]]
        data.qpos[hand.joint(rule["joint"]).qposadr[0]] = np.polynomial.polynomial.polyval(
            driver, rule["polycoef"]
        )
    mujoco.mj_forward(hand, data)
    return data


def test_counts():
    hand = model()
    assert (hand.njnt, hand.nq, hand.nu, hand.neq, hand.nsite) == (12, 12, 6, 6, 5)
    assert hand.nbody == len(BODIES) + 1
    assert hand.ngeom == len(FACTS["palm_primitives"]) + len(PHALANGES)
    assert hand.nexclude == len(FACTS["self_collision_exclusions"])


@pytest.mark.parametrize("fact", PHALANGES, ids=lambda fact: fact["name"])
def test_body_joint_and_inertia_are_those_of_the_facts(fact):
    hand, body = model(), model().body(fact["name"])
    assert hand.body(body.parentid[0]).name == fact["parent"]
    np.testing.assert_array_equal(body.pos, fact["pos"])
    np.testing.assert_allclose(body.quat, unit(fact["quat_wxyz"]), atol=1e-15)
    joint = hand.joint(fact["joint"]["name"])
    assert joint.bodyid[0] == body.id
    assert joint.type[0] == mujoco.mjtJoint.mjJNT_HINGE
    assert joint.limited[0]
    np.testing.assert_array_equal(joint.axis, fact["joint"]["axis"])
    np.testing.assert_array_equal(joint.pos, fact["joint"]["anchor"])
    np.testing.assert_array_equal(joint.range, fact["joint"]["range"])
    inertial = fact["inertial"]
    assert body.mass[0] == inertial["mass"]
    np.testing.assert_array_equal(body.ipos, inertial["com"])
    np.testing.assert_allclose(body.iquat, unit(inertial["quat_wxyz"]), atol=1e-15)
    np.testing.assert_array_equal(body.inertia, inertial["diag_inertia"])


@pytest.mark.parametrize("fact", PHALANGES, ids=lambda fact: fact["name"])
def test_phalanx_is_its_bounding_capsule(fact):
    geom, capsule = model().geom(fact["name"]), fact["capsule_bounding"]
    assert geom.type[0] == mujoco.mjtGeom.mjGEOM_CAPSULE
    ends = np.array([capsule["p0"], capsule["p1"]])
    assert geom.size[0] == capsule["radius"]
    assert 2.0 * geom.size[1] == pytest.approx(np.linalg.norm(ends[1] - ends[0]), rel=1e-12)
    np.testing.assert_allclose(geom.pos, ends.mean(axis=0), atol=1e-15)
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, geom.quat)
    along = turn.reshape(3, 3)[:, 2]
    assert abs(along @ (ends[1] - ends[0])) == pytest.approx(np.linalg.norm(ends[1] - ends[0]), rel=1e-12)


@pytest.mark.parametrize("fact", FACTS["palm_primitives"], ids=lambda fact: fact["label"])
def test_palm_primitive_is_that_of_the_facts(fact):
    geom = model().geom(fact["label"])
    assert model().body(geom.bodyid[0]).name == "base"
    if fact["type"] == "box":
        assert geom.type[0] == mujoco.mjtGeom.mjGEOM_BOX
        np.testing.assert_array_equal(geom.size, fact["half_extents"])
    else:
        assert geom.type[0] == mujoco.mjtGeom.mjGEOM_CYLINDER
        np.testing.assert_array_equal(geom.size[:2], [fact["radius"], fact["half_length"]])
    np.testing.assert_array_equal(geom.pos, fact["pos"])
    np.testing.assert_allclose(geom.quat, unit(fact["quat_wxyz"]), atol=1e-15)


def test_palm_mass_is_that_of_its_primitives():
    volume = sum(
        8.0 * np.prod(part["half_extents"])
        if part["type"] == "box"
        else 2.0 * np.pi * part["radius"] ** 2 * part["half_length"]
        for part in FACTS["palm_primitives"]
    )
    density = BODIES["base"]["inertial_from_primitives"]["density"]
    assert model().body("base").mass[0] == pytest.approx(density * volume, rel=1e-12)


def test_actuators_are_in_the_order_of_the_facts():
    hand = model()
    for index, fact in enumerate(SPEC["actuators"]):
        actuator = hand.actuator(index)
        assert actuator.name == fact["name"]
        assert hand.joint(actuator.trnid[0]).name == fact["joint"]
        np.testing.assert_array_equal(actuator.ctrlrange, fact["ctrl_range"])
        np.testing.assert_array_equal(actuator.forcerange, FACTS["dynamics"]["actuator_force_range"])
        assert actuator.gainprm[0] == FACTS["dynamics"]["position_actuator_kp"]


def test_couplings_are_those_of_the_facts():
    hand = model()
    found = {}
    for index in range(hand.neq):
        assert hand.eq_type[index] == mujoco.mjtEq.mjEQ_JOINT
        names = hand.joint(hand.eq_obj1id[index]).name, hand.joint(hand.eq_obj2id[index]).name
        found[names] = hand.eq_data[index, :5].tolist()
    assert found == {(rule["joint"], rule["driver"]): rule["polycoef"] for rule in SPEC["couplings"]}


def test_exclusions_are_those_of_the_facts():
    hand = model()
    signatures = {tuple(sorted((int(s) >> 16, int(s) & 0xFFFF))) for s in hand.exclude_signature}
    wanted = {
        tuple(sorted(hand.body(name).id for name in pair)) for pair in FACTS["self_collision_exclusions"]
    }
    assert signatures == wanted


@pytest.mark.parametrize("point", FACTS["fk_checkpoints_spec_revision"], ids=lambda point: str(point["ctrl"]))
def test_check_point(point):
    data = at_controls(point["ctrl"])
    for finger, tip in point["tips"].items():
        np.testing.assert_allclose(data.site(FACTS["tip_sites"][finger]["name"]).xpos, tip, atol=1e-6)
    for finger, origin in point["intermediate_origins"].items():
        np.testing.assert_allclose(data.body(f"{finger}_intermediate").xpos, origin, atol=1e-6)


def test_keyframes_satisfy_couplings_and_ranges_and_are_free():
    hand, data = model(), mujoco.MjData(model())
    assert [hand.key(index).name for index in range(hand.nkey)] == ["open", "closed", "pinch"]
    for index in range(hand.nkey):
        mujoco.mj_resetDataKeyframe(hand, data, index)
        mujoco.mj_forward(hand, data)
        np.testing.assert_array_equal(data.qpos, at_controls(data.ctrl.tolist()).qpos)
        assert (data.qpos >= hand.jnt_range[:, 0]).all()
        assert (data.qpos <= hand.jnt_range[:, 1]).all()
        assert (data.ctrl >= hand.actuator_ctrlrange[:, 0]).all()
        assert (data.ctrl <= hand.actuator_ctrlrange[:, 1]).all()
        assert data.ncon == 0
        equality = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        assert equality.sum() == hand.neq
        np.testing.assert_allclose(data.efc_pos[equality], 0.0, atol=1e-15)


def test_pinch_brings_thumb_to_index():
    data = mujoco.MjData(model())
    mujoco.mj_resetDataKeyframe(model(), data, 2)
    mujoco.mj_forward(model(), data)
    assert np.linalg.norm(data.site("right_thumb_tip").xpos - data.site("right_index_tip").xpos) < 0.004


def test_script_writes_the_same_bytes(tmp_path):
    script = ROOT / "tools" / "model_rh56.py"
    subprocess.run([sys.executable, str(script), "--out", str(tmp_path)], check=True, timeout=60)
    names = ["rh56.xml", "rh56_left.xml"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    for name in names:
        assert (tmp_path / name).read_bytes() == (ASSETS / name).read_bytes()


def test_the_left_hand_is_the_mirror_image_in_mass_and_motion():
    """Points and poses change the sign of y; masses, inertias, ranges, couplings and keyframes are the same."""
    right, left = model(), mujoco.MjModel.from_xml_path(str(ASSETS / "rh56_left.xml"))
    turn = np.array([1.0, -1.0, 1.0, -1.0])
    point = np.array([1.0, -1.0, 1.0])
    for name in ("body_pos", "body_ipos", "jnt_pos", "geom_pos", "site_pos"):
        np.testing.assert_allclose(getattr(left, name), getattr(right, name) * point, atol=1e-16)
    for name in ("body_quat", "body_iquat", "geom_quat"):
        np.testing.assert_allclose(getattr(left, name), getattr(right, name) * turn, atol=1e-15)
    np.testing.assert_array_equal(left.jnt_axis, -right.jnt_axis * point)
    same = (
        "body_mass",
        "body_inertia",
        "jnt_range",
        "geom_size",
        "eq_data",
        "actuator_ctrlrange",
        "key_qpos",
        "key_ctrl",
    )
    for name in same:
        np.testing.assert_allclose(getattr(left, name), getattr(right, name), rtol=1e-12, atol=1e-16)
    assert left.site("left_thumb_tip").bodyid[0] == right.site("right_thumb_tip").bodyid[0]
