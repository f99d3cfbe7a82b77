"""FilteredMotion: what a guard made of a recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float

from ..._brief import brief
from ..._frozen import Frozen, freeze

if TYPE_CHECKING:
    from ._guard import GuardStep

NAMED = 5
"""What held steps back most often: so many are named in the summary."""


@brief
@dataclass(frozen=True, eq=False)
class FilteredMotion(Frozen):
    """A recording as the guard lets it pass; it prints a summary."""

    robot_name: str
    cfgs: Float[np.ndarray, "n dof"]
    """As many configurations as the recording has; the first is the same."""
    wanted: Float[np.ndarray, "n dof"]
    """The recording."""
    times: Float[np.ndarray, "n"]
    """Seconds, from zero."""
    altered: Bool[np.ndarray, "n"]
    """Whether the step to each configuration is not the wanted one; False for the first."""
    proved: Bool[np.ndarray, "n"]
    """Whether the step to each configuration was proved free; True for the first, which is not judged."""
    limited_by: tuple[tuple[str, ...], ...]
    """What held each step back."""
    clearance: Float[np.ndarray, "n"]
    """Lower bound of the clearance where each step began, metres; that of the last configuration is not known."""
    seconds: float
    """That it took."""

    @classmethod
    def of(
        cls,
        robot_name: str,
        wanted: Float[np.ndarray, "n dof"],
        spans: Float[np.ndarray, "steps"],
        steps: Sequence[GuardStep],
    ) -> FilteredMotion:
        """The steps of a guard, put together."""
        made = cls(
            robot_name=robot_name,
            cfgs=np.array([wanted[0], *(step.cfg for step in steps)]),
            wanted=wanted.copy(),
            times=np.concatenate([[0.0], np.cumsum(spans)]),
            altered=np.array([False, *(step.altered for step in steps)]),
            proved=np.array([True, *(step.proved for step in steps)]),
            limited_by=((), *(step.limited_by for step in steps)),
            clearance=np.array([*(step.clearance for step in steps), np.nan]),
            seconds=sum(step.seconds for step in steps),
        )
        freeze(made.cfgs, made.wanted, made.times, made.altered, made.proved, made.clearance)
        return made

    @property
    def off(self) -> float:
        """The farthest that a joint is from where it was wanted, rad or m."""
        return float(np.abs(self.cfgs - self.wanted).max())

    def __len__(self) -> int:
        return len(self.cfgs)

    def __str__(self) -> str:
        steps, changed = len(self) - 1, int(self.altered.sum())
        lines = [
            f"{self.robot_name}: {changed} of {steps} steps altered, at most {self.off:.3g} rad or m off"
        ]
        unproved = int((~self.proved).sum())
        if unproved:
            lines.append(f"  {unproved} steps of braking could not be proved free")
        count = Counter(word for held in self.limited_by for word in held)
        lines += [f"  {n} times held back by {word}" for word, n in count.most_common(NAMED)]
        if len(count) > NAMED:
            lines.append(f"  and by {len(count) - NAMED} more")
        return "\n".join(lines)
