"""Mesh files: binary STL is read as trimesh reads it, and what trimesh found in other files is kept by content."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import trimesh

from elbowroom import _cache
from elbowroom.errors import MeshError
from elbowroom.robot.descriptions import _meshfile
from elbowroom.robot.descriptions._meshfile import clean_triangles, read_mesh

ONE = (1.0, 1.0, 1.0)


@pytest.fixture
def cache(monkeypatch, tmp_path):
    folder = tmp_path / "cache"
    monkeypatch.setenv("ELBOWROOM_CACHE", str(folder))
    return folder / "meshes"


def _solid(seed: int = 0) -> trimesh.Trimesh:
    mesh = trimesh.creation.icosphere(subdivisions=2, radius=0.3)
    mesh.apply_translation(np.random.default_rng(seed).normal(size=3))
    return mesh


def _by_trimesh(path: Path, scale: tuple[float, ...]):
    loaded = trimesh.load(path, process=False, force="mesh")
    return clean_triangles(
        np.asarray(loaded.vertices, dtype=np.float64), np.asarray(loaded.faces), np.asarray(scale), "mesh"
    )


def _equal(a, b) -> bool:
    return a.vertices.tobytes() == b.vertices.tobytes() and a.faces.tobytes() == b.faces.tobytes()


@pytest.mark.parametrize("scale", [ONE, (0.001, 0.001, 0.001), (1.0, -1.0, 2.0)])
def test_binary_stl_is_read_as_by_trimesh_and_without_it(tmp_path, cache, monkeypatch, scale):
    path = tmp_path / "a.STL"
    path.write_bytes(trimesh.exchange.stl.export_stl(_solid()))
    expected = _by_trimesh(path, scale)
    monkeypatch.setattr(_meshfile, "parse_mesh", None)  # not called
    assert _equal(read_mesh(path, scale, "mesh"), expected)
    assert not cache.exists()


def test_stl_that_is_not_just_triangles_is_left_to_trimesh(tmp_path, cache):
    text, more, less = tmp_path / "text.stl", tmp_path / "more.stl", tmp_path / "less.stl"
    text.write_text(trimesh.exchange.stl.export_stl_ascii(_solid()))
    data = trimesh.exchange.stl.export_stl(_solid())
    assert _equal(read_mesh(text, ONE, "mesh"), _by_trimesh(text, ONE))
    for path, content in ((more, data + b"\n"), (less, data[:-7])):
        path.write_bytes(content)
        with pytest.raises(MeshError):
            read_mesh(path, ONE, "mesh")
    none = tmp_path / "none.stl"
    none.write_bytes(data[:80] + bytes(4))
    with pytest.raises(MeshError, match="no triangle"):
        read_mesh(none, ONE, "mesh")


@pytest.mark.parametrize("suffix", ["obj", "ply", "glb", "off"])
def test_what_was_found_in_a_file_is_kept_by_its_content(tmp_path, cache, monkeypatch, suffix):
    path, asked = tmp_path / f"a.{suffix}", []
    _solid().export(path)
    parse = _meshfile.parse_mesh
    monkeypatch.setattr(_meshfile, "parse_mesh", lambda *a, **k: asked.append(1) or parse(*a, **k))
    first = read_mesh(path, ONE, "mesh")
    assert _equal(first, _by_trimesh(path, ONE))
    twin = tmp_path / f"elsewhere.{suffix}"
    twin.write_bytes(path.read_bytes())
    assert _equal(read_mesh(twin, ONE, "mesh"), first)
    np.testing.assert_array_equal(read_mesh(path, (2.0, 2.0, 2.0), "mesh").vertices, 2.0 * first.vertices)
    assert len(asked) == 1
    stamp = path.stat()
    _solid(1).export(path)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # other content at the same time
    assert _equal(read_mesh(path, ONE, "mesh"), _by_trimesh(path, ONE))
    assert len(asked) == 2


def test_a_foreign_file_in_the_cache_is_not_taken(tmp_path, cache):
    path = tmp_path / "a.ply"
    _solid().export(path)
    expected = read_mesh(path, ONE, "mesh")
    (kept,) = cache.iterdir()
    _cache.write_arrays(kept, {"vertices": np.zeros((3, 2)), "faces": np.zeros((1, 3), dtype=np.int64)})
    assert _equal(read_mesh(path, ONE, "mesh"), expected)
    kept.write_bytes(b"no archive")
    assert _equal(read_mesh(path, ONE, "mesh"), expected)
