"""Options of `Tracker`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from ...errors import InputError


@dataclass(frozen=True)
class TrackOptions:
    """How `Tracker` follows, what it limits, and when it lets go.

    No error is ever summed up: each tick asks for a hand velocity that depends on where hand and target are now, and
    that is bounded. So nothing winds up while the robot is in contact, and nothing has to unwind afterwards.
    """

    gain: float = 30.0
    """Share of an error that is removed per second, 1/s, where the error is small; of a larger one less, so that every
    joint can brake before it is there."""
    feedforward: float = 1.0
    """Share of the targets' own velocity that is followed without an error; 0 for targets that tremble."""
    smoothing: float = 0.02
    """Seconds over which the targets' velocity is averaged."""
    max_linear_speed: float = 1.0
    """Of the hands, m/s."""
    max_angular_speed: float = 3.0
    """Of the hands, rad/s."""
    velocity_limits: Any = None
    """(dof,) rad/s or m/s, or one number; None takes the robot's."""
    acceleration_limits: Any = None
    """(dof,) rad/s^2 or m/s^2, or one number; None takes ten times the velocity limits (full speed in 0.1 s), and for
    joints whose velocity is not limited ten times 3 rad/s or m/s."""
    posture_gain: float = 1.0
    """What the targets leave free moves towards the rest configuration at this rate, 1/s; 0 leaves it where it is."""
    rest_cfg: Any = None
    """(dof,) the rest configuration; None takes that of the first tick."""
    damping: float = 0.01
    """Weighted hand speed that is traded for a joint speed of 1: bounds joint speeds near singularities."""
    resync: float = 0.1
    """rad or m that a joint may be measured off its command, by noise and by lag (20 ms at 2 rad/s are 0.04): farther
    off, the robot is not where it was sent, and the motion restarts from where it is, at rest. What is proved is
    proved of the commands."""
    relative: bool = False
    """Whether a target's motion since the clutch was closed is applied to the hand where it was then; False sends the
    hand to the target itself."""
    engage_time: float = 0.5
    """Seconds after the clutch closes over which the speed bounds grow from zero."""
    stale_after: float = 0.1
    """Seconds after which a target that was not renewed is stale: its last value is held."""
    hold_for: float = 0.5
    """Seconds that stale or lost targets are held; then the robot stops."""
    resume: bool = True
    """Whether targets that come back after a stop are followed again; False waits for the clutch to be opened and
    closed."""
    on_bad_target: Literal["raise", "hold"] = "raise"
    """What a target that is NaN or no target at all does: InputError, or the same as a lost one, said in `why`."""

    budget: float | None = None
    """Seconds that a tick may take to decide; what is not proved by then is not done. None for half of the tick."""

    def __post_init__(self) -> None:
        if self.budget is not None and not self.budget > 0.0:
            raise InputError(f"TrackOptions: budget must be above zero, found {self.budget!r:.40}")
        above = ("gain", "max_linear_speed", "max_angular_speed", "damping", "stale_after", "resync")
        for name in (*above, "feedforward", "smoothing", "posture_gain", "engage_time", "hold_for"):
            value = getattr(self, name)
            if not (math.isfinite(value) and (value > 0.0 or (value == 0.0 and name not in above))):
                bound = "above zero" if name in above else "zero or above"
                raise InputError(f"TrackOptions: {name} must be {bound}, found {value!r:.40}")
        if self.on_bad_target not in ("raise", "hold"):
            raise InputError(
                f"TrackOptions: on_bad_target must be 'raise' or 'hold', found {self.on_bad_target!r:.40}"
            )
