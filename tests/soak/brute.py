"""Do triangles cross, and how far apart are they? Every pair looked at, certain or not said; rationals where asked for.

`surely_cross` is true only where signs of volumes are beyond all rounding; `gap` is the distance of triangle sets that do
not cross. Where neither speaks, two sets touch to rounding and either answer is right.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tests.mesh.mesh_tools import pair_distances

ROUNDING = 1e-13
"""Of the size of a scene, by which corners are off after two poses."""


def candidates(a: np.ndarray, b: np.ndarray, within: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of triangles (n, 3, 3) and (m, 3, 3) whose boxes are not farther apart than `within`."""
    low_a, high_a, low_b, high_b = a.min(1)[:, None], a.max(1)[:, None], b.min(1)[None], b.max(1)[None]
    apart = np.maximum(np.maximum(low_a - high_b, low_b - high_a), 0.0)
    return np.nonzero(np.einsum("nmi,nmi->nm", apart, apart) <= within**2)


def surely_cross(a: np.ndarray, b: np.ndarray, size: float) -> bool:
    """Whether an edge of one set passes through a triangle of the other, in a scene of that size, beyond rounding."""
    i, j = candidates(a, b)
    if not len(i):
        return False
    return _pierces(a[i], b[j], size) or _pierces(b[j], a[i], size)


def _pierces(edges: np.ndarray, faces: np.ndarray, size: float) -> bool:
    base = faces[:, 0]
    u, v = faces[:, 1] - base, faces[:, 2] - base
    normal = np.cross(u, v)
    long = np.maximum(
        np.abs(edges - base[:, None]).max(axis=(1, 2)), np.abs(faces - base[:, None]).max(axis=(1, 2))
    )
    doubt = 50.0 * ROUNDING * (size + long) * long**2
    for k in range(3):
        p, q = edges[:, k] - base, edges[:, k - 2] - base
        side_p, side_q = np.einsum("ni,ni->n", p, normal), np.einsum("ni,ni->n", q, normal)
        through = (np.minimum(np.abs(side_p), np.abs(side_q)) > doubt) & (side_p * side_q < 0.0)
        along = q - p
        around = np.stack(
            [
                np.einsum("ni,ni->n", np.cross(s - p, t - p), along)
                for s, t in ((np.zeros_like(u), u), (u, v), (v, np.zeros_like(v)))
            ]
        )
        inside = (around > doubt).all(axis=0) | (around < -doubt).all(axis=0)
        if (through & inside).any():
            return True
    return False


def gap(a: np.ndarray, b: np.ndarray) -> float:
    """Distance of two triangle sets that do not cross."""
    corners_a, corners_b = a.reshape(-1, 3), b.reshape(-1, 3)
    upper = np.inf
    for first in range(0, len(corners_a), 512):
        block = corners_a[first : first + 512]
        upper = min(upper, float(((block[:, None] - corners_b) ** 2).sum(axis=2).min()))
    i, j = candidates(a, b, np.sqrt(upper) * (1.0 + 1e-9) + 1e-300)
    chunks = range(0, len(i), 4096)
    return min(pair_distances(a[i[k : k + 4096]], b[j[k : k + 4096]]) for k in chunks)


def touch_exactly(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether an edge of one triangle (3, 3) meets the other, in rational numbers; edges in its plane are left out."""
    exact = [[[Fraction(float(x)) for x in corner] for corner in triangle] for triangle in (a, b)]
    for one, other in (exact, exact[::-1]):
        for k in range(3):
            p, q = one[k], one[k - 2]
            below, above = _volume(*other, p), _volume(*other, q)
            if below * above > 0 or below == above == 0:
                continue
            around = [_volume(p, q, other[m], other[m - 2]) for m in range(3)]
            if min(around) >= 0 or max(around) <= 0:
                return True
    return False


def _volume(p: list[Fraction], q: list[Fraction], r: list[Fraction], s: list[Fraction]) -> Fraction:
    """Six times that of a tetrahedron, with its sign."""
    u, v, w = ([x - y for x, y in zip(corner, p, strict=True)] for corner in (q, r, s))
    x, y, z = v[1] * w[2] - v[2] * w[1], v[2] * w[0] - v[0] * w[2], v[0] * w[1] - v[1] * w[0]
    return u[0] * x + u[1] * y + u[2] * z
