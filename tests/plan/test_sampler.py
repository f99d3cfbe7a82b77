"""RRT-Connect: same seed, same trees; every edge proved; tight places and several goals."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.collision import CollisionModel
from elbowroom.plan._sampler import BY_SPHERES, Sampler
from elbowroom.plan.internal import Group
from elbowroom.world import Box, World


def ends_of(model: CollisionModel, count: int, seed: int) -> np.ndarray:
    """Free configurations; by spheres, but for links that no joint moves."""
    cfgs = model.robot.random_cfgs(400, seed=seed)
    standing = np.stack([cfgs, cfgs], axis=1)
    proofs = model.scene_within(cfgs).prove(standing, np.zeros((1, model.robot.dof)), BY_SPHERES, 1e-5, 400)[
        1
    ]
    found = cfgs[proofs[:, 0] == 0][:count]
    assert len(found) == count
    return found


def planted(model, start, goals, seed=0) -> Sampler:
    return Sampler(model, Group.of(model.robot, start), start, goals, seed)


@pytest.mark.parametrize(("name", "kind"), [("panda", "shelf"), ("teaarm", "table")])
def test_paths_lead_from_start_to_goal_on_proved_edges(among, name, kind):
    model = among(name, kind, 3)
    rows = ends_of(model, 8, seed=2)
    for start, goal in zip(rows[::2], rows[1::2], strict=True):
        sampler = planted(model, start, goal[None])
        assert sampler.path is None
        assert sampler.grow(20000), sampler.blockers[:3]
        path = sampler.path
        np.testing.assert_array_equal(path[0], start)
        np.testing.assert_array_equal(path[-1], goal)
        assert sampler.goal_idx == 0
        assert model.segments_free(path[:-1], path[1:]).free.all()


def test_the_trees_are_the_same_however_the_steps_are_cut(among):
    model = among("panda", "shelf", 3)
    rows = ends_of(model, 20, seed=4)
    start, goal = rows[0], rows[1]
    whole, cut, other = (planted(model, start, goal[None], seed) for seed in (7, 7, 8))
    whole.grow(60)
    for _ in range(60):
        cut.grow(1)
    other.grow(60)
    assert whole.nodes == cut.nodes
    for a, b in zip(whole.trees(), cut.trees(), strict=True):
        np.testing.assert_array_equal(a, b)
    assert whole.blockers == cut.blockers
    if whole.path is None:
        assert cut.path is None
    else:
        np.testing.assert_array_equal(whole.path, cut.path)


def test_trees_hold_proved_edges_and_stay_within_limits(among):
    model = among("teaarm", "shelf", 3)
    rows = ends_of(model, 2, seed=5)
    sampler = planted(model, rows[0], rows[1][None])
    sampler.grow(300)
    cfgs, parents, tree = sampler.trees()
    robot = model.robot
    assert ((cfgs >= robot.lower) & (cfgs <= robot.upper)).all()
    kept = np.flatnonzero(parents >= 0)
    assert (parents[kept] < kept).all()
    assert (tree[parents[kept]] == tree[kept]).all()
    assert model.segments_free(cfgs[parents[kept]], cfgs[kept]).free.all()


def test_any_of_several_goals_will_do(among):
    model = among("panda", "shelf", 3)
    rows = ends_of(model, 6, seed=6)
    sampler = planted(model, rows[0], rows[1:])
    assert sampler.grow(20000)
    np.testing.assert_array_equal(sampler.path[-1], rows[1:][sampler.goal_idx])


def test_held_joints_stay_where_they_are(among):
    model = among("panda", "shelf", 3)
    rows = ends_of(model, 12, seed=8)
    start = rows[0].copy()
    start[7] = 0.065  # beyond its limit
    names = model.robot.joint_names[:7]
    group = Group.of(model.robot, start, names)
    goals = group.whole(group.parts(rows[1:]))
    goals = goals[model.free(goals)]
    sampler = Sampler(model, group, start, goals, 0)
    assert sampler.grow(20000)
    assert (sampler.path[:, 7] == 0.065).all()


def test_it_gets_out_of_places_too_tight_for_spheres(bare):
    """A wall a millimetre beside the hand: spheres touch it at the start, meshes do not."""
    model = bare("panda")
    start = model.default_cfg
    at = model.robot.link_poses(start[None])[0, model.robot.link_index("panda_hand"), 4:]
    for aside in np.arange(0.1, 0.3, 0.001):  # until it just does not touch
        wall = Box(
            size=(0.3, 0.1, 0.3), pose=np.array([1, 0, 0, 0, at[0], at[1] + aside, at[2]]), name="wall"
        )
        tight = model.with_world(World([wall]))
        if tight.free(start):
            break
    assert tight.free(start)
    assert not tight.free(start, by="spheres")
    goal = start.copy()
    goal[0] -= 1.2
    assert tight.free(goal)
    for a, b in ((start, goal), (goal, start)):
        sampler = planted(tight, a, b[None])
        assert sampler.grow(2000)
        assert tight.segments_free(sampler.path[:-1], sampler.path[1:]).free.all()


def test_who_stands_in_the_way_is_named(bare):
    """A wall between start and goal."""
    model = bare("panda")
    start = model.default_cfg
    goal = start.copy()
    goal[0] += 1.5
    wall = Box(
        size=(0.05, 3.0, 3.0), pose=np.array([np.cos(0.4), 0, 0, np.sin(0.4), 0.25, 0.25, 0.5]), name="wall"
    )
    shut = model.with_world(World([wall]))
    sampler = planted(shut, start, goal[None])
    sampler.grow(50)
    assert sampler.blockers
    pair, count = sampler.blockers[0]
    assert count > 0
    assert pair[0] in model.robot.link_names
    assert any(who[1] == "wall" for who, _ in sampler.blockers)


def test_two_arms_leave_places_where_spheres_touch(among):
    """Ends that only meshes call free: a robot of 359 pairs, whose proofs take as many pieces where nothing is near."""
    model = among("baxter", "cage", 0)
    robot = model.robot
    names = tuple(name for name in robot.joint_names if name.startswith(("left_", "right_")))
    group = Group.of(robot, model.default_cfg, names)
    rng = np.random.default_rng(14)
    rows = group.whole(rng.uniform(group.lower, group.upper, (6000, len(names))))
    rows = rows[model.free(rows)]
    tight = rows[~model.free(rows, by="spheres")]
    assert len(tight) >= 8
    for start, goal in zip(tight[0:8:2], tight[1:8:2], strict=True):
        whole, cut, told = (
            Sampler(model, Group.of(robot, start, names), start, goal[None], 0) for _ in range(3)
        )
        assert whole.grow(3000), whole.blockers[:3]
        path = whole.path
        assert path is not None
        assert model.segments_free(path[:-1], path[1:]).free.all()
        while not cut.grow(7):  # the same path, however the steps are cut
            assert cut.iterations <= whole.iterations
        np.testing.assert_array_equal(cut.path, path)
        assert not told.grow(10**5, 0.0)  # ends when time is up


def test_links_that_no_moving_joint_brings_together_do_not_stop_a_search(among):
    """One arm of two moves; spheres of the other, which meshes call free, touch all the time."""
    model = among("baxter", "table", 0)
    robot = model.robot
    rows = robot.random_cfgs(4000, seed=3)
    names = tuple(name for name in robot.joint_names if name.startswith("left_"))
    rows = rows[model.free(rows)]
    start = rows[~model.free(rows, by="spheres")][0]
    group = Group.of(robot, start, names)
    goals = group.whole(group.parts(rows[:40]))
    goals = goals[model.free(goals)][:3]
    assert len(goals)
    sampler = Sampler(model, group, start, goals, 1)
    assert sampler.straight() or sampler.grow(5000)
    held = [k for k, name in enumerate(robot.joint_names) if name not in names]
    assert (sampler.path[:, held] == start[held]).all()
    assert model.segments_free(sampler.path[:-1], sampler.path[1:]).free.all()
