"""Numba kernels: fingertip positions with their analytic Jacobian, and links' distances to a cylinder's axis.

Kinematics are the robot's own kernels on one configuration, in the first of their lanes. A call costs a few
microseconds, which is what lets closure equations be solved exactly instead of from tables.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._jit import njit
from .._numba.robot import LANES, add_rates, expand_lanes, frame_lanes, turned

FLAT = 1e-16
"""m^2; a face with less area, seen along the line, is as good as its edges."""


@njit(cache=True, nogil=True, error_model="numpy")
def points_and_jacobian(
    cfg,
    parent,
    kind,
    quat_cos,
    quat_sin,
    shift,
    slide,
    q_idx,
    driver,
    is_coupled,
    polycoef,
    order,
    axis,
    point_frame,
    point_local,
    with_jacobian,
    points,
    jacobian,
):
    """Fills points (n, 3) and, if asked, jacobian (n, 3, dof) for one cfg (1, dof).

    `point_frame` (n,) is the frame that carries each point and `point_local` (n, 3) its place in it.
    """
    q_full = np.zeros((max(1, len(order)), LANES))
    pose = np.zeros((len(parent), 7, LANES))
    expand_lanes(cfg, 0, 1, driver, is_coupled, polycoef, order, q_full)
    frame_lanes(parent, kind, quat_cos, quat_sin, shift, slide, q_idx, q_full, pose)
    rates = np.zeros((6, cfg.shape[1]))
    for n in range(len(point_frame)):
        f = point_frame[n]
        vx, vy, vz = turned(pose, f, 0, point_local[n, 0], point_local[n, 1], point_local[n, 2])
        px, py, pz = pose[f, 4, 0] + vx, pose[f, 5, 0] + vy, pose[f, 6, 0] + vz
        points[n, 0], points[n, 1], points[n, 2] = px, py, pz
        if with_jacobian:
            rates[:] = 0.0
            add_rates(
                f, 0, px, py, pz, parent, kind, q_idx, driver, is_coupled, polycoef, axis, q_full, pose, rates
            )
            jacobian[n] = rates[:3]


@njit(cache=True, nogil=True, error_model="numpy")
def axis_distance(vertices, edges, faces, pose, x, z, nearest):
    """Distance of a line along Y through (x, z) to a mesh moved by a pose wxyz_xyz; zero when the line meets it.

    Seen along the line the mesh is a drawing: the nearest point lies on an edge unless the line passes through a
    face. `nearest` (3,) becomes the mesh's point nearest to the line. Without fastmath: faces seen edge-on are told
    by the exact zero of their area, or by an area that is rounding, and their edges stand for them.
    """
    lane = pose.reshape(1, 7, 1)
    moved = np.empty((len(vertices), 3))
    for n in range(len(vertices)):
        vx, vy, vz = turned(lane, 0, 0, vertices[n, 0], vertices[n, 1], vertices[n, 2])
        moved[n, 0], moved[n, 1], moved[n, 2] = vx + pose[4] - x, vy + pose[5], vz + pose[6] - z
    for n in range(len(faces)):
        a, b, c = moved[faces[n, 0]], moved[faces[n, 1]], moved[faces[n, 2]]
        u = a[0] * b[2] - a[2] * b[0]
        v = b[0] * c[2] - b[2] * c[0]
        w = c[0] * a[2] - c[2] * a[0]
        if abs(u + v + w) > FLAT and ((u > 0.0 and v > 0.0 and w > 0.0) or (u < 0.0 and v < 0.0 and w < 0.0)):
            nearest[0], nearest[1], nearest[2] = x, (v * a[1] + w * b[1] + u * c[1]) / (u + v + w), z
            return 0.0
    best, along, which = 1e300, 0.0, 0
    for n in range(len(edges)):
        a, b = moved[edges[n, 0]], moved[edges[n, 1]]
        dx, dz = b[0] - a[0], b[2] - a[2]
        t = min(max(-(a[0] * dx + a[2] * dz) / max(dx * dx + dz * dz, 1e-300), 0.0), 1.0)
        px, pz = a[0] + t * dx, a[2] + t * dz
        squared = px * px + pz * pz
        if squared < best:
            best, along, which = squared, t, n
    a, b = moved[edges[which, 0]], moved[edges[which, 1]]
    nearest[0] = x + a[0] + along * (b[0] - a[0])
    nearest[1] = a[1] + along * (b[1] - a[1])
    nearest[2] = z + a[2] + along * (b[2] - a[2])
    return np.sqrt(best)
