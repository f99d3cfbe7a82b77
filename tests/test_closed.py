"""What is closed: pieces, turned faces, loose triangles, and that all who ask get the same answer."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from elbowroom._closed import closed_pieces, connected_pieces, is_closed, merge_vertices


def scene() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A box, a ball and a ball with a hole as loose triangles; and which triangles belong to the closed two."""
    parts = [trimesh.creation.box(), trimesh.creation.icosphere(1), trimesh.creation.icosphere(1)]
    parts[2].update_faces(np.arange(len(parts[2].faces)) != 7)
    corners = np.concatenate([p.triangles + np.array([3.0 * k, 0, 0]) for k, p in enumerate(parts)])
    belongs = np.repeat([True, True, False], [len(p.faces) for p in parts])
    return corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3), belongs


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
def test_turned_faces_do_not_open_a_piece_and_a_hole_opens_only_its_own(share):
    corners, faces, belongs = scene()
    rng = np.random.default_rng(0)
    flip = rng.random(len(faces)) < share
    faces[flip] = faces[flip][:, ::-1]
    label, first = merge_vertices(corners)
    pieces = closed_pieces(corners[first], label[faces])
    np.testing.assert_array_equal(pieces.closed, belongs)
    np.testing.assert_array_equal(np.sort(pieces.faces), np.sort(label[faces]))  # turned, not changed
    for k in np.unique(connected_pieces(label[faces], len(first))[belongs]):
        part = pieces.faces[(connected_pieces(label[faces], len(first)) == k)]
        directed = np.concatenate([part[:, [0, 1]], part[:, [1, 2]], part[:, [2, 0]]])
        there, back = set(map(tuple, directed.tolist())), set(map(tuple, directed[:, ::-1].tolist()))
        assert there == back  # every edge is met by one running the other way


def test_pieces_are_connected_by_shared_vertices():
    faces = np.array([[0, 1, 2], [5, 6, 7], [2, 3, 4], [7, 8, 9]])
    assert connected_pieces(faces, 10).tolist() == [0, 1, 0, 1]


def test_places_are_merged_without_tolerance_and_negative_zero_is_zero():
    v = np.array([[0.0, 1, 2], [-0.0, 1, 2], [1e-300, 1, 2], [0, 1, 2]])
    label, first = merge_vertices(v)
    assert label.tolist() == [0, 0, 1, 0]
    assert first.tolist() == [0, 2]


def test_surfaces_that_cannot_be_closed_are_open():
    box = trimesh.creation.box()
    assert is_closed(box)
    assert not is_closed(trimesh.Trimesh(box.vertices, box.faces[1:], process=False))
    assert not is_closed(trimesh.Trimesh(box.vertices, [[0, 0, 0]], process=False))
    # the projective plane: every edge is shared by two faces, but they cannot be turned to agree
    plane = [
        [0, 1, 4],
        [0, 4, 3],
        [0, 3, 5],
        [0, 5, 2],
        [0, 2, 1],
        [1, 2, 3],
        [2, 5, 4],
        [1, 3, 5],
        [2, 4, 3],
        [1, 5, 4],
    ]
    v = np.random.default_rng(1).normal(size=(6, 3))
    edges = np.sort(
        np.concatenate([np.array(plane)[:, [0, 1]], np.array(plane)[:, [1, 2]], np.array(plane)[:, [2, 0]]])
    )
    assert np.all(np.unique(edges, axis=0, return_counts=True)[1] == 2)
    assert not is_closed(trimesh.Trimesh(v, plane, process=False))
