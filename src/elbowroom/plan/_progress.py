"""Watch: how long a plan has taken, whether it must end, and who is told how it goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from .._brief import brief
from .._text import short
from ..errors import InputError

DOING = {
    "search": "searching",
    "stomp": "optimising",
    "shorten": "cutting corners",
    "smooth": "rounding corners",
    "timing": "choosing speeds",
    "proof": "proving it free",
}
"""Stage -> what is being done."""

Ended = Literal["", "timeout", "cancelled"]
"""Why work must end now; "" while it may go on."""


@brief
@dataclass(frozen=True)
class PlanProgress:
    """What `progress` of `plan_motion` is called with."""

    stage: str
    """"search", "stomp", "shorten", "smooth", "timing" or "proof"."""
    seconds: float
    """Since the question was asked."""
    nodes: int = 0
    """Configurations in the sampler's trees."""
    cost: float | None = None
    """Of the best trajectory of STOMP so far."""

    @property
    def doing(self) -> str:
        """The stage in words for people."""
        return DOING.get(self.stage, self.stage)


class SearchClock:
    """The clock of one question. Its time limit counts from `start_search` on, and stops during set-up."""

    def __init__(
        self,
        timeout: float,
        cancel: Any = None,
        progress: Callable[[PlanProgress], None] | None = None,
        began: float | None = None,
    ) -> None:
        """Starts it.

        Args:
            timeout: seconds.
            cancel: a callable or `threading.Event` that says whether to give up; None for never.
            progress: is told how it goes.
            began: of `time.perf_counter`, for the seconds that are reported; now when omitted.

        Raises:
            InputError: `cancel` or `progress` cannot be asked.
        """
        asks = cancel.is_set if hasattr(cancel, "is_set") else cancel
        if asks is not None and not callable(asks):
            raise InputError(f"cancel must be a function or a threading.Event, found {short(cancel)}")
        if progress is not None and not callable(progress):
            raise InputError(f"progress must be a function, found {short(progress)}")
        self.timeout = timeout
        self.stages: dict[str, float] = {}
        """Seconds by stage, of those that have ended."""
        self._cancelled, self._progress = asks, progress
        self._began = self._lap = time.perf_counter() if began is None else began
        self._from: float | None = None  # where the search would have begun if nothing had been set up since

    def start_search(self) -> None:
        """Set-up is done: the time limit counts from here on."""
        self.lap("setup")
        self._from = time.perf_counter()

    @contextmanager
    def set_up(self) -> Generator[None]:
        """Around what is made once and turns up during the search: it counts as set-up."""
        began, lap = time.perf_counter(), self._lap
        yield
        took = time.perf_counter() - began
        self.stages["setup"] = self.stages.get("setup", 0.0) + took
        self._lap = lap + took
        if self._from is not None:
            self._from += took

    def seconds(self) -> float:
        """Since the question was asked, by the wall clock."""
        return time.perf_counter() - self._began

    def searched(self) -> float:
        """Seconds of search so far, without set-up."""
        return 0.0 if self._from is None else time.perf_counter() - self._from

    def left(self) -> float:
        """Seconds until time is up."""
        return self.timeout - self.searched()

    def cancelled(self) -> bool:
        """Whether the caller has given up."""
        return self._cancelled is not None and bool(self._cancelled())

    def over(self) -> Ended:
        """Whether work must end, and why."""
        if self.cancelled():
            return "cancelled"
        return "timeout" if self.left() <= 0.0 else ""

    def tell(self, stage: str, nodes: int = 0, cost: float | None = None) -> None:
        """Reports progress."""
        if self._progress is not None:
            self._progress(PlanProgress(stage, self.seconds(), nodes, cost))

    def laps(self, stages: Sequence[str], seconds: Sequence[float]) -> None:
        """Notes that several stages have ended, each after so many seconds; what else has passed is not theirs."""
        for stage, took in zip(stages, seconds, strict=True):
            self.stages[stage] = self.stages.get(stage, 0.0) + took
        self._lap = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Notes that a stage has ended."""
        now = time.perf_counter()
        self.stages[stage] = self.stages.get(stage, 0.0) + now - self._lap
        self._lap = now
