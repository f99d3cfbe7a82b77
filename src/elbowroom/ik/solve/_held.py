"""Joints that are not solved for: the values they are held at, and what is said where these are beyond limits.

The joints solved for begin within limits. Those that are held stay where they are: a gripper that is measured a little
beyond its limits is not moved in secret, nor does it make every question unanswerable; the answer says so.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float, Int

from ..._text import number, short
from ...collision import CollisionModel
from ...errors import InputError
from ...robot import Robot
from ._setup import check_joints

ROUNDING = 1e-6
"""A joint beyond its limit by no more (rad, m) is at it: limits that went through 32 bits."""


def held_values(robot: Robot, held: Mapping[str, float]) -> dict[str, float]:
    """Finite values of joints, by name.

    Raises:
        UnknownJointError: no such joint. InputError: no joint with a value of its own, or no finite number.
    """
    found: dict[str, float] = {}
    for name in check_joints(robot, held, "held"):
        try:
            value = float(held[name])
        except (TypeError, ValueError):
            value = np.nan
        if not np.isfinite(value):
            raise InputError(f"held: joint {name!r}: expected a finite number, found {short(held[name])}")
        found[name] = value
    return found


def _beyond(robot: Robot, solved: Int[np.ndarray, "n"], base: Float[np.ndarray, "dof"]) -> tuple[str, ...]:
    """What to say of joints that are held beyond their limits."""
    out = (base < robot.lower) | (base > robot.upper)
    out[solved] = False
    return tuple(
        f"joint {robot.joint_names[k]!r} is held at {number(base[k])}, beyond its limits "
        f"{number(robot.lower[k])} to {number(robot.upper[k])}"
        for k in np.flatnonzero(out)
    )


def within(
    judge: CollisionModel | Robot, solved: Int[np.ndarray, "n"], base: Float[np.ndarray, "dof"]
) -> tuple[Float[np.ndarray, "dof"], tuple[str, ...]]:
    """The configuration with the joints solved for within limits, and what has to be said about it.

    Raises:
        InputError: a joint is held so far beyond its limits that the model gives no verdict.
    """
    robot = judge.robot if isinstance(judge, CollisionModel) else judge
    clipped = np.clip(base, robot.lower, robot.upper)
    moves = np.abs(clipped - base) <= ROUNDING
    moves[solved] = True
    moved = np.where(moves, clipped, base)
    names = [robot.joint_names[k] for k in np.flatnonzero(moved != base)]
    held = _beyond(robot, solved, moved)
    if held and isinstance(judge, CollisionModel):
        try:
            judge.free(moved)
        except InputError:
            raise InputError(f"seed_cfg or held: {'; '.join(held)}, too far for a verdict") from None
    return moved, (*held, f"seed_cfg: moved to the limits of {', '.join(names)}") if names else held
