"""Collision rows: distances against Coal's, gradients against differences, bounds that are bounds."""

from __future__ import annotations

import pickle
from functools import cache

import numpy as np
import pytest
import trimesh

import elbowroom as er
from elbowroom.ik.internal import CollisionRows
from elbowroom.world import Box, Capsule, Cylinder, HalfSpace, MeshObstacle, PointCloud, Sphere, World
from tests.ik.motions import free_starts

REACH = 0.1
STEP = 1e-6
"""rad or m; differences of distances of a metre are then good to 1e-9 relative to it."""


@pytest.fixture(scope="module")
def model_of(load):
    @cache
    def make(name: str) -> er.CollisionModel:
        robot = load(name)
        return er.CollisionModel(robot, er.fit_spheres(robot, er.FitOptions(method="centerline")))

    return make


def obstacles() -> World:
    """One of each kind, around a robot of a metre."""
    wedge = trimesh.creation.icosahedron()
    wedge.apply_scale(0.1)
    at = lambda x, y, z: np.array([1.0, 0.0, 0.0, 0.0, x, y, z])  # noqa: E731
    cloud = 0.02 * np.stack(np.meshgrid(*3 * [np.arange(5.0)]), axis=-1).reshape(-1, 3)
    return World(
        [
            Box((0.2, 0.2, 0.4), pose=at(0.6, 0.0, 0.3), name="box"),
            Sphere(0.1, pose=at(0.0, 0.6, 0.5), name="ball"),
            Cylinder(0.08, 0.4, pose=at(0.0, -0.6, 0.4), name="pipe"),
            Capsule(0.06, 0.3, pose=at(-0.5, 0.2, 0.5), name="rod"),
            HalfSpace((0.0, 0.0, 1.0), -0.1, name="floor"),
            MeshObstacle(wedge, pose=at(0.4, 0.4, 0.5), name="mesh"),
            PointCloud(cloud, 0.012, pose=at(0.4, -0.4, 0.7), name="cloud"),
        ]
    )


def test_distances_are_bounded_by_coals_and_all_near_pairs_have_rows(model_of):
    from tests.oracles import oracle_of

    model = model_of("teaarm")
    judge, rows = oracle_of(model.robot), CollisionRows(model)
    close = 0
    for cfg in free_starts(model, np.random.default_rng(1), 25):
        found = rows.at(cfg, REACH)
        truth = dict(
            zip(model.pairs.checked, judge.distances(cfg[None], model.pairs.checked)[0], strict=True)
        )
        named = set(found.names)
        for name, distance in zip(found.names, found.distance, strict=True):
            assert distance > 0.0
            if (
                name not in model.by_meshes
            ):  # spheres of a row are parts of the links: some row is the closest
                assert found.low[rows.safe.pairs.index(name)] <= truth[name] + 1e-6
        for pair, low in zip(rows.safe.pairs, found.low, strict=True):
            assert low <= truth[pair] + 1e-6
            close += truth[pair] < 0.05
            assert truth[pair] > REACH or pair in named
    assert close > 20  # else nothing was tried


@pytest.mark.parametrize("world", [False, True])
def test_rows_are_the_slopes_of_distances(model_of, world):
    """The closest row of a pair against differences of that pair's measured distance, where that has a slope."""
    model = model_of("panda").with_world(obstacles()) if world else model_of("teaarm")
    rows, rng = CollisionRows(model), np.random.default_rng(2)
    tried = set()
    for cfg in free_starts(model, rng, 60):
        here = rows.at(cfg, REACH)
        way = rng.normal(size=model.robot.dof)
        ahead, behind = (rows.at(cfg + sign * STEP * way, REACH) for sign in (1.0, -1.0))
        if not (here.names == ahead.names == behind.names):
            continue
        slope = (ahead.distance - behind.distance) / (2.0 * STEP)
        kinks = np.abs(ahead.distance + behind.distance - 2.0 * here.distance) > 1e-9
        ok = ~kinks
        np.testing.assert_allclose((here.A @ way)[ok], slope[ok], atol=2e-5)
        tried.update(here.names[k][1] for k in np.flatnonzero(ok))
    assert len(tried) >= (6 if world else 8)


def test_coupled_joints_count_with_their_slopes(load):
    """The hand's fingers follow their drivers through polynomials."""
    robot = load("rh56")
    model = er.CollisionModel(robot, er.fit_spheres(robot, er.FitOptions(method="centerline")))
    rows, rng, tried = CollisionRows(model), np.random.default_rng(3), 0
    for cfg in free_starts(model, rng, 20):
        here, way = rows.at(cfg, 0.02), rng.normal(size=robot.dof)
        ahead, behind = (rows.at(cfg + sign * STEP * way, 0.02) for sign in (1.0, -1.0))
        if here.names == ahead.names == behind.names:
            kinks = np.abs(ahead.distance + behind.distance - 2.0 * here.distance) > 1e-10
            slope = (ahead.distance - behind.distance) / (2.0 * STEP)
            np.testing.assert_allclose((here.A @ way)[~kinks], slope[~kinks], atol=2e-5)
            tried += int((~kinks).sum())
    assert tried > 20


def test_what_touches_is_said_with_names(model_of):
    model = model_of("panda").with_world(obstacles())
    low, high = model.robot.lower, model.robot.upper
    cfgs = np.random.default_rng(4).uniform(low, high, (200, model.robot.dof))
    rows = CollisionRows(model)
    seen = 0
    for cfg in cfgs:
        found = rows.at(cfg, 0.02)
        assert bool(found.in_contact) == (not model.free(cfg))
        assert set(found.in_contact) == {clash.pair for clash in model.clashes(cfg)}
        seen += bool(found.in_contact)
    assert seen > 20


def test_a_buffer_is_taken_off_the_distances(model_of):
    model = model_of("teaarm")
    cfg = model.default_cfg
    plain, kept = CollisionRows(model).at(cfg, REACH), CollisionRows(model, 0.001).at(cfg, REACH - 0.001)
    assert plain.names == kept.names
    np.testing.assert_allclose(np.maximum(plain.distance - 0.001, 0.0), kept.distance, atol=1e-9)


def test_allowed_obstacles_have_no_rows(model_of):
    model = model_of("panda")
    wall = World([Box((0.1, 0.1, 0.1), pose=[1, 0, 0, 0, 0.3, 0.0, 0.6], name="wall")])
    seen = CollisionRows(model.with_world(wall)).at(model.default_cfg, 1.0)
    allow = [(link, "wall") for link in model.robot.link_names]
    allowed = CollisionRows(model.with_world(wall, allow=allow)).at(model.default_cfg, 1.0)
    assert any("wall" in name for name in seen.names)
    assert not any("wall" in name for name in allowed.names)


def test_rows_travel(model_of):
    rows = CollisionRows(model_of("panda"))
    again = pickle.loads(pickle.dumps(rows))
    cfg = np.array([0.0, 1.0, 0.0, -2.8, 0.0, 1.5, 0.0, 0.02])[: rows.safe.model.robot.dof]
    np.testing.assert_array_equal(rows.at(cfg, 0.3).A, again.at(cfg, 0.3).A)
