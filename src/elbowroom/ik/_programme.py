"""Programme: the quadratic programme of one tick, made of bounds on rates and of collision rows.

A row says that a distance may shrink by no more than its room until the robot has come to rest. Where no velocity
within the bounds makes that true of all rows, they give way, as little as they must and no farther than braking needs:
so there is always an answer.
Where spheres hold an answer back, meshes are asked about those pairs alone, and the programme is solved again: what is
in nobody's way costs no mesh distance, and nothing is held back by spheres alone.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float

from ._bounds import Start
from ._contact_rows import contact_rows
from ._qp import Solution, solve_qp
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
        start: Start,
        options: SafeOptions,
    ) -> None:
        """Collects the rows that can matter within the bounds; those of overlaps come after those of `at`.

        Args:
            source: who made the rows.
            cfg: the configuration.
            at: the rows there.
            start: braking, and bounds of the rates that hold for it.
            options: how far rows reach, and where approaches end.
        """
        self.at, self.bounds = at, start.bounds
        self._source, self._cfg, self._options = source, cfg, options
        self._brake, self._horizon = start.brake, max(start.seconds, options.approach_time)
        rows, distance = at.A, at.distance
        if at.in_contact and (overlaps := at.overlaps):
            more = contact_rows(source.model, cfg, overlaps)
            rows, distance = np.concatenate([rows, more]), np.concatenate([distance, np.zeros(len(more))])
        m = len(distance)
        self._rows, self._limits = np.empty((m, len(cfg))), np.empty((2, len(cfg) + m))
        self._braking, self._numbers = np.empty(m), np.empty(m, np.int64)
        n = _kernels().rows_that_matter(
            rows, distance, self.bounds.rates, self._brake, self._horizon, options.skin, options.part, self._rows,
            self._limits, self._braking, self._numbers,
        )  # fmt: skip
        self._rows, self._limits = self._rows[:n], self._limits[:, : len(cfg) + n]
        self._braking, self._numbers = self._braking[:n], self._numbers[:n]

    @property
    def _least(self) -> Float[np.ndarray, "rows"]:
        """What each row must at least be; writable."""
        return self._limits[0, len(self._cfg) :]

    def _leave_out(self, places: list[int]) -> None:
        self._rows, self._braking = np.delete(self._rows, places, 0), np.delete(self._braking, places)
        self._numbers = np.delete(self._numbers, places)
        left = np.delete(self._limits, [len(self._cfg) + place for place in places], 1)
        self._limits = np.ascontiguousarray(left)  # by rows, as the solver reads them

    def _name(self, row: int) -> Pair | None:
        """Who a row is about; None for those of overlaps."""
        return self.at.name(row) if row < len(self.at.distance) else None

    def _of(self, pair: Pair) -> list[int]:
        """Places of the rows of a pair."""
        return [k for k, row in enumerate(self._numbers.tolist()) if self._name(row) == pair]

    def solve(self, H: Float[np.ndarray, "dof dof"], f: Float[np.ndarray, "dof"]) -> Solution:
        """The velocity within the constraints that minimises 1/2 v'Hv + f'v."""
        found = self._solve(H, f)
        for _ in range(MEASURED):
            if not found.found or not self._measure(found):
                break
            found = self._solve(H, f)
        return found

    def _solve(self, H: Float[np.ndarray, "dof dof"], f: Float[np.ndarray, "dof"]) -> Solution:
        return solve_qp(H, f, self._limits, self._rows, self._braking)

    def _measure(self, found: Solution) -> bool:
        """Replaces rows of spheres that hold an answer back by those of the meshes behind them; whether there were."""
        most = len(self.at.distance)
        active = [int(self._numbers[k]) for k in found.active_rows]
        rough = [row for row in active if row < most and self.at.rough[row] == 1]
        for name, number in {self.at.name(row): row for row in rough}.items():
            theirs = self._of(name)
            first, second = self.at.of[number].tolist()
            measured = self._source.measure(self._cfg, (first, second), self._options.reach, self.at)
            if measured is not None:
                row, distance = measured
                place = theirs.pop(0)
                self._rows[place], self._braking[place] = row, row @ self._brake
                room = float(_kernels().room_of(distance, self._options.skin, self._options.part))
                self._least[place] = -room / self._horizon
                self.at.rough[self._numbers[place]] = 0
            self._leave_out(theirs)
        return bool(rough)

    def tighten(self, pair: Pair) -> bool:
        """Halves the room of a pair; False where it has no row."""
        theirs = self._of(pair)
        self._least[theirs] *= 0.5
        return bool(theirs)

    def words(self, found: Solution) -> list[str]:
        """What holds an answer back."""
        words = [self.bounds.word(k, above) for k, above in found.active_bounds]
        for k in found.active_rows:
            name = self._name(int(self._numbers[k]))
            words.append("contact at the start" if name is None else pair_words(name))
        return words


def pair_words(pair: Pair) -> str:
    """Two names as they are said."""
    return f"{pair[0]} and {pair[1]}"


@cache
def _kernels() -> Any:
    """The kernels; numba loads when they are first needed."""
    from . import _kernels_programme

    return _kernels_programme
