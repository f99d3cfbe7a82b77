"""Motions of two hands through each other, for tests and benchmarks of tracking, and judges of what robots make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

import elbowroom as er

from .oracles import CoalOracle, coal, coal_pose

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
    wander: tuple[float, ...] = ()
    """Of each hand: metres along x and z and along y, their frequencies in 1/s and phases; empty for none."""

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
        aside = [self._aside(hand, t) for hand in range(2)]
        return {
            link: np.concatenate([pose[:4], place + across + off])
            for link, pose, place, off in zip(self.links, self.poses, places, aside, strict=True)
        }

    @classmethod
    def varied(cls, robot: er.Robot, cfg: np.ndarray, seed: int) -> Crossing:
        """Another motion for every seed above 0: other periods and reach, and hands that wander on their own."""
        plain = cls.of(robot, cfg)
        if not seed:
            return plain
        rng = np.random.default_rng(seed)
        period, reach, size = rng.uniform(3.0, 7.0), rng.uniform(0.7, 1.2), rng.uniform(0.02, 0.1, 2)
        often, phase = rng.uniform(0.2, 0.6, (2, 2)), rng.uniform(0.0, 2.0 * np.pi, (2, 2))
        wander = [value for hand in range(2) for value in (*size, *often[hand], *phase[hand])]
        return replace(plain, period=period, reach=reach * plain.reach, wander=tuple(wander))

    def _aside(self, hand: int, t: float) -> np.ndarray:
        if not self.wander:
            return np.zeros(3)
        wide, deep, often_1, often_2, phase_1, phase_2 = self.wander[6 * hand : 6 * hand + 6]
        turn_1, turn_2 = 2.0 * np.pi * often_1 * t + phase_1, 2.0 * np.pi * often_2 * t + phase_2
        return min(1.0, t) * np.array([wide * np.sin(turn_1), deep * np.sin(turn_2), wide * np.cos(turn_1)])


@dataclass(frozen=True)
class Judged:
    """What Coal says of a motion."""

    clearance: float
    """The smallest distance of any pair anywhere, metres; zero or below where any touch."""
    pair: tuple[str, str]
    """Whose it is."""
    touching: np.ndarray
    """(n - 1,) which intervals between two configurations of the motion hold one at which links touch."""


def judge_motion(
    oracle: CoalOracle, pairs: Sequence[tuple[str, str]], cfgs: np.ndarray, step: float = 0.0005
) -> Judged:
    """Asks Coal for the links' distances all along a motion (n, dof), between its configurations too.

    The motion is cut so that no point moves farther than about `step` metres from one place to the next (measured at
    the corners of boxes around the shapes); places are left out only where the distance before, less the way of both
    shapes since, is above the smallest distance known.
    """
    path, tick = _cut(oracle, cfgs, step)
    Ts = oracle.shape_poses(path)
    way = np.concatenate([np.zeros((1, len(oracle.shapes))), np.cumsum(SPARE * _ways(oracle, Ts), axis=0)])
    centers = np.einsum("nsij,sj->nsi", Ts[..., :3, :3], oracle._centers) + Ts[..., :3, 3]
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    best, whose, touching = np.inf, ("", ""), np.zeros(len(cfgs) - 1, dtype=bool)
    for a, b in pairs:
        for i, j in oracle.shape_pairs([(a, b)]):
            measure = coal.ComputeDistance(oracle.shapes[i], oracle.shapes[j])
            apart = (
                np.linalg.norm(centers[:, i] - centers[:, j], axis=1) - oracle._radii[i] - oracle._radii[j]
            )
            both = way[:, i] + way[:, j]
            k = 0
            while k < len(path):
                gap = apart[k]
                if gap <= max(best, 0.0):
                    result.clear()
                    gap = measure(coal_pose(Ts[k, i]), coal_pose(Ts[k, j]), request, result)
                    if gap < best:
                        best, whose = gap, (a, b)
                    if gap <= 0.0:
                        touching[tick[k]] = True
                k = max(k + 1, int(np.searchsorted(both, both[k] + gap - max(best, 0.0))))
    return Judged(float(best), whose, touching)


SPARE = 1.05
"""Within a small interval points may go this much farther than the straight way."""


def _cut(oracle: CoalOracle, cfgs: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """The motion in small steps, and the interval of each place."""
    far = _ways(oracle, oracle.shape_poses(cfgs)).max(axis=1)
    counts = np.maximum(1, np.ceil(SPARE * far / step).astype(int))
    tick = np.repeat(np.arange(len(counts)), counts)
    share = np.concatenate([np.arange(n) / n for n in counts])[:, None]
    path = (1.0 - share) * cfgs[tick] + share * cfgs[tick + 1]
    return np.concatenate([path, cfgs[-1:]]), np.append(tick, len(counts) - 1)


def _ways(oracle: CoalOracle, Ts: np.ndarray) -> np.ndarray:
    """How far the corners of the shapes' boxes move from one configuration to the next, (n - 1, shapes)."""
    low = np.array([shape.aabb_local.min_ for shape in oracle.shapes])
    high = np.array([shape.aabb_local.max_ for shape in oracle.shapes])
    farthest = np.zeros((len(Ts) - 1, len(low)))
    for pick in np.ndindex(2, 2, 2):
        at = np.einsum("tsij,sj->tsi", Ts[..., :3, :3], np.where(pick, high, low)) + Ts[..., :3, 3]
        farthest = np.maximum(farthest, np.linalg.norm(np.diff(at, axis=0), axis=-1))
    return farthest


def through_each_other(
    robot: er.Robot, crossing: Crossing, cfg: np.ndarray, targets: Sequence[Mapping[str, np.ndarray]]
) -> np.ndarray:
    """What a robot does that follows the targets within its joint limits and knows of no collision, (n, dof).

    Damped least squares on Jacobians of the robot: nothing of the tracker.
    """
    frames = [robot.link_index(link) for link in crossing.links]
    moving = np.flatnonzero(sum(np.abs(robot.jacobian(cfg, link)).max(axis=0) for link in crossing.links))
    cfg, path = np.array(cfg), []
    for target in targets:
        wanted = np.array(list(target.values()))
        for _ in range(2):
            poses = robot.link_poses(cfg[None])[0][frames]
            error = np.concatenate([_off(now, want) for now, want in zip(poses, wanted, strict=True)])
            J = np.concatenate([robot.jacobian(cfg, link)[:, moving] for link in crossing.links])
            step = J.T @ np.linalg.solve(J @ J.T + 1e-4 * np.eye(len(J)), error)
            cfg[moving] = np.clip(cfg[moving] + step, robot.lower[moving], robot.upper[moving])
        path.append(cfg.copy())
    return np.array(path)


def _off(now: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Shift and turn (6,) from one pose to another, world axes."""
    turn = Rotation.from_quat(wanted[[1, 2, 3, 0]]) * Rotation.from_quat(now[[1, 2, 3, 0]]).inv()
    return np.concatenate([wanted[4:] - now[4:], turn.as_rotvec()])
