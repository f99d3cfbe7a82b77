"""The content-addressed cache."""

from __future__ import annotations

import multiprocessing
import os

import numpy as np
import pytest

from elbowroom import _cache


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ELBOWROOM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def make():
    return {"a": np.arange(3), "b": np.eye(2)}


def never():
    raise AssertionError("should have been read from the cache")


def test_second_call_reads_what_the_first_stored(folder):
    first = _cache.cached("kind", ["x", np.zeros(3)], make)
    second = _cache.cached("kind", ["x", np.zeros(3)], never)
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])
    assert [path.suffix for path in (folder / "kind").iterdir()] == [".npz"]


def test_every_part_counts():
    parts = [["x"], ["y"], [1], [1.0], ["1"], [b"1"], [np.zeros(3)], [np.zeros((3, 1))],
             [np.zeros(3, dtype=np.float32)], ["a", "b"], ["ab"], [("a", "b")], [[np.arange(5000)]],
             [[np.arange(5000) * (np.arange(5000) != 2500)]], [{"a": 1}], [{"a": 2}]]  # fmt: skip
    assert len({_cache.content_hash(entry) for entry in parts}) == len(parts)


@pytest.mark.parametrize("garbage", [b"", b"not a zip", b"PK\x03\x04 cut off"])
def test_corrupt_files_are_replaced(folder, garbage):
    _cache.cached("kind", ["x"], make)
    (path,) = (folder / "kind").iterdir()
    path.write_bytes(garbage)
    np.testing.assert_array_equal(_cache.cached("kind", ["x"], make)["a"], [0, 1, 2])
    np.testing.assert_array_equal(_cache.cached("kind", ["x"], never)["a"], [0, 1, 2])


@pytest.mark.parametrize("byte", [b"(", b"\x08", b"\xff"])
def test_damage_at_any_byte_costs_no_answer(tmp_path, byte):
    """`(` unbalances numpy's headers, 8 asks zipfile to inflate, 255 sets its flags (encrypted, versions to come)."""
    path = tmp_path / "a.npz"
    _cache.write_arrays(path, make())
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + byte + whole[at + 1 :])
        for name, found in (_cache.read_arrays(path) or {}).items():
            np.testing.assert_array_equal(found, make()[name])


def test_an_array_under_our_name_is_replaced(tmp_path):
    with open(tmp_path / "a.npz", "wb") as file:
        np.save(file, np.eye(2))
    assert _cache.read_arrays(tmp_path / "a.npz") is None


def test_nothing_is_left_behind_when_writing_stops(tmp_path, monkeypatch):
    def stop(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", stop)
    with pytest.raises(KeyboardInterrupt):
        _cache.write_arrays(tmp_path / "a.npz", make())
    assert not list(tmp_path.iterdir())


def test_pickles_are_never_loaded(folder):
    path = folder / "kind" / f"{_cache.content_hash(['x'])}.npz"
    path.parent.mkdir(parents=True)
    np.savez(path, a=np.array([object()], dtype=object))
    np.testing.assert_array_equal(_cache.cached("kind", ["x"], make)["a"], [0, 1, 2])


def test_an_unwritable_cache_costs_no_answer(folder, monkeypatch):
    folder.write_text("a file where the folder should be")
    np.testing.assert_array_equal(_cache.cached("kind", ["x"], make)["a"], [0, 1, 2])


def _worker(path):
    os.environ["ELBOWROOM_CACHE"] = path
    return [
        float(_cache.cached("kind", ["big"], lambda: {"a": np.ones(200_000)})["a"].sum()) for _ in range(5)
    ]


def test_processes_writing_at_once_do_no_harm(folder):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        results = pool.map(_worker, [str(folder)] * 4)
    assert all(value == 200_000 for row in results for value in row)
    assert len(list((folder / "kind").iterdir())) == 1
