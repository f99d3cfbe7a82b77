"""The judge of inverse kinematics must refuse what is no success; it is asked about answers known by hand."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.ik import AxisTarget, JointTarget, LookAt, PoseTarget, PositionTarget
from elbowroom.world import Sphere, World

from .ik_oracles import (
    IkJudge,
    as_matrix,
    as_wxyz_xyz,
    draw_targets,
    file_limits,
    joints_of,
    obstacles_around,
)
from .world.world_tools import at

# A ball on a slide along x that carries a turning arm; a second ball stands in the way at x = 1.
URDF = """
<robot name="cart">
  <link name="base"><collision><origin xyz="1 0 0"/><geometry><sphere radius="0.1"/></geometry></collision></link>
  <link name="cart"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <link name="tip"/>
  <link name="flag"><collision><origin xyz="0 0 5"/><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="x" type="prismatic">
    <parent link="base"/><child link="cart"/><axis xyz="1 0 0"/><limit lower="-2" upper="2" velocity="1" effort="1"/>
  </joint>
  <joint name="turn" type="revolute">
    <parent link="cart"/><child link="tip"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="1"/>
  </joint>
  <joint name="wave" type="continuous"><parent link="base"/><child link="flag"/><axis xyz="0 0 1"/></joint>
</robot>
"""


@pytest.fixture
def cart(tmp_path) -> IkJudge:
    (tmp_path / "cart.urdf").write_text(URDF)
    return IkJudge(er.load_robot(tmp_path / "cart.urdf"), [("base", "cart")])


def pose(x: float, turn: float) -> np.ndarray:
    return np.array([np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2), x, 0.0, 0.0])


def test_a_success_and_what_is_none(cart):
    good = np.array([0.3, 0.4, 0.0])
    assert cart.faults(good, {"tip": pose(0.3, 0.4)}) == []
    assert (
        cart.faults(good, {"tip": -pose(0.3, 0.4) * [1, 1, 1, 1, -1, -1, -1]}) == []
    )  # q and -q are one turn
    assert cart.faults(good, {"tip": as_matrix(pose(0.3, 0.4))}) == []
    assert cart.faults(good, {"tip": pose(0.3009, 0.4)}) == []
    assert cart.faults(good, {"tip": pose(0.3011, 0.4)}) == ["tip off by 1.1 mm"]
    assert cart.faults(good, {"tip": pose(0.3, 0.409)}) == []
    assert cart.faults(good, {"tip": pose(0.3, 0.411)}) == ["tip off by 0.011 rad"]
    assert cart.faults(np.array([0.81, 0.0, 0.0]), {"tip": pose(0.81, 0.0)}) == ["base and cart touch"]
    assert cart.faults(np.array([0.79, 0.0, 0.0]), {"tip": pose(0.79, 0.0)}) == []
    assert cart.faults(np.array([0.0, 3.001, 0.0]), {"tip": pose(0.0, 3.001)}) == [
        "turn at 3.001, limits -3 to 3"
    ]
    assert cart.faults(np.array([0.0, 0.0, 50.0]), {"tip": pose(0.0, 0.0)}) == []  # it turns without end
    assert cart.faults(good, {"tip": pose(0.3, 0.4)}, held={"turn": 0.4, "wave": 0.1}) == [
        "wave moved from 0.1 to 0"
    ]
    assert "not a configuration" in cart.faults(np.array([np.nan, 0, 0]), {"tip": pose(0, 0)})[0]
    assert len(cart.faults(np.array([0.85, 3.1, 0.0]), {"tip": pose(0.0, 0.0)})) == 4


def test_obstacles_count(cart):
    among = cart.among(World([Sphere(0.1, pose=at(-1, 0), name="post")]))
    assert among.faults(np.array([-0.79, 0.0, 0.0]), {"tip": pose(-0.79, 0.0)}) == []
    assert among.faults(np.array([-0.81, 0.0, 0.0]), {"tip": pose(-0.81, 0.0)}) == ["cart and post touch"]
    assert among.free(np.array([[-0.79, 0, 0], [-0.81, 0, 0], [0.85, 0, 0]])).tolist() == [True, False, False]


def test_parts_of_poses(cart):
    cfg = np.array([0.3, 0.4, 0.0])
    ahead = np.array([np.cos(0.4), np.sin(0.4), 0.0])
    right = [
        PoseTarget("tip", pose(0.3, 0.4)),
        PositionTarget("tip", np.array([0.3, 0, 0]) + 0.5 * ahead, point=(0.5, 0, 0)),
        AxisTarget("tip", ahead, axis=(1, 0, 0)),
        LookAt("tip", np.array([0.3, 0, 0]) + 2.0 * ahead, axis=(1, 0, 0)),
        JointTarget("x", 0.3),
    ]
    assert cart.faults(cfg, right) == []
    wrong = [
        PositionTarget("tip", np.array([0.3, 0, 0]) + 0.5 * ahead, point=(0.502, 0, 0)),
        AxisTarget("tip", ahead, axis=(0, 0, 1)),
        LookAt("tip", np.array([0.3, 0, 0]) - 2.0 * ahead, axis=(1, 0, 0)),
        JointTarget("x", 0.32),
    ]
    expected = ["tip off by 2 mm", "tip off by 1.571 rad", "tip off by 3.142 rad", "x off by 0.02 rad"]
    assert cart.faults(cfg, wrong) == expected


def test_limits_are_those_of_the_file(cart, load):
    lower, upper = file_limits(cart.robot)
    np.testing.assert_array_equal(lower, [-2, -3, -np.inf])
    np.testing.assert_array_equal(upper, [2, 3, np.inf])
    lower, upper = file_limits(load("rh56"))
    assert np.isfinite(lower).all()
    assert (upper > lower).all()


def test_targets_are_poses_of_free_configurations(cart):
    drawn = draw_targets(cart, ["tip"], 40, keep=lambda cfgs: cfgs[:, 0] > 0.0)
    assert joints_of(cart, ["tip"]) == ("x", "turn")
    assert len(drawn) == 40
    assert drawn.drawn >= 80
    assert (drawn.cfgs[:, 0] > 0.0).all()
    assert (np.abs(drawn.cfgs[:, 0] - 1.0) > 0.2 - 1e-9).all()
    assert not drawn.cfgs[:, 2].any()
    assert all(cart.faults(cfg, target) == [] for cfg, target in zip(drawn.cfgs, drawn, strict=True))
    again = draw_targets(cart, ["tip"], 40, keep=lambda cfgs: cfgs[:, 0] > 0.0)
    np.testing.assert_array_equal(again.poses, drawn.poses)
    assert not np.isclose(draw_targets(cart, ["tip"], 40, seed=1).poses, drawn.poses).all(axis=(1, 2)).any()


def test_obstacles_leave_the_default_pose_alone(load):
    robot = load("panda")
    judge = IkJudge(robot, [])
    world = obstacles_around(judge, ["panda_hand"], seed=3)
    assert len(world) == 10
    among = judge.among(world)
    assert among.world is not None
    assert among.world.clearance(robot.default_cfg, 0.05) == np.inf
    free = among.free(np.random.default_rng(0).uniform(robot.lower, robot.upper, (100, robot.dof)))
    assert 0.1 < free.mean() < 0.6  # they are in the way, and leave a way


def test_poses_there_and_back():
    for wxyz in np.random.default_rng(0).normal(size=(20, 4)):
        T = as_matrix(np.concatenate([wxyz, [1, 2, 3]]))
        np.testing.assert_allclose(as_matrix(as_wxyz_xyz(T)), T, atol=1e-12)
