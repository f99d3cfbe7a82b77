"""Furniture of generated scenes: tables, shelves, cages, and loose things of every kind.

Functions give groups of obstacles at a place; sizes are in metres and follow a length `unit`, a share of the robot's
reach. Frames: z up, x away from the robot.

Meshes are rings, bowls, rocks, brackets, and a curved panel that is open.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from .._poses import matrix_from_wxyz_xyz
from ..errors import ApproximationWarning
from ..mesh import TriangleMesh
from ..typing import Matrix4
from ._obstacles import Box, Capsule, Cylinder, MeshObstacle, Obstacle, Sphere

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


def bin_of_things(
    T: Matrix4, size: tuple[float, float, float], foot: float, unit: float, rng: Rng, name: str = "bin"
) -> list[Obstacle]:
    """An open bin on a plinth: pose of the middle of its bottom, depth, width, height, height of the plinth; things."""
    depth, width, height = size
    thick = 0.02 * unit
    found: list[Obstacle] = [
        Box((depth, width, foot), pose=T @ upright(0, 0, -0.5 * foot), name=f"{name}_pedestal"),
        Box((depth, width, thick), pose=T @ upright(0, 0, 0.5 * thick), name=f"{name}_bottom"),
    ]
    for side, x, y in (("front", -1, 0), ("back", 1, 0), ("left", 0, 1), ("right", 0, -1)):
        wall = (thick, width, height) if x else (depth, thick, height)
        pose = T @ upright(0.5 * x * (depth - thick), 0.5 * y * (width - thick), 0.5 * height)
        found.append(Box(wall, pose=pose, name=f"{name}_{side}"))
    inside = T @ upright(0, 0, thick)
    return [*found, *things_on(inside, depth - 3 * thick, width - 3 * thick, 9, 0.13 * unit, rng, f"{name}_")]


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


SIDES = 24
"""Facets around the axis of what is revolved."""


def ring_mesh(radius: float, thickness: float) -> TriangleMesh:
    """A torus about z: distance of its tube from the axis, and radius of the tube."""
    turn = 2.0 * np.pi * np.arange(12) / 12
    profile = np.stack([radius + thickness * np.cos(turn), thickness * np.sin(turn)], axis=1)
    return _revolved(profile, ends=False)


def bowl_mesh(radius: float, thickness: float) -> TriangleMesh:
    """The lower half of a hollow ball, open at the top, as a closed solid of that wall thickness."""
    down = np.linspace(0.0, 0.5 * np.pi, 8)
    outer = radius * np.stack([np.sin(down), -np.cos(down)], axis=1)
    inner = (radius - thickness) * np.stack([np.sin(down), -np.cos(down)], axis=1)[::-1]
    return _revolved(np.concatenate([outer, inner]), ends=True)


def rock_mesh(radius: float, rng: np.random.Generator) -> TriangleMesh:
    """A ball with bumps and dents, of at most that radius."""
    polar = np.linspace(0.0, np.pi, 11)
    profile = radius * np.stack([np.sin(polar), -np.cos(polar)], axis=1)
    ball = _revolved(profile, ends=True)
    waves = rng.normal(size=(4, 3)) * 3.0 / radius
    bumps = np.cos(ball.vertices @ waves.T + rng.uniform(0.0, 2.0 * np.pi, 4)).mean(axis=1)
    return TriangleMesh(ball.vertices * (0.85 + 0.15 * bumps)[:, None], ball.faces)


def bracket_mesh(size: tuple[float, float, float], thickness: float) -> TriangleMesh:
    """An L, upright in x and z and as wide as y, centred in its box."""
    x, y, z = size
    outline = np.array([[0, 0], [x, 0], [x, thickness], [thickness, thickness], [thickness, z], [0, z]])
    outline = outline - 0.5 * np.array([x, z])
    n = len(outline)
    vertices = np.concatenate([np.insert(outline, 1, side, axis=1) for side in (-0.5 * y, 0.5 * y)])
    front = np.array([(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)])
    edge = np.arange(n)
    following = (edge + 1) % n
    sides = np.concatenate([
        np.stack([edge, n + edge, n + following], axis=1),
        np.stack([edge, n + following, following], axis=1),
    ])  # fmt: skip
    return TriangleMesh(vertices, np.concatenate([front, front[:, ::-1] + n, sides]))


def panel_mesh(width: float, height: float, bend: float) -> TriangleMesh:
    """A sheet without thickness in y and z, bent towards x by `bend` in its middle; open, so it contains nothing."""
    columns, rows = 13, 7
    y, z = np.meshgrid(np.linspace(-0.5, 0.5, columns), np.linspace(-0.5, 0.5, rows))
    x = bend * (np.cos(np.pi * y) - 0.5)
    vertices = np.stack([x.ravel(), width * y.ravel(), height * z.ravel()], axis=1)
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    lower = np.stack([corner, corner + 1, corner + columns + 1], axis=1)
    upper = np.stack([corner, corner + columns + 1, corner + columns], axis=1)
    return TriangleMesh(vertices, np.concatenate([lower, upper]))


def _revolved(profile: Float[np.ndarray, "rings 2"], *, ends: bool) -> TriangleMesh:
    """Revolves points (distance from the axis, z) about z: a closed outline, or one whose `ends` are on the axis."""
    turn = 2.0 * np.pi * np.arange(SIDES) / SIDES
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    rings = profile[1:-1] if ends else profile
    vertices = np.concatenate([np.insert(r * circle, 2, z, axis=1) for r, z in rings])
    side = np.arange(SIDES)
    following = (side + 1) % SIDES
    faces: list[np.ndarray] = []
    for k in range(len(rings) if not ends else len(rings) - 1):
        a, b = k * SIDES, (k + 1) % len(rings) * SIDES
        faces.append(np.stack([a + side, a + following, b + following], axis=1))
        faces.append(np.stack([a + side, b + following, b + side], axis=1))
    if ends:
        first, last, begin = len(vertices), len(vertices) + 1, (len(rings) - 1) * SIDES
        vertices = np.concatenate([vertices, [[0.0, 0.0, profile[0, 1]], [0.0, 0.0, profile[-1, 1]]]])
        faces.append(np.stack([np.full(SIDES, first), following, side], axis=1))
        faces.append(np.stack([np.full(SIDES, last), begin + side, begin + following], axis=1))
    return TriangleMesh(vertices, np.concatenate(faces))
