"""What ships with the package for the bundled robots is what would be computed today."""

from __future__ import annotations

from pathlib import Path

import pytest

import elbowroom as er
from elbowroom import _cache

SHIPPED = Path(_cache.__file__).parent / "assets" / "results"
STALE = "the shipped results are stale: run `make assets`"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache beside the shipped results."""
    monkeypatch.setattr(_cache, "SHIPPED", SHIPPED)
    monkeypatch.setenv("ELBOWROOM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def not_now(*args, **kwargs):
    raise AssertionError(STALE)


@pytest.mark.parametrize("name", ["teaarm", "rh56", "rh56_left"])
def test_models_of_the_bundled_robots_need_no_fit(name, load, cache, monkeypatch):
    monkeypatch.setattr("elbowroom.spheres._fit.fit_tight", not_now)
    monkeypatch.setattr("elbowroom.collision._defaults.compute_pairs", not_now)
    model = er.CollisionModel(load(name))
    assert not cache.exists()
    assert model.uncovered == ()  # proved just now, not read


def test_another_budget_is_not_taken_for_the_shipped_one(load, cache, monkeypatch):
    monkeypatch.setattr("elbowroom.spheres._fit.fit_tight", not_now)
    with pytest.raises(AssertionError, match="stale"):
        er.fit_spheres(load("teaarm"), er.FitOptions(n_spheres=120))


def test_grasps_need_no_tables(cache):
    from elbowroom.grasp import GraspPlanner, load_hand

    planner = GraspPlanner(load_hand("rh56"))
    planner.line(0.04), planner.plane(0.04), planner.cylinder(0.06)
    assert not cache.exists(), STALE
