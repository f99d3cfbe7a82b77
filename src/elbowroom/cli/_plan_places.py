"""Where a motion of `elbowroom plan` begins and ends: numbers, names, files, or the place of a link."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import read_text
from ..errors import ElbowroomError, FormatError, InputError, UnknownNameError, unknown
from ..robot import read_configurations
from ..robot.doors import named_poses
from ._cfg_options import in_radians
from ._ik_targets import read_targets, targets_from_words

if TYPE_CHECKING:
    from ..robot import Robot


def places(
    robot: Robot, default: np.ndarray, start: Sequence[str], goal: Sequence[str], *, degrees: bool, rpy: bool
) -> tuple[np.ndarray, Any]:
    """Start (dof,) and goal, as `plan_motion` takes it: configurations, or targets of links.

    Args:
        robot: whose joints and links they are.
        default: (dof,) the configuration of that name.
        start, goal: words of --start and --goal.
        degrees: angles are degrees, in files too.
        rpy: orientations of links are roll, pitch and yaw.

    Raises:
        InputError: other numbers of numbers or of configurations. UnknownNameError: neither a name nor a file.
    """
    begins = _configurations(robot, default, start, "--start", degrees, None)
    if len(begins) != 1:
        raise InputError(f"--start: expected one configuration, found {len(begins)}")
    if goal[0] in robot.link_names and goal[0] not in _names(robot):
        return begins[0], targets_from_words(goal, robot, rpy, "--goal")
    if rpy:
        raise InputError("--rpy has no effect here: no link is named in --goal")
    if len(goal) == 1 and _of_links(Path(goal[0]), robot):
        rows = read_targets(Path(goal[0]), robot, ()).rows
        if len(rows) != 1:
            raise InputError(f"--goal {goal[0]}: expected one set of targets, found {len(rows)}")
        return begins[0], rows[0]
    ends = _configurations(robot, default, goal, "--goal", degrees, begins[0])
    return begins[0], ends[0] if len(ends) == 1 else ends


def _configurations(
    robot: Robot,
    default: np.ndarray,
    words: Sequence[str],
    flag: str,
    degrees: bool,
    missing: np.ndarray | None,
) -> np.ndarray:
    """Configurations (n, dof) from words: numbers, one after the other; names; or a file.

    `missing` (dof,) is where joints are that a file leaves out; None refuses such files.
    """
    numbers = _numbers(words, flag)
    if numbers is not None:
        if not robot.dof or len(numbers) % robot.dof:
            joints = ", ".join(robot.joint_names) or "it has no joints"
            raise InputError(f"{flag} needs {robot.dof} numbers ({joints}), found {len(numbers)}")
        rows = robot.as_cfgs(np.array(numbers).reshape(-1, robot.dof))
        return in_radians(robot, rows) if degrees else rows
    if len(words) == 1 and words[0] not in _names(robot) and Path(words[0]).exists():
        return read_configurations(words[0], robot, degrees=degrees, missing=missing).cfgs
    for word in words:
        if word not in _names(robot):
            hint = "; there is no file of that name either" if "." in word or "/" in word else ""
            raise UnknownNameError(f"{flag}: {unknown('named configuration', word, _names(robot))}{hint}")
    return np.stack([default if word == "default" else named_poses(robot, [word])[0][1] for word in words])


def _numbers(words: Sequence[str], flag: str) -> list[float] | None:
    """The numbers that all words are; None where the first is none.

    Raises:
        InputError: a later one is none.
    """
    found: list[float] = []
    for word in words:
        try:
            found.append(float(word))
        except ValueError:
            if not found:
                return None
            raise InputError(
                f"{flag}: expected a number after {words[len(found) - 1]}, found {word!r}"
            ) from None
    return found


def _names(robot: Robot) -> tuple[str, ...]:
    return ("default", "zero", *robot.named_cfgs)


def _of_links(path: Path, robot: Robot) -> bool:
    """Whether a file is JSON that names links, not joints."""
    try:
        found = json.loads(read_text(path)) if path.suffix.lower() == ".json" else None
    except (ElbowroomError, FormatError, ValueError, RecursionError):
        return False  # what is wrong is said by who reads configurations
    entry = found[0] if isinstance(found, list) and len(found) == 1 else found  # pyright: ignore
    return (
        isinstance(entry, dict)
        and any(key in robot.link_names for key in entry)
        and not any(  # pyright: ignore
            key in robot.joint_names
            for key in entry  # pyright: ignore[reportUnknownVariableType]
        )
    )
