"""Programme: the quadratic programme of one tick, made of bounds on rates and of collision rows.

A row says that a distance may shrink by no more than its room until the robot has come to rest. Where no velocity does
that for all rows, they give way, as little as they must and never beyond what braking does: there is always an answer.
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
        """Collects the rows that can matter within the bounds; those of overlaps come after those of `at`.

        Args:
            source: who made the rows.
            cfg: the configuration.
            at: the rows there.
            bounds: of the rates; they hold for `brake`.
            brake: the velocity of braking.
            horizon: seconds in which no more than the room of a distance may be used up.
            options: how far rows reach, and where approaches end.
        """
        from ._kernels_programme import rows_that_matter

        self.at, self.bounds = at, bounds
        self._source, self._cfg, self._options = source, cfg, options
        self._brake, self._horizon = np.array(brake), horizon
        rows, distance = at.A, at.distance
        if at.in_contact and (overlaps := at.overlaps):
            more = contact_rows(source.model, cfg, overlaps)
            rows, distance = np.concatenate([rows, more]), np.concatenate([distance, np.zeros(len(more))])
        m = len(distance)
        self._rows, self._least = np.empty((m, len(cfg))), np.empty(m)
        self._braking, self._numbers = np.empty(m), np.empty(m, np.int64)
        n = rows_that_matter(
            rows, distance, bounds.rates, self._brake, horizon, options.skin, options.part, self._rows, self._least,
            self._braking, self._numbers,
        )  # fmt: skip
        self._keep(slice(n))

    def _keep(self, which: slice | np.ndarray) -> None:
        self._rows, self._least = self._rows[which], self._least[which]
        self._braking, self._numbers = self._braking[which], self._numbers[which]

    def _name(self, row: int) -> Pair | None:
        """Who a row is about; None for those of overlaps."""
        return self.at.name(row) if row < len(self.at.distance) else None

    def _of(self, pair: Pair) -> list[int]:
        """Places of the rows of a pair."""
        return [k for k, row in enumerate(self._numbers.tolist()) if self._name(row) == pair]

    def solve(self, H: Float[np.ndarray, "dof dof"], f: Float[np.ndarray, "dof"]) -> Solution:
        """The velocity within the constraints that minimises 1/2 v'Hv + f'v."""
        found = self._best(H, f)
        for _ in range(MEASURED):
            if not found.found or not self._measure(found):
                break
            found = self._best(H, f)
        return found

    def _best(self, H: Float[np.ndarray, "dof dof"], f: Float[np.ndarray, "dof"]) -> Solution:
        always = np.minimum(self._least, self._braking)
        return solve_qp(H, f, self.bounds.rates, self._rows, self._least, always)

    def _measure(self, found: Solution) -> bool:
        """Replaces rows of spheres that hold an answer back by those of the meshes behind them; whether there were."""
        from ._kernels_programme import room_of

        active = self._numbers[found.rows < -ACTIVE]
        active = active[active < len(self.at.distance)]
        rough = active[self.at.rough[active] == 1].tolist()
        for name, number in {self.at.name(row): row for row in rough}.items():
            theirs = self._of(name)
            keep = np.ones(len(self._numbers), np.bool_)
            keep[theirs] = False
            first, second = self.at.of[number].tolist()
            measured = self._source.measure(self._cfg, (first, second), self._options.reach, self.at)
            if measured is not None:
                row, distance = measured
                place = theirs[0]
                self._rows[place], self._braking[place] = row, row @ self._brake
                room = float(room_of(distance, self._options.skin, self._options.part))
                self._least[place] = -room / self._horizon
                self.at.rough[self._numbers[place]] = 0
                keep[place] = True
            self._keep(keep)
        return bool(rough)

    def tighten(self, pair: Pair) -> bool:
        """Halves the room of a pair; False where it has no row."""
        theirs = self._of(pair)
        self._least[theirs] *= 0.5
        return bool(theirs)

    def words(self, found: Solution) -> list[str]:
        """What holds an answer back."""
        joints = np.flatnonzero(np.abs(found.bounds) > ACTIVE).tolist()
        words = [self.bounds.word(k, bool(found.bounds[k] > 0.0)) for k in joints]
        for k in np.flatnonzero(found.rows < -ACTIVE).tolist():
            name = self._name(int(self._numbers[k]))
            words.append("contact at the start" if name is None else pair_words(name))
        return words


def pair_words(pair: Pair) -> str:
    """Two names as they are said."""
    return f"{pair[0]} and {pair[1]}"
