"""A task that two arms disturb each other in: each picks from one bin in front of the robot, and knows only itself.

A scripted policy sends each hand of teaarm three times to a place in a bin that both share, and back. It moves in
straight lines in joint space, is timed by its own arm alone and has no notion of the other one, as policies that were
learned arm by arm. Every place can be reached, and left, without collision while the other arm is at home.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import mujoco
import numpy as np

import elbowroom as er
from elbowroom.bridges.mujoco import ActuatorGuard
from elbowroom.ik import GuardStep
from tests.bridges.arms import ArmEnv

HANDS = ("frame_left_arm_ee", "frame_right_arm_ee")
SIDES = ("left", "right")
BIN = np.array([[0.0, 0.36, 0.42], [0.2, 0.46, 0.58]])
"""Corners of the bin in the world, metres; the hands hang at x = -0.08 and 0.28 at home."""
DT, TICKS = 0.02, 1500
"""Seconds of a tick, and ticks after which an episode ends."""
PLACES, PICKS = 40, 3
"""Places known for each hand, and picks of each hand in an episode."""
SPEED, AHEAD = 0.8, 0.1
"""rad/s of the policy, and rad that its reference may be ahead of a joint."""
RAMP = 4.0
"""rad/s^2 with which the policy starts and stops."""
STOP = 0.002
"""rad from a goal at which the reference stops."""
REACHED = 0.02
"""Metres within which a hand counts as there."""
APART = 0.02
"""Metres between the links during the motion to a place, with the other arm at home."""


@dataclass(frozen=True)
class Bin:
    """Configurations at which a hand is at a place in the bin, checked one arm at a time."""

    model: er.CollisionModel
    home: np.ndarray
    joints: tuple[np.ndarray, np.ndarray]
    """Of each arm."""
    cfgs: tuple[np.ndarray, np.ndarray]
    """(PLACES, dof) for each hand; the other joints are at home."""

    @classmethod
    def of(cls, model: er.CollisionModel, seed: int = 0) -> Bin:
        robot, rng = model.robot, np.random.default_rng(seed)
        home = np.array(er.load_robot("teaarm").named_cfgs["arms_forward"])
        joints, found = list[np.ndarray](), list[np.ndarray]()
        for side, hand in zip(SIDES, HANDS, strict=True):
            own = np.flatnonzero([name.startswith(side) for name in robot.joint_names])
            others = [name for k, name in enumerate(robot.joint_names) if k not in own]
            solver = er.IkSolver(model, links=hand)
            turn = robot.link_poses(home[None])[0, robot.link_index(hand), :4]
            rows = list[np.ndarray]()
            while len(rows) < PLACES:
                answer = solver.solve({hand: [*turn, *rng.uniform(*BIN)]}, seed_cfg=home, locked=others)
                way = home + np.linspace(0.0, 1.0, 30)[:, None] * (answer.cfg - home)
                if answer.success and (model.clearance(way) > APART).all():
                    rows.append(np.array(answer.cfg))
            joints.append(own)
            found.append(np.array(rows))
        return cls(model, home, (joints[0], joints[1]), (found[0], found[1]))


class Policy:
    """Both arms, each by itself: to a place, home, to the next, as an arm alone would."""

    def __init__(self, bin_: Bin, seed: int, dt: float) -> None:
        self._bin, self._dt, rng = bin_, dt, np.random.default_rng(seed)
        self._robot = bin_.model.robot
        self._goals = [
            [goal for k in rng.integers(PLACES, size=PICKS) for goal in (cfgs[k], bin_.home)]
            for cfgs in bin_.cfgs
        ]
        self._wait = rng.uniform(0.0, 1.0, 2)
        self._reference, self._speed = bin_.home.copy(), np.zeros(2)

    @property
    def done(self) -> bool:
        """Both hands have been everywhere and are home again."""
        return not any(self._goals)

    def __call__(self, cfg: np.ndarray) -> np.ndarray:
        """The configuration to go to, from the one that is measured."""
        self._wait -= self._dt
        poses = self._robot.link_poses(np.array([cfg, *(goals[0] for goals in self._goals if goals)]))[
            ..., 4:
        ]
        self._reference = cfg + np.clip(self._reference - cfg, -AHEAD, AHEAD)
        row = 1
        for side, (own, goals) in enumerate(zip(self._bin.joints, self._goals, strict=True)):
            if not goals:
                continue
            hand = self._robot.link_index(HANDS[side])
            there = np.linalg.norm(poses[row, hand] - poses[0, hand]) < REACHED
            row += 1
            left = (goals[0] - self._reference)[own]
            far = np.abs(left).max()
            if there and far < STOP:
                goals.pop(0)
                self._speed[side] = 0.0
            elif self._wait[side] <= 0.0:
                self._speed[side] = min(SPEED, self._speed[side] + RAMP * self._dt, np.sqrt(2.0 * RAMP * far))
                self._reference[own] += left * min(1.0, self._speed[side] * self._dt / max(far, 1e-9))
        return self._reference.copy()


class Episode:
    """One run in MuJoCo, with a guard or without; `ticks` runs it."""

    def __init__(self, env: ArmEnv, bin_: Bin, guard: ActuatorGuard | None, seed: int) -> None:
        self.env, self.policy, self.guard = env, Policy(bin_, seed, DT), guard
        mujoco.mj_resetData(env.model, env.data)
        env.data.qpos[env.at], env.data.ctrl[env.act], env.contacts = bin_.home, bin_.home, 0
        mujoco.mj_forward(env.model, env.data)
        if guard is not None:
            guard.reset()
        self.seconds = list[float]()

    def ticks(self) -> Iterator[GuardStep | None]:
        """What the guard did in each tick, until the task is done or time is over; the simulation has moved on."""
        env = self.env
        for _ in range(TICKS):
            env.data.ctrl[env.act] = self.policy(env.cfg)
            began, step = time.thread_time(), None
            if self.guard is not None:
                step = self.guard.apply(env.data)
            self.seconds.append(time.thread_time() - began)
            for _ in range(round(DT / env.model.opt.timestep)):
                mujoco.mj_step(env.model, env.data)
                env.contacts += env.data.ncon > 0
            yield step
            if self.policy.done:
                return


def guard_of(env: ArmEnv, model: er.CollisionModel) -> ActuatorGuard:
    """The guard of all of these runs."""
    return ActuatorGuard(env.model, model, dt=DT, clearance=0.01, acceleration_limits=10.0)


def two_arms(model: er.CollisionModel, env: ArmEnv, episodes: int, seed: int) -> str:
    """A table over episodes: the same policy and places without and with the guard."""
    bin_ = Bin.of(model)
    guard = guard_of(env, model)
    lines = [
        "| | done | done without contact | episodes with contact | steps with contact | altered | guard |"
    ]
    for name, used in (("as it is", None), ("behind the guard", guard)):
        done = clean = touched = contacts = altered = near = unproved = 0
        seconds = list[float]()
        for k in range(episodes):
            episode = Episode(env, bin_, used, seed + k)
            for step in episode.ticks():
                if step is not None:
                    altered += step.altered
                    near += held_by_distance(step)
                    unproved += not step.proved
            done += episode.policy.done
            clean += episode.policy.done and env.contacts == 0
            touched += env.contacts > 0
            contacts += env.contacts
            seconds += episode.seconds
        half, most = 1e3 * np.percentile(seconds, [50, 99])
        said = f"{100 * altered / len(seconds):.0f} %, {100 * near / len(seconds):.0f} % for distance"
        lines.append(
            f"| {name} | {done} | {clean} | {touched} | {contacts} | {said}, {unproved} not proved | "
            f"{half:.2f} / {most:.2f} ms |"
        )
    return "\n".join(lines)


def held_by_distance(step: GuardStep) -> bool:
    """Whether a step was altered because two things are close, and not for a limit of a joint alone."""
    return step.altered and any(" and " in word for word in step.limited_by)
