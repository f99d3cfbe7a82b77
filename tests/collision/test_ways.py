"""How far spheres go from the middle of a piece: never less than they really go, and far less than joints could."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom._poses import matrix_from_wxyz_xyz

LOOKS = 41
"""Places on a piece at which spheres are looked at."""


@pytest.fixture(scope="module")
def ways_of():
    """A function of lanes, pieces (16, 4, dof) and half widths (16,): ways (links, 16) around t = 0.5."""
    from numba import njit

    from elbowroom._numba.collision._kernels_lane_curve import joint_ways, place_on, reach_ways
    from elbowroom._numba.collision._kernels_ways import bend_links, link_ways
    from elbowroom._numba.collision.kernels import lane_scratch
    from elbowroom._numba.distance import LINK_BODY, POSE, body_poses, expand, place, tables, views

    @njit(error_model="numpy")
    def fill(lanes, pieces, halves, scratch, ways):
        work, (q_full, _, cfgs), _, _, (work_end, curl, _, _, _, _) = scratch
        bodies, moving, links, _, _, local, points = tables(lanes.ints, lanes.floats)
        poses, placed, _, trig = views(lanes.ints, work)
        poses_end, placed_end, _, _ = views(lanes.ints, work_end)
        n, nl, joints = len(pieces), len(links), lanes.link_reach.shape[1]
        rate, off, size = np.zeros(joints), np.zeros(joints), np.zeros(joints)
        move, room, bend = np.empty((n, nl)), np.empty((n, nl)), np.empty((n, nl))
        for i in range(n):
            joint_ways(pieces[i], np.zeros(pieces.shape[2]), moving, lanes.doubles, rate, off, size, curl)
            bend_links(lanes, rate, curl, bend[i])
            reach_ways(lanes.link_reach, rate, off, move[i], room[i])
        for later in range(1, -1, -1):
            for i in range(n):
                place_on(pieces[i], 0.5 + later * halves[i], cfgs[i])
            expand(cfgs, 0, n, moving, lanes.doubles, q_full)
            body_poses(bodies, local, q_full, trig, poses_end if later else poses)
        for k in range(nl):
            place(poses, links[k, LINK_BODY] * POSE, points, k, 1, placed)
        link_ways(
            n,
            np.arange(n),
            halves,
            move,
            bend,
            lanes,
            links,
            points,
            (poses, placed),
            (poses_end, placed_end),
            ways,
        )
        return move

    def ways(model, pieces, halves):
        lanes = model.parts.lanes
        out = np.zeros((len(lanes.link_reach), len(pieces)))
        move = fill(lanes, pieces, halves, lane_scratch(lanes, model.robot.dof), out)
        return out, (move * halves[:, None]).T

    return ways


def bezier(piece: np.ndarray, t: np.ndarray) -> np.ndarray:
    t = t[:, None]
    s = 1.0 - t
    return s**3 * piece[0] + 3 * s**2 * t * piece[1] + 3 * s * t**2 * piece[2] + t**3 * piece[3]


@pytest.mark.parametrize("name", ["teaarm", "rails"])
def test_spheres_go_no_farther_than_their_ways(name, ways_of, tmp_path):
    model = er.CollisionModel(rails(tmp_path) if name == "rails" else er.load_robot(name), threads=1)
    robot = model.robot
    names = [link for link in robot.link_names if link in model.spheres.counts]
    rng = np.random.default_rng(0)
    low, high = np.maximum(robot.lower, -3.0), np.minimum(robot.upper, 3.0)
    shares = []
    for round_ in range(12):
        begin, end = rng.uniform(low, high, (2, 16, robot.dof))
        size = 10.0 ** rng.uniform(-3.0, 0.0)
        end = begin + size * (end - begin)
        bulge = rng.normal(
            scale=0.3 * size * (round_ % 3), size=(2, 16, robot.dof)
        )  # every third time straight
        pieces = np.stack(
            [begin, *(begin + (end - begin) * [[1 / 3]] + bulge[0], end - (end - begin) / 3 + bulge[1]), end],
            1,
        )
        halves = rng.uniform(0.02, 0.5, 16)
        bound, by_joints = ways_of(model, np.ascontiguousarray(pieces), halves)
        for i in range(16):
            places = 0.5 + np.linspace(-1.0, 1.0, LOOKS) * halves[i]
            Ts = matrix_from_wxyz_xyz(robot.link_poses(bezier(pieces[i], places)))
            middle = LOOKS // 2
            for k, link in enumerate(names):
                T = Ts[:, robot.link_index(link)]
                centers = model.spheres.link(link)[0] @ T[:, :3, :3].transpose(0, 2, 1) + T[:, None, :3, 3]
                went = np.linalg.norm(centers - centers[middle], axis=-1).max()
                assert went <= bound[k, i] + 1e-9
                if by_joints[k, i] > 1e-4 and size < 0.1:
                    shares.append(bound[k, i] / by_joints[k, i])
    assert np.mean(shares) < 0.9  # what it is for: half on long arms, most on short ones


def rails(folder) -> er.Robot:
    """An arm on a slide, with a joint that follows another bent by a law and one that follows a straight one."""
    path = folder / "rails.xml"
    path.write_text(
        """<mujoco><compiler angle="radian"/><worldbody>
        <body name="cart"><joint name="rail" type="slide" axis="1 0 0" range="-1 1"/>
          <geom type="box" size=".1 .1 .05"/>
          <body name="arm" pos="0 0 .2"><joint name="turn" axis="0 0 1" range="-3 3"/>
            <geom type="capsule" fromto="0 0 0 .5 0 0" size=".04"/>
            <body name="fore" pos=".55 0 0"><joint name="bend" axis="0 1 0" range="-2 2"/>
              <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
              <body name="tip" pos=".33 0 0"><joint name="curl" axis="0 1 0.3" range="-3 3"/>
                <geom type="capsule" fromto="0 0 0 .1 0 0.1" size=".02"/></body></body></body></body>
        </worldbody><equality><joint joint1="curl" joint2="bend" polycoef="0.1 0.5 0.2 -0.1 0.05"/></equality></mujoco>"""
    )
    return er.load_robot(path)
