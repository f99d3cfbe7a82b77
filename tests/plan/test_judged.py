"""Planned motions of real robots judged by Pinocchio and Coal, at every millimetre; the benchmark asks more.

Nothing of the planner or of `CollisionModel` is asked for the verdict; see `tests.plan_oracles`.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from benchmarks._plan_problems import Problem, bare, generated, read_problems
from benchmarks.plan import SAMPLE
from elbowroom.plan import PlanOptions, PlanResult, plan_motion

from ..motion_limits import beyond_limits
from ..plan_oracles import PathJudge

SEED = 3


@cache
def judge_of(robot: str) -> PathJudge:
    return PathJudge(bare(robot))


def judge_for(problem: Problem) -> PathJudge:
    own = judge_of(problem.robot)
    return PathJudge(bare(problem.robot), problem.world, problem.held, oracle=own.bare, pairs=own.own_pairs)


def planned(problem: Problem, **options: object) -> PlanResult:
    return plan_motion(
        problem.model(), problem.start, problem.goals[0], problem.joints, PlanOptions(seed=SEED, **options)
    )


def assert_faultless(problem: Problem, result: PlanResult) -> None:
    """What was returned, all of it: rows, the curve that they are of, limits in time, ends, held joints, the proof."""
    assert result.success, f"{problem.name}: {result.why}"
    assert result.proof is not None
    assert result.proof.free
    judge, ends = judge_for(problem), (problem.start, problem.goals[0])
    assert judge.faults(result.path, problem.joints, ends) == [], problem.name
    assert judge.faults(result.curve, problem.joints, ends) == [], problem.name
    if result.motion is not None:
        limits = result.motion.limits
        assert beyond_limits(result.motion, limits.velocity, limits.acceleration, limits.jerk) == []
        at_times = result.motion.at(np.asarray(result.times))
        np.testing.assert_allclose(result.path, at_times, atol=1e-9)


@pytest.mark.robots
@pytest.mark.skipif(not SAMPLE.exists(), reason="the sample of MotionBenchMaker is not beside the repository")
def test_problems_of_the_sample():
    found = read_problems(SAMPLE)
    kinds = dict.fromkeys(problem.kind for problem in found)
    for kind in kinds:
        problem = [p for p in found if p.kind == kind][-1]
        assert_faultless(problem, planned(problem))


@pytest.mark.parametrize("robot", ["panda", "teaarm", pytest.param("baxter", marks=pytest.mark.long)])
def test_generated_problems_for_one_arm_and_two(robot):
    for problem in list(generated(robot, 11))[::5]:  # one of each kind of scene
        assert_faultless(problem, planned(problem))


@pytest.mark.parametrize("robot", ["panda", "teaarm"])
def test_with_a_held_object(robot):
    problem = next(generated(robot, 1, held=True))
    result = planned(problem)
    assert_faultless(problem, result)


def test_paths_as_they_were_found_and_what_is_timed_under_jerk_limits():
    for problem in generated("teaarm", 1):
        plain = planned(problem, shortcuts=0, smooth=False, timed=False)
        assert plain.times is None
        assert_faultless(problem, plain)
        assert_faultless(problem, planned(problem, jerk_limits=200.0, rate=250.0))


def test_the_judge_refuses_the_straight_way_where_a_search_was_needed():
    """So that the tests above can fail."""
    refused = [
        not judge_for(problem).free(np.stack([problem.start, problem.goals[0]]))
        for problem in list(generated("teaarm", 11))[::5]
        if planned(problem, timed=False).method != "straight line"
    ]
    assert refused
    assert all(refused)
