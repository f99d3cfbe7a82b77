"""Scenes for MoveIt and MotionBenchMaker: YAML of a PlanningScene with objects in the frame "world".

Boxes, spheres, cylinders and meshes are kept, rotations as quaternions to the last bits; a capsule is written as the
cylinder and two spheres that it is the union of; a half-space as a plane. Clouds and distance fields have no place in
it. The text is plain enough for readers of YAML 1.1 and 1.2 alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._poses import as_wxyz_xyz
from ._moveit import PART
from ._obstacles import Box, Capsule, Cylinder, HalfSpace, MeshObstacle, Obstacle, Sphere

if TYPE_CHECKING:
    from ._world import World

LISTS = ("primitives", "meshes", "planes")
"""Of an object, in the order in which its shapes are read."""
Shape = tuple[str, list[str], np.ndarray]
"""List that it goes to, its lines, its pose."""


def scene_text(world: World) -> tuple[str, list[str]]:
    """The YAML of a scene, and notes on what it cannot hold."""
    lost: list[str] = []
    lines: list[str] = []
    for name, parts in _objects(world):
        shapes = [shape for part in parts for shape in _shapes(part, lost)]
        if shapes:
            lines += _object(name, shapes)
    listed = "\n".join(["  collision_objects:", *lines]) if lines else "  collision_objects: []"
    return f"world:\n{listed}\n", lost


def _objects(world: World) -> Iterable[tuple[str, list[Obstacle]]]:
    """Obstacles by object: "shelf", "shelf#2", "shelf#3" are one, where reading would name its shapes so again."""
    done: set[str] = set()
    for obstacle in world:
        if obstacle.name in done:
            continue
        parts = [obstacle]
        while (name := f"{obstacle.name}{PART}{len(parts) + 1}") in world:
            parts.append(world[name])
        places = [LISTS.index(_list_of(part)) for part in parts]
        single = len(parts) > 1 and (places != sorted(places) or any(isinstance(p, Capsule) for p in parts))
        if single or not all(_kept(part) for part in parts):
            parts = [obstacle]
        done.update(part.name for part in parts)
        yield obstacle.name, parts


def _kept(obstacle: Obstacle) -> bool:
    return isinstance(obstacle, (Box, Sphere, Cylinder, Capsule, HalfSpace, MeshObstacle))


def _list_of(obstacle: Obstacle) -> str:
    if isinstance(obstacle, MeshObstacle):
        return "meshes"
    return "planes" if isinstance(obstacle, HalfSpace) else "primitives"


def _shapes(obstacle: Obstacle, lost: list[str]) -> list[Shape]:
    """Shapes that an obstacle is made of; none where there is no place for it."""
    pose = obstacle.pose
    if isinstance(obstacle, Box):
        return [_primitive("box", obstacle.size, pose)]
    if isinstance(obstacle, Sphere):
        return [_primitive("sphere", (obstacle.radius,), pose)]
    if isinstance(obstacle, Cylinder):
        return [_primitive("cylinder", (obstacle.length, obstacle.radius), pose)]
    if isinstance(obstacle, Capsule):
        lost.append(
            f"{obstacle.title} is written as a cylinder and two spheres: the same solid, in three shapes"
        )
        ends = [_shifted(pose, sign * 0.5 * obstacle.length) for sign in (1.0, -1.0)]
        middle = _primitive("cylinder", (obstacle.length, obstacle.radius), pose)
        return [middle, *(_primitive("sphere", (obstacle.radius,), end) for end in ends)]
    if isinstance(obstacle, MeshObstacle):
        vertices = [f"- {_flow(row)}" for row in obstacle.mesh.vertices.tolist()]
        triangles = [f"- {_flow(row)}" for row in obstacle.mesh.faces.tolist()]
        return [("meshes", ["vertices:", *vertices, "triangles:", *triangles], pose)]
    if isinstance(obstacle, HalfSpace):
        lost.append(
            f"{obstacle.title} is written as a plane: other readers take it for a sheet, not for a solid"
        )
        return [("planes", [f"coef: {_flow((*obstacle.normal, -obstacle.offset))}"], pose)]
    lost.append(f"{obstacle.title} is left out: a scene of MoveIt has no such shape")
    return []


def _shifted(pose: np.ndarray, along: float) -> np.ndarray:
    moved = pose.copy()
    moved[:3, 3] += along * pose[:3, 2]
    return moved


def _primitive(kind: str, dimensions: Iterable[float], pose: np.ndarray) -> Shape:
    return "primitives", [f"type: {kind}", f"dimensions: {_flow(dimensions)}"], pose


def _object(name: str, shapes: list[Shape]) -> list[str]:
    """Lines of one object."""
    lines = [f"    - id: {_quoted(name)}", "      header:", "        frame_id: world"]
    for listed in LISTS:
        own = [shape for shape in shapes if shape[0] == listed]
        if own:
            lines.append(f"      {listed}:")
            for _, (first, *others), _ in own:
                lines += [f"        - {first}", *(f"          {line}" for line in others)]
            lines.append(f"      {listed.removesuffix('s' if listed != 'meshes' else 'es')}_poses:")
            for _, _, pose in own:
                w, x, y, z, *position = as_wxyz_xyz(pose).tolist()
                lines.append(f"        - position: {_flow(position)}")
                lines.append(f"          orientation: {_flow((x, y, z, w))}")
    return lines


def _quoted(name: str) -> str:
    """A name in double quotes, with the escapes of YAML for what cannot be printed."""
    plain = {'"': '\\"', "\\": "\\\\", "\n": "\\n"}
    signs = (plain.get(sign) or (sign if sign.isprintable() else f"\\U{ord(sign):08x}") for sign in name)
    return f'"{"".join(signs)}"'


def _flow(values: Iterable[Any]) -> str:
    """A list on one line."""
    return f"[{', '.join(map(_number, values))}]"


def _number(value: float) -> str:
    """A number with a point before any exponent, without which YAML 1.1 takes it for text."""
    text = repr(value)
    return text if "e" not in text or "." in text else text.replace("e", ".0e")
