"""Free configurations from which searches start."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from ..._frozen import frozen
from ...collision import CollisionModel
from ...robot import Robot

DRAWS = 6
"""Configurations drawn at most for each one wanted: a robot that is hardly ever free gets a table all the same."""
BOUNDLESS = np.pi
"""rad or m on either side of the default pose from which joints without finite limits are drawn."""


def free_configurations(
    model: CollisionModel | Robot,
    joints: Sequence[str],
    held: Float[np.ndarray, "dof"],
    n: int,
    seed: int = 0,
) -> Float[np.ndarray, "n dof"]:
    """Configurations with `joints` anywhere within their limits and the others held, free ones first.

    Args:
        model: who says what is free; a robot alone takes all.
        joints: names of those drawn.
        held: (dof,) values of the others.
        n: how many. Where not so many free ones are found, others fill the rest: a search may start from them as well.
        seed: of the draw.
    """
    robot = model if isinstance(model, Robot) else model.robot
    columns = [robot.joint_names.index(name) for name in joints]
    center = robot.default_cfg[columns]
    low, high = robot.lower[columns], robot.upper[columns]
    low = np.where(np.isfinite(low), low, np.minimum(center, high) - BOUNDLESS)
    high = np.where(np.isfinite(high), high, np.maximum(center, low) + BOUNDLESS)
    rng = np.random.default_rng(seed)
    kept: list[np.ndarray] = []
    refused: list[np.ndarray] = []
    count = 0
    for _ in range(DRAWS):
        cfgs = np.tile(held, (n, 1))
        cfgs[:, columns] = rng.uniform(low, high, (n, len(columns)))
        free = np.ones(n, dtype=bool) if isinstance(model, Robot) else model.free(cfgs)
        kept.append(cfgs[free])
        refused.append(cfgs[~free])
        count += len(kept[-1])
        if count >= n or not columns:
            break
    return frozen(np.concatenate([*kept, *refused])[:n])
