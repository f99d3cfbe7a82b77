"""Messages of `elbowroom ik --serve`: JSON objects, one per line, each with a `type`.

What comes in is read strictly: no NaN, no unknown keys, bounded size, names that exist; anything else is an
`InputError` whose text is the answer. Nothing in a message is ever executed or opened. What goes out is made by
`encode`, in which infinities become null. docs/guide/ik-serve.md lists all fields.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from .._files import plain
from .._text import short
from ..errors import InputError, UnknownJointError, UnknownLinkError, unknown
from ..ik import AxisTarget, LookAt, PoseTarget, PositionTarget, Target
from ..robot import Robot
from ._xr import XrState, number_of, numbers_of, object_of, truth_of, xr_state

MOST_BYTES = 256 * 1024
"""Of one message; two tracked hands with all joints need 15,000."""
KINDS = ("target", "clutch", "reset", "stop", "end", "xr_state")
WEIGHTS = ("position_weight", "orientation_weight")
TARGET_KEYS: tuple[tuple[frozenset[str], frozenset[str], Any], ...] = (
    (frozenset({"pose"}), frozenset(WEIGHTS), PoseTarget),
    (frozenset({"position", "wxyz"}), frozenset(WEIGHTS), PoseTarget),
    (frozenset({"position"}), frozenset({"point", "position_weight"}), PositionTarget),
    (frozenset({"direction"}), frozenset({"axis", "orientation_weight"}), AxisTarget),
    (frozenset({"look_at"}), frozenset({"axis", "orientation_weight"}), LookAt),
)
"""Keys that a target must have, those that it may have, and what it is."""


@dataclass(frozen=True)
class Follow:
    """Targets of links, in the world. Links that are not named keep the target that they have."""

    targets: Mapping[str, Target]
    stamp: float | None = None
    """Seconds on a clock of the sender that never goes back; None: every message is news."""
    clutch: bool | None = None
    """Whether the robot is to follow from now on; None leaves it as it is."""


@dataclass(frozen=True)
class Clutch:
    """Whether targets are followed; while they are not, the robot brakes and stands."""

    engaged: bool


@dataclass(frozen=True)
class Reset:
    """Where the robot really is: the next tick starts there, at rest."""

    values: Mapping[str, float]
    """Joint -> rad or m; joints that are not named stay where they are."""


@dataclass(frozen=True)
class Stop:
    """Brake, forget all targets."""


@dataclass(frozen=True)
class End:
    """Brake, then leave."""


Message = Follow | Clutch | Reset | Stop | End | XrState


def read_message(text: str | bytes, robot: Robot, links: tuple[str, ...]) -> Message:
    """A message from its line.

    Args:
        text: one JSON object.
        robot: whose joints a `reset` names.
        links: those that may have targets.

    Raises:
        InputError: not JSON, not a message, or one with a value that makes no sense; UnknownNameError: a name.
    """
    found = object_of(_loaded(text), "a message")
    kind = found.pop("type", None)
    if kind not in KINDS:
        raise InputError(f"type: expected one of {', '.join(KINDS)}, found {short(kind)}")
    if kind == "xr_state":  # others add keys of their own to these
        return xr_state(found.get("data", found))
    message = _READ[kind](found, robot, links)
    if found:
        raise InputError(f"{kind}: unknown keys {', '.join(map(short, list(found)[:4]))}")
    return message


def encode(message: Mapping[str, Any]) -> str:
    """A message as one line without its end; arrays become lists, infinities null."""
    try:
        return json.dumps(message, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError):  # not plain yet: rare, and ten times slower
        return json.dumps(plain(message), allow_nan=False, separators=(",", ":"))


def target_from_json(link: str, value: Any) -> Target:
    """A target of a link, as messages and files give it.

    Args:
        link: its name.
        value: a pose as 7 numbers wxyz_xyz or 4 rows of 4, a position as 3 numbers, or an object with `position` and
            `wxyz`, `position` (and `point`), `direction` (and `axis`) or `look_at` (and `axis`), and weights.

    Raises:
        InputError: none of these.
    """
    what = f"target of {link!r}"
    if isinstance(value, list):
        return _from_numbers(link, numbers_of(value, what))
    entries = object_of(value, what)
    given = frozenset(map(str, entries))
    kind = next((kind for needed, more, kind in TARGET_KEYS if needed <= given <= needed | more), None)
    if kind is None:
        raise InputError(
            f"{what}: expected position and wxyz, position, direction or look_at, found {short(sorted(given))}"
        )
    weights = {name: number_of(entries.pop(name), f"{what}: {name}") for name in WEIGHTS if name in given}
    values = {name: numbers_of(entry, f"{what}: {name}") for name, entry in entries.items()}
    if "wxyz" in values:
        values = {"pose": _joined(values["wxyz"], values["position"], what)}
    if "look_at" in values:
        values["point"] = values.pop("look_at")
    return kind(link, **values, **weights)


def _from_numbers(link: str, value: np.ndarray) -> Target:
    if value.shape == (3,):
        return PositionTarget(link, value)
    if value.shape in ((7,), (4, 4)):
        return PoseTarget(link, value)
    raise InputError(
        f"target of {link!r}: expected 7 numbers wxyz_xyz, 4 rows of 4, or 3, found shape {value.shape}"
    )


def _follow(entries: dict[str, Any], robot: Robot, links: tuple[str, ...]) -> Follow:
    targets = object_of(entries.pop("targets", None), "target: targets")
    if not targets:
        raise InputError("target: targets is empty; expected {link: pose}")
    for link in targets:
        if link not in links:
            raise UnknownLinkError(f"target: {unknown('followed link', link, links)}")
    stamp, clutch = entries.pop("stamp", None), entries.pop("clutch", None)
    return Follow(
        {link: target_from_json(link, value) for link, value in targets.items()},
        None if stamp is None else number_of(stamp, "target: stamp"),
        None if clutch is None else truth_of(clutch, "target: clutch"),
    )


def _clutch(entries: dict[str, Any], robot: Robot, links: tuple[str, ...]) -> Clutch:
    return Clutch(truth_of(entries.pop("engaged", None), "clutch: engaged"))


def _reset(entries: dict[str, Any], robot: Robot, links: tuple[str, ...]) -> Reset:
    cfg = entries.pop("cfg", None)
    if isinstance(cfg, list):
        values = robot.as_cfg(numbers_of(cfg, "reset: cfg"))
        return Reset(dict(zip(robot.joint_names, values.tolist(), strict=True)))
    values = object_of(cfg, "reset: cfg")
    for name in values:
        if name not in robot.joint_names:
            raise UnknownJointError(f"reset: {unknown('actuated joint', name, robot.joint_names)}")
    return Reset({name: number_of(value, f"reset: {name}") for name, value in values.items()})


_READ: dict[str, Any] = {
    "target": _follow,
    "clutch": _clutch,
    "reset": _reset,
    "stop": lambda *_: Stop(),
    "end": lambda *_: End(),
}


def _loaded(text: str | bytes) -> Any:
    if len(text) > MOST_BYTES:
        raise InputError(f"a message of {len(text)} bytes; at most {MOST_BYTES} are read")
    try:
        return json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError) as error:  # bad UTF-8 is a ValueError, too
        raise InputError(f"not JSON: {short(str(error))}") from None


def _refused(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number of JSON")


def _joined(wxyz: np.ndarray, position: np.ndarray, what: str) -> np.ndarray:
    if wxyz.shape != (4,) or position.shape != (3,):
        raise InputError(f"{what}: expected 3 numbers as position and 4 as wxyz")
    return np.concatenate([wxyz, position])
