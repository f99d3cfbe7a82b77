"""Spheres along the lines between joints: the simple fit, without search.

Each link has one centerline from its origin to each child joint. On a centerline of length L, N spheres sit at
(2 i + 1) L / (2 N); a radius is sqrt(side^2 + perp^2) + margin, with side = L / (2 N) and perp the largest distance
from the line among the vertices that project into the sphere's segment, so these vertices are inside. What the
segments leave out (parts beyond the ends, triangles between segments) is mended after the exact check: a sphere is
added where a part is far outside, otherwise the nearest ones grow. The result is proved to cover.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ._shape import Float64, LinkShape, bounding_sphere, certify, check

BASE_COUNT, TRUNK_COUNT, ARM_COUNT, LONG_ARM_COUNT, FRAME_COUNT = 2, 4, 3, 4, 1
"""Spheres along a centerline by the kind of link that its name tells; `frame` links get one in all."""
LONG_ARM = 0.15
"""Length of an arm link's centerline above which it gets one more sphere, metres."""
SAME_POINT = 1e-6
"""Joint origins closer than this are one, metres."""
ADD_FROM = 0.15
"""A part farther outside than this share of the nearest radius gets a sphere of its own."""
MAX_ADDED = 12
"""Spheres added to a link at most; after that spheres only grow."""


def default_count(link: str, length: float, default: int) -> int:
    """Number of spheres along a centerline by the name of its link and its length in metres."""
    words = re.split(r"[^a-z]+", link.lower())
    if any(w.startswith(("torso", "waist")) for w in words):
        return TRUNK_COUNT
    if any(w.startswith("frame") for w in words):
        return FRAME_COUNT
    if "base" in words:
        return BASE_COUNT
    if any(w in ("arm", "upperarm", "forearm", "shoulder", "elbow", "wrist") for w in words):
        return LONG_ARM_COUNT if length > LONG_ARM else ARM_COUNT
    return default


def fit_centerline(
    link: str,
    shape: LinkShape,
    child_origins: Sequence[Float64],
    count: int | None,
    default: int,
    min_radius: float,
    margin: float,
) -> tuple[Float64, Float64]:
    """Spheres of one link.

    Args:
        link: its name. shape: its triangles. child_origins: (3,) origins of the child joints, link frame.
        count: spheres per centerline, None to go by the name. default: used when the name tells nothing.
        min_radius: smallest radius. margin: added to every radius. All in metres.

    Returns:
        Centres (n, 3) and radii (n,), link frame, proved to cover before the margin is added.
    """
    centers: list[Float64] = []
    radii: list[float] = []
    lines = _distinct(child_origins)
    is_frame = default_count(link, 0.0, default) == FRAME_COUNT and count is None
    for end in lines if not is_frame else []:
        length = float(np.linalg.norm(end))
        n = count if count is not None else default_count(link, length, default)
        c, r = _along(shape, end, length, n, min_radius)
        centers.extend(c)
        radii.extend(r)
    if not centers:
        middle, radius = bounding_sphere(shape.vertices)
        centers, radii = [middle], [max(radius, min_radius)]
    c, r = _mend(shape, np.array(centers), np.array(radii), min_radius)
    return c, r + margin


def _distinct(origins: Sequence[Float64]) -> list[Float64]:
    """Ends of centerlines: different from each other and from the link origin."""
    out: list[Float64] = []
    for origin in origins:
        point = np.asarray(origin, dtype=np.float64)
        if np.linalg.norm(point) > SAME_POINT and all(
            np.linalg.norm(point - other) > SAME_POINT for other in out
        ):
            out.append(point)
    return out


def _along(
    shape: LinkShape, end: Float64, length: float, n: int, min_radius: float
) -> tuple[list[Float64], list[float]]:
    """Spheres along one centerline from the link origin to `end`."""
    direction, side = end / length, length / (2 * n)
    along = shape.vertices @ direction
    perp = np.linalg.norm(shape.vertices - along[:, None] * direction, axis=1)
    centers: list[Float64] = []
    radii: list[float] = []
    for i in range(n):
        low, high = 2 * i * side, 2 * (i + 1) * side
        mine = (along >= low) & (along <= high)
        widest = float(perp[mine].max()) if mine.any() else _widest_edge(shape, direction, along, low, high)
        radius = float(np.hypot(side, widest)) * (1.0 + 1e-9) if widest >= 0.0 else 0.0
        centers.append(direction * (2 * i + 1) * side)
        radii.append(max(radius, min_radius))
    return centers, radii


def _widest_edge(shape: LinkShape, direction: Float64, along: Float64, low: float, high: float) -> float:
    """Distance from the line of the mesh inside a segment without vertices; -1 when the mesh does not cross it.

    Edges that cross the segment run through it from end to end, and the distance from a line is convex along
    them: it is largest where they enter or leave.
    """
    a = shape.faces[:, [0, 1, 2]].reshape(-1)
    b = shape.faces[:, [1, 2, 0]].reshape(-1)
    crossing = (along[a] < low) & (along[b] > high)
    if not crossing.any():
        return -1.0
    a, b = a[crossing], b[crossing]
    widest = 0.0
    for level in (low, high):
        t = ((level - along[a]) / (along[b] - along[a]))[:, None]
        points = shape.vertices[a] + t * (shape.vertices[b] - shape.vertices[a])
        widest = max(widest, float(np.linalg.norm(points - level * direction, axis=1).max()))
    return widest


def _mend(shape: LinkShape, centers: Float64, radii: Float64, min_radius: float) -> tuple[Float64, Float64]:
    """Adds spheres for parts far outside and grows the others until proved."""
    for _ in range(MAX_ADDED):
        result = check(shape, centers, radii)
        if result.covered or len(result.gaps) == 0:
            break
        worst = int(np.argmax(result.gaps))
        nearest = int(np.argmin(np.linalg.norm(centers - result.witnesses[worst], axis=1) - radii))
        if result.gaps[worst] < ADD_FROM * radii[nearest]:
            break
        # the outside part near the worst point: witnesses within the size of the nearest sphere
        reach = max(float(radii[nearest]), 2.0 * float(result.gaps[worst]))
        part = result.witnesses[np.linalg.norm(result.witnesses - result.witnesses[worst], axis=1) < reach]
        middle, radius = bounding_sphere(part)
        centers = np.concatenate([centers, middle[None]])
        radii = np.append(radii, max(radius * (1.0 + 1e-9) + 1e-9 * shape.size, min_radius))
    return centers, certify(shape, centers, radii)
