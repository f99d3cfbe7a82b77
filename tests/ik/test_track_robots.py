"""Two hands that swap places through each other: judged by Coal, and by the commands alone."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.ik import Tracker
from elbowroom.world import Box, World
from tests.crossing import Crossing, judge_motion, ready_cfg, through_each_other
from tests.oracles import oracle_of

DT = 0.005
SECONDS = 4.0
"""The hands go through each other and half the way back."""


@pytest.mark.parametrize("name", ["teaarm", "baxter"])
def test_hands_that_cross_do_not_touch(load, name):
    robot = load(name)
    model = er.CollisionModel(robot, er.fit_spheres(robot, er.FitOptions(method="centerline")), threads=1)
    cfg, oracle = ready_cfg(robot), oracle_of(robot)
    crossing = Crossing.of(robot, cfg)
    targets = [crossing.at(k * DT) for k in range(int(SECONDS / DT))]
    unaware = through_each_other(robot, crossing, cfg, targets[::10])
    assert (~oracle.free(unaware, model.pairs.checked)).sum() > 10  # else the test could not fail
    tracker, path = Tracker(model, crossing.links), [cfg]
    for target in targets:
        step = tracker.tick(target, path[-1], DT)
        assert step.proved
        path.append(step.cfg)
    judged = judge_motion(oracle, model.pairs.checked, np.array(path))
    assert judged.clearance >= 1.8e-3, judged.pair
    assert not judged.touching.any()
    speeds = np.diff(path, axis=0, prepend=[cfg]) / DT
    limits = np.where(robot.velocity_limits < 100.0, robot.velocity_limits, 3.0)
    assert (np.abs(speeds) <= limits * (1.0 + 1e-9)).all()
    assert (np.abs(np.diff(speeds, axis=0)) <= 10.0 * limits * DT * (1.0 + 1e-6)).all()
    # the hands part again: back on target within half a second
    home = crossing.at(0.0)
    for _ in range(int(3.0 / DT)):
        step = tracker.tick(home, step.cfg, DT)
    assert step.position_error.max() < 0.002


def test_hands_that_jump_past_each_other_arrive_with_a_buffer(load):
    """Each hand is sent to where the other was, at once, and kept a centimetre from everything: they must slide past."""
    robot = load("baxter")
    model = er.CollisionModel(
        robot, er.fit_spheres(robot, er.FitOptions(method="centerline")), threads=1, buffer=0.01
    )
    cfg = ready_cfg(robot)
    crossing = Crossing.of(robot, cfg)
    there, tracker = crossing.at(0.5 * crossing.period), Tracker(model, crossing.links)
    step, held = tracker.tick(there, cfg, DT), set[str]()
    for _ in range(int(5.0 / DT)):
        step = tracker.tick(there, step.cfg, DT)
        held.update(step.limited_by)
    assert step.position_error.max() < 1e-3
    assert any("left" in words and "right" in words for words in held)  # they did block each other


def test_back_on_target_half_a_second_after_the_obstacle_is_gone(load):
    """Both hands are sent 10 cm ahead, to where a block of 6 cm keeps the left one some 2 cm off its target.

    What is left to go once the block is gone takes, at 1 m/s, a small part of the half second.
    """
    robot = load("teaarm")
    model = er.CollisionModel(robot, er.fit_spheres(robot, er.FitOptions(method="centerline")), threads=1)
    cfg = ready_cfg(robot)
    crossing, ahead = Crossing.of(robot, cfg), np.array([0.0, 0, 0, 0, 0.0, 0.1, 0.0])
    targets = dict(zip(crossing.links, crossing.poses + ahead, strict=True))
    block = Box((0.06, 0.06, 0.06), pose=[1, 0, 0, 0, *targets[crossing.links[0]][4:]], name="block")
    tracker, path = Tracker(model.with_world(World([block])), crossing.links), [cfg, cfg]
    for _ in range(200):
        step = tracker.tick(targets, path[-1], DT)
        path.append(step.cfg)
    assert step.position_error[0] > 0.02  # ten times what is asked for below
    assert any("block" in word for word in step.limited_by)
    tracker = tracker.with_model(model)
    for _ in range(100):
        step = tracker.tick(targets, path[-1], DT)
        path.append(step.cfg)
    assert step.position_error.max() < 0.002
    assert step.orientation_error.max() < 0.02
    speeds = np.diff(path, axis=0) / DT
    assert (np.abs(speeds) <= robot.velocity_limits * (1.0 + 1e-9)).all()
    assert (np.abs(np.diff(speeds, axis=0)) <= 10.0 * robot.velocity_limits * DT * (1.0 + 1e-6)).all()
