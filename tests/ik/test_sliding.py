"""The proof of a step: of motions near contact it claims nothing that dense sampling by exact meshes refutes."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.ik.internal import CollisionRows
from tests.ik.models import model_of
from tests.ik.motions import box
from tests.oracles import ShapeCoal

SAMPLES = np.linspace(0.0, 1.0, 21)
CLOSE = 0.004
"""Metres of clearance below which a start is near contact."""


def near_contact(
    model: er.CollisionModel, rows: CollisionRows, rng: np.random.Generator, count: int
) -> list[np.ndarray]:
    """Free configurations within CLOSE of contact: on lines from free ones to colliding ones, by bisection."""
    low, high = box(model.robot)
    found: list[np.ndarray] = []
    while len(found) < count:
        cfgs = rng.uniform(low, high, (64, model.robot.dof))
        free = model.free(cfgs)
        for begin, end in zip(cfgs[free], cfgs[~free], strict=False):
            a, b = begin, end
            for _ in range(24):
                middle = 0.5 * (a + b)
                at = rows.at(middle, 0.02)
                if at.in_contact:
                    b = middle
                    continue
                a = middle
                if at.low.min() < CLOSE and (at.of[:, 3] == 0).any():  # measured by meshes
                    found.append(middle)
                    break
    return found[:count]


@pytest.mark.parametrize("name", ["panda", "teaarm"])
@pytest.mark.parametrize("buffer", [0.0, 0.002])
def test_what_is_proved_near_contact_is_free_by_dense_sampling(name: str, buffer: float):
    """Rays of many lengths in random directions and along contact, where proofs are by meshes that slide."""
    model, rng = model_of(name), np.random.default_rng(7)
    rows = CollisionRows(model, buffer)
    guard = er.Guard(model, velocity_limits=1e4, clearance=buffer, budget=10.0)
    starts = near_contact(model, rows, rng, 24)
    proved, refuted, slid = 0, 0, 0
    oracle = ShapeCoal(model.robot)
    for cfg in starts:
        at = rows.at(cfg, 0.05)
        near = [rows.safe.pairs[k] for k in np.flatnonzero(at.low < 0.03)]
        for length in (0.003, 0.02, 0.1, 0.3):
            ray = rng.normal(size=model.robot.dof)
            if rng.random() < 0.7 and len(at.A):  # along what is closest
                row = at.A[at.distance.argmin()]
                ray -= row * (ray @ row) / max(float(row @ row), 1e-12)
            end = cfg + ray * (length / np.abs(ray).max())
            step = guard.step(cfg, end, 1.0)
            if step.altered:
                continue
            assert step.proved
            proved += 1
            path = cfg + SAMPLES[:, None] * (end - cfg)
            distance = oracle.distances(path, near).min()
            slid += distance < buffer + 0.5 * length
            refuted += distance < buffer - 1e-7
    assert refuted == 0
    assert proved > 30
    assert slid > 15
