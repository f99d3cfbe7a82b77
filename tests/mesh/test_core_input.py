"""The core's functions of distances and depths refuse arrays they cannot use: an error, never a crash or a hang.

It speaks to `elbowroom._core` itself, because the public functions check their arguments before.
"""

from __future__ import annotations

import random

import numpy as np

from elbowroom import _core
from elbowroom.mesh import TriangleMesh

POSE = np.r_[np.eye(3).ravel(), 0.2, 0.1, 0.0]
READ_ONLY = np.array([POSE])
READ_ONLY.setflags(write=False)
THINGS = [
    None,
    "x",
    [],
    np.zeros(0),
    np.zeros((0, 12)),
    np.zeros((0, 3)),
    POSE,
    np.array([POSE, POSE]),
    np.array([POSE, POSE, POSE]),
    np.full(12, np.nan),
    np.full((1, 12), np.inf),
    np.zeros((1, 12)),
    np.full((2, 12), 1e9),
    np.ones((24, 12))[::2],
    np.asfortranarray(np.ones((4, 12))),
    READ_ONLY,
    np.zeros((2, 3), np.float32),
    np.zeros((2, 12), np.int64),
    np.zeros((2, 3, 4)),
    np.full((3, 3), np.nan),
    np.ones((3, 3)),
    np.zeros((1, 3)),
]


def test_any_arguments_give_an_answer_or_an_error():
    rng = random.Random(0)
    trees = [TriangleMesh.box((1, 1, 1)).tree, TriangleMesh.core(np.zeros((1, 3))).tree]
    solids = [
        _core.ConvexSolid.hull(np.eye(3), 0.1),
        _core.ConvexSolid.hull(np.zeros((1, 3)), 0.0),
        _core.ConvexSolid.cylinder(0.0, 0.0),
        _core.ConvexSolid.cylinder(float("nan"), -1.0),
        _core.ConvexSolid.ellipsoid(0.0, 0.0, 0.0),
        _core.ConvexSolid.ellipsoid(float("inf"), 1e300, -1.0),
    ]
    calls = {
        _core.distances: lambda x: (rng.choice(trees), x(), rng.choice(trees), x(), True),
        _core.separations: lambda x: (rng.choice(trees), rng.choice(trees), x(), x(), True),
        _core.hull_overlaps: lambda x: (x(), x(), x(), x()),
        _core.least_separation: lambda x: (rng.choice(trees), trees[0], x(), (x(), x(), x(), 0.0), True),
        _core.solid_distance: lambda x: (rng.choice(solids), rng.choice(solids), x()),
        _core.mesh_solid_distance: lambda x: (rng.choice(trees), rng.choice(solids), x()),
        _core.ConvexSolid.hull: lambda x: (x(), 0.0),
    }
    for function, arguments in calls.items():
        errors = 0
        for _ in range(3000):
            try:
                function(*arguments(lambda: rng.choice(THINGS)))
            except (TypeError, ValueError, RuntimeError):
                errors += 1
        assert errors > 0, function
