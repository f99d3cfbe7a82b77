"""Configurations by name: those of the description, "default" and "zero"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from ..errors import UnknownNameError, unknown
from ._robot import Robot


def named_poses(robot: Robot, poses: Sequence[Any]) -> list[tuple[str, Float[np.ndarray, "dof"]]]:
    """Configurations with labels, from names and from configurations as they are.

    Args:
        robot: the robot.
        poses: names of `robot.named_cfgs`, "default" (the robot's `default_cfg`) and "zero", which always exist, or
            configurations, which are labelled "given 1", "given 2", ...

    Raises:
        UnknownNameError: no configuration of that name. InputError: not a configuration.
    """
    known = {"zero": np.zeros(robot.dof), "default": robot.default_cfg, **robot.named_cfgs}
    found: list[tuple[str, np.ndarray]] = []
    for pose in poses:
        if not isinstance(pose, str):
            count = 1 + sum(label.startswith("given ") for label, _ in found)
            found.append((f"given {count}", robot.as_cfgs(pose)[0]))
        elif pose in known:
            found.append((pose, np.array(known[pose], dtype=np.float64)))
        else:
            raise UnknownNameError(unknown("named configuration", pose, known))
    return found
