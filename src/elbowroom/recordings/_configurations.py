"""Configurations and recorded motions from files, in the order of the robot's joints.

Formats are read by `_tables`, columns understood by `_columns`; here rows become configurations: joints that are
not given are held, degrees become radians, times must not go back. Nothing is guessed in silence: see `notes`.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from jaxtyping import Float, Int

from .._frozen import Frozen, frozen
from ..errors import FormatError, InputError
from ..robot import Robot, as_robot
from ..typing import RobotLike
from ._columns import Columns, match_columns, some
from ._table import Table
from ._tables import read_table

MAX_NUMBERS = 250_000_000
"""Joint values that are read at most: 2 GB. More is a stream without end, or wants to be cut."""
CLOCKS = ((1e17, 1e-9, "nanoseconds"), (1e14, 1e-6, "microseconds"), (1e11, 1e-3, "milliseconds"))
"""Times beyond this are not seconds since any known epoch (1e11 s are 3000 years)."""


@dataclass(frozen=True, eq=False)
class Configurations(Frozen):
    """Rows of joint values, with where they come from."""

    source: str
    """File, or "standard input"."""
    names: tuple[str, ...]
    """The robot's joints, in the order of the columns of `cfgs`."""
    cfgs: Float[np.ndarray, "n dof"]
    """rad and m."""
    times: Float[np.ndarray, "n"] | None
    """Seconds, never falling; None when the source has no times."""
    lines: Int[np.ndarray, "n"]
    """Line of each row in a text file, else its number, from 1."""
    unit: str
    """What `lines` counts: "line", "row" or "entry"."""
    notes: tuple[str, ...]
    """How columns were understood, which were left out, which joints are held."""

    def __len__(self) -> int:
        return len(self.cfgs)

    def where(self, row: int) -> str:
        """The place of a row: `moves.csv:17`, or `moves.npy, row 17`."""
        line = int(self.lines[row])
        return f"{self.source}:{line}" if self.unit == "line" else f"{self.source}, {self.unit} {line}"

    def __repr__(self) -> str:
        span = "" if self.times is None else f", {self.times[-1] - self.times[0]:.3f} s"
        return f"Configurations({self.source!r}: {len(self)} rows of {len(self.names)} joints{span})"


def read_configurations(
    source: str | Path | BinaryIO,
    robot: RobotLike,
    *,
    degrees: bool = False,
    missing: Any = None,
    columns: str = "",
    time_column: str | int | None = None,
) -> Configurations:
    """Reads configurations of a robot, or a recorded motion, from CSV, NPY, NPZ, JSON lines or JSON.

    Args:
        source: path; "-" for standard input; or a binary stream with `peek`. What it holds decides, not its name.
        robot: whose joints they are. Joints may come in any order by name, or all in the robot's order.
        degrees: values of turning joints are degrees; those of sliding joints stay metres.
        missing: (dof,) configuration at which joints are held that the source does not give; None refuses.
        columns: look only at columns whose name starts with this, e.g. "observation.state".
        time_column: name of the column that holds the time in seconds, or its number from 1; found by its name if not
            given.

    Raises:
        FormatError: what is wrong with the file, with file and line: rows of another width, cells that are not finite
            numbers, times that go back, pickled arrays. InputError: no such file, joints that are not given.
    """
    robot = as_robot(robot)
    with _opened(source) as (stream, name):
        table = read_table(stream, name, robot.joint_names)
        return _read(table, robot, degrees, missing, columns, time_column)


@contextmanager
def _opened(source: str | Path | BinaryIO) -> Generator[tuple[BinaryIO, str]]:
    """A binary stream and its name for messages; files are closed, standard input and given streams are not."""
    if not isinstance(source, (str, Path)):
        yield source, str(getattr(source, "name", "the stream"))
        return
    if str(source) == "-":
        yield sys.stdin.buffer, "standard input"
        return
    try:
        with open(source, "rb") as stream:
            yield stream, str(source)
    except OSError as error:
        raise InputError(f"cannot read {source}: {error.strerror or error}") from error


def _read(
    table: Table, robot: Robot, degrees: bool, missing: Any, prefix: str, time_column: str | int | None
) -> Configurations:
    found = match_columns(table, robot, prefix, time_column)
    held = [k for k in range(robot.dof) if k not in found.joints]
    row = np.zeros(robot.dof)
    if held:
        names = [robot.joint_names[k] for k in held]
        if missing is None:
            raise InputError(
                f"{table.source}: no column for {some(names)} of {robot.name}; the columns are "
                f"{some(table.columns or ())}. Say where such joints are held (`missing`, --missing default)"
            )
        row = robot.as_cfg(missing).copy()
        found.notes.append("held: " + ", ".join(f"{robot.joint_names[k]} at {row[k]:.4g}" for k in held))
    given = sorted(found.joints)
    use = [found.joints[k] for k in given] + [column for column, _ in found.times]
    values, lines = _all_rows(table, use)
    cfgs = np.tile(row, (len(values), 1))
    cfgs[:, given] = values[:, : len(given)]
    if degrees:
        turning = [k for k in given if robot.tree.actuated[k].type != "prismatic"]
        cfgs[:, turning] = np.radians(cfgs[:, turning])
    times = None
    if found.times:
        times = values[:, len(given) :] @ np.array([unit for _, unit in found.times])
        times = frozen(_in_order(times, table, lines, found))
    notes = (*table.notes, *found.notes)
    return Configurations(
        table.source, robot.joint_names, frozen(cfgs), times, frozen(lines), table.unit, notes
    )


def _all_rows(table: Table, use: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    blocks: list[np.ndarray] = []
    lines: list[np.ndarray] = []
    count = 0
    for values, numbers in table.read(use):
        blocks.append(values)
        lines.append(numbers)
        count += values.size
        if count > MAX_NUMBERS:
            raise FormatError(f"{table.source}: more than {MAX_NUMBERS:,} numbers; cut it into several files")
    if not blocks:
        raise FormatError(f"{table.source}: it holds no rows")
    return np.concatenate(blocks), np.concatenate(lines).astype(np.int64)


def _in_order(times: np.ndarray, table: Table, lines: np.ndarray, found: Columns) -> np.ndarray:
    """Times in seconds; refuses those that go back."""
    largest = float(np.abs(times).max())
    for beyond, unit, name in () if found.unit_known else CLOCKS:
        if largest > beyond:
            found.notes.append(f"times are so large that they are taken as {name}")
            times = times * unit
            break
    back = np.flatnonzero(np.diff(times) < 0.0)
    if len(back):
        k = int(back[0])
        raise FormatError(
            f"{table.where(int(lines[k + 1]))}: time goes back from {times[k]:.6f} to {times[k + 1]:.6f} s; a file "
            "holds one motion, its rows in order (write each episode to a file of its own)"
        )
    return times
