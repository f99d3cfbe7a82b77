"""What a CollisionModel takes when nothing is given: the tight fit, and pairs computed with meshes; both cached.

Every verb and the page take spheres and pairs from here too (`fit_spheres` and `cached_pairs` with the same default
options), so the pairs and the default pose of a robot are the same wherever they are asked for.

And what it refuses: pairs that were computed for something else.

Spheres always cover, whatever was given: "spheres accept" holds only for spheres that are proved to contain the links.
A link that the given spheres are not proved to cover, padding included, gets one ball around its mesh instead. A wrong
sphere model then costs time, because meshes are asked more often, and never the truth.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .._cache import Arrays, cached
from .._parallel import Progress, check_workers
from .._text import counted
from ..distance.internal import enclosing_ball
from ..errors import ApproximationWarning, InputError
from ..pairs import PairMatrix, PairOptions, compute_pairs
from ..pairs.internal import BUFFER, made_for, pairs_from_json, pairs_to_json
from ..robot import Robot
from ..robot.internal import require_geometry
from ..spheres import SphereModel, fit_spheres
from ..spheres.internal import prove_mesh_coverage

COVER_ALGORITHM = 1
"""Counted up when coverage is proved otherwise, so that older cached results are not used."""
TINY = 1e-12
"""Metres; the radius of a sphere that covers nothing."""
ROUNDING = 1e-12
"""Share of a radius that errors of a few operations stay below."""


def covering(
    robot: Robot, spheres: SphereModel, *, cache: bool = False
) -> tuple[SphereModel, tuple[str, ...]]:
    """The spheres, with one ball for each link that they do not cover, and the names of those links.

    Args:
        robot: the robot.
        spheres: any model of it.
        cache: keep what is proved in the user's cache, for the same meshes and spheres.

    Raises:
        UnknownLinkError: the spheres are of another robot.
    """
    model = spheres.for_links(robot.link_names, robot.name)
    radii = np.maximum(
        model.padded_radii("self"), TINY
    )  # a padding that eats a sphere leaves it as good as absent
    padded = replace(model, radii=radii, self_padding={})
    uncovered = _cached_uncovered(robot, padded) if cache else _uncovered(robot, padded)
    if not uncovered:
        return model, ()
    balls = {name: model.link(name) for name in model.counts if name not in uncovered}
    balls |= {name: _ball_around(robot, name) for name in uncovered}
    padding = {name: extra for name, extra in model.self_padding.items() if name not in uncovered}
    fields = {"robot_name": robot.name, "self_padding": padding, "world_padding": model.world_padding}
    return SphereModel.from_links(robot.link_names, balls, **fields), uncovered


def _uncovered(robot: Robot, spheres: SphereModel) -> tuple[str, ...]:
    return tuple(name for name in robot.mesh_links if not _covered(robot, spheres, name))


def _cached_uncovered(robot: Robot, spheres: SphereModel) -> tuple[str, ...]:
    links = robot.mesh_links
    meshes = [
        (name, mesh.vertices, mesh.faces)
        for name in links
        if (mesh := robot.link_triangles(name)) is not None
    ]
    key = [COVER_ALGORITHM, meshes, spheres.centers, spheres.radii, [int(k) for k in spheres.link_idx]]

    def compute() -> dict[str, np.ndarray]:
        missing = _uncovered(robot, spheres)
        return {"uncovered": np.array([name in missing for name in links], dtype=np.bool_)}

    def fits(arrays: Arrays) -> bool:
        found = arrays.get("uncovered")
        return found is not None and found.dtype == np.bool_ and found.shape == (len(links),)

    marks = cached("coverage", key, compute, fits=fits)["uncovered"]
    return tuple(name for name, missing in zip(links, marks, strict=True) if missing)


def covering_in_world(robot: Robot, spheres: SphereModel) -> SphereModel:
    """Spheres that cover with their padding against the world too.

    Args:
        robot: the robot.
        spheres: proved to cover with their padding against the robot itself.
    """
    smaller = [
        name
        for name in spheres.counts
        if spheres.world_padding.get(name, 0.0) < spheres.self_padding.get(name, 0.0)
    ]
    if not smaller:  # larger spheres cover what smaller ones do
        return spheres
    as_self = replace(spheres, self_padding=spheres.world_padding)
    found, uncovered = covering(robot, as_self)
    padding = {name: extra for name, extra in spheres.world_padding.items() if name not in uncovered}
    return replace(found, world_padding=padding)


def one_ball_a_link(robot: Robot) -> SphereModel:
    """The quickest spheres that cover: one ball around the mesh of each link.

    Where meshes decide they give the answers of any other spheres, at a few more questions to the meshes; a fit pays
    off from tens of thousands of configurations on.

    Raises:
        InputError: the robot has no collision geometry.
    """
    require_geometry(robot)
    balls = {name: _ball_around(robot, name) for name in robot.mesh_links}
    return SphereModel.from_links(
        robot.link_names, balls, robot_name=robot.name, evidence={"method": "one ball a link"}
    )


def _covered(robot: Robot, spheres: SphereModel, link: str) -> bool:
    centers, radii = spheres.link(link, attached=False)
    points = _vertices(robot, link)
    for center, radius in zip(centers, radii, strict=True):
        if np.linalg.norm(points - center, axis=1).max() <= radius * (1.0 - ROUNDING):
            return True  # balls are convex: what holds the corners of a mesh holds the mesh
    return prove_mesh_coverage(
        robot.link_triangles(link), centers, radii, name=f"link {link!r}", measure=False
    ).proved


def _ball_around(robot: Robot, link: str) -> tuple[np.ndarray, np.ndarray]:
    """Centres (1, 3) and radii (1,) of a ball that holds the mesh of a link."""
    points = _vertices(robot, link)
    ball = enclosing_ball(np.column_stack([points, np.zeros(len(points))]))
    return ball[None, :3], ball[3:]


def _vertices(robot: Robot, link: str) -> np.ndarray:
    mesh = robot.link_triangles(link)
    assert mesh is not None  # only links with meshes are asked about
    return np.asarray(mesh.vertices)


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
    """Raises unless the pairs are of these links, and made for this robot and these spheres if they record it."""
    differs: list[str] = []
    if pairs.made_for is not None:
        differs += pairs.made_for.differs(made_for(robot, spheres, buffer))
    missing = sorted({*robot.mesh_links, *spheres.counts} - set(pairs.link_names))
    if missing and not differs:
        differs.append(f"they say nothing of {', '.join(missing[:5])}")
    if not differs:
        return
    remedy = "leave `pairs` out, or compute them with compute_pairs(robot, spheres, PairOptions(buffer=...))"
    if uncovered:
        remedy = (
            f"the given spheres do not cover {', '.join(uncovered[:5])}, so a ball stands in for each: leave "
            "`pairs` out, or compute them for CollisionModel(robot, spheres).spheres"
        )
    raise InputError(
        f"{robot.name}: the pairs were computed for something else: {'; '.join(differs)}. To repair it: {remedy}"
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
