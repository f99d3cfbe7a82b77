"""A World in the compiled core."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float, Int

from .. import _core
from ..distance.doors import largest_values
from ..robot import Robot
from ..world import Box, Capsule, Cylinder, HalfSpace, MeshObstacle, PointCloud, SdfGrid, Sphere, World

_KNOWN: WeakKeyDictionary[World, _core.World] = WeakKeyDictionary()


def core_world(world: World) -> _core.World:
    """The obstacles in the core, made once."""
    if world not in _KNOWN:
        _KNOWN[world] = _core.World([_core_obstacle(obstacle) for obstacle in world])
    return _KNOWN[world]


def _core_obstacle(o: object) -> _core.Obstacle:
    T = o.pose
    pose = np.concatenate([T[:3, :3].ravel(), T[:3, 3]])
    match o:
        case Box():
            return _core.Obstacle.box(0.5 * np.array(o.size), pose)
        case Sphere():
            return _core.Obstacle.sphere(o.radius, pose)
        case Cylinder():
            return _core.Obstacle.cylinder(o.radius, 0.5 * o.length, pose)
        case Capsule():
            return _core.Obstacle.capsule(o.radius, 0.5 * o.length, pose)
        case HalfSpace():
            return _core.Obstacle.half_space(np.array(o.normal), o.offset, pose)
        case MeshObstacle():
            return _core.Obstacle.mesh(o.mesh.tree, pose)
        case PointCloud():
            return _core.Obstacle.cloud(_core.PointCloud(o.points), o.radius, pose)
        case SdfGrid():
            return _core.Obstacle.field(_core.DistanceField(o.values, np.array(o.spacing), np.array(o.origin)), pose)
    raise TypeError(type(o))


def link_spheres(
    robot: Robot,
    centers: Float[np.ndarray, "n 3"],
    radii: Float[np.ndarray, "n"],
    link_idx: Int[np.ndarray, "n"],
) -> _core.LinkSpheres:
    """Spheres of links in the compiled core."""
    balls = np.column_stack([centers, radii])
    return _core.LinkSpheres(robot.tree.core, balls, link_idx, largest_values(robot.tree))
