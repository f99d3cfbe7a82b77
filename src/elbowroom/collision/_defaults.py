"""What a CollisionModel takes when nothing is given: the tight fit, and pairs computed with meshes; both cached."""

from __future__ import annotations

import json

import numpy as np

from .._cache import Arrays, cached
from .._parallel import Progress
from ..pairs import BUFFER, PairMatrix, PairOptions, compute_pairs, made_for, pairs_from_json, pairs_to_json
from ..robot import Robot
from ..spheres import SphereModel, fit_spheres

ALGORITHM = 1
"""Counted up when pairs are decided otherwise, so that older cached results are not used."""


def default_spheres(robot: Robot) -> SphereModel:
    """The tight fit."""
    return fit_spheres(robot)


def default_pairs(robot: Robot, spheres: SphereModel, buffer: float) -> PairMatrix:
    """Pairs computed with the default options, which a larger buffer of the model enlarges."""
    return cached_pairs(robot, spheres, PairOptions(buffer=max(BUFFER, buffer)))


def cached_pairs(
    robot: Robot, spheres: SphereModel, options: PairOptions, *, progress: Progress | None = None
) -> PairMatrix:
    """`compute_pairs`, kept in the user's cache for the same robot, spheres and options."""
    pose = robot.default_pose
    key = [
        ALGORITHM,
        robot.name,
        repr(made_for(robot, spheres, options.buffer)),
        sorted(robot.disabled_pairs.items()),
        [pose.cfg, pose.source, pose.guessed_joints],
        repr(options),
    ]

    def compute() -> dict[str, np.ndarray]:
        found = compute_pairs(robot, spheres, options, progress=progress)
        return {"json": np.array(json.dumps(pairs_to_json(found)))}

    def fits(arrays: Arrays) -> bool:
        return set(arrays) == {"json"} and arrays["json"].dtype.kind == "U" and arrays["json"].shape == ()

    stored = cached("pairs", key, compute, fits=fits)
    return pairs_from_json(json.loads(str(stored["json"])))
