"""Proofs of paths against Coal at steps of a millimetre: free is never said wrongly, blocked is where it says."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import elbowroom as er
from elbowroom.errors import ApproximationWarning, InputError
from elbowroom.mesh import ExactCollision
from elbowroom.plan import Curve, prove_path, time_curve
from elbowroom.world import Box, Sphere, World, scene_for
from tests.rails import rails_parts
from tests.spoiled_paths import cases, curve_through


@pytest.fixture(scope="module")
def rails(tmp_path_factory):
    """A cart of 0.1 that moves in a plane around a post of 0.2: they touch where |x| and |y| are both within 0.15."""
    return er.CollisionModel(*rails_parts(tmp_path_factory.mktemp("rails")), threads=1)


@pytest.fixture(scope="module")
def oracle(load):
    pytest.importorskip("coal")
    pytest.importorskip("pinocchio")
    from tests.oracles import oracle_of

    return cache(lambda name: oracle_of(load(name)))


@pytest.mark.filterwarnings(
    "ignore:.*no configuration is free:elbowroom.errors.ApproximationWarning"
)  # spoilers anywhere
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("panda", 160),
        pytest.param("teaarm", 60, marks=pytest.mark.long),
        pytest.param("baxter", 30, marks=pytest.mark.long),
    ],
)
def test_nothing_is_called_free_that_coal_refutes(bare, oracle, name, count):
    """Half of the paths are spoiled; `benchmarks.proof_paths` runs ten thousand."""
    from tests.plan_oracles import PathJudge

    model = bare(name)
    pairs = PathJudge(model, oracle=oracle(name)).own_pairs
    worlds = [scene_for(model.robot, kind, 0) for kind in ("table", "shelf", "cage")]
    free = proved = blocked = 0
    for k, case in enumerate(cases(model, worlds, count, seed=7)):
        proof = prove_path(case.model, case.path)
        if proof.decided and not proof.free:
            blocked += 1
            assert proof.distance <= 1e-9
            assert not case.model.free(_at(case.path, proof.blocked_at))
            continue
        judge = PathJudge(case.model, oracle=oracle(name), pairs=pairs)
        touch = judge.first_touch(case.path)
        if touch is None and case.touching is not None:
            touch = judge.first_touch(case.touching[None])
        assert not (proof.free and touch is not None), f"{k} {case.spoiled}: {proof}; Coal: {touch}"
        free += touch is None
        proved += proof.free
        if proof.free and k % 10 == 0:
            rows = _at(case.path, np.linspace(0.0, _end(case.path), 40))
            assert 0.0 < proof.margin <= case.model.clearance(rows, exact=True).min() + 1e-9
    assert free > count / 5
    assert blocked > count / 8
    assert proved >= 0.98 * free


def test_what_is_held_counts(bare, oracle):
    from tests.plan_oracles import Held, PathJudge

    model = bare("panda")
    fingers = ("panda_leftfinger", "panda_rightfinger")
    pose = np.eye(4)
    pose[2, 3] = 0.16
    held = Held("stick", "panda_hand", Box((0.02, 0.02, 0.25)), pose, fingers)
    carrying = model.attach("stick", "panda_hand", held.shape, pose, touch_links=fingers)
    pairs = PathJudge(model, oracle=oracle("panda")).own_pairs
    worlds = [scene_for(model.robot, "shelf", 1), scene_for(model.robot, "table", 1)]
    free, by_stick = 0, 0
    for case in cases(carrying, worlds, 40, seed=3):
        proof = prove_path(case.model, case.path)
        by_stick += proof.by is not None and "stick" in proof.by
        if proof.free:
            alone = model.with_world(case.model.world)
            judge = PathJudge(alone, held=[held], oracle=oracle("panda"), pairs=pairs)
            touch = judge.first_touch(case.path)
            assert touch is None, f"{case.spoiled}: {proof}; Coal: {touch}"
            free += 1
    assert free > 10
    assert by_stick > 0


def test_nothing_within_the_slack_touches(bare, oracle):
    from tests.world_oracles import CoalWorld

    model, rng = bare("panda"), np.random.default_rng(0)
    worlds = [scene_for(model.robot, "cage", 2)]
    slack = np.array([0.02, 0.0, 0.02, 0.01, 0.03, 0.03, 0.05, 0.001])
    kept = lost = 0
    for case in cases(model, worlds, 120, seed=5):
        proof, plain = prove_path(case.model, case.path, slack=slack), prove_path(case.model, case.path)
        assert not (proof.free and not plain.free)
        lost += plain.free and not proof.free
        if not proof.free:
            continue
        kept += 1
        assert (proof.slack == slack).all()
        rows = _at(case.path, rng.uniform(0.0, _end(case.path), 60))
        rows = rows + slack * rng.choice([-1.0, 1.0], size=rows.shape)
        assert oracle("panda").free(rows, model.pairs.checked).all()
        assert CoalWorld(oracle("panda"), case.model.world, case.model.allow).free(rows).all()
    assert kept > 3
    assert lost > 0


def test_coupled_joints_are_proved_as_they_move(bare, load):
    """rh56: joints of its fingers follow others by polynomials."""
    model = bare("rh56")
    exact = ExactCollision(load("rh56"), model.pairs)
    free = proved = 0
    for seed in range(25):
        rows = model.robot.random_cfgs(3, seed=seed)
        curve = curve_through(rows[0] + 0.5 * (rows - rows[0]))
        truth = bool(exact.free(curve.at(np.linspace(0.0, curve.end, 1500))).all())
        proof = prove_path(model, curve)
        assert not (proof.free and not truth)
        free, proved = free + truth, proved + proof.free
    assert proved >= 0.9 * free > 0


def test_the_first_blocked_place_is_found_with_its_time(rails):
    path = [[-0.9, 0.0], [-0.7, 0.0], [0.5, 0.0], [0.5, 0.5]]
    proof = prove_path(rails, path, times=[0.0, 1.0, 4.0, 5.0])
    first = (0.7 - 0.15) / 1.2
    assert not proof
    assert proof.decided
    assert proof.blocked_at == pytest.approx(1.0 + first, abs=2e-3)
    assert proof.blocked_at >= 1.0 + first
    assert proof.time == pytest.approx(1.0 + 3.0 * (proof.blocked_at - 1.0))
    assert proof.by == ("cart", "post")
    assert -0.01 < proof.distance <= 0.0
    assert "cart and post" in proof.why
    assert "between waypoints 1 and 2" in str(proof)


def test_the_first_of_several_obstacles_is_named(rails):
    def wall(x: float, name: str) -> Box:
        return Box((0.02, 0.02, 0.5), pose=np.array([1.0, 0, 0, 0, x, 0.6, 0.0]), name=name)

    model = rails.with_world(World([wall(0.6, "late"), wall(-0.2, "early")]))
    for path in (np.array([[-0.9, 0.6], [0.9, 0.6]]), Curve.polyline([[-0.9, 0.6], [0.0, 0.6], [0.9, 0.6]])):
        proof = prove_path(model, path)
        assert proof.by == ("cart", "early")
        assert _at(path, proof.blocked_at)[0] == pytest.approx(-0.26, abs=2e-3)


def test_a_curve_is_judged_by_itself_and_not_by_its_chords(rails):
    """The chord goes through the post, the curve around it; and the other way round."""
    around = np.array([[-0.5, 0.0], [-0.5, 0.6], [0.5, 0.6], [0.5, 0.0]])
    curve = Curve(around[None], np.array([0.0, 1.0]), np.ones(2, np.bool_))
    assert curve.at(np.array([0.5]))[0, 1] == pytest.approx(0.45)
    assert prove_path(rails, curve).free
    assert not prove_path(rails, around[[0, 3]]).free
    through = np.array([[-0.5, 0.3], [-0.5, -0.1], [0.5, -0.1], [0.5, 0.3]])
    assert not prove_path(rails, Curve(through[None], curve.knots, curve.stops)).free
    assert prove_path(rails, through[[0, 3]]).free


def test_a_motion_is_proved_with_the_lines_between_its_rows(rails):
    curve = Curve.polyline([[-0.5, 0.3], [0.5, 0.3]])
    motion = time_curve(curve, np.array([1.0, 1.0]), np.array([5.0, 5.0]))
    assert prove_path(rails, motion, slack=motion.chord_error(50.0)).free
    times, rows = motion.resampled(50.0)
    assert prove_path(rails, rows, times=times).free
    blocked = time_curve(Curve.polyline([[-0.5, 0.0], [0.5, 0.0]]), np.ones(2), np.full(2, 5.0))
    proof = prove_path(rails, blocked)
    assert blocked.at(proof.time)[0] == pytest.approx(-0.15, abs=5e-3)


def test_what_slack_prevents_is_not_decided(rails):
    proof = prove_path(rails, [[-0.5, 0.25], [0.5, 0.25]], slack=0.11)
    assert not proof.free
    assert not proof.decided
    assert proof.by == ("cart", "post")
    assert 0.0999 < proof.distance < 0.3
    assert "slack" in proof.why
    assert prove_path(rails, [[-0.5, 0.25], [0.5, 0.25]], slack=[0.0, 0.08]).free


def test_a_point_has_its_own_verdict(rails):
    assert prove_path(rails, [[0.5, 0.5]]).free
    assert prove_path(rails, [[0.5, 0.5]] * 3).free
    proof = prove_path(rails, [[0.1, 0.1]], times=[2.0])
    assert (proof.free, proof.blocked_at, proof.time) == (False, pytest.approx(0.0, abs=1.0), 2.0)
    assert not prove_path(rails, [[0.1, 0.1]] * 3).free


def test_a_buffer_counts(rails):
    model = er.CollisionModel(rails.robot, rails.spheres, buffer=0.02, threads=1)
    assert prove_path(model, [[-0.5, 0.18], [0.5, 0.18]]).margin > 0.02
    proof = prove_path(model, [[-0.5, 0.165], [0.5, 0.165]])
    assert not proof.free
    assert 0.019 < proof.distance <= 0.02  # where it comes closer than that first
    assert "buffer" in proof.why


def test_what_no_joint_moves_counts_too(rails):
    with pytest.warns(ApproximationWarning):
        model = rails.with_world(World([Sphere(0.05, pose=np.array([1.0, 0, 0, 0, 0, 0, 0.1]), name="ball")]))
    proof = prove_path(model, [[0.5, 0.5], [0.6, 0.5]])
    assert not proof.free
    assert proof.by == ("post", "ball")


@pytest.mark.parametrize(
    ("path", "more", "words"),
    [
        (np.zeros((0, 2)), {}, "none"),
        (np.zeros((3, 5)), {}, "5"),
        ([[0.5, 0.5], [np.nan, 0.5]], {}, "NaN"),
        ([[0.5, 0.5], [1e7, 0.5]], {}, "lose their digits"),
        ([[0.5, 0.5], [0.6, 0.5]], {"times": [0.0, 0.0]}, "increase"),
        ([[0.5, 0.5], [0.6, 0.5]], {"times": [0.0]}, "times"),
        ([[0.5, 0.5], [0.6, 0.5]], {"slack": -1.0}, "slack"),
        (Curve.polyline(np.ones((2, 3)) * [[0.0], [1.0]]), {}, "curve"),
    ],
)
def test_bad_input_is_refused(rails, path, more, words):
    with pytest.raises(InputError, match=words):
        prove_path(rails, path, **more)


def _end(path) -> float:
    return path.end if isinstance(path, Curve) else len(path) - 1.0


def _at(path, places) -> np.ndarray:
    """Configurations at places as `PathProof.blocked_at` counts them."""
    places = np.asarray(places, dtype=np.float64)
    if isinstance(path, Curve):
        return path.at(np.interp(places, np.arange(len(path.knots)), path.knots))
    k = np.minimum(places.astype(int), len(path) - 2)
    share = (places - k)[..., None]
    return path[k] + share * (path[k + 1] - path[k])
