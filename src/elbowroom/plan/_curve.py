"""Curve: a path through joint space as cubic pieces, and how far it leaves the straight lines between their ends.

A piece is a Bezier cubic with four control configurations. Straight segments are pieces too, so a path of waypoints
and a smoothed one are the same kind of value: what proves one proves the other, and so does what times them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from .. import _core
from .._frozen import Frozen, freeze, frozen

BULGE = 0.75
"""A cubic leaves its chord by no more than this times the larger distance of its inner control points from thirds of
the chord: the maximum of 3t(1-t)^2 + 3t^2(1-t) = 3t(1-t)."""


def bulges_of(pieces: Float[np.ndarray, "k 4 dof"]) -> Float[np.ndarray, "k dof"]:
    """How far each joint may be, at most, from the straight line between the ends of a piece (rad, m)."""
    first, last = pieces[:, 0], pieces[:, 3]
    off = np.maximum(
        np.abs(pieces[:, 1] - (2.0 * first + last) / 3.0), np.abs(pieces[:, 2] - (first + 2.0 * last) / 3.0)
    )
    return BULGE * off


def straight_pieces(rows: Float[np.ndarray, "n dof"]) -> Float[np.ndarray, "n-1 4 dof"]:
    """Straight lines from each row to the next, as cubic pieces."""
    begins, ends = rows[:-1], rows[1:]
    thirds = (ends - begins) / 3.0
    return np.stack([begins, begins + thirds, ends - thirds, ends], axis=1)


def halves(pieces: Float[np.ndarray, "k 4 dof"]) -> Float[np.ndarray, "2*k 4 dof"]:
    """Both halves of pieces, in order (de Casteljau)."""
    p0, p1, p2, p3 = (pieces[:, k] for k in range(4))
    a, b, c = 0.5 * (p0 + p1), 0.5 * (p1 + p2), 0.5 * (p2 + p3)
    ab, bc = 0.5 * (a + b), 0.5 * (b + c)
    middle = 0.5 * (ab + bc)
    both = np.stack([np.stack([p0, a, ab, middle], 1), np.stack([middle, bc, c, p3], 1)], axis=1)
    return both.reshape(-1, 4, p0.shape[-1])


@dataclass(frozen=True, eq=False)
class Curve(Frozen):
    """Cubic pieces one after the other, each from where the last one ended."""

    pieces: Float[np.ndarray, "k 4 dof"]
    """Control configurations; pieces[i, 3] equals pieces[i + 1, 0]."""
    knots: Float[np.ndarray, "k+1"]
    """Parameter at the ends of the pieces, increasing from 0."""
    stops: Bool[np.ndarray, "k+1"]
    """Where the direction may jump, so that the robot must stop: first and last always."""

    def __post_init__(self) -> None:
        freeze(self.pieces, self.knots, self.stops)

    @classmethod
    def polyline(cls, path: Any) -> Curve:
        """Straight segments through waypoints (n, dof), n >= 2, with a stop at each that is not on a straight line.

        Waypoints that repeat the one before are left out. The parameter is the largest joint motion, rad or m.
        """
        return cls(*_core.polyline(np.asarray(path, dtype=np.float64)))

    @property
    def end(self) -> float:
        """The last parameter."""
        return float(self.knots[-1])

    @cached_property
    def waypoints(self) -> Float[np.ndarray, "k+1 dof"]:
        """Where pieces begin and end."""
        return frozen(np.concatenate([self.pieces[:, 0], self.pieces[-1:, 3]]))

    @cached_property
    def bulges(self) -> Float[np.ndarray, "k dof"]:
        """How far each joint may be, at most, from the straight line between the ends of its piece (rad, m)."""
        return frozen(bulges_of(self.pieces))

    def at(self, s: Any, derivative: int = 0) -> Float[np.ndarray, "*n dof"]:
        """Configurations at parameters, or their derivatives by the parameter (up to 3); at a knot, of the piece after.

        Args:
            s: (n,) or a number, within the knots (beyond, the nearest end counts).
            derivative: 0 to 3.
        """
        points = np.asarray(s, dtype=np.float64)
        flat = np.clip(points.ravel(), 0.0, self.end)
        piece = np.clip(np.searchsorted(self.knots, flat, side="right") - 1, 0, len(self.pieces) - 1)
        width = np.diff(self.knots)[piece]
        t = ((flat - self.knots[piece]) / width)[:, None]
        control = self.pieces[piece]
        scale = 1.0
        for order in range(derivative):
            scale = scale * (3 - order)
            control = np.diff(control, axis=1)
        while control.shape[1] > 1:
            control = control[:, :-1] * (1.0 - t[..., None]) + control[:, 1:] * t[..., None]
        out = control[:, 0] * scale / (width[:, None] ** derivative)
        return out.reshape(*points.shape, -1)

    def halved(self) -> Curve:
        """The same curve in twice as many pieces, which bulge a quarter as much."""
        knots = np.empty(2 * len(self.pieces) + 1)
        knots[::2], knots[1::2] = self.knots, 0.5 * (self.knots[:-1] + self.knots[1:])
        stops = np.zeros(len(knots), dtype=np.bool_)
        stops[::2] = self.stops
        return Curve(frozen(halves(self.pieces)), frozen(knots), frozen(stops))

    def __repr__(self) -> str:
        return f"Curve({len(self.pieces)} pieces, {int(self.stops.sum())} stops)"
