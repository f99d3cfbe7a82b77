"""Obstacles in a picture: exact shapes as triangles to look at, not to decide with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...robot.internal import primitive, sphere_mesh
from ...world import Box, Capsule, Cylinder, MeshObstacle, Obstacle, PointCloud, Sphere
from ._picture import Colour, Picture

if TYPE_CHECKING:
    from ...world import World

OBSTACLE_COLOUR: Colour = (0.80, 0.78, 0.72)
MOST_POINTS = 4000
"""Points of a cloud that are drawn; more look the same."""


def add_world(picture: Picture, world: World, colours: Mapping[str, Colour] | None = None) -> None:
    """Adds the obstacles that have an end; half-spaces and distance fields are not drawn.

    Args:
        picture: receives the triangles.
        world: the obstacles.
        colours: obstacle -> colour, instead of the usual one.
    """
    for obstacle in world:
        colour = (colours or {}).get(obstacle.name, OBSTACLE_COLOUR)
        found = _triangles(obstacle)
        if found is not None:
            vertices, faces = found
            picture.add_mesh(vertices @ obstacle.pose[:3, :3].T + obstacle.pose[:3, 3], faces, colour)


def _triangles(obstacle: Obstacle) -> tuple[np.ndarray, np.ndarray] | None:
    """Triangles in the frame of an obstacle."""
    here = np.eye(4)
    match obstacle:
        case Box():
            shape = primitive("box", here, obstacle.size)
        case Sphere():
            shape = primitive("sphere", here, (obstacle.radius,))
        case Cylinder():
            shape = primitive("cylinder", here, (obstacle.radius, obstacle.length))
        case Capsule():
            shape = primitive("capsule", here, (obstacle.radius, obstacle.length))
        case MeshObstacle():
            return obstacle.mesh.vertices, obstacle.mesh.faces
        case PointCloud():
            return _balls(obstacle)
        case _:
            return None
    mesh = shape.load()
    return mesh.vertices, mesh.faces


def _balls(cloud: PointCloud) -> tuple[np.ndarray, np.ndarray]:
    ball = sphere_mesh(cloud.radius)
    points = cloud.points[:: max(1, len(cloud.points) // MOST_POINTS)]
    vertices = (points[:, None] + ball.vertices).reshape(-1, 3)
    faces = (np.arange(len(points))[:, None, None] * len(ball.vertices) + ball.faces).reshape(-1, 3)
    return vertices, faces
