"""Descent: one trajectory on its way to a lower cost, an iteration of STOMP at a time.

An iteration adds smooth noise to the trajectory, asks for the cost of every noisy rollout at every timestep, and moves
each timestep towards the rollouts that cost least there (Kalakrishnan et al., STOMP, ICRA 2011, table I). Beyond the
paper: rollouts are kept as long as they are among the best, costs are seen a few timesteps away, and a rollout that
costs less than the updated trajectory takes its place.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from ._group import Group
from ._stomp_noise import Smoothness, resampled
from ._stomp_options import StompOptions

CostFunction = Callable[[Float[np.ndarray, "k t dof"]], Float[np.ndarray, "k t"]]


class Descent:
    """A trajectory, its cost, and the noise that is left."""

    def __init__(
        self,
        group: Group,
        cost: CostFunction,
        options: StompOptions,
        sigma: Float[np.ndarray, "m"],
        path: Float[np.ndarray, "t m"],
        rng: np.random.Generator,
    ) -> None:
        """Starts from a trajectory.

        Args:
            group: the joints that move.
            cost: of trajectories (k, t, dof) at every timestep.
            options: of the optimiser.
            sigma: size of the noise per joint.
            path: of the moving joints, within their limits.
            rng: where noise comes from.
        """
        timesteps, joints = path.shape
        self._group, self._cost, self._options, self._rng = group, cost, options, rng
        self._smoothness = Smoothness.of(timesteps)
        self._window = window_matrix(timesteps, options.window)
        self._sigma = sigma
        n, k = timesteps - 2, options.rollouts
        self._normal = np.empty((n, k * joints))
        self._noise = np.empty((n, k * joints))
        self._delta = np.empty((n, joints))
        # Rows: this iteration's rollouts, the trajectory itself, the rollouts that are kept.
        rows = k + 1 + options.reuse
        self._trajectories = np.broadcast_to(group.whole(path), (rows, timesteps, len(group.held))).copy()
        self._costs = np.empty((rows, timesteps))
        self._kept = 0
        self.path = path.copy()
        """(t, m) the trajectory as it is now."""
        self._costs[k] = cost(self._trajectories[k : k + 1])[0]
        self.cost = float(self._costs[k].sum())
        """Its cost."""
        self.noise = 1.0
        """What is left of the noise."""
        self.idle = 0
        """Iterations since the least cost."""
        self._least = self.cost

    @property
    def whole(self) -> Float[np.ndarray, "t dof"]:
        """The trajectory as configurations."""
        return self._trajectories[self._options.rollouts]

    def step(self) -> None:
        """One iteration."""
        from ._kernels_stomp import keep_within, spread, weigh

        group, options, k = self._group, self._options, self._options.rollouts
        n, joints = self._delta.shape
        self._rng.standard_normal(out=self._normal)
        np.matmul(self._smoothness.factor, self._normal, out=self._noise)
        noise, sigma = self._noise.reshape(n, k, joints), self.noise * self._sigma
        spread(self.path, noise, sigma, group.lower, group.upper, group.moving, self._trajectories)
        self._costs[:k] = self._cost(self._trajectories[:k])
        rows = k + 1 + self._kept
        costs = self._costs[:rows]
        seen = costs if self._window is None else costs @ self._window
        weigh(self._trajectories, seen, group.moving, options.sensitivity, self.path, self._delta)
        update = self._smoothness.smoother @ self._delta if options.smooth_update else self._delta
        path = self.path.copy()
        path[1:-1] += update
        keep_within(path, self._smoothness.covariance, group.lower, group.upper)
        trajectory = group.whole(path)
        cost = self._cost(trajectory[None])[0]
        totals = costs.sum(axis=1)
        best = int(totals.argmin())
        if totals[best] < cost.sum():
            trajectory, cost = self._trajectories[best].copy(), costs[best].copy()
            path = group.parts(trajectory)
        self._keep(totals)
        self.path, self.cost = path, float(cost.sum())
        self._trajectories[k], self._costs[k] = trajectory, cost
        self._settle()

    def respace(self) -> None:
        """Timesteps at equal distances along the path, so that none of it is jumped over; rollouts are forgotten."""
        k = self._options.rollouts
        self.path = resampled(self.path, len(self.path))
        self._trajectories[k] = self._group.whole(self.path)
        self._costs[k] = self._cost(self._trajectories[k : k + 1])[0]
        self.cost = self._least = float(self._costs[k].sum())
        self._kept = 0

    def _keep(self, totals: Float[np.ndarray, "r"]) -> None:
        """Keeps the best rollouts for the next iteration."""
        best: Int[np.ndarray, "r"] = np.argsort(totals, kind="stable")[: self._options.reuse]
        first = self._options.rollouts + 1
        self._kept = len(best)
        self._trajectories[first : first + self._kept] = self._trajectories[best]
        self._costs[first : first + self._kept] = self._costs[best]

    def _settle(self) -> None:
        """Less noise after an iteration that did not help."""
        if self.cost < self._least:
            self._least, self.idle = self.cost, 0
        else:
            self.idle += 1
            self.noise = max(self.noise * self._options.sigma_decay, self._options.sigma_floor)


def window_matrix(timesteps: int, window: int) -> Float[np.ndarray, "t t"] | None:
    """Weights with which the cost of a timestep (row) counts at another (column): less the farther; None for none."""
    if window == 0:
        return None
    apart = np.abs(np.arange(timesteps)[:, None] - np.arange(timesteps))
    return np.maximum(0.0, 1.0 - apart / (window + 1.0))
