"""Descent: one trajectory on its way to a lower cost, an iteration of STOMP at a time.

Noise, the weighted mean of rollouts and the filters are in `stomp.hpp` of the core; costs are asked here, of all
rollouts of an iteration at once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from ... import _core
from .._group import Group
from ._options import StompOptions
from ._starts import resampled

CostFunction = Callable[[Float[np.ndarray, "k t dof"]], Float[np.ndarray, "k t"]]
SETTINGS = ("rollouts", "reuse", "window", "sensitivity", "sigma_decay", "sigma_floor", "smooth_update")
"""Options that the core reads."""


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
        idle: int = 0,
    ) -> None:
        """Starts from a trajectory.

        Args:
            group: the joints that move.
            cost: of trajectories (k, t, dof) at every timestep.
            options: of the optimiser.
            sigma: size of the noise per joint.
            path: of the moving joints, within their limits.
            rng: from which the noise is seeded.
            idle: iterations without a lower cost before.
        """
        self._group, self._cost = group, cost
        whole = group.whole(path)
        self._rollouts = np.empty((options.rollouts, *whole.shape))
        joints = np.stack([group.lower, group.upper, np.broadcast_to(sigma, group.lower.shape)])
        settings = {name: getattr(options, name) for name in SETTINGS}
        seed = int(rng.integers(2**63))
        self._core = _core.Descent(whole, group.moving, joints, settings, seed)
        self._core.idle = idle
        self._begin(whole)

    def _begin(self, whole: Float[np.ndarray, "t dof"]) -> None:
        self._core.restart(whole, self._cost(whole[None])[0])
        self.whole = whole
        """(t, dof) the trajectory as it is now."""

    @property
    def path(self) -> Float[np.ndarray, "t m"]:
        """Its moving joints."""
        return self._group.parts(self.whole)

    @property
    def cost(self) -> float:
        """Its cost."""
        return self._core.cost

    @property
    def idle(self) -> int:
        """Iterations since the least cost."""
        return self._core.idle

    def step(self) -> None:
        """One iteration."""
        self._core.shake(self._rollouts)
        updated = self._core.update(self._rollouts, self._cost(self._rollouts))
        self._core.settle(self._cost(updated[None])[0])
        self.whole = self._core.path()

    def respace(self) -> None:
        """Timesteps at equal distances along the path, so that none of it is jumped over; rollouts are forgotten."""
        self._begin(self._group.whole(resampled(self.path, len(self.whole))))
