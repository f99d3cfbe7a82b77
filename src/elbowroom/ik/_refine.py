"""Secondary aims: an answer moved in what its targets leave free, towards rest, away from singularity and from contact.

Each step goes along the gradient of the aims projected on the null space of the targets' Jacobian, is brought back on
the targets by the same search that found the answer, and counts only if it meets the targets, is free and better than
before.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from ._search import Found, Search
from ._targets import AxisTarget, JointTarget, LookAt, PositionTarget, Target

STEPS = 40
FIRST_STEP, LAST_STEP = 0.2, 1e-3
"""Largest joint change of a step, rad or m: the first, and where it ends."""
CLEAR = 0.1
"""Metres beyond which more clearance is worth nothing."""
DIFFERENCE = 1e-4
"""Joint change by which gradients are measured: far above rounding, far below what bends a clearance."""
KEPT = 1e-3
"""Metres of clearance that aims may not spend: a step that ends at bare contact is of no use to anybody."""
CORRECTION = 12
"""Iterations that bring a step back on the targets."""


def refined(search: Search, found: Found) -> Found:
    """The answer, or a better one of the same targets; never one that is not free."""
    idx = search.setup.joint_idx
    if not len(idx):
        return found
    whole = search.setup.whole
    values = whole.targets_row(search.targets)
    kept = _clearance_kept(search, found.cfg)
    cfg, best, step = found.cfg, float(_worth(search, found.cfg[None])[0]), FIRST_STEP
    for _ in range(STEPS):
        if step < LAST_STEP or time.perf_counter() > search.deadline:
            break
        J = whole.jacobians(values, cfg[None])[0][:, idx]
        gradient = _gradient(search, cfg)
        along = gradient - np.linalg.pinv(J, rcond=1e-6) @ (J @ gradient)
        largest = float(np.abs(along).max())
        if largest < 1e-12:
            break
        trial = np.array(cfg)
        trial[idx] += along * (step / largest)
        back = _back_on_target(search, trial)
        worth = -np.inf if back is None else float(_worth(search, back[None])[0])
        if back is None or worth <= best or not _clear(search, back, kept):
            step *= 0.5
            continue
        cfg, best, step = back, worth, min(1.5 * step, FIRST_STEP)
    return found if cfg is found.cfg else replace(found, cfg=cfg, refined=True)


def _clearance_kept(search: Search, cfg: Float[np.ndarray, "dof"]) -> float:
    """Metres that every step keeps: a millimetre beyond the buffer, or what the answer has."""
    model = search.model
    return 0.0 if model is None else min(model.buffer + KEPT, model.clearance(cfg))


def _clear(search: Search, cfg: Float[np.ndarray, "dof"], kept: float) -> bool:
    model = search.model
    return model is None or (bool(model.free(cfg)) and model.clearance(cfg) >= kept)


def _back_on_target(search: Search, trial: Float[np.ndarray, "dof"]) -> Float[np.ndarray, "dof"] | None:
    """The nearest configuration that meets the targets, within limits; None when the way there is lost."""
    options, out = search.options, np.array(trial)
    for tries in search.tries:
        lanes = tries.part.problem.solve(
            tries.values,
            trial[None],
            iterations=CORRECTION,
            position_tolerance=options.position_tolerance,
            orientation_tolerance=options.orientation_tolerance,
        )
        if not lanes.reached[0]:
            return None
        idx = tries.part.joint_idx
        out[idx] = lanes.cfgs[0, idx]
    return out


def _gradient(search: Search, cfg: Float[np.ndarray, "dof"]) -> Float[np.ndarray, "n"]:
    """Of the worth, by the joints solved for; central differences."""
    idx = search.setup.joint_idx
    rows = np.repeat(cfg[None], 2 * len(idx), axis=0)
    at = np.arange(len(idx))
    rows[at, idx] += DIFFERENCE
    rows[at + len(idx), idx] -= DIFFERENCE
    worth = _worth(search, rows)
    return (worth[: len(idx)] - worth[len(idx) :]) / (2.0 * DIFFERENCE)


def _worth(search: Search, cfgs: Float[np.ndarray, "n dof"]) -> Float[np.ndarray, "n"]:
    """What the secondary aims give for configurations; larger is better."""
    options, setup = search.options, search.setup
    out = np.zeros(len(cfgs))
    if options.rest_weight:
        off = (cfgs - search.base)[:, setup.joint_idx] * setup.weights
        out -= options.rest_weight * np.einsum("ij,ij->i", off, off)
    if options.manipulability_weight:
        out += options.manipulability_weight * _dexterity(search, search.targets, cfgs)
    if options.clearance_weight and search.model is not None:
        out += options.clearance_weight * np.minimum(search.model.clearance(cfgs), CLEAR) / CLEAR
    return out


def _dexterity(
    search: Search, targets: Sequence[Target], cfgs: Float[np.ndarray, "n dof"]
) -> Float[np.ndarray, "n"]:
    """Logarithm of the manipulability (Yoshikawa), summed over links: of the motions that a target speaks of."""
    out = np.zeros(len(cfgs))
    for target in targets:
        if isinstance(target, JointTarget):
            continue
        rates = search.setup.whole.robot.jacobian(cfgs, target.link)[:, :, search.setup.joint_idx]
        rates = rates[:, :, np.abs(rates).max(axis=(0, 1)) > 0.0]
        if isinstance(target, PositionTarget):
            rates = rates[:, :3]
        elif isinstance(target, (AxisTarget, LookAt)):
            rates = rates[:, 3:]
        if rates.shape[2]:
            out += np.log(np.maximum(np.linalg.svd(rates, compute_uv=False), 1e-9)).sum(axis=1)
    return out
