"""Rows of things that overlap: how their depth changes, from the deepest contact as it is measured."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from jaxtyping import Float

from ..collision import CollisionModel


def contact_rows(
    model: CollisionModel, cfg: Float[np.ndarray, "dof"], pairs: Collection[tuple[str, str]]
) -> Float[np.ndarray, "m dof"]:
    """How the measured distances of overlapping pairs change with the joints; pairs that cannot be measured have none.

    Args:
        model: the robot and its obstacles.
        cfg: the configuration.
        pairs: two links, or a link and an obstacle.
    """
    rows: list[np.ndarray] = []
    for clash in model.near(cfg):
        if clash.pair not in pairs:
            continue
        row = -clash.normal @ _point_rates(model, cfg, clash.a, clash.point_a)
        if clash.b in model.robot.link_names:
            row = row + clash.normal @ _point_rates(model, cfg, clash.b, clash.point_b)
        rows.append(row)
    return np.array(rows).reshape(-1, model.robot.dof)


def _point_rates(
    model: CollisionModel, cfg: Float[np.ndarray, "dof"], link: str, point: Float[np.ndarray, "3"]
) -> Float[np.ndarray, "3 dof"]:
    """How a point of the world that a link carries moves with the joints."""
    robot = model.robot
    rates = np.asarray(robot.jacobian(cfg, link))
    arm = point - np.asarray(robot.link_poses(cfg))[robot.link_index(link), 4:]
    return rates[:3] + np.cross(rates[3:].T, arm).T
