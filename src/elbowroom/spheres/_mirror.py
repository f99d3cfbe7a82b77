"""Links of the same or mirrored shape.

Left and right arms, fingers and wheels are often one shape, moved or mirrored. Two shapes match when one of the 48
turns and mirrorings of a box, between the middles of their bounding boxes, brings each onto the other within a small
share of their size. Spheres carried over are proved on the other shape again, so a match need not be exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from ._shape import Float64, LinkShape

TOLERANCE = 2e-3
"""Largest distance between matching shapes, as a share of their size."""
EXACT = 1e-6
"""Below this share of the size a match is taken without looking for a better one."""
CHECKED_VERTICES = 400
"""Vertices compared at most in each direction."""


@dataclass(frozen=True)
class Match:
    """Says that a shape is a moved or mirrored copy of another."""

    model: int
    """Index of the shape that is fitted."""
    turn: Float64
    """(3, 3) signed permutation from the fitted shape to this one."""
    shift: Float64
    """(3,) metres: x_this = turn @ x_fitted + shift."""

    def carry(self, centers: Float64) -> Float64:
        """Centres (n, 3) of the fitted shape in the frame of this one."""
        return np.ascontiguousarray(centers @ self.turn.T + self.shift)


def match_shapes(shapes: Sequence[LinkShape], fixed: Sequence[bool]) -> list[Match]:
    """For each shape, the earlier shape it copies, or itself.

    Args:
        shapes: of the links. fixed: those that must be fitted on their own (own count or clip planes).
    """
    out: list[Match] = []
    for k, shape in enumerate(shapes):
        found = Match(k, np.eye(3), np.zeros(3))
        if not fixed[k]:
            for j in range(k):
                if out[j].model == j and not fixed[j]:
                    match = _match(j, shapes[j], shape)
                    if match is not None:
                        found = match
                        break
        out.append(found)
    return out


def _match(index: int, model: LinkShape, shape: LinkShape) -> Match | None:
    size = max(model.size, 1e-12)
    limit = TOLERANCE * size
    a, b = model.high - model.low, shape.high - shape.low
    if np.abs(np.sort(a) - np.sort(b)).max() > limit or model.closed != shape.closed:
        return None
    area_a, area_b = float(model.area.sum()), float(shape.area.sum())
    if abs(area_a - area_b) > 0.02 * max(area_a, area_b):
        return None
    best: Match | None = None
    best_error = limit
    middle_a, middle_b = (model.low + model.high) / 2, (shape.low + shape.high) / 2
    for turn in TURNS:
        if np.abs(np.abs(turn) @ a - b).max() > limit:
            continue
        there = _thin(model.vertices) @ turn.T + (middle_b - turn @ middle_a)
        error = float(shape.distance(there).max())
        if error >= best_error:
            continue
        back = (_thin(shape.vertices) - middle_b) @ turn + middle_a
        error = max(error, float(model.distance(np.ascontiguousarray(back)).max()))
        if error < best_error:
            best, best_error = Match(index, turn, middle_b - turn @ middle_a), error
            if error < EXACT * size:
                break
    return best


def _thin(vertices: Float64) -> Float64:
    if len(vertices) <= CHECKED_VERTICES:
        return vertices
    return vertices[np.linspace(0, len(vertices) - 1, CHECKED_VERTICES).astype(int)]


def _signed_permutations() -> list[Float64]:
    """The 48 turns and mirrorings of a cube, those that change fewest axes first."""
    out: list[Float64] = []
    for order in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            matrix = np.zeros((3, 3))
            matrix[np.arange(3), order] = signs
            out.append(matrix)
    return sorted(out, key=lambda m: -float(np.trace(m)))


TURNS = _signed_permutations()
