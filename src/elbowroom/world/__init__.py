"""Obstacles of every kind: primitives, meshes, point clouds, distance fields; distances to them, boxes against them."""

from __future__ import annotations

from ._obstacles import Box as Box
from ._obstacles import Capsule as Capsule
from ._obstacles import Cylinder as Cylinder
from ._obstacles import HalfSpace as HalfSpace
from ._obstacles import MeshObstacle as MeshObstacle
from ._obstacles import Obstacle as Obstacle
from ._obstacles import Sphere as Sphere
from ._sampled import PointCloud as PointCloud
from ._sampled import SdfGrid as SdfGrid
from ._scenes import SCENES as SCENES
from ._scenes import scene_for as scene_for
from ._world import World as World

__all__ = [
    "SCENES",
    "Box",
    "Capsule",
    "Cylinder",
    "HalfSpace",
    "MeshObstacle",
    "Obstacle",
    "PointCloud",
    "SdfGrid",
    "Sphere",
    "World",
    "scene_for",
]
