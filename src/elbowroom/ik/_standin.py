"""Stand-in for the seed table: plain numpy, slow; replaced by `_seeds`."""
# pyright: basic

from __future__ import annotations

import numpy as np


class SeedTable:
    """Free configurations and their residuals."""

    def __init__(self, model, problem, base, n, seed):
        robot = problem.robot
        rows = np.tile(base, (n, 1))
        idx = [robot.joint_names.index(j) for j in problem.joints]
        rows[:, idx] = np.random.default_rng(seed).uniform(robot.lower, robot.upper, (n, robot.dof))[:, idx]
        if model is not None:
            ok = model.free(rows)
            rows = rows[ok] if ok.sum() >= 16 else rows
        self.rows, self.problem = rows, problem

    def nearest(self, values, k, seed_cfg=None):
        """Rows whose residuals are smallest."""
        r = self.problem.residuals(values, self.rows)
        return self.rows[np.argpartition((r * r).sum(1), k)[:k]]
