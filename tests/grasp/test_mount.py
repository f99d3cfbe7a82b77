"""A hand on an arm: kinematics of both parts composed by Pinocchio, names, poses, and what travels."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import elbowroom as er
from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.errors import InputError, UnknownLinkError
from elbowroom.grasp import load_hand, mount
from elbowroom.grasp._mount import mounted_hand
from elbowroom.robot import joined, without_links
from elbowroom.robot.internal import find_robot

pytestmark = pytest.mark.robots

POSE = np.array([0.9, 0.1, -0.3, 0.3, 0.02, -0.01, 0.005])
"""Of a hand on a flange, turned and off the axis."""


@pytest.fixture(scope="module")
def panda():
    return er.load_robot("panda")


@pytest.fixture(scope="module")
def rh56():
    return load_hand("rh56")


@pytest.fixture(scope="module")
def carrier(panda, rh56):
    return mount(panda, rh56, "panda_link8", POSE, without=("panda_hand",))


def matrices(poses):
    return matrix_from_wxyz_xyz(np.asarray(poses))


def test_poses_are_those_of_pinocchio_for_the_arm_times_those_of_mujoco_for_the_hand(panda, rh56, carrier):
    """Pinocchio reads the arm's URDF and MuJoCo the hand's MJCF; the mount's pose is multiplied here by hand."""
    mujoco = pytest.importorskip("mujoco")
    from elbowroom.grasp.internal import rh56_spec
    from tests.oracles import PinocchioModel

    cfgs = carrier.random_cfgs(30, seed=3)
    arm, fingers = cfgs[:, :7], cfgs[:, 7:]
    ours = matrices(carrier.link_poses(cfgs))
    oracle = PinocchioModel(find_robot("panda").description)
    whole = np.concatenate([arm, np.zeros((30, 1))], axis=1)
    kept = [link for link in carrier.link_names if link in panda.link_names]
    by_pinocchio = oracle.link_poses(whole, kept)
    np.testing.assert_allclose(ours[:, : len(kept)], by_pinocchio, atol=1e-9)

    model = rh56_spec().compile()
    data = mujoco.MjData(model)
    T_link_hand = matrices(POSE)
    flange = by_pinocchio[:, kept.index("panda_link8")]
    for row, (cfg, T_flange) in enumerate(zip(fingers, flange, strict=True)):
        values = dict(zip(rh56.joint_names, rh56.robot.tree.expand(cfg), strict=True))
        for name, value in values.items():
            data.qpos[model.joint(name).qposadr[0]] = value
        mujoco.mj_kinematics(model, data)
        for link in rh56.robot.link_names:
            body = data.body(link)
            T = np.eye(4)
            T[:3, :3], T[:3, 3] = body.xmat.reshape(3, 3), body.xpos
            root = data.body("base")
            T_root = np.eye(4)
            T_root[:3, :3], T_root[:3, 3] = root.xmat.reshape(3, 3), root.xpos
            expected = T_flange @ T_link_hand @ np.linalg.inv(T_root) @ T
            np.testing.assert_allclose(ours[row, carrier.link_index(link)], expected, atol=1e-9)


def test_pinocchio_for_both_parts_of_an_arm_with_a_urdf_hand(panda):
    from tests.oracles import PinocchioModel

    both = mount(panda, "allegro_right_hand", "panda_link8", POSE, prefix="a_", without=("panda_hand",))
    cfgs = both.random_cfgs(20, seed=4)
    arm, hand = (PinocchioModel(find_robot(name).description) for name in ("panda", "allegro_right_hand"))
    links = [name.removeprefix("a_") for name in both.link_names if name.startswith("a_")]
    flange = arm.link_poses(np.concatenate([cfgs[:, :7], np.zeros((20, 1))], axis=1), ["panda_link8"])
    expected = flange @ matrices(POSE) @ hand.link_poses(cfgs[:, 7:], links)
    rows = [both.link_index(f"a_{name}") for name in links]
    np.testing.assert_allclose(matrices(both.link_poses(cfgs))[:, rows], expected, atol=1e-9)


def test_everything_of_both_is_kept(panda, rh56, carrier):
    hand = rh56.robot
    gone = {"panda_hand", "panda_hand_tcp", "panda_leftfinger", "panda_rightfinger"}
    assert set(carrier.link_names) == {*panda.link_names, *hand.link_names} - gone
    assert carrier.joint_names == (*panda.joint_names[:7], *hand.joint_names)
    np.testing.assert_array_equal(carrier.lower, [*panda.lower[:7], *hand.lower])
    np.testing.assert_array_equal(
        carrier.velocity_limits, [*panda.velocity_limits[:7], *hand.velocity_limits]
    )
    np.testing.assert_array_equal(carrier.default_cfg, [*panda.default_cfg[:7], *hand.default_cfg])
    np.testing.assert_array_equal(carrier.named_cfgs["pinch"][7:], hand.named_cfgs["pinch"])
    np.testing.assert_array_equal(carrier.named_cfgs["pinch"][:7], panda.default_cfg[:7])
    kept = {pair: why for pair, why in panda.disabled_pairs.items() if not gone & set(pair)}
    assert dict(carrier.disabled_pairs) == {**kept, **hand.disabled_pairs}
    assert {joint.name: joint.coupling for joint in carrier.tree.joints if joint.coupling} == {
        joint.name: joint.coupling for joint in hand.tree.joints if joint.coupling
    }
    for link in ("panda_link5", "thumb_distal"):
        own = (panda if link in panda.link_names else hand).link_mesh(link)
        np.testing.assert_array_equal(carrier.link_mesh(link).triangles, own.triangles)
    assert {str(note) for note in hand.notes} <= {str(note) for note in carrier.notes}


def test_names_that_clash_ask_for_a_prefix_and_two_hands_can_be_mounted(rh56):
    teaarm = er.load_robot("teaarm")
    left = mount(teaarm, rh56, "frame_left_arm_ee", prefix="left_")
    with pytest.raises(InputError, match="both have links named left_base.*does not part them"):
        mount(left, rh56, "frame_right_arm_ee", prefix="left_")
    both = mount(left, "rh56", "frame_right_arm_ee", prefix="right_")
    assert both.dof == teaarm.dof + 2 * rh56.robot.dof
    assert ("left_base", "left_thumb_proximal") in both.disabled_pairs
    assert both.joint("right_index_intermediate_joint").coupling.driver == "right_index_proximal_joint"
    assert any(note.where == "right_thumb_distal" for note in both.notes)
    np.testing.assert_array_equal(both.named_cfgs["right_pinch"][-6:], rh56.robot.named_cfgs["pinch"])
    with pytest.raises(InputError, match="2 hands 'rh56'.*'left_', 'right_'"):
        mounted_hand(both, rh56)
    assert mounted_hand(both, rh56, "right_").link == "right_base"
    with pytest.raises(InputError, match="both have links named base, .*give a prefix, such as 'rh56_'"):
        mount(mount(teaarm, rh56, "frame_left_arm_ee"), rh56, "frame_right_arm_ee")
    with pytest.raises(InputError, match="carries no hand 'rh56'.*mount"):
        mounted_hand(teaarm, rh56)


def test_wrong_questions_are_told(panda, rh56):
    with pytest.raises(UnknownLinkError, match="panda_link9"):
        mount(panda, rh56, "panda_link9")
    with pytest.raises(InputError, match="left out by `without`"):
        mount(panda, rh56, "panda_hand", without=("panda_hand",))
    with pytest.raises(InputError, match=r"write \('panda_hand',\)"):
        mount(panda, rh56, "panda_link8", without="panda_hand")
    with pytest.raises(InputError, match="has to stay"):
        mount(panda, rh56, "panda_link8", without=("panda_link0",))
    with pytest.raises(InputError, match="follows 'panda_finger_joint1'.*leave out 'panda_rightfinger'"):
        without_links(panda, ("panda_leftfinger",))
    with pytest.raises(InputError, match="not a rotation"):
        mount(panda, rh56, "panda_link8", np.diag([2.0, 1, 1, 1]))
    with pytest.raises(InputError, match="hand: expected a Robot"):
        mount(panda, 3, "panda_link8")


def test_a_robot_with_a_base_pose_is_mounted_by_its_world_frame(panda):
    """The hand's root is where its own base pose puts it."""
    moved = er.load_robot("rh56", base_pose=POSE)
    flange, root = (
        matrices(joined(panda, moved, "panda_link8").link_poses(np.zeros(14)))[i] for i in (8, 13)
    )
    np.testing.assert_allclose(root, flange @ matrices(POSE), atol=1e-12)


def test_it_travels_and_keeps_answering(carrier):
    twin = pickle.loads(pickle.dumps(carrier))
    cfgs = carrier.random_cfgs(4, seed=1)
    np.testing.assert_array_equal(twin.link_poses(cfgs), carrier.link_poses(cfgs))
    np.testing.assert_allclose(np.asarray(twin.forward_kinematics(cfgs)), carrier.link_poses(cfgs), atol=1e-5)
    assert not twin.default_cfg.flags.writeable


def test_what_cannot_be_written_is_said_and_the_rest_comes_back_as_it_was(carrier, tmp_path):
    balls = {link: (carrier.link_mesh(link).bounds.mean(axis=0)[None], [0.1]) for link in carrier.mesh_links}
    spheres = er.SphereModel.from_links(carrier.link_names, balls, robot_name=carrier.name)
    with pytest.raises(InputError, match="loaded from a URDF file"):
        er.formats.write(tmp_path / "a.urdf", robot=carrier, spheres=spheres)
    assert not (tmp_path / "a.urdf").exists()
    er.formats.write(tmp_path / "a.json", robot=carrier, spheres=spheres)
    assert len(er.formats.read(tmp_path / "a.json").spheres) == len(balls)
    er.formats.write(tmp_path / "a.xml", robot=carrier, spheres=spheres)
    again = er.load_robot(tmp_path / "a.xml")  # compiled by MuJoCo
    assert again.joint_names == carrier.joint_names
    cfgs = carrier.random_cfgs(20, seed=2)
    order = [again.link_index(link) for link in carrier.link_names]
    np.testing.assert_allclose(
        matrices(again.link_poses(cfgs))[:, order], matrices(carrier.link_poses(cfgs)), atol=1e-9
    )


def test_joints_that_move_the_hand_are_the_arms(rh56):
    both = mount(
        mount(er.load_robot("teaarm"), rh56, "frame_left_arm_ee", prefix="l_"), rh56, "frame_right_arm_ee"
    )
    found = mounted_hand(both, rh56, "l_")
    cfgs = both.random_cfgs(5, seed=1)
    moves = np.abs(both.jacobian(cfgs, "l_base")).max(axis=(0, 1)) > 1e-9
    assert found.arm_joints == tuple(name for name, m in zip(both.joint_names, moves, strict=True) if m)
    cfg = found.cfg(both.default_cfg, rh56.ctrl_upper)
    np.testing.assert_array_equal(cfg[list(found.actuated)], rh56.ctrl_upper)
    root = matrices(both.link_poses(cfg))[both.link_index("l_base")]
    np.testing.assert_allclose(found.base_pose(cfg), root, atol=1e-12)
    with pytest.raises(InputError, match="carries 2 hands"):
        mounted_hand(both, rh56)
