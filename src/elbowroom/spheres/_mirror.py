"""Links of the same or mirrored shape.

Left and right arms, fingers and wheels are often one shape, moved or mirrored. Two shapes match when one of the 48
turns and mirrorings of a box, between the middles of their bounding boxes, brings each onto the other within a small
share of their size. Spheres carried over are proved on the other shape again, so a match need not be exact.

`link_twins` says which they are, and where a point of one lies on the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from .._poses import matrix_from_wxyz_xyz
from ..robot import Robot
from ._shape import Float64, LinkShape, link_shapes

TOLERANCE = 2e-3
"""Largest distance between matching shapes, as a share of their size."""
EXACT = 1e-6
"""Matches within this share of the size are equally good."""
ALIGNED = 1e-5
"""Largest entry by which a turn may differ from a reflection: link poses are of single precision."""
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


def match_shapes(
    shapes: Sequence[LinkShape], fixed: Sequence[bool], frames: Float64 | None = None
) -> list[Match]:
    """For each shape, the earlier shape it copies, or itself.

    A shape that is symmetric in itself matches in several ways. Where the robot has a plane of symmetry, the match that
    is a reflection in it is taken, so that the spheres of left and right links are mirror images of each other.

    Args:
        shapes: of the links. fixed: those that must be fitted on their own (own count or clip planes).
        frames: (n, 3, 3) orientations of the links at the zero configuration; None if there is no common frame.
    """
    found: list[list[Match]] = []
    for k, shape in enumerate(shapes):
        ways: list[Match] = []
        for j in range(k):
            if not fixed[k] and not fixed[j] and not found[j]:
                ways = _matches(j, shapes[j], shape)
                if ways:
                    break
        found.append(ways)
    reflected = _reflections(found, frames)
    out: list[Match] = []
    for k, ways in enumerate(found):
        chosen = [way for way, is_reflection in zip(ways, reflected[k], strict=True) if is_reflection]
        out.append((chosen or ways or [Match(k, np.eye(3), np.zeros(3))])[0])
    return out


def zero_frames(robot: Robot, links: Iterable[str]) -> Float64:
    """(links, 3, 3) orientations of links at the zero configuration."""
    poses = matrix_from_wxyz_xyz(np.asarray(robot.link_poses(np.zeros((1, robot.dof)))[0], dtype=np.float64))
    return poses[[robot.link_names.index(name) for name in links], :3, :3]


def _matches(index: int, model: LinkShape, shape: LinkShape) -> list[Match]:
    """All ways in which a shape is a copy of a model that are as exact as the best, in the order of TURNS."""
    size = max(model.size, 1e-12)
    limit = TOLERANCE * size
    a, b = model.high - model.low, shape.high - shape.low
    if np.abs(np.sort(a) - np.sort(b)).max() > limit or model.closed != shape.closed:
        return []
    area_a, area_b = float(model.area.sum()), float(shape.area.sum())
    if abs(area_a - area_b) > 0.02 * max(area_a, area_b):
        return []
    middle_a, middle_b = (model.low + model.high) / 2, (shape.low + shape.high) / 2
    ways: list[tuple[float, Match]] = []
    for turn in TURNS:
        if np.abs(np.abs(turn) @ a - b).max() > limit:
            continue
        there = _thin(model.vertices) @ turn.T + (middle_b - turn @ middle_a)
        error = float(shape.distance(there).max())
        if error >= limit:
            continue
        back = (_thin(shape.vertices) - middle_b) @ turn + middle_a
        error = max(error, float(model.distance(np.ascontiguousarray(back)).max()))
        if error < limit:
            ways.append((error, Match(index, turn, middle_b - turn @ middle_a)))
    best = max(min((error for error, _ in ways), default=0.0), EXACT * size)
    return [way for error, way in ways if error <= best]


def _reflections(found: Sequence[Sequence[Match]], frames: Float64 | None) -> list[list[bool]]:
    """Which matches are reflections in the plane of symmetry that most links share, one of the coordinate planes."""
    planes = [np.diag(1.0 - 2.0 * np.eye(3)[d]) for d in range(3)]

    def is_reflection(k: int, way: Match, plane: Float64) -> bool:
        if frames is None:
            return False
        return bool(np.abs(frames[k] @ way.turn @ frames[way.model].T - plane).max() < ALIGNED)

    tables = [
        [[is_reflection(k, way, plane) for way in ways] for k, ways in enumerate(found)] for plane in planes
    ]
    return max(tables, key=lambda table: sum(any(row) for row in table))


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
