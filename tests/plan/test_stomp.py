"""STOMP: its matrices and its update against plain numpy, its promises on a cart among boxes."""

import threading

import numpy as np
import pytest

from elbowroom import _core
from elbowroom.errors import InputError
from elbowroom.plan import FunctionCost, Stomp, StompOptions, prove_path
from elbowroom.plan._smooth import roughness
from elbowroom.plan.internal import Group
from elbowroom.plan.stomp._descent import Descent
from elbowroom.plan.stomp._starts import first_path, resampled, through_vias
from tests.plan.cart import LEFT, PLANE, RIGHT, along, cart, clear, wall

AROUND = np.array([LEFT, [-0.3, 0.6, 0.0], [0.3, 0.6, 0.0], RIGHT])
"""Through the gap of `wall`, with corners."""


def stomp(model=None, **options) -> Stomp:
    return Stomp(wall() if model is None else model, LEFT, RIGHT, PLANE, options=StompOptions(**options))


def test_start_and_goal_stay_the_callers():
    """They may be read-only, as named configurations are, and rounding in held joints is mended in a copy."""
    start, goal = np.array(LEFT), np.array(RIGHT)
    goal[2] += 1e-9
    start.setflags(write=False)
    goal.setflags(write=False)
    made = Stomp(wall(), start, goal, PLANE)
    assert made.goal[2] == start[2] != goal[2]


# The core's descent ------------------------------------------------------------------------------------


def covariance(t: int) -> np.ndarray:
    """Inverse of the matrix of squared accelerations, its largest entry 1."""
    accelerations = np.zeros((t, t + 2))  # of a trajectory with one timestep of rest before and after
    for k in range(t):
        accelerations[k, k : k + 3] = 1.0, -2.0, 1.0
    free = accelerations[:, 2:-2]  # the first and the last timestep are fixed, as is the rest around them
    inverse = np.linalg.inv(free.T @ free)
    return inverse / np.diag(inverse).max()


def descent_of(path: np.ndarray, sigma, *, seed: int = 0, limit: float = 1e6, **settings) -> _core.Descent:
    """A descent of joints 0 and 2 of three."""
    joints = np.array([[-limit] * 2, [limit] * 2, np.broadcast_to(sigma, 2)])
    plain = {
        "rollouts": 9,
        "reuse": 0,
        "window": 0,
        "sensitivity": 7.0,
        "sigma_decay": 0.9,
        "sigma_floor": 0.1,
    }
    found = _core.Descent(path, np.array([0, 2]), joints, {**plain, "smooth_update": False, **settings}, seed)
    found.restart(path, np.zeros(len(path)))
    return found


def test_noise_has_the_covariance_of_smooth_trajectories():
    t, rows = 12, np.empty((40_000, 12, 3))
    descent = descent_of(np.full((t, 3), 0.5), [0.2, 3.0], rollouts=len(rows))
    descent.shake(rows)
    assert (rows[:, [0, -1]] == 0.5).all()
    assert (rows[:, :, 1] == 0.5).all()
    noise = (rows[:, 1:-1, [0, 2]] - 0.5) / [0.2, 3.0]
    for j in range(2):
        np.testing.assert_allclose(np.cov(noise[..., j].T), covariance(t), atol=0.03)
    # joints are independent, and marginals normal: a fourth moment of 3
    assert abs(np.mean(noise[..., 0] * noise[..., 1])) < 0.02
    middle = noise[:, 5, :] / noise[:, 5, :].std(axis=0)
    np.testing.assert_allclose((middle**4).mean(axis=0), 3.0, atol=0.15)
    again = np.empty_like(rows)
    descent_of(np.full((t, 3), 0.5), [0.2, 3.0], rollouts=len(rows)).shake(again)
    np.testing.assert_array_equal(rows, again)


def test_minimum_control_is_least_and_near_the_cubic():
    start, goal, t = np.array([0.0, 1.0]), np.array([2.0, -1.0]), 41

    def control(path):
        return (np.diff(np.concatenate([path[:1], path, path[-1:]]), 2, axis=0) ** 2).sum()

    least, cubic = (first_path(kind, start, goal, t) for kind in ("minimum-control", "cubic"))
    assert control(least) < control(cubic)
    bent = least.copy()
    bent[1:-1] += 1e-3 * np.random.default_rng(0).normal(size=(t - 2, 2))
    assert control(least) < control(bent)
    np.testing.assert_allclose(least, cubic, atol=0.03)
    np.testing.assert_allclose(np.diff(first_path("linear", start, goal, t), 2, axis=0), 0.0, atol=1e-12)


def test_resampled_steps_are_equally_long():
    path = resampled(np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]]), 8)
    np.testing.assert_allclose(np.abs(np.diff(path, axis=0)).sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize(("window", "smooth"), [(0, False), (2, False), (0, True), (3, True)])
def test_update_equals_a_plain_one(window, smooth):
    rng = np.random.default_rng(1)
    path, own = rng.normal(size=(15, 3)), rng.uniform(0.0, 5.0, 15)
    descent = descent_of(path, 0.5, window=window, smooth_update=smooth)
    descent.restart(path, own)
    rollouts, costs = np.empty((9, 15, 3)), rng.uniform(0.0, 5.0, size=(9, 15))
    descent.shake(rollouts)
    if window == 0:
        costs[:, 6] = own[6] = 2.0  # nothing to learn
        descent.restart(path, own)
    found = descent.update(rollouts, costs)
    seen = np.concatenate([costs, own[None]])
    apart = np.abs(np.arange(15)[:, None] - np.arange(15))
    seen = seen @ np.maximum(0.0, 1.0 - apart / (window + 1.0))
    delta = np.zeros((13, 2))
    for t in range(1, 14):
        scaled = seen[:, t] - seen[:, t].min()
        width = scaled.max()
        weights = np.exp(-7.0 * scaled / width) if width else np.zeros(10)
        noise = np.concatenate([rollouts[:, t], path[None, t]])[:, [0, 2]] - path[t, [0, 2]]
        delta[t - 1] = weights @ noise / (weights.sum() or 1.0)
    smoother = covariance(15) / covariance(15).max(axis=0) / 13
    expected = path.copy()
    expected[1:-1, [0, 2]] += smoother @ delta if smooth else delta
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_rollouts_and_updates_keep_limits_by_smooth_bends():
    t = np.linspace(0.0, 1.0, 40)
    path = np.stack([0.9 * np.sin(np.pi * t), np.zeros(40), -0.9 * np.sin(3 * np.pi * t)], axis=1)
    narrow, wide = descent_of(path, 0.5, limit=1.0), descent_of(path, 0.5)
    rollouts = np.empty((9, 40, 3))
    narrow.shake(rollouts)
    assert np.abs(rollouts).max() == 1.0  # some are clipped
    away = np.repeat(path[None], 9, axis=0)
    away[..., 0] += np.linspace(0.4, 0.6, 9)[:, None] * np.sin(np.pi * t)  # all lead beyond the limit
    costs = np.tile(np.linspace(1.0, 2.0, 9)[:, None], 40)
    for one in (narrow, wide):
        one.restart(path, np.full(40, 3.0))
    updated, free = narrow.update(away, costs), wide.update(away, costs)
    assert np.abs(free).max() > 1.2
    assert np.abs(updated).max() <= 1.0
    np.testing.assert_array_equal(updated[[0, -1]], path[[0, -1]])
    bends, corners = (np.abs(np.diff(rows[:, 0], 2)).max() for rows in (updated, np.clip(free, -1.0, 1.0)))
    assert bends < corners


def test_the_best_rollouts_are_kept_and_noise_falls_without_success():
    path = np.zeros((8, 3))
    descent = descent_of(path, 1.0, reuse=3)
    descent.restart(path, np.ones(8))
    rollouts = np.empty((9, 8, 3))
    descent.shake(rollouts)
    costs = np.full((9, 8), 2.0)
    costs[4] = 0.5  # better than the trajectory, and than what follows from the update
    updated = descent.update(rollouts, costs)
    descent.settle(np.full(8, 0.75))
    assert not np.array_equal(updated, rollouts[4])
    np.testing.assert_array_equal(descent.path(), rollouts[4])
    assert descent.cost == 4.0
    assert descent.idle == 0
    assert descent.noise == 1.0
    descent.shake(rollouts)
    descent.update(rollouts, np.full((9, 8), 3.0))
    descent.settle(np.full(8, 3.0))
    assert descent.cost == 4.0
    assert descent.idle == 1
    assert descent.noise == 0.9


def test_control_cost_is_that_of_squared_second_differences():
    made = stomp(cart(), control_weight=2.5, timesteps=9)
    paths = np.random.default_rng(3).normal(size=(4, 9, 3))
    plain = stomp(cart(), timesteps=9).cost(paths)
    padded = np.concatenate([paths[:, :1], paths, paths[:, -1:]], axis=1)[..., :2]
    expected = 2.5 / made.dt**4 * (np.diff(padded, 2, axis=1) ** 2).sum(-1)
    np.testing.assert_allclose(made.cost(paths) - plain, expected, rtol=1e-9)


def test_a_descent_finds_the_least_of_a_plain_cost():
    """A bowl around a bent trajectory: the answer is known."""
    group = Group.of(cart().robot, LEFT, PLANE)
    line = first_path("linear", LEFT[:2], RIGHT[:2], 30)
    aim = line.copy()
    aim[1:-1] += covariance(30)[:, 14, None] * np.array([0.1, 0.4])
    descent = Descent(
        group, lambda rows: ((rows[..., :2] - aim) ** 2).sum(-1), StompOptions(), np.full(2, 0.2), line,
        np.random.default_rng(0),
    )  # fmt: skip
    costs = [descent.cost]
    for _ in range(80):
        descent.step()
        costs.append(descent.cost)
    assert (np.diff(costs) <= 0.0).all()  # the trajectory itself is among the rollouts: it never gets worse
    off = np.sqrt(costs[-1] / aim.size)
    assert off < 0.2 / 4  # well below the noise, and a quarter of where it began
    assert off < np.sqrt(costs[0] / aim.size) / 4


# Promises ------------------------------------------------------------------------------------------


def test_a_wall_is_passed_through_its_gap_and_the_path_is_proved():
    model = wall()
    assert not model.segment_free(LEFT, RIGHT).free
    result = stomp().run()
    assert result
    assert result.evidence == "proved"
    assert result.proof is not None
    assert result.proof.free
    np.testing.assert_array_equal(result.path[[0, -1]], [LEFT, RIGHT])
    assert clear(model.world, along(result.path)).min() > 0.0
    assert (np.abs(result.path) <= 1.0).all()
    assert (result.path[:, 2] == 0.0).all()
    assert len(result.cost_history) == result.iterations > 0


def test_same_seed_same_path_other_seed_another():
    one, same, other = (stomp(seed=seed).run() for seed in (5, 5, 6))
    np.testing.assert_array_equal(one.path, same.path)
    np.testing.assert_array_equal(one.cost_history, same.cost_history)
    assert one.path.shape != other.path.shape or not np.array_equal(one.path, other.path)


def test_a_closed_wall_is_never_passed():
    result = stomp(wall(0.0), restarts=2, iterations=15).run()
    assert not result
    assert result.reason == "blocked"
    assert result.evidence != "proved"
    assert result.starts == 3
    assert "no path was found" in result.why


def test_further_starts_keep_ends_and_limits_and_are_the_same_for_a_seed():
    one, same = (through_vias(stomp(seed=4)) for _ in range(2))
    seen = [next(one) for _ in range(3)]
    for path in seen:
        np.testing.assert_array_equal(path, next(same))
        np.testing.assert_array_equal(path[[0, -1]], [LEFT[:2], RIGHT[:2]])
        assert (np.abs(path) <= 1.0).all()
        steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
        assert steps.max() < 2.5 * np.median(steps)
    assert not np.array_equal(seen[0], seen[1])


@pytest.mark.parametrize("improve", [0, 15])
def test_a_valid_path_is_never_returned_worse(improve):
    model = wall()
    assert prove_path(model, AROUND).free
    result = stomp(improve=improve).run(AROUND)
    assert result
    assert result.iterations <= improve
    assert prove_path(model, result.path).free
    assert clear(model.world, along(result.path)).min() > 0.0
    assert roughness(result.path) <= roughness(AROUND)
    if not improve:
        np.testing.assert_array_equal(result.path, AROUND)


def test_a_given_path_is_kept_where_a_cost_calls_it_a_collision():
    """Boxes may not fit where links do: its proof counts."""

    class Everywhere:
        name, weight = "everywhere", 1.0

        def cost(self, trajectories, dt):
            return 100.0 * np.ones(trajectories.shape[:2])

        def collides(self, cfgs):
            return np.ones(len(cfgs), np.bool_)

    options = StompOptions(improve=3, restarts=1, iterations=3)
    result = Stomp(wall(), LEFT, RIGHT, PLANE, [Everywhere()], options).run(AROUND)
    assert result
    np.testing.assert_array_equal(result.path, AROUND)


def test_a_path_that_is_not_free_is_made_free():
    result = stomp(restarts=0).run(np.array([LEFT, [0.0, 0.35, 0.0], RIGHT]))
    assert result
    assert clear(wall().world, along(result.path)).min() > 0.0


def test_hook_cancel_and_time():
    seen = []
    event = threading.Event()

    def hook(iteration, cost, path):
        seen.append((iteration, cost, path))
        if iteration == 3:
            event.set()

    closed = wall(0.0)
    result = stomp(closed).run(hook=hook, cancel=event)
    assert [row[0] for row in seen] == [1, 2, 3]
    assert result.reason == "cancelled"
    np.testing.assert_array_equal([row[1] for row in seen], result.cost_history)
    assert all(row[2].shape == (64, 3) for row in seen)
    assert stomp(closed).run(cancel=lambda: True).iterations == 0
    late = stomp(closed).run(timeout=0.0)
    assert not late
    assert late.reason == "timeout"
    assert late.iterations == 0


def test_patience_ends_a_start():
    flat = FunctionCost(lambda rows, dt: np.ones(rows.shape[:2]))
    result = Stomp(
        wall(0.0), LEFT, RIGHT, PLANE, [flat], StompOptions(restarts=0, iterations=50, patience=4)
    ).run()
    assert result.iterations == 4
    assert not result


def test_ends_that_cannot_be_part_of_a_path():
    inside = np.zeros(3)
    for start, goal, reason in (
        (inside, RIGHT, "start"),
        (LEFT, inside, "goal"),
        (LEFT, RIGHT + np.array([1.0, 0.0, 0.0]), "limits"),
    ):
        result = Stomp(wall(), start, goal, PLANE).run()
        assert not result
        assert result.reason == reason
        assert reason[:4] in result.why
        assert result.iterations == 0


def test_options_and_arguments_that_make_no_sense():
    for name, value in (
        ("timesteps", 4), ("rollouts", 1), ("reuse", -1), ("iterations", 1.5), ("patience", 0), ("window", True),
        ("sensitivity", 0.0), ("sigma_decay", 1.1), ("sigma_floor", float("nan")), ("control_weight", -1.0),
        ("initial", "quintic"), ("duration", 0.0), ("restarts", -1), ("improve", "3"), ("seed", -1),
        ("restart_after", 0), ("restart_sigma", 0.0),
    ):  # fmt: skip
        with pytest.raises(InputError, match=name):
            StompOptions(**{name: value})
    for sigma in (0.0, -1.0, float("nan"), [0.1, 0.1, 0.1], "wide"):
        with pytest.raises(InputError, match="sigma"):
            stomp(sigma=sigma)
    with pytest.raises(InputError, match="'z'"):
        Stomp(wall(), LEFT, RIGHT + np.array([0.0, 0.0, 0.02]), PLANE)
    with pytest.raises(InputError, match="NaN"):
        Stomp(wall(), LEFT * np.nan, RIGHT, PLANE)
    with pytest.raises(InputError, match="timeout"):
        stomp().run(timeout=-1.0)
    for path, word in (
        (AROUND[:1], "two"),
        (AROUND[:-1], "goal"),
        (AROUND[1:], "start"),
        (AROUND[:, :2], "shape"),
    ):
        with pytest.raises(InputError, match=word):
            stomp().run(path)
