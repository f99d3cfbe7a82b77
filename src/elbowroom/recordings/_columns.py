"""Which column of a table is which joint, and which is the time.

Joints are found by name: the name itself, or as one part of a longer one, as recorders write it
(`/joint_states/panda_joint1/position` of PlotJuggler, `observation.state.shoulder_pan` of LeRobot). Columns that name
no joint but are numbered (`observation.state.0`, `q1`) and columns without names are taken in the order of the robot's
joints. The notes name every column that is skipped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..errors import FormatError, InputError
from ..robot import Robot
from ._table import Table

TIMES = ("time", "__time", "times", "timestamp", "timestamps", "t", "seconds", "stamp", "time_from_start")
"""Column names that mean time; with a unit behind, such as `time_ms`, in that unit."""
UNITS = {"": 1.0, "_s": 1.0, "_sec": 1.0, "_ms": 1e-3, "_us": 1e-6, "_ns": 1e-9}
NOT_POSITIONS = {
    *("velocity", "velocities", "vel", "effort", "efforts", "torque", "torques"),
    *("accel", "acceleration", "accelerations", "current", "temperature"),
}
"""Parts of a column name that say that it holds something else than the joint's position."""
SHOWN = 8
"""Names listed in a message."""


@dataclass
class Columns:
    """Which column of a table is what."""

    joints: dict[int, int] = field(default_factory=dict[int, int])
    """Entry of the configuration -> column."""
    times: list[tuple[int, float]] = field(default_factory=list[tuple[int, float]])
    """Columns that add up to the time, each with its unit in seconds."""
    unit_known: bool = False
    notes: list[str] = field(default_factory=list[str])


def match_columns(table: Table, robot: Robot, prefix: str, time_column: str | int | None) -> Columns:
    """Tells joints and time apart.

    Raises:
        FormatError, InputError: the columns do not fit the robot; see `read_configurations`.
    """
    found = Columns()
    if table.columns is None:
        return _by_order(table, robot, found, time_column)
    names = table.columns
    twice = [name for name, count in Counter(names).items() if name and count > 1]
    if twice:
        raise FormatError(f"{table.source}: columns of the same name: {some(twice)}")
    _find_times(table, found, time_column)
    timing = {column for column, _ in found.times}
    looked_at = [k for k in range(len(names)) if k not in timing and names[k].startswith(prefix)]
    if prefix and not looked_at:
        raise InputError(f"{table.source}: no column starts with {prefix!r}; there are {some(names)}")
    known = {name: k for k, name in enumerate(robot.joint_names)}
    for column in looked_at:
        joint = _joint_of(names[column], known)
        if joint is None:
            continue
        other = found.joints.setdefault(known[joint], column)
        if other != column and names[column] == joint:
            found.joints[known[joint]] = column  # the bare name wins over a longer one
        elif other != column and names[other] != joint:
            raise InputError(
                f"{table.source}: both {names[other]!r} and {names[column]!r} hold joint {joint}; choose by the "
                "beginning of the name (`columns`, --columns)"
            )
    if not found.joints:
        _by_number(table, robot, found, looked_at)
    used = {*found.joints.values(), *timing}
    left = [name for k, name in enumerate(names) if k not in used]
    if left:
        found.notes.append(f"columns left out: {some(left)}")
    return found


def _by_order(table: Table, robot: Robot, found: Columns, time_column: str | int | None) -> Columns:
    """Columns without names: the robot's joints in order, and the time in the column that was named."""
    columns = list(range(table.width))
    if isinstance(time_column, int) or (time_column or "").isdigit():
        k = int(time_column or 0)
        if not 1 <= k <= table.width:
            raise InputError(
                f"{table.source}: there is no column {k} to take the time from; there are {table.width}"
            )
        columns.remove(k - 1)
        found.times = [(k - 1, 1.0)]
    elif time_column is not None:
        raise InputError(
            f"{table.source}: its columns have no names, so none is {time_column!r}; give its number"
        )
    if len(columns) != robot.dof:
        hint = "; is one of them the time? Say which (`time_column`, --time-column 1)"
        raise FormatError(
            f"{table.source}: {len(columns)} columns without names, where {robot.name} has {robot.dof} joints "
            f"({some(robot.joint_names)}){hint if len(columns) == robot.dof + 1 else '; name them in a header'}"
        )
    found.joints = dict(enumerate(columns))
    found.notes.append(f"joints by order: {some(robot.joint_names, len(robot.joint_names))}")
    return found


def _by_number(table: Table, robot: Robot, found: Columns, looked_at: Sequence[int]) -> None:
    """Columns that are numbered, as many as the robot has joints: in the robot's order."""
    names = table.columns or ()
    stems: dict[str, list[tuple[int, int]]] = {}
    for column in looked_at:
        match = re.fullmatch(r"(.*?)[._\[]?(\d+)\]?", names[column])
        if match:
            stems.setdefault(match[1], []).append((int(match[2]), column))
    fitting = {
        stem: sorted(entries)
        for stem, entries in stems.items()
        if len(entries) == robot.dof
        and [k for k, _ in sorted(entries)] in ([*range(robot.dof)], [*range(1, robot.dof + 1)])
    }
    if len(fitting) > 1:
        raise InputError(
            f"{table.source}: {some(list(fitting))} could each be the joints of {robot.name}; choose one by the "
            "beginning of the name (`columns`, --columns)"
        )
    if not fitting:
        raise InputError(
            f"{table.source}: no column names a joint of {robot.name}; the joints are {some(robot.joint_names)}, the "
            f"columns {some(names)}"
        )
    stem, entries = next(iter(fitting.items()))
    found.joints = {k: column for k, (_, column) in enumerate(entries)}
    found.notes.append(f"joints by order, from {stem!r}: {some(robot.joint_names, len(robot.joint_names))}")


def _joint_of(column: str, joints: dict[str, int]) -> str | None:
    """The joint whose position a column holds, by the parts of its name."""
    if column in joints:
        return column
    parts = [part for part in re.split(r"[/.:\[\]\s]+", column) if part]
    if any(part.lower() in NOT_POSITIONS for part in parts):
        return None
    bare = {part.removesuffix("_position").removesuffix("_pos") for part in parts}
    found = [joint for joint in {*parts, *bare} if joint in joints]
    return found[0] if len(found) == 1 else None


def _find_times(table: Table, found: Columns, time_column: str | int | None) -> None:
    """The column of the time: the one that was named, else the first of `TIMES`, else sec and nanosec."""
    names = list(table.columns or ())
    if time_column is not None:
        if isinstance(time_column, int) or (time_column.isdigit() and time_column not in names):
            column = int(time_column) - 1
        else:
            column = names.index(time_column) if time_column in names else -1
        if not 0 <= column < len(names):
            raise InputError(
                f"{table.source}: no column {time_column!r} to take the time from; there are {some(names)}"
            )
        found.times, found.unit_known = [(column, 1.0)], True
        return
    last = [re.split(r"[/.\s]+", name.strip().lower())[-1] for name in names]
    for wanted in TIMES:
        for suffix, unit in UNITS.items():
            if f"{wanted}{suffix}" in last:
                found.times = [(last.index(f"{wanted}{suffix}"), unit)]
                found.unit_known = bool(suffix)
                return
    for whole, rest in (("sec", "nanosec"), ("secs", "nsecs")):
        if whole in last and rest in last:
            found.times = [(last.index(whole), 1.0), (last.index(rest), 1e-9)]
            return


def some(names: Sequence[str], most: int = SHOWN) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(str, names[:most])) + more
