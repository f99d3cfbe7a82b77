"""Clash: two things that touch, or are closest to touching. One value for every engine that finds such a pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ._brief import brief
from ._text import number

SMALL = 0.05
"""Millimetres that one decimal would call 0.0."""


@brief
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
        """Metres that the two must move apart along the normal: positive overlapping, negative apart."""
        return -self.distance

    def refused(self, buffer: float) -> str:
        """Why the pair is not free, in words.

        Args:
            buffer: clearance asked of it, metres.
        """
        if self.distance <= 0.0:
            return str(self)
        if self.distance <= buffer:
            return f"{self}, closer than the buffer of {number(1e3 * buffer)} mm"
        asked = f"the buffer of {number(1e3 * buffer)} mm" if buffer else "touching"
        return f"{self} as measured, too little to be distinguished from {asked}"

    def __str__(self) -> str:
        if self.distance == 0.0:
            return f"{self.a} and {self.b} touch"
        verb = "are apart by" if self.distance > 0.0 else "overlap by"
        size = 1e3 * abs(self.distance)
        return f"{self.a} and {self.b} {verb} {f'{size:.1f}' if size >= SMALL else f'{size:.2g}'} mm"
