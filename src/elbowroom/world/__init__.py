"""Obstacles of every kind: primitives, meshes, point clouds, distance fields; distances to them and boxes against them.

Doors for other folders: `PackedWorld`, what the kernels take, and the module `elbowroom.world.kernels`, which loads
numba.
"""

from __future__ import annotations

from ._file import is_scene as is_scene
from ._file import scene_bytes as scene_bytes
from ._file import scene_format as scene_format
from ._grid import PackedGrid as PackedGrid
from ._obstacles import Box as Box
from ._obstacles import Capsule as Capsule
from ._obstacles import Cylinder as Cylinder
from ._obstacles import HalfSpace as HalfSpace
from ._obstacles import MeshObstacle as MeshObstacle
from ._obstacles import Obstacle as Obstacle
from ._obstacles import Sphere as Sphere
from ._pack import PackedWorld as PackedWorld
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
    "PackedGrid",
    "PackedWorld",
    "PointCloud",
    "SdfGrid",
    "Sphere",
    "World",
    "is_scene",
    "scene_bytes",
    "scene_format",
    "scene_for",
]
