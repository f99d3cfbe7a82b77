"""Constraints on the way: kept between the rows too, by rotations and points of another library."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import elbowroom as er
from elbowroom import _core
from elbowroom.errors import InputError
from elbowroom.plan import PlaneCost, PlanOptions, Roadmap, TubeCost, UprightCost, plan_motion
from tests.plan.cart import LEFT, PLANE, RIGHT, along, cart, clear, wall

TOLERANCE = np.radians(5.0)
HAND = "panda_hand"


def close(path, count=25):
    """Configurations on the straight lines between rows."""
    return np.concatenate([np.linspace(a, b, count) for a, b in itertools.pairwise(path)])


def pointing_down(model, count):
    """Free configurations with the hand pointing down."""
    solver, rng, found = er.IkSolver(model), np.random.default_rng(3), []
    while len(found) < count:
        T = np.eye(4)
        T[:3, :3] = (
            Rotation.from_euler("z", rng.uniform(-2, 2)) * Rotation.from_euler("x", np.pi)
        ).as_matrix()
        T[:3, 3] = rng.uniform([0.3, -0.5, 0.2], [0.6, 0.5, 0.7])
        result = solver.solve({HAND: T})
        if result.success:
            found.append(result.cfg)
    return found


def test_a_cup_is_kept_upright(among):
    model = among("panda", "table", 0)
    robot = model.robot
    cup = UprightCost(robot, HAND, direction=(0, 0, -1), tolerance=TOLERANCE)
    rows = pointing_down(model, 6)
    for start, goal in zip(rows[::2], rows[1::2], strict=True):
        result = plan_motion(model, start, goal, options=PlanOptions(timeout=30.0), keep=cup)
        assert result.success, result.why
        assert result.proof.free
        quats = robot.link_poses(close(result.path))[:, robot.link_index(HAND), :4]
        axis = Rotation.from_quat(quats[:, [1, 2, 3, 0]]).apply([0, 0, 1])
        assert np.arccos(np.clip(-axis[:, 2], -1, 1)).max() <= TOLERANCE + 1e-9
        assert any("upright within" in note for note in result.notes)


def test_a_tube_and_a_plane_are_kept():
    """The gap of the wall is at y = 0.6: a plane at y = 0 leaves no way, a tube through the gap does."""
    model = wall()
    tube = TubeCost(model.robot, "cart", [[-0.6, 0, 0], [-0.6, 0.6, 0], [0.6, 0.6, 0], [0.6, 0, 0]], 0.12)
    options = PlanOptions(timeout=20.0)
    result = plan_motion(model, LEFT, RIGHT, PLANE, options, keep=[tube])
    assert result.success, result.why
    rows = along(result.path)
    assert clear(model.world, rows).min() > 0.0
    assert tube.cost(rows[None], 0.01).max() <= 1e-9
    flat = PlaneCost(model.robot, "cart", (0, 1, 0), 0.0, 0.05)
    refused = plan_motion(model, LEFT, RIGHT, PLANE, PlanOptions(timeout=0.3), keep=flat)
    assert not refused.success
    assert refused.reason in ("timeout", "blocked")
    straight = plan_motion(cart(), LEFT, RIGHT, PLANE, keep=flat)
    assert straight.method == "straight line"


def test_ends_that_do_not_keep_it_are_refused():
    model = cart()
    flat = PlaneCost(model.robot, "cart", (0, 1, 0), 0.0, 0.05)
    off = RIGHT + np.array([0.0, 0.3, 0.0])
    result = plan_motion(model, LEFT, off, PLANE, keep=flat)
    assert result.reason == "goal"
    assert "0.25 m beyond the tolerance of plane" in result.why
    assert plan_motion(model, off, LEFT, PLANE, keep=flat).reason == "start"
    both = plan_motion(model, LEFT, np.stack([off, RIGHT]), PLANE, keep=flat)
    assert both.success
    assert both.goal_idx == 1
    assert any("goal 0 does not keep" in note for note in both.notes)


def test_wrong_constraints_say_what_is_wrong(bare):
    model = cart()
    with pytest.raises(InputError, match="expected UprightCost"):
        plan_motion(model, LEFT, RIGHT, PLANE, keep=["upright"])
    with pytest.raises(InputError, match="another robot"):
        plan_motion(model, LEFT, RIGHT, PLANE, keep=UprightCost(bare("panda").robot, HAND))
    flat = PlaneCost(model.robot, "cart", (0, 1, 0), 0.0, 0.05)
    for more in ({"options": PlanOptions(method="stomp")}, {"roadmap": Roadmap(model, PLANE)}):
        with pytest.raises(InputError, match="only the sampler"):
            plan_motion(model, LEFT, RIGHT, PLANE, keep=flat, **more)


@pytest.mark.parametrize("name", ["panda", "rh56"])
def test_lines_that_are_said_to_keep_a_tolerance_do(bare, name):
    """Random lines of random constraints: no sample of one that is kept is beyond; rh56 has joints that others drive."""
    robot = bare(name).robot
    rng = np.random.default_rng(1)
    link = len(robot.link_names) - 1
    starts = robot.random_cfgs(300, seed=2)
    ends = starts + rng.uniform(-0.3, 0.3, starts.shape)
    counts = [0, 0]
    for a, b in zip(starts, ends, strict=True):
        own, world = rng.normal(size=(2, 3))
        own, world = own / np.linalg.norm(own), world / np.linalg.norm(world)
        numbers = np.array([rng.uniform(-0.3, 0.3), rng.uniform(0.05, 1.5)])
        keeps = _core.Keeps(robot.tree.core, [(int(rng.integers(3)), link, np.stack([own, world]), numbers)])
        excess = keeps.excess(np.linspace(a, b, 200)).max()
        kept = keeps.on_path(np.stack([a, b]))
        counts[kept] += 1
        assert not kept or excess <= 1e-9
        assert kept or excess > -0.01  # what is clearly within is shown to be
    assert min(counts) > 20
