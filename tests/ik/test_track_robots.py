"""Two hands that swap places through each other: judged by Coal, and by the commands alone."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.ik import Tracker
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
    assert judged.clearance > 0.0, judged.pair
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
