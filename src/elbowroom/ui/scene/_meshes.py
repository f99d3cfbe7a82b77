"""What a link looks like, as surfaces of one colour each: a node of one colour is painted another by one message."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import trimesh

    from ...robot import Robot, Visual

from ._colours import COLLISION_LAYER, PLAIN, Rgb

MOST_COLOURS = 12
"""Of a visual with colours by vertex or a texture; rarer ones are drawn in the nearest of these."""
GRAIN = 16
"""Steps of 256 that count as one colour."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles in the link frame, and their colour."""

    vertices: np.ndarray
    faces: np.ndarray
    colour: Rgb
    opacity: float = 1.0


def visual_surfaces(robot: Robot, link: str) -> tuple[Surface, ...]:
    """What a link looks like; its collision geometry where the description says nothing else."""
    found = robot.link_visuals(link)
    if not found:
        return tuple(Surface(s.vertices, s.faces, PLAIN) for s in collision_surfaces(robot, link))
    return tuple(surface for visual in found for surface in _coloured(visual))


def drawn_meshes(robot: Robot, link: str) -> tuple[trimesh.Trimesh, ...]:
    """The meshes that `visual_surfaces` parts, in the link frame."""
    visuals = robot.link_visuals(link)
    if visuals:
        return tuple(visual.mesh for visual in visuals)
    mesh = robot.link_mesh(link)
    return () if mesh is None else (mesh,)


def collision_surfaces(robot: Robot, link: str) -> tuple[Surface, ...]:
    """What is checked of a link."""
    mesh = robot.link_mesh(link)
    if mesh is None:
        return ()
    return (Surface(np.asarray(mesh.vertices), np.asarray(mesh.faces), COLLISION_LAYER),)


def _coloured(visual: Visual) -> Iterator[Surface]:
    """A visual, parted by colour."""
    vertices, faces = np.asarray(visual.mesh.vertices), np.asarray(visual.mesh.faces)
    red, green, blue, opacity = visual.color
    if not visual.painted:
        yield Surface(vertices, faces, _rgb([255.0 * red, 255.0 * green, 255.0 * blue]), opacity)
        return
    rows = _face_colours(visual.mesh)
    chosen, which = _palette(rows[:, :3])
    for k, colour in enumerate(chosen):
        own = which == k
        used, packed = np.unique(faces[own], return_inverse=True)
        opacity = float(rows[own, 3].mean()) / 255.0
        yield Surface(vertices[used], packed.reshape(-1, 3), _rgb(colour), opacity)


def _face_colours(mesh: trimesh.Trimesh) -> np.ndarray:
    """(tris, 4) red, green, blue and opacity of each triangle, from 0 to 255; a texture is read at the corners."""
    visual: Any = mesh.visual
    if visual.kind == "texture":
        visual = visual.to_color()
    return np.asarray(visual.vertex_colors, dtype=float)[mesh.faces].mean(axis=1)


def _palette(rows: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """Colours that stand for all rows, (n, 3), and which of them each row takes."""
    coarse, index, counts = np.unique(rows // GRAIN, axis=0, return_inverse=True, return_counts=True)
    kept = np.argsort(-counts, kind="stable")[:MOST_COLOURS]
    apart = np.linalg.norm(coarse[:, None] - coarse[kept], axis=2)
    which = apart.argmin(axis=1)[index.reshape(-1)]
    return [rows[which == k].mean(axis=0) for k in range(len(kept))], which


def _rgb(values: Any) -> Rgb:
    red, green, blue = (round(float(value)) for value in values)
    return red, green, blue


@cache
def ball() -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of a unit sphere."""
    import trimesh

    mesh = trimesh.creation.icosphere(subdivisions=2)
    return np.asarray(mesh.vertices, dtype=np.float32), np.asarray(mesh.faces, dtype=np.uint32)
