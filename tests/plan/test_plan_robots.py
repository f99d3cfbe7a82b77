"""Motions of whole robots, judged by Pinocchio and Coal at every millimetre: two arms at once, and a held object."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.plan import PlanOptions, plan_motion
from elbowroom.world import Box, scene_for
from tests.ik.models import model_of

pytest.importorskip("pinocchio")
pytest.importorskip("coal")
from tests.plan_oracles import Held, PathJudge

BAR = Held("bar", "frame_left_arm_ee", Box((0.04, 0.04, 0.25)), np.eye(4), ("left_arm_l7",))
"""Across the left hand of teaarm."""


def ends_in(model: er.CollisionModel, count: int, seed: int) -> np.ndarray:
    """Pairs (count, 2, dof) of free configurations: most are millimetres from contact, where spheres refuse."""
    robot = model.robot
    rng = np.random.default_rng(seed)
    rows = rng.uniform(robot.lower, robot.upper, (4000, robot.dof))
    rows = rows[model.free(rows)]
    assert len(rows) >= 2 * count
    return rows[: 2 * count].reshape(count, 2, -1)


@pytest.mark.long
@pytest.mark.parametrize(("kind", "held"), [("shelf", False), ("table", True)])
def test_both_arms_go_where_they_should_and_touch_nothing(kind, held):
    bare = model_of("teaarm")
    world = scene_for(bare.robot, kind, 1)
    model = bare
    if held:
        model = bare.attach(BAR.name, BAR.link, BAR.shape, BAR.pose, touch_links=BAR.touch_links)
    model = model.with_world(world)
    judge = PathJudge(bare.with_world(world), held=(BAR,) if held else ())
    for start, goal in ends_in(model, 3, seed=4):
        result = plan_motion(model, start, goal, options=PlanOptions(timeout=600.0))
        assert result.success, result.why
        assert judge.faults(result.path, ends=(start, goal)) == []
        assert judge.faults(result.motion, ends=(start, goal)) == []
