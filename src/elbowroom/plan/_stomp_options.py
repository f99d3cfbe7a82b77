"""Options of `Stomp`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StompOptions:
    """How `Stomp` explores and when it stops."""

    timesteps: int = 64
    """Configurations of a trajectory, start and goal included."""
    rollouts: int = 32
    """Noisy trajectories of an iteration."""
    iterations: int = 100
    """At most."""
