"""What a link looks like."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ...robot import Robot

from ._colours import COLLISION_LAYER, PLAIN, Rgb


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles in the link frame, and their colour."""

    vertices: np.ndarray
    faces: np.ndarray
    colour: Rgb


def visual_surfaces(robot: Robot, link: str) -> tuple[Surface, ...]:
    """What a link looks like; its collision geometry where the description says nothing else."""
    return tuple(Surface(found.vertices, found.faces, PLAIN) for found in collision_surfaces(robot, link))


def collision_surfaces(robot: Robot, link: str) -> tuple[Surface, ...]:
    """What is checked of a link."""
    mesh = robot.link_mesh(link)
    if mesh is None:
        return ()
    return (Surface(np.asarray(mesh.vertices), np.asarray(mesh.faces), COLLISION_LAYER),)


@cache
def ball() -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of a unit sphere."""
    import trimesh

    mesh = trimesh.creation.icosphere(subdivisions=2)
    return np.asarray(mesh.vertices, dtype=np.float32), np.asarray(mesh.faces, dtype=np.uint32)
