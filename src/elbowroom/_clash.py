"""Clash: two things that touch, or are closest to touching. One value for every engine that finds such a pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True, eq=False)
class Clash:
    """Two links (or a link and an obstacle), how far apart they are and where; world frame.

    `point_b - point_a` is `distance * normal`: between things that are apart these are the closest points; where
    they overlap, moving b by the depth along the normal parts them, and the points are the last to be in touch.
    """

    a: str
    """A link; the names of two links are sorted."""
    b: str
    """Another link, or an obstacle."""
    distance: float
    """Metres: clearance when positive, minus the depth of penetration when not."""
    point_a: Float[np.ndarray, "3"]
    """Point of `a`."""
    point_b: Float[np.ndarray, "3"]
    """Point of `b`."""
    normal: Float[np.ndarray, "3"]
    """Unit vector from `a` to `b`."""

    @property
    def pair(self) -> tuple[str, str]:
        """Both names."""
        return self.a, self.b

    @property
    def depth(self) -> float:
        """Metres that the two must move apart along the normal; negative when they are apart."""
        return -self.distance

    def __str__(self) -> str:
        verb = "are apart by" if self.distance > 0.0 else "overlap by"
        return f"{self.a} and {self.b} {verb} {1000.0 * abs(self.distance):.1f} mm"
