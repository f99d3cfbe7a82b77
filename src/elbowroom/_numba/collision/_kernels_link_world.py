"""Numba kernels of one link among obstacles on one piece of a segment: its balls first, then its mesh.

In the middle of the piece the link's balls are compared with the obstacles. A ball whose distance exceeds its radius,
the buffer and the movement of its centre on the piece stays clear on all of it; so does what it covers. What lies in
the other balls is judged by the mesh: its distance to the obstacles that these balls may reach must exceed buffer and
movement. Touching in the middle is a collision.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ..mesh import relative_pose
from ..pairs import SLACK
from ..robot import movement
from ..world.kernels import (
    STACK,
    borrowed,
    box_gap_squared,
    mesh_gap,
    mesh_gap_scratch,
    safe_world_distance,
    scene_bound,
)
from ._kernels_segment import BLOCKED, ENOUGH, FREE, UNDECIDED, mesh_row
from ._pack import POSE as ROW

BODY, FIRST_ON_WAY, N_ON_WAY, FIRST_BALL, N_GROUPS, N_BALLS, FIRST_SPAN, ROOT, LINK_COLUMNS = range(9)
"""Columns of a link: its body, its way of joints (first, number), its balls, its tree's root or -1 without a mesh."""
CLOSE = 0.05
"""Metres of movement above which meshes are only asked whether they touch: where balls overlap in the middle, the
meshes are hardly ever farther apart than that, so their distance would prove nothing."""
WORTH = 0.25
"""Balls closer than this share of their movement need so many more pieces that asking the mesh is quicker."""
TIGHT = 0.06
"""Metres by which bounds of the grid are usually too low at most: where they miss more, exact distances miss too."""


@njit(cache=True, nogil=True, error_model="numpy")
def link_scratch(chains, world):
    """What `link_on_piece` works with: balls in place, shares of joints, nodes, near obstacles, mesh scratch."""
    most = 1
    for k in range(len(chains.links)):
        most = max(most, chains.links[k, N_BALLS])
    n = max(1, len(world.kinds))
    balls = np.empty((most, 3)), np.empty(most), np.empty(most, np.int64)
    near = np.empty(n, np.int64), np.zeros(n, np.uint8)
    mesh = np.empty(ROW), np.empty(ROW), np.empty((2, 3)), mesh_gap_scratch(chains.nodes, world)
    return balls, np.zeros(len(chains.kinds)), np.empty(STACK, np.int64), near, mesh


@njit(cache=True, nogil=True, error_model="numpy")
def gap_to_world(world, x, y, z, limit, allowed, waiting):
    """Distance of a point to the nearest obstacle that is not allowed; `limit` where none is nearer."""
    world = borrowed(world)
    best = limit
    for i in range(len(world.endless)):
        k = world.endless[i]
        if allowed[k] == 0:
            best = min(best, safe_world_distance(world, k, x, y, z, best))
    waiting[0] = 0
    top = 1 if len(world.members) > 0 else 0
    while top > 0:
        top -= 1
        row = waiting[top]
        gap = box_gap_squared(world.tree, row, x, y, z)
        if gap > 0.0 and gap >= max(best, 0.0) ** 2:
            continue
        first, count = int(world.tree[row, 6]), int(world.tree[row, 7])
        if count == 0:
            near, far = first, first + 1
            if box_gap_squared(world.tree, near, x, y, z) > box_gap_squared(world.tree, far, x, y, z):
                near, far = far, near
            waiting[top], waiting[top + 1] = far, near
            top += 2
            continue
        for i in range(first, first + count):
            k = world.members[i]
            if allowed[k] == 0:
                best = min(best, safe_world_distance(world, k, x, y, z, best))
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def _note_near(world, k, x, y, z, need, near, seen, n):
    """Appends obstacle k to near[:n] unless it is farther than `need`; returns n and how much farther it is."""
    world = borrowed(world)
    limit = need + ENOUGH
    spare = min(safe_world_distance(world, k, x, y, z, limit), limit) - need
    if spare > SLACK:
        return n, spare
    if seen[k] == 0:
        seen[k] = 1
        near[n] = k
        n += 1
    return n, np.inf


@njit(cache=True, nogil=True, error_model="numpy")
def near_obstacles(world, x, y, z, need, allowed, waiting, near, seen, n):
    """Appends to near[:n] the obstacles within `need` of a point, each once; returns n and by how much others miss.

    The second is at most ENOUGH.
    """
    world = borrowed(world)
    low = ENOUGH
    for i in range(len(world.endless)):
        k = world.endless[i]
        if allowed[k] == 0:
            n, spare = _note_near(world, k, x, y, z, need, near, seen, n)
            low = min(low, spare)
    waiting[0] = 0
    top = 1 if len(world.members) > 0 else 0
    while top > 0:
        top -= 1
        row = waiting[top]
        if box_gap_squared(world.tree, row, x, y, z) >= (need + ENOUGH) ** 2:
            continue
        first, count = int(world.tree[row, 6]), int(world.tree[row, 7])
        if count == 0:
            waiting[top], waiting[top + 1] = first + 1, first
            top += 2
            continue
        for i in range(first, first + count):
            k = world.members[i]
            if allowed[k] == 0:
                n, spare = _note_near(world, k, x, y, z, need, near, seen, n)
                low = min(low, spare)
    return n, low


@njit(cache=True, nogil=True, error_model="numpy")
def _try_ball(i, link, buffer, chains, world, grid, allowed, pose, chord, scratch):
    """Places ball i of a link: bounds of its distance to obstacles and buffer in the middle, and on the whole piece.

    The second is infinitely low where it is hardly worth to look closer; the first is exact where it is not positive.
    """
    chains, world, grid = borrowed(chains), borrowed(world), borrowed(grid)
    (at, moves, _), parts, waiting, _, _ = scratch
    row = chains.links[link]
    T, ball = pose[row[BODY]], chains.balls[row[FIRST_BALL] + i]
    for c in range(3):
        at[i, c] = T[c, 0] * ball[0] + T[c, 1] * ball[1] + T[c, 2] * ball[2] + T[c, 3]
    x, y, z = at[i, 0], at[i, 1], at[i, 2]
    start, stop = row[FIRST_ON_WAY], row[FIRST_ON_WAY] + row[N_ON_WAY]
    moves[i] = movement(chains.kinds, pose, chord, chains.way, start, stop, 1, x, y, z, 0.0, parts)
    size = ball[3] + buffer
    need = size + moves[i]
    far = scene_bound(world, grid, x, y, z)
    if far > need + SLACK:
        return far - size, far - need
    if moves[i] <= TIGHT or far > need - TIGHT:
        far = gap_to_world(world, x, y, z, need + ENOUGH, allowed[link], waiting)
        return far - size, far - need
    if far <= size:
        far = gap_to_world(world, x, y, z, size + SLACK, allowed[link], waiting)
    return far - size, -np.inf


@njit(cache=True, nogil=True, error_model="numpy")
def _by_balls(link, buffer, chains, world, grid, allowed, pose, chord, scratch):
    """(low, middle, share, n): bound for the balls that stay clear, and for the n others: their distance in the middle
    and the smallest share of a movement that it is.

    Groups of balls that stay clear stand for their balls. The balls left go to scratch[0][2].
    """
    chains, world, grid = borrowed(chains), borrowed(world), borrowed(grid)
    _, moves, left = scratch[0]
    low, middle, share, n = np.inf, np.inf, np.inf, 0
    first = chains.links[link, FIRST_SPAN]
    for g in range(chains.links[link, N_GROUPS]):
        _, bound = _try_ball(g, link, buffer, chains, world, grid, allowed, pose, chord, scratch)
        if bound > SLACK:
            low = min(low, bound)
            continue
        for i in range(chains.spans[first + g, 0], chains.spans[first + g, 0] + chains.spans[first + g, 1]):
            apart, bound = _try_ball(i, link, buffer, chains, world, grid, allowed, pose, chord, scratch)
            if bound > SLACK:
                low = min(low, bound)
                continue
            middle = min(middle, apart)
            share = min(share, apart / max(moves[i], SLACK))
            left[n] = i
            n += 1
    return low, middle, share, n


@njit(cache=True, nogil=True, error_model="numpy")
def _reached(link, n, reach, buffer, chains, world, allowed, scratch):
    """An obstacle within the buffer of a ball left that may move by `reach` times its movement; -1 for none."""
    chains, world = borrowed(chains), borrowed(world)
    (at, moves, left), _, waiting, (near, seen), _ = scratch
    for j in range(n):
        i = left[j]
        need = chains.balls[chains.links[link, FIRST_BALL] + i, 3] + buffer + reach * moves[i]
        x, y, z = at[i, 0], at[i, 1], at[i, 2]
        found, _ = near_obstacles(world, x, y, z, need, allowed[link], waiting, near, seen, 0)
        for k in range(found):
            seen[near[k]] = 0
        if found > 0:
            return near[0]
    return -1


@njit(cache=True, nogil=True, error_model="numpy")
def obstacle_in_reach(link, buffer, chains, world, grid, allowed, pose, chord, scratch):
    """An obstacle that the balls of a link cannot be shown to clear on a piece; -1 for none."""
    _, _, _, n = _by_balls(link, buffer, chains, world, grid, allowed, pose, chord, scratch)
    return _reached(link, n, 1.0, buffer, chains, world, allowed, scratch)


@njit(cache=True, nogil=True, error_model="numpy")
def _farthest_left(link, n, chains, pose, chord, scratch):
    """How far any point in the balls left may move."""
    chains = borrowed(chains)
    (at, _, left), parts, _, _, _ = scratch
    row, most = chains.links[link], 0.0
    start, stop = row[FIRST_ON_WAY], row[FIRST_ON_WAY] + row[N_ON_WAY]
    for j in range(n):
        x, y, z = at[left[j], 0], at[left[j], 1], at[left[j], 2]
        radius = chains.balls[row[FIRST_BALL] + left[j], 3]
        move = movement(chains.kinds, pose, chord, chains.way, start, stop, 1, x, y, z, radius, parts)
        most = max(most, move)
    return most


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _by_mesh(link, n, move, wide, buffer, chains, world, allowed, pose, scratch):
    """(status, low, obstacle): what the mesh says of the balls left; UNDECIDED where it says nothing.

    On a `wide` piece it is only asked whether it touches in the middle.
    """
    chains, world = borrowed(chains), borrowed(world)
    (at, moves, left), _, waiting, (near, seen), (mesh, rel, p, search) = scratch
    row = chains.links[link]
    low, found = np.inf, 0
    for j in range(n):
        i = left[j]
        need = chains.balls[row[FIRST_BALL] + i, 3] + buffer + (0.0 if wide else moves[i])
        found, spare = near_obstacles(
            world, at[i, 0], at[i, 1], at[i, 2], need, allowed[link], waiting, near, seen, found
        )
        low = min(low, spare)
    for k in range(found):
        seen[near[k]] = 0
    mesh_row(pose[row[BODY]], chains.placed, link, mesh)
    limit = buffer if wide else buffer + move + ENOUGH
    status, obstacle = (UNDECIDED if wide else FREE), -1
    for k in range(found):
        relative_pose(world.poses[near[k]], mesh, rel)
        gap = mesh_gap(chains.nodes, chains.tris, row[ROOT], rel, world, near[k], limit, search, p)
        if gap < 0.0 or gap < buffer:  # 0 is what a limit of 0 answers for apart
            return BLOCKED, gap - buffer, near[k]
        bound = min(gap, limit) - buffer - move
        if bound > SLACK:
            low = min(low, bound)
        else:
            status, obstacle = UNDECIDED, near[k]
    return status, low, obstacle


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def link_on_piece(link, last, buffer, chains, world, grid, allowed, pose, chord, scratch):
    """(status, low, obstacle, meshes asked): a link on a piece, its bodies posed at the middle.

    FREE comes with a lower bound of what is left of its clearance above the buffer on the piece, BLOCKED with the
    obstacle that it touches in the middle, UNDECIDED with one that the piece is too wide for, or -1. A piece that is
    the `last`, since its halves would not be looked at, is judged as closely as can be.
    """
    chains, world, grid = borrowed(chains), borrowed(world), borrowed(grid)
    low, middle, share, n = _by_balls(link, buffer, chains, world, grid, allowed, pose, chord, scratch)
    if n == 0:
        return FREE, low, -1, 0
    if chains.links[link, ROOT] < 0:
        obstacle = _reached(link, n, 0.0, buffer, chains, world, allowed, scratch) if middle <= 0.0 else -1
        return (BLOCKED if obstacle >= 0 else UNDECIDED), middle, obstacle, 0
    move = _farthest_left(link, n, chains, pose, chord, scratch)
    wide = move > CLOSE and not last
    if middle > 0.0 and not last and (wide or share > WORTH):
        return UNDECIDED, low, -1, 0
    status, bound, obstacle = _by_mesh(link, n, move, wide, buffer, chains, world, allowed, pose, scratch)
    return status, min(low, bound), obstacle, 1
