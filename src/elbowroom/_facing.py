"""Which way the closed pieces of a mesh face: parts of the solid outward, walls of cavities inward.

Inside means a winding number that is not zero. Two pieces that overlap and are wound against each other would cancel
there, and what lies in the overlap would count as outside. So where pieces of both windings are in one mesh, each is
looked at from the largest down: one that lies wholly within the solid of the larger ones and is wound against the piece
around it is a cavity; every other piece is part of the solid and faces outward. A piece that crosses or touches the
surface of a larger one is no cavity. Cavities that cross each other are filled where they do, which errs to the solid.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ._jit import njit

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

TOUCH = 1e-9
"""Of the mesh's size: surfaces this near to each other touch."""
WHOLE = 0.99
"""Winding numbers are whole off the surface; on it they are a half or less."""
GRID = 256
"""Cells of the grid in which neighbouring triangles are found, along a side, at most."""


def inverted_pieces(vertices: Float64, faces: Int64, piece: Int64, closed: Bool) -> Bool:
    """(pieces,) the closed pieces to be turned so that they face as part of the solid, or as cavity, should.

    Args:
        vertices: (verts, 3) metres; faces: (tris, 3), consistently wound within each closed piece.
        piece: (tris,) number of each face's piece; closed: (pieces,) which are closed.
    """
    volume, low, high = _extents(vertices, faces, piece, len(closed))
    turn = np.zeros(len(closed), dtype=bool)
    negative = closed & (volume < 0.0)
    if not negative.any() or not (closed & (volume > 0.0)).any():
        return turn  # wound alike, nothing cancels
    order = np.argsort(piece, kind="stable")
    ends = np.searchsorted(piece[order], np.arange(len(closed) + 1))
    touch = TOUCH * float((high - low).max())

    @cache
    def triangles(k: int) -> Float64:
        return vertices[faces[order[ends[k] : ends[k + 1]]]]

    larger: list[int] = []
    for k in sorted(np.flatnonzero(closed & (volume != 0.0)).tolist(), key=lambda k: -abs(volume[k])):
        boxes = np.array(larger, dtype=np.int64)
        around = boxes[((low[boxes] <= low[k]) & (high[boxes] >= high[k])).all(axis=1)]
        turn[k] = negative[k]  # part of the solid, unless it is found to be a cavity
        if (negative[around] != negative[k]).any():
            own = triangles(k)
            container = _container(own, {int(j): triangles(int(j)) for j in around}, turn, negative, touch)
            if container >= 0 and negative[container] != negative[k]:
                turn[k] = not negative[k]
        larger.append(k)
    return turn


def _container(own: Float64, around: dict[int, Float64], turn: Bool, negative: Bool, touch: float) -> int:
    """The smallest piece of the solid around a piece that lies wholly within the solid; -1 where it does not."""
    inner, total = -1, 0.0
    for j, others in around.items():  # from the largest down
        if _surfaces_meet(own, others, touch):
            return -1
        winding = _winding(others, own[0, 0]) * (-1.0 if turn[j] else 1.0)
        total += winding
        if winding > WHOLE and turn[j] == negative[j]:
            inner = j
    return inner if total > WHOLE else -1


@njit(cache=True, error_model="numpy")
def _extents(vertices: Any, faces: Any, piece: Any, pieces: int) -> Any:
    """Signed volumes (pieces,) and bounding boxes, lower and upper (pieces, 3)."""
    volume = np.zeros(pieces)
    low, high = np.full((pieces, 3), np.inf), np.full((pieces, 3), -np.inf)
    origin = np.full(pieces, -1, np.int64)
    for i in range(faces.shape[0]):
        k, a, b, c = piece[i], faces[i, 0], faces[i, 1], faces[i, 2]
        if origin[k] < 0:
            origin[k] = a
        o = origin[k]
        for x in range(3):
            low[k, x] = min(low[k, x], vertices[a, x], vertices[b, x], vertices[c, x])
            high[k, x] = max(high[k, x], vertices[a, x], vertices[b, x], vertices[c, x])
            y, z = (x + 1) % 3, (x + 2) % 3
            minor = (vertices[b, y] - vertices[o, y]) * (vertices[c, z] - vertices[o, z])
            minor -= (vertices[b, z] - vertices[o, z]) * (vertices[c, y] - vertices[o, y])
            volume[k] += (vertices[a, x] - vertices[o, x]) * minor / 6.0
    return volume, low, high


@njit(cache=True, error_model="numpy")
def _winding(tris: Any, p: Any) -> float:
    """Winding number of closed triangles (n, 3, 3) about a point, whole unless the point is on them."""
    total = 0.0
    for i in range(tris.shape[0]):
        y0, y1, y2 = tris[i, 0, 1] - p[1], tris[i, 1, 1] - p[1], tris[i, 2, 1] - p[1]
        z0, z1, z2 = tris[i, 0, 2] - p[2], tris[i, 1, 2] - p[2], tris[i, 2, 2] - p[2]
        if min(y0, y1, y2) > 0.0 or max(y0, y1, y2) < 0.0 or min(z0, z1, z2) > 0.0 or max(z0, z1, z2) < 0.0:
            continue  # the ray along x passes by
        w0, w1, w2 = y1 * z2 - y2 * z1, y2 * z0 - y0 * z2, y0 * z1 - y1 * z0
        if (w0 < 0.0 or w1 < 0.0 or w2 < 0.0) and (w0 > 0.0 or w1 > 0.0 or w2 > 0.0):
            continue
        area = w0 + w1 + w2
        if min(abs(w0), abs(w1), abs(w2)) <= 1e-9 * abs(area):
            return _solid_angles(tris, p)  # through an edge: it cannot be said whose
        x = (w0 * tris[i, 0, 0] + w1 * tris[i, 1, 0] + w2 * tris[i, 2, 0]) / area - p[0]
        if x > 0.0:
            total += 1.0 if area > 0.0 else -1.0
    return total


@njit(cache=True, error_model="numpy")
def _solid_angles(tris: Any, p: Any) -> float:
    """Winding number as the sum of solid angles (van Oosterom and Strackee, 1983)."""
    total = 0.0
    for i in range(tris.shape[0]):
        ax, ay, az = tris[i, 0, 0] - p[0], tris[i, 0, 1] - p[1], tris[i, 0, 2] - p[2]
        bx, by, bz = tris[i, 1, 0] - p[0], tris[i, 1, 1] - p[1], tris[i, 1, 2] - p[2]
        cx, cy, cz = tris[i, 2, 0] - p[0], tris[i, 2, 1] - p[1], tris[i, 2, 2] - p[2]
        la, lb = np.sqrt(ax * ax + ay * ay + az * az), np.sqrt(bx * bx + by * by + bz * bz)
        lc = np.sqrt(cx * cx + cy * cy + cz * cz)
        det = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
        den = la * lb * lc + (ax * bx + ay * by + az * bz) * lc
        den += (bx * cx + by * cy + bz * cz) * la + (ax * cx + ay * cy + az * cz) * lb
        total += np.arctan2(det, den)
    return total / (2.0 * np.pi)


@njit(cache=True, error_model="numpy")
def _surfaces_meet(one: Any, two: Any, touch: float) -> bool:
    """Whether any triangle of `one` (n, 3, 3) crosses or touches one of `two`: those of `one` in a flat grid."""
    boxes = _bounds(one)
    low, high = np.empty(3), np.empty(3)
    for x in range(3):
        low[x], high[x] = boxes[:, x].min() - touch, boxes[:, 3 + x].max() + touch
    flat = np.argmin(high - low)  # the grid lies across the shortest side
    u, v = (flat + 1) % 3, (flat + 2) % 3
    n = min(GRID, 1 + int(np.sqrt(one.shape[0])))
    su, sv = n / max(high[u] - low[u], 1e-300), n / max(high[v] - low[v], 1e-300)
    span = np.empty((one.shape[0], 4), np.int64)
    start = np.zeros(n * n + 1, np.int64)
    for i in range(one.shape[0]):
        span[i, 0], span[i, 1] = int((boxes[i, u] - low[u]) * su), int((boxes[i, 3 + u] - low[u]) * su)
        span[i, 2], span[i, 3] = int((boxes[i, v] - low[v]) * sv), int((boxes[i, 3 + v] - low[v]) * sv)
        for k in range(4):
            span[i, k] = min(max(span[i, k], 0), n - 1)
        for cu in range(span[i, 0], span[i, 1] + 1):
            for cv in range(span[i, 2], span[i, 3] + 1):
                start[cu * n + cv + 1] += 1
    start = np.cumsum(start)
    filled, entries = start[:-1].copy(), np.empty(start[-1], np.int64)
    for i in range(one.shape[0]):
        for cu in range(span[i, 0], span[i, 1] + 1):
            for cv in range(span[i, 2], span[i, 3] + 1):
                entries[filled[cu * n + cv]] = i
                filled[cu * n + cv] += 1
    box = np.empty((1, 6))
    for j in range(two.shape[0]):
        apart = False
        for x in range(3):
            box[0, x] = min(two[j, 0, x], two[j, 1, x], two[j, 2, x]) - touch
            box[0, 3 + x] = max(two[j, 0, x], two[j, 1, x], two[j, 2, x]) + touch
            apart |= box[0, x] > high[x] or box[0, 3 + x] < low[x]
        if apart:
            continue
        for cu in range(
            max(int((box[0, u] - low[u]) * su), 0), min(int((box[0, 3 + u] - low[u]) * su), n - 1) + 1
        ):
            for cv in range(
                max(int((box[0, v] - low[v]) * sv), 0), min(int((box[0, 3 + v] - low[v]) * sv), n - 1) + 1
            ):
                for e in range(start[cu * n + cv], start[cu * n + cv + 1]):
                    if _triangles_meet(one, entries[e], boxes, two, j, box, touch):
                        return True
    return False


@njit(cache=True, error_model="numpy")
def _triangles_meet(one: Any, i: int, boxes: Any, two: Any, j: int, box: Any, touch: float) -> bool:
    """Whether triangle i of `one` crosses or touches triangle j of `two`, whose own box is given: edges of each."""
    for x in range(3):
        if boxes[i, x] > box[0, 3 + x] or box[0, x] > boxes[i, 3 + x]:
            return False
    for k in range(3):
        if _edge_meets(one[i, k], one[i, (k + 1) % 3], two[j], touch):
            return True
        if _edge_meets(two[j, k], two[j, (k + 1) % 3], one[i], touch):
            return True
    return False


@njit(cache=True, error_model="numpy")
def _bounds(tris: Any) -> Any:
    """Boxes (n, 6) of triangles, lower and upper corners."""
    out = np.empty((tris.shape[0], 6))
    for i in range(tris.shape[0]):
        for x in range(3):
            out[i, x] = min(tris[i, 0, x], tris[i, 1, x], tris[i, 2, x])
            out[i, 3 + x] = max(tris[i, 0, x], tris[i, 1, x], tris[i, 2, x])
    return out


@njit(cache=True, error_model="numpy")
def _edge_meets(p: Any, q: Any, tri: Any, touch: float) -> bool:
    """Whether a segment crosses or touches a triangle. One in its plane is left to its neighbours, which leave it."""
    ax, ay, az = tri[0, 0], tri[0, 1], tri[0, 2]
    ux, uy, uz = tri[1, 0] - ax, tri[1, 1] - ay, tri[1, 2] - az
    vx, vy, vz = tri[2, 0] - ax, tri[2, 1] - ay, tri[2, 2] - az
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    size = np.sqrt(nx * nx + ny * ny + nz * nz)
    if size == 0.0:
        return False
    nx, ny, nz = nx / size, ny / size, nz / size
    above = nx * (p[0] - ax) + ny * (p[1] - ay) + nz * (p[2] - az)
    below = nx * (q[0] - ax) + ny * (q[1] - ay) + nz * (q[2] - az)
    if min(above, below) > touch or max(above, below) < -touch or above == below:
        return False
    at = min(max(above / (above - below), 0.0), 1.0)
    sx, sy, sz = p[0] + at * (q[0] - p[0]), p[1] + at * (q[1] - p[1]), p[2] + at * (q[2] - p[2])
    for k in range(3):
        m = (k + 1) % 3
        ex, ey, ez = tri[m, 0] - tri[k, 0], tri[m, 1] - tri[k, 1], tri[m, 2] - tri[k, 2]
        ox, oy, oz = (
            ey * nz - ez * ny,
            ez * nx - ex * nz,
            ex * ny - ey * nx,
        )  # out of the triangle, in its plane
        out = (sx - tri[k, 0]) * ox + (sy - tri[k, 1]) * oy + (sz - tri[k, 2]) * oz
        if out > touch * np.sqrt(ex * ex + ey * ey + ez * ez):
            return False
    return True
