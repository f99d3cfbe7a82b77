"""Bounding balls, groups and packing.

Looks inside: bounding balls and groups are bounds that no public answer shows, and a wrong one may stay
unseen for long.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from elbowroom.distance.internal import enclosing_ball, split_balls
from elbowroom.robot.internal import find_bodies

BALLS = st.integers(1, 40).flatmap(
    lambda n: arrays(np.float64, (n, 4), elements=st.floats(-1, 1, allow_subnormal=False))
)


@settings(max_examples=60, deadline=None)
@given(BALLS)
def test_an_enclosing_ball_holds_every_ball_and_is_not_much_too_large(balls):
    balls[:, 3] = np.abs(balls[:, 3]) + 0.01
    ball = enclosing_ball(balls)
    reach = np.linalg.norm(balls[:, :3] - ball[:3], axis=1) + balls[:, 3]
    assert (reach <= ball[3] + 1e-12).all()
    middle = 0.5 * ((balls[:, :3] - balls[:, 3:]).min(axis=0) + (balls[:, :3] + balls[:, 3:]).max(axis=0))
    assert ball[3] <= 1.2 * (np.linalg.norm(balls[:, :3] - middle, axis=1) + balls[:, 3]).max()


@settings(max_examples=60, deadline=None)
@given(BALLS)
def test_groups_partition_the_balls(balls):
    groups = split_balls(balls)
    assert 1 <= len(groups) <= 4
    assert sorted(np.concatenate(groups).tolist()) == list(range(len(balls)))
    assert all(len(group) for group in groups)


def test_bodies_give_the_poses_of_the_links(load):
    robot = load("panda")
    bodies = find_bodies(robot.tree)
    cfg = robot.random_cfgs(1, seed=3)[0]
    q_full = robot.tree.expand(cfg)
    world = [np.eye(4)]
    for b in range(1, len(bodies.parent)):
        q = q_full[bodies.q_idx[b]]
        motion = np.eye(4)
        if bodies.kind[b] == 1:
            motion[:2, :2] = [[np.cos(q), -np.sin(q)], [np.sin(q), np.cos(q)]]
        else:
            motion[2, 3] = q
        world.append(world[bodies.parent[b]] @ bodies.T_parent_body[b] @ motion)
    poses = robot.link_poses(cfg)
    for k in range(len(robot.link_names)):
        frame = int(robot.tree.link_frame[k])
        T = world[bodies.of_frame[frame]] @ bodies.T_body_frame[frame]
        np.testing.assert_allclose(T[:3, 3], poses[k, 4:], atol=1e-12)
