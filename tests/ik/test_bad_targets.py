"""Questions that make no sense get clear errors; odd ones get answers that say what was done."""

from __future__ import annotations

import jaxlie
import numpy as np
import pytest

import elbowroom as er
from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.errors import InputError
from elbowroom.ik import AxisTarget, JointTarget, LookAt, PoseTarget, PositionTarget
from elbowroom.ik._targets import as_targets
from tests.ik.models import HAND, model_of, rest_pose, solver_of

POSE = np.array([0.0, 1.0, 0.0, 0.0, 0.4, 0.1, 0.4])


def with_entry(k: int, value: float) -> np.ndarray:
    pose = POSE.copy()
    pose[k] = value
    return pose


@pytest.mark.parametrize("k", range(7))
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused_by_name(k, value):
    with pytest.raises(InputError, match=f"'{HAND}'.*NaN or infinite"):
        solver_of("panda").solve({HAND: with_entry(k, value)})


@pytest.mark.parametrize(
    "pose",
    [
        np.zeros(7),
        POSE[:6],
        np.zeros((2, 7)),
        np.diag([2.0, 1, 1, 1]),
        "here",
        None,
        {},
        [["a"] * 7],
        with_entry(4, 1e300),
        with_entry(0, 1e300),
        with_entry(6, -1e7),
    ],
)
def test_poses_that_are_none_are_refused_by_name(pose):
    with pytest.raises(InputError, match=HAND):
        solver_of("panda").solve({HAND: pose})


@pytest.mark.parametrize(
    "targets", [{}, [], "panda_hand", 3, None, [POSE], {3: POSE}, {"a": PoseTarget("b", POSE)}]
)
def test_targets_that_are_none(targets):
    with pytest.raises(InputError, match="target"):
        solver_of("panda").solve(targets)


def test_an_unnormalised_quaternion_is_normalised_and_said():
    scaled = POSE * [3, 3, 3, 3, 1, 1, 1]
    target = PoseTarget(HAND, scaled)
    assert target.quaternion_length == pytest.approx(3.0)
    assert np.linalg.norm(target.pose[:4]) == pytest.approx(1.0)
    result = solver_of("panda").solve({HAND: scaled})
    assert result.success
    assert any(HAND in note and "3" in note and "normalised" in note for note in result.notes)
    assert solver_of("panda").solve({HAND: POSE}).notes == ()
    np.testing.assert_array_equal(result.cfg, solver_of("panda").solve({HAND: POSE}).cfg)


def test_all_ways_to_write_a_pose_are_the_same_pose():
    pose = rest_pose("panda", HAND)
    ways = [pose, list(pose), -pose * [1, 1, 1, 1, -1, -1, -1], matrix_from_wxyz_xyz(pose)]
    found = np.array([as_targets({HAND: way})[0].pose for way in ways])
    np.testing.assert_allclose(found, found[:1].repeat(len(ways), axis=0), atol=1e-12)
    lie = as_targets({HAND: jaxlie.SE3(np.asarray(pose, dtype=np.float32))})[0].pose
    np.testing.assert_allclose(lie, found[0], atol=1e-6)


@pytest.mark.parametrize(
    "make",
    [
        lambda: PositionTarget(HAND, [np.nan, 0, 0]),
        lambda: PositionTarget(HAND, [0, 0]),
        lambda: PositionTarget(HAND, [1e9, 0, 0]),
        lambda: AxisTarget(HAND, [0, 0, 0]),
        lambda: LookAt(HAND, [0, np.inf, 0]),
        lambda: JointTarget("panda_joint1", np.nan),
        lambda: PoseTarget(HAND, POSE, position_weight=0.0),
        lambda: PoseTarget(HAND, POSE, orientation_weight=np.nan),
    ],
)
def test_parts_of_poses_that_make_no_sense(make):
    with pytest.raises(InputError):
        make()


@pytest.mark.parametrize("seed", [np.zeros(3), np.full(8, np.nan), "home", np.zeros((2, 8))])
def test_seeds_that_are_none(seed):
    with pytest.raises(InputError):
        solver_of("panda").solve({HAND: POSE}, seed)


@pytest.mark.parametrize("value", [np.nan, np.inf, "a", None])
def test_held_values_that_are_none(value):
    with pytest.raises(InputError, match="panda_joint1"):
        er.IkSolver(model_of("panda"), held={"panda_joint1": value})


def test_a_batch_says_which_target_is_bad():
    with pytest.raises(InputError, match=r"targets\[1\].*NaN"):
        solver_of("panda").solve_batch([{HAND: POSE}, {HAND: POSE * np.nan}])
    with pytest.raises(InputError, match="as many poses"):
        solver_of("panda").solve_batch({HAND: np.zeros((2, 7)), "panda_link4": np.zeros((3, 3))})
    with pytest.raises(InputError, match=r"\(n, 7\)"):
        solver_of("panda").solve_batch({HAND: POSE})
    assert solver_of("panda").solve_batch([]) == ()


@pytest.mark.parametrize(
    "options",
    [
        {"seeds": 0},
        {"iterations": -1},
        {"position_tolerance": 0.0},
        {"timeout": np.nan},
        {"rest_weight": -1.0},
    ],
)
def test_options_that_make_no_sense(options):
    with pytest.raises(InputError, match=next(iter(options))):
        er.IkOptions(**options)


def test_a_look_at_from_the_very_place_and_a_direction_opposite():
    """Singular residuals give an answer, not an error."""
    robot = model_of("panda").robot
    place = rest_pose("panda", HAND)
    seed = model_of("panda").default_cfg
    axis = matrix_from_wxyz_xyz(place)[:3, :3] @ [0, 0, 1.0]
    opposite = solver_of("panda").solve(AxisTarget(HAND, -axis), seed)
    assert opposite.success
    here = er.IkSolver(robot).solve([LookAt(HAND, place[4:]), PositionTarget(HAND, place[4:])], seed)
    assert np.isfinite(here.cfg).all()
