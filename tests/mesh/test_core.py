"""What Python hands to the core of this folder is checked there: wrong arrays raise, none brings the interpreter down.

These tests look inside, at `elbowroom._core`: public functions would refuse such input before it gets there.

Looks inside: `pose_rows` is what every pose passes on its way to the core.
"""

from __future__ import annotations

import itertools
import threading
import warnings
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from elbowroom import _core
from elbowroom.mesh import MeshScene, TriangleMesh, collide_batch, mesh_mesh_contact_batch
from elbowroom.mesh._frames import pose_rows

from .mesh_tools import mesh, poses, shape

CUBE = TriangleMesh.box((1.0, 1.0, 1.0))
ROW = pose_rows(None, "pose")[0]
STRANGE: list[Any] = [
    None,
    1.0,
    "text",
    [],
    np.zeros(0),
    np.zeros((0, 3)),
    np.zeros((0, 12)),
    np.zeros((0, 3, 3)),
    np.zeros((2, 5)),
    np.full((3, 12), np.nan),
    np.full((3, 12), 1e300),
    np.full((2, 3, 3), np.nan),
    np.full((2, 3), np.inf),
    np.zeros((4, 4), np.float32),
    np.array([[0, 1, 1 << 40]]),
    np.array([[-1, 0, 1]]),
    np.arange(36.0).reshape(12, 3).T,
    np.array(["a"]),
    np.zeros(3, dtype=complex),
    np.zeros(9)[::2],
    np.broadcast_to(np.float64(1.0), (3, 3)),
]
"""Arrays of wrong shapes, types and values, and things that are no arrays."""


def outcome(function: Any, *arguments: Any) -> None:
    """Calls; raising is as good as an answer, as long as it is the right kind."""
    with suppress(TypeError, ValueError, RuntimeError), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # numpy's, of casts
        function(*arguments)


@pytest.mark.parametrize("name", ["pair_states", "close_pairs", "contacts"])
def test_posed_pairs_take_any_array(name: str):
    function, more = getattr(_core, name), (True,) if name == "pair_states" else ()
    before = np.asarray(function(CUBE.tree, ROW, CUBE.tree, ROW, *more), dtype=object)
    for one, other in itertools.product([ROW, *STRANGE], repeat=2):
        outcome(function, CUBE.tree, one, CUBE.tree, other, *more)
    after = np.asarray(function(CUBE.tree, ROW, CUBE.tree, ROW, *more), dtype=object)
    assert str(after) == str(before)  # nothing of what was refused is left behind


def test_single_calls_take_any_pose():
    row = np.empty(9)
    for one, other in itertools.product([np.eye(4), *STRANGE], repeat=2):
        outcome(_core.pair_state, CUBE.tree, one, CUBE.tree, other, True)
        outcome(_core.deepest_contact, CUBE.tree, one, CUBE.tree, other, row)
    for out in STRANGE:
        with pytest.raises((TypeError, ValueError)):
            _core.deepest_contact(CUBE.tree, None, CUBE.tree, None, out)
    row.setflags(write=False)
    with pytest.raises(ValueError, match="writable"):
        _core.deepest_contact(CUBE.tree, None, CUBE.tree, None, row)


def test_trees_segments_scenes_and_pieces_take_any_array():
    rng = np.random.default_rng(0)
    good = [np.zeros((1, 3, 3)), np.zeros(1, np.int64), np.ones(1, bool), np.zeros((1, 3))]
    for k, strange in itertools.product(range(4), STRANGE):
        outcome(_core.TriangleTree, *(strange if i == k else good[i] for i in range(4)))
    scene = _core.MeshScene([CUBE.tree, CUBE.tree], np.array([[0, 1]]))
    for strange in STRANGE:
        outcome(_core.MeshScene, [CUBE.tree], strange)
        outcome(_core.MeshScene, strange, np.array([[0, 0]]))
        outcome(_core.pack_poses, strange)
        outcome(_core.triangle_contact, strange, np.eye(3), np.empty(9))
        outcome(_core.triangle_contact, np.eye(3), strange, np.empty(9))
        outcome(_core.triangle_contact, np.eye(3), np.eye(3), strange)
        outcome(CUBE.tree.point_inside, strange)
        outcome(_core.contact_segments, CUBE.tree, ROW, CUBE.tree, ROW, strange, strange)
        outcome(_core.contact_segments, CUBE.tree, ROW, CUBE.tree, ROW, np.array([99]), np.array([-1]))
        outcome(scene.states, strange, np.zeros((1, 1), np.uint8), True, False)
        outcome(scene.states, np.tile(ROW, (1, 2, 1)), strange, True, False)
        outcome(scene.deepest_contacts, strange)
        outcome(_core.merge_vertices, strange)
        outcome(_core.connected_pieces, strange, 3)
        outcome(_core.edge_faults, strange, np.zeros(1, np.int64), 1)
        outcome(_core.edge_faults, np.array([[0, 1, 2]]), strange, 1)
        outcome(
            _core.inverted_pieces, strange, np.array([[0, 1, 2]]), np.zeros(1, np.int64), np.ones(1, bool)
        )
        outcome(_core.inverted_pieces, rng.random((3, 3)), strange, np.zeros(1, np.int64), np.ones(1, bool))
        outcome(_core.inverted_pieces, rng.random((3, 3)), np.array([[0, 1, 2]]), strange, np.ones(1, bool))
    with pytest.raises(ValueError, match="no mesh has"):
        _core.MeshScene([CUBE.tree], np.array([[0, 1]]))


def test_a_scene_keeps_its_meshes_alive():
    scene = MeshScene([TriangleMesh.box((1.0, 1.0, 1.0)) for _ in range(3)])
    core = scene._core
    del scene
    out = np.zeros((1, 3), np.uint8)
    core.states(np.tile(ROW, (1, 3, 1)), out, True, False)
    assert (out == 1).all()


def test_threads_share_trees():
    a, b = mesh("torus"), mesh("cube3")
    Ts = poses(shape("torus"), shape("cube3"), 200, 0.0, 0.8, seed=1)
    states, contacts = collide_batch(a, None, b, Ts), mesh_mesh_contact_batch(a, None, b, Ts)
    wrong: list[str] = []

    def again() -> None:
        for _ in range(3):
            if not np.array_equal(collide_batch(a, None, b, Ts), states):
                wrong.append("states")
            found = mesh_mesh_contact_batch(a, None, b, Ts)
            if not np.array_equal(found.contacts.points, contacts.contacts.points):
                wrong.append("contacts")

    threads = [threading.Thread(target=again) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
