"""Meshes of generated scenes: rings, bowls, rocks, brackets, and a curved panel that is open."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from ..mesh import TriangleMesh

SIDES = 24
"""Facets around the axis of what is revolved."""


def ring_mesh(radius: float, thickness: float) -> TriangleMesh:
    """A torus about z: distance of its tube from the axis, and radius of the tube."""
    turn = 2.0 * np.pi * np.arange(12) / 12
    profile = np.stack([radius + thickness * np.cos(turn), thickness * np.sin(turn)], axis=1)
    return _revolved(profile, ends=False)


def bowl_mesh(radius: float, thickness: float) -> TriangleMesh:
    """The lower half of a hollow ball, open at the top, as a closed solid of that wall thickness."""
    down = np.linspace(0.0, 0.5 * np.pi, 8)
    outer = radius * np.stack([np.sin(down), -np.cos(down)], axis=1)
    inner = (radius - thickness) * np.stack([np.sin(down), -np.cos(down)], axis=1)[::-1]
    return _revolved(np.concatenate([outer, inner]), ends=True)


def rock_mesh(radius: float, rng: np.random.Generator) -> TriangleMesh:
    """A ball with bumps and dents, of at most that radius."""
    polar = np.linspace(0.0, np.pi, 11)
    profile = radius * np.stack([np.sin(polar), -np.cos(polar)], axis=1)
    ball = _revolved(profile, ends=True)
    waves = rng.normal(size=(4, 3)) * 3.0 / radius
    bumps = np.cos(ball.vertices @ waves.T + rng.uniform(0.0, 2.0 * np.pi, 4)).mean(axis=1)
    return TriangleMesh(ball.vertices * (0.85 + 0.15 * bumps)[:, None], ball.faces)


def bracket_mesh(size: tuple[float, float, float], thickness: float) -> TriangleMesh:
    """An L, upright in x and z and as wide as y, centred in its box."""
    x, y, z = size
    outline = np.array([[0, 0], [x, 0], [x, thickness], [thickness, thickness], [thickness, z], [0, z]])
    outline = outline - 0.5 * np.array([x, z])
    n = len(outline)
    vertices = np.concatenate([np.insert(outline, 1, side, axis=1) for side in (-0.5 * y, 0.5 * y)])
    front = np.array([(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)])
    edge = np.arange(n)
    following = (edge + 1) % n
    sides = np.concatenate([
        np.stack([edge, n + edge, n + following], axis=1),
        np.stack([edge, n + following, following], axis=1),
    ])  # fmt: skip
    return TriangleMesh(vertices, np.concatenate([front, front[:, ::-1] + n, sides]))


def panel_mesh(width: float, height: float, bend: float) -> TriangleMesh:
    """A sheet without thickness in y and z, bent towards x by `bend` in its middle; open, so it contains nothing."""
    columns, rows = 13, 7
    y, z = np.meshgrid(np.linspace(-0.5, 0.5, columns), np.linspace(-0.5, 0.5, rows))
    x = bend * (np.cos(np.pi * y) - 0.5)
    vertices = np.stack([x.ravel(), width * y.ravel(), height * z.ravel()], axis=1)
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    lower = np.stack([corner, corner + 1, corner + columns + 1], axis=1)
    upper = np.stack([corner, corner + columns + 1, corner + columns], axis=1)
    return TriangleMesh(vertices, np.concatenate([lower, upper]))


def _revolved(profile: Float[np.ndarray, "rings 2"], *, ends: bool) -> TriangleMesh:
    """Revolves points (distance from the axis, z) about z: a closed outline, or one whose `ends` are on the axis."""
    turn = 2.0 * np.pi * np.arange(SIDES) / SIDES
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    rings = profile[1:-1] if ends else profile
    vertices = np.concatenate([np.insert(r * circle, 2, z, axis=1) for r, z in rings])
    side = np.arange(SIDES)
    following = (side + 1) % SIDES
    faces: list[np.ndarray] = []
    for k in range(len(rings) if not ends else len(rings) - 1):
        a, b = k * SIDES, (k + 1) % len(rings) * SIDES
        faces.append(np.stack([a + side, a + following, b + following], axis=1))
        faces.append(np.stack([a + side, b + following, b + side], axis=1))
    if ends:
        first, last, begin = len(vertices), len(vertices) + 1, (len(rings) - 1) * SIDES
        vertices = np.concatenate([vertices, [[0.0, 0.0, profile[0, 1]], [0.0, 0.0, profile[-1, 1]]]])
        faces.append(np.stack([np.full(SIDES, first), following, side], axis=1))
        faces.append(np.stack([np.full(SIDES, last), begin + side, begin + following], axis=1))
    return TriangleMesh(vertices, np.concatenate(faces))
