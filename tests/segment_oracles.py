"""The judge of motions among obstacles: Coal at steps so small that no point of the robot moves farther than `STEP`."""

from __future__ import annotations

import numpy as np

from elbowroom.world import HalfSpace

from .world_oracles import CoalWorld, _local_box

STEP = 0.001
"""Metres that any point of the robot moves at most between two configurations that Coal is asked about."""
COARSE = 256
"""Intervals by which speeds are measured."""
SPARE = 1.05
"""Between coarse configurations points may be this much faster than on average over the interval."""


def small_steps(judge: CoalWorld, begin: np.ndarray, end: np.ndarray, step: float = STEP) -> np.ndarray:
    """Configurations (n, dof) on a segment, evenly, such that no point of a shape moves farther than `step` in between.

    How far a rigid motion moves a point is largest at a corner of any box around the shape.
    """
    oracle = judge.oracle
    coarse = begin + np.linspace(0.0, 1.0, COARSE + 1)[:, None] * (end - begin)
    Ts = oracle.shape_poses(coarse)
    low = np.array([shape.aabb_local.min_ for shape in oracle.shapes])
    high = np.array([shape.aabb_local.max_ for shape in oracle.shapes])
    corners = np.array([np.where(pick, high, low) for pick in np.ndindex(2, 2, 2)])  # (8, shapes, 3)
    at = np.einsum("tsij,csj->tcsi", Ts[..., :3, :3], corners) + Ts[:, None, :, :3, 3]
    fastest = float(np.linalg.norm(np.diff(at, axis=0), axis=-1).max()) * COARSE
    count = int(np.ceil(SPARE * fastest / step)) + 1
    return begin + np.linspace(0.0, 1.0, count)[:, None] * (end - begin)


def refuted_by_world(judge: CoalWorld, path: np.ndarray, step: float = STEP) -> bool:
    """Whether Coal finds a link touching an obstacle at a step of a path made by `small_steps`.

    Skips only steps that distances rule out: a shape at distance d from an obstacle cannot touch it in the next d / step
    steps. What contains something at a step but at neither end has touched it before, so containment is asked there.
    """
    if not judge.free(path[[0, -1]]).all():
        return True
    oracle = judge.oracle
    Ts = oracle.shape_poses(path)
    centers = np.einsum("nsij,sj->nsi", Ts[..., :3, :3], oracle._centers) + Ts[..., :3, 3]
    for k, obstacle in enumerate(judge.obstacles):
        local = (centers - obstacle.pose[:3, 3]) @ obstacle.pose[:3, :3]
        if isinstance(obstacle, HalfSpace):
            far = local @ np.array(obstacle.normal) - obstacle.offset
        else:
            low, high = _local_box(obstacle)
            far = np.linalg.norm(np.maximum(np.maximum(low - local, local - high), 0.0), axis=-1)
        near = far <= oracle._radii  # (steps, shapes): bounding spheres against boxes
        for i in np.flatnonzero(near.any(axis=0) & judge._asked[:, k]):
            candidates = np.flatnonzero(near[:, i])
            at = 0
            while at < len(candidates):
                row = candidates[at]
                gap = judge._distance(Ts[row], i, k)
                if gap <= 0.0:
                    return True
                at = int(np.searchsorted(candidates, row + max(1, int(gap / step))))
    return False
