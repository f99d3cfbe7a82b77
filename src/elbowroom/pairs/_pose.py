"""The pose that a matrix recommends: the robot's default pose, or a free one near it if that is a guess and collides.

The search goes in steps that each leave fewer pairs colliding: configurations are drawn in boxes that grow around the
last one, scaled by the joints' ranges, most with only one or two joints moved, and the best of the first box that
helps is taken. From a free one it goes back towards the start as far as it stays free, on the straight line and then
joint by joint, and ends a little short of that. Seeded, so the same robot gets the same pose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float, Int

from .._frozen import frozen
from ..robot import DefaultPose, Robot
from ..typing import LinkPair

RADII = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
"""Half-widths of the boxes as shares of the joints' ranges."""
DRAWS = 512
"""Configurations drawn in each box: half move one joint, a quarter two, a quarter all."""
HALVINGS = 12
"""Steps of each bisection: the result is within 1/4096 of the way of the nearest free point on the line."""
FARTHER = (0.25, 0.01)
"""How much farther a free pose is taken: shares of the way and, at least, of the joints' ranges."""
NAMED = 3
"""Colliding pairs that a note names."""

Clashes = Callable[[Float[np.ndarray, "n dof"]], Int[np.ndarray, "n"]]
"""Takes configurations (n, dof), returns how many pairs collide in each."""


def rest_pose(
    robot: Robot, clashes: Sequence[LinkPair], joints: set[str], tests: Sequence[Clashes], seed: int
) -> tuple[DefaultPose, list[str]]:
    """The robot's default pose, or the nearest free one found, and a note on what was wrong with it.

    Args:
        robot: the robot.
        clashes: pairs that collide at its default pose.
        joints: those between them, which should move; if that does not help, all that are guessed may.
        tests: what counts as a collision, strictest first; the next is used where one finds nothing free.
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
    for test in tests:
        for group in (joints & set(pose.guessed_joints), set(pose.guessed_joints)):
            index = np.array([k for k, name in enumerate(robot.joint_names) if name in group], dtype=np.int64)
            cfg = free_pose_near(robot, pose.cfg, index, test, seed)
            if cfg is not None:
                moved = ", ".join(
                    f"{name} by {cfg[k] - pose.cfg[k]:+.3g}"
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
    clashes: Clashes,
    seed: int,
) -> Float[np.ndarray, "dof"] | None:
    """A free configuration near `start` that differs from it in the given joints only; None when none was found.

    Args:
        robot: whose limits are kept.
        start: a configuration within them.
        joints: entries of the configuration that may move.
        clashes: how many pairs collide.
        seed: of the draws.
    """
    span = np.where(np.isfinite(robot.upper - robot.lower), robot.upper - robot.lower, 2.0 * np.pi)
    rng = np.random.default_rng(seed)
    best, left = start, int(clashes(start[None])[0])
    while left and len(joints):
        for radius in RADII:
            steps = radius * span[joints] * rng.uniform(-1.0, 1.0, (DRAWS, len(joints)))
            rank = rng.random(steps.shape).argsort(axis=1).argsort(axis=1)
            steps[: DRAWS // 2][rank[: DRAWS // 2] >= 1] = 0.0
            steps[DRAWS // 2 : 3 * DRAWS // 4][rank[DRAWS // 2 : 3 * DRAWS // 4] >= 2] = 0.0
            rows = np.repeat(best[None], DRAWS, axis=0)
            rows[:, joints] += steps
            rows = np.clip(rows, robot.lower, robot.upper)
            counts = clashes(rows)
            if counts.min() < left:
                far = np.linalg.norm((rows - start) / np.maximum(span, 1e-12), axis=1)
                pick = np.lexsort((far, counts))[0]
                best, left = rows[pick], int(counts[pick])
                break
        else:
            return None
    return None if left else _back_off(robot, start, _shrink(start, best, joints, clashes), span, clashes)


def _shrink(start: np.ndarray, free: np.ndarray, joints: np.ndarray, clashes: Clashes) -> np.ndarray:
    """Back towards the start, as far as it stays free."""
    best = _bisect(start, free, clashes)
    for joint in joints[np.argsort(np.abs(best - start)[joints])]:
        goal = best.copy()
        goal[joint] = start[joint]
        best = _bisect(goal, best, clashes)
    return best


def _back_off(
    robot: Robot, start: np.ndarray, free: np.ndarray, span: np.ndarray, clashes: Clashes
) -> np.ndarray:
    """A little farther in the same direction where that is free too: the nearest free pose all but touches."""
    way = free - start
    farther = free + np.sign(way) * np.maximum(FARTHER[0] * np.abs(way), FARTHER[1] * span)
    farther = np.clip(farther, robot.lower, robot.upper)
    return free if clashes(farther[None])[0] else farther


def _bisect(start: np.ndarray, free: np.ndarray, clashes: Clashes) -> np.ndarray:
    if not clashes(start[None])[0]:
        return start
    low, high = 0.0, 1.0  # shares of the way from start; high is free
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if clashes((start + middle * (free - start))[None])[0]:
            low = middle
        else:
            high = middle
    return start + high * (free - start)
