"""What a CollisionModel takes when nothing is given: the tight fit, and pairs computed with meshes; both cached.

And what it refuses: pairs that were computed for something else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from .._cache import Arrays, cached
from .._parallel import Progress
from ..errors import InputError
from ..pairs import PairMatrix, PairOptions, compute_pairs
from ..pairs.doors import BUFFER, made_for, pairs_from_json, pairs_to_json
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


def refuse_foreign(
    robot: Robot, spheres: SphereModel, buffer: float, uncovered: Sequence[str], pairs: PairMatrix
) -> None:
    """Raises unless the pairs are of these links, and made for this robot and these spheres where they say so."""
    differs: list[str] = []
    if pairs.made_for is not None:
        differs += pairs.made_for.differs(made_for(robot, spheres, buffer))
    missing = sorted({*robot.mesh_links, *spheres.counts} - set(pairs.link_names))
    if missing and not differs:
        differs.append(f"they say nothing of {', '.join(missing[:5])}")
    if not differs:
        return
    anew = "leave `pairs` out, or compute them with compute_pairs(robot, spheres, PairOptions(buffer=...))"
    if uncovered:
        anew = (
            f"the given spheres do not cover {', '.join(uncovered[:5])}, so a ball stands in for each: leave "
            "`pairs` out, or compute them for CollisionModel(robot, spheres).spheres"
        )
    raise InputError(
        f"{robot.name}: the pairs were computed for something else: {'; '.join(differs)}. To mend it: {anew}"
    )
