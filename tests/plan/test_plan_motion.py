"""plan_motion: what it returns is free by arithmetic, keeps its limits and its promises, and ends when told to."""

from __future__ import annotations

import importlib
import pickle
import re
import threading
import time

import numpy as np
import pytest

from elbowroom.errors import InputError, UnknownJointError
from elbowroom.plan import PlanOptions, Stomp, _finish, plan_motion, prove_path
from elbowroom.plan._smooth import roughness
from elbowroom.plan.stomp._default_costs import default_costs
from elbowroom.world import World
from tests.plan.cart import HALF, LEFT, PLANE, RIGHT, SPEED, along, block, cart, clear, wall

QUICK = PlanOptions(timeout=60.0)


def is_sound(model, result, start, goal):
    """A success as it must be: from start to goal, free by arithmetic all along, with a proof."""
    assert result.success
    assert result
    assert result.reason == ""
    assert (result.path[0] == start).all()
    assert (result.path[-1] == goal).all()
    assert result.proof.free
    assert clear(model.world, along(result.path)).min() > 0.0
    held = np.setdiff1d(np.arange(3), [model.robot.joint_names.index(name) for name in PLANE])
    assert (result.path[:, held] == start[held]).all()
    return True


def test_a_straight_line_is_taken_where_it_is_free():
    model = wall()
    goal = np.array([-0.2, 0.7, 0.0])
    result = plan_motion(model, LEFT, goal, PLANE)
    assert is_sound(model, result, LEFT, goal)
    assert result.method == "straight line"
    assert len(result.waypoints) == 2
    assert "reached the goal" in str(result)


def test_the_sampler_finds_the_gap():
    model = wall()
    result = plan_motion(model, LEFT, RIGHT, PLANE, QUICK)
    assert is_sound(model, result, LEFT, RIGHT)
    assert result.method == "sampler"
    assert result.nodes > 2
    passing = along(result.path)
    assert abs(passing[np.abs(passing[:, 0]).argmin(), 1] - 0.6) < 0.15 - HALF


def test_a_motion_is_timed_within_limits():
    options = PlanOptions(timeout=60.0, velocity_limits=0.5, acceleration_limits=2.0, rate=200.0)
    result = plan_motion(wall(), LEFT, RIGHT, PLANE, options)
    np.testing.assert_allclose(np.diff(result.times), 1.0 / 200.0, rtol=1e-9)
    speeds = np.diff(result.path, axis=0) * 200.0
    assert np.abs(speeds).max() <= 0.5 * (1.0 + 1e-9)
    assert np.abs(np.diff(speeds, axis=0)).max() * 200.0 <= 2.0 * (1.0 + 1e-6)
    assert result.motion.duration <= result.times[-1] < result.motion.duration + 1.0 / 200.0
    assert np.abs(result.motion.at(result.times) - result.path).max() < 1e-9


def test_rows_are_proved_themselves_under_limits_of_jerk(monkeypatch):
    """The bound of how far they are from the curve is only looked at in places then."""
    asked = []
    monkeypatch.setattr(_finish, "prove_path", lambda *a, **k: asked.append(a[1]) or prove_path(*a, **k))
    for jerk, rows in ((None, False), (40.0, True)):
        asked.clear()
        options = PlanOptions(timeout=60.0, velocity_limits=0.5, acceleration_limits=2.0, jerk_limits=jerk)
        result = plan_motion(wall(), LEFT, RIGHT, PLANE, options)
        assert is_sound(wall(), result, LEFT, RIGHT)
        assert [each is result.path for each in asked] == [True] * rows


def test_what_cannot_be_proved_as_a_whole_is_no_success(monkeypatch):
    for stage in ("_timed", "_plain"):
        monkeypatch.setattr(_finish, stage, lambda *args: None)
    result = plan_motion(wall(), LEFT, RIGHT, PLANE, QUICK)
    assert not result.success
    assert result.path is None
    assert result.reason == "blocked"
    assert "proved" in result.why


def test_parts_can_be_left_out():
    plain = PlanOptions(timeout=60.0, timed=False, smooth=False, shortcuts=0)
    result = plan_motion(wall(), LEFT, RIGHT, PLANE, plain)
    assert result.times is None
    assert result.motion is None
    assert (result.path == result.waypoints).all()
    assert is_sound(wall(), result, LEFT, RIGHT)
    shorter = plan_motion(wall(), LEFT, RIGHT, PLANE, PlanOptions(timeout=60.0, timed=False, smooth=False))
    lengths = [np.linalg.norm(np.diff(each.path, axis=0), axis=1).sum() for each in (shorter, result)]
    assert lengths[0] < lengths[1]
    assert is_sound(wall(), shorter, LEFT, RIGHT)
    rounded = plan_motion(wall(), LEFT, RIGHT, PLANE, PlanOptions(timeout=60.0, timed=False))
    assert is_sound(wall(), rounded, LEFT, RIGHT)
    assert roughness(rounded.curve) < 0.5 * roughness(shorter.path)


def test_the_same_seed_gives_the_same_path():
    paths = [
        plan_motion(wall(), LEFT, RIGHT, PLANE, PlanOptions(timeout=60.0, seed=s)).path for s in (3, 3, 4)
    ]
    assert (paths[0] == paths[1]).all()
    assert paths[0].shape != paths[2].shape or (paths[0] != paths[2]).any()


def test_a_joint_held_beyond_its_limits_is_only_noted():
    up = np.array([0.0, 0.0, 0.065])
    result = plan_motion(wall(), LEFT + up, RIGHT + up, PLANE, QUICK)
    assert is_sound(wall(), result, LEFT + up, RIGHT + up)
    assert any("'z' is held at 0.065" in note for note in result.notes)
    assert plan_motion(wall(), LEFT + up, RIGHT + up).reason == "limits"  # z may move there


def test_a_start_that_is_a_goal_takes_no_time():
    for timeout in (5.0, 0.0):
        result = plan_motion(wall(), LEFT, LEFT, PLANE, PlanOptions(timeout=timeout))
        assert result.success
        assert result.path.shape == (1, 3)
        assert result.times.tolist() == [0.0]
        assert result.motion.duration == 0.0
        assert result.proof.free


@pytest.mark.parametrize("away", [1e-3, 1e-5])
def test_ends_close_to_touching_are_left_and_reached(away):
    model = wall()
    start, goal = (np.array([side * (0.05 + HALF + away), 0.0, 0.0]) for side in (-1.0, 1.0))
    result = plan_motion(model, start, goal, PLANE, QUICK)
    assert is_sound(model, result, start, goal)


def test_a_success_is_free_and_a_closed_room_is_none():
    rng = np.random.default_rng(5)
    found = 0
    for seed in range(12):
        low = rng.uniform(-0.9, 0.7, (7, 2))
        size = rng.uniform(0.1, 0.9, (7, 2))
        boxes = [
            block(f"b{k}", (a[0], a[0] + s[0]), (a[1], a[1] + s[1]))
            for k, (a, s) in enumerate(zip(low, size, strict=True))
        ]
        model = cart().with_world(World(boxes))
        ends = np.concatenate([rng.uniform(-1.0, 1.0, (2, 2)), np.zeros((2, 1))], axis=1)
        result = plan_motion(model, *ends, PLANE, PlanOptions(timeout=60.0, seed=seed, max_nodes=3000))
        joined = flooded(model.world, *ends)
        assert result.success <= joined  # never a success where no way is
        if result.success:
            found += is_sound(model, result, *ends)
        elif joined:
            assert result.reason in ("start", "goal", "blocked")
    assert found >= 3


def flooded(world: World, start: np.ndarray, goal: np.ndarray) -> bool:
    """Whether a flood over a grid that is kinder than the truth (a cell is open if it may hold a free place) joins
    two places."""
    from scipy.ndimage import label

    step = 0.01
    axis = np.arange(-1.0, 1.0 + step / 2, step)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    cells, _ = label((clear(world, grid) > -step).reshape(len(axis), -1), np.ones((3, 3)))
    a, b = (cells[tuple(np.round((cfg[:2] + 1.0) / step).astype(int))] for cfg in (start, goal))
    return bool(a == b and a > 0)


# Seeds ------------------------------------------------------------------------------------------

DETOUR = np.array([LEFT, [-0.6, 0.6, 0], [-0.3, 0.62, 0.0], [0.4, 0.6, 0], [0.6, 0.5, 0], RIGHT])


def test_a_free_seed_is_never_made_worse():
    model = wall()
    result = plan_motion(model, LEFT, RIGHT, PLANE, QUICK, seed_path=DETOUR)
    assert is_sound(model, result, LEFT, RIGHT)
    assert result.method == "seed"
    assert roughness(result.path) <= roughness(DETOUR)
    again = plan_motion(model, LEFT, RIGHT, PLANE, QUICK, seed_path=result.path)
    assert is_sound(model, again, LEFT, RIGHT)
    assert roughness(again.curve) <= roughness(result.path)
    length = [np.linalg.norm(np.diff(path, axis=0), axis=1).sum() for path in (DETOUR, result.path)]
    assert length[1] <= length[0]


def test_the_path_of_another_planner_is_finished_and_proved():
    model, asked = wall(), []

    def search(start, goals):
        asked.append((start, goals))
        return DETOUR

    result = plan_motion(model, LEFT, RIGHT, PLANE, QUICK, search=search)
    assert is_sound(model, result, LEFT, RIGHT)
    assert result.method == "given search"
    assert "found by the given search" in result.why
    assert roughness(result.path) <= roughness(DETOUR)
    np.testing.assert_array_equal(asked[0][0], LEFT)
    np.testing.assert_array_equal(asked[0][1], [RIGHT])


@pytest.mark.parametrize("proposed", [None, np.stack([LEFT, RIGHT])])
def test_a_planner_that_finds_nothing_free_is_said_and_ours_goes_on(proposed):
    result = plan_motion(wall(), LEFT, RIGHT, PLANE, QUICK, search=lambda start, goals: proposed)
    assert is_sound(wall(), result, LEFT, RIGHT)
    assert result.method == "sampler"
    said = "search proposed no path" if proposed is None else "was not proved free all the way"
    assert any(said in note for note in result.notes)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"search": 5}, "search: expected a function of start and goals"),
        ({"search": lambda start, goals: [[0.0, np.nan, 0.0]] * 2}, "search: "),
        (
            {"search": lambda start, goals: np.stack([RIGHT, LEFT])},
            "search: it must lead from the start to a goal",
        ),
        ({"search": lambda start, goals: DETOUR, "seed_path": DETOUR}, "give seed_path or search, not both"),
    ],
)
def test_a_planner_that_makes_no_sense_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        plan_motion(wall(), LEFT, RIGHT, PLANE, QUICK, **options)


def test_a_seed_that_is_not_free_is_said_and_not_used():
    through = np.stack([LEFT, RIGHT])
    result = plan_motion(wall(), LEFT, RIGHT, PLANE, QUICK, seed_path=through)
    assert is_sound(wall(), result, LEFT, RIGHT)
    assert result.method == "sampler"
    assert any("seed path was not proved free" in note for note in result.notes)


@pytest.mark.parametrize(
    "path", [DETOUR[1:], DETOUR[:-1], DETOUR[:1], DETOUR[:, :2], np.full((3, 3), np.nan)]
)
def test_a_seed_must_lead_from_start_to_goal(path):
    with pytest.raises(InputError, match="seed_path"):
        plan_motion(wall(), LEFT, RIGHT, PLANE, seed_path=path)


# Ends -------------------------------------------------------------------------------------------


def test_no_time_is_no_search():
    result = plan_motion(wall(), LEFT, RIGHT, PLANE, PlanOptions(timeout=0.0))
    assert not result
    assert result.reason == "timeout"
    assert result.path is None
    assert "time was up" in result.why


def test_time_runs_out_in_a_search_without_end():
    result = plan_motion(wall(0.0), LEFT, RIGHT, PLANE, PlanOptions(timeout=0.05))
    assert result.reason == "timeout"
    assert result.nodes > 0
    assert ("cart", "wall") in result.clashes
    assert "cart against wall" in result.why


def test_a_search_is_cancelled_on_its_way():
    asked = []
    result = plan_motion(
        wall(0.0), LEFT, RIGHT, PLANE, QUICK, cancel=lambda: len(asked) >= 5, progress=asked.append
    )
    assert result.reason == "cancelled"
    assert result.path is None
    assert len(asked) == 5
    assert {p.stage for p in asked} == {"search"}
    assert asked[-1].nodes >= asked[0].nodes
    event = threading.Event()
    event.set()
    assert plan_motion(wall(), LEFT, RIGHT, PLANE, cancel=event).reason == "cancelled"


def test_a_path_found_before_the_end_is_returned():
    """Cancelled once a path is there: improvements are left out, timing and proof are not."""
    stages = []
    result = plan_motion(
        wall(),
        LEFT,
        RIGHT,
        PLANE,
        QUICK,
        cancel=lambda: "timing" in stages,
        progress=lambda p: stages.append(p.stage),
    )
    assert is_sound(wall(), result, LEFT, RIGHT)
    assert stages[-1] == "proof"


def test_progress_tells_the_stages():
    stages = []
    plan_motion(wall(), LEFT, RIGHT, PLANE, QUICK, progress=lambda p: stages.append(p.stage))
    assert [s for s in dict.fromkeys(stages) if s != "search"] == ["shorten", "smooth", "timing", "proof"]


def test_seconds_name_every_stage():
    result = plan_motion(wall(), LEFT, RIGHT, PLANE, QUICK)
    stages = {"goals", "setup", "first", "shorten", "smooth", "timing", "proof"}
    assert set(result.seconds) == {*stages, "total"}
    assert sum(result.seconds[name] for name in stages) <= result.seconds["total"]


SLOW, SHORT = 1.0, 0.5
"""Seconds that a set-up is made to take, and of the search, which takes some milliseconds."""


def slowed(work):
    """The same work, on a machine where it takes longer than the time limit."""

    def slow(*args, **more):
        time.sleep(SLOW)
        return work(*args, **more)

    return slow


@pytest.mark.parametrize("part", ["elbowroom.plan._plan.Sampler", "elbowroom.plan._plan.good_ends"])
def test_the_time_limit_starts_with_the_search(monkeypatch, part):
    """A fresh machine: what comes before the search takes longer than the search may."""
    module, name = part.rsplit(".", 1)
    monkeypatch.setattr(part, slowed(getattr(importlib.import_module(module), name)))
    result = plan_motion(wall(), LEFT, RIGHT, PLANE, PlanOptions(timeout=SHORT))
    assert is_sound(wall(), result, LEFT, RIGHT)
    assert result.method == "sampler"
    assert result.seconds["setup" if name == "Sampler" else "goals"] >= SLOW
    assert result.seconds["first"] < SHORT
    closed = plan_motion(wall(0.0), LEFT, RIGHT, PLANE, PlanOptions(timeout=0.1))
    assert closed.reason == "timeout"
    assert closed.nodes > 100  # it did search
    assert (
        float(re.search(r"time was up after ([\d.]+) s", closed.why)[1]) < SLOW
    )  # the time that is said is the search's


def test_costs_of_stomp_are_made_before_its_time_limit_counts(monkeypatch):
    monkeypatch.setattr("elbowroom.plan.stomp._stomp.default_costs", slowed(default_costs))
    model = cart().with_world(World([block("post", (-0.1, 0.1), (-0.3, 0.15))]))
    result = plan_motion(model, LEFT, RIGHT, PLANE, PlanOptions(timeout=SLOW, method="stomp"))
    assert is_sound(model, result, LEFT, RIGHT)
    assert result.seconds["setup"] >= SLOW
    alone = Stomp(wall(0.0), LEFT, RIGHT, PLANE).run(timeout=SHORT)
    assert alone.reason == "timeout"
    assert alone.iterations > 0
    assert alone.setup_seconds >= SLOW
    assert alone.seconds >= alone.setup_seconds + SHORT


# Input ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"start": LEFT[:2]}, r"start: .*shape \(3,\)"),
        ({"start": [np.nan, 0, 0]}, "start: .*NaN"),
        ({"start": "home"}, "start: .*numbers"),
        ({"model": 3}, "cannot load a robot from a int; expected a name, a path"),
        ({"joints": "x"}, "found the text 'x'"),
        ({"joints": ()}, "at least one joint must move"),
        ({"cancel": 3}, "cancel must be a function"),
        ({"progress": 3}, "progress must be a function"),
        ({"options": 3}, "options must be PlanOptions"),
        ({"costs": []}, "costs: only PlanOptions"),
    ],
)
def test_wrong_input_is_refused(change, text):
    asked = {"model": wall(), "start": LEFT, "goal": RIGHT, "joints": PLANE} | change
    with pytest.raises(InputError, match=text):
        plan_motion(**asked)


def test_unknown_joints_are_refused():
    with pytest.raises(UnknownJointError, match="no joint 'w'"):
        plan_motion(wall(), LEFT, RIGHT, ("x", "w"))


def test_results_travel():
    result = plan_motion(wall(), LEFT, RIGHT, PLANE, QUICK)
    other = pickle.loads(pickle.dumps(result))
    assert (other.path == result.path).all()
    assert other.why == result.why
    assert other.proof.free
    assert prove_path(wall(), other.motion).free
    assert np.abs(other.motion.at(other.times, 1)).max() <= SPEED


# STOMP ------------------------------------------------------------------------------------------


def test_stomp_alone_finds_a_way_around_a_post():
    model = cart().with_world(World([block("post", (-0.1, 0.1), (-0.3, 0.15))]))
    options = PlanOptions(timeout=60.0, method="stomp")
    result = plan_motion(model, LEFT, RIGHT, PLANE, options)
    assert is_sound(model, result, LEFT, RIGHT)
    assert result.method == "stomp"
    assert len(result.cost_history) > 0
    again = plan_motion(model, LEFT, RIGHT, PLANE, options)
    assert (again.path == result.path).all()
    told = []
    ended = plan_motion(
        wall(0.0), LEFT, RIGHT, PLANE, options, cancel=lambda: len(told) > 2, progress=told.append
    )
    assert ended.reason == "cancelled"
    assert {one.stage for one in told} == {"stomp"}
    assert told[-1].cost > 0.0
