"""Furniture of generated scenes: tables, shelves, cages, and loose things of every kind.

Functions give groups of obstacles at a place; sizes are in metres and follow a length `unit`, a share of the robot's
reach. Frames: z up, x away from the robot.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from .._poses import matrix_from_wxyz_xyz
from ..errors import ApproximationWarning
from ..mesh import TriangleMesh
from ..typing import Matrix4
from ._obstacles import Box, Capsule, Cylinder, MeshObstacle, Obstacle, Sphere
from ._scene_meshes import bowl_mesh, bracket_mesh, panel_mesh, ring_mesh, rock_mesh

Rng = np.random.Generator


def upright(x: float, y: float, z: float, yaw: float = 0.0) -> Matrix4:
    """A pose turned about z."""
    return matrix_from_wxyz_xyz(np.array([np.cos(0.5 * yaw), 0.0, 0.0, np.sin(0.5 * yaw), x, y, z]))


def tumbled(xyz: tuple[float, float, float], rng: Rng) -> Matrix4:
    """A pose turned any way."""
    return matrix_from_wxyz_xyz(np.concatenate([rng.normal(size=4), xyz]))


def lying(length_along: np.ndarray, middle: np.ndarray) -> Matrix4:
    """A pose whose z points along a direction."""
    z = length_along / np.linalg.norm(length_along)
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.stack([x, np.cross(z, x), z], axis=1), middle
    return T


# Loose things ---------------------------------------------------------------------------------


def _mesh(mesh: TriangleMesh, name: str) -> MeshObstacle:
    with warnings.catch_warnings():  # an open panel is meant to be open; its note stays
        warnings.simplefilter("ignore", ApproximationWarning)
        return MeshObstacle(mesh, name=name)


THINGS: dict[str, Callable[[float, Rng, str], Obstacle]] = {
    "crate": lambda s, rng, name: Box((s * rng.uniform(0.6, 1.6), s * rng.uniform(0.6, 1.6), s), name=name),
    "can": lambda s, rng, name: Cylinder(s * rng.uniform(0.3, 0.6), s * rng.uniform(0.8, 1.6), name=name),
    "ball": lambda s, rng, name: Sphere(s * rng.uniform(0.4, 0.7), name=name),
    "bottle": lambda s, rng, name: Capsule(s * rng.uniform(0.25, 0.45), s * rng.uniform(0.6, 1.4), name=name),
    "bowl": lambda s, rng, name: _mesh(bowl_mesh(s * rng.uniform(0.6, 1.0), 0.08 * s), name),
    "ring": lambda s, rng, name: _mesh(ring_mesh(s * rng.uniform(0.6, 1.0), 0.2 * s), name),
    "rock": lambda s, rng, name: _mesh(rock_mesh(s * rng.uniform(0.5, 0.8), rng), name),
    "bracket": lambda s, rng, name: _mesh(
        bracket_mesh((s, s * rng.uniform(0.5, 1.5), 1.3 * s), 0.25 * s), name
    ),
}
"""Kind of thing -> it, about as large as a length, at the origin."""


def thing(kind: str, size: float, rng: Rng, name: str) -> Obstacle:
    """One loose thing of a kind of `THINGS`, about `size` large, at the origin."""
    return THINGS[kind](size, rng, name)


def things_on(
    top: Matrix4, length: float, width: float, count: int, size: float, rng: Rng, prefix: str
) -> list[Obstacle]:
    """Things of all kinds that stand on a rectangle of `length` along x and `width` along y without overlapping."""
    found: list[Obstacle] = []
    taken: list[tuple[float, float, float]] = []
    kinds = list(THINGS)
    first = int(rng.integers(len(kinds)))
    for k in range(3 * count):
        kind = kinds[(first + len(found)) % len(kinds)]
        x, y = rng.uniform(-0.5, 0.5, 2) * (length, width)
        item = thing(kind, size * rng.uniform(0.7, 1.3), rng, f"{prefix}{kind}_{len(found) + 1}")
        low, high = item.bounds
        room = float(np.linalg.norm(np.maximum(-low, high)[:2]))
        inside = abs(x) + room < 0.5 * length and abs(y) + room < 0.5 * width
        if inside and all(np.hypot(x - a, y - b) > room + r for a, b, r in taken):
            taken.append((x, y, room))
            stand = upright(x, y, -float(low[2]), rng.uniform(-np.pi, np.pi))
            found.append(item.at(top @ stand))
        if len(found) == count or k == 3 * count - 1:
            break
    return found


# Furniture ------------------------------------------------------------------------------------


def table(
    T: Matrix4, size: tuple[float, float], height: float, unit: float, name: str = "table"
) -> list[Obstacle]:
    """A table: pose of the middle of its top, length along x and width along y, height above the floor."""
    length, width = size
    thick = 0.03 * unit
    top = Box((length, width, thick), pose=T @ upright(0, 0, -0.5 * thick), name=f"{name}_top")
    reach = max(height - thick, 0.05 * unit)
    corners = [
        (i * (0.5 * length - 0.06 * unit), j * (0.5 * width - 0.06 * unit)) for i in (-1, 1) for j in (-1, 1)
    ]
    legs = [
        Cylinder(0.03 * unit, reach, pose=T @ upright(x, y, -thick - 0.5 * reach), name=f"{name}_leg_{k + 1}")
        for k, (x, y) in enumerate(corners)
    ]
    return [top, *legs]


def shelf(
    T: Matrix4, size: tuple[float, float, float], boards: int, unit: float, rng: Rng, name: str = "shelf"
) -> list[Obstacle]:
    """A shelf that opens towards -x: pose of the middle of its foot, depth, width and height; things on its boards."""
    depth, width, height = size
    thick = 0.025 * unit
    levels = np.linspace(0.5 * thick, height - 0.5 * thick, boards)
    found: list[Obstacle] = [
        Box((depth, width, thick), pose=T @ upright(0, 0, z), name=f"{name}_board_{k + 1}")
        for k, z in enumerate(levels)
    ]
    for side, y in (("left", 0.5 * (width + thick)), ("right", -0.5 * (width + thick))):
        pose = T @ upright(0, y, 0.5 * height)
        found.append(Box((depth, thick, height), pose=pose, name=f"{name}_side_{side}"))
    back = T @ upright(0.5 * (depth + thick), 0, 0.5 * height)
    found.append(Box((thick, width, height), pose=back, name=f"{name}_back"))
    room = float(levels[1] - levels[0]) - thick
    for k, z in enumerate(levels[:-1]):
        top = T @ upright(0, 0, z + 0.5 * thick)
        item = min(0.5 * room, 0.16 * unit, 0.35 * depth)
        found += things_on(top, depth, width, int(rng.integers(1, 4)), item, rng, f"{name}_{k + 1}_")
    return found


def cage(
    center: np.ndarray, radius: float, low: float, high: float, posts: int, unit: float, turn: float
) -> list[Obstacle]:
    """Posts in a circle from `low` to `high`, joined by rails at two heights and by beams over the top."""
    angles = turn + 2.0 * np.pi * np.arange(posts) / posts
    feet = center[:2] + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    found: list[Obstacle] = []
    for k, (x, y) in enumerate(feet):
        pose = upright(x, y, 0.5 * (low + high))
        found.append(Cylinder(0.02 * unit, high - low, pose=pose, name=f"cage_post_{k + 1}"))
    for k in range(posts):
        a, b = feet[k], feet[(k + 1) % posts]
        along, middle = np.append(b - a, 0.0), 0.5 * (a + b)
        length = float(np.linalg.norm(along))
        waist = lying(along, np.append(middle, low + 0.5 * (high - low)))
        found.append(Capsule(0.012 * unit, length, pose=waist, name=f"cage_rail_{k + 1}"))
        head = lying(along, np.append(middle, high))
        found.append(Box((0.03 * unit, 0.03 * unit, length), pose=head, name=f"cage_beam_{k + 1}"))
    for k in range(posts // 2):
        a, b = np.append(feet[k], high), np.append(feet[k + posts // 2], high)
        pose = lying(b - a, 0.5 * (a + b))
        found.append(Cylinder(0.015 * unit, 2.0 * radius, pose=pose, name=f"cage_roof_{k + 1}"))
    return found


def panel(T: Matrix4, width: float, height: float, name: str = "panel") -> MeshObstacle:
    """A bent sheet, an open mesh, whose hollow side looks towards -x."""
    return _mesh(panel_mesh(width, height, 0.25 * width), name).at(T)


def pipe(a: np.ndarray, b: np.ndarray, radius: float, name: str) -> Capsule:
    """A capsule from one point to another."""
    return Capsule(radius, float(np.linalg.norm(b - a)), pose=lying(b - a, 0.5 * (a + b)), name=name)
