"""One run of `Stomp`: descents from one first trajectory after the other, until a path is proved or time is up."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from ..._frozen import frozen
from ..._text import beyond as beyond_text
from ...errors import InputError
from .._path_proof import PathProof
from .._progress import SearchClock
from .._result import Reason
from .._smooth import roughness
from ._descent import Descent
from ._result import Evidence, StompResult
from ._starts import resampled, straight, through_vias

if TYPE_CHECKING:
    from ._stomp import Stomp

Hook = Callable[[int, float, Float[np.ndarray, "t dof"]], None]
"""Called after every iteration with its number, the cost and the trajectory (a copy)."""
Cancel = Event | Callable[[], bool]
Path = Float[np.ndarray, "t dof"]
DENSER = 3
"""Trajectories in a row that are free at their timesteps but not between them, before there are twice as many."""
MAX_TIMESTEPS = 4
"""How many times the timesteps of the options there may be."""


class StompSearch:
    """What was found so far."""

    def __init__(self, stomp: Stomp, hook: Hook | None, cancel: Cancel | None, timeout: float | None) -> None:
        if timeout is not None and not (isinstance(timeout, (int, float)) and timeout >= 0.0):
            raise InputError(f"timeout must be seconds from 0 up, found {timeout!r:.40}")
        self._stomp, self._options, self._hook = stomp, stomp.options, hook
        self._watch = SearchClock(np.inf if timeout is None else timeout, cancel)
        self._history: list[float] = []
        self._starts = 0
        self._path: Path = np.stack([stomp.start, stomp.goal])
        self._cost = np.inf
        self._evidence: Evidence = ""
        self._proof: PathProof | None = None
        self._stopped: Reason = ""
        self._considered = False

    def run(self, given: Float[np.ndarray, "w dof"] | None) -> StompResult:
        """The search; see `Stomp.run`."""
        stomp, options = self._stomp, self._options
        refused = self._refused()
        if refused is not None:
            return refused
        stomp.set_up()
        self._watch.start_search()
        if self._time_is_up():
            return self._result()
        others = through_vias(stomp)
        for start in range(options.restarts + 1):
            path = next(others) if start else straight(stomp)
            sigma = stomp.sigma * (options.restart_sigma if start else 1.0)
            if start == 0 and given is not None:
                path = resampled(stomp.group.parts(given), options.timesteps)
                cost = float(stomp.cost(stomp.group.whole(path)[None]).sum())
                self._consider(given, cost, given=True)
            self._starts += 1
            last = start == options.restarts
            iterations = options.iterations if last else min(options.iterations, options.restart_after)
            self._descend(path, sigma, iterations, np.random.default_rng([options.seed, 0, start]))
            if self._evidence == "proved" or self._stopped:
                break
        return self._result()

    def _descend(
        self,
        path: Float[np.ndarray, "t m"],
        sigma: Float[np.ndarray, "m"],
        iterations: int,
        rng: np.random.Generator,
    ) -> None:
        """Improves one trajectory until it is proved (and `improve` iterations more), or the search gives up."""
        stomp, options = self._stomp, self._options
        descent = Descent(stomp.group, stomp.cost, options, sigma, path, rng)
        self._consider(descent.whole, descent.cost)
        left, unproved = iterations, 0
        if self._evidence == "proved":
            left = options.improve
        while left > 0 and descent.idle < options.patience and not self._time_is_up():
            descent.step()
            left -= 1
            self._history.append(descent.cost)
            if self._hook is not None:
                self._hook(len(self._history), descent.cost, descent.whole.copy())
            was = self._evidence
            evidence = self._consider(descent.whole, descent.cost)
            if self._evidence == "proved" and was != "proved":
                left = options.improve
            if evidence == "sampled":  # free at its timesteps, but it jumps over something
                unproved += 1
                if unproved % DENSER == 0 and len(descent.whole) < MAX_TIMESTEPS * options.timesteps:
                    path = resampled(descent.path, 2 * len(descent.whole) - 1)
                    descent = Descent(stomp.group, stomp.cost, options, sigma, path, rng, descent.idle)
                else:
                    descent.respace()

    def _consider(self, path: Path, cost: float, *, given: bool = False) -> Evidence:
        """Takes a path if it is better than what there is: proved where that is not, or cheaper and no rougher."""
        if self._evidence == "proved" and (cost >= self._cost or roughness(path) > roughness(self._path)):
            return ""
        evidence, proof = self._stomp.evidence(path, given=given)
        self._considered = True
        rank = ("", "sampled", "proved")
        if (rank.index(evidence), -cost) > (rank.index(self._evidence), -self._cost):
            self._path, self._cost = path.copy(), cost
            self._evidence, self._proof = evidence, proof
        return evidence

    def _time_is_up(self) -> bool:
        self._stopped = self._watch.over()
        return self._stopped != ""

    # Answers --------------------------------------------------------------------------------------

    def _refused(self) -> StompResult | None:
        """The answer where start or goal cannot be part of any path."""
        stomp, group = self._stomp, self._stomp.group
        ends: tuple[tuple[Reason, Float[np.ndarray, "dof"]], ...] = (
            ("start", stomp.start),
            ("goal", stomp.goal),
        )
        for name, cfg in ends:
            values = group.parts(cfg)
            beyond = np.maximum(values - group.upper, group.lower - values)
            if beyond.max() > 0.0:
                k = int(beyond.argmax())
                return self._result(
                    "limits",
                    f"{name}: joint {group.joints[k]!r} is at "
                    f"{beyond_text(float(values[k]), float(group.lower[k]), float(group.upper[k]))}",
                )
        for name, cfg in ends:
            if not stomp.model.free(cfg):
                return self._result(name, f"the {name} is blocked: {stomp.model.explain(cfg)}")
        return None

    def _result(self, reason: Reason = "", why: str = "") -> StompResult:
        success = self._evidence == "proved"
        if not why:
            reason = "" if success else self._stopped or "blocked"
            why = self._why(reason)
        return StompResult(
            success=success,
            path=frozen(self._path),
            evidence=self._evidence,
            proof=self._proof,
            cost=self._cost,
            cost_history=frozen(np.array(self._history)),
            iterations=len(self._history),
            starts=self._starts,
            seconds=self._watch.seconds(),
            setup_seconds=self._watch.stages.get("setup", 0.0),
            why=why,
            reason=reason,
            notes=self._stomp.group.notes,
        )

    def _why(self, reason: Reason) -> str:
        work = f"{len(self._history)} iterations from {self._starts} first trajectories"
        if not reason:
            return f"a path proved free after {work}"
        ended = {"cancelled": "cancelled", "timeout": "time was up"}.get(reason, "no path was found")
        known = "the best path is free at its timesteps but not proved between them"
        if not self._evidence:
            known = "the best path is not free at its timesteps, as the costs judge it, or beyond limits"
        if not self._considered:
            known = "no path was looked at"
        return f"{ended} after {work}; {known}"
