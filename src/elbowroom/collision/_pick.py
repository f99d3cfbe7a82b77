"""From obstacle to attached object and back: what is picked up leaves the world, what is put down returns to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from .._poses import matrix_from_wxyz_xyz
from ..errors import InputError
from ..mesh import TriangleMesh
from ..robot import Robot, Shape
from ..typing import Matrix4
from ..world import Box, Capsule, Cylinder, MeshObstacle, Obstacle, Sphere, World
from ._allow import Allow
from ._attach import Attachment

CARRIED = (Box, Sphere, Cylinder, Capsule, MeshObstacle)
"""Obstacles that can be picked up: those that have an end and a surface."""


def picked_up(
    robot: Robot,
    world: World | None,
    allow: Allow,
    name: str,
    link: str,
    row: Float[np.ndarray, "dof"],
    touch_links: Sequence[str],
) -> tuple[World, Attachment]:
    """The world without an obstacle, and the object that it becomes; arguments as in `CollisionModel.pick_up`."""
    if world is None:
        raise InputError(f"there is no obstacle {name!r} to pick up: the model has no world")
    obstacle = world[name]
    if not isinstance(obstacle, CARRIED):
        kinds = ", ".join(kind.__name__ for kind in CARRIED)
        raise InputError(
            f"{obstacle.title} cannot be picked up: only {kinds} can, since others have no end or no one surface"
        )
    pose = np.linalg.inv(link_pose(robot, link, row)) @ obstacle.pose
    item = Attachment.of(name, link, obstacle, pose, touch_links)
    allowed = tuple(sorted(a for a, b in allow if b == name))
    may = (*item.touch_links, *(other for other in allowed if other not in item.touch_links))
    return world.remove(name), replace(item, touch_links=may, obstacle=obstacle, allowed=allowed)


def put_down(
    robot: Robot, item: Attachment, row: Float[np.ndarray, "dof"]
) -> tuple[Obstacle, tuple[str, ...]]:
    """The obstacle that an object becomes, and the links that may touch it as they might before it was picked up."""
    pose = link_pose(robot, item.link, row) @ item.pose
    obstacle = _obstacle(item.shape) if item.obstacle is None else item.obstacle
    return obstacle.named(item.name).at(pose), item.allowed


def link_pose(robot: Robot, link: str, row: Float[np.ndarray, "dof"]) -> Matrix4:
    """T_world_link at a configuration."""
    index = robot.link_index(link)
    return matrix_from_wxyz_xyz(np.asarray(robot.link_poses(row[None]))[0, index])


def _obstacle(shape: Shape) -> Obstacle:
    """An obstacle of the shape of an object that never was one."""
    match shape.kind:
        case "box":
            x, y, z = shape.size
            return Box((x, y, z))
        case "sphere":
            return Sphere(*shape.size)
        case "cylinder":
            return Cylinder(*shape.size)
        case "capsule":
            return Capsule(*shape.size)
        case _:
            data = shape.load()
            return MeshObstacle(TriangleMesh(data.vertices, data.faces))
