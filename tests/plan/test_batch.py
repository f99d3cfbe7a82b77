"""Batches: the same answers for any number of workers, threads or processes."""

from __future__ import annotations

import joblib
import numpy as np
import pytest

from elbowroom.errors import InputError
from elbowroom.plan import PlanOptions, PlanProblem, plan_batch, plan_motion
from tests.plan.cart import LEFT, PLANE, RIGHT, cart, wall

QUICK = PlanOptions(timeout=600.0, seed=2)
ENDS = [(LEFT + np.array([0, 0.1 * k, 0]), RIGHT - np.array([0, 0.1 * k, 0])) for k in range(5)]
PROBLEMS = [PlanProblem(*ends, joints=PLANE) for ends in ENDS]


def test_answers_do_not_depend_on_the_workers():
    model, told = wall(), []
    alone = plan_batch(
        model, PROBLEMS, QUICK, workers=1, progress=lambda done, total: told.append((done, total))
    )
    assert told == [(k + 1, 5) for k in range(5)]
    threads = plan_batch(model, PROBLEMS, QUICK, workers=3)
    with joblib.parallel_config(backend="loky"):
        processes = plan_batch(model, PROBLEMS, QUICK, workers=2)
    single = [plan_motion(model, *ends, PLANE, QUICK) for ends in ENDS]
    for results in zip(alone, threads, processes, single, strict=True):
        assert all(result.success for result in results)
        assert all((result.path == results[0].path).all() for result in results)
        assert all((result.times == results[0].times).all() for result in results)
    assert len({result.path.tobytes() for result in alone}) == 5


def test_problems_may_bring_their_obstacles():
    asked = {"start": LEFT, "goal": RIGHT, "joints": PLANE}
    results = plan_batch(cart(), [asked, {**asked, "world": wall().world}], QUICK, workers=1)
    assert [result.method for result in results] == ["straight line", "sampler"]
    assert plan_batch(cart(), [(LEFT, RIGHT)], QUICK)[0].success
    assert plan_batch(cart(), []) == ()


def test_what_is_wrong_says_where():
    with pytest.raises(InputError, match=r"problems\[1\]: expected a PlanProblem"):
        plan_batch(cart(), [(LEFT, RIGHT), (LEFT,)])
    with pytest.raises(InputError, match=r"problems\[0\]: .*found \{'start'"):
        plan_batch(cart(), [{"start": LEFT, "gaol": RIGHT}])
    with pytest.raises(InputError, match=r"problems\[1\]: goal: "):
        plan_batch(cart(), [(LEFT, RIGHT), (LEFT, np.zeros(2))], workers=1)
    with pytest.raises(InputError, match="workers must be"):
        plan_batch(cart(), [(LEFT, RIGHT)], workers=0)
