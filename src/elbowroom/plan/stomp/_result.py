"""StompResult: the path that an optimisation found and what is known of it, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from ..._brief import brief
from ..._frozen import Frozen
from .._path_proof import PathProof
from .._result import Reason

Evidence = Literal["", "sampled", "proved"]


@brief
@dataclass(frozen=True, eq=False)
class StompResult(Frozen):
    """The answer of `Stomp.run`."""

    success: bool
    """Proved: the path is free between its timesteps too, and within the limits."""
    path: Float[np.ndarray, "t dof"]
    """The path found, or, without success, the one that cost least; a given path that is free and could not be
    improved is returned as it was given."""
    evidence: Evidence
    """What is known of the path: "proved" free all the way; "sampled": free at its timesteps only; "" neither."""
    proof: PathProof | None
    """Of the path; of one that is not free at its timesteps, None."""
    cost: float
    """Of the path at the options' timesteps, smoothness included."""
    cost_history: Float[np.ndarray, "iterations"]
    """Cost of the trajectory after each iteration, one start after the other."""
    iterations: int
    """In all starts."""
    starts: int
    """First trajectories that were optimised."""
    seconds: float
    """In all."""
    why: str
    """A sentence."""
    reason: Reason = ""
    notes: tuple[str, ...] = ()
    """What has to be said, such as joints held beyond their limits."""
    setup_seconds: float = 0.0
    """Of `seconds`, those before the search began: costs made. They do not count against `timeout`."""

    def __bool__(self) -> bool:
        return self.success

    def __str__(self) -> str:
        return self.why
