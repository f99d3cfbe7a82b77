"""Models for the tests of inverse kinematics, made once per test process with quickly fitted spheres."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
from scipy.spatial.transform import Rotation

import elbowroom as er
from elbowroom.errors import ApproximationWarning
from elbowroom.world import Box, World

HAND = "panda_hand_tcp"
LEFT, RIGHT = "frame_left_arm_ee", "frame_right_arm_ee"
LINKS = {"panda": (HAND,), "teaarm": (LEFT, RIGHT), "baxter": ("left_gripper", "right_gripper")}


@cache
def model_of(name: str) -> er.CollisionModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        robot = er.load_robot(name)
    return er.CollisionModel(robot, er.fit_spheres(robot, er.FitOptions(method="centerline")))


@cache
def solver_of(name: str) -> er.IkSolver:
    return er.IkSolver(model_of(name))


def rest_pose(name: str, link: str) -> np.ndarray:
    """Pose of a link in the default pose."""
    model = model_of(name)
    return np.array(model.robot.link_poses(model.default_cfg)[model.robot.link_index(link)])


def block_at(place: np.ndarray, size: float = 0.2) -> World:
    """A cube."""
    return World([Box((size, size, size), pose=[1, 0, 0, 0, *place], name="block")])


def rotation(wxyz: np.ndarray) -> Rotation:
    """scipy's rotation of a quaternion with the scalar first."""
    return Rotation.from_quat(np.roll(wxyz, -1, axis=-1))
