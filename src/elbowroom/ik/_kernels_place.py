"""Numba kernels of IK: where target links are, how far from their targets, and how that changes with the joints.

All in lockstep for eight configurations (`Wide`), on the arrays that `_layout` describes. Residuals are in world axes,
weighted; `_problem` states them. The Jacobian is their exact derivative: for orientations it holds the inverse of the
right Jacobian of the rotation vector (Sola, Deray, Atchuthan, "A micro Lie theory", eq. 144).
"""

# pyright: basic
from __future__ import annotations

from .._jit import njit
from ._kernels_wide import angle_of, load, root, sine_cosine, size, splat, store, where_less
from ._layout import (
    AIM,
    AIMS,
    AT_BODIES,
    AT_LAWS,
    AT_PLACED,
    AT_TARGETS,
    AXIS,
    BODY_KIND,
    BODY_LAW,
    BODY_PARENT,
    BODY_VAR,
    BODY_WIDTH,
    ERROR,
    JACOBIAN,
    JOINT_KIND,
    LOCAL,
    LOOK_KIND,
    N_BODIES,
    N_ROWS,
    N_SOLVED,
    N_TARGETS,
    N_TERMS,
    OFF,
    PLACE,
    POSE,
    POSE_KIND,
    POSITION_KIND,
    REVOLUTE,
    SLOPE,
    TARGET_BODY,
    TARGET_KIND,
    TARGET_ROW,
    TARGET_WIDTH,
    TURN,
    VALUES,
    Q,
)

SMALL_ANGLE = 1e-2
"""rad; below, series replace quotients that lose digits."""
TINY = 1e-12


@njit(cache=True, nogil=True, error_model="numpy")
def turn_vector(w, x, y, z, a, b, c):
    """The vector (a, b, c) turned by a unit quaternion."""
    u, v, t = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return a + w * u + y * t - z * v, b + w * v + z * u - x * t, c + w * t + x * v - y * u


@njit(cache=True, nogil=True, error_model="numpy")
def compose(work, p, f, w, x, y, z, a, b, c):
    """Writes the pose at f: the pose at p, then the quaternion (w, x, y, z) and translation (a, b, c)."""
    pw, px, py, pz = load(work, p), load(work, p + 1), load(work, p + 2), load(work, p + 3)
    store(work, f, pw * w - px * x - py * y - pz * z)
    store(work, f + 1, pw * x + px * w + py * z - pz * y)
    store(work, f + 2, pw * y - px * z + py * w + pz * x)
    store(work, f + 3, pw * z + px * y - py * x + pz * w)
    u, v, t = turn_vector(pw, px, py, pz, a, b, c)
    store(work, f + 4, load(work, p + 4) + u)
    store(work, f + 5, load(work, p + 5) + v)
    store(work, f + 6, load(work, p + 6) + t)


@njit(cache=True, nogil=True, error_model="numpy")
def place_bodies(ints, floats, work):
    """Poses of bodies, their joints' axes in the world, and slopes of coupling laws, from the variables in `work`."""
    pose = ints[POSE]
    terms = ints[N_TERMS]
    for k in range(7):
        store(work, pose + k, floats[k])
    for body in range(1, ints[N_BODIES]):
        at = ints[AT_BODIES] + body * BODY_WIDTH
        q = load(work, ints[Q] + ints[at + BODY_VAR])
        if ints[at + BODY_LAW]:
            law = ints[AT_LAWS] + body * terms
            value, slope = splat(floats[law + terms - 1]), splat(0.0)
            for k in range(terms - 2, -1, -1):
                slope = slope * q + value
                value = value * q + floats[law + k]
            store(work, ints[SLOPE] + body, slope)
            q = value
        own = body * LOCAL
        w, x, y, z = floats[own], floats[own + 1], floats[own + 2], floats[own + 3]
        a, b, c = floats[own + 4], floats[own + 5], floats[own + 6]
        p, f = pose + 7 * ints[at + BODY_PARENT], pose + 7 * body
        if ints[at + BODY_KIND] == REVOLUTE:
            sine, cosine = sine_cosine(0.5 * q)
            compose(
                work, p, f, w * cosine - z * sine, x * cosine + y * sine, y * cosine - x * sine,
                z * cosine + w * sine, splat(a), splat(b), splat(c),
            )  # fmt: skip
        else:
            i, j, k = floats[own + 7], floats[own + 8], floats[own + 9]
            compose(work, p, f, splat(w), splat(x), splat(y), splat(z), a + i * q, b + j * q, c + k * q)
        fw, fx, fy, fz = load(work, f), load(work, f + 1), load(work, f + 2), load(work, f + 3)
        axis = ints[AXIS] + 3 * body
        store(work, axis, 2.0 * (fx * fz + fw * fy))
        store(work, axis + 1, 2.0 * (fy * fz - fw * fx))
        store(work, axis + 2, 1.0 - 2.0 * (fx * fx + fy * fy))


@njit(cache=True, nogil=True, error_model="numpy")
def _pose_residual(values, v, f, e, aim, off, turn, work):
    along, around = values[v + 7], values[v + 8]
    px, py, pz = load(work, f + 4), load(work, f + 5), load(work, f + 6)
    dx, dy, dz = values[v + 4] - px, values[v + 5] - py, values[v + 6] - pz
    store(work, e, along * dx)
    store(work, e + 1, along * dy)
    store(work, e + 2, along * dz)
    store(work, off, root(dx * dx + dy * dy + dz * dz))
    w, x, y, z = load(work, f), load(work, f + 1), load(work, f + 2), load(work, f + 3)
    a, b, c, d = values[v], values[v + 1], values[v + 2], values[v + 3]
    ew = a * w + b * x + c * y + d * z  # target times the inverse of the link's turn
    ex = b * w - a * x - c * z + d * y
    ey = c * w - a * y - d * x + b * z
    ez = d * w - a * z - b * y + c * x
    sign = where_less(ew, 0.0, -1.0, 1.0)
    n2 = ex * ex + ey * ey + ez * ez
    n = root(n2)
    half = angle_of(n, size(ew))
    scale = sign * where_less(n, TINY, 2.0, 2.0 * half / where_less(n, TINY, 1.0, n))
    rx, ry, rz = scale * ex, scale * ey, scale * ez
    store(work, e + 3, around * rx)
    store(work, e + 4, around * ry)
    store(work, e + 5, around * rz)
    angle = 2.0 * half
    store(work, turn, angle)
    square = angle * angle
    safe = where_less(angle, SMALL_ANGLE, 1.0, angle)
    cotangent = half * size(ew) / where_less(angle, SMALL_ANGLE, 1.0, n)
    bend = where_less(
        angle, SMALL_ANGLE, 1.0 / 12.0 + square * (1.0 / 720.0), (1.0 - cotangent) / (safe * safe)
    )
    store(work, aim, px)
    store(work, aim + 1, py)
    store(work, aim + 2, pz)
    store(work, aim + 3, rx)
    store(work, aim + 4, ry)
    store(work, aim + 5, rz)
    store(work, aim + 6, bend)


@njit(cache=True, nogil=True, error_model="numpy")
def _point_residual(values, v, f, e, aim, off, work):
    w, x, y, z = load(work, f), load(work, f + 1), load(work, f + 2), load(work, f + 3)
    a, b, c = splat(values[v + 3]), splat(values[v + 4]), splat(values[v + 5])
    tx, ty, tz = turn_vector(w, x, y, z, a, b, c)
    px, py, pz = load(work, f + 4) + tx, load(work, f + 5) + ty, load(work, f + 6) + tz
    dx, dy, dz = values[v] - px, values[v + 1] - py, values[v + 2] - pz
    store(work, e, values[v + 6] * dx)
    store(work, e + 1, values[v + 6] * dy)
    store(work, e + 2, values[v + 6] * dz)
    store(work, off, root(dx * dx + dy * dy + dz * dz))
    store(work, aim, px)
    store(work, aim + 1, py)
    store(work, aim + 2, pz)


@njit(cache=True, nogil=True, error_model="numpy")
def _axis_residual(look, values, v, f, e, aim, turn, work):
    w, x, y, z = load(work, f), load(work, f + 1), load(work, f + 2), load(work, f + 3)
    px, py, pz = load(work, f + 4), load(work, f + 5), load(work, f + 6)
    axis = splat(values[v + 3]), splat(values[v + 4]), splat(values[v + 5])
    ax, ay, az = turn_vector(w, x, y, z, axis[0], axis[1], axis[2])
    dx, dy, dz, near = splat(values[v]), splat(values[v + 1]), splat(values[v + 2]), splat(0.0)
    if look:
        dx, dy, dz = dx - px, dy - py, dz - pz
        far = root(dx * dx + dy * dy + dz * dz)
        near = 1.0 / where_less(far, TINY, 1.0, far)
        dx, dy, dz = dx * near, dy * near, dz * near
    cx, cy, cz = ay * dz - az * dy, az * dx - ax * dz, ax * dy - ay * dx
    sine = root(cx * cx + cy * cy + cz * cz)
    cosine = ax * dx + ay * dy + az * dz
    # straight against the direction: any normal of the axis will do
    flat = where_less(sine, TINY, where_less(cosine, 0.0, 1.0, 0.0), 0.0)
    upright = where_less(size(ax), 0.6, 1.0, 0.0)
    nx, ny, nz = -(1.0 - upright) * az, upright * az, (1.0 - upright) * ax - upright * ay
    length = root(nx * nx + ny * ny + nz * nz)
    cx, cy, cz = (
        where_less(0.5, flat, nx / length, cx),
        where_less(0.5, flat, ny / length, cy),
        where_less(0.5, flat, nz / length, cz),
    )
    angle = angle_of(sine, cosine)
    safe = where_less(0.5, flat, 1.0, where_less(sine, TINY, 1.0, sine))
    ratio = where_less(0.5, flat, angle, where_less(sine, TINY, 1.0, angle / safe))
    close = 1.0 / 3.0 + (2.0 / 15.0) * angle * angle
    rate = -where_less(angle, SMALL_ANGLE, close, (sine - angle * cosine) / (safe * safe * safe))
    store(work, e, values[v + 6] * ratio * cx)
    store(work, e + 1, values[v + 6] * ratio * cy)
    store(work, e + 2, values[v + 6] * ratio * cz)
    store(work, turn, angle)
    store(work, aim, px)
    store(work, aim + 1, py)
    store(work, aim + 2, pz)
    store(work, aim + 3, ax)
    store(work, aim + 4, ay)
    store(work, aim + 5, az)
    store(work, aim + 6, ratio)
    store(work, aim + 7, rate)
    store(work, aim + 8, dx)
    store(work, aim + 9, dy)
    store(work, aim + 10, dz)
    store(work, aim + 11, near)


@njit(cache=True, nogil=True, error_model="numpy")
def residuals(values, ints, floats, work):
    """Weighted residual, and errors of position and orientation, of all targets; poses of bodies come on the way."""
    place_bodies(ints, floats, work)
    pose = ints[POSE]
    for t in range(ints[N_TARGETS]):
        at = ints[AT_TARGETS] + t * TARGET_WIDTH
        kind, body = ints[at + TARGET_KIND], ints[at + TARGET_BODY]
        v, e, aim = t * VALUES, ints[ERROR] + ints[at + TARGET_ROW], ints[AIM] + t * AIMS
        off, turn = ints[OFF] + t, ints[TURN] + t
        store(work, off, 0.0)
        store(work, turn, 0.0)
        if kind == JOINT_KIND:
            short = values[v] - load(work, ints[Q] + body)
            store(work, e, values[v + 1] * short)
            store(work, turn, size(short))
            continue
        f = pose + 7 * (ints[N_BODIES] + t)
        own = ints[AT_PLACED] + t * PLACE
        compose(
            work, pose + 7 * body, f, splat(floats[own]), splat(floats[own + 1]), splat(floats[own + 2]),
            splat(floats[own + 3]), splat(floats[own + 4]), splat(floats[own + 5]), splat(floats[own + 6]),
        )  # fmt: skip
        if kind == POSE_KIND:
            _pose_residual(values, v, f, e, aim, off, turn, work)
        elif kind == POSITION_KIND:
            _point_residual(values, v, f, e, aim, off, work)
        else:
            _axis_residual(kind == LOOK_KIND, values, v, f, e, aim, turn, work)


@njit(cache=True, nogil=True, error_model="numpy")
def _add(work, at, value):
    store(work, at, load(work, at) + value)


@njit(cache=True, nogil=True, error_model="numpy")
def _add_pose_column(values, v, aim, j, n, lx, ly, lz, wx, wy, wz, work):
    along, around = -values[v + 7], -values[v + 8]
    _add(work, j, along * lx)
    _add(work, j + n, along * ly)
    _add(work, j + 2 * n, along * lz)
    rx, ry, rz, bend = load(work, aim + 3), load(work, aim + 4), load(work, aim + 5), load(work, aim + 6)
    cx, cy, cz = ry * wz - rz * wy, rz * wx - rx * wz, rx * wy - ry * wx
    _add(work, j + 3 * n, around * (wx + 0.5 * cx + bend * (ry * cz - rz * cy)))
    _add(work, j + 4 * n, around * (wy + 0.5 * cy + bend * (rz * cx - rx * cz)))
    _add(work, j + 5 * n, around * (wz + 0.5 * cz + bend * (rx * cy - ry * cx)))


@njit(cache=True, nogil=True, error_model="numpy")
def _add_axis_column(values, v, aim, j, n, lx, ly, lz, wx, wy, wz, work):
    ax, ay, az = load(work, aim + 3), load(work, aim + 4), load(work, aim + 5)
    ratio, rate = load(work, aim + 6), load(work, aim + 7)
    dx, dy, dz, near = load(work, aim + 8), load(work, aim + 9), load(work, aim + 10), load(work, aim + 11)
    bx, by, bz = wy * az - wz * ay, wz * ax - wx * az, wx * ay - wy * ax  # how the axis turns
    ahead = dx * lx + dy * ly + dz * lz
    ex, ey, ez = near * (dx * ahead - lx), near * (dy * ahead - ly), near * (dz * ahead - lz)  # the direction
    slope = rate * (bx * dx + by * dy + bz * dz + ax * ex + ay * ey + az * ez)
    weight = values[v + 6]
    cx, cy, cz = ay * dz - az * dy, az * dx - ax * dz, ax * dy - ay * dx
    _add(work, j, weight * (ratio * (by * dz - bz * dy + ay * ez - az * ey) + slope * cx))
    _add(work, j + n, weight * (ratio * (bz * dx - bx * dz + az * ex - ax * ez) + slope * cy))
    _add(work, j + 2 * n, weight * (ratio * (bx * dy - by * dx + ax * ey - ay * ex) + slope * cz))


@njit(cache=True, nogil=True, error_model="numpy")
def jacobian(values, ints, work):
    """Derivative of the residual by the joints solved for, after `residuals`: value row * solved + joint."""
    n = ints[N_SOLVED]
    for k in range(ints[N_ROWS] * n):
        store(work, ints[JACOBIAN] + k, 0.0)
    for t in range(ints[N_TARGETS]):
        at = ints[AT_TARGETS] + t * TARGET_WIDTH
        kind, body = ints[at + TARGET_KIND], ints[at + TARGET_BODY]
        v, aim, first = t * VALUES, ints[AIM] + t * AIMS, ints[JACOBIAN] + ints[at + TARGET_ROW] * n
        if kind == JOINT_KIND:
            if body < n:
                store(work, first + body, -values[v + 1])
            continue
        px, py, pz = load(work, aim), load(work, aim + 1), load(work, aim + 2)
        while body > 0:
            row = ints[AT_BODIES] + body * BODY_WIDTH
            var = ints[row + BODY_VAR]
            if var < n:
                axis, origin = ints[AXIS] + 3 * body, ints[POSE] + 7 * body + 4
                wx, wy, wz = load(work, axis), load(work, axis + 1), load(work, axis + 2)
                if ints[row + BODY_LAW]:
                    slope = load(work, ints[SLOPE] + body)
                    wx, wy, wz = wx * slope, wy * slope, wz * slope
                lx, ly, lz = wx, wy, wz
                if ints[row + BODY_KIND] == REVOLUTE:
                    rx = px - load(work, origin)
                    ry = py - load(work, origin + 1)
                    rz = pz - load(work, origin + 2)
                    lx, ly, lz = wy * rz - wz * ry, wz * rx - wx * rz, wx * ry - wy * rx
                else:
                    wx, wy, wz = splat(0.0), splat(0.0), splat(0.0)
                j = first + var
                if kind == POSE_KIND:
                    _add_pose_column(values, v, aim, j, n, lx, ly, lz, wx, wy, wz, work)
                elif kind == POSITION_KIND:
                    _add(work, j, -values[v + 6] * lx)
                    _add(work, j + n, -values[v + 6] * ly)
                    _add(work, j + 2 * n, -values[v + 6] * lz)
                else:
                    _add_axis_column(values, v, aim, j, n, lx, ly, lz, wx, wy, wz, work)
            body = ints[row + BODY_PARENT]
