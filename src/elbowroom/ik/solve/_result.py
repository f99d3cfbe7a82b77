"""IkResult: a configuration, how far from the targets it is, whether it is free, and why not."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from jaxtyping import Float

from ..._brief import brief
from ..._text import number
from ...collision import CollisionModel, Verdict
from .._targets import Target

Reason = Literal[
    "",
    "out of reach",
    "limits",
    "collision",
    "contradictory",
    "local minimum",
    "locked",
    "timeout",
]
"""Why there is no success, for programs; "" when there is.

out of reach: no configuration, within limits or not, is known to meet the targets; limits: some would, beyond the
limits of joints; collision: some do, none of those judged is free; contradictory: each target can be met, and nothing
was found that meets all; local minimum: a longer search meets them; locked: no joint that is solved for moves the link;
timeout: time was up first."""


@brief
@dataclass(frozen=True, eq=False)
class Failure:
    """Why a question has no answer."""

    reason: Reason
    sentence: str
    link: str = ""
    """The link (or joint) whose target is not met; "" where it is not one alone."""
    distance: float = 0.0
    """How far off the nearest configuration known is, metres; 0 where positions are met."""
    angle: float = 0.0
    """The same for the orientation, rad."""
    joints: tuple[str, ...] = ()
    """Joints at their limits, or locked."""


@brief
@dataclass(frozen=True, eq=False)
class NearestFree:
    """A target moved until an answer is free: the nearest that was found, not proved to be the nearest there is."""

    target: Target
    """The target as it would have to be; the others stay."""
    cfg: Float[np.ndarray, "dof"]
    shift: float
    """Metres between the two targets."""
    turn: float
    """Radians between them."""


class Explainer(Protocol):
    """Who can say why a result is no success."""

    solver: Any
    """Who was asked; left out while a result travels between processes."""

    def failure(self, result: IkResult) -> Failure:
        """The reason and a sentence."""
        ...

    def nearest_free(self, result: IkResult) -> NearestFree | None:
        """The target moved until an answer is free."""
        ...


@brief
@dataclass(frozen=True, eq=False)
class IkResult:
    """The answer for one set of targets.

    `success` is decided when the answer is made. `verdict`, `clearance`, `reason`, `why` and `nearest_free` cost far
    more than the answer itself and are computed when they are first read.
    """

    cfg: Float[np.ndarray, "dof"]
    """The configuration: the answer, or the best that was found."""
    success: bool
    """Every target is met within its tolerance, the joints solved for are within limits, and the model calls it free.
    One that is held beyond its limits is in `notes`."""
    targets: tuple[Target, ...]
    position_error: Float[np.ndarray, "targets"]
    """Metres; zero for targets that ask for no position."""
    orientation_error: Float[np.ndarray, "targets"]
    """Radians (for a `JointTarget` the error of the joint, rad or m); zero for targets that ask for no orientation."""
    free: bool | None
    """What `CollisionModel.free` said; None when the solver was given a robot alone."""
    candidates: int
    """Configurations that met the targets, or of targets that share no joint, their own."""
    seeds_tried: int
    iterations: int
    """Steps of all starts together."""
    seconds: float
    notes: tuple[str, ...] = ()
    """What was changed in the question, such as a quaternion that was normalised."""
    timed_out: bool = False
    """Whether the search ended because time was up."""
    refused: int = 0
    """Configurations that met the targets, were judged, and are not free."""
    setup_seconds: float = 0.0
    """Of `seconds`, those before the search, in which a first question makes the tables of starts. They do not count
    against `IkOptions.timeout`."""
    met: bool = False
    """Whether every target is met, free or not."""
    seeded: bool = False
    """Whether a seed configuration was given."""
    refined: bool = False
    """Whether the answer was moved for secondary aims."""
    model: CollisionModel | None = field(default=None, repr=False)
    """Who judges; None when the solver was given a robot alone."""
    explainer: Explainer | None = field(default=None, repr=False)
    """Who says why there is no success."""

    def __bool__(self) -> bool:
        return self.success

    @property
    def chosen(self) -> str:
        """Which of the candidates this is, in words."""
        to = "the seed" if self.seeded else "the default pose"
        if self.success:
            nearer = f", {self.refused} nearer or likelier ones are not free" if self.refused else ""
            then = ", then improved in what the targets leave free" if self.refined else ""
            return f"nearest to {to} of {self.candidates} found{nearer}{then}"
        if self.met and self.free is False:
            count = f"{self.candidates} that meet the targets; none of {self.refused} judged is free"
            return f"nearest to {to} of {count}"
        return f"smallest error of {self.seeds_tried} starts"

    @cached_property
    def verdict(self) -> Verdict | None:
        """`CollisionModel.explain` of the configuration; None when the solver was given a robot alone."""
        return None if self.model is None else self.model.explain(self.cfg)

    @cached_property
    def clearance(self) -> float | None:
        """Measured clearance, metres; None when the solver was given a robot alone."""
        return None if self.verdict is None else self.verdict.clearance

    @cached_property
    def failure(self) -> Failure | None:
        """Why there is no success, with figures; None when there is."""
        return None if self.success or self.explainer is None else self.explainer.failure(self)

    @property
    def reason(self) -> Reason:
        """Why there is no success, one of a few words; "" when there is."""
        return "" if self.failure is None else self.failure.reason

    @cached_property
    def nearest_free(self) -> NearestFree | None:
        """Where collision is the reason: the nearest pose found that has a free answer; None when none was found."""
        if self.reason != "collision" or self.explainer is None:
            return None
        return self.explainer.nearest_free(self)

    @cached_property
    def why(self) -> str:
        """Why there is no success, in words; empty when there is."""
        if self.failure is None:
            return ""
        if self.failure.reason != "collision":
            return self.failure.sentence
        return f"{self.failure.sentence} {_nearest_text(self.nearest_free)}"

    def __str__(self) -> str:
        named = ", ".join(getattr(target, "link", None) or target.joint for target in self.targets)  # type: ignore[union-attr]
        worst = f"{1e3 * self.position_error.max():.3g} mm, {self.orientation_error.max():.3g} rad off"
        if self.success:
            return f"{named}: reached ({worst}; {self.chosen})"
        return f"{named}: not reached ({worst}). {self.why}"


def _nearest_text(near: NearestFree | None) -> str:
    if near is None:
        return "No free pose was found near the target."
    moved: list[str] = []
    if near.shift > 0.0:
        moved.append(f"{1e3 * near.shift:.3g} mm away")
    if near.turn > 0.0:
        moved.append(f"turned by {np.degrees(near.turn):.3g} degrees")
    return f"The nearest free pose found is {' and '.join(moved)}: {_place(near.target)}."


def _place(target: Any) -> str:
    value = getattr(target, "pose", None)
    value = getattr(target, "position", None) if value is None else value
    if value is None:
        return str(target)
    return f"{getattr(target, 'link', '')} at [{', '.join(number(entry) for entry in value)}]"
