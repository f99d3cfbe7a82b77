"""Joints held still at values that the caller gives: a gripper kept open, a lift that is never used.

A held joint becomes a fixed one where that value puts its child, and so does every joint that follows it. Its links
stay part of the robot, with their geometry; configurations, limits and named configurations are without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..._frozen import frozen
from ..._text import number, short
from ...errors import InputError, UnknownJointError, unknown
from .._types import Joint, Note, joint_motion

LIMIT_SLACK = 1e-9
"""How far beyond a limit a value still counts as on it, rad or m."""


def hold_joints(joints: Sequence[Joint], hold: Any) -> tuple[list[Joint], list[Note]]:
    """The joints of a description with some of them fixed, and a note on each.

    Args:
        joints: all of them.
        hold: values of those to be held by name, rad or m.

    Raises:
        UnknownJointError: no actuated joint of that name. InputError: not a map of names to numbers within the limits,
            or a joint that follows another.
    """
    if not isinstance(hold, Mapping):
        raise InputError(f"hold: expected a map of joints to values, found {short(hold)}")
    by_name = {joint.name: joint for joint in joints}
    values = {str(name): _value(by_name, str(name), value) for name, value in hold.items()}
    notes = [Note("fixed", name, f"held at {number(value, 6)} as asked") for name, value in values.items()]
    found = True
    while found:  # what follows a joint that is held is held too
        found = False
        for joint in joints:
            law = joint.coupling
            if law is not None and joint.name not in values and law.driver in values:
                values[joint.name] = float(np.polynomial.polynomial.polyval(values[law.driver], law.polycoef))
                notes.append(
                    Note(
                        "fixed",
                        joint.name,
                        f"held at {number(values[joint.name], 6)}: it follows {law.driver}",
                    )
                )
                found = True
    return [_fixed(joint, values[joint.name]) if joint.name in values else joint for joint in joints], notes


def _value(joints: Mapping[str, Joint], name: str, value: Any) -> float:
    actuated = [joint.name for joint in joints.values() if joint.actuated]
    if name not in actuated:
        law = joints[name].coupling if name in joints else None
        if law is not None:
            raise InputError(f"hold: joint {name!r} follows {law.driver!r}; hold that one")
        raise UnknownJointError(f"hold: {unknown('actuated joint', name, actuated)}")
    plain = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not plain or not np.isfinite(value):
        raise InputError(f"hold: joint {name!r}: expected a finite number (rad or m), found {short(value)}")
    joint = joints[name]
    if joint.type != "continuous" and not joint.lower - LIMIT_SLACK <= value <= joint.upper + LIMIT_SLACK:
        limits = f"from {number(joint.lower)} to {number(joint.upper)}"
        raise InputError(f"hold: joint {name!r}: {number(float(value))} is outside its limits, {limits}")
    return float(value)


def _fixed(joint: Joint, value: float) -> Joint:
    moved = joint.T_parent_joint @ joint_motion(joint.type, joint.axis, value)
    return replace(joint, type="fixed", T_parent_joint=frozen(moved), coupling=None)
