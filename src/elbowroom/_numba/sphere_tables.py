"""What the numba kernels run on: bodies, balls within balls and pairs, packed into three flat arrays.

Links joined by fixed joints form one body. Every joint axis is turned to z, so the kernels know one kind
of rotation. The spheres of a link are split into up to four groups by their spread; link and groups each
get an enclosing ball. Float32 arithmetic is bounded from above: `margin` is what must be added to the sum
of two radii so that a pair that overlaps in exact arithmetic is never called free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from ..distance.doors import enclosing_ball, largest_values, split_balls
from ..robot.doors import Bodies, KinematicTree, find_bodies
from .sphere_layout import (
    BODIES,
    GROUP_SPHERE,
    HEADER,
    LANES,
    LINK_GROUP,
    LINK_SPHERE,
    N_POINTS,
    PAIRS,
    POINT,
    POSE,
    START,
    WIDTHS,
)

UNIT = 2.0**-24
"""Relative rounding error of float32."""
ROTATION_ERROR = 26 * UNIT
"""Error a joint adds to a rotation (Frobenius norm): 12 units for the product with the fixed part, 12.2
for the turn about z with sine and cosine good to 2 units, and the rest for second-order terms."""


@dataclass(frozen=True)
class PackedModel:
    """Arrays only, so it can be sent to any worker."""

    ints: Int[np.ndarray, "table"]
    floats: Float[np.ndarray, "numbers"]
    doubles: Float[np.ndarray, "laws"]
    margin: float
    """Bound on the float32 error of a distance, m."""
    dof: int

    @property
    def n_pairs(self) -> int:
        """Link pairs that are checked."""
        return int(self.ints[PAIRS])

    def workspace(self) -> Float[np.ndarray, "numbers"]:
        """Scratch memory for one thread."""
        bodies, points = int(self.ints[BODIES]), int(self.ints[N_POINTS])
        return np.zeros(bodies * POSE + points * POINT + 3 * LANES, dtype=np.float32)


def pack_model(
    tree: KinematicTree,
    centers: Float[np.ndarray, "spheres 3"],
    radii: Float[np.ndarray, "spheres"],
    link_idx: Int[np.ndarray, "spheres"],
    pairs: Sequence[tuple[int, int]],
    alone: Sequence[int] = (),
) -> PackedModel:
    """Packs a robot's spheres and the link pairs to check.

    Args:
        tree: the robot's tree.
        centers: in link frames.
        radii: m.
        link_idx: links of the spheres, as positions in `tree.link_names`.
        pairs: links to check against each other, as positions in `tree.link_names`; each has spheres.
        alone: more links to pack, for kernels that look at links one by one.
    """
    bodies = find_bodies(tree)
    used = sorted({*alone, *(link for pair in pairs for link in pair)})
    link_body = {link: bodies.of_frame[int(tree.link_frame[link])] for link in used}
    keep = sorted({0}.union(*(bodies.ancestors(body) for body in link_body.values())))
    renumber = {body: index for index, body in enumerate(keep)}
    tops: list[np.ndarray] = []
    middles: list[np.ndarray] = []
    leaves: list[np.ndarray] = []
    rows: list[list[int]] = []
    spans: list[list[int]] = []
    for link in used:
        balls = bodies.balls(int(tree.link_frame[link]), centers[link_idx == link], radii[link_idx == link])
        groups = split_balls(balls)
        rows.append([renumber[link_body[link]], len(middles), len(groups), len(leaves), len(balls)])
        tops.append(enclosing_ball(balls))
        for group in groups:
            spans.append([len(leaves), len(group)])
            middles.append(enclosing_ball(balls[group]))
            leaves.extend(balls[group])
    n_links, n_groups = len(used), len(middles)
    for row in rows:
        row[LINK_GROUP] += n_links
        row[LINK_SPHERE] += n_links + n_groups
    for span in spans:
        span[GROUP_SPHERE] += n_links + n_groups
    points = np.array([*tops, *middles, *leaves]).reshape(-1, 4)
    body_rows = [
        [renumber.get(bodies.parent[body], 0), bodies.kind[body], bodies.q_idx[body]] for body in keep
    ]
    moving = [[int(i), int(tree.driver[i]), int(tree.is_coupled[i])] for i in tree.order]
    index = {link: position for position, link in enumerate(used)}
    pair_rows = [[index[a], index[b]] for a, b in pairs]
    local = np.array([bodies.T_parent_body[body] for body in keep])
    numbers = np.concatenate([local[:, :3, :3].reshape(-1, 9), local[:, :3, 3]], axis=1)
    limits = largest_values(tree)
    margin = _float_margin(bodies, keep, limits, points, rows)
    return PackedModel(
        ints=_pack_ints([body_rows, moving, rows, spans, pair_rows], len(points)),
        floats=np.concatenate([numbers.ravel(), _rounded_up(points).ravel()]).astype(np.float32),
        doubles=np.column_stack([tree.polycoef, limits]).ravel(),
        margin=margin,
        dof=len(tree.actuated),
    )


def _float_margin(
    bodies: Bodies,
    keep: list[int],
    limits: Float[np.ndarray, "moving"],
    points: Float[np.ndarray, "points 4"],
    links: list[list[int]],
) -> float:
    """Bound on the error of a computed distance between two points less their radii.

    Errors are followed down the tree: a joint adds ROTATION_ERROR to the rotation; a position inherits its
    parent's, turns the rotation's error by the lever arm and rounds in each of four operations.
    """
    turn = {0: 0.0}
    shift = {0: 0.0}
    reach = {0: 0.0}
    for body in keep[1:]:
        up = bodies.parent[body]
        arm = float(np.linalg.norm(bodies.T_parent_body[body][:3, 3]))
        slide = float(limits[bodies.q_idx[body]]) if bodies.kind[body] == 2 else 0.0
        turn[body] = turn[up] + ROTATION_ERROR
        reach[body] = reach[up] + arm + slide
        rounding = np.sqrt(3.0) * UNIT * (4.0 * arm + 5.0 * slide + 3.0 * reach[body])
        shift[body] = shift[up] + turn[up] * arm + turn[body] * slide + rounding
    worst = 0.0
    for body_index, _, _, first, count in links:
        body = keep[body_index]
        arm = float(np.linalg.norm(points[first : first + count, :3], axis=1).max(initial=0.0))
        rounding = np.sqrt(3.0) * UNIT * (4.0 * arm + 2.0 * (reach[body] + arm))
        worst = max(worst, shift[body] + turn[body] * arm + rounding)
    largest = float(points[:, 3].max(initial=0.0))
    return 1.05 * (2.0 * worst + 12.0 * UNIT * 2.0 * largest)


def _rounded_up(points: Float[np.ndarray, "points 4"]) -> Float[np.ndarray, "points 4"]:
    """Points whose radii do not shrink when stored as float32."""
    out = points.copy()
    stored = points[:, 3].astype(np.float32)
    out[:, 3] = np.where(stored < points[:, 3], np.nextafter(stored, np.float32(np.inf)), stored)
    return out


def _pack_ints(tables: Sequence[Sequence[Sequence[int]]], n_points: int) -> Int[np.ndarray, "table"]:
    """Header and tables, in the order of `sphere_layout`."""
    out = np.zeros(HEADER, dtype=np.int64)
    out[N_POINTS] = n_points
    parts = [out]
    start = HEADER
    for kind, (rows, width) in enumerate(zip(tables, WIDTHS, strict=True)):
        out[kind], out[START + kind] = len(rows), start
        parts.append(np.array(rows, dtype=np.int64).reshape(len(rows), width).ravel())
        start += len(parts[-1])
    return np.concatenate(parts)
