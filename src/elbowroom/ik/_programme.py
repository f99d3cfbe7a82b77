"""Programme: the quadratic programme of one tick, made of bounds on rates and of collision rows.

A row says that a distance may shrink by no more than its room until the robot has come to rest. Its least value is
never above what braking does, so that braking is always a choice, and never above zero: nothing is asked to part.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from ..collision import CollisionModel
from ._bounds import Bounds
from ._contact_rows import contact_rows
from ._qp import ACTIVE, Solution, solve_qp
from ._rows import RowSet

Pair = tuple[str, str]


class Programme:
    """The constraints of one tick; `solve` finds the best velocity, `tighten` takes room from a pair."""

    def __init__(
        self,
        model: CollisionModel,
        cfg: Float[np.ndarray, "dof"],
        at: RowSet,
        bounds: Bounds,
        brake: Float[np.ndarray, "dof"],
        horizon: float,
        skin: float,
        part: float,
    ) -> None:
        """Collects the rows that can matter within the bounds.

        Args:
            model: the robot and its obstacles.
            cfg: the configuration.
            at: the rows there.
            bounds: of the rates; they hold for `brake`.
            brake: the velocity of braking.
            horizon: seconds in which no more than the room of a distance may be used up.
            skin: metres; see `SafeOptions`.
            part: metres; see there.
        """
        self.at, self.bounds = at, bounds
        rows, distance, numbers = at.A, at.distance, np.arange(len(at.distance))
        if at.in_contact and (overlaps := at.overlaps):
            more = contact_rows(model, cfg, overlaps)
            rows, distance = np.concatenate([rows, more]), np.concatenate([distance, np.zeros(len(more))])
            numbers = np.concatenate([numbers, np.full(len(more), -1)])
        self._braking = rows @ brake
        self._least = -_room(distance, skin, part) / horizon
        matter = np.flatnonzero(bounds.least_of(rows) < self._least)
        self._rows, self._numbers = rows[matter], numbers[matter]
        self._least, self._braking = self._least[matter], self._braking[matter]

    def solve(self, H: Float[np.ndarray, "dof dof"], f: Float[np.ndarray, "dof"]) -> Solution:
        """The velocity within the constraints that minimises 1/2 v'Hv + f'v."""
        return solve_qp(
            H, f, self.bounds.lower, self.bounds.upper, self._rows, self._least, np.minimum(self._least, self._braking)
        )

    def tighten(self, pair: Pair) -> bool:
        """Halves the room of a pair; False where it has no row."""
        theirs = [k for k, row in enumerate(self._numbers.tolist()) if row >= 0 and self.at.name(row) == pair]
        self._least[theirs] *= 0.5
        return bool(theirs)

    def words(self, found: Solution) -> list[str]:
        """What holds an answer back."""
        joints = np.flatnonzero(np.abs(found.bounds) > ACTIVE).tolist()
        words = [self.bounds.word(k, bool(found.bounds[k] > 0.0)) for k in joints]
        for k in np.flatnonzero(found.rows < -ACTIVE).tolist():
            row = int(self._numbers[k])
            words.append("contact at the start" if row < 0 else pair_words(self.at.name(row)))
        return words


def pair_words(pair: Pair) -> str:
    """Two names as they are said."""
    return f"{pair[0]} and {pair[1]}"


def _room(distance: Float[np.ndarray, "m"], skin: float, part: float) -> Float[np.ndarray, "m"]:
    """What of each distance may be used up: all but the skin; below zero what is asked for."""
    return np.maximum(distance - skin, 0.0) + np.minimum(distance - part, 0.0)
