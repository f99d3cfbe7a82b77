"""Why there is no answer: the reason, who is to blame, and by how much; each checked against what is known."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

import elbowroom as er
from elbowroom.ik import AxisTarget, JointTarget, PoseTarget, PositionTarget
from elbowroom.ik.solve._setup import free_configurations
from tests.ik.models import HAND, block_at, model_of, rest_pose, solver_of

PLANAR = """<robot name="planar">
  <link name="base"><collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  <link name="upper"><collision><origin xyz="0.5 0 0"/><geometry><box size="0.8 0.05 0.05"/></geometry></collision></link>
  <link name="lower"><collision><origin xyz="0.5 0 0"/><geometry><box size="0.8 0.05 0.05"/></geometry></collision></link>
  <link name="tip"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-2.5" upper="2.5" velocity="1" effort="1"/></joint>
  <joint name="end" type="fixed"><parent link="lower"/><child link="tip"/><origin xyz="1 0 0"/></joint>
</robot>"""


@pytest.fixture(scope="module")
def planar(tmp_path_factory):
    """Two links of one metre in a plane: reach is two metres, within one radian of ahead."""
    path = tmp_path_factory.mktemp("planar") / "planar.urdf"
    path.write_text(PLANAR)
    return er.IkSolver(er.load_robot(path))


def test_out_of_reach_by_how_much(planar):
    result = planar.solve(PositionTarget("tip", [2.5, 0.0, 0.0]))
    assert not result
    assert result.reason == "out of reach"
    assert result.failure.link == "tip"
    assert result.failure.distance == pytest.approx(0.5, abs=2e-3)
    assert "out of reach" in result.why
    assert "tip" in result.why
    np.testing.assert_allclose(result.cfg, 0.0, atol=0.05)  # best effort: stretched out towards it
    starts = int(re.search(r"out of reach of all (\d+) starts", result.why)[1])  # searched, not proved
    assert starts >= er.IkOptions().seeds


def test_out_of_reach_in_a_direction_that_no_joint_gives(planar):
    result = planar.solve(PositionTarget("tip", [1.5, 0.0, 0.2]))
    assert result.reason == "out of reach"
    assert result.failure.distance == pytest.approx(0.2, abs=1e-3)


def test_limits_and_whose(planar):
    result = planar.solve(PositionTarget("tip", [-1.2, 1.5, 0.0]))
    assert result.reason == "limits"
    assert result.failure.joints == ("shoulder",)
    # By arithmetic: the arm must point 2.25 rad from ahead, give or take the 0.28 of a bent elbow, which has 2.5.
    assert "something beyond those of shoulder does" in result.why
    assert "elbow" not in result.why
    assert "forbid" not in result.why


def test_an_orientation_that_does_not_go_with_the_position(planar):
    result = planar.solve({"tip": [0, 1, 0, 0, 1.5, 0.0, 0.0]})
    assert result.reason == "out of reach"
    assert (
        "its position can be reached; nothing found, within limits or not, has its orientation too"
        in result.why
    )
    assert planar.solve(PositionTarget("tip", [1.5, 0.0, 0.0])).success
    assert result.failure.angle > 1.0


def test_ten_metres_away_is_a_best_effort():
    target = rest_pose("panda", HAND)
    target[4] += 10.0
    result = solver_of("panda").solve({HAND: target})
    assert not result.success
    assert result.reason == "out of reach"
    place = model_of("panda").robot.link_poses(result.cfg)[model_of("panda").robot.link_index(HAND), 4:]
    assert place[0] > 0.7  # stretched out towards it
    assert result.failure.distance == pytest.approx(
        np.linalg.norm(target[4:] - [0.0, 0.0, 0.333]) - 0.94, abs=0.06
    )
    assert result.free is True


def test_a_target_inside_an_obstacle_names_the_pair_the_depth_and_the_nearest_free_pose():
    pose = rest_pose("panda", HAND)
    model = model_of("panda").with_world(block_at(pose[4:]))
    solver = er.IkSolver(model)
    result = solver.solve({HAND: pose})
    assert not result.success
    assert result.free is False
    assert result.reason == "collision"
    assert result.verdict.clashes[0].b == "block"
    depth = -result.verdict.clashes[0].distance
    assert depth > 0.05
    assert f"{1e3 * depth:.1f} mm" in result.why
    assert f"of {result.refused} configurations judged that meet the targets, none is free" in result.why
    others = er.IkSolver(model.robot).solutions(
        {HAND: pose}, count=8
    )  # without a verdict: brute force by the model
    assert len(others) > 1
    assert not model.free(others).any()
    near = result.nearest_free
    assert near is not None
    assert 0.05 < near.shift + near.turn < 0.2  # the block ends 0.1 m from the target
    assert model.free(near.cfg)
    again = solver.solve(near.target, near.cfg)
    assert again.success
    assert np.linalg.norm(near.target.pose[4:] - pose[4:]) == pytest.approx(near.shift, abs=1e-9)


def _centre(link: str) -> np.ndarray:
    """Of the bounding box of a link, in its frame."""
    return model_of("teaarm").robot.link_mesh(link).bounds.mean(axis=0)


def test_arms_into_each_other_are_a_collision_of_links():
    place = rest_pose("teaarm", "left_arm_l6")[4:]
    middle = [place[0], 0.0, place[2]]
    left, right = (
        PositionTarget(f"{side}_arm_l6", middle, point=_centre(f"{side}_arm_l6"))
        for side in ("left", "right")
    )
    solver = solver_of("teaarm")
    assert solver.solve(left).success
    assert solver.solve(right).success
    result = solver.solve([left, right])
    assert result.reason == "collision"
    assert any(
        {clash.a.split("_")[0], clash.b.split("_")[0]} == {"left", "right"}
        for clash in result.verdict.clashes
    )


@pytest.mark.parametrize(
    ("targets", "shift", "turn"),
    [
        (
            [PoseTarget(HAND, [0, 1, 0, 0, 0.4, 0, 0.4]), PoseTarget(HAND, [0, 1, 0, 0, 0.4, 0.1, 0.4])],
            0.1,
            0.0,
        ),
        ([PoseTarget(HAND, [0, 1, 0, 0, 0.4, 0, 0.4]), AxisTarget(HAND, [1, 0, 0])], 0.0, np.pi / 2),
        ([PositionTarget(HAND, [0.4, 0, 0.5]), PoseTarget(HAND, [0, 1, 0, 0, 0.4, 0, 0.4])], 0.1, 0.0),
        ([PositionTarget(HAND, [0.4, 0, 0.5]), PositionTarget(HAND, [0.4, 0.2, 0.5])], 0.2, 0.0),
        ([JointTarget("panda_joint1", 0.1), JointTarget("panda_joint1", 0.4)], 0.0, 0.3),
    ],
)
def test_targets_of_one_link_that_exclude_each_other(targets, shift, turn):
    result = solver_of("panda").solve(targets)
    assert result.reason == "contradictory"
    assert result.failure.distance == pytest.approx(shift, abs=1e-9)
    assert result.failure.angle == pytest.approx(turn, abs=1e-9)


def test_targets_of_two_links_that_exclude_each_other(planar):
    result = planar.solve([PositionTarget("lower", [0.8, 0.6, 0.0]), PositionTarget("tip", [1.8, -0.6, 0.0])])
    assert planar.solve(PositionTarget("lower", [0.8, 0.6, 0.0])).success
    assert planar.solve(PositionTarget("tip", [1.8, -0.6, 0.0])).success
    assert result.reason == "contradictory"


def test_a_joint_target_beyond_the_limits(planar):
    result = planar.solve(JointTarget("shoulder", 1.5))
    assert result.reason == "limits"
    assert result.failure.joints == ("shoulder",)
    assert result.cfg[0] == 1.0


def test_a_link_that_no_joint_moves():
    result = solver_of("panda").solve({"panda_link0": [1, 0, 0, 0, 0.0, 0.0, 0.1]})
    assert result.reason == "locked"
    assert result.failure.distance == pytest.approx(0.1)
    result = solver_of("panda").solve(
        {"panda_link2": [0.5, 0.0, 0.0]}, locked=["panda_joint1", "panda_joint2"]
    )
    assert result.reason == "locked"
    assert "panda_joint1" in result.why


def test_a_local_minimum_is_told_from_what_cannot_be_reached():
    """One start arrives or not; all these poses have an answer, which a longer search finds."""
    options = er.IkOptions(seeds=1, table=1)
    robot = model_of("panda").robot
    solver = er.IkSolver(robot, options=options)
    poses = robot.link_poses(robot.random_cfgs(20, seed=5))[:, robot.link_index(HAND)]
    results = solver.solve_batch({HAND: poses})
    reasons = {result.reason for result in results}
    assert "local minimum" in reasons
    assert reasons <= {"", "local minimum", "limits"}
    for result in results:  # all of them can be reached: nothing else may be claimed
        assert "out of reach" not in result.why
        if result.reason == "local minimum":
            assert f"none of {result.seeds_tried} start" in result.why
            assert "every start ended" not in result.why


def test_time_that_is_up():
    target = rest_pose("panda", HAND)
    target[4] += 3.0
    result = er.IkSolver(model_of("panda"), options=er.IkOptions(timeout=1e-9)).solve({HAND: target})
    assert result.timed_out
    assert result.reason == "timeout"
    assert result.seeds_tried == 16


def test_what_is_made_once_does_not_count_against_the_time(monkeypatch):
    """A clock that only the table of starts moves, by an hour."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr("elbowroom.ik.solve._solver.time", SimpleNamespace(perf_counter=lambda: clock.now))

    def slowly(*args):
        clock.now += 3600.0
        return free_configurations(*args)

    monkeypatch.setattr("elbowroom.ik.solve._setup.free_configurations", slowly)
    target = rest_pose("panda", HAND)
    target[4] += 3.0
    result = er.IkSolver(model_of("panda")).solve({HAND: target})
    assert clock.now == 3600.0
    assert not result.timed_out
    assert result.setup_seconds == 3600.0
    assert result.seeds_tried == er.IkOptions().seeds


def test_success_needs_no_why():
    result = solver_of("panda").solve({HAND: rest_pose("panda", HAND)})
    assert (result.why, result.reason, result.failure, result.nearest_free) == ("", "", None, None)
    assert "reached" in str(result)
