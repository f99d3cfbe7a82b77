"""TriangleMesh: what it accepts, what it finds out, how fast it builds.

Looks inside: closed pieces, states of poses and the shapes of fits must agree on what a solid is.
"""

from __future__ import annotations

import copy
import pickle
import time
import tracemalloc

import numpy as np
import pytest
import trimesh

from elbowroom import _core
from elbowroom._closed import is_closed
from elbowroom.errors import ElbowroomError, InputError
from elbowroom.mesh import TriangleMesh, mesh_mesh_separation
from elbowroom.mesh.internal import collide_states
from elbowroom.spheres._shape import LinkShape

from .mesh_tools import mesh, shape, shift

SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])


@pytest.mark.parametrize(
    ("vertices", "faces", "says"),
    [
        (SQUARE[:, :2], [[0, 1, 2]], "(verts, 3)"),
        (SQUARE, [[0, 1]], "(tris, 3)"),
        (SQUARE, np.empty((0, 3), int), "at least one triangle"),
        (SQUARE, [[0, 1, 4]], "0 to 3"),
        (SQUARE, [[0, 1, -1]], "0 to 3"),
        (SQUARE, [[0, 1, 2**62]], "0 to 3"),
        (SQUARE, [[0.5, 1, 2]], "whole numbers"),
        (SQUARE, [["a", "b", "c"]], "whole numbers"),
        ([[0, 0, 0], [1, 0, 0], [np.nan, 1, 0]], [[0, 1, 2]], "NaN"),
        ([[0, 0, 0], [1, 0, 0], [np.inf, 1, 0]], [[0, 1, 2]], "NaN or infinite"),
        (SQUARE * 1e12, [[0, 1, 2]], "1e+09"),
        ("no", [[0, 1, 2]], "numbers"),
        (SQUARE, [[0, 1, 1], [2, 2, 2]], "degenerate"),
    ],
)
def test_bad_input_says_what_is_wrong(vertices, faces, says):
    with pytest.raises(InputError) as caught:
        TriangleMesh(vertices, faces)
    assert says in str(caught.value)
    assert isinstance(caught.value, ElbowroomError)
    assert isinstance(caught.value, ValueError)


def test_degenerate_triangles_are_dropped_and_counted():
    vertices = np.concatenate([SQUARE, [[2.0, 0, 0]]])
    m = TriangleMesh(vertices, [[0, 1, 2], [0, 1, 4], [3, 3, 1], [0, 2, 3]])
    assert m.n_degenerate == 2
    assert m.degenerate.tolist() == [False, True, True, False]
    assert sorted(m.order.tolist()) == [0, 3]


def test_slivers_are_kept():
    m = TriangleMesh([[0, 0, 0], [1, 0, 0], [0.5, 1e-9, 0]], [[0, 1, 2]])
    assert m.n_degenerate == 0


def test_closed_and_open_are_recognised():
    cube = shape("cube1")
    assert mesh("cube1").closed
    opened = TriangleMesh(cube.vertices, cube.faces[:-1])
    assert not opened.closed
    assert not opened.closed_faces.any()
    assert TriangleMesh(cube.vertices, cube.faces[:, ::-1]).closed


def test_a_box_with_a_flipped_face_contains_things():
    cube = shape("cube1")
    flipped = cube.faces.copy()
    flipped[::5] = flipped[::5, ::-1]
    box = TriangleMesh(cube.vertices, flipped)
    assert box.closed
    assert LinkShape.from_arrays(cube.vertices, flipped).closed  # what the coverage proof says
    assert is_closed(trimesh.Trimesh(cube.vertices, flipped, process=False))  # what `elbowroom info` says
    rng = np.random.default_rng(0)
    Ts = np.tile(np.eye(4), (2000, 1, 1))
    Ts[:, :3, 3] = rng.uniform(-0.8, 0.8, (2000, 3))
    small = TriangleMesh.box((0.05, 0.05, 0.05))
    states = collide_states(box, None, small, Ts)
    np.testing.assert_array_equal(states, collide_states(mesh("cube1"), None, small, Ts))
    assert (states == 3).sum() > 200
    assert mesh_mesh_separation(box, None, small, shift(0.1, 0.02)).depth == pytest.approx(0.425, abs=1e-9)


def test_the_closed_pieces_of_a_partly_open_mesh_contain_things():
    cube = shape("cube1")
    lid = np.array([[2.0, -0.4, -0.4], [2.0, 0.4, -0.4], [2.0, 0.0, 0.4]])
    faces = np.concatenate([cube.faces, cube.faces[:-1] + 100, [[200, 201, 202]]])
    vertices = np.zeros((203, 3))
    vertices[: len(cube.vertices)] = cube.vertices
    vertices[100 : 100 + len(cube.vertices)] = cube.vertices + np.array([4.0, 0, 0])  # an open box, 4 m away
    vertices[200:] = lid
    both = TriangleMesh(vertices, faces)
    assert not both.closed
    assert both.closed_faces.sum() == len(cube.faces)
    small = TriangleMesh.box((0.1, 0.1, 0.1))
    states = collide_states(
        both, None, small, np.stack([shift(0.1, 0.2), shift(1.0), shift(2.0), shift(4.1)])
    )
    assert states.tolist() == [3, 0, 1, 0]
    rng = np.random.default_rng(1)
    Ts = np.tile(np.eye(4), (3000, 1, 1))
    Ts[:, :3, 3] = rng.uniform((-0.8, -0.8, -0.8), (1.2, 0.8, 0.8), (3000, 3))
    np.testing.assert_array_equal(
        collide_states(both, None, small, Ts), collide_states(mesh("cube1"), None, small, Ts)
    )
    assert repr(both).split(", ")[1] == "partly closed"


def test_vertices_are_merged_by_coordinates_as_in_stl_files():
    cube = shape("cube2")
    soup = TriangleMesh(cube.triangles.reshape(-1, 3), np.arange(3 * len(cube.faces)).reshape(-1, 3))
    assert soup.closed
    assert soup.components == 1
    two = trimesh.util.concatenate([cube, cube.copy().apply_translation([3, 0, 0])])
    assert TriangleMesh.from_trimesh(two).components == 2


def test_negative_zero_is_zero_when_vertices_are_merged():
    cube = shape("cube1")
    soup = cube.triangles.reshape(-1, 3).copy()
    soup[::2][soup[::2] == 0.0] = -0.0
    assert TriangleMesh(soup, np.arange(len(soup)).reshape(-1, 3)).closed


def test_duplicate_triangles_still_make_a_solid_with_winding_two():
    cube = shape("cube0")
    double = TriangleMesh(cube.vertices, np.concatenate([cube.faces, cube.faces]))
    assert double.closed
    assert collide_states(double, None, TriangleMesh.box((0.1, 0.1, 0.1)), None)[0] == 3


def test_arrays_are_read_only_and_not_shared():
    vertices = SQUARE.copy()
    m = TriangleMesh(vertices, [[0, 1, 2]])
    vertices[0] = 5
    assert m.vertices[0, 0] == 0
    for array in (m.vertices, m.faces, m.closed_faces, m.triangles, m.order):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        m.closed = True  # type: ignore[misc]


def test_the_tree_holds_every_triangle_once():
    m = mesh("talos_torso")
    assert sorted(m.order.tolist()) == np.flatnonzero(~m.degenerate).tolist()
    corners = m.vertices[m.faces]
    assert np.all(np.abs(corners - m.center) <= m.half_extents + 1e-12)
    same = np.sort(m.triangles.reshape(-1, 3, 3), axis=1) == np.sort(corners[m.order], axis=1)
    assert same.all()  # the same corners, whichever way they are wound


def test_pickled_meshes_do_not_name_the_variant_of_the_core():
    """Else a machine that runs another variant could not read them, as in a mixed cluster."""
    written = pickle.dumps(mesh("panda_hand").tree)
    assert b"elbowroom._core" in written
    assert f"elbowroom._core.{_core.VARIANT}".encode() not in written


def test_pickled_and_copied_meshes_answer_alike():
    m = mesh("panda_hand")
    for twin in (pickle.loads(pickle.dumps(m)), copy.deepcopy(m), copy.copy(m)):
        assert repr(twin) == repr(m)
        assert twin.digest == m.digest
        np.testing.assert_array_equal(twin.order, m.order)
        assert not twin.triangles.flags.writeable
        assert collide_states(twin, None, m, shift(0.02))[0] == 1


def test_many_equal_triangles_do_not_make_a_deep_tree():
    m = TriangleMesh(SQUARE, np.tile([[0, 1, 2]], (5000, 1)))
    assert m.depth < 100


def test_200000_triangles_build_in_two_seconds_and_200_megabytes():
    big = trimesh.creation.torus(1.0, 0.3, major_sections=500, minor_sections=200)
    assert len(big.faces) == 200_000
    vertices, faces = np.array(big.vertices), np.array(big.faces)
    TriangleMesh.box((1, 1, 1))  # compile
    tracemalloc.start()
    begin = time.process_time()
    m = TriangleMesh(vertices, faces)
    seconds = time.process_time() - begin
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert m.closed
    assert seconds < 2.0
    assert peak < 200e6
    assert collide_states(m, None, m, shift(0.05))[0] == 1


def test_repr_says_what_it_is():
    assert repr(mesh("cube0")) == "TriangleMesh(12 triangles, closed, 1 pieces)"
