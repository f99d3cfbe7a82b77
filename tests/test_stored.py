"""What is stored for the tests is what would be computed today."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from .stored import MODELS, RESULTS, compute, files, spheres

VOLUME, COUNT = 0.02, 0.1
"""Shares by which two fits of one robot may differ: rounding, which differs between processors and compilers, decides
where a sphere is split."""


@pytest.mark.long
@pytest.mark.parametrize(("name", "method"), MODELS)
def test_spheres_computed_again_are_as_good_as_the_stored_ones(name, method, tmp_path, monkeypatch):
    monkeypatch.setenv("ELBOWROOM_CACHE", str(tmp_path))
    spheres(name, method)
    for _, made, kept in made_and_kept(tmp_path, "spheres/"):
        assert made.files == kept.files
        assert len(kept["radii"]) == pytest.approx(len(made["radii"]), rel=COUNT)
        assert (kept["radii"] ** 3).sum() == pytest.approx((made["radii"] ** 3).sum(), rel=VOLUME)


@pytest.mark.long
@pytest.mark.parametrize(("name", "method"), MODELS)
def test_pairs_computed_again_are_the_stored_ones(name, method, tmp_path, monkeypatch):
    """Of the stored spheres."""
    monkeypatch.setenv("ELBOWROOM_CACHE", str(tmp_path))
    shutil.copytree(RESULTS / "spheres", tmp_path / "spheres")
    compute(name, method)
    for place, made, kept in made_and_kept(tmp_path, "pairs/"):
        assert made.files == kept.files == ["json"]
        assert decided(kept) == decided(made), f"{place} is out of date: run `python -m tests.stored`"


def made_and_kept(folder, kind):
    """Place, result computed now and stored one of every result of a kind."""
    found = {place: path for place, path in files(folder).items() if place.startswith(kind)}
    assert found
    for place, path in found.items():
        assert place in files(RESULTS), f"{place} is not stored: run `python -m tests.stored`"
        with np.load(path) as made, np.load(RESULTS / place) as kept:
            yield place, made, kept


def decided(stored: Mapping[str, Any]) -> tuple[list[str], dict[tuple[str, ...], str]]:
    """The keys of a result, and why each pair is checked or not; how close it comes is rounded differently elsewhere."""
    result = json.loads(str(stored["json"]))
    return sorted(result), {tuple(pair["links"]): pair["reason"] for pair in result["pairs"]}


def test_runs_begin_with_what_is_stored():
    """A model of the tests needs no fit, which takes seconds."""
    from elbowroom._cache import cache_dir

    assert set(files(RESULTS)) <= set(files(cache_dir()))
    assert {place.split("/")[0] for place in files(RESULTS)} >= {"spheres", "pairs"}
