"""`fit_spheres`: from a robot's collision meshes to a sphere model that is proved to cover them.

This module reads the robot, looks into the cache and assembles the model; the methods are in `_centerline` and
`_pipeline`. What they return has passed the exact coverage check.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from .._cache import Arrays, cached
from .._parallel import Progress
from .._version import __version__
from ..errors import InputError, UnknownLinkError, unknown
from ..robot import Robot, as_robot
from ..robot.internal import require_geometry
from ..typing import RobotLike
from ._centerline import fit_centerline
from ._meetings import Meetings
from ._mirror import zero_frames
from ._model import SphereModel
from ._options import FitOptions
from ._pipeline import fit_tight, shared_shapes
from ._quality import Loose, loose_note, loose_ratio
from ._rest import part_at_rest, rest_poses
from ._shape import Float64, LinkShape

ALGORITHM = 4
"""Counted up when a fit changes, so that older cached results are not used."""


def fit_spheres(
    robot: RobotLike, options: FitOptions | None = None, *, progress: Progress | None = None
) -> SphereModel:
    """Covers every link that has collision geometry with spheres.

    Args:
        robot: a Robot. options: method, budget, margin and so on; the default is a tight fit.
        progress: called with (done, total) as links are done.

    Returns:
        A model whose spheres are proved to contain the collision meshes (see `prove_coverage`).

    Raises:
        UnknownLinkError: an option names a link that does not exist. InputError: the budget is too small,
            or the robot has no collision geometry.
    """
    robot = as_robot(robot)
    options = options or FitOptions()
    began = time.perf_counter()
    every = ((name, robot.link_triangles(name)) for name in robot.link_names)
    meshes = {name: mesh for name, mesh in every if mesh is not None}
    if not meshes:
        require_geometry(robot)
    _check_names(robot, meshes, options)

    def compute() -> dict[str, np.ndarray]:
        shapes = {name: LinkShape.from_mesh(mesh, f"link {name!r}") for name, mesh in meshes.items()}
        loose, enough = np.zeros(len(shapes)), dict[str, int]()
        if options.method == "centerline":
            result = _fit_centerlines(robot, shapes, options, progress)
        else:
            matches = shared_shapes(shapes, options, zero_frames(robot, shapes))
            meetings = Meetings(robot, shapes, options.seed) if robot.dof else None
            result, enough = fit_tight(shapes, matches, meetings, options, progress)
            if options.apart_at_rest and meetings is not None:
                result = part_at_rest(meetings, shapes, result, matches, options)
            loose = np.array(
                [loose_ratio(shape, *result[name], options.ratio_cap) for name, shape in shapes.items()]
            )
            result = {name: (centers, radii + options.margin) for name, (centers, radii) in result.items()}
        counts = np.array([len(result[name][1]) for name in shapes], dtype=np.int64)
        return {
            "counts": counts,
            "centers": np.concatenate([np.zeros((0, 3)), *(result[name][0] for name in shapes)]),
            "radii": np.concatenate([np.zeros(0), *(result[name][1] for name in shapes)]),
            "loose": loose,
            "enough": np.array([enough.get(name, 0) for name in shapes], dtype=np.int64),
        }

    if options.cache:
        key = _key(robot, meshes, options)
        arrays = cached("spheres", key, compute, fits=lambda stored: _fits(stored, len(meshes)))
    else:
        arrays = compute()
    ends = np.cumsum(arrays["counts"])[:-1]
    parts = zip(np.split(arrays["centers"], ends), np.split(arrays["radii"], ends), strict=True)
    evidence: dict[str, Any] = {
        "method": options.method,
        "seed": options.seed,
        "n_spheres": options.n_spheres,
        "per_link": dict(options.per_link or {}),
        "margin": options.margin,
        "coverage": "proved",
        "seconds": time.perf_counter() - began,
        "version": __version__,
    }
    spheres = dict(zip(meshes, parts, strict=True)) if meshes else {}
    loose = {
        name: Loose(float(ratio), int(count), int(enough), name in (options.per_link or {}))
        for name, ratio, count, enough in zip(
            meshes, arrays["loose"], arrays["counts"], arrays["enough"], strict=True
        )
        if ratio > 0.0
    }
    if loose:
        budget = options.n_spheres or int(arrays["counts"].sum())
        evidence["notes"] = [loose_note(loose, options.ratio_cap, budget)]
    for plane in options.clip_planes:
        centers, radii = spheres[plane.link]
        depth = float((plane.row()[3] - centers @ plane.row()[:3] + radii).max())
        evidence[f"depth beyond clip plane of {plane.link}"] = depth
    if progress is not None:
        progress(1, 1)
    return SphereModel.from_links(robot.link_names, spheres, robot_name=robot.name, evidence=evidence)


def _check_names(robot: Robot, meshes: dict[str, Any], options: FitOptions) -> None:
    named = [("per_link", link) for link in options.per_link or {}]
    named += [("clip plane", plane.link) for plane in options.clip_planes]
    for what, link in named:
        if link not in robot.link_names:
            raise UnknownLinkError(f"{what}: {unknown('link', link, robot.link_names)}")
        if link not in meshes and what == "clip plane":
            raise InputError(f"clip plane: link {link!r} has no collision geometry")


def _fits(arrays: Arrays, n_links: int) -> bool:
    """Whether stored arrays are those of that many links; a foreign file is not."""
    if set(arrays) != {"counts", "centers", "radii", "loose", "enough"}:
        return False
    if arrays["loose"].shape != (n_links,) or arrays["enough"].shape != (n_links,):
        return False
    counts, centers, radii = arrays["counts"], arrays["centers"], arrays["radii"]
    if counts.shape != (n_links,) or counts.dtype.kind != "i" or (counts < 0).any():
        return False
    total = int(counts.sum())
    shapes_fit = centers.shape == (total, 3) and radii.shape == (total,)
    return shapes_fit and bool(
        np.isfinite(centers).all() and (radii > 0.0).all() and np.isfinite(radii).all()
    )


def _key(robot: Robot, meshes: dict[str, Any], options: FitOptions) -> list[Any]:
    """Everything the spheres depend on."""
    # workers and cache do not change the spheres; per_link comes next, in an order of its own
    plain = replace(options, workers=None, cache=True, per_link=None)
    key: list[Any] = [ALGORITHM, repr(plain), sorted((options.per_link or {}).items())]
    if options.method == "tight":
        key.append(_rounded(zero_frames(robot, meshes)))
        if robot.dof:
            tree = robot.tree
            key += [_rounded(part) for part in (rest_poses(robot), robot.lower, robot.upper)]
            key += [
                _rounded(part)
                for part in (tree.quat_cos, tree.quat_sin, tree.shift, tree.slide, tree.polycoef)
            ]
            key += [tree.parent, tree.q_idx, tree.driver]
    for name, mesh in meshes.items():
        key += [name, np.asarray(mesh.vertices), np.asarray(mesh.faces)]
        if options.method == "centerline":
            key += _child_origins(robot, name)
    return key


def _rounded(values: Float64) -> Float64:
    """Numbers without their last digits, in which processors differ."""
    return np.round(values, 6) + 0.0


def _child_origins(robot: Robot, link: str) -> list[Float64]:
    """(3,) origins of the child joints of a link, in its frame."""
    return [np.asarray(joint.T_parent_joint, dtype=np.float64)[:3, 3] for joint in robot.child_joints(link)]


def _fit_centerlines(
    robot: Robot, shapes: dict[str, LinkShape], options: FitOptions, progress: Progress | None
) -> dict[str, tuple[Float64, Float64]]:
    out: dict[str, tuple[Float64, Float64]] = {}
    for done, (name, shape) in enumerate(shapes.items()):
        origins = _child_origins(robot, name)
        count = (options.per_link or {}).get(name)
        out[name] = fit_centerline(
            name, shape, origins, count, options.default_n_spheres, options.min_radius, options.margin
        )
        if progress is not None:
            progress(done, len(shapes))
    return out
