"""Audit: what is known of a recorded motion, as a value that prints well; made by `audit`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from .._brief import brief
from .._clash import Clash
from .._frozen import Frozen
from .._text import at_least, number
from ..typing import LinkPair
from ._constant import ConstantClearance, constant_lines
from ._segment import touch_text

LISTED = 5
"""Stretches and segments named in the text."""
Between = Literal["proved", "blocked", "undecided", "contact"]
BETWEEN: tuple[Between, ...] = ("proved", "blocked", "undecided", "contact")
"""What is known of a segment: proved free; blocked between two free rows; too close to touching for a proof; or a row
at its ends is in contact."""
PROVED, BLOCKED, UNDECIDED, CONTACT = range(4)


@brief
@dataclass(frozen=True, eq=False)
class Moment(Frozen):
    """One row of a motion, and what is nearest or touches there."""

    row: int
    """Index of the row, from 0; texts count from 1."""
    time: float | None
    """Seconds, as recorded."""
    clashes: tuple[Clash, ...]
    """Pairs that touch or come closer than the buffer, the deepest first; of a free row, the closest pair."""

    def __str__(self) -> str:
        at = "" if self.time is None else f" (t = {self.time:.3f} s)"
        return f"row {self.row + 1}{at}: " + "; ".join(map(str, self.clashes))


@brief
@dataclass(frozen=True, eq=False)
class Audit(Frozen):
    """What is known of a motion of n rows. It is true when all of it, between the rows too, is proved free."""

    robot_name: str
    joint_names: tuple[str, ...]
    buffer: float
    """Clearance asked of every pair, metres."""
    times: Float[np.ndarray, "n"] | None
    """Seconds, as recorded."""
    rows_free: Bool[np.ndarray, "n"]
    clearance: Float[np.ndarray, "n"]
    """Measured clearance, metres, minus the depth where things overlap; NaN where a depth was not measured."""
    closest_idx: Int[np.ndarray, "n"]
    """Entry of `pairs` that is closest or deepest, -1 where not known."""
    varying_clearance: Float[np.ndarray, "n"]
    """The same over pairs that the motion can change, and over clashes; infinite where none varies."""
    varying_idx: Int[np.ndarray, "n"]
    """Entry of `pairs` that this is of, -1 where not known."""
    constant: tuple[ConstantClearance, ...]
    """Pairs closer than what varies at some row that the motion cannot change, or was not seen to change."""
    between: Int[np.ndarray, "n-1"]
    """What is known of the segment from row k to row k + 1: entry of `BETWEEN`."""
    blocked_at: Float[np.ndarray, "n-1"]
    """Fraction of the segment at which a pair touches, or at which the proof gave up; NaN elsewhere."""
    blocked_idx: Int[np.ndarray, "n-1"]
    """Entry of `pairs` that touches or could not be decided there, -1 elsewhere."""
    proved_clearance: Float[np.ndarray, "n-1"]
    """Proved lower bound of the clearance on the whole segment, metres; NaN where it is not proved free."""
    pairs: tuple[LinkPair, ...]
    """The checked pairs of links, then the pairs (link, obstacle) that are spoken of."""
    first: Moment | None
    """First row in contact; None when all rows are free."""
    worst: Moment | None
    """Row of the deepest contact measured; when all rows are free, of the smallest clearance of what the motion can
    change."""
    outside: Bool[np.ndarray, "n dof"]
    """Joints beyond their limits; they do not make a row colliding."""
    notes: tuple[str, ...]
    seconds: float

    @property
    def free(self) -> bool:
        """Whether all rows are free and all segments between them are proved free."""
        return bool(self.rows_free.all()) and not self.between.any()

    def __bool__(self) -> bool:
        return self.free

    def __len__(self) -> int:
        return len(self.rows_free)

    @property
    def refused(self) -> str:
        """What rows that are not free are called: in contact, or closer than the buffer where one is asked for."""
        return (
            "in contact" if not self.buffer else f"in contact or closer than {number(1e3 * self.buffer)} mm"
        )

    @property
    def stretches(self) -> tuple[tuple[int, int], ...]:
        """First and last row of every run of rows in contact."""
        edges = np.flatnonzero(np.diff(np.concatenate([[0], ~self.rows_free, [0]]).astype(np.int8)))
        return tuple((int(a), int(b) - 1) for a, b in edges.reshape(-1, 2))

    @property
    def unproved(self) -> Int[np.ndarray, "k"]:
        """Segments between two free rows that are blocked or not decided."""
        return np.flatnonzero((self.between == BLOCKED) | (self.between == UNDECIDED))

    def count(self, what: Between) -> int:
        """How many segments are of a kind."""
        return int((self.between == BETWEEN.index(what)).sum())

    def time_at(self, row: int, fraction: float = 0.0) -> float | None:
        """Time at a row, or between it and the next."""
        if self.times is None:
            return None
        after = self.times[min(row + 1, len(self) - 1)]
        return float(self.times[row] + fraction * (after - self.times[row]))

    def segment_text(self, k: int) -> str:
        """A sentence on the segment from row k to the next."""
        if self.between[k] == PROVED:
            low = float(self.proved_clearance[k])
            room = (
                f", at least {at_least(1e3 * low)} mm apart" if np.isfinite(low) else "; nothing is checked"
            )
            return f"rows {k + 1} to {k + 2}: proved free{room}"
        if self.between[k] == CONTACT:
            return f"rows {k + 1} to {k + 2}: a row is {self.refused}"
        at, (a, b) = self.blocked_at[k], self.pairs[self.blocked_idx[k]]
        when = "" if self.times is None else f" (t = {self.time_at(k, at):.3f} s)"
        where = f"at {100.0 * at:.1f} % of the way{when}"
        if self.between[k] == BLOCKED:
            return f"rows {k + 1} to {k + 2}: {a} and {b} {touch_text(self.buffer)} {where}"
        return f"rows {k + 1} to {k + 2}: neither a proof nor a contact of {a} and {b} was found {where}"

    def to_csv(self) -> str:
        """One line a row: its verdict, clearance (m) and closest pair, the way to the next row, and the clearance and
        closest pair of what the motion can change."""
        lines = [
            "row,time,free,clearance,closest_a,closest_b,to_next,blocked_at,blocked_a,blocked_b,proved_clearance,"
            "varying_clearance,varying_a,varying_b"
        ]
        for k in range(len(self)):
            pair = self.pairs[self.closest_idx[k]] if self.closest_idx[k] >= 0 else ("", "")
            cells = [str(k + 1), "" if self.times is None else repr(float(self.times[k]))]
            cells += [str(int(self.rows_free[k])), _cell(self.clearance[k]), *pair]
            if k + 1 < len(self):
                other = self.pairs[self.blocked_idx[k]] if self.blocked_idx[k] >= 0 else ("", "")
                cells += [
                    BETWEEN[self.between[k]],
                    _cell(self.blocked_at[k]),
                    *other,
                    _cell(self.proved_clearance[k]),
                ]
            else:
                cells += [""] * 5
            varying = self.pairs[self.varying_idx[k]] if self.varying_idx[k] >= 0 else ("", "")
            cells += [_cell(self.varying_clearance[k]), *varying]
            lines.append(",".join(cells))
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, listed: int = LISTED) -> Iterator[str]:
        """The audit in words; `listed` stretches and segments are named at most."""
        n, bad = len(self), int((~self.rows_free).sum())
        span = "" if self.times is None else f" over {self.times[-1] - self.times[0]:.3f} s"
        answer = "free" if self.free else "not free" if bad or self.count("blocked") else "not proved free"
        yield f"{self.robot_name}, {n} rows{span}: {answer}"
        if self.first is not None and self.worst is not None:
            runs = self.stretches
            named = ", ".join(f"{a + 1}" if a == b else f"{a + 1}-{b + 1}" for a, b in runs[:listed])
            more = f" and {len(runs) - listed} more" if len(runs) > listed else ""
            yield f"  rows: {n - bad} free, {bad} {self.refused} (rows {named}{more})"
            what = "contact" if not self.buffer else "row that is not free"
            deepest = (
                "worst"
                if int(np.isfinite(self.clearance[~self.rows_free]).sum()) == bad
                else "worst measured"
            )
            yield f"  first {what}: {self.first}"
            yield f"  {deepest} {what}: {self.worst}"
        elif self.worst is not None:
            yield f"  rows: all free; closest at {self.worst}"
        else:
            yield "  rows: all free; no pair is checked"
        for line in constant_lines(self.constant):
            yield f"  {line}"
        if n > 1:
            yield f"  between the rows: {self._between_text()}"
        for k in self.unproved[:listed].tolist():
            yield f"    {self.segment_text(k)}"
        if len(self.unproved) > listed:
            yield f"    ... and {len(self.unproved) - listed} more"
        for k, name in enumerate(self.joint_names):
            rows = np.flatnonzero(self.outside[:, k])
            if len(rows):
                yield f"  {name} is outside its limits in {len(rows)} rows, from row {rows[0] + 1} on"
        for note in self.notes:
            yield f"  note: {note}"

    def _between_text(self) -> str:
        parts = [f"{self.count('proved')} of {len(self) - 1} segments proved free"]
        words = {"blocked": "blocked between free rows", "undecided": "not decided"}
        parts += [
            f"{self.count(kind)} {words[kind]}" for kind in ("blocked", "undecided") if self.count(kind)
        ]
        if self.count("contact"):
            parts.append(f"{self.count('contact')} begin or end {self.refused}")
        return "; ".join(parts)


def _cell(value: Any) -> str:
    return "" if np.isnan(value) else repr(round(float(value), 9))
