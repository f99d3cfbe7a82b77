"""Smoothed curves: free by Coal, continuous up to curvature, within limits, and never rougher than the path."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import elbowroom as er
from elbowroom.plan import Curve, prove_path
from elbowroom.plan._smooth import roughness, smooth
from elbowroom.plan.internal import Group
from elbowroom.world import World, scene_for

from ..plan_oracles import PathJudge
from .cart import PLANE, block, cart, clear, wall

THROUGH = np.array([[-0.6, 0.0, 0.0], [-0.4, 0.6, 0.0], [0.4, 0.6, 0.0], [0.6, 0.0, 0.0]])
"""Through the gap of `wall`."""


def length(rows: np.ndarray) -> float:
    return float(np.linalg.norm(np.diff(rows, axis=0), axis=1).sum())


def dense_rows(curve: Curve) -> np.ndarray:
    return curve.at(np.linspace(0.0, curve.end, 2000))


def check_continuous(curve: Curve) -> None:
    """Position, direction and curvature are the same on both sides of every knot that is no stop."""
    before, after, widths = curve.pieces[:-1], curve.pieces[1:], np.diff(curve.knots)
    left, right = widths[:-1, None], widths[1:, None]
    assert (before[:, 3] == after[:, 0]).all()
    for k in np.flatnonzero(~curve.stops[1:-1]):
        slopes = (before[k, 3] - before[k, 2]) / left[k], (after[k, 1] - after[k, 0]) / right[k]
        bends = (
            (before[k, 1] - 2.0 * before[k, 2] + before[k, 3]) / left[k] ** 2,
            (after[k, 0] - 2.0 * after[k, 1] + after[k, 2]) / right[k] ** 2,
        )
        np.testing.assert_allclose(*slopes, atol=1e-9)
        np.testing.assert_allclose(*bends, atol=1e-6)


def on_cart(model: er.CollisionModel, path: np.ndarray) -> Curve:
    """Smooths a path of the cart and checks what holds of every answer."""
    path = np.asarray(path)
    curve = smooth(model, Group.of(model.robot, path[0], PLANE), path)
    check_continuous(curve)
    rows = curve.at(np.linspace(0.0, curve.end, 20_000))
    assert (rows[[0, -1]] == path[[0, -1]]).all()
    assert (rows[:, 2] == path[0, 2]).all()
    assert (np.abs(rows[:, :2]) <= 1.0).all()
    if model.world is not None:
        assert clear(model.world, rows).min() > 0.0
    assert roughness(curve) <= roughness(path) + 1e-25  # rounding of a straight line
    return curve


# The spline -------------------------------------------------------------------------------------


def test_splines_are_those_of_scipy() -> None:
    """Where nothing is in the way the spline is the first that is tried, so a look inside tells what it minimises."""
    interpolate = pytest.importorskip("scipy.interpolate")
    rng = np.random.default_rng(0)
    for n in (3, 4, 8):
        path = np.column_stack([rng.uniform(-0.3, 0.3, (n, 2)), np.zeros(n)])
        curve = on_cart(cart(), path)
        ways = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
        reach = 0.3 * ways[-1]  # LOOSE in smooth.cpp: what is smoothed over at first
        weights = np.full(len(curve.knots), 1e9)  # the ends are as good as fixed
        weights[1:-1] = (curve.knots[2:] - curve.knots[:-2]) / (2.0 * reach**4)
        for j in range(2):
            guide = np.interp(curve.knots, ways, path[:, j])
            peer = interpolate.make_smoothing_spline(curve.knots, guide, w=weights, lam=1.0)
            np.testing.assert_allclose(curve.waypoints[:, j], peer(curve.knots), atol=1e-5)
            middles = 0.5 * (curve.knots[1:] + curve.knots[:-1])
            np.testing.assert_allclose(curve.at(middles)[:, j], peer(middles), atol=1e-5)


def test_roughness_of_a_circle_and_of_a_line() -> None:
    angles = np.linspace(0.0, np.pi, 4000)
    circle = 2.0 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    step = np.pi / 64
    assert roughness(circle) == pytest.approx(
        63 * (2.0 * step**2) ** 2, rel=1e-2
    )  # radius, not speed, matters
    assert roughness(3.0 * circle) == pytest.approx(9.0 * roughness(circle), rel=1e-9)
    assert roughness(circle[[0, 1000, -1]]) > roughness(circle)
    assert roughness([[0.0, 1.0], [0.1, 1.1], [2.0, 3.0]]) < 1e-25
    assert roughness([[1.0, 2.0], [1.0, 2.0]]) == 0.0


# Paths of a cart --------------------------------------------------------------------------------


def test_corners_are_rounded_and_cut() -> None:
    curve = on_cart(wall(), THROUGH)
    assert curve.stops.sum() == 2
    assert roughness(curve) < 0.1 * roughness(THROUGH)
    assert length(dense_rows(curve)) < length(THROUGH)
    assert prove_path(wall(), curve).free


def test_without_obstacles_the_curve_cuts_the_detour() -> None:
    way, straight = length(THROUGH), np.linalg.norm(THROUGH[-1] - THROUGH[0])
    assert length(dense_rows(on_cart(cart(), THROUGH))) - straight < 0.5 * (way - straight)


def test_tight_corners_are_left_as_tight_as_they_are() -> None:
    room = 2e-4  # of a channel around a corner, to each side of the cart
    side = 0.05 + room
    channel = World(
        [
            block("left", (-2.0, -side), (-2.0, 2.0)),
            block("above", (-2.0, 2.0), (side, 2.0)),
            block("inner", (side, 2.0), (-2.0, -side)),
        ]
    )
    path = np.array([[0.0, -0.8, 0.0], [0.0, 0.0, 0.0], [0.8, 0.0, 0.0]])
    curve = on_cart(cart().with_world(channel), path)
    assert prove_path(cart().with_world(channel), curve).free


def test_straight_paths_stay_straight() -> None:
    for path in (THROUGH[[0, 1]], THROUGH[[0, 0, 1, 1]], np.linspace(THROUGH[0], THROUGH[1], 50)):
        curve = on_cart(wall(), path)
        assert curve.bulges.max() < 1e-12
        assert curve.stops.sum() == 2
    still = on_cart(wall(), THROUGH[[0, 0]])
    assert (still.waypoints == THROUGH[0]).all()


@pytest.mark.parametrize("count", [30, 1000])
def test_zigzags(count: int) -> None:
    path = np.zeros((count, 3))
    path[:, 0] = np.linspace(-0.8, 0.8, count)
    path[::2, 1] = 0.1
    assert roughness(on_cart(cart(), path)) < 0.1 * roughness(path)


def test_there_and_back_and_repeated_waypoints() -> None:
    on_cart(wall(), THROUGH[[0, 1, 0]])
    repeated = on_cart(wall(), np.repeat(THROUGH, 3, axis=0))
    np.testing.assert_allclose(repeated.pieces, on_cart(wall(), THROUGH).pieces)


def test_waypoints_a_hair_apart() -> None:
    hair = THROUGH[1] + np.array([[0.0, 0.0, 0.0], [1e-9, 0.0, 0.0], [1e-9, -1e-7, 0.0]])
    curve = on_cart(wall(), np.concatenate([THROUGH[:1], hair, THROUGH[2:]]))
    assert curve.stops.sum() == 2


def test_limits_hold_between_waypoints() -> None:
    along = np.array([[-1.0, -1.0, 0.0], [0.5, -1.0, 0.0], [1.0, -0.2, 0.0], [1.0, 1.0, 0.0]])
    pieces = on_cart(cart(), along).pieces
    assert (np.abs(pieces[..., :2]) <= 1.0).all()


def test_a_blocked_path_comes_back_as_it_is() -> None:
    path = np.array([[-0.6, 0.0, 0.0], [0.0, 0.1, 0.0], [0.6, 0.0, 0.0]])
    curve = smooth(wall(), Group.of(wall().robot, path[0], PLANE), path)
    np.testing.assert_array_equal(curve.waypoints, path)


@pytest.mark.parametrize("rows", [8, 64, 500])
def test_smooth_seeds_do_not_become_rougher(rows: int) -> None:
    first = on_cart(wall(), THROUGH)
    seed = first.at(np.linspace(0.0, first.end, rows))
    seed[0], seed[-1] = THROUGH[0], THROUGH[-1]
    again = on_cart(wall(), seed)
    assert again.stops.sum() == 2
    for steps in (64, 256):
        assert roughness(again, steps) <= roughness(seed, steps)


# Paths of an arm among obstacles ------------------------------------------------------------------


@cache
def panda() -> er.CollisionModel:
    return er.CollisionModel(er.load_robot("panda"))


def wander(model: er.CollisionModel, group: Group, start: np.ndarray, seed: int, corners: int) -> np.ndarray:
    """A path with corners, its edges proved."""
    rng, rows = np.random.default_rng(seed), [start]
    while len(rows) < corners:
        ahead = group.parts(rows[-1]) + rng.normal(size=len(group.moving)) * 0.5
        row = group.whole(np.clip(ahead, group.lower, group.upper))
        if model.segment_free(rows[-1], row).free:
            rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("kind", ["table", "shelf", "cage"])
def test_an_arm_among_obstacles(kind: str) -> None:
    bare = panda()
    names, ratios, judge = bare.robot.joint_names[:7], list[float](), None
    for seed in range(4):
        model = bare.with_world(scene_for(bare.robot, kind, seed))
        start = np.array(bare.default_cfg)
        if not model.free(start):
            continue
        group = Group.of(bare.robot, start, names)
        path = wander(model, group, start, seed, 6)
        curve = smooth(model, group, path)
        check_continuous(curve)
        judge = PathJudge(bare, model.world, oracle=judge and judge.bare, pairs=judge and judge.own_pairs)
        assert judge.faults(curve, names, (path[0], path[-1])) == []
        assert prove_path(model, curve).free
        assert length(dense_rows(curve)) <= 1.02 * length(path)
        ratios.append(roughness(curve) / roughness(path))
    assert len(ratios) >= 2
    assert max(ratios) <= 1.0
    assert np.median(ratios) <= 0.25
