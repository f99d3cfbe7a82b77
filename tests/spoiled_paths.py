"""Paths that are free as far as samples show, and the same spoiled on purpose, some by less than a millimetre."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

import elbowroom as er
from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.errors import ApproximationWarning
from elbowroom.plan import Curve
from elbowroom.world import Box, Sphere, World

SPOILS = ("obstacle", "waypoint", "spike")
DEPTHS = (5e-5, 0.03)
"""Metres by which an obstacle is put into what the robot sweeps: from a twentieth of a millimetre, evenly by size."""
LOOKS = 24
"""Configurations between two waypoints that are looked at to take a path for free."""


@dataclass(frozen=True)
class Case:
    """A path in a scene, and what was done to it."""

    model: er.CollisionModel
    path: Any
    """(n, dof) or a `Curve`."""
    spoiled: str
    """How; "" for not at all."""
    touching: Float[np.ndarray, "dof"] | None = None
    """Configuration of the path at which an obstacle was put into a link, by the depth chosen: contacts of a twentieth
    of a millimetre are over sooner than a judge takes steps. None where another spoil, or none, was done."""


def cases(bare: er.CollisionModel, worlds: list[World], count: int, seed: int) -> Iterator[Case]:
    """Paths of 3 to 5 waypoints, every second one spoiled, every third one a curve; the same seed gives the same.

    Args:
        bare: the robot, and what it holds, without a world.
        worlds: scenes, taken in turn.
        count: of cases.
        seed: of all choices.
    """
    rng = np.random.default_rng(seed)
    for k in range(count):
        model = bare.with_world(worlds[k % len(worlds)])
        rows = _walk(model, rng)
        spoil = SPOILS[int(rng.integers(len(SPOILS)))] if k % 2 else ""
        if spoil == "waypoint":
            moved = int(rng.integers(1, len(rows)))
            rows[moved] = _away(model, rows[moved], 10.0 ** rng.uniform(-3, -0.5), rng)
        if spoil == "spike":
            rows = _spike(model, rows, rng)
        path = curve_through(rows) if k % 3 == 0 else rows
        touching = None
        if spoil == "obstacle":
            model, touching = _obstructed(model, path, rng)
        yield Case(model, path, spoil, touching)


def curve_through(rows: np.ndarray) -> Curve:
    """A curve through waypoints without a stop (Catmull and Rom)."""
    slopes = np.concatenate([rows[1:2] - rows[:1], 0.5 * (rows[2:] - rows[:-2]), rows[-1:] - rows[-2:-1]])
    pieces = np.stack(
        [rows[:-1], rows[:-1] + slopes[:-1] / 3.0, rows[1:] - slopes[1:] / 3.0, rows[1:]], axis=1
    )
    stops = np.zeros(len(rows), dtype=np.bool_)
    stops[[0, -1]] = True
    return Curve(np.ascontiguousarray(pieces), np.arange(len(rows), dtype=np.float64), stops)


def _walk(model: er.CollisionModel, rng: np.random.Generator) -> np.ndarray:
    """Waypoints with nothing in the way at the looks between them, most of them near something."""
    robot = model.robot
    low, high = _limits(robot)
    while True:
        starts = rng.uniform(low, high, (64, robot.dof))
        starts = starts[model.free(starts)]
        if len(starts) == 0:
            continue
        rows = [starts[np.argmin(model.clearance(starts[:4]))]]
        wanted = int(rng.integers(3, 6))
        for _ in range(40):
            step = rng.normal(size=robot.dof)
            after = np.clip(rows[-1] + step / np.linalg.norm(step) * rng.uniform(0.1, 0.8), low, high)
            looks = rows[-1] + np.linspace(0.0, 1.0, LOOKS)[:, None] * (after - rows[-1])
            if model.free(looks).all():
                rows.append(after)
            if len(rows) == wanted:
                return np.array(rows)


def _limits(robot: er.Robot) -> tuple[np.ndarray, np.ndarray]:
    return (
        np.where(np.isfinite(robot.lower), robot.lower, -np.pi),
        np.where(np.isfinite(robot.upper), robot.upper, np.pi),
    )


def _away(model: er.CollisionModel, cfg: np.ndarray, far: float, rng: np.random.Generator) -> np.ndarray:
    """A configuration about so far from another, within the limits."""
    return np.clip(cfg + far * rng.normal(size=len(cfg)), *_limits(model.robot))


def _spike(model: er.CollisionModel, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Waypoints with a short way out and back between two of them."""
    k, t = int(rng.integers(len(rows) - 1)), rng.uniform(0.1, 0.9)
    at = rows[k] + t * (rows[k + 1] - rows[k])
    out = _away(model, at, 10.0 ** rng.uniform(-2, 0), rng)
    return np.concatenate([rows[: k + 1], [at, out, at], rows[k + 1 :]])


def _obstructed(
    model: er.CollisionModel, path: Any, rng: np.random.Generator
) -> tuple[er.CollisionModel, Float[np.ndarray, "dof"]]:
    """A small ball or box more, so far into a link somewhere on the path; and where."""
    robot = model.robot
    if isinstance(path, Curve):
        cfg = path.at(rng.uniform(0.0, path.end))
    else:
        k, t = int(rng.integers(len(path) - 1)), rng.uniform()
        cfg = path[k] + t * (path[k + 1] - path[k])
    moved = np.ptp(robot.link_poses(robot.random_cfgs(8, seed=0)), axis=0).max(axis=1) > 1e-6
    links = [link for link in robot.mesh_links if moved[robot.link_index(link)]]
    link = links[int(rng.integers(len(links)))]
    mesh = robot.link_mesh(link)
    corner = int(rng.integers(len(mesh.vertices)))
    T = matrix_from_wxyz_xyz(robot.link_poses(cfg[None]))[0, robot.link_index(link)]
    point = T[:3, :3] @ mesh.vertices[corner] + T[:3, 3]
    out = T[:3, :3] @ np.asarray(mesh.vertex_normals[corner])
    size = rng.uniform(0.005, 0.03)
    depth = np.exp(rng.uniform(*np.log(DEPTHS)))
    pose = np.eye(4)
    pose[:3, 3] = point + out * (size - min(depth, size))
    spoiler = (
        Sphere(size, pose=pose, name="spoiler")
        if rng.uniform() < 0.5
        else Box((2 * size, 2 * size, 2 * size), pose=pose, name="spoiler")
    )
    world = World() if model.world is None else model.world
    with warnings.catch_warnings():  # it may touch what no joint moves, too
        warnings.simplefilter("ignore", ApproximationWarning)
        return model.with_world(world.add(spoiler)), cfg
