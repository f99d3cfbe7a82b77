"""What a CollisionModel takes when nothing is given: the tight fit, and pairs computed with meshes; both cached.

Every verb and the page take spheres and pairs from here too (`fit_spheres` and `cached_pairs` with the same default
options), so the pairs and the default pose of a robot are the same wherever they are asked for.

And what it refuses: pairs that were computed for something else.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence

import numpy as np

from .._cache import Arrays, cached
from .._parallel import Progress, check_workers
from .._text import counted
from ..errors import ApproximationWarning, InputError
from ..pairs import PairMatrix, PairOptions, compute_pairs
from ..pairs.doors import BUFFER, made_for, pairs_from_json, pairs_to_json
from ..robot import Robot
from ..spheres import SphereModel, fit_spheres

ALGORITHM = 2
"""Counted up when pairs are decided otherwise, so that older cached results are not used."""


def default_spheres(robot: Robot) -> SphereModel:
    """The tight fit."""
    return fit_spheres(robot)


def default_pairs(robot: Robot, spheres: SphereModel, buffer: float) -> PairMatrix:
    """Pairs computed with the default options, which a larger buffer of the model enlarges."""
    return cached_pairs(robot, spheres, PairOptions(buffer=max(BUFFER, buffer)))


def cached_pairs(
    robot: Robot,
    spheres: SphereModel,
    options: PairOptions,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> PairMatrix:
    """`compute_pairs`, kept in the user's cache for the same robot, spheres and options."""
    check_workers(workers)
    pose = robot.default_pose
    key = [
        ALGORITHM,
        robot.name,
        made_for(robot, spheres, options.buffer).text,
        sorted(robot.disabled_pairs.items()),
        [pose.cfg, pose.source, pose.guessed_joints],
        repr(options),
    ]

    def compute() -> dict[str, np.ndarray]:
        found = compute_pairs(robot, spheres, options, workers=workers, progress=progress)
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


def warn_of_contradictions(pairs: PairMatrix) -> None:
    """Warns of pairs that a file disables for a reason that is wrong: their collisions are not seen."""
    if pairs.contradicted:
        a, b = pairs.contradicted[0]
        notes = [note for note in pairs.notes if f"says that {a} and {b} " in note]
        more = len(pairs.contradicted) - 1
        text = notes[0] if notes else pairs.evidence(a, b).text
        warnings.warn(
            f"{pairs.robot_name}: {text}"
            + (f" (and {counted(more, 'more such pair')}: see pairs.notes)" if more else ""),
            ApproximationWarning,
            stacklevel=4,
        )
