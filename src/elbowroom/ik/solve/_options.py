"""Options of `IkSolver`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...errors import InputError


@dataclass(frozen=True)
class IkOptions:
    """How `IkSolver` searches, and what it calls a success."""

    position_tolerance: float = 1e-4
    """Position error that is accepted, metres."""
    orientation_tolerance: float = 1e-3
    """Error of an orientation, axis or joint target that is accepted, radians."""
    seeds: int = 512
    """Starting points to try per target before giving up, in rounds of sixteen; the nearest entries of the table of
    free configurations come first."""
    iterations: int = 30
    """Steps that one start may take."""
    table: int = 2000
    """Free configurations from which starts are chosen; made once for a solver."""
    rest_weight: float = 0.0
    """Pull towards the rest configuration (the seed if given, otherwise the default pose) within the freedom that the
    targets leave; it never costs a success."""
    manipulability_weight: float = 0.0
    """The same, away from singular configurations."""
    clearance_weight: float = 0.0
    """The same, away from contact."""
    timeout: float = 1.0
    """Seconds after which the best answer so far is returned; one-time setup comes before and does not
    count (`IkResult.setup_seconds`)."""
    seed: int = 0
    """Seed of the table and of all random choices."""

    def __post_init__(self) -> None:
        for name in ("position_tolerance", "orientation_tolerance", "timeout"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0.0):
                raise InputError(f"IkOptions: {name} must be above zero, found {value!r:.40}")
        for name in ("seeds", "iterations", "table"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(f"IkOptions: {name} must be a whole number from 1 up, found {value!r:.40}")
        for name in ("rest_weight", "manipulability_weight", "clearance_weight"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0.0):
                raise InputError(f"IkOptions: {name} must not be negative, found {value!r:.40}")

    @property
    def refines(self) -> bool:
        """Whether an answer is improved by what the targets leave free."""
        return self.rest_weight > 0.0 or self.manipulability_weight > 0.0 or self.clearance_weight > 0.0
