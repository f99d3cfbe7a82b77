"""Exact checks of balls against one shape, and the growth that makes a set of balls pass them.

Both are computed by the core (`coverage.hpp` says how, and why rounding is no part of the answer). `check` bounds the
gap over every triangle and, for a closed shape, looks for cavities of the union inside it;
`certify` grows balls at the witnesses until nothing is left uncovered: until `check` passes, or one ball holds all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._shape import Float64, LinkShape, ball_rows


@dataclass(frozen=True)
class Check:
    """Outcome of an exact check of balls against one shape."""

    surface_bound: float
    """Upper bound of the distance from any surface point to the union, metres; <= 0 when covered."""
    witnesses: Float64
    """(n, 3) points of the surface, or inside a closed shape, outside every ball."""
    gaps: Float64
    """(n,) distance of each witness to the union, metres."""
    cavities: int
    """How many witnesses are inside the solid, off its surface."""

    @property
    def covered(self) -> bool:
        """Whether everything is proved to be inside the union."""
        return self.surface_bound <= 0.0 and self.cavities == 0


def check(shape: LinkShape, centers: Float64, radii: Float64, tolerance: float = 0.0) -> Check:
    """Decides whether balls cover a shape: its surface, and its inside where it is closed.

    Args:
        shape: the link. centers: (spheres, 3) and radii: (spheres,) in the link frame, metres.
        tolerance: how much the balls are grown for the check, metres.
    """
    balls = ball_rows(centers, np.asarray(radii) + tolerance)
    balls = balls[balls[:, 3] > 0.0]
    if len(balls) == 0:
        gaps = np.full(len(shape.vertices), np.inf)
        return Check(np.inf, shape.vertices.copy(), gaps, 0)
    bound, witnesses, gaps, cavities = shape.core.prove_coverage(balls)
    return Check(bound, witnesses, gaps + tolerance, cavities)


def certify(shape: LinkShape, centers: Float64, radii: Float64, rounds: int = 200) -> Float64:
    """Grows balls until they are proved to cover the shape.

    Each witness grows the ball nearest to it; the overshoot rises from round to round, and in the
    last rounds all balls grow by the largest gap. Should that not be enough, the first one grows around everything.

    Returns:
        (spheres,) radii, never below the given ones.
    """
    return np.ascontiguousarray(shape.core.grow_to_cover(ball_rows(centers, radii), rounds)[:, 3])
