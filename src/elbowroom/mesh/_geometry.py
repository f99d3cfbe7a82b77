"""Small questions of geometry, for one or many at once: segments, bounding boxes, rays.

Leading axes broadcast as in numpy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from .._poses import as_matrix
from ..errors import InputError, shape_text

PARALLEL = 1e-12
"""A ray whose cosine with a triangle's normal is smaller runs along its plane and does not hit it."""


class ClosestPoints(NamedTuple):
    """Closest points of two segments."""

    point_a: Float[np.ndarray, "*batch 3"]
    """On the first segment."""
    point_b: Float[np.ndarray, "*batch 3"]
    """On the second."""
    distance: Float[np.ndarray, "*batch"]
    """Between them, metres."""


class RayHits(NamedTuple):
    """Where rays hit triangles."""

    hit: Bool[np.ndarray, "*batch"]
    """Whether they do."""
    distance: Float[np.ndarray, "*batch"]
    """From the origin of the ray, in lengths of its direction; infinite where it misses."""
    barycentric: Float[np.ndarray, "*batch 3"]
    """Weights of the corners at the place that is hit; NaN where it misses."""


def closest_points_on_segments(start_a: Any, end_a: Any, start_b: Any, end_b: Any) -> ClosestPoints:
    """Closest points of segments; of parallel ones that are equally near everywhere, one of the pairs.

    Args:
        start_a: `(..., 3)` one end of each first segment, metres.
        end_a: `(..., 3)` its other end; the same point is allowed.
        start_b: `(..., 3)` one end of each second segment.
        end_b: `(..., 3)` its other end.

    Raises:
        InputError: wrong shapes, NaN.
    """
    p, p_end, q, q_end = _together(
        ("start_a", "end_a", "start_b", "end_b"), (start_a, end_a, start_b, end_b), (3,)
    )
    u, v, r = p_end - p, q_end - q, p - q
    uu, vv, uv, ur, vr = _dot(u, u), _dot(v, v), _dot(u, v), _dot(u, r), _dot(v, r)
    den = uu * vv - uv * uv
    with np.errstate(divide="ignore", invalid="ignore"):
        s_inner = np.clip(np.nan_to_num((uv * vr - ur * vv) / den, posinf=0.0, neginf=0.0), 0.0, 1.0)
        places = [(s_inner, None), (np.zeros_like(uu), None), (np.ones_like(uu), None)]
        places += [(None, np.zeros_like(uu)), (None, np.ones_like(uu))]
        found: list[tuple[np.ndarray, np.ndarray]] = []
        for s, t in places:  # where the lines pass each other, and every end against the other segment
            if t is None:
                assert s is not None
                t = np.clip(np.nan_to_num((uv * s + vr) / vv, posinf=0.0, neginf=0.0), 0.0, 1.0)
            else:
                s = np.clip(np.nan_to_num((uv * t - ur) / uu, posinf=0.0, neginf=0.0), 0.0, 1.0)
            found.append((p + s[..., None] * u, q + t[..., None] * v))
    gaps = np.stack([np.linalg.norm(a - b, axis=-1) for a, b in found])
    best = np.argmin(gaps, axis=0)[None, ..., None]
    point_a, point_b = (
        np.take_along_axis(np.stack([pair[k] for pair in found]), best, axis=0)[0] for k in (0, 1)
    )
    return ClosestPoints(point_a, point_b, gaps.min(axis=0))


def triangle_aabbs_overlap(tri_a: Any, tri_b: Any) -> Bool[np.ndarray, "*batch"]:
    """Whether the axis-aligned boxes around triangles share a point; touching counts.

    Args:
        tri_a: `(..., 3, 3)` corners, one per row.
        tri_b: `(..., 3, 3)` corners.

    Raises:
        InputError: wrong shapes, NaN.
    """
    a, b = _together(("tri_a", "tri_b"), (tri_a, tri_b), (3, 3))
    return ((a.min(axis=-2) <= b.max(axis=-2)) & (b.min(axis=-2) <= a.max(axis=-2))).all(axis=-1)


def transform_aabb(
    lower: Any, upper: Any, T: Any
) -> tuple[Float[np.ndarray, "*batch 3"], Float[np.ndarray, "*batch 3"]]:
    """Axis-aligned box around a box that has been moved: that of its eight corners.

    Args:
        lower: `(..., 3)` lowest coordinates, metres.
        upper: `(..., 3)` highest coordinates, not below `lower`.
        T: poses `(..., 7)` wxyz_xyz or `(..., 4, 4)`.

    Returns:
        Lowest and highest coordinates after the move.

    Raises:
        InputError: wrong shapes, NaN, a lower bound above an upper one, or no rigid motion.
    """
    low, high = _together(("lower", "upper"), (lower, upper), (3,))
    if not np.all(low <= high):
        raise InputError("lower: expected coordinates that are not above those of upper")
    pose = as_matrix(T, "T")
    R, t = pose[..., :3, :3], pose[..., :3, 3]
    try:
        center = np.einsum("...ij,...j->...i", R, 0.5 * (low + high)) + t
        half = np.einsum("...ij,...j->...i", np.abs(R), 0.5 * (high - low))
    except ValueError as error:
        raise InputError(
            f"T: expected as many poses as boxes, found {pose.shape[:-2]} and {low.shape[:-1]}"
        ) from error
    return center - half, center + half


def ray_triangle(origin: Any, direction: Any, triangle: Any, *, both_sides: bool = True) -> RayHits:
    """Where rays hit triangles (Moeller and Trumbore, "Fast, minimum storage ray/triangle intersection", 1997).

    A ray begins at its origin and has no end. Edges and corners are part of a triangle; a ray in the plane of a
    triangle does not hit it.

    Args:
        origin: `(..., 3)` where each ray begins, metres.
        direction: `(..., 3)` any length but zero.
        triangle: `(..., 3, 3)` corners, one per row.
        both_sides: False counts only rays that come from the side from which the corners run counter-clockwise.

    Raises:
        InputError: wrong shapes, NaN, a direction of zero.
    """
    start, way = _together(("origin", "direction"), (origin, direction), (3,))
    corners = _numbers("triangle", triangle, (3, 3))
    if np.any(np.linalg.norm(way, axis=-1) == 0.0):
        raise InputError("direction: expected vectors that are not zero")
    try:
        batch = np.broadcast_shapes(start.shape[:-1], corners.shape[:-2])
    except ValueError as error:
        raise InputError(
            f"triangle: expected as many as rays, found {corners.shape[:-2]} and {start.shape[:-1]}"
        ) from error
    start, way = np.broadcast_to(start, (*batch, 3)), np.broadcast_to(way, (*batch, 3))
    corners = np.broadcast_to(corners, (*batch, 3, 3))
    u, v = corners[..., 1, :] - corners[..., 0, :], corners[..., 2, :] - corners[..., 0, :]
    p = np.cross(way, v)
    det = _dot(u, p)
    small = PARALLEL * np.linalg.norm(way, axis=-1) * np.linalg.norm(np.cross(u, v), axis=-1)
    facing = np.abs(det) > small if both_sides else det > small
    with np.errstate(divide="ignore", invalid="ignore"):
        s = start - corners[..., 0, :]
        q = np.cross(s, u)
        x, y, t = _dot(s, p) / det, _dot(way, q) / det, _dot(v, q) / det
        hit = facing & (x >= 0.0) & (y >= 0.0) & (x + y <= 1.0) & (t >= 0.0)
    weights = np.stack([1.0 - x - y, x, y], axis=-1)
    return RayHits(hit, np.where(hit, t, np.inf), np.where(hit[..., None], weights, np.nan))


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("...i,...i->...", a, b)


def _numbers(what: str, value: Any, tail: tuple[int, ...]) -> np.ndarray:
    """Finite numbers whose last axes are `tail`."""
    text = ", ".join(["...", *map(str, tail)])
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what}: expected numbers of shape ({text}), found {shape_text(value)}") from error
    if array.shape[-len(tail) :] != tail:
        raise InputError(f"{what}: expected shape ({text}), found {array.shape}")
    if not np.all(np.isfinite(array)):
        raise InputError(f"{what}: expected finite numbers, found NaN or infinite ones")
    return array


def _together(names: tuple[str, ...], values: tuple[Any, ...], tail: tuple[int, ...]) -> list[np.ndarray]:
    """Numbers of the same leading axes, broadcast."""
    arrays = [_numbers(name, value, tail) for name, value in zip(names, values, strict=True)]
    try:
        return list(np.broadcast_arrays(*arrays))
    except ValueError as error:
        shapes = " and ".join(str(array.shape) for array in arrays)
        raise InputError(f"{', '.join(names)}: expected shapes that go together, found {shapes}") from error
