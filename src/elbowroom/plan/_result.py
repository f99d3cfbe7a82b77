"""PlanResult: a motion and its proof, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from .._brief import brief
from .._text import number
from ._curve import Curve
from ._path_proof import PathProof

Reason = Literal["", "start", "goal", "unreachable", "limits", "blocked", "timeout", "cancelled"]
"""Why there is no success, for programs; "" when there is.

start, goal: blocked there; unreachable: no configuration takes the links to their poses; limits: start or goal beyond
the limits of joints that move; blocked: no path was found within `max_nodes`; timeout: time was up first; cancelled."""


@brief
@dataclass(frozen=True, eq=False)
class PlanResult:
    """The answer of `plan_motion`. A success carries its proof; a failure says why."""

    success: bool
    path: Float[np.ndarray, "n dof"] | None
    """Configurations from start to goal, a fixed time apart where the motion is timed, else waypoints. Straight lines
    between them are free by `proof`."""
    times: Float[np.ndarray, "n"] | None
    """Seconds from the start; None when the motion is not timed."""
    proof: PathProof | None
    cost_history: Float[np.ndarray, "iterations"]
    """Cost by iteration of STOMP; empty when it did not run."""
    refused: str = ""
    """A sentence on why there is nothing; "" of a success."""
    reason: Reason = ""
    waypoints: Float[np.ndarray, "w dof"] | None = None
    """Corners of the path before it was rounded."""
    curve: Curve | None = None
    """The path as a curve, rounded where that could be proved."""
    motion: Any = None
    """The curve with speeds along it: `Motion`; None when it is not timed."""
    method: str = ""
    """What found it: "straight line", "sampler", "stomp", "seed" or "roadmap"."""
    goal_idx: int | None = None
    """Which of several goals was reached."""
    goals: int = 1
    """Goals that were given; 0 for one that says where links should be."""
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    """By stage: "goals" until start and goals are checked (and found, where links have poses to reach), "setup" for
    what is made before a search (STOMP's costs), "first" from there to the first path,
    what comes after it, and "total". The time limit counts from "first" on."""
    notes: tuple[str, ...] = ()
    """What has to be said, such as joints held beyond their limits, or parts that are only sampled."""
    nodes: int = 0
    """Configurations in the sampler's trees."""
    clashes: tuple[Any, ...] = ()
    """What blocks start, goal or the way, the most frequent or deepest first: `Clash` or pairs of names."""
    nearest_free: Float[np.ndarray, "dof"] | None = None
    """Where start or goal is blocked: a free configuration near it."""

    @property
    def why(self) -> str:
        """A sentence: what was found and how, or why nothing."""
        if not self.success or self.path is None:
            return self.refused
        if len(self.path) == 1:
            return "the start is a goal: there is nothing to move"
        which = "the goal" if self.goals < 2 else f"goal {self.goal_idx} (from 0) of {self.goals}"
        lasts = "" if self.times is None else f" in {number(float(self.times[-1]), 3)} s"
        how = "STOMP" if self.method == "stomp" else f"the {self.method}"
        return f"reached {which}{lasts}, found by {how}, proved free all the way"

    def __bool__(self) -> bool:
        return self.success

    def __str__(self) -> str:
        return self.why
