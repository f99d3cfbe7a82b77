"""The pose that a matrix recommends: the robot's default pose, or a free one near it if that is a guess and collides.

The search draws configurations in boxes that grow around the start, scaled by the joints' ranges, and takes the nearest
that is free; then it goes back towards the start as far as it stays free, first on the straight line and then joint by
joint. Seeded, so the same robot gets the same pose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

from .._frozen import frozen
from ..robot import DefaultPose, Robot
from ..typing import LinkPair

RADII = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
"""Half-widths of the boxes as shares of the joints' ranges."""
DRAWS = 512
"""Configurations drawn in each box."""
HALVINGS = 12
"""Steps of each bisection: the result is within 1/4096 of the way of the nearest free point on the line."""

NAMED = 3
"""Colliding pairs that a note names."""

IsFree = Callable[[Float[np.ndarray, "n dof"]], Bool[np.ndarray, "n"]]


def rest_pose(
    robot: Robot, clashes: Sequence[LinkPair], joints: set[str], tests: Sequence[IsFree], seed: int
) -> tuple[DefaultPose, list[str]]:
    """The robot's default pose, or the nearest free one found, and a note on what was wrong with it.

    Args:
        robot: the robot.
        clashes: pairs that collide at its default pose.
        joints: those between them, which should move; if that does not help, all that are guessed may.
        tests: when a configuration counts as free, strictest first; the next is used where one finds nothing.
        seed: of the search.
    """
    pose = robot.default_pose
    if not clashes:
        return pose, []
    more = f" and {len(clashes) - NAMED} more pairs" if len(clashes) > NAMED else ""
    names = ", ".join(f"{a} and {b}" for a, b in clashes[:NAMED])
    clash = f"the default pose ({pose}) makes {names}{more} collide"
    if not pose.guessed:
        return pose, [f"{clash}; it was given and stays"]
    for is_free in tests:
        for group in (joints & set(pose.guessed_joints), set(pose.guessed_joints)):
            index = np.array([k for k, name in enumerate(robot.joint_names) if name in group], dtype=np.int64)
            cfg = free_pose_near(robot, pose.cfg, index, is_free, seed)
            if cfg is not None:
                moved = ", ".join(
                    f"{name} by {cfg[k] - pose.cfg[k]:+.3f}"
                    for k, name in enumerate(robot.joint_names)
                    if cfg[k] != pose.cfg[k]
                )
                source = f"{pose}, moved to the nearest free pose found ({moved})"
                return DefaultPose(frozen(cfg), source, pose.guessed_joints), [f"{clash}; moved {moved}"]
    return pose, [f"{clash}; no free pose was found near it"]


def free_pose_near(
    robot: Robot,
    start: Float[np.ndarray, "dof"],
    joints: Int[np.ndarray, "moved"],
    is_free: IsFree,
    seed: int,
) -> Float[np.ndarray, "dof"] | None:
    """A free configuration near `start` that differs from it in the given joints only; None when none was found.

    Args:
        robot: whose limits are kept.
        start: a configuration within them.
        joints: entries of the configuration that may move.
        is_free: whether configurations (n, dof) are free.
        seed: of the draws.
    """
    span = np.where(np.isfinite(robot.upper - robot.lower), robot.upper - robot.lower, 2.0 * np.pi)[joints]
    rng = np.random.default_rng(seed)
    for radius in RADII:
        rows = np.repeat(start[None], DRAWS, axis=0)
        rows[:, joints] += radius * span * rng.uniform(-1.0, 1.0, (DRAWS, len(joints)))
        rows = np.clip(rows, robot.lower, robot.upper)
        free = np.flatnonzero(is_free(rows))
        if len(free):
            far = np.linalg.norm((rows[free] - start)[:, joints] / np.maximum(span, 1e-12), axis=1)
            return _shrink(start, rows[free[int(far.argmin())]], joints, is_free)
    return None


def _shrink(start: np.ndarray, found: np.ndarray, joints: np.ndarray, is_free: IsFree) -> np.ndarray:
    """Back towards the start, as far as it stays free."""
    best = _bisect(start, found, is_free)
    for joint in joints[np.argsort(np.abs(best - start)[joints])]:
        goal = best.copy()
        goal[joint] = start[joint]
        best = goal if bool(is_free(goal[None])[0]) else _bisect(goal, best, is_free)
    return best


def _bisect(start: np.ndarray, free: np.ndarray, is_free: IsFree) -> np.ndarray:
    low, high = 0.0, 1.0  # shares of the way from start; high is free
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if bool(is_free((start + middle * (free - start))[None])[0]):
            high = middle
        else:
            low = middle
    return start + high * (free - start)
