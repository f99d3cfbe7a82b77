"""Programme: the quadratic programme of one tick, made of bounds on rates and of collision rows.

A row says that a distance may shrink by no more than its room until the robot has come to rest. Where no velocity
within the bounds makes that true of all rows, they give way, as little as they must and no farther than braking needs:
so there is always an answer.
Where spheres hold an answer back, meshes are asked about those pairs alone, and the programme is solved again: what is
in nobody's way costs no mesh distance, and nothing is held back by spheres alone.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from ._bounds import Bounds
from ._contact_rows import contact_rows
from ._qp import ACTIVE, Solution, solve_qp
from ._rows import CollisionRows, RowSet
from ._safe_options import SafeOptions

Pair = tuple[str, str]
MEASURED = 4
"""Times at most that spheres that hold an answer back are replaced by meshes in one tick."""


class Programme:
    """The constraints of one tick; `solve` finds the best velocity, `tighten` takes room from a pair."""

    def __init__(
        self,
        source: CollisionRows,
        cfg: Float[np.ndarray, "dof"],
        at: RowSet,
        bounds: Bounds,
        brake: Float[np.ndarray, "dof"],
        horizon: float,
        options: SafeOptions,
    ) -> None:
        """Collects the rows that can matter within the bounds.

        Args:
            source: who made the rows.
            cfg: the configuration.
            at: the rows there.
            bounds: of the rates; they hold for `brake`.
            brake: the velocity of braking.
            horizon: seconds in which no more than the room of a distance may be used up.
            options: how far rows reach, and where approaches end.
        """
        self.at, self.bounds = at, bounds
        self._source, self._cfg, self._options = source, cfg, options
        self._brake, self._horizon = brake, horizon
        rows, distance, numbers = at.A, at.distance, np.arange(len(at.distance))
        if at.in_contact and (overlaps := at.overlaps):
            more = contact_rows(source.model, cfg, overlaps)
            rows, distance = np.concatenate([rows, more]), np.concatenate([distance, np.zeros(len(more))])
            numbers = np.concatenate([numbers, np.full(len(more), -1)])
        braking = rows @ brake
        least = -_room(distance, options) / horizon
        matter = np.flatnonzero(bounds.least_of(rows) < least)
        self._rows, self._numbers = rows[matter], numbers[matter]
        self._least, self._braking = least[matter], braking[matter]

    def solve(self, H: Float[np.ndarray, "dof dof"], f: Float[np.ndarray, "dof"]) -> Solution:
        """The velocity within the constraints that minimises 1/2 v'Hv + f'v."""
        for _ in range(MEASURED):
            found = self._solve(H, f)
            if not found.found or not self._measure(found):
                return found
        return self._solve(H, f)

    def _solve(self, H: Float[np.ndarray, "dof dof"], f: Float[np.ndarray, "dof"]) -> Solution:
        always = np.minimum(self._least, self._braking)
        return solve_qp(H, f, self.bounds.lower, self.bounds.upper, self._rows, self._least, always)

    def _measure(self, found: Solution) -> bool:
        """Replaces rows of spheres that hold an answer back by those of the meshes behind them; whether there were."""
        active = self._numbers[found.rows < -ACTIVE]
        active = active[active >= 0]
        pairs = {(int(a), int(b)) for a, b in self.at.of[active[self.at.rough[active] == 1]]}
        for pair in pairs:
            theirs = (self._numbers >= 0) & (self.at.of[self._numbers] == pair).all(axis=1)
            first = np.flatnonzero(theirs)[0]
            keep = ~theirs
            measured = self._source.measure(self._cfg, pair, self._options.reach, self.at)
            if measured is not None:
                row, distance = measured
                room = float(_room(np.array([distance]), self._options)[0])
                self._rows[first], self._braking[first] = row, row @ self._brake
                self._least[first] = -room / self._horizon
                self.at.rough[self._numbers[first]] = 0
                keep[first] = True
            self._rows, self._numbers = self._rows[keep], self._numbers[keep]
            self._least, self._braking = self._least[keep], self._braking[keep]
        return bool(pairs)

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


def _room(distance: Float[np.ndarray, "m"], options: SafeOptions) -> Float[np.ndarray, "m"]:
    """What of each distance may be used up: all but the skin; below zero what is asked for."""
    return np.maximum(distance - options.skin, 0.0) + np.minimum(distance - options.part, 0.0)
