"""Cost: what costs at which step of a trajectory; what every cost accepts, and costs of the user's own making.

A cost takes many trajectories at once and gives a number for each step of each: what a stochastic optimiser compares.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from ..._text import short
from ...errors import InputError, shape_text
from ...robot import Robot

MIN_STEPS = 3
"""Steps of a trajectory at least: fewer have no acceleration."""
MAX_VALUE = 1e5
"""Joint values beyond are refused, as by the verdict: sines are not exact there (rad, m)."""


@runtime_checkable
class Cost(Protocol):
    """What costs at which step of a trajectory."""

    @property
    def name(self) -> str:
        """In reports."""
        ...

    @property
    def weight(self) -> float:
        """Factor that `cost` has applied already."""
        ...

    def cost(self, trajectories: Any, dt: float) -> Float[np.ndarray, "k t"]:
        """Cost of every step, weighted.

        Args:
            trajectories: (k, t, dof) configurations, steps `dt` apart, at least three.
            dt: seconds between steps.
        """
        ...


def checked_weight(what: str, weight: Any) -> float:
    """A weight: a number from 0 up."""
    return checked_number(f"{what}: weight", weight)


def checked_number(what: str, value: Any, least: float = 0.0, unit: str = "") -> float:
    """A finite number that is not below `least`.

    Raises:
        InputError: it is not.
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or not (math.isfinite(number) and number >= least):
        raise InputError(
            f"{what} must be a number{unit and f' of {unit}'} from {least:g} up, found {short(value)}"
        )
    return number


def as_trajectories(robot: Robot, trajectories: Any, dt: float) -> Float[np.ndarray, "k t dof"]:
    """Checks what a cost was given; the answer is contiguous, float64 and read-only.

    Raises:
        InputError: another shape than (k, t, dof), fewer than three steps, NaN, values beyond 1e5, a dt that is not
            above zero.
    """
    try:
        rows = np.ascontiguousarray(trajectories, dtype=np.float64)[...]
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{robot.name}: trajectories must be numbers, found {short(trajectories)}"
        ) from error
    if rows.ndim != 3 or rows.shape[2] != robot.dof or rows.shape[1] < MIN_STEPS:
        raise InputError(
            f"{robot.name}: trajectories must have shape (k, t, {robot.dof}) with at least {MIN_STEPS} steps t, found "
            f"{shape_text(rows)}"
        )
    if rows.size and not (rows.min() >= -MAX_VALUE and rows.max() <= MAX_VALUE):  # NaN is neither
        k, t, _ = (int(i) for i in np.argwhere(~(np.abs(rows) <= MAX_VALUE))[0])
        raise InputError(
            f"{robot.name}: trajectory {k} has NaN, infinite or too large values (beyond {MAX_VALUE:g}) at step {t}"
        )
    if isinstance(dt, bool) or not (math.isfinite(dt) and dt > 0.0):
        raise InputError(f"dt must be seconds above zero, found {short(dt)}")
    rows.setflags(write=False)  # a view: what the caller holds stays writable
    return rows


class FunctionCost:
    """A cost of the user's own making."""

    def __init__(
        self, function: Callable[[Any, float], Any], *, weight: float = 1.0, name: str | None = None
    ) -> None:
        """Takes a function; it is called with all trajectories of an iteration at once.

        Args:
            function: `function(trajectories (k, t, dof), dt) -> (k, t)` costs, finite; it must not change its argument.
            weight: factor.
            name: in reports and messages; the function's own name when omitted.

        Raises:
            InputError: not callable, or the weight is not a number from 0 up.
        """
        if not callable(function):
            raise InputError(f"FunctionCost: expected a function, found {short(function)}")
        self.function = function
        self.name = str(getattr(function, "__name__", type(function).__name__)) if name is None else name
        self.weight = checked_weight(f"cost {self.name!r}", weight)

    def cost(self, trajectories: Any, dt: float) -> Float[np.ndarray, "k t"]:
        """Cost of every step, weighted.

        Raises:
            InputError: the function gave another shape, or NaN or infinity; the message names it.
        """
        rows = np.asarray(trajectories, dtype=np.float64)[...]
        rows.setflags(write=False)
        try:
            found = np.array(self.function(rows, dt), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"cost {self.name!r} failed: {error}") from error
        if found.shape != rows.shape[:2]:
            raise InputError(
                f"cost {self.name!r} must give a number for each step of each trajectory, shape {rows.shape[:2]}, "
                f"found {shape_text(found)}"
            )
        if not np.isfinite(found).all():
            k, t = (int(i) for i in np.argwhere(~np.isfinite(found))[0])
            raise InputError(f"cost {self.name!r} gave {found[k, t]} for step {t} of trajectory {k}")
        return self.weight * found
