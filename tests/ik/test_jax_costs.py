"""The JAX engine: residuals equal to the compiled core's, derivatives, bounds, locks, one compile per shape, verdicts."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import elbowroom as er
from elbowroom import ik
from elbowroom._poses import as_matrix
from elbowroom.errors import InputError, UnknownJointError, UnknownLinkError
from elbowroom.ik import AxisTarget, JointTarget, LookAt, PoseTarget, PositionTarget
from elbowroom.ik._problem import IkProblem, shape_of
from elbowroom.world import Box, World
from tests.double import enable_x64
from tests.oracles import PinocchioModel

LINKS = {"teaarm": "frame_left_arm_ee", "panda": "panda_hand", "rh56": "thumb_distal"}
QUICKLY = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
"""For programs that run once: compiling them is what a test takes."""
COMPILED = "/jax/core/compile/backend_compile_duration"


@pytest.fixture
def compilations():
    """Names of programs that XLA compiles during a test, as JAX itself reports them."""
    seen: list[str] = []

    def listen(event: str, seconds: float, **details: object) -> None:
        if event == COMPILED:
            seen.append(str(details))

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield seen
    if hasattr(
        jax.monitoring, "unregister_event_duration_listener"
    ):  # older JAX lets it go on listening, to no effect
        jax.monitoring.unregister_event_duration_listener(listen)


def some_targets(robot: er.Robot, link: str) -> tuple[ik.Target, ...]:
    """One of each kind, far from where random configurations are."""
    pose = np.array([0.3, -0.5, 0.7, 0.2, 0.3, -0.2, 0.5])
    return (
        PoseTarget(link, pose, 2.0, 0.7),
        PositionTarget(link, (0.1, 0.2, 0.6), (0.05, -0.02, 0.1), 3.0),
        AxisTarget(link, (0.2, -1.0, 0.4), (0.3, 0.1, 1.0), 0.5),
        LookAt(link, (1.5, 0.4, 0.2), (1.0, 0.0, 0.2), 0.4),
        JointTarget(robot.joint_names[1], 0.3, 1.5),
    )


def rows_of(costs, cfg):
    """Weighted residuals of costs, one after the other."""
    return jnp.concatenate([cost(cfg) for cost in costs])


class TestResiduals:
    @pytest.mark.parametrize("name", ["teaarm", "rh56"])
    def test_equal_those_of_the_core_in_double_precision(self, load, name):
        robot = load(name)
        targets = some_targets(robot, LINKS[name])
        problem = IkProblem.of(robot, shape_of(targets), robot.joint_names)
        values = problem.targets_row(targets)
        cfgs = robot.random_cfgs(200, seed=1)
        with enable_x64(True):
            costs = [ik.target_cost(robot, target) for target in targets]

            slopes, found = jax.jit(
                jax.vmap(jax.jacfwd(lambda q: (rows_of(costs, q),) * 2, has_aux=True)),
                compiler_options=QUICKLY,
            )(cfgs)
        np.testing.assert_allclose(found, problem.residuals(values, cfgs), atol=1e-9)
        # Turns near pi are where derivatives of a rotation vector are steep: relative to their size.
        np.testing.assert_allclose(slopes, problem.jacobians(values, cfgs), rtol=1e-6, atol=1e-6)

    def test_equal_those_of_the_core_in_single_precision(self, load):
        robot = load("teaarm")
        targets = some_targets(robot, LINKS["teaarm"])
        problem = IkProblem.of(robot, shape_of(targets), robot.joint_names)
        values = problem.targets_row(targets)
        cfgs = robot.random_cfgs(200, seed=2).astype(np.float32)
        costs = [ik.target_cost(robot, target) for target in targets]
        found = np.asarray(jax.jit(jax.vmap(partial(rows_of, costs)))(cfgs))
        exact = problem.residuals(values, cfgs.astype(np.float64))
        assert found.dtype == np.float32
        # 1e-5 but where a turn is next to pi or an axis opposed: there the direction of the turn is ill-conditioned.
        np.testing.assert_allclose(found, exact, atol=1e-5)

    def test_packed_numbers_give_the_costs_of_the_targets(self, load):
        from elbowroom.ik.jax._costs import packed_costs

        robot = load("teaarm")
        targets = some_targets(robot, LINKS["teaarm"])
        problem = IkProblem.of(robot, shape_of(targets), robot.joint_names)
        cfg = jnp.asarray(robot.random_cfgs(1, seed=3)[0])
        for packed, target in zip(
            packed_costs(robot, problem.shape, problem.targets_row(targets)), targets, strict=True
        ):
            np.testing.assert_allclose(packed(cfg), ik.target_cost(robot, target)(cfg), atol=1e-6)

    @pytest.mark.long
    def test_slopes_equal_finite_differences_for_every_cost(self, load):
        robot = load("teaarm")
        coll = er.build_multi_sphere_collision(robot, default_n_spheres=1)
        world = World([Box(size=(0.3, 0.3, 0.3), pose=(1, 0, 0, 0, 0.3, 0.3, 0.4), name="box")])
        left, cfg = LINKS["teaarm"], robot.random_cfgs(1, seed=4)[0]
        beyond = cfg + 0.05 + np.where(np.arange(16) % 2, robot.upper - cfg, 0.0)
        with enable_x64(True):
            costs = [
                *(ik.target_cost(robot, target) for target in some_targets(robot, left)),
                ik.heading_cost(robot, "waist_link", np.array([0.9, 0.1, 0.1, 0.4, 0, 0, 0]), 2.0),
                ik.rest_cost(robot.default_cfg, np.linspace(0.1, 1.0, 16)),
                ik.limit_cost(robot),
                ik.manipulability_cost(robot, (left, "frame_right_arm_ee"), 0.1),
                ik.self_collision_cost(robot, coll, 0.1, 5.0),
                ik.world_cost(robot, coll, world, 0.3, 5.0),
                ik.Cost(lambda q: jnp.sin(q[:3]) * q[3], 2.0, "mine"),
            ]
            for some, at in ((costs, cfg), (costs[7:8], beyond)):
                rows = jax.jit(jax.vmap(partial(rows_of, some)), compiler_options=QUICKLY)
                slope = jax.jit(jax.jacfwd(partial(rows_of, some)), compiler_options=QUICKLY)(at)
                steps = 1e-6 * np.eye(16)
                numeric = np.transpose((rows(at + steps) - rows(at - steps)) / 2e-6)
                np.testing.assert_allclose(slope, numeric, rtol=1e-5, atol=1e-6)
                first = 0
                for cost in some:  # each says something
                    last = first + len(cost(at))
                    assert (np.abs(numeric[first:last]).max() > 1e-3) == (
                        cost.name != "limits" or at is beyond
                    )
                    first = last

    @pytest.mark.long
    def test_are_finite_with_their_slopes_where_formulas_divide_by_zero(self, load):
        robot = load("teaarm")
        left = LINKS["teaarm"]

        @jax.jit
        def measure(costs, cfg):
            return [cost(cfg) for cost in costs], [jax.jacfwd(cost)(cfg) for cost in costs]

        for cfg in (np.zeros(16), robot.default_cfg):
            pose = robot.link_poses(cfg)[robot.link_index(left)]
            z = as_matrix(pose)[:3, 2]
            w, x, y, zz = pose[:4]
            half_turn = np.array([-x, w, zz, -y, *pose[4:]])  # about the world's x axis, times the link's own
            costs = [
                ik.pose_cost(robot, left, pose),
                ik.pose_cost(robot, left, half_turn),
                ik.axis_cost(robot, left, z),
                ik.axis_cost(robot, left, -z),
                ik.look_at_cost(robot, left, pose[4:]),
                ik.heading_cost(robot, left, (np.sqrt(0.5), 0, np.sqrt(0.5), 0, 0, 0, 0)),
                ik.manipulability_cost(robot, left),
                ik.manipulability_cost(robot, "base_link"),
            ]
            values, slopes = measure(costs, cfg.astype(np.float32))
            for cost, value, slope in zip(costs, values, slopes, strict=True):
                assert np.isfinite(value).all(), (cost, cfg)
                assert np.isfinite(slope).all(), (cost, cfg)
        aligned, opposed = values[2], values[3]
        assert np.linalg.norm(aligned) < 1e-3
        assert np.linalg.norm(opposed) == pytest.approx(0.3 * np.pi, abs=1e-3)


class TestLinkInJax:
    @pytest.mark.parametrize("name", ["teaarm", "rh56"])
    def test_pose_and_jacobian_are_those_of_the_core(self, load, name):
        robot, link = load(name), LINKS[name]
        cfgs = robot.random_cfgs(20, seed=5)
        with enable_x64(True):
            one = robot.link_in_jax(link)
            poses, slopes, both, back = jax.jit(
                jax.vmap(
                    lambda q: (one.pose(q), one.jacobian(q), jax.jacfwd(one.pose)(q), jax.jacrev(one.pose)(q))
                )
            )(cfgs)
        exact = robot.link_poses(cfgs)[:, robot.link_index(link)]
        sign = np.sign(np.sum(np.asarray(poses)[:, :4] * exact[:, :4], axis=1))
        exact[:, :4] *= sign[:, None]
        np.testing.assert_allclose(poses, exact, atol=1e-12)
        np.testing.assert_allclose(slopes, robot.jacobian(cfgs, link), atol=1e-12)
        np.testing.assert_allclose(both[:, 4:], slopes[:, :3], atol=1e-12)
        np.testing.assert_allclose(both, back, atol=1e-12)

    def test_is_refused_for_links_that_are_not_there(self, load):
        with pytest.raises(UnknownLinkError, match="frame_left"):
            load("teaarm").link_in_jax("frame_left_arm")


class TestMinimize:
    def test_reaches_a_pose_and_keeps_to_limits_and_locks(self, load):
        robot = load("teaarm")
        pinocchio = PinocchioModel(er.TeaArmRobot().urdf_path)
        goal = robot.random_cfgs(1, seed=6)[0]
        goal[0] = 0.4
        (target,) = pinocchio.link_poses(goal, [LINKS["teaarm"]])[0]
        starts = robot.random_cfgs(32, seed=7)
        starts[:, 0] = 0.4
        found = ik.minimize(
            [ik.pose_cost(robot, LINKS["teaarm"], target)], starts, robot, locked=["waist_yaw", "right_j1"]
        )
        cfgs = np.asarray(found.cfg, dtype=np.float64)
        np.testing.assert_array_equal(cfgs[:, [0, 3]], starts[:, [0, 3]].astype(np.float32))
        assert (cfgs >= robot.lower - 1e-6).all()
        assert (cfgs <= robot.upper + 1e-6).all()
        arrived = np.asarray(found.cost) < 1e-9
        assert arrived.sum() >= 8
        reached = pinocchio.link_poses(cfgs[arrived], [LINKS["teaarm"]])[:, 0]
        np.testing.assert_allclose(reached, np.broadcast_to(target, reached.shape), atol=2e-4)

    def test_finds_the_least_squares_within_bounds(self, load):
        """Against scipy's bounded solver, on a target that pulls joints beyond their limits."""
        from scipy.optimize import least_squares

        robot = load("teaarm")
        rest, pull = robot.upper + 0.5, robot.default_cfg
        costs = [ik.rest_cost(rest, 0.3), ik.position_cost(robot, LINKS["teaarm"], (0.5, 0.2, 0.9))]
        jax.jit(lambda q: ik.minimize(costs[:1], q, robot).cfg)(
            pull
        )  # single precision leaves nothing behind
        with enable_x64(True):
            found = ik.minimize(costs, pull, robot, iterations=300, step_tolerance=1e-10)

            rows = jax.jit(partial(rows_of, costs))
            judged = least_squares(
                lambda q: np.asarray(rows(q)),
                pull,
                bounds=(robot.lower - 1e-12, robot.upper + 1e-12),
                xtol=1e-14,
            )
        assert float(found.cost) <= judged.cost + 1e-6
        assert (np.asarray(found.cfg) == robot.upper).sum() >= 5  # bounds that matter

    def test_compiles_once_for_any_target_and_weight(self, load, compilations):
        robot = load("teaarm")
        poses = robot.link_poses(robot.random_cfgs(4, seed=8))[:, robot.link_index(LINKS["teaarm"])]

        def solve(k):
            costs = [
                ik.pose_cost(robot, LINKS["teaarm"], poses[k], 1.0 + k),
                ik.rest_cost(robot.default_cfg, 0.01 * k),
            ]
            return ik.minimize(costs, robot.default_cfg, robot, iterations=5 + k)

        solve(0)
        assert compilations
        compilations.clear()
        costs = {float(solve(k).cost) for k in (1, 2, 3)}
        assert len(costs) == 3
        assert compilations == []

    def test_takes_user_functions_and_runs_under_jit_and_vmap(self, load):
        robot = load("teaarm")

        def hands_level(cfg):
            return (
                robot.link_in_jax("frame_left_arm_ee").pose(cfg)[6]
                - robot.link_in_jax("frame_right_arm_ee").pose(cfg)[6]
            )

        def solve(height):
            costs = [
                ik.Cost(hands_level, 10.0, "level"),
                ik.Cost(
                    lambda q, z: robot.link_in_jax("frame_left_arm_ee").pose(q)[6] - z,
                    10.0,
                    "high",
                    (height,),
                ),
            ]
            return ik.minimize(costs, robot.default_cfg, robot).cfg

        cfgs = np.asarray(jax.jit(jax.vmap(solve))(jnp.array([0.4, 0.5, 0.6])), dtype=np.float64)
        poses = robot.link_poses(cfgs)
        for link in ("frame_left_arm_ee", "frame_right_arm_ee"):
            np.testing.assert_allclose(poses[:, robot.link_index(link), 6], [0.4, 0.5, 0.6], atol=1e-4)

    def test_says_what_is_wrong(self, load):
        robot = load("teaarm")
        cost = ik.rest_cost(robot.default_cfg)
        with pytest.raises(InputError, match="at least one Cost"):
            ik.minimize([], robot.default_cfg, robot)
        with pytest.raises(InputError, match="at least one Cost"):
            ik.minimize([np.sin], robot.default_cfg, robot)
        with pytest.raises(InputError, match=r"\(\.\.\., 16\)"):
            ik.minimize([cost], np.zeros(7), robot)
        with pytest.raises(UnknownJointError, match="left_j8"):
            ik.minimize([cost], robot.default_cfg, robot, locked=["left_j8"])
        with pytest.raises(InputError, match="give the robot"):
            ik.minimize([cost], robot.default_cfg, locked=["left_j1"])
        with pytest.raises(InputError, match="NaN"):
            ik.pose_cost(robot, LINKS["teaarm"], np.full(7, np.nan))
        with pytest.raises(InputError, match="finite"):
            ik.rest_cost(np.full(16, np.nan))
        with pytest.raises(UnknownLinkError):
            ik.pose_cost(robot, "hand", np.eye(4))
        with pytest.raises(UnknownJointError):
            ik.joint_cost(robot, "hand", 0.0)
        with pytest.raises(UnknownLinkError):
            ik.pose_cost("teaarm", "hand", np.eye(4))


class TestWorldCost:
    def test_allowed_pairs_do_not_pull(self, load):
        robot = load("teaarm")
        coll = er.build_multi_sphere_collision(robot, default_n_spheres=1)
        poses = robot.link_poses(robot.default_cfg)
        at = [*(1.0, 0.0, 0.0, 0.0), *poses[robot.link_index("base_link"), 4:]]
        world = World([Box(size=(0.2, 0.2, 0.2), pose=at, name="foot")])
        cfg = jnp.asarray(robot.default_cfg)
        assert float(jnp.abs(ik.world_cost(robot, coll, world, 0.001)(cfg)).max()) > 0.01
        links = [(link, "foot") for link in ("base_link", "waist_link", "torso_link")]
        assert float(jnp.abs(ik.world_cost(robot, coll, world, 0.001, allow=links)(cfg)).max()) == 0.0
        with pytest.raises(InputError, match="no obstacle 'table'"):
            ik.world_cost(robot, coll, world, allow=[("base_link", "table")])
        with pytest.raises(UnknownLinkError):
            ik.world_cost(robot, coll, world, allow=[("foot", "foot")])
        with pytest.raises(InputError, match="expected a World"):
            ik.world_cost(robot, coll, "table")
