"""Laws of the kinematics: gradients, batches, precision, threads, pyroki's duck type."""

from __future__ import annotations

import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import elbowroom as er
from elbowroom.errors import InputError
from elbowroom.typing import Kinematics
from tests.double import enable_x64

from . import builders

LINKS = {"panda": "panda_hand_tcp", "teaarm": "frame_left_arm_ee", "rh56": "thumb_distal"}
ROBOTS = [pytest.param("panda", marks=pytest.mark.robots), "teaarm", "rh56"]


@pytest.mark.parametrize("name", ROBOTS)
def test_gradients_equal_finite_differences(load, name):
    robot = load(name)
    weights = np.random.default_rng(0).normal(size=(len(robot.link_names), 7))
    with enable_x64(True):

        def cost(cfg):
            return jnp.sum(robot.forward_kinematics(cfg) * weights)

        gradient = jax.jit(jax.grad(cost))
        for cfg in robot.random_cfgs(5, seed=5):
            analytic = np.asarray(gradient(jnp.asarray(cfg)))
            step = 1e-6 * np.eye(robot.dof)
            numeric = [(cost(jnp.asarray(cfg + d)) - cost(jnp.asarray(cfg - d))) / 2e-6 for d in step]
            np.testing.assert_allclose(analytic, np.array(numeric), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ROBOTS)
def test_gradients_are_finite_at_zero_and_at_the_limits(load, name):
    robot = load(name)
    gradient = jax.grad(lambda cfg: jnp.sum(robot.forward_kinematics(cfg) ** 3))
    for cfg in (np.zeros(robot.dof), robot.lower, robot.upper):
        assert np.isfinite(np.asarray(gradient(jnp.asarray(cfg, dtype=jnp.float32)))).all()


@pytest.mark.parametrize("name", ROBOTS)
def test_jacobian_equals_jacfwd(load, name):
    robot, link = load(name), LINKS[name]
    index = robot.link_index(link)
    with enable_x64(True):
        derivative = jax.jacfwd(lambda cfg: robot.forward_kinematics(cfg)[index])
        for cfg in robot.random_cfgs(5, seed=6):
            jacobian = robot.jacobian(cfg, link)
            d_pose = np.asarray(derivative(jnp.asarray(cfg)))
            np.testing.assert_allclose(jacobian[:3], d_pose[4:], atol=1e-10)
            w, x, y, z = robot.link_poses(cfg)[index, :4]
            # angular velocity in world axes = 2 * vector part of (dq * conjugate(q))
            to_omega = 2 * np.array([[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]])
            np.testing.assert_allclose(jacobian[3:], to_omega @ d_pose[:4], atol=1e-10)


@pytest.mark.parametrize("name", ROBOTS)
def test_ten_thousand_configurations_in_one_batch(load, name):
    robot = load(name)
    cfgs = robot.random_cfgs(10_000, seed=7)
    poses = robot.link_poses(cfgs)  # two threads
    assert poses.shape == (10_000, len(robot.link_names), 7)
    np.testing.assert_array_equal(poses[::997], robot.link_poses(cfgs[::997]))  # one thread, other lanes
    np.testing.assert_allclose(np.linalg.norm(poses[..., :4], axis=-1), 1.0, atol=1e-14)
    batch = np.asarray(robot.forward_kinematics(cfgs.astype(np.float32)))
    assert np.abs(batch - poses).max() < 2e-5
    assert robot.link_poses(cfgs[:0]).shape == (0, len(robot.link_names), 7)


def test_batch_axes_jit_and_vmap_agree(load):
    robot = load("teaarm")
    cfgs = robot.random_cfgs(6, seed=8).astype(np.float32)
    expected = np.asarray(robot.forward_kinematics(cfgs))
    np.testing.assert_allclose(
        robot.forward_kinematics(cfgs.reshape(2, 3, 16)), expected.reshape(2, 3, 19, 7)
    )
    np.testing.assert_allclose(jax.vmap(robot.forward_kinematics)(cfgs), expected, atol=1e-6)
    np.testing.assert_allclose(jax.jit(robot.forward_kinematics)(cfgs[0]), expected[0], atol=1e-6)


def test_one_compile_per_shape_and_precision(load):
    robot = er.load_robot("teaarm")
    for _ in range(3):
        robot.forward_kinematics(np.zeros(16, dtype=np.float32))
        robot.forward_kinematics(np.ones((5, 16), dtype=np.float32))
    assert robot._fk._cache_size() == 2
    with enable_x64(True):
        assert robot.forward_kinematics(np.zeros(16)).dtype == np.float64
    assert robot._fk._cache_size() == 3
    assert robot.forward_kinematics(np.zeros(16, dtype=int)).dtype == np.float32


def test_angles_far_outside_one_turn(load):
    robot = load("teaarm")
    cfg = robot.random_cfgs(1, seed=9)[0]
    np.testing.assert_allclose(
        robot.link_poses(cfg + 2 * np.pi * 1000)[:, 4:], robot.link_poses(cfg)[:, 4:], atol=1e-10
    )


@pytest.mark.parametrize("value", [1.1e5, -1e9, 1e300])
def test_values_whose_poses_would_be_noise_are_refused(load, value):
    """Angles beyond 1e5 rad lost their digits without a word; from 1e155 on poses were NaN."""
    robot = load("teaarm")
    cfg = np.zeros(robot.dof)
    cfg[3] = value
    for ask in (robot.link_poses, lambda cfg: robot.jacobian(cfg, robot.link_names[-1])):
        with pytest.raises(
            InputError, match=f"joint '{robot.joint_names[3]}' is at .*beyond 100000 its poses"
        ):
            ask(cfg)


@pytest.mark.parametrize(
    ("law", "value", "expected"),
    [
        ('multiplier="1e4"', 20.0, "joint 'k', which follows 'j', is at 200000 rad"),
        ('multiplier="1" offset="1e300"', 0.0, "joint 'k', which follows 'j', is at 1e\\+300 rad"),
    ],
)
def test_followers_whose_poses_would_be_noise_are_refused(tmp_path, law, value, expected):
    links = [builders.link(name) for name in "abc"]
    follower = builders.joint("k", "b", "c", inner=f'{builders.LIMIT}<mimic joint="j" {law}/>')
    text = builders.robot_xml(*links, builders.joint("j", "a", "b"), follower)
    robot = er.load_robot(builders.write(tmp_path, text))
    if "offset" not in law:
        assert np.isfinite(robot.link_poses([9.9])).all()
    with pytest.raises(InputError, match=expected):
        robot.link_poses([value])


def test_robot_passes_through_jit_like_pyrokis(load):
    robot = load("teaarm")
    cfg = jnp.zeros(16)
    robot.forward_kinematics(cfg)
    result = jax.jit(lambda r, c: r.forward_kinematics(c))(robot, cfg)
    np.testing.assert_allclose(result, robot.forward_kinematics(cfg), atol=1e-7)


class TestPyrokiDuckType:
    def test_our_robot_offers_it(self, load):
        robot = load("rh56")
        assert isinstance(robot, Kinematics)
        assert robot.links.names == robot.link_names
        assert robot.links.num_links == len(robot.link_names)
        assert robot.joints.actuated_names == robot.joint_names
        assert robot.joints.num_actuated_joints == robot.dof == 6
        np.testing.assert_array_equal(robot.joints.lower_limits, robot.lower)
        cfg = robot.default_cfg.astype(np.float32)
        full = np.asarray(robot.joints.get_full_config(jnp.asarray(cfg)))
        values = dict(zip(robot.joints.names, full, strict=True))
        assert values["thumb_intermediate_joint"] == pytest.approx(
            0.15 + 1.25 * values["thumb_proximal_pitch_joint"]
        )
        carried = robot.links.parent_joint_indices[robot.link_index("thumb_distal")]
        assert robot.joints.names[carried] == "thumb_distal_joint"

    @pytest.mark.robots
    def test_a_pyroki_robot_becomes_ours(self, load):
        panda = load("panda")
        theirs = pyroki_like(panda)
        robot = er.as_robot(theirs)
        assert robot.link_names == panda.link_names
        assert robot.joint_names == panda.joint_names
        cfgs = panda.random_cfgs(20, seed=1)
        np.testing.assert_allclose(
            robot.link_poses(cfgs), panda.link_poses(cfgs), atol=1e-6
        )  # pyroki holds float32
        assert robot.link_mesh("panda_link1") is None

    def test_ours_stays_as_it_is_and_others_are_refused(self, load):
        assert er.as_robot(load("teaarm")) is load("teaarm")
        assert er.as_robot("teaarm").joint_names == load("teaarm").joint_names
        with pytest.raises(InputError, match="cannot load a robot from a dict"):
            er.as_robot({})


def pyroki_like(robot):
    """An object with the attributes of a pyroki Robot (its documented layout), float32 as pyroki's."""
    joints = robot.tree.joints
    index = {joint.name: i for i, joint in enumerate(joints)}
    twists = np.zeros((len(joints), 6), dtype=np.float32)
    transforms = np.zeros((len(joints), 7), dtype=np.float32)
    mimic = np.full(len(joints), -1)
    multiplier, offset = np.ones(len(joints), dtype=np.float32), np.zeros(len(joints), dtype=np.float32)
    from elbowroom._poses import as_wxyz_xyz

    for i, joint in enumerate(joints):
        transforms[i] = as_wxyz_xyz(joint.T_parent_joint)
        if joint.type == "prismatic":
            twists[i, :3] = joint.axis
        elif joint.type != "fixed":
            twists[i, 3:] = joint.axis
        if joint.coupling:
            mimic[i] = robot.joint_names.index(joint.coupling.driver)
            offset[i], multiplier[i] = joint.coupling.polycoef
    carrier = {joint.child: index[joint.name] for joint in joints}
    info = robot.joints
    return types.SimpleNamespace(
        joints=types.SimpleNamespace(
            names=info.names,
            actuated_names=info.actuated_names,
            twists=twists,
            parent_transforms=transforms,
            parent_indices=np.array([carrier.get(joint.parent, -1) for joint in joints]),
            lower_limits=info.lower_limits,
            upper_limits=info.upper_limits,
            lower_limits_all=info.lower_limits_all,
            upper_limits_all=info.upper_limits_all,
            velocity_limits_all=info.velocity_limits_all,
            mimic_act_indices=mimic,
            mimic_multiplier=multiplier,
            mimic_offset=offset,
        ),
        links=types.SimpleNamespace(
            names=robot.link_names,
            parent_joint_indices=np.array([carrier.get(name, -1) for name in robot.link_names]),
        ),
    )
