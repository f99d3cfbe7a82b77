"""Joints that break a rule, mended where other loaders let them pass.

The mended joint can do all that the described one may have meant: a joint that follows nothing moves by itself, one
without limits turns freely. Each is said in a note; `load_robot(strict=True)` refuses them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .._frozen import frozen
from ._types import MOVING, Joint, Note

TINY_AXIS = 1e-9
"""An axis shorter than this has no direction."""

Mended = tuple[Joint, str] | None
"""A joint and what was done to it, or nothing where the rule is kept."""


def mend_joints(joints: Sequence[Joint]) -> tuple[list[Joint], list[Note]]:
    """The joints with usable axes, couplings and limits, and what was done to them."""
    result, notes = list(joints), list[Note]()
    for rule in (_axis, _coupling, _velocity, _order, _bounds):  # a joint that was freed needs bounds
        for i, joint in enumerate(result):
            mended = rule(joint, result) if joint.type in MOVING else None
            if mended is not None:
                result[i] = mended[0]
                notes.append(Note("mended", joint.name, mended[1]))
    return result, notes


def _axis(joint: Joint, joints: Sequence[Joint]) -> Mended:
    if not np.linalg.norm(joint.axis) < TINY_AXIS:
        return None
    held = replace(joint, type="fixed", axis=frozen(np.array([1.0, 0.0, 0.0])), coupling=None)
    return held, "its axis is zero, so it cannot move; it is held at 0"


def _coupling(joint: Joint, joints: Sequence[Joint]) -> Mended:
    """Follows the couplings from a joint on: they must end at a joint that moves by itself."""
    if joint.coupling is None:
        return None
    by_name = {other.name: other for other in joints if other.type in MOVING}
    driver = joint.coupling.driver
    fault = ""
    if driver not in by_name:
        fixed = any(other.name == driver for other in joints)
        fault = f"{driver!r}, which does not {'move' if fixed else 'exist'}"
    chain, current = [joint.name], by_name.get(driver)
    while not fault and current is not None and current.coupling is not None:
        if current.name in chain:
            fault = f"itself: {' -> '.join([*chain, current.name])}"
        chain.append(current.name)
        current = by_name.get(current.coupling.driver)
    return (replace(joint, coupling=None), f"it mimics {fault}; it moves by itself") if fault else None


def _velocity(joint: Joint, joints: Sequence[Joint]) -> Mended:
    if not joint.velocity < 0:
        return None
    return replace(
        joint, velocity=-joint.velocity
    ), f"its velocity limit {joint.velocity:g} is read without its sign"


def _order(joint: Joint, joints: Sequence[Joint]) -> Mended:
    if not joint.lower > joint.upper:
        return None
    swapped = replace(joint, lower=joint.upper, upper=joint.lower)
    return swapped, f"its limits {joint.lower:g} to {joint.upper:g} are the wrong way round; they are swapped"


def _bounds(joint: Joint, joints: Sequence[Joint]) -> Mended:
    """A joint that moves by itself needs limits; one that turns and has none turns freely."""
    if joint.coupling is not None or not math.isinf(joint.upper - joint.lower):
        return None
    if joint.type == "prismatic":
        return joint, "nothing limits how far it slides; give it limits to sample its range"
    if math.isinf(joint.lower) and math.isinf(joint.upper):
        return replace(
            joint, type="continuous", lower=-math.pi, upper=math.pi
        ), "nothing limits it; it turns freely"
    lower = joint.upper - math.tau if math.isinf(joint.lower) else joint.lower
    upper = lower + math.tau
    return replace(joint, lower=lower, upper=upper), "one of its limits is infinite; it gets one full turn"
