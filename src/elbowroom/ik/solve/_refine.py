"""Secondary aims: an answer moved in what its targets leave free, towards rest, away from singularity and from contact.

Each step goes along the gradient of the aims projected on the null space of the targets' Jacobian, is brought back on
the targets by the same search that found the answer, and counts only if it meets the targets, is free and better than
before.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from .._targets import AxisTarget, JointTarget, LookAt, PositionTarget

if TYPE_CHECKING:
    from ._solver import IkSolver, Question

STEPS = 40
FIRST_STEP, LAST_STEP = 0.2, 1e-3
"""Largest joint change of a step, rad or m: the first, and where it ends."""
CLEAR = 0.1
"""Metres beyond which more clearance is worth nothing."""
DIFFERENCE = 1e-4
"""Joint change by which gradients are measured: far above rounding, far below what bends a clearance."""
KEPT = 1e-3
"""Metres of clearance that aims may not spend: a step that ends at bare contact is useless."""


def refined(
    solver: IkSolver, question: Question, answer: Float[np.ndarray, "dof"], deadline: float
) -> Float[np.ndarray, "dof"] | None:
    """A better answer to the same question, never one that is not free; None where none was found.

    Args:
        solver: whose aims count.
        question: what was asked.
        answer: (dof,) a success.
        deadline: of `time.perf_counter`.
    """
    aims = _Aims(solver, question)
    idx, whole = question.setup.joint_idx, question.setup.whole
    if not len(idx):
        return None
    values, settings = np.array(question.values), solver.settings()
    kept = aims.clearance_kept(answer)
    cfg, best, step = answer, float(aims.worth(answer[None])[0]), FIRST_STEP
    for _ in range(STEPS):
        if step < LAST_STEP or time.perf_counter() > deadline:
            break
        J = whole.jacobians(values, cfg[None])[0][:, idx]
        gradient = aims.gradient(cfg)
        along = gradient - np.linalg.pinv(J, rcond=1e-6) @ (J @ gradient)
        largest = float(np.abs(along).max())
        if largest < 1e-12:
            break
        trial = np.array(cfg)
        trial[idx] += along * (step / largest)
        back = question.setup.core.descend(
            question.values, trial, settings
        )  # moves the trial onto the targets
        worth = float(aims.worth(trial[None])[0]) if back else -np.inf
        if worth <= best or not aims.clear(trial, kept):
            step *= 0.5
            continue
        cfg, best, step = trial, worth, min(1.5 * step, FIRST_STEP)
    return None if cfg is answer else cfg


class _Aims:
    """What the options of a solver ask for beside the targets of a question."""

    def __init__(self, solver: IkSolver, question: Question) -> None:
        self.model, self.options, self.question = solver.model, solver.options, question
        self.idx, self.weights = question.setup.joint_idx, question.setup.weights

    def clearance_kept(self, cfg: Float[np.ndarray, "dof"]) -> float:
        """Metres that every step keeps: a millimetre beyond the buffer, or what the answer has."""
        return 0.0 if self.model is None else min(self.model.buffer + KEPT, self.model.clearance(cfg))

    def clear(self, cfg: Float[np.ndarray, "dof"], kept: float) -> bool:
        """Whether a step is free and keeps so many metres."""
        return self.model is None or (bool(self.model.free(cfg)) and self.model.clearance(cfg) >= kept)

    def gradient(self, cfg: Float[np.ndarray, "dof"]) -> Float[np.ndarray, "n"]:
        """Of the worth, by the joints solved for; central differences."""
        n = len(self.idx)
        rows = np.repeat(cfg[None], 2 * n, axis=0)
        rows[np.arange(n), self.idx] += DIFFERENCE
        rows[np.arange(n) + n, self.idx] -= DIFFERENCE
        worth = self.worth(rows)
        return (worth[:n] - worth[n:]) / (2.0 * DIFFERENCE)

    def worth(self, cfgs: Float[np.ndarray, "n dof"]) -> Float[np.ndarray, "n"]:
        """What the secondary aims give for configurations; larger is better."""
        options, out = self.options, np.zeros(len(cfgs))
        if options.rest_weight:
            off = (cfgs - self.question.base)[:, self.idx] * self.weights
            out -= options.rest_weight * np.einsum("ij,ij->i", off, off)
        if options.manipulability_weight:
            out += options.manipulability_weight * self._dexterity(cfgs)
        if options.clearance_weight and self.model is not None:
            out += options.clearance_weight * np.minimum(self.model.clearance(cfgs), CLEAR) / CLEAR
        return out

    def _dexterity(self, cfgs: Float[np.ndarray, "n dof"]) -> Float[np.ndarray, "n"]:
        """Logarithm of the manipulability (Yoshikawa), summed over links: of the motions that a target speaks of."""
        out = np.zeros(len(cfgs))
        for target in self.question.targets:
            if isinstance(target, JointTarget):
                continue
            rates = self.question.setup.whole.robot.jacobian(cfgs, target.link)[:, :, self.idx]
            rates = rates[:, :, np.abs(rates).max(axis=(0, 1)) > 0.0]
            if isinstance(target, PositionTarget):
                rates = rates[:, :3]
            elif isinstance(target, (AxisTarget, LookAt)):
                rates = rates[:, 3:]
            if rates.shape[2]:
                out += np.log(np.maximum(np.linalg.svd(rates, compute_uv=False), 1e-9)).sum(axis=1)
        return out
