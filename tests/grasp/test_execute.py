"""Timed motions: limits kept, grasp height kept while closing, files that read back."""

from __future__ import annotations

import csv
import io
import json

import mujoco
import numpy as np
import pytest

from elbowroom.errors import InputError
from elbowroom.grasp import ApproachOptions, GraspPlanner, Hand, load_hand, plan_approach
from elbowroom.ui.draw import floating_hand_spec


@pytest.mark.parametrize("mode", ["line", "plane", "cylinder"])
def test_motion_ends_in_the_grasp_and_keeps_its_limits(smooth: GraspPlanner, mode: str) -> None:
    grasp = smooth.grasp(mode, 0.06)
    options = ApproachOptions(ctrl_speed=0.8, base_speed=0.1, tilt_speed=0.5, dt=0.01)
    motion = plan_approach(smooth, grasp, height=0.15, options=options)
    np.testing.assert_allclose(motion.ctrl[-1], grasp.ctrl, atol=1e-12)
    np.testing.assert_allclose(motion.Ts_world_base[-1], grasp.to_world(0.15).T_world_base, atol=1e-12)
    down = motion.phases.count("descend")
    drop = motion.Ts_world_base[0, :3, 3] - motion.Ts_world_base[down - 1, :3, 3]
    np.testing.assert_allclose(drop, [0.0, 0.0, 0.10], atol=1e-12)
    steps = np.diff(motion.times)
    assert np.all(steps > 0)
    slack = 1 + 1e-9
    assert (np.abs(np.diff(motion.ctrl, axis=0)) / steps[:, None]).max() <= 0.8 * slack
    assert (
        np.linalg.norm(np.diff(motion.Ts_world_base[:, :3, 3], axis=0), axis=1) / steps
    ).max() <= 0.1 * slack
    assert (np.abs(np.diff(motion.tilt)) / steps).max() <= 0.5 * slack
    assert motion.phases[0] == "descend"
    assert motion.phases[-1] == "close"


def test_tips_stay_at_the_grasp_height_while_closing(smooth: GraspPlanner, hand: Hand) -> None:
    motion = plan_approach(smooth, smooth.line(0.02), height=0.1)
    closing = [i for i, phase in enumerate(motion.phases) if phase == "close"]
    for i in closing:
        T = motion.Ts_world_base[i]
        tips = hand.tips(motion.ctrl[i]) @ T[:3, :3].T + T[:3, 3]
        for name in ("thumb", "index"):
            assert tips[hand.finger_index(name), 2] == pytest.approx(0.1, abs=1e-5)
        assert tips[0, 0] - tips[1, 0] == pytest.approx(motion.widths[i], abs=1e-5)


def test_json_and_csv_read_back(smooth: GraspPlanner) -> None:
    motion = plan_approach(smooth, smooth.plane(0.04), height=0.1)
    data = json.loads(motion.to_json())
    np.testing.assert_array_equal(data["ctrl"], motion.ctrl)
    np.testing.assert_array_equal(data["T_world_base"], motion.Ts_world_base)
    assert data["actuators"] == ["pinky", "ring", "middle", "index", "thumb_proximal", "thumb_yaw"]
    assert data["grasp"]["mode"] == "plane"
    rows = list(csv.DictReader(io.StringIO(motion.to_csv())))
    assert len(rows) == len(motion.times)
    np.testing.assert_array_equal([float(row["index"]) for row in rows], motion.ctrl[:, 3])
    np.testing.assert_array_equal([float(row["time"]) for row in rows], motion.times)
    assert float(rows[-1]["rot_x"]) == np.pi
    assert float(rows[-1]["rot_y"]) == -motion.tilt[-1]


def test_csv_base_coordinates_drive_mujoco_to_the_same_pose(smooth: GraspPlanner, hand: Hand) -> None:
    motion = plan_approach(smooth, smooth.line(0.05), height=0.1)
    model = floating_hand_spec(hand).compile()
    data = mujoco.MjData(model)
    for i, row in enumerate(csv.DictReader(io.StringIO(motion.to_csv()))):
        for name in ("base_x", "base_y", "base_z", "rot_x", "rot_y", "rot_z"):
            data.qpos[model.joint(name).qposadr[0]] = float(row[name])
        mujoco.mj_kinematics(model, data)
        T = motion.Ts_world_base[i]
        np.testing.assert_allclose(data.body("base").xpos, T[:3, 3], atol=1e-12)
        np.testing.assert_allclose(data.body("base").xmat.reshape(3, 3), T[:3, :3], atol=1e-12)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (ApproachOptions(dt=0.0), "dt must be positive"),
        (ApproachOptions(ctrl_speed=-1.0), "ctrl_speed"),
        (ApproachOptions(lift=np.nan), "lift"),
        (ApproachOptions(opening=-0.1), "opening"),
    ],
)
def test_bad_options_are_refused(smooth: GraspPlanner, options: ApproachOptions, text: str) -> None:
    with pytest.raises(InputError, match=text):
        plan_approach(smooth, smooth.line(0.03), options=options)


def test_grasps_of_other_hands_are_refused(smooth: GraspPlanner) -> None:
    other = GraspPlanner(load_hand("rh56"))
    with pytest.raises(InputError, match="another hand"):
        plan_approach(other, smooth.line(0.03))


def test_no_opening_and_no_lift_is_a_single_posture(smooth: GraspPlanner) -> None:
    motion = plan_approach(smooth, smooth.line(0.03), options=ApproachOptions(opening=0.0, lift=0.0))
    np.testing.assert_allclose(motion.ctrl, np.broadcast_to(smooth.line(0.03).ctrl, motion.ctrl.shape))
