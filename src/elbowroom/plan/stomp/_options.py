"""Options of `Stomp`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from ...errors import InputError

Initial = Literal["linear", "cubic", "minimum-control"]
INITIALS = ("linear", "cubic", "minimum-control")


@dataclass(frozen=True)
class StompOptions:
    """How `Stomp` explores and when it stops."""

    timesteps: int = 64
    """Configurations of a trajectory, start and goal included; at least 5."""
    rollouts: int = 32
    """Noisy trajectories of an iteration."""
    reuse: int = 8
    """Best rollouts so far that count in the next iteration too; their costs are known, so they cost nothing."""
    iterations: int = 300
    """At most, of one start."""
    patience: int = 100
    """Iterations without a lower cost after which a start is abandoned."""
    sigma: Any = 0.2
    """Size of the noise in the middle of a trajectory, as a part of each joint's range: a number, or one for each joint
    that moves. Joints without limits count as having a range of 2 pi (rad, m)."""
    sigma_decay: float = 0.98
    """What the noise is multiplied by after an iteration without a lower cost: it explores first and settles then."""
    sigma_floor: float = 0.1
    """The least noise, as a part of the first."""
    sensitivity: float = 10.0
    """h: at each timestep a rollout weighs exp(-h c), with cost c scaled to 0 for the best and 1 for the worst."""
    window: int = 2
    """Timesteps to both sides over which costs count, less the farther: what must be avoided is seen before it is
    reached. 0 counts each timestep for itself."""
    smooth_update: bool = True
    """Whether an update is smoothed by the inverse of the acceleration matrix."""
    control_weight: float = 0.0
    """Of squared accelerations (rad/s^2, m/s^2) at each timestep among the costs: which of two ways that are both free
    is the better one."""
    boxes_decide: bool = False
    """Whether, in the default costs, boxes of links alone decide on the penalty of a collision. If not, the verdict is
    asked where they meet an obstacle, and ways are found that boxes do not fit through."""
    initial: Initial = "linear"
    """Trajectory to begin with where none is given: "linear" at constant speed; "cubic" from rest to rest;
    "minimum-control", the least squared acceleration from rest to rest."""
    restarts: int = 60
    """Further starts after one that failed, each through a via configuration drawn by `seed`; the first proved path
    ends the search. 0 leaves it at one start."""
    restart_after: int = 10
    """Iterations without a proved path after which the next start is tried, while there are any: of starts that succeed
    most do so in ten. The last one has `iterations`."""
    restart_sigma: float = 0.15
    """What `sigma` is multiplied by for starts after the first: they are nearly free, and less noise keeps them so."""
    improve: int = 0
    """Iterations after a valid path was found, for a lower cost; what they find counts only if it is proved too and no
    rougher."""
    duration: float | None = None
    """Seconds that speeds in the costs refer to; None takes twenty times what the straight line needs at the velocity
    limits, at least one second. The returned path has no times."""
    seed: int = 0
    """Seed of all random choices: the same seed gives the same path, unless time runs out."""

    def __post_init__(self) -> None:
        least = {"timesteps": 5, "rollouts": 2, "reuse": 0, "iterations": 0, "patience": 1, "window": 0}
        for name, bound in {**least, "restarts": 0, "restart_after": 1, "improve": 0, "seed": 0}.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < bound:
                raise InputError(
                    f"StompOptions: {name} must be a whole number from {bound} up, found {value!r:.40}"
                )
        for name, bound in (
            ("sensitivity", math.inf),
            ("sigma_decay", 1.0),
            ("sigma_floor", 1.0),
            ("restart_sigma", math.inf),
        ):
            value = getattr(self, name)
            if not (_is_number(value) and 0.0 < value <= bound):
                raise InputError(
                    f"StompOptions: {name} must be above 0 and at most {bound:g}, found {value!r:.40}"
                )
        if not (_is_number(self.control_weight) and self.control_weight >= 0.0):
            raise InputError(
                f"StompOptions: control_weight must not be negative, found {self.control_weight!r:.40}"
            )
        if self.duration is not None and not (_is_number(self.duration) and self.duration > 0.0):
            raise InputError(f"StompOptions: duration must be seconds above 0, found {self.duration!r:.40}")
        if self.initial not in INITIALS:
            raise InputError(
                f"StompOptions: initial must be one of {', '.join(map(repr, INITIALS))}, found {self.initial!r:.40}"
            )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
