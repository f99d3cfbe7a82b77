"""What a CollisionModel takes when nothing is given: the tight fit, and pairs computed with meshes; both cached."""

from __future__ import annotations

import json

import numpy as np

from .._cache import Arrays, cached
from .._version import __version__
from ..pairs import PairMatrix, PairOptions, compute_pairs, made_for
from ..robot import Robot
from ..spheres import SphereModel, fit_spheres


def default_spheres(robot: Robot) -> SphereModel:
    """The tight fit."""
    return fit_spheres(robot)


def default_pairs(robot: Robot, spheres: SphereModel, buffer: float) -> PairMatrix:
    """Pairs computed with the default options, which a larger buffer of the model enlarges."""
    options = PairOptions(buffer=max(PairOptions().buffer, buffer))
    key = [__version__, made_for(robot, spheres, buffer).key, repr(options)]

    def compute() -> dict[str, np.ndarray]:
        return {"json": np.array(json.dumps(compute_pairs(robot, spheres, options).to_json()))}

    def fits(arrays: Arrays) -> bool:
        return set(arrays) == {"json"} and arrays["json"].dtype.kind == "U" and arrays["json"].shape == ()

    stored = cached("pairs", key, compute, fits=fits)
    return PairMatrix.from_json(json.loads(str(stored["json"])))
