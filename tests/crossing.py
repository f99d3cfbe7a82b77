"""Motions of two hands through each other, for tests and benchmarks of tracking, and judges of what robots make of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

import elbowroom as er

HANDS = {
    "teaarm": ("frame_left_arm_ee", "frame_right_arm_ee"),
    "baxter": ("left_gripper", "right_gripper"),
}
BAXTER_READY = {
    "left": {"s0": -0.08, "s1": -1.0, "e0": -1.19, "e1": 1.94, "w0": 0.67, "w1": 1.03, "w2": -0.5},
    "right": {"s0": 0.08, "s1": -1.0, "e0": 1.19, "e1": 1.94, "w0": -0.67, "w1": 1.03, "w2": 0.5},
}
"""Both hands in front of the body, fingers down: where baxter is when its arms are untucked."""

REACH = {"teaarm": 0.6, "baxter": 1.0}
"""How far each robot's hands can pass each other with their orientation kept."""


def ready_cfg(robot: er.Robot) -> np.ndarray:
    """A configuration with both hands in front of the body."""
    cfg = np.array(robot.default_cfg)
    if robot.name == "baxter":
        for side, joints in BAXTER_READY.items():
            for joint, value in joints.items():
                cfg[robot.joint_names.index(f"{side}_{joint}")] = value
    return cfg


@dataclass(frozen=True)
class Crossing:
    """Hands that swap places along the line between them, again and again, and sway across it; orientation kept.

    They meet on the way: followed exactly, the hands run through each other.
    """

    links: tuple[str, str]
    poses: np.ndarray
    """(2, 7) at rest."""
    reach: float = 1.0
    """Share of the line that each hand goes: one half is where they meet."""
    period: float = 6.0
    """Seconds for there and back."""
    sway: float = 0.04
    """Metres across the line; both hands sway together."""

    @classmethod
    def of(cls, robot: er.Robot, cfg: np.ndarray, period: float = 6.0) -> Crossing:
        links = HANDS[robot.name]
        poses = robot.link_poses(cfg[None])[0][[robot.link_index(link) for link in links]]
        return cls(links, poses, REACH[robot.name], period)

    def at(self, t: float) -> Mapping[str, np.ndarray]:
        """Target poses at a time, wxyz_xyz; at t = 0 and whole periods the hands are where they were at rest."""
        share = 0.5 * self.reach * (1.0 - np.cos(2.0 * np.pi * t / self.period))
        across = self.sway * np.sin(2.0 * np.pi * t / (1.7 * self.period)) * np.array([0.0, 0.0, 1.0])
        left, right = self.poses[:, 4:]
        places = (1.0 - share) * left + share * right, (1.0 - share) * right + share * left
        return {
            link: np.concatenate([pose[:4], place + across])
            for link, pose, place in zip(self.links, self.poses, places, strict=True)
        }
