# pyright: basic
"""The objective of one tick: residuals and Jacobians of the targets become a quadratic in the joint velocities.

Wanted of each target is a rate of its residual, `-s r` plus the target's own motion. The gain `s` is the largest, up to
`gain`, at which every joint that would remove the error alone can still brake in time (constant deceleration: the
gain falls with the square root of the error) and keep its velocity limit, and at which the hand keeps the speed bounds.
"""

import numpy as np

from .._jit import njit

BRAKE = 0.5
"""Share of the acceleration limits that braking towards a target uses; at one half the gain of a small error and the
constant deceleration of a large one meet without a kink."""
POSTURE_SPEED = 0.2
"""Share of the velocity limits that the pull to the rest configuration may ask for."""


@njit(cache=True, nogil=True, error_model="numpy")
def objective(
    residual, jacobian, feed, spans, bounds, cfg, rest, posture_gain, velocity_limits, acceleration_limits, gain,
    damping, H, f, wanted,
):  # fmt: skip
    """Fills H (dof, dof) and f (dof,) of 1/2 v'Hv + f'v, and `wanted` (rows,), the rates of the residuals asked for.

    residual (rows,), jacobian (rows, dof), feed (rows,): rate of the residuals by the targets' own motion.
    spans (targets, 3): first row, rows of position, rows of orientation; bounds (targets, 2): of the rates of the two,
    in the unit of the residuals (weight times m/s or rad/s).
    rest (dof,): where joints go, at posture_gain 1/s, as far as the targets leave them free. gain 1/s.
    """
    dof = len(cfg)
    small = damping * damping
    for i in range(dof):
        for j in range(dof):
            H[i, j] = 0.0
        H[i, i] = small
        most = POSTURE_SPEED * velocity_limits[i]
        f[i] = -small * min(max(posture_gain * (rest[i] - cfg[i]), -most), most)
    for t in range(len(spans)):
        first, n_lin, n_ang = spans[t]
        rows = n_lin + n_ang
        s = _brakeable(
            residual[first : first + rows],
            jacobian[first : first + rows],
            velocity_limits,
            acceleration_limits,
            gain,
            damping,
        )
        for part in range(2):
            begin = first + part * n_lin
            count = n_ang if part else n_lin
            if count == 0:
                continue
            bound = bounds[t, part]
            speed = 0.0
            for k in range(begin, begin + count):
                wanted[k] = -s * residual[k] - feed[k]
                speed += wanted[k] * wanted[k]
            speed = np.sqrt(speed)
            if speed > bound:
                for k in range(begin, begin + count):
                    wanted[k] *= bound / speed
        for k in range(first, first + rows):
            for i in range(dof):
                at = jacobian[k, i]
                if at == 0.0:
                    continue
                f[i] -= at * wanted[k]
                for j in range(i + 1):
                    H[i, j] += at * jacobian[k, j]
    for i in range(dof):
        for j in range(i):
            H[j, i] = H[i, j]


@njit(cache=True, nogil=True, error_model="numpy")
def _brakeable(residual, jacobian, velocity_limits, acceleration_limits, gain, damping):
    """The gain of one target, 1/s: from the joint displacement that removes its error alone (damped, first order)."""
    rows, dof = jacobian.shape
    M = np.empty((rows, rows))
    y = np.empty(rows)
    for a in range(rows):
        for b in range(a + 1):
            total = damping * damping if a == b else 0.0
            for i in range(dof):
                total += jacobian[a, i] * jacobian[b, i]
            M[a, b] = total
    for a in range(rows):  # Cholesky, and y = L^-1 residual on the way
        total = residual[a]
        for b in range(a):
            dot = M[a, b]
            for c in range(b):
                dot -= M[a, c] * M[b, c]
            M[a, b] = dot / M[b, b]
            total -= M[a, b] * y[b]
        dot = M[a, a]
        for c in range(a):
            dot -= M[a, c] * M[a, c]
        M[a, a] = np.sqrt(max(dot, 1e-18))
        y[a] = total / M[a, a]
    for a in range(rows - 1, -1, -1):
        for b in range(a + 1, rows):
            y[a] -= M[b, a] * y[b]
        y[a] /= M[a, a]
    s = gain
    for i in range(dof):
        way = 0.0
        for a in range(rows):
            way += jacobian[a, i] * y[a]
        way = abs(way)
        if way > 0.0 and velocity_limits[i] > 0.0:
            s = min(s, velocity_limits[i] / way, np.sqrt(2.0 * BRAKE * acceleration_limits[i] / way))
    return s


@njit(cache=True, nogil=True, error_model="numpy")
def follow_motion(residual, before, seconds, share, smoothing, spans, bounds, feed):
    """Updates feed (rows,), the rate of the residuals that the targets' own motion causes, smoothed.

    residual and before (rows,): of the new and of the last targets, at the same configuration; seconds between them.
    Rates above the bounds are jumps, not motions, and count as none.
    """
    blend = seconds / (seconds + smoothing)
    for t in range(len(spans)):
        first, n_lin, n_ang = spans[t]
        for part in range(2):
            begin = first + part * n_lin
            end = begin + (n_ang if part else n_lin)
            total = 0.0
            for k in range(begin, end):
                total += (residual[k] - before[k]) ** 2
            jump = total > (bounds[t, part] * seconds) ** 2
            for k in range(begin, end):
                rate = share * (residual[k] - before[k]) / seconds
                feed[k] = 0.0 if jump else feed[k] + blend * (rate - feed[k])
