"""Collision geometry against Pinocchio's and Coal's own loading of the same files (assimp, urdfdom)."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.robot.internal import find_robot
from tests.oracles import PinocchioCoal, coal

pytestmark = pytest.mark.robots

ENCLOSED = 0.011
"""Curved primitives may be enclosed by meshes up to 1 % of their radius larger."""


def half_extents(shape, rotation):
    """Half the axis-aligned extent of a Coal primitive turned by `rotation`; None for meshes."""
    z = np.abs(rotation[:, 2])
    if isinstance(shape, coal.Box):
        return np.abs(rotation) @ np.array(shape.halfSide)
    if isinstance(shape, coal.Sphere):
        return np.full(3, shape.radius)
    if isinstance(shape, coal.Cylinder):
        return z * shape.halfLength + shape.radius * np.sqrt(np.maximum(0.0, 1 - z * z))
    if isinstance(shape, coal.Capsule):
        return z * shape.halfLength + shape.radius
    return None


@pytest.mark.parametrize(
    "name", ["panda", "ur5", "baxter", "talos", "pr2", "tiago_dual", "romeo", "icub", "anymal_c", "go1"]
)
def test_every_link_has_the_extent_that_coal_sees(load, name):
    entry, robot = find_robot(name), load(name)
    oracle = PinocchioCoal(entry.description, entry.package_dirs)
    zero = np.zeros(robot.dof)
    bounds: dict[str, list[np.ndarray]] = {}
    for link, shape, T in zip(oracle.shape_links, oracle.shapes, oracle.shape_poses(zero)[0], strict=True):
        rotation, position = T[:3, :3], T[:3, 3]
        half = half_extents(shape, rotation)
        if half is None:
            corners = np.array(shape.vertices()) @ rotation.T + position
        else:
            corners = position + np.array([-half, half])
        bounds.setdefault(link, []).append(corners)
    Ts = matrix_from_wxyz_xyz(robot.link_poses(zero))
    assert set(bounds) == set(robot.mesh_links)
    for link, pieces in bounds.items():
        expected = np.concatenate(pieces)
        T = Ts[robot.link_index(link)]
        found = robot.link_mesh(link).vertices @ T[:3, :3].T + T[:3, 3]
        size = np.ptp(expected, axis=0).max()
        assert np.abs(found.min(axis=0) - expected.min(axis=0)).max() <= ENCLOSED / 2 * size + 1e-6, link
        assert np.abs(found.max(axis=0) - expected.max(axis=0)).max() <= ENCLOSED / 2 * size + 1e-6, link
