"""Options of `plan_motion`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from ..errors import InputError
from .stomp._options import StompOptions

Method = Literal["auto", "sampler", "stomp"]


@dataclass(frozen=True)
class PlanOptions:
    """How `plan_motion` searches, what it makes of a path, and when it gives up."""

    timeout: float = 5.0
    """Seconds of search before giving up, or before returning the path found so far. Counted from the beginning of the
    search: setup and goals come before it (`PlanResult.seconds`)."""
    seed: int = 0
    """Seed of all random choices: the same seed gives the same path, unless time runs out."""
    method: Method = "auto"
    """"auto": the straight line, then the sampler. "sampler": RRT-Connect alone. "stomp": optimisation alone."""
    goals: int = 8
    """Configurations of a pose goal that are searched for at once; the first that is reached wins."""
    max_nodes: int = 100_000
    """Maximum number of configurations in the sampler's trees."""
    shortcuts: int = 120
    """Attempts to shorten the path, proportionally more if more than seven joints move; 0 keeps the path as
    found."""
    improve: float = 0.0
    """Seconds of `timeout` that may be spent on shorter paths once there is one: searches with other seeds, whose
    corners are cut likewise; the shortest counts. Which that is depends on the speed of the machine."""
    smooth: bool = True
    """Round corners wherever the curve can be proved free; otherwise keep straight segments."""
    timed: bool = True
    """Whether speeds along the path are chosen; False leaves `times` at None and `path` as waypoints."""
    rate: float = 100.0
    """Configurations per second of a timed path; straight lines between them are part of the proof."""
    velocity_limits: Any = None
    """(dof,) rad/s or m/s, or one number; None takes the robot's, and 3 where it states none."""
    acceleration_limits: Any = None
    """(dof,) rad/s^2 or m/s^2, or one number; None takes ten times the velocity limits (full speed in 0.1 s)."""
    jerk_limits: Any = None
    """(dof,) rad/s^3 or m/s^3, or one number; None limits no jerk."""
    stomp: StompOptions = field(default_factory=StompOptions)
    """Of method "stomp"."""

    def __post_init__(self) -> None:
        if not self.timeout >= 0.0:  # infinity is a timeout, NaN is none
            raise InputError(f"PlanOptions: timeout must be seconds from 0 up, found {self.timeout!r:.40}")
        if not (math.isfinite(self.rate) and self.rate > 0.0):
            raise InputError(f"PlanOptions: rate must be above zero, found {self.rate!r:.40}")
        if not 0.0 <= self.improve < math.inf:
            raise InputError(f"PlanOptions: improve must be seconds from 0 up, found {self.improve!r:.40}")
        for name, least in (("goals", 1), ("max_nodes", 2), ("shortcuts", 0), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(
                    f"PlanOptions: {name} must be a whole number from {least} up, found {value!r:.40}"
                )
        if self.method not in ("auto", "sampler", "stomp"):
            raise InputError(
                f"PlanOptions: method must be 'auto', 'sampler' or 'stomp', found {self.method!r:.40}"
            )
