"""No crash and no hang: fuzzed meshes, fuzzed poses, many pairs."""

from __future__ import annotations

import time

import numpy as np
import pytest

from elbowroom.errors import InputError
from elbowroom.mesh import (
    MeshScene,
    TriangleMesh,
    collide_batch,
    distance_batch,
    mesh_mesh_contact_batch,
    mesh_mesh_separation,
)

from .mesh_tools import rotations

MESHES = 1500
PAIRS = 100_000


def fuzzed(rng: np.random.Generator) -> TriangleMesh | None:
    """A random mesh: soup, slivers, duplicates, lattice points, wild scales; None when it was refused."""
    n, m = int(rng.integers(0, 12)), int(rng.integers(0, 16))
    vertices = rng.normal(size=(n, 3)) * 10.0 ** rng.integers(-4, 4)
    kind = int(rng.integers(8))
    if kind == 0 and n:
        vertices = np.round(vertices)
    if kind == 1 and n:
        vertices[:, 2] = vertices[0, 2]
    if kind == 2 and n:
        vertices[rng.integers(n)] = rng.choice([np.nan, np.inf, -np.inf, 1e300, 1e12])
    if kind == 3 and n > 1:
        vertices[1:] = vertices[0] + 1e-12 * vertices[1:]
    if kind == 4 and n > 1:
        vertices = np.outer(rng.normal(size=n), rng.normal(size=3))
    faces = rng.integers(0, max(n, 1), size=(m, 3))
    if kind == 5 and m:
        faces[rng.integers(m), rng.integers(3)] = rng.choice([-1, n, 2**31, 2**62])
    if kind == 6 and m:
        faces = np.concatenate([faces, faces, faces[:, ::-1]])
    try:
        return TriangleMesh(vertices, faces)
    except InputError:
        return None


@pytest.mark.long
def test_100000_fuzzed_pairs_neither_crash_nor_hang():
    rng = np.random.default_rng(0)
    made = [fuzzed(rng) for _ in range(MESHES)]
    meshes = [m for m in made if m is not None]
    assert len(meshes) > 500
    assert len(meshes) < MESHES
    pairs = rng.integers(0, len(meshes), size=(PAIRS, 2))
    poses = np.zeros((1, len(meshes), 4, 4))
    poses[..., 3, 3] = 1
    poses[0, :, :3, :3] = rotations(rng, len(meshes))
    poses[0, :, :3, 3] = rng.normal(size=(len(meshes), 3)) * 10.0 ** rng.integers(
        -4, 3, size=(len(meshes), 1)
    )
    begin = time.process_time()
    states = MeshScene(meshes, pairs).states(poses)[0]
    assert set(np.unique(states)) <= {0, 1, 2, 3}
    assert (states == 0).any()
    assert (states == 1).any()
    for k in range(2000):
        a, b = meshes[pairs[k, 0]], meshes[pairs[k, 1]]
        T_a, T_b = poses[0, pairs[k, 0]], poses[0, pairs[k, 1]]
        assert collide_batch(a, T_a, b, T_b)[0] == (states[k] > 0)
        contacts = mesh_mesh_contact_batch(a, T_a, b, T_b).contacts
        assert (len(contacts) > 0) == (states[k] == 1)
        assert np.isfinite(contacts.points).all()
        assert np.isfinite(contacts.normals).all()
        found = distance_batch(a, T_a, b, T_b, signed=False)
        assert np.isfinite(found.distances).all()
        assert (found.distances[0] > 0) <= (states[k] == 0)
    for k in np.flatnonzero(states)[:150]:
        a, b = meshes[pairs[k, 0]], meshes[pairs[k, 1]]
        c = mesh_mesh_separation(a, poses[0, pairs[k, 0]], b, poses[0, pairs[k, 1]])
        assert np.isfinite(c.depth)
        assert c.depth >= 0
    assert time.process_time() - begin < 60
