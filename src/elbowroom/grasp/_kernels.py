"""Numba kernels: fingertip positions with their analytic Jacobian, and links' distances to a cylinder's axis.

One configuration at a time: couplings are expanded with their slopes, frames composed in tree order, and
each point's velocity summed along its chain. A call costs a few microseconds, which is what lets closure
equations be solved exactly instead of from tables.
"""

# pyright: basic
from __future__ import annotations

import numpy as np
from numba import njit

FLAT = 1e-16
"""m^2; a face with less area, seen along the line, is as good as its edges."""


@njit(cache=True, nogil=True, error_model="numpy")
def expand(cfg, driver, is_coupled, polycoef, order, q_full, slope, origin):
    """Fills q_full (moving,), its slope by the actuated joint it finally follows, and that joint's cfg entry."""
    for k in range(len(order)):
        i = order[k]
        d = driver[i]
        if is_coupled[i]:
            v = q_full[d]
            c = polycoef[i]
            q_full[i] = c[0] + v * (c[1] + v * (c[2] + v * (c[3] + v * c[4])))
            slope[i] = slope[d] * (c[1] + v * (2.0 * c[2] + v * (3.0 * c[3] + v * 4.0 * c[4])))
            origin[i] = origin[d]
        else:
            q_full[i] = cfg[d]
            slope[i] = 1.0
            origin[i] = d


@njit(cache=True, nogil=True, error_model="numpy")
def turn(q, x, y, z):
    """Rotates a vector by a unit quaternion wxyz."""
    cx, cy, cz = 2.0 * (q[2] * z - q[3] * y), 2.0 * (q[3] * x - q[1] * z), 2.0 * (q[1] * y - q[2] * x)
    return (
        x + q[0] * cx + q[2] * cz - q[3] * cy,
        y + q[0] * cy + q[3] * cx - q[1] * cz,
        z + q[0] * cz + q[1] * cy - q[2] * cx,
    )


@njit(cache=True, nogil=True, error_model="numpy")
def compose(parent, kind, quat_cos, quat_sin, shift, slide, q_idx, q_full, quat, place):
    """Fills quat (frames, 4) and place (frames, 3), world poses of all frames."""
    for f in range(len(parent)):
        q = q_full[q_idx[f]] if q_idx[f] >= 0 else 0.0
        s, c = 0.0, 1.0
        if kind[f] == 1:
            s, c = np.sin(0.5 * q), np.cos(0.5 * q)
        w = c * quat_cos[f, 0] + s * quat_sin[f, 0]
        x = c * quat_cos[f, 1] + s * quat_sin[f, 1]
        y = c * quat_cos[f, 2] + s * quat_sin[f, 2]
        z = c * quat_cos[f, 3] + s * quat_sin[f, 3]
        p = parent[f]
        if p < 0:
            quat[f, 0], quat[f, 1], quat[f, 2], quat[f, 3] = w, x, y, z
            place[f, 0], place[f, 1], place[f, 2] = shift[f, 0], shift[f, 1], shift[f, 2]
            continue
        pw, px, py, pz = quat[p, 0], quat[p, 1], quat[p, 2], quat[p, 3]
        quat[f, 0] = pw * w - px * x - py * y - pz * z
        quat[f, 1] = pw * x + px * w + py * z - pz * y
        quat[f, 2] = pw * y - px * z + py * w + pz * x
        quat[f, 3] = pw * z + px * y - py * x + pz * w
        travel = q if kind[f] == 2 else 0.0
        vx, vy, vz = turn(
            quat[p],
            shift[f, 0] + slide[f, 0] * travel,
            shift[f, 1] + slide[f, 1] * travel,
            shift[f, 2] + slide[f, 2] * travel,
        )
        place[f, 0], place[f, 1], place[f, 2] = place[p, 0] + vx, place[p, 1] + vy, place[p, 2] + vz


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
    """Fills points (n, 3) and, if asked, jacobian (n, 3, dof) for one cfg (dof,).

    `point_frame` (n,) is the frame that carries each point and `point_local` (n, 3) its place in it.
    """
    n_moving = max(1, len(order))
    q_full, slope, origin = np.zeros(n_moving), np.ones(n_moving), np.zeros(n_moving, dtype=np.int64)
    expand(cfg, driver, is_coupled, polycoef, order, q_full, slope, origin)
    quat, place = np.empty((len(parent), 4)), np.empty((len(parent), 3))
    compose(parent, kind, quat_cos, quat_sin, shift, slide, q_idx, q_full, quat, place)
    for n in range(len(point_frame)):
        f = point_frame[n]
        vx, vy, vz = turn(quat[f], point_local[n, 0], point_local[n, 1], point_local[n, 2])
        points[n, 0], points[n, 1], points[n, 2] = place[f, 0] + vx, place[f, 1] + vy, place[f, 2] + vz
        if not with_jacobian:
            continue
        jacobian[n] = 0.0
        while f > 0:
            if kind[f] > 0:
                ax, ay, az = turn(quat[f], axis[f, 0], axis[f, 1], axis[f, 2])
                i = q_idx[f]
                column = origin[i]
                if kind[f] == 1:
                    rx, ry, rz = (
                        points[n, 0] - place[f, 0],
                        points[n, 1] - place[f, 1],
                        points[n, 2] - place[f, 2],
                    )
                    ax, ay, az = ay * rz - az * ry, az * rx - ax * rz, ax * ry - ay * rx
                jacobian[n, 0, column] += slope[i] * ax
                jacobian[n, 1, column] += slope[i] * ay
                jacobian[n, 2, column] += slope[i] * az
            f = parent[f]


@njit(cache=True, nogil=True, error_model="numpy")
def axis_distance(vertices, edges, faces, pose, x, z, nearest):
    """Distance of a line along Y through (x, z) to a mesh moved by a pose wxyz_xyz; zero when the line meets it.

    Seen along the line the mesh is a drawing: the nearest point lies on an edge unless the line passes through a
    face. `nearest` (3,) becomes the mesh's point nearest to the line. Without fastmath: faces seen edge-on are told
    by the exact zero of their area, or by an area that is rounding, and their edges stand for them.
    """
    quat = pose[:4]
    moved = np.empty((len(vertices), 3))
    for n in range(len(vertices)):
        vx, vy, vz = turn(quat, vertices[n, 0], vertices[n, 1], vertices[n, 2])
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
