"""PathProof: what is known of a path, all of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from .._brief import brief
from .._frozen import Frozen
from .._text import number, proved_room


@brief
@dataclass(frozen=True, eq=False)
class PathProof(Frozen):
    """Whether a path is free between its waypoints too, and with what margin, or where it is not."""

    free: bool
    """Proved: nowhere on the path, nor within `slack` of it, does anything checked come closer than the buffer."""
    margin: float
    """Proved lower bound of the clearance on the whole path, metres, the buffer included; not meaningful unless
    free."""
    blocked_at: float | None
    """Place on the path: 2.25 is a quarter of the way from waypoint 2 to waypoint 3. None when free."""
    time: float | None
    """Seconds at that place where the path has times."""
    by: tuple[str, str] | None
    """Who touches there, or could not be decided: two links, or a link and an obstacle."""
    distance: float | None
    """Measured there, metres; negative is depth. None when free."""
    decided: bool
    """False where neither a proof nor a collision was found: too close to touching. Then `free` is False."""
    slack: Float[np.ndarray, "dof"]
    """How far each joint may be off the path (rad, m) with the proof still holding."""
    segments: int
    """Straight pieces looked at."""
    seconds: float
    refused: str = ""
    """A sentence on what is not free."""

    @property
    def why(self) -> str:
        """A sentence."""
        if not self.free:
            return self.refused
        return f"free: {proved_room(self.margin)} on the whole path{_slack_text(self.slack)}"

    def __bool__(self) -> bool:
        return self.free

    def __str__(self) -> str:
        return self.why

    @classmethod
    def of_free(
        cls, margin: float, slack: Float[np.ndarray, "dof"], segments: int, seconds: float
    ) -> PathProof:
        """Of a path that is free."""
        return cls(True, margin, None, None, None, None, True, slack, segments, seconds)


def _slack_text(slack: Float[np.ndarray, "dof"]) -> str:
    """How far joints may be off the path: all of them by the same, or each by its own."""
    if not slack.any():
        return ""
    each = "" if (slack == slack.max()).all() else ", each within its own slack"
    return f", joints up to {number(float(slack.max()))} off it{each}"
