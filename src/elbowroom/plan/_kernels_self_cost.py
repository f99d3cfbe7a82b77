"""Numba kernel of the first part of the self-collision cost: pairs of links whose spheres come near each other.

Balls around links, around parts of them and then spheres are compared, so that most pairs cost one distance a step.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._borrow import borrowed
from .._jit import njit
from .._numba.robot import LANES
from ._cost_pack import PackedLinks
from ._kernels_paths import POSE, move_bodies, place, point_at


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _gap(poses, at_a, balls_a, a, at_b, balls_b, b):
    """Distance of two balls on bodies whose poses begin at two places."""
    ax, ay, az = point_at(poses, at_a, balls_a[a, 0], balls_a[a, 1], balls_a[a, 2])
    bx, by, bz = point_at(poses, at_b, balls_b[b, 0], balls_b[b, 1], balls_b[b, 2])
    return np.sqrt((bx - ax) ** 2 + (by - ay) ** 2 + (bz - az) ** 2) - balls_a[a, 3] - balls_b[b, 3]


@njit(cache=True, nogil=True, error_model="numpy")
def _nearest(poses, at_a, at_b, a, b, links, groups, group_balls, spheres, limit):
    """(gap, sphere, sphere) of the nearest spheres of two links; -1 where none is nearer than `limit`."""
    best, of_a, of_b = limit, -1, -1
    for g in range(links[a, 1], links[a, 1] + links[a, 2]):
        for h in range(links[b, 1], links[b, 1] + links[b, 2]):
            if _gap(poses, at_a, group_balls, g, at_b, group_balls, h) >= best:
                continue
            for s in range(groups[g, 0], groups[g, 0] + groups[g, 1]):
                for r in range(groups[h, 0], groups[h, 0] + groups[h, 1]):
                    gap = _gap(poses, at_a, spheres, s, at_b, spheres, r)
                    if gap < best:
                        best, of_a, of_b = gap, s, r
    return best, of_a, of_b


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _apart(poses, t, bodies, body_a, spheres, a, body_b, b):
    """The way from one sphere's centre to the other's at a step."""
    ax, ay, az = point_at(poses, place(t, body_a, bodies), spheres[a, 0], spheres[a, 1], spheres[a, 2])
    bx, by, bz = point_at(poses, place(t, body_b, bodies), spheres[b, 0], spheres[b, 1], spheres[b, 2])
    return bx - ax, by - ay, bz - az


@njit(cache=True, nogil=True, error_model="numpy")
def self_costs(paths, rate, clearance, robot, pairs, out, scratch):
    """What is missing of the clearance between the nearest spheres of each pair, times their relative speed, summed.

    Args:
        paths: (k, steps, dof).
        rate: steps per second.
        clearance: metres below which a pair costs.
        robot: a `PackedLinks`, as a plain tuple.
        pairs: (pairs, 2) numbers of links.
        out: (k, steps) receives the cost.
        scratch: that of `self_scratch`.
    """
    robot, scratch = borrowed(PackedLinks(*robot)), borrowed(scratch)
    links, link_balls, groups, group_balls = robot.links, robot.link_balls, robot.groups, robot.group_balls
    spheres, (poses, trig, centers) = robot.spheres, scratch
    bodies, steps = len(robot.parents), paths.shape[1]
    for p in range(len(paths)):
        move_bodies(
            paths[p], robot.parents, robot.kinds, robot.drivers, robot.local, robot.polys, trig, poses
        )
        for t in range(steps):
            for link in range(len(links)):
                x, y, z = link_balls[link, 0], link_balls[link, 1], link_balls[link, 2]
                x, y, z = point_at(poses, place(t, links[link, 0], bodies), x, y, z)
                centers[link, 0], centers[link, 1], centers[link, 2] = x, y, z
            total = 0.0
            before, after = max(t - 1, 0), min(t + 1, steps - 1)
            for k in range(len(pairs)):
                a, b = pairs[k, 0], pairs[k, 1]
                x, y, z = (
                    centers[b, 0] - centers[a, 0], centers[b, 1] - centers[a, 1], centers[b, 2] - centers[a, 2]
                )  # fmt: skip
                if x * x + y * y + z * z >= (link_balls[a, 3] + link_balls[b, 3] + clearance) ** 2:
                    continue
                body_a, body_b = links[a, 0], links[b, 0]
                at_a, at_b = place(t, body_a, bodies), place(t, body_b, bodies)
                gap, s, r = _nearest(poses, at_a, at_b, a, b, links, groups, group_balls, spheres, clearance)
                if s >= 0:
                    x, y, z = _apart(poses, before, bodies, body_a, spheres, s, body_b, r)
                    u, v, w = _apart(poses, after, bodies, body_a, spheres, s, body_b, r)
                    moved = np.sqrt((u - x) ** 2 + (v - y) ** 2 + (w - z) ** 2)
                    total += (clearance - gap) * moved * rate / (after - before)
            out[p, t] = total


def self_scratch(steps, bodies, links):
    """What `self_costs` works with in one thread, for paths of so many steps at most."""
    return np.empty(-(-steps // LANES) * bodies * POSE * LANES), np.empty(2 * LANES), np.empty((links, 3))
