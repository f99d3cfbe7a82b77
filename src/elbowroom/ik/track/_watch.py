"""Watch: whether targets still come, and what a robot does when they do not: hold the last ones, then stop."""

from __future__ import annotations

from typing import Literal

from ...errors import InputError
from ._options import TrackOptions

Phase = Literal["follow", "keep", "brake"]
"""Follow new targets; keep the last ones; come to rest."""

ROUNDING = 1e-9
"""Seconds that a sum of ticks may be off."""


class Watch:
    """What is known of where the targets come from. Time is counted in ticks: the sum of their dt."""

    def __init__(self, options: TrackOptions) -> None:
        self._options = options
        self._stamp: float | None = None
        self.age = 0.0
        """Seconds since there was a new target."""
        self.outdated = False
        """Whether the targets of this tick are older than some that were seen before: not to be followed."""
        self.given_up = False
        """Whether targets were lost for so long that the robot stopped."""

    def see(
        self, given: bool, clutch_open: bool, stamp: float | None, now: float | None, dt: float
    ) -> tuple[Phase, str]:
        """One tick: what to do, and why when it is not to follow.

        Args:
            given: whether there are targets.
            clutch_open: whether all clutches are.
            stamp: when the targets were made, seconds of any clock; None when they are made for this tick.
            now: the same clock now; None: a target is as old as its stamp has stayed the same.
            dt: seconds since the last tick.

        Raises:
            InputError: `now` without `stamp`.
        """
        if stamp is None and now is not None:
            raise InputError("tick: `now` is told, but not the `stamp` of the targets")
        known = self._stamp
        self.outdated = False
        if given and stamp is not None:
            # a sender that starts again may count from zero, which must not look outdated for ever
            renewed = known is None or stamp > known or (self.given_up and stamp != known)
            self.outdated = known is not None and stamp < known and not renewed
            self._stamp = stamp if renewed else known
            self.age = 0.0 if renewed else self.age + dt
            if now is not None and self._stamp is not None:
                self.age = max(0.0, now - self._stamp)
        else:
            self.age = 0.0 if given else self.age + dt
        late = self.age > self._options.stale_after + ROUNDING
        if clutch_open:
            self.given_up = False
            return "brake", "the clutch is open"
        if given and not late:
            if not self.given_up or self._options.resume:
                self.given_up = False
                return "follow", ""
            return "brake", "targets were lost; open and close the clutch to follow again"
        lost = f"no target for {self.age:.2f} s" if not given else f"the target is {self.age:.2f} s old"
        if (
            self.given_up
            or self.age > self._options.hold_for + (self._options.stale_after if given else 0.0) + ROUNDING
        ):
            self.given_up = True
            return "brake", f"{lost}: stopped"
        return "keep", f"{lost}: the last one is held"
