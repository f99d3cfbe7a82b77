"""The proof of a step: of motions near contact it claims nothing that dense sampling by exact meshes refutes."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom._numba.collision._kernels_swept import joint_curves, relative_motion
from elbowroom._numba.collision.kernels import joint_rates
from elbowroom._numba.mesh import MOTION
from elbowroom._numba.robot import chain_poses
from elbowroom.ik._proof import StepProof
from elbowroom.ik.doors import CollisionRows
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
                if at.clearance < CLOSE and (at.closest >= 0).any():
                    found.append(middle)
                    break
    return found[:count]


@pytest.mark.parametrize("name", ["panda", "teaarm"])
@pytest.mark.parametrize("buffer", [0.0, 0.002])
def test_what_is_proved_near_contact_is_free_by_dense_sampling(name: str, buffer: float):
    """Rays of many lengths in random directions and along contact, where proofs are by meshes that slide."""
    model, rng = model_of(name), np.random.default_rng(7)
    rows = CollisionRows(model, buffer)
    proof = StepProof(rows)
    starts = near_contact(model, rows, rng, 24)
    proved, refuted, slid = 0, 0, 0
    oracle = ShapeCoal(model.robot)
    for cfg in starts:
        at = rows.at(cfg, 0.05)
        near = [model.parts.own.pairs[k] for k in np.flatnonzero(at.low < 0.03)]
        for length in (0.003, 0.02, 0.1, 0.3):
            ray = rng.normal(size=model.robot.dof)
            if rng.random() < 0.7 and len(at.A):  # along what is closest
                row = at.A[at.distance.argmin()]
                ray -= row * (ray @ row) / max(float(row @ row), 1e-12)
            end = cfg + ray * (length / np.abs(ray).max())
            if proof.blocked(cfg, end, at) is not None:
                continue
            proved += 1
            path = cfg + SAMPLES[:, None] * (end - cfg)
            distance = oracle.distances(path, near).min()
            slid += distance < buffer + 0.5 * length
            refuted += distance < buffer - 1e-7
    assert refuted == 0
    assert proved > 30
    assert slid > 15


@pytest.mark.parametrize("seed", range(20))
def test_paths_bend_no_farther_than_is_said(seed: int):
    """Chains of turning, sliding and coupled joints: every point of the far link, seen from the near one."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 7))
    n_a = int(rng.integers(0, m + 1))
    kind = rng.integers(1, 3, m)
    local = np.zeros((m, 3, 4))
    local[:, :, :3] = np.linalg.qr(rng.normal(size=(m, 3, 3)))[0]
    local[:, 0, :3] *= np.linalg.det(local[:, :, :3])[:, None]
    local[:, :, 3] = rng.normal(size=(m, 3)) * 0.3
    driver, poly = rng.integers(0, 4, m), rng.normal(size=(m, 4)) * [0.5, 1.0, 0.5, 0.2]
    begin = rng.normal(size=4)
    end = begin + rng.normal(size=4) * 0.5
    rate, curve, speed, motion = np.empty(m), np.empty(m), np.empty(m), np.empty(MOTION)
    joint_rates(begin, end, driver, poly, rate)
    joint_curves(begin, end, driver, poly, curve)
    order = np.array([n_a - 1 - k if k < n_a else k for k in range(m)])

    def relative(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pose (4, 4) of b seen from a at fraction t; also poses of the joints, and of a as a row."""
        pose, ends = np.empty((m, 3, 4)), np.empty((2, 3, 4))
        chain_poses(begin + t * (end - begin), n_a, kind, local, poly, driver, pose, ends[0], ends[1])
        T = np.zeros((2, 4, 4))
        T[:, :3], T[:, 3, 3] = ends, 1.0
        return np.linalg.inv(T[0]) @ T[1], pose, np.concatenate([ends[0, :, :3].ravel(), ends[0, :, 3]])

    t, half = 0.5, float(rng.choice([0.5, 0.1]))
    T, pose, row = relative(t)
    x = begin + t * (end - begin)
    for k in range(m):
        slope = np.polyval(np.polyder(poly[k, ::-1]), x[driver[k]])
        speed[k] = slope * (end - begin)[driver[k]]
    c = rng.normal(size=3) * 0.3
    relative_motion(row, c, n_a, half, kind, pose, speed, rate, curve, order, motion)
    points = rng.normal(size=(50, 3)) * 0.3  # of b
    middle = points @ T[:3, :3].T + T[:3, 3]
    velocity = motion[3:6] + np.cross(motion[6:9], middle - c)
    bends = motion[9] + motion[10] * np.linalg.norm(middle - c, axis=1)
    farthest = 0.0
    for s in np.linspace(-half, half, 41):
        Ts = relative(t + s)[0]
        off = np.linalg.norm(points @ Ts[:3, :3].T + Ts[:3, 3] - middle - s * velocity, axis=1)
        assert (off <= bends + 1e-12).all()
        farthest = max(farthest, float((off / np.maximum(bends, 1e-9)).max()))
    assert farthest > 1e-3 or not bends.max() > 1e-9  # the bound is of the paths' size, not a wild one
