"""Shortcuts: never longer, always proved."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.plan._sampler import Sampler
from elbowroom.plan.internal import Group

from .test_sampler import ends_of


def length(path):
    return np.linalg.norm(np.diff(path, axis=0), axis=1).sum()


@pytest.mark.parametrize("name", ["panda", "teaarm"])
def test_paths_get_shorter_and_stay_proved(among, name):
    model = among(name, "shelf", 3)
    rows = ends_of(model, 12, seed=3)
    gains = []
    for start, goal in zip(rows[::2], rows[1::2], strict=True):
        group = Group.of(model.robot, start)
        sampler = Sampler(model, group, start, goal[None], 1)
        assert sampler.grow(6000)
        path = sampler.path
        short = sampler.shorten(path, 40, 0)
        np.testing.assert_array_equal(short[[0, -1]], path[[0, -1]])
        assert model.segments_free(short[:-1], short[1:]).free.all()
        np.testing.assert_array_equal(sampler.shorten(path, 40, 0), short)
        gains.append(length(short) / length(path))
    assert max(gains) <= 1.0
    assert min(gains) < 0.9


def test_what_cannot_be_shorter_stays(among):
    model = among("panda", "shelf", 3)
    row = ends_of(model, 1, seed=3)[0]
    near = row + 1e-3
    line = np.array([row, near])
    sampler = Sampler(model, Group.of(model.robot, row), row, near[None])
    np.testing.assert_array_equal(sampler.shorten(line, 20, 0), line)
    np.testing.assert_array_equal(sampler.shorten(line, 0, 0), line)
    there_and_back = np.array([row, near, row])
    assert length(sampler.shorten(there_and_back, 20, 0)) <= length(there_and_back)
