"""Angle commands of the Inspire RH56: controls in rad to its registers and back.

The hand takes six angles at Modbus holding registers `ANGLE_SET` to `ANGLE_SET` + 5 and reports them at `ANGLE_ACT`:
little finger, ring, middle, index, thumb bend, thumb rotation, each from 0 (closed; the thumb turned in) to 1000
(open). Addresses, order and direction are those of public drivers: Unitree's inspire_hand_ws
(`write_registers(1486, angle_set)`, `angle_act` at 1546), TechShare-inc/inspire_demos (open is six times 1000, closed
six times 0) and correlllab/rh56_controller, which also has the scale, 1000 * (1 - (ctrl - lower) / (upper - lower)).
The maker's RH56 manual V1.09, as WiseZenn/pyrh56 quotes it, allows -1 too, "no action"; it is never sent from here.

That the angle is linear in the counts, and that the ends are those of the model's control ranges, is an assumption of
those drivers and ours: the maker states no angles per finger. `Hand.registers` holds the ends; give measured ones with
`dataclasses.replace(hand, registers=...)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, cast

import numpy as np
from jaxtyping import Float

from ..errors import InputError, shape_text

ANGLE_SET = 1486
"""First of six holding registers for the angles to go to."""
ANGLE_ACT = 1546
"""First of six holding registers with the angles as they are."""
COUNTS = 1000
"""Open; closed is 0."""
OUTSIDE = 0.5
"""Counts by which a control may leave the scale; it is rounded to the end."""

Scale = Mapping[str, tuple[float, float]]
"""Control at 1000 and at 0 by actuator, in the order of the registers."""


def to_registers(
    hand: str, actuators: Sequence[str], scale: Scale, ctrl: Float[np.ndarray, "actuators"]
) -> tuple[int, ...]:
    """Angle commands of a control; names are for messages and order."""
    _check_scale(hand, actuators, scale)
    if ctrl.ndim != 1:
        raise InputError(f"{hand}: registers are of one control, found {shape_text(ctrl)}")
    values: list[int] = []
    for name, (opened, closed) in scale.items():
        value = float(ctrl[actuators.index(name)])
        counts = COUNTS * (value - closed) / (opened - closed)
        if not -OUTSIDE <= counts <= COUNTS + OUTSIDE:
            raise InputError(
                f"{hand}: {name} at {value:.4f} rad is outside the scale of its register, "
                f"{opened:.4f} (1000, open) to {closed:.4f} rad (0, closed)"
            )
        values.append(min(max(round(counts), 0), COUNTS))
    return tuple(values)


def from_registers(
    hand: str, actuators: Sequence[str], scale: Scale, values: Iterable[int]
) -> Float[np.ndarray, "actuators"]:
    """The control of angle commands or readings."""
    _check_scale(hand, actuators, scale)
    order = ", ".join(scale)
    try:
        found = list(values)
    except TypeError:
        found = []
    if len(found) != len(scale):
        raise InputError(f"{hand}: expected {len(scale)} register values ({order}), found {values!r:.60}")
    ctrl = np.empty(len(actuators))
    for (name, (opened, closed)), value in zip(scale.items(), found, strict=True):
        whole = isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))
        if not whole or not 0 <= value <= COUNTS:
            raise InputError(
                f"{hand}: register of {name}: expected a whole number from 0 (closed) to {COUNTS} (open), "
                f"found {value!r:.40}"
            )
        ctrl[actuators.index(name)] = closed + (opened - closed) * (int(value) / COUNTS)
    return ctrl


def _check_scale(hand: str, actuators: Sequence[str], scale: Any) -> None:
    """Refuses a scale that is not one; it may have been given by the user in place of the hand's own."""
    if not isinstance(scale, Mapping):
        raise InputError(
            f"{hand}: registers must be a mapping from actuators to the control at 1000 and at 0, found {scale!r:.60}"
        )
    if not scale:
        raise InputError(
            f"{hand}: it has no angle registers; they are known for the RH56 (rh56, rh56_left and files of that hand)"
        )
    named = cast("Mapping[Any, Any]", scale)
    if set(named) != set(actuators):
        raise InputError(
            f"{hand}: registers must name every actuator once ({', '.join(actuators)}), "
            f"found {', '.join(map(str, named))}"
        )
    for name, ends in named.items():
        if not _two_ends(ends):
            raise InputError(
                f"{hand}: register of {name}: expected the control at 1000 and at 0, two different numbers, "
                f"found {ends!r:.60}"
            )


def _two_ends(ends: Any) -> bool:
    """Whether it is a pair of different finite numbers, in order."""
    if not isinstance(ends, (Sequence, np.ndarray)):
        return False
    try:
        opened, closed = cast("Any", ends)
    except (TypeError, ValueError):
        return False
    numbers = all(isinstance(end, Real) and np.isfinite(float(end)) for end in (opened, closed))
    return numbers and opened != closed
