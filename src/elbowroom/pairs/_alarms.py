"""False alarms and misses: what spheres say against what exact meshes say.

Spheres that cover the links may collide where the links do not (a false alarm, the price of speed) and never the
other way round (a miss). Any exact checker can be the judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool

from ..distance._checker import SelfCollisionChecker
from ..distance._inputs import Spheres
from ..errors import InputError, shape_text
from ..typing import LinkPair

ExactChecker = Callable[[np.ndarray, Sequence[LinkPair]], Any]
"""Takes cfgs (n, dof) and link pairs; returns (n, pairs) bool, True where the exact shapes collide."""


@dataclass(frozen=True)
class PairAlarms:
    """Counts of one pair."""

    spheres: int
    """Configurations in which the spheres collide."""
    exact: int
    """Configurations in which the exact shapes collide."""
    false_alarms: int
    """Spheres collide, shapes do not."""
    misses: int
    """Shapes collide, spheres do not: must be zero."""


@dataclass(frozen=True)
class AlarmReport:
    """Spheres against exact shapes over some configurations."""

    samples: int
    pairs: dict[LinkPair, PairAlarms]
    free_by_spheres: int
    """Configurations that the spheres call free."""
    free_exactly: int
    """Configurations that are free."""
    misses: int
    """Configurations that the spheres call free and that are not: must be zero."""

    @property
    def false_alarm_rate(self) -> float:
        """Share of the free configurations that the spheres call colliding."""
        wrong = self.free_exactly - (self.free_by_spheres - self.misses)
        return wrong / self.free_exactly if self.free_exactly else 0.0

    def __str__(self) -> str:
        worst = sorted(self.pairs.items(), key=lambda item: -item[1].false_alarms)[:5]
        lines = [
            f"{self.samples} configurations: {self.free_exactly} free, {self.free_by_spheres} free by spheres, "
            f"{self.misses} missed, false alarms in {self.false_alarm_rate:.2%} of the free ones"
        ]
        lines += [
            f"  {a}, {b}: {found.false_alarms} false alarms" for (a, b), found in worst if found.false_alarms
        ]
        return "\n".join(lines)


def false_alarms(robot: Any, spheres: Spheres, pairs: Any, exact: ExactChecker, cfgs: Any) -> AlarmReport:
    """Compares the sphere checker with an exact one, pair by pair.

    Args:
        robot: an Elbowroom or pyroki Robot.
        spheres: the sphere model.
        pairs: a PairMatrix or (link, link) tuples; None takes all that are not adjacent.
        exact: the judge, see ExactChecker.
        cfgs: (n, dof).

    Raises:
        InputError: inputs of the wrong shape, or a judge whose answer has the wrong shape.
    """
    checker = SelfCollisionChecker(robot, spheres, pairs)
    rows = checker.robot.as_cfgs(cfgs)
    ours: Bool[np.ndarray, "n pairs"] = checker.pair_hits(rows)
    truth = np.asarray(exact(rows, checker.pairs))
    if truth.shape != ours.shape:
        raise InputError(f"the exact checker must return {ours.shape}, found {shape_text(truth)}")
    truth = truth.astype(bool)
    counts = {
        pair: PairAlarms(
            int(ours[:, k].sum()),
            int(truth[:, k].sum()),
            int((ours[:, k] & ~truth[:, k]).sum()),
            int((truth[:, k] & ~ours[:, k]).sum()),
        )
        for k, pair in enumerate(checker.pairs)
    }
    free_ours, free_truth = ~ours.any(axis=1), ~truth.any(axis=1)
    return AlarmReport(
        len(rows), counts, int(free_ours.sum()), int(free_truth.sum()), int((free_ours & ~free_truth).sum())
    )
