"""Options of `SafeStep`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SafeOptions:
    """How steps are chosen; that they are proved does not depend on it."""

    clearance: float = 0.0
    """Metres that everything shall be apart; the buffer of the model counts where it is larger."""
    reach: float = 0.1
    """Metres above the clearance within which things hold a motion back."""
    approach_time: float = 0.05
    """Seconds: nothing is approached faster than its distance divided by this."""
    skin: float = 5e-4
    """Metres at which an approach ends, short of contact: closer, a proof takes longer than a tick. It is no clearance
    that is asked for: what is closer may stay there, and what is wanted and can be proved is never refused."""
    part: float = 0.0
    """Metres below which things are asked to part, as far as the limits let them; 0 never asks."""
