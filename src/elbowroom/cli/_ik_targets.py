"""Targets of `elbowroom ik`: from the words of the command line, or many of them from a file."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._poses import quaternion_from_rotation
from .._text import read_text, short
from ..errors import ElbowroomError, FormatError, InputError, UnknownLinkError, unknown
from ..ik import PoseTarget, PositionTarget, Target
from ..remote.internal import target_from_json

if TYPE_CHECKING:
    from ..robot import Robot

USAGE = "LINK x y z, LINK x y z qw qx qy qz, or with --rpy LINK x y z roll pitch yaw"
PLACE, QUATERNION, ANGLES = ("x", "y", "z"), ("qw", "qx", "qy", "qz"), ("roll_deg", "pitch_deg", "yaw_deg")
MOST_ROWS = 1_000_000


@dataclass(frozen=True)
class TargetRows:
    """Sets of targets, each with its place in the file."""

    rows: tuple[tuple[Target, ...], ...]
    places: tuple[str, ...]


def targets_from_words(
    words: Sequence[str], robot: Robot, rpy: bool, flag: str = "--target"
) -> tuple[Target, ...]:
    """Targets from words: each begins with the name of a link, numbers follow.

    Args:
        words: all that was given with the flag.
        robot: whose links they are.
        rpy: orientations are roll, pitch and yaw in degrees instead of quaternions.
        flag: for messages.

    Raises:
        InputError: other numbers of numbers. UnknownLinkError: no such link.
    """
    groups: list[tuple[str, list[float]]] = []
    for word in words:
        value = None if word in robot.link_names else _number(word)
        if value is None:
            groups.append((word, []))
        elif not groups:
            raise InputError(f"{flag}: expected {USAGE}; found the number {word} first")
        else:
            groups[-1][1].append(value)
    return tuple(_target(link, numbers, robot, rpy, flag) for link, numbers in groups)


def _target(link: str, numbers: list[float], robot: Robot, rpy: bool, flag: str) -> Target:
    if link not in robot.link_names:
        raise UnknownLinkError(f"{flag}: {unknown('link', link, robot.link_names)}")
    if len(numbers) == 3:
        return PositionTarget(link, np.array(numbers))
    if len(numbers) == 7 and not rpy:
        return PoseTarget(link, np.array(numbers[3:] + numbers[:3]))
    if len(numbers) == 6 and rpy:
        return PoseTarget(link, np.concatenate([_from_angles(*numbers[3:]), numbers[:3]]))
    hint = "; --rpy takes three angles" if len(numbers) == 6 else ""
    raise InputError(f"{flag} {link}: expected {USAGE}; found {len(numbers)} numbers{hint}")


def _from_angles(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Quaternion wxyz of angles in degrees about the fixed axes x, y and z, in this order, as URDF has it."""
    (ca, cb, cc), (sa, sb, sc) = (f(np.radians([roll, pitch, yaw])) for f in (np.cos, np.sin))
    x = np.array([[1.0, 0.0, 0.0], [0.0, ca, -sa], [0.0, sa, ca]])
    y = np.array([[cb, 0.0, sb], [0.0, 1.0, 0.0], [-sb, 0.0, cb]])
    z = np.array([[cc, -sc, 0.0], [sc, cc, 0.0], [0.0, 0.0, 1.0]])
    return quaternion_from_rotation(z @ y @ x)


def read_targets(path: Path, robot: Robot, links: Sequence[str]) -> TargetRows:
    """Many sets of targets.

    A CSV file has a header with columns LINK.x LINK.y LINK.z and, for poses, LINK.qw ... LINK.qz or LINK.roll_deg ...
    LINK.yaw_deg; without LINK, the only one of `links` or what a column `link` says. JSON is a list of {link: target},
    or one of them a line.

    Raises:
        FormatError: the file is something else, with the place. InputError, UnknownLinkError: likewise of its values.
    """
    name = "standard input" if str(path) == "-" else path.name
    text = sys.stdin.read() if str(path) == "-" else read_text(path)
    if text.lstrip()[:1] in ("[", "{"):
        entries = _json_entries(text, str(path))
    else:
        entries = _csv_entries(text, str(path), links)
    rows: list[tuple[Target, ...]] = []
    places: list[str] = []
    for place, entry in entries:
        if len(rows) == MOST_ROWS:
            raise FormatError(f"{path}: more than {MOST_ROWS:,} sets of targets")
        try:
            rows.append(_row(entry, robot))
        except ElbowroomError as error:
            raise type(error)(f"{path}: {place}: {error}") from error
        places.append(f"{name}:{place.split()[-1]}")
    if not rows:
        raise FormatError(f"{path}: there are no targets in it")
    return TargetRows(tuple(rows), tuple(places))


def _row(entry: Any, robot: Robot) -> tuple[Target, ...]:
    if not isinstance(entry, Mapping) or not entry:
        raise FormatError(f"expected {{link: target}}, found {short(entry)}")
    for link in entry:  # pyright: ignore[reportUnknownVariableType]
        if link not in robot.link_names:
            raise UnknownLinkError(unknown("link", str(link), robot.link_names))  # pyright: ignore[reportUnknownArgumentType]
    return tuple(target_from_json(str(link), value) for link, value in entry.items())  # pyright: ignore


def _json_entries(text: str, where: str) -> Iterable[tuple[str, Any]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        lines = [(k, line) for k, line in enumerate(text.splitlines(), 1) if line.strip()]
        for k, line in lines:
            try:
                yield f"line {k}", json.loads(line)
            except (ValueError, RecursionError) as error:
                raise FormatError(f"{where}: line {k}: not JSON: {short(str(error))}") from None
    else:
        listed: list[Any] = found if isinstance(found, list) else [found]
        yield from ((f"entry {k}", entry) for k, entry in enumerate(listed, 1))


def _csv_entries(text: str, where: str, links: Sequence[str]) -> Iterable[tuple[str, Any]]:
    header, *lines = [(k, row) for k, row in enumerate(csv.reader(text.splitlines()), 1) if any(row)] or [
        (0, [])
    ]
    names = [name.strip() for name in header[1]]
    groups = _csv_groups(names, where, links)
    for k, row in lines:
        if len(row) != len(names):
            raise FormatError(f"{where}: line {k}: expected {len(names)} columns, found {len(row)}")
        entry: dict[str, Any] = {}
        for link, columns in groups.items():
            values = {part: _number(row[column]) for part, column in columns.items()}
            wrong = next((names[columns[part]] for part, value in values.items() if value is None), None)
            if wrong is not None:
                raise FormatError(f"{where}: line {k}: {wrong}: expected a number")
            own = row[names.index("link")].strip() if link == "" else link
            entry[own] = _csv_target(values)
        yield f"line {k}", entry


def _csv_groups(names: Sequence[str], where: str, links: Sequence[str]) -> dict[str, dict[str, int]]:
    """Link -> part of its target -> column; the link is empty where a column tells it."""
    parts = (*PLACE, *QUATERNION, *ANGLES)
    groups: dict[str, dict[str, int]] = {}
    for column, name in enumerate(names):
        link, _, part = name.rpartition(".")
        if part in parts:
            groups.setdefault(link, {})[part] = column
    if "" in groups and "link" not in names:
        if len(links) != 1:
            raise FormatError(f"{where}: the header names no link; --link LINK tells whose targets these are")
        groups[links[0]] = groups.pop("")
    allowed = [{*PLACE}, {*PLACE, *QUATERNION}, {*PLACE, *ANGLES}]
    for link, columns in groups.items():
        if set(columns) not in allowed:
            raise FormatError(
                f"{where}: {link or 'header'}: expected x y z, and qw qx qy qz or {' '.join(ANGLES)}"
            )
    if not groups:
        raise FormatError(
            f"{where}: expected a header such as LINK.x,LINK.y,LINK.z, found {short(list(names))}"
        )
    return groups


def _csv_target(values: Mapping[str, Any]) -> list[float]:
    """As `target_from_json` takes it."""
    place = [values[part] for part in PLACE]
    if "roll_deg" in values:
        return [*_from_angles(*(values[part] for part in ANGLES)).tolist(), *place]
    return [*(values[part] for part in QUATERNION if part in values), *place]


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None
