"""Forward kinematics against Pinocchio, yourdfpy and MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.robot.internal import find_robot
from tests.oracles import PinocchioModel

pytestmark = pytest.mark.robots

ROBOTS = (
    "panda", "ur5", "baxter", "talos", "talos_full", "tiago_dual", "g1_with_hands", "pr2", "icub", "romeo",
    "allegro_right_hand", "xarm7", "so101", "anymal", "z1", "kinova", "double_pendulum_continuous", "teaarm",
)  # fmt: skip


def rotation_matrices(poses):
    from elbowroom._poses import matrix_from_wxyz_xyz

    return matrix_from_wxyz_xyz(np.asarray(poses, dtype=np.float64))[..., :3, :3]


def angle_between(a, b):
    """Angle of R_a^T R_b, accurate near zero (from the chord length, not from the trace)."""
    chord = np.linalg.norm(a - b, axis=(-2, -1)) / np.sqrt(8.0)
    return 2.0 * np.arcsin(np.clip(chord, 0.0, 1.0))


@pytest.mark.parametrize("name", ROBOTS)
def test_poses_equal_pinocchio(load, name):
    robot = load(name)
    cfgs = robot.random_cfgs(100, seed=1)
    oracle = PinocchioModel(find_robot(name).description)
    assert oracle.joint_names == robot.joint_names
    T = oracle.link_poses(cfgs, robot.link_names)
    rotations, positions = T[..., :3, :3], T[..., :3, 3]
    exact = robot.link_poses(cfgs)
    assert np.abs(exact[..., 4:] - positions).max() <= 1e-9
    assert angle_between(rotation_matrices(exact), rotations).max() <= 1e-9
    single = np.asarray(robot.forward_kinematics(cfgs.astype(np.float32)))
    assert single.dtype == np.float32
    assert np.abs(single[..., 4:] - positions).max() <= 2e-5
    assert angle_between(rotation_matrices(single), rotations).max() <= 2e-5


@pytest.mark.long
@pytest.mark.parametrize("name", ROBOTS)
def test_poses_equal_yourdfpy(load, name):
    import yourdfpy

    robot = load(name)
    entry = find_robot(name)
    urdf = yourdfpy.URDF.load(str(entry.description), load_meshes=False, build_scene_graph=True)
    order = [
        robot.joint_names.index(joint) for joint in urdf.actuated_joint_names if joint in robot.joint_names
    ]
    floating = [joint for joint in urdf.actuated_joints if joint.type in ("floating", "planar")]
    chained = {j.name for j in urdf.robot.joints if j.mimic and urdf.joint_map[j.mimic.joint].mimic}
    for cfg in robot.random_cfgs(100, seed=2):
        if floating or chained:
            pytest.skip("yourdfpy has no configuration for floating bases and chains of mimic joints")
        urdf.update_cfg(cfg[order])
        poses = robot.link_poses(cfg)
        T = np.stack([urdf.get_transform(link, urdf.base_link) for link in robot.link_names])
        assert np.abs(poses[:, 4:] - T[:, :3, 3]).max() <= 1e-9
        assert angle_between(rotation_matrices(poses), T[:, :3, :3]).max() <= 1e-9


@pytest.mark.parametrize("name", ["panda", "g1_with_hands", "talos", "baxter"])
def test_jacobian_equals_pinocchio(load, name):
    pin = pytest.importorskip("pinocchio")

    robot = load(name)
    oracle = PinocchioModel(find_robot(name).description)
    model, data = oracle.model, oracle.data
    link = robot.link_names[-1]
    cfgs = robot.random_cfgs(20, seed=3)
    for cfg, q in zip(cfgs, oracle.q(cfgs), strict=True):
        frame = model.getFrameId(link, pin.FrameType.BODY)
        full = pin.computeFrameJacobian(model, data, q, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        expected = np.zeros((6, robot.dof))
        for joint in robot.tree.moving:
            column = full[:, model.joints[model.getJointId(joint.name)].idx_v]
            driver, slope = joint, 1.0
            while driver.coupling is not None:
                slope *= driver.coupling.polycoef[1]
                driver = robot.joint(driver.coupling.driver)
            expected[:, robot.joint_names.index(driver.name)] += slope * column
        np.testing.assert_allclose(robot.jacobian(cfg, link), expected, atol=1e-9)
