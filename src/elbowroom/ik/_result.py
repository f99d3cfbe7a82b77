"""IkResult: a configuration, how far from the targets it is, whether it is free, and why not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from jaxtyping import Float

from ..collision import CollisionModel, Verdict
from ._targets import Target


@dataclass(frozen=True, eq=False)
class IkResult:
    """The answer for one set of targets.

    `success` is decided when the answer is made. `verdict`, `clearance` and `why` cost far more than the answer itself
    and are computed when they are first read.
    """

    cfg: Float[np.ndarray, "dof"]
    """The configuration: the answer, or the best that was found."""
    success: bool
    """Every target is met within its tolerance, joints are within limits, and the model calls it free."""
    targets: tuple[Target, ...]
    position_error: Float[np.ndarray, "targets"]
    """Metres; zero for targets that ask for no position."""
    orientation_error: Float[np.ndarray, "targets"]
    """Radians (for a `JointTarget` the error of the joint, rad or m); zero for targets that ask for no orientation."""
    free: bool | None
    """What `CollisionModel.free` said; None when the solver was given a robot alone."""
    chosen: str
    """Which of the candidates this is, in words."""
    candidates: int
    """Configurations that met the targets."""
    seeds_tried: int
    iterations: int
    """Steps of all starts together."""
    seconds: float
    notes: tuple[str, ...] = ()
    """What was changed in the question, such as a quaternion that was normalised."""
    model: CollisionModel | None = field(default=None, repr=False)
    """Who judges; None when the solver was given a robot alone."""
    explain_failure: Callable[[IkResult], str] | None = field(default=None, repr=False)

    def __bool__(self) -> bool:
        return self.success

    @cached_property
    def verdict(self) -> Verdict | None:
        """`CollisionModel.explain` of the configuration; None when the solver was given a robot alone."""
        return None if self.model is None else self.model.explain(self.cfg)

    @cached_property
    def clearance(self) -> float | None:
        """Measured clearance, metres; None when the solver was given a robot alone."""
        return None if self.verdict is None else self.verdict.clearance

    @cached_property
    def why(self) -> str:
        """Why there is no success, a sentence; empty when there is."""
        return "" if self.success or self.explain_failure is None else self.explain_failure(self)
