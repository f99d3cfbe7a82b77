"""Links of the same or mirrored shape, and where a point of one lies on the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..robot import Robot
from ._mirror import match_shapes, zero_frames
from ._shape import Float64, link_shapes


@dataclass(frozen=True, eq=False)
class Twin:
    """Says that a link has the shape of another, moved or mirrored."""

    link: str
    """The other link."""
    turn: Float64
    """(3, 3) signed permutation."""
    shift: Float64
    """(3,) metres: x_other = turn @ x + shift, each in the frame of its link."""

    def carry(self, points: Float64) -> Float64:
        """Points (..., 3) of the link in the frame of the other one."""
        return np.asarray(points) @ self.turn.T + self.shift


def link_twins(robot: Robot) -> dict[str, tuple[Twin, ...]]:
    """For every link that has any, the other links of its shape.

    Args:
        robot: its collision meshes are compared, as the tight fit does that gives twins the same spheres.
    """
    shapes = dict(link_shapes(robot))
    names = list(shapes)
    matches = match_shapes(list(shapes.values()), [False] * len(shapes), zero_frames(robot, names))
    out: dict[str, tuple[Twin, ...]] = {}
    for i, name in enumerate(names):
        own, found = matches[i], list[Twin]()
        for j, other in enumerate(names):
            there = matches[j]
            if i != j and there.model == own.model:
                turn = there.turn @ own.turn.T  # back to the fitted shape, and on to the other
                found.append(Twin(other, turn, there.shift - turn @ own.shift))
        if found:
            out[name] = tuple(found)
    return out
