"""Exact meshes in Coal as the judge of the pair tests."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom._poses import matrix_from_wxyz_xyz


class CoalJudge:
    """Exact meshes of a robot's links in Coal; an `ExactChecker`."""

    def __init__(self, robot):
        coal = pytest.importorskip("coal")
        self.coal, self.robot = coal, robot
        self.shapes = {}
        for link in robot.mesh_links:
            mesh = robot.link_mesh(link)
            shape = coal.BVHModelOBBRSS()
            shape.beginModel(len(mesh.faces), len(mesh.vertices))
            shape.addVertices(np.asarray(mesh.vertices))
            shape.addTriangles(np.asarray(mesh.faces))
            shape.endModel()
            self.shapes[link] = shape

    def __call__(self, cfgs, pairs):
        coal = self.coal
        T = matrix_from_wxyz_xyz(self.robot.link_poses(cfgs))
        out = np.zeros((len(cfgs), len(pairs)), dtype=bool)
        request = coal.CollisionRequest()
        for n, poses in enumerate(T):
            placed = {
                link: coal.Transform3s(poses[k, :3, :3], poses[k, :3, 3])
                for k, link in enumerate(self.robot.link_names)
                if link in self.shapes
            }
            for p, (a, b) in enumerate(pairs):
                result = coal.CollisionResult()
                out[n, p] = (
                    coal.collide(self.shapes[a], placed[a], self.shapes[b], placed[b], request, result) > 0
                )
        return out


@pytest.fixture(scope="session")
def coal_judge(load):
    cache = {}

    def make(name):
        if name not in cache:
            cache[name] = CoalJudge(load(name))
        return cache[name]

    return make
