"""One tick after another: a cart on rails around a post, where the right answer is known in plain numbers.

The cart (0.1 wide) and the post (0.2) are apart by max(|x|, |y|) - 0.15 along the axes.
"""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.collision import CollisionModel
from elbowroom.errors import InputError, UnknownLinkError
from elbowroom.ik import JointTarget, PositionTarget, Tracker, TrackOptions
from elbowroom.world import Box, World

DT = 0.005
RAILS = """<robot name="rails">
  <link name="post"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <link name="bare"/>
  <link name="cart"><collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  <joint name="x" type="prismatic"><parent link="post"/><child link="bare"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
  <joint name="y" type="prismatic"><parent link="bare"/><child link="cart"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="0.5" velocity="1" effort="1"/></joint>
</robot>"""
SPEED, ACCELERATION = 1.0, 10.0
"""Of both joints, m/s and m/s^2: what the description says, and the default that follows from it."""


@pytest.fixture(scope="module")
def rails(tmp_path_factory) -> CollisionModel:
    path = tmp_path_factory.mktemp("rails") / "rails.urdf"
    path.write_text(RAILS)
    robot = er.load_robot(path)
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    return CollisionModel(
        robot, spheres, er.compute_pairs(robot, spheres, er.PairOptions(check=[("cart", "post")]))
    )


def at(x: float, y: float) -> list[PositionTarget]:
    return [PositionTarget("cart", np.array([x, y, 0.0]))]


class Run:
    """Ticks of a tracker, and what they led to."""

    def __init__(self, tracker: Tracker, cfg, dt: float = DT) -> None:
        self.tracker, self.dt = tracker, dt
        self.cfgs, self.velocities, self.dts, self.steps = [np.array(cfg)], [np.zeros(len(cfg))], [], []

    def tick(self, targets, ticks: int = 1, *, dt: float | None = None, measured=None, **how) -> Run:
        for _ in range(ticks):
            begin = self.cfgs[-1] if measured is None else measured
            step = self.tracker.tick(targets, begin, dt or self.dt, **how)
            self.steps.append(step)
            self.dts.append(dt or self.dt)
            self.cfgs.append(np.array(step.cfg))
            self.velocities.append(np.diff(self.cfgs[-2:], axis=0)[0] / self.dts[-1])
        return self

    def keeps_limits(self) -> bool:
        """Speeds and accelerations of the commands alone."""
        v, dt = np.array(self.velocities), np.array(self.dts)
        slowest = np.abs(np.diff(v, axis=0)) / dt[:, None]
        return bool((np.abs(v) <= SPEED + 1e-9).all() and (slowest <= ACCELERATION * (1.0 + 1e-6)).all())

    def apart(self) -> float:
        """The smallest distance of cart and post, at the ticks and at ten places in between."""
        path = np.array(self.cfgs)
        share = np.linspace(0.0, 1.0, 11)[:, None, None]
        return float((np.abs((1.0 - share) * path[:-1] + share * path[1:]).max(axis=-1) - 0.15).min())


def test_a_moving_target_is_followed_and_limits_are_kept(rails):
    """The command of a tick is where the target will be at its end, if it goes on as it does."""
    run = Run(Tracker(rails, ["cart"]), [0.5, 0.0])
    way = np.array([(0.5 * np.cos(k * DT), 0.4 * np.sin(k * DT)) for k in range(601)])
    for x, y in way[:-1]:
        run.tick(at(x, y))
    off = np.linalg.norm(np.array(run.cfgs)[1:] - way[1:], axis=1)
    # the target's velocity is averaged over 20 ms, changes by 0.5 m/s^2, and a thirtieth of what it is off remains
    assert off[200:].max() < 5e-4
    assert run.keeps_limits()
    assert all(step.proved and step.state == "tracking" and not step.why for step in run.steps)


def test_a_far_target_is_reached_without_overshoot(rails):
    run = Run(Tracker(rails), [0.3, -0.9]).tick(at(0.3, 0.4), 600)
    assert run.steps[-1].position_error[0] < 1e-4
    assert np.array(run.cfgs)[:, 1].max() < 0.4 + 1e-6
    assert run.keeps_limits()


def test_a_target_in_the_post_is_approached_and_never_reached(rails):
    run = Run(Tracker(rails), [0.5, 0.0]).tick(at(0.0, 0.0), 400)
    assert 0.0 < run.apart() < 0.003
    assert "cart and post" in run.steps[-1].limited_by
    assert run.keeps_limits()


def test_nothing_winds_up_in_contact(rails):
    """However long it pushed, the way back is the same."""
    ways = []
    for ticks in (300, 900):
        run = Run(Tracker(rails), [0.5, 0.0]).tick(at(0.0, 0.0), ticks)
        begin = len(run.cfgs)
        run.tick(at(0.4, 0.0), 40)
        assert np.all(np.diff(np.array(run.cfgs)[begin - 1 :, 0]) > 0.0)  # at once, from the first tick on
        ways.append(np.array(run.cfgs)[begin:])
    assert np.allclose(ways[0], ways[1], atol=1e-3)


def test_along_a_boundary_there_is_neither_freeze_nor_lurch(rails):
    """The target slides along a face of the post, 5 cm inside it: the cart keeps pace, then is back on the target."""
    run = Run(Tracker(rails), [0.25, -0.1]).tick(at(0.1, -0.1), 200)
    sliding = len(run.cfgs)
    behind = []
    for k in range(200):
        y = -0.1 + 0.2 * k * DT
        run.tick(at(0.1, y))
        behind.append(abs(y - run.cfgs[-1][1]))
    assert max(behind) < 0.01
    speeds = np.array(run.velocities)[sliding:, 1]
    assert speeds[20:].min() > 0.15
    assert speeds.max() < 0.25
    for k in range(200):
        run.tick(at(0.1, 0.1 + 0.2 * k * DT))
    run.tick(at(0.1, 0.3), 100)
    assert run.steps[-1].position_error[0] < 0.002
    assert run.apart() > 0.0
    assert run.keeps_limits()


def test_back_on_target_half_a_second_after_the_obstacle_is_gone(rails):
    among = rails.with_world(World([Box((0.2, 0.4, 0.4), pose=[1, 0, 0, 0, 0.5, -0.6, 0], name="wall")]))
    run = Run(Tracker(among), [0.2, -0.6]).tick(at(0.42, -0.6), 300)
    assert run.steps[-1].position_error[0] > 0.05
    assert "cart and wall" in run.steps[-1].limited_by
    run.tracker = run.tracker.with_model(rails)
    run.tick(at(0.42, -0.6), 100)
    assert run.steps[-1].position_error[0] < 0.002
    assert run.keeps_limits()


def test_an_obstacle_that_appears_in_front_is_not_hit(rails):
    run = Run(Tracker(rails), [-0.8, -0.6]).tick(at(0.8, -0.6), 60)
    fast = run.cfgs[-1][0]
    wall = Box((0.2, 0.4, 0.4), pose=[1, 0, 0, 0, fast + 0.35, -0.6, 0], name="wall")
    run.tracker = run.tracker.with_model(rails.with_world(World([wall])))
    run.tick(at(0.8, -0.6), 300)
    assert max(cfg[0] for cfg in run.cfgs) < fast + 0.2
    assert run.keeps_limits()


def test_clutching_in_again_does_not_jump(rails):
    run = Run(Tracker(rails), [0.5, 0.0]).tick(at(0.5, 0.3), 30)
    run.tick(at(0.5, 0.3), 60, clutch=False)
    assert run.steps[-1].state == "holding"
    assert "clutch" in run.steps[-1].why
    assert np.array_equal(run.cfgs[-1], run.cfgs[-2])
    run.tick(at(0.5, -0.8), 400)
    assert run.steps[-1].position_error[0] < 0.002
    first = np.abs(np.array(run.velocities)[91:111, 1])  # the speed bound grows from zero over half a second
    assert (
        first <= np.arange(1, 21) * DT / 0.5 + 1e-4
    ).all()  # and a little for the pull to the rest posture
    assert run.keeps_limits()


def test_relative_clutching_moves_by_what_the_target_moves(rails):
    run = Run(Tracker(rails, options=TrackOptions(relative=True)), [0.5, 0.0]).tick(at(7.0, 3.0), 50)
    assert np.allclose(run.cfgs, [0.5, 0.0], atol=1e-12)
    run.tick(at(7.1, 3.0), 300)
    assert np.allclose(run.cfgs[-1], [0.6, 0.0], atol=1e-3)
    run.tick(at(2.0, 2.0), 10, clutch=False).tick(at(2.0, 2.1), 300)
    assert np.allclose(run.cfgs[-1], [0.6, 0.0], atol=1e-3)


def test_lost_targets_are_held_then_the_cart_stops_then_goes_on(rails):
    options = TrackOptions(hold_for=0.2)
    run = Run(Tracker(rails, options=options), [0.5, -0.9]).tick(at(0.5, 0.4), 40)
    run.tick(None, 100)
    states = [step.state for step in run.steps[40:]]
    assert list(dict.fromkeys(states)) == ["holding", "stopping", "stopped"]
    assert states.index("stopping") == 40
    assert "no target" in run.steps[-1].why
    assert run.cfgs[80][1] > run.cfgs[41][1] + 0.1  # meanwhile on to the last target
    assert np.array_equal(run.cfgs[-1], run.cfgs[-2])
    run.tick(at(0.5, 0.4), 400)
    assert run.steps[-1].state == "tracking"
    assert run.steps[-1].position_error[0] < 0.002
    assert run.keeps_limits()


def test_a_stamp_that_does_not_change_is_a_lost_target(rails):
    run = Run(Tracker(rails, options=TrackOptions(stale_after=0.05, hold_for=0.1)), [0.5, -0.9])
    run.tick(at(0.5, 0.4), 60, stamp=12.0)
    assert [run.steps[k].state for k in (0, 9, 15, 59)] == ["tracking", "tracking", "holding", "stopped"]


@pytest.mark.parametrize("start", [(0.14, 0.02), (0.0, 0.13)])
def test_a_start_in_contact_may_only_leave_it(rails, start):
    deeper = Run(Tracker(rails), start).tick(at(-0.5 * start[0], -0.5 * start[1]), 100)
    assert np.abs(np.array(deeper.cfgs)).max(axis=1).min() > max(start) - 1e-5
    leaves = Run(Tracker(rails), start).tick(at(4.0 * start[0], 3.5 * start[1]), 400)
    assert leaves.steps[-1].position_error[0] < 0.002
    assert rails.free(leaves.cfgs[-1])
    assert leaves.keeps_limits()


@pytest.mark.parametrize("gap", [2e-5, 5e-4, 1.2e-3])
def test_a_start_within_the_skin_moves_out_of_it_and_never_freezes(rails, gap):
    start = np.array([0.15 + gap, 0.0])
    stays = Run(Tracker(rails, options=TrackOptions(budget=1.0)), start).tick(at(*start), 200)
    gaps = np.array(stays.cfgs)[:, 0] - 0.15
    assert np.diff(gaps).min() > -1e-6  # it comes no closer
    assert gaps[-1] > 1.5e-3
    assert stays.steps[0].limited_by == ("cart and post",)
    follows = Run(Tracker(rails, options=TrackOptions(budget=1.0)), start).tick(at(0.15, 0.4), 200)
    assert follows.cfgs[-1][1] > 0.39  # along the post it is as free as elsewhere
    assert follows.apart() > gap - 1e-5
    for run in (stays, follows):
        assert run.keeps_limits()
        assert all(step.proved for step in run.steps)


def test_within_the_skin_the_reason_is_told(rails):
    """Pulled into the post all the time and along it: wherever it is near, the post is named."""
    run = Run(Tracker(rails, options=TrackOptions(budget=1.0)), [0.5, 0.02])
    for k in range(600):
        run.tick(at(0.05 + 0.05 * np.sin(0.05 * k), 0.1 * np.cos(0.03 * k)))
    for cfg, step in zip(run.cfgs[1:], run.steps, strict=True):
        if np.abs(cfg).max() - 0.15 < 3e-3:
            assert "cart and post" in step.limited_by
    assert run.apart() > 1.5e-3
    assert run.apart() < 3e-3  # else nothing was told


def test_ticks_of_uneven_length_keep_all_limits(rails):
    random = np.random.default_rng(4)
    run = Run(Tracker(rails), [0.5, 0.0])
    for k in range(500):
        run.tick(at(0.4 * np.cos(0.01 * k), 0.3 * np.sin(0.02 * k)), dt=float(random.uniform(0.001, 0.02)))
    assert run.apart() > 0.0
    assert run.keeps_limits()


def test_a_jump_of_ten_metres_is_a_fast_motion_no_more(rails):
    run = Run(Tracker(rails), [0.5, 0.0]).tick(at(0.5, 0.1), 50).tick(at(0.5, 10.1), 200)
    assert run.keeps_limits()
    assert run.cfgs[-1][1] == pytest.approx(0.5, abs=0.01)
    assert any("limit of joint y" in word for word in run.steps[-1].limited_by)
    run.tick(at(0.5, 0.1), 200)
    assert run.steps[-1].position_error[0] < 0.002


@pytest.mark.parametrize("dt", [0.0, -0.005, np.nan, np.inf, "soon"])
def test_a_tick_takes_time(rails, dt):
    with pytest.raises(InputError, match="dt"):
        Tracker(rails).tick(at(0.5, 0.1), [0.5, 0.0], dt)


def test_targets_that_are_none_are_refused_or_held(rails):
    with pytest.raises(InputError, match="NaN"):
        Tracker(rails).tick({"cart": np.full(7, np.nan)}, [0.5, 0.0], DT)
    run = Run(Tracker(rails, options=TrackOptions(on_bad_target="hold")), [0.5, 0.0]).tick(at(0.5, 0.2), 20)
    run.tick({"cart": np.full(7, np.nan)})
    assert run.steps[-1].state == "holding"
    assert "NaN" in run.steps[-1].why
    assert run.keeps_limits()


def test_a_quaternion_that_is_normalised_is_said(rails):
    pose = np.array([2.0, 0, 0, 0, 0.5, 0.5, 0])
    step = Tracker(rails).tick({"cart": pose}, [0.5, 0.5], DT)
    assert any("cart" in note and "normalised" in note for note in step.notes)
    assert Tracker(rails).tick({"cart": pose / [2, 1, 1, 1, 1, 1, 1]}, [0.5, 0.5], DT).notes == ()


def test_no_joint_moves_where_none_may(rails):
    run = Run(Tracker(rails, joints=()), [0.5, 0.5]).tick(at(0.5, -0.5), 20)
    np.testing.assert_array_equal(np.array(run.cfgs), np.full((21, 2), 0.5))
    solver = er.IkSolver(rails, held={"x": 0.5, "y": 0.5})
    np.testing.assert_array_equal(solver.track(at(0.5, -0.5), [0.5, 0.5], DT).cfg, [0.5, 0.5])


def test_a_robot_alone_gets_a_model_without_obstacles(rails):
    for make in (Tracker, er.Guard):
        assert make(rails.robot).model.world is None
        with pytest.raises(InputError, match="cannot load a robot from a int"):
            make(3)


def test_what_does_not_exist_is_named(rails):
    with pytest.raises(UnknownLinkError, match="kart"):
        Tracker(rails, ["kart"])
    with pytest.raises(UnknownLinkError, match="kart"):
        Tracker(rails).tick({"kart": np.array([1.0, 0, 0, 0, 0.5, 0, 0])}, [0.5, 0.0], DT)
    with pytest.raises(er.errors.UnknownJointError, match="z"):
        Tracker(rails).tick([JointTarget("z", 0.1)], [0.5, 0.0], DT)
    with pytest.raises(InputError, match="first tick"):
        Tracker(rails).tick(at(0.5, 0.0), None, DT)
    with pytest.raises(InputError, match="velocity_limits"):
        Tracker(rails, options=TrackOptions(velocity_limits=[1.0, 0.0]))


def test_a_joint_target_moves_its_joint_alone(rails):
    run = Run(Tracker(rails), [0.5, 0.0]).tick([JointTarget("y", 0.3)], 300)
    assert np.allclose(run.cfgs[-1], [0.5, 0.3], atol=1e-3)
    assert (np.array(run.cfgs)[:, 0] == 0.5).all()


@pytest.mark.parametrize("targets", [at(0.5, 0.8), [JointTarget("y", 0.8)]], ids=["position", "joint"])
def test_noise_of_what_is_measured_does_not_reach_the_commands(rails, targets):
    """Half a millimetre on every joint, a target beyond the limit of y, and of the joint target an x that is held."""
    run, random = Run(Tracker(rails), [0.5, 0.0]), np.random.default_rng(2)
    for _ in range(400):
        run.tick(targets, measured=run.cfgs[-1] + random.normal(0.0, 5e-4, 2))
    cfgs = np.array(run.cfgs[1:])
    assert cfgs[:, 1].max() <= 0.5
    assert cfgs[-1, 1] > 0.49
    run.cfgs[0] = cfgs[0] - DT * run.steps[0].velocity  # where the first tick began, which was measured
    run.velocities[1] = run.steps[0].velocity
    assert run.keeps_limits()
    assert not any(step.why for step in run.steps)
    if isinstance(targets[0], JointTarget):
        assert (cfgs[:, 0] == cfgs[0, 0]).all()


def test_a_robot_that_is_not_where_it_was_sent_starts_anew_from_rest(rails):
    run = Run(Tracker(rails), [0.5, 0.0]).tick(at(0.5, 0.4), 40)
    assert run.steps[-1].velocity[1] > 0.3
    near = run.tracker.tick(at(0.5, 0.4), run.cfgs[-1] - [0.0, 0.09], DT)
    assert near.cfg[1] > run.cfgs[-1][1]  # lag: goes on from its command
    moved = run.tracker.tick(at(0.5, 0.4), near.cfg - [0.0, 0.11], DT)
    assert "joint y is 0.11 off" in moved.why
    assert np.allclose(moved.cfg, near.cfg - [0.0, 0.11], atol=ACCELERATION * DT * DT)
    assert np.abs(moved.velocity).max() <= ACCELERATION * DT * (1.0 + 1e-9)
    assert not run.tracker.tick(at(0.5, 0.4), moved.cfg, DT).why


def test_a_start_measured_just_beyond_a_limit_begins_at_the_limit(rails):
    assert Tracker(rails).tick(at(0.4, 0.6), [0.4, 0.5 + 1e-3], DT).cfg[1] == 0.5
    far = Run(Tracker(rails), [0.4, 0.6]).tick(
        at(0.4, 0.55), 400
    )  # no misreading: may only come back, at all limits
    assert (np.diff(np.array(far.cfgs)[:, 1]) <= 0.0).all()
    assert far.cfgs[-1][1] < 0.56
    assert far.keeps_limits()
