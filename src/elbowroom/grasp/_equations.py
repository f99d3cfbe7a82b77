"""The closure equations of the smooth method and the solver that follows them.

Unknowns are the controls of the active fingers, the tilt of the hand and the place `u` on a reference curve
in control space. Equations, in the world frame: every active fingertip at the thumb tip's height, the width,
and where the thumb can reach it no sideways offset. What they leave open is decided by least squares: stay on
the reference curve. Each step minimises the linearised cost under the linearised equations (Gauss-Newton with
a KKT system, Nocedal & Wright, Numerical Optimization, ch. 16 and 18); controls that would leave their bounds
are fixed there and the step is solved again. Converges from a neighbour; there is no global search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ..errors import InputError
from ._hand import Hand

DAMPING = 1e-9
"""Keeps the step unique where neither cost nor equations decide."""
TOLERANCE = 1e-11
"""m; equations are solved to this."""
UNDAMPED = 12
"""Iterations with whole steps; a solve that needs more oscillates and goes on with half steps."""
MAX_STEP = 0.2
"""rad; longer steps are scaled back."""


Curve = Callable[[float], tuple[np.ndarray, np.ndarray]]
"""u -> controls of the active actuators and their derivative by u."""


@dataclass(frozen=True)
class State:
    """A point of the closure: controls of the active actuators, tilt and place on the curve."""

    x: Float[np.ndarray, "active"]
    tilt: float
    u: float
    residual: float
    """Largest equation residual, m (rad for a prescribed tilt)."""


class Closure:
    """The equations of one opposition set of one hand.

    Args:
        hand: the hand.
        fingers: fingers that oppose the thumb.
    """

    def __init__(self, hand: Hand, fingers: tuple[str, ...]) -> None:
        self.hand, self.fingers = hand, fingers
        self._thumb = hand.finger_index(hand.thumb)
        self._others = [hand.finger_index(name) for name in fingers]
        self._thickness = sum(hand.tip_radii(fingers))
        names = (hand.thumb, *fingers)
        for name in names:
            if not hand.finger_actuators(name):
                raise InputError(f"{hand.name}: no actuator moves finger {name!r}; name one in `actuators`")
        self.active = np.array(sorted({i for name in names for i in hand.finger_actuators(name)}))
        thumb = set(hand.finger_actuators(hand.thumb))
        self._thumb_columns = np.array([i in thumb for i in self.active.tolist()] + [False, False])
        self.lower, self.upper = hand.ctrl_lower[self.active], hand.ctrl_upper[self.active]

    def ctrl(self, x: Float[np.ndarray, "active"]) -> Float[np.ndarray, "actuators"]:
        """Full control; fingers that take no part are at rest."""
        ctrl = self.hand.ctrl_rest.copy()
        ctrl[self.active] = x
        return ctrl

    def measures(
        self, x: Float[np.ndarray, "active"], tilt: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Equations' left sides at a state.

        Returns:
            Height of the thumb tip over each finger tip (n), the width and the side offset, together (n + 2,), with
            derivatives by x (n + 2, active) and by tilt (n + 2,).
        """
        points, jacobian = self.hand.points_unchecked(self.ctrl(x), True)
        jacobian = jacobian[:, :, self.active]
        d = points[self._thumb] - points[self._others]
        dd = jacobian[self._thumb] - jacobian[self._others]
        n = len(self.fingers)
        s, c = np.sin(tilt), np.cos(tilt)
        value, by_x, by_tilt = np.empty(n + 2), np.empty((n + 2, len(x))), np.zeros(n + 2)
        value[:n] = -s * d[:, 0] - c * d[:, 2]
        by_x[:n] = -s * dd[:, 0] - c * dd[:, 2]
        by_tilt[:n] = -c * d[:, 0] + s * d[:, 2]
        mean, mean_d = d.mean(axis=0), dd.mean(axis=0)
        value[n] = c * mean[0] - s * mean[2] - self._thickness
        by_x[n] = c * mean_d[0] - s * mean_d[2]
        by_tilt[n] = -s * mean[0] - c * mean[2]
        value[n + 1] = mean[1]
        by_x[n + 1] = mean_d[1]
        return value, by_x, by_tilt

    def solve(
        self,
        start: State,
        curve: Curve,
        *,
        width: float | None = None,
        tilt: float | None = None,
        iterations: int = 60,
        side: bool = False,
        aligned: bool = True,
        hold_thumb: bool = False,
        settle: float = 1e-10,
    ) -> State:
        """Solves the equations from a neighbouring state.

        Args:
            start: where to begin.
            curve: the reference curve.
            width: prescribed width; None leaves it open.
            tilt: prescribed tilt; None leaves it open.
            side: solve for no sideways offset between the thumb and the mean of its fingers.
            aligned: every fingertip level with the thumb; False asks only their mean to be.
            hold_thumb: leave the thumb where it starts.
            settle: length of the last step, rad; larger ends earlier, once the equations hold.

        Returns:
            The state reached; its `residual` says whether the equations hold.
        """
        n, m = len(self.fingers), len(self.active)
        z = np.concatenate([start.x, [start.tilt, start.u]])
        low = np.concatenate([self.lower, [-np.pi / 2, 0.0]])
        high = np.concatenate([self.upper, [np.pi / 2, 1.0]])
        if hold_thumb:
            low[self._thumb_columns] = high[self._thumb_columns] = z[self._thumb_columns]
        mix = self._mix(width is not None, side, aligned)
        target = np.zeros(n + 2)
        target[n] = 0.0 if width is None else width
        residual = np.inf
        for count in range(iterations):
            value, by_x, by_tilt = self.measures(z[:m], z[m])
            E = np.zeros((len(mix) + (tilt is not None), m + 2))
            e = np.zeros(len(E))
            E[: len(mix), :m], E[: len(mix), m] = mix @ by_x, mix @ by_tilt
            e[: len(mix)] = mix @ (value - target)
            if tilt is not None:
                E[-1, m], e[-1] = 1.0, z[m] - tilt
            reference, slope = curve(z[m + 1])
            r = z[:m] - reference
            R = np.concatenate([np.eye(m), np.zeros((m, 1)), -slope[:, None]], axis=1)
            residual = float(np.abs(e).max())
            step = _bounded_step(E, e, R, r, low - z, high - z)
            length = float(np.abs(step).max())
            if residual < TOLERANCE and length < settle:
                break
            damp = 1.0 if count < UNDAMPED else 0.5
            z = np.clip(z + step * min(damp, MAX_STEP / max(length, 1e-300)), low, high)
        return State(z[:m].copy(), float(z[m]), float(z[m + 1]), residual)

    def _mix(self, width: bool, side: bool, aligned: bool) -> np.ndarray:
        """Rows that turn `measures` into the equations that must hold."""
        n = len(self.fingers)
        eye = np.eye(n + 2)
        heights = eye[:n] if aligned else eye[:n].mean(axis=0, keepdims=True)
        return np.concatenate([heights, eye[n : n + width], eye[n + 1 : n + 1 + side]])


def _bounded_step(
    E: np.ndarray, e: np.ndarray, R: np.ndarray, r: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Minimises |R d + r|^2 under E d = -e and low <= d <= high by fixing what would leave its bounds."""
    size = E.shape[1]
    step = np.zeros(size)
    free = np.ones(size, dtype=bool)
    H, g = R.T @ R + DAMPING * np.eye(size), R.T @ r
    for _ in range(size):
        k = int(free.sum())
        if k < len(e):
            break
        K = np.zeros((k + len(e), k + len(e)))
        K[:k, :k], K[:k, k:], K[k:, :k] = H[np.ix_(free, free)], E[:, free].T, E[:, free]
        fixed = step[~free]
        right = np.concatenate([-g[free] - H[np.ix_(free, ~free)] @ fixed, -e - E[:, ~free] @ fixed])
        try:
            step[free] = np.linalg.solve(K, right)[:k]
        except np.linalg.LinAlgError:
            step[free] = np.linalg.lstsq(K, right)[0][:k]
        out = free & ((step < low - 1e-15) | (step > high + 1e-15))
        if not out.any():
            return step
        worst = int(np.argmax(np.where(out, np.maximum(low - step, step - high), -np.inf)))
        step[worst] = low[worst] if step[worst] < low[worst] else high[worst]
        free[worst] = False
    return np.clip(step, low, high)
