"""Numba kernels of IK: Levenberg-Marquardt from many starts, eight in lockstep.

Each step solves (J J^T + damping I) y = r and moves the joints by -J^T y: the dual form, whose matrix has six rows a
pose whatever the number of joints. The damping follows the error (Sugihara, "Solvability-unconcerned inverse
kinematics by the Levenberg-Marquardt method", 2011), so that steps are short far away and Newton's close by, and none
is ever taken back. A joint that would pass a limit is put on it, and the step of the others is computed anew. A lane
that has arrived, or makes no progress, takes the next start.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._jit import njit
from ._kernels_place import jacobian, residuals
from ._kernels_seeds import pick_starts
from ._kernels_wide import less_bits, load, splat, store, where_less
from ._pack import (
    AT_LIMITS,
    AT_SHARED,
    AT_TARGETS,
    AT_VARS,
    BEST,
    ERROR,
    GRAM,
    JACOBIAN,
    LANE,
    LANE_CARE,
    LANE_COST,
    LANE_COUNT,
    LANE_IDLE,
    LANE_START,
    MOVE,
    N_ROWS,
    N_SOLVED,
    N_TARGETS,
    N_VARS,
    OFF,
    SOLUTION,
    TARGET_ROW,
    TARGET_WIDTH,
    TURN,
    VAR_CFG,
    VAR_WIDTH,
    VAR_WRAPS,
    WIDTH,
    Q,
)

TWO_PI = 2.0 * np.pi
DAMPING, LEAST_DAMPING = 0.03, 1e-6
"""Damping per squared weighted error, and the least: a tenth or ten times as much makes no odds."""
LIMIT_PASSES = 2
"""Solutions a step may take to settle joints on their limits. One loses half of the answers of a humanoid."""
MORE_CARE, LESS_CARE = 8.0, 0.5
"""Factors of the damping after a step that was taken back, and after one that was not."""


@njit(cache=True, nogil=True, error_model="numpy")
def gram(damping, ints, work):
    """Lower triangle of J J^T + damping I, row by row; only joints that move both rows' targets count."""
    n, nt = ints[N_SOLVED], ints[N_TARGETS]
    for t in range(nt):
        first = ints[ints[AT_TARGETS] + t * TARGET_WIDTH + TARGET_ROW]
        last = ints[N_ROWS] if t == nt - 1 else ints[ints[AT_TARGETS] + (t + 1) * TARGET_WIDTH + TARGET_ROW]
        for u in range(t + 1):
            begin = ints[ints[AT_TARGETS] + u * TARGET_WIDTH + TARGET_ROW]
            end = last if u == t else ints[ints[AT_TARGETS] + (u + 1) * TARGET_WIDTH + TARGET_ROW]
            shared = ints[AT_SHARED] + 2 * (t * nt + u)
            lo, count = ints[shared], ints[shared + 1]
            for r in range(first, last):
                a = ints[JACOBIAN] + r * n
                out = ints[GRAM] + r * (r + 1) // 2
                for c in range(begin, min(end, r + 1)):
                    b = ints[JACOBIAN] + c * n
                    total = splat(0.0)
                    for k in range(lo, lo + count):
                        var = ints[k]
                        total = total + load(work, a + var) * load(work, b + var)
                    if r == c:
                        total = total + damping
                    store(work, out + c, total)


@njit(cache=True, nogil=True, error_model="numpy")
def factor_and_solve(ints, work):
    """Solution of the system with the residual on its right: L D L^T in place, then both substitutions."""
    rows, at, y = ints[N_ROWS], ints[GRAM], ints[SOLUTION]
    for r in range(rows):
        a = at + r * (r + 1) // 2
        value = load(work, ints[ERROR] + r)
        diagonal = load(work, a + r)
        for c in range(r):
            b = at + c * (c + 1) // 2
            total = load(work, a + c)
            for k in range(c):
                total = total - load(work, a + k) * load(work, b + k)
            store(work, a + c, total)  # L D for now; rows above hold L and 1 / D
        for c in range(r):
            total = load(work, a + c)
            below = total * load(work, at + c * (c + 1) // 2 + c)
            diagonal = diagonal - total * below
            store(work, a + c, below)
            value = value - below * load(work, y + c)
        store(work, a + r, 1.0 / diagonal)
        store(work, y + r, value)
    for r in range(rows - 1, -1, -1):
        value = load(work, y + r) * load(work, at + r * (r + 1) // 2 + r)
        for k in range(r + 1, rows):
            value = value - load(work, at + k * (k + 1) // 2 + r) * load(work, y + k)
        store(work, y + r, value)


@njit(cache=True, nogil=True, error_model="numpy")
def descend(ints, work):
    """The step -J^T y."""
    n, rows = ints[N_SOLVED], ints[N_ROWS]
    for var in range(n):
        total = splat(0.0)
        for r in range(rows):
            total = total - load(work, ints[JACOBIAN] + r * n + var) * load(work, ints[SOLUTION] + r)
        store(work, ints[MOVE] + var, total)


@njit(cache=True, nogil=True, error_model="numpy")
def settle_limits(ints, floats, work):
    """Puts joints that would pass a limit on it: their column and their share of the residual leave the system.

    Returns whether there are any.
    """
    n, rows = ints[N_SOLVED], ints[N_ROWS]
    any_lane = 0
    for var in range(n):
        q, move = load(work, ints[Q] + var), load(work, ints[MOVE] + var)
        low, high = floats[ints[AT_LIMITS] + 2 * var], floats[ints[AT_LIMITS] + 2 * var + 1]
        beyond = less_bits(q + move, low) | less_bits(high, q + move)
        if beyond == 0:
            continue
        any_lane |= beyond
        for lane in range(WIDTH):
            if beyond >> lane & 1:
                at = (ints[Q] + var) * WIDTH + lane
                to = low if work[(ints[MOVE] + var) * WIDTH + lane] < 0.0 else high
                step = to - work[at]
                work[at] = to
                for r in range(rows):
                    j = (ints[JACOBIAN] + r * n + var) * WIDTH + lane
                    work[(ints[ERROR] + r) * WIDTH + lane] += work[j] * step
                    work[j] = 0.0
    return any_lane


@njit(cache=True, nogil=True, error_model="numpy")
def step(damping, values, ints, floats, work):
    """One step of all lanes, after `residuals`; joints end within their limits."""
    jacobian(values, ints, work)
    for k in range(LIMIT_PASSES):
        gram(damping, ints, work)
        factor_and_solve(ints, work)
        descend(ints, work)
        if k == LIMIT_PASSES - 1 or settle_limits(ints, floats, work) == 0:
            break
    for var in range(ints[N_SOLVED]):
        low, high = floats[ints[AT_LIMITS] + 2 * var], floats[ints[AT_LIMITS] + 2 * var + 1]
        to = load(work, ints[Q] + var) + load(work, ints[MOVE] + var)
        to = where_less(to, low, low, to)
        store(work, ints[Q] + var, where_less(high, to, high, to))


@njit(cache=True, nogil=True, error_model="numpy")
def begin_lane(lane, index, starts, ints, floats, work):
    """Puts a start into a lane, within limits."""
    for var in range(ints[N_VARS]):
        q = starts[index, ints[ints[AT_VARS] + var * VAR_WIDTH + VAR_CFG]]
        if var < ints[N_SOLVED]:
            low, high = floats[ints[AT_LIMITS] + 2 * var], floats[ints[AT_LIMITS] + 2 * var + 1]
            q = min(max(q, low), high)
        work[(ints[Q] + var) * WIDTH + lane] = q
    work[(ints[LANE] + LANE_COST) * WIDTH + lane] = np.inf
    work[(ints[LANE] + LANE_IDLE) * WIDTH + lane] = 0.0
    work[(ints[LANE] + LANE_COUNT) * WIDTH + lane] = 0.0
    work[(ints[LANE] + LANE_START) * WIDTH + lane] = index
    work[(ints[LANE] + LANE_CARE) * WIDTH + lane] = 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def end_lane(lane, reached, starts, ints, work, out):
    """Writes a lane's row of `out`: configuration, position errors, orientation errors, reached, steps."""
    index = int(work[(ints[LANE] + LANE_START) * WIDTH + lane])
    dof, nt = starts.shape[1], ints[N_TARGETS]
    for k in range(dof):
        out[index, k] = starts[index, k]
    for var in range(ints[N_SOLVED]):
        at = ints[AT_VARS] + var * VAR_WIDTH
        q = work[(ints[Q] + var) * WIDTH + lane]
        if ints[at + VAR_WRAPS]:
            q -= TWO_PI * np.floor(q / TWO_PI + 0.5)
        out[index, ints[at + VAR_CFG]] = q
    for t in range(nt):
        out[index, dof + t] = work[(ints[OFF] + t) * WIDTH + lane]
        out[index, dof + nt + t] = work[(ints[TURN] + t) * WIDTH + lane]
    out[index, dof + 2 * nt] = reached
    out[index, dof + 2 * nt + 1] = work[(ints[LANE] + LANE_COUNT) * WIDTH + lane]


@njit(cache=True, nogil=True, error_model="numpy")
def solve(
    values, starts, given, table, skip, near, careful, progress, patience, iterations, off_most, turn_most, stop_at,
    ints, floats, work, scores, picks, out,
):  # fmt: skip
    """Searches from all starts (s, dof), in order; returns how many were begun. See `end_lane` for `out`.

    Starts from `given` on are chosen from the table first, see `pick_starts`. A lane ends when every error is within
    `off_most` (metres) and `turn_most` (radians), after `iterations` steps, or after `patience` idle ones, which leave
    more than `progress` of the best squared error. With `careful` a step that makes it larger is taken back: that finds
    the nearest configuration where targets cannot be reached, and is slower where they can.
    """
    count = given
    if given < len(starts):
        count = pick_starts(values, table, given, skip, near, ints, scores, picks, starts)
    if count == 0:
        return 0
    begun = min(WIDTH, count)
    for lane in range(WIDTH):
        begin_lane(lane, min(lane, count - 1), starts, ints, floats, work)
    active = (1 << begun) - 1
    lanes, arrived = ints[LANE], 0
    while active:
        residuals(values, ints, floats, work)
        cost, worst = splat(0.0), splat(0.0)
        for r in range(ints[N_ROWS]):
            error = load(work, ints[ERROR] + r)
            cost = cost + error * error
        for t in range(ints[N_TARGETS]):
            off = load(work, ints[OFF] + t) * (1.0 / off_most)
            turn = load(work, ints[TURN] + t) * (1.0 / turn_most)
            off = where_less(off, turn, turn, off)
            worst = where_less(worst, off, off, worst)
        reached = less_bits(worst, 1.0) & active
        best, idle = load(work, lanes + LANE_COST), load(work, lanes + LANE_IDLE)
        store(work, lanes + LANE_IDLE, where_less(cost, progress * best, 0.0, idle + 1.0))
        store(work, lanes + LANE_COST, where_less(cost, best, cost, best))
        stuck = less_bits(patience - 0.5, load(work, lanes + LANE_IDLE)) & active
        late = less_bits(iterations - 0.5, load(work, lanes + LANE_COUNT)) & active
        done = reached | stuck | late
        if careful:
            worse = less_bits(best, cost) & active
            done &= ~worse  # it is put back first
            care = load(work, lanes + LANE_CARE)
            care = where_less(best, cost, MORE_CARE * care, where_less(cost, best, LESS_CARE * care, care))
            store(work, lanes + LANE_CARE, care)
            for var in range(ints[N_SOLVED]):
                q = where_less(best, cost, load(work, ints[BEST] + var), load(work, ints[Q] + var))
                store(work, ints[BEST] + var, q)
        fresh = 0
        for lane in range(WIDTH):
            if done >> lane & 1:
                end_lane(lane, float(reached >> lane & 1), starts, ints, work, out)
                arrived += reached >> lane & 1
                if begun + fresh < count:
                    fresh += 1
        active &= ~done
        if stop_at > 0 and arrived >= stop_at:
            break
        if active == 0 and fresh == 0:
            break
        if active:
            damping = (cost * DAMPING + LEAST_DAMPING) * load(work, lanes + LANE_CARE)
            step(damping, values, ints, floats, work)
            if careful:
                for var in range(ints[N_SOLVED]):
                    q = where_less(best, cost, load(work, ints[BEST] + var), load(work, ints[Q] + var))
                    store(work, ints[Q] + var, q)
            store(work, lanes + LANE_COUNT, load(work, lanes + LANE_COUNT) + 1.0)
        for lane in range(WIDTH):
            if done >> lane & 1 and begun < count:
                begin_lane(lane, begun, starts, ints, floats, work)
                active |= 1 << lane
                begun += 1
    for lane in range(WIDTH):
        if active >> lane & 1:
            end_lane(lane, 0.0, starts, ints, work, out)
    return begun


@njit(cache=True, nogil=True, error_model="numpy")
def linearise(values, cfgs, ints, floats, work, error, slope, off, turn):
    """Residuals (n, rows), Jacobians (n, rows, dof), errors (n, targets) at configurations (n, dof).

    Jacobians are left out where `slope` is empty.
    """
    n = ints[N_SOLVED]
    for start in range(0, len(cfgs), WIDTH):
        count = min(WIDTH, len(cfgs) - start)
        for lane in range(WIDTH):
            for var in range(ints[N_VARS]):
                entry = ints[ints[AT_VARS] + var * VAR_WIDTH + VAR_CFG]
                work[(ints[Q] + var) * WIDTH + lane] = cfgs[start + min(lane, count - 1), entry]
        residuals(values, ints, floats, work)
        if len(slope):
            jacobian(values, ints, work)
        for lane in range(count):
            for r in range(ints[N_ROWS]):
                error[start + lane, r] = work[(ints[ERROR] + r) * WIDTH + lane]
            for t in range(ints[N_TARGETS]):
                off[start + lane, t] = work[(ints[OFF] + t) * WIDTH + lane]
                turn[start + lane, t] = work[(ints[TURN] + t) * WIDTH + lane]
            if len(slope):
                for r in range(ints[N_ROWS]):
                    for var in range(n):
                        entry = ints[ints[AT_VARS] + var * VAR_WIDTH + VAR_CFG]
                        slope[start + lane, r, entry] = work[(ints[JACOBIAN] + r * n + var) * WIDTH + lane]
