"""A scene of all kinds, texts of scenes as others write them, and when two obstacles are the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import trimesh

from elbowroom.world import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    MeshObstacle,
    Obstacle,
    PointCloud,
    SdfGrid,
    Sphere,
    World,
)

SHELF = """world:
  collision_objects:
    - header:
        frame_id: base_link
      id: Can1
      primitives:
        - type: cylinder
          dimensions: [0.14, 0.03]
      primitive_poses:
        - position: [0.9, 0, 1.08]
          orientation: [0, 0, 0, 1]
    - header:
        frame_id: base_link
      id: side_left
      primitives:
        - type: box
          dimensions: [1.2, 0.04, 0.34]
      primitive_poses:
        - position: [1, -0.5, 1.15]
          orientation: [0, 0, 0.7071067811865476, 0.7071067811865476]
"""
"""The shape of MotionBenchMaker's scenes."""


def put(folder: Path, name: str, text: str | bytes) -> Path:
    """A file of a text."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def poses(n: int, seed: int = 0) -> np.ndarray:
    """Random poses, (n, 7) wxyz_xyz with unit quaternions."""
    found = np.random.default_rng(seed).normal(size=(n, 7))
    found[:, :4] /= np.linalg.norm(found[:, :4], axis=1, keepdims=True)
    return found


def everything() -> World:
    """All kinds, anywhere, with awkward numbers."""
    rng = np.random.default_rng(7)
    at = poses(9)
    field = np.linalg.norm(np.stack(np.meshgrid(*[np.linspace(-0.5, 0.5, 17)] * 3)), axis=0) - 0.3
    return World(
        [
            Box((0.1, 1 / 3, 1e-7), pose=at[0], name="table"),
            Sphere(0.1, pose=at[1]),
            Cylinder(0.2, 0.7, pose=at[2], name="a 'can' of \"ø\"\n"),
            Capsule(0.05, 0.3, pose=at[3]),
            HalfSpace((0.6, 0.0, 0.8), -0.1, name="floor"),
            MeshObstacle(trimesh.creation.box((0.3, 0.2, 0.1)), pose=at[4], name="small mesh"),
            MeshObstacle(trimesh.creation.icosphere(4, 0.3), pose=at[5], name="mesh"),
            PointCloud(rng.normal(size=(60, 3)), 1.0, pose=at[6], name="few points"),
            PointCloud(rng.normal(size=(5000, 3)), 1.0, pose=at[7], name="points"),
            SdfGrid(field, 1 / 16, (-0.5, -0.5, -0.5), pose=at[8], name="field"),
        ]
    )


def sorted_rows(points: np.ndarray) -> np.ndarray:
    """Points in an order of their own; a cloud keeps none."""
    return points[np.lexsort(points.T)]


def assert_same(a: Obstacle, b: Obstacle) -> None:
    """The two are equal to the last bit."""
    assert (type(a), a.name, a.notes) == (type(b), b.name, b.notes)
    assert np.array_equal(a.pose, b.pose)
    for what in ("size", "radius", "length", "normal", "offset", "origin", "slope"):
        assert getattr(a, what, None) == getattr(b, what, None)
    if isinstance(a, MeshObstacle):
        assert np.array_equal(a.mesh.vertices, b.mesh.vertices)
        assert np.array_equal(a.mesh.faces, b.mesh.faces)
    if isinstance(a, PointCloud):
        assert np.array_equal(sorted_rows(a.points), sorted_rows(b.points))
    if isinstance(a, SdfGrid):
        assert np.array_equal(a.values, b.values)
        assert a.spacing == b.spacing
