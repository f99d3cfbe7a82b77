"""Where a motion of `elbowroom plan` begins and ends: numbers, names, files, or the place of a link."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import read_text
from ..errors import ElbowroomError, FormatError, InputError, UnknownNameError, unknown
from ._cfg_options import in_radians, named
from ._ik_targets import read_targets, targets_from_words

if TYPE_CHECKING:
    from ..collision import CollisionModel
    from ..robot import Robot


def configuration(model: CollisionModel, words: Sequence[str], flag: str, degrees: bool) -> np.ndarray:
    """The one configuration (dof,) that words name.

    Raises:
        InputError: another number of numbers or configurations. UnknownNameError: neither a name nor a file.
    """
    found = configurations(model, words, flag, degrees, None)
    if len(found) != 1:
        raise InputError(f"{flag}: expected one configuration, found {len(found)}")
    return found[0]


def goal_of(model: CollisionModel, words: Sequence[str], start: np.ndarray, degrees: bool, rpy: bool) -> Any:
    """What --goal says, as `plan_motion` takes it: configurations (g, dof), or targets of links."""
    robot = model.robot
    if words[0] in robot.link_names and words[0] not in _names(robot):
        return targets_from_words(words, robot, rpy, "--goal")
    if rpy:
        raise InputError("--rpy has no effect here: no link is named in --goal")
    if len(words) == 1 and _of_links(Path(words[0]), robot):
        rows = read_targets(Path(words[0]), robot, ()).rows
        if len(rows) != 1:
            raise InputError(f"--goal {words[0]}: expected one set of targets, found {len(rows)}")
        return rows[0]
    found = configurations(model, words, "--goal", degrees, start)
    return found[0] if len(found) == 1 else found


def configurations(
    model: CollisionModel, words: Sequence[str], flag: str, degrees: bool, missing: np.ndarray | None
) -> np.ndarray:
    """Configurations (n, dof) from words: numbers, one after the other; names; or a file.

    Args:
        model: of the robot; its default pose is the free one.
        words: at least one.
        flag: for messages.
        degrees: angles are degrees, in files too.
        missing: (dof,) where joints are that a file leaves out; None refuses.
    """
    from ..robot import read_configurations

    robot = model.robot
    numbers = _numbers(words)
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
            hint = "; a file of that name is not there either" if "." in word or "/" in word else ""
            raise UnknownNameError(f"{flag}: {unknown('named configuration', word, _names(robot))}{hint}")
    return np.stack([named(model, word)[1] for word in words])


def _numbers(words: Sequence[str]) -> list[float] | None:
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
            raise InputError(f"expected a number after {words[len(found) - 1]}, found {word!r}") from None
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
