"""What proofs of edges by spheres run on: all links with geometry in lanes, and how far joints can move them.

A planner asks about thousands of straight edges, nearly all of which spheres decide. `_kernels_lanes` looks at the
middles of sixteen pieces of an edge at once, every sphere enlarged by the way it can go within half a piece. That way
is bounded whatever the configuration: by the sum over the joints that carry a link of the joint's motion times
`reach`, the largest distance that a sphere's centre can have from the joint's axis (1 for a sliding joint), since
moving the joints one after the other moves the centre along arcs no longer than that.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from ..._frozen import freeze
from ..._poses import matrix_from_wxyz_xyz
from ...robot import Robot
from ...robot.doors import find_bodies
from ...spheres import SphereModel
from ...typing import LinkPair, Matrix4
from ..sphere_tables import PackedModel, pack_model

LAWS = 6
"""Numbers of a joint in `Lanes.doubles`; the last is the largest value that float32 errors are bounded for."""
ROUND_UP = 1.0 + 1e-9
ROUNDING = 1e-8
"""Metres that rounding of places on an edge, and of pads to float32, stays below."""


class Lanes(NamedTuple):
    """Arrays of a robot; links are those with geometry, in the order of `robot.link_names`."""

    ints: Int[np.ndarray, "table"]
    floats: Float[np.ndarray, "numbers"]
    doubles: Float[np.ndarray, "laws"]
    """Of the spheres: see `PackedModel`. Its pairs are those that spheres can decide."""
    pad: float
    """Metres that spheres must be apart from spheres and obstacles: buffer and rounding."""
    link_reach: Float[np.ndarray, "links joints"]
    """Metres that a link moves per radian (metre) of each joint, at most; joints as `KinematicTree` counts them."""
    pair_reach: Float[np.ndarray, "pairs joints"]
    """The same for one link of a pair relative to the other."""
    pair_rows: Int[np.ndarray, "pairs"]
    """The pairs as places in the checked pairs."""
    base: Float[np.ndarray, "1 12"]
    """Pose of the root body in the world."""
    mesh_pairs: Int[np.ndarray, "others"]
    """Checked pairs that only meshes can decide: `prove_pair` must be asked about them on every edge."""
    link_carried: Bool[np.ndarray, "links joints"]
    """Whether a joint carries a link."""
    link_far: Float[np.ndarray, "links"]
    """Metres between the middle of a link's ball and the centre of a sphere in it, at most."""
    ranked: Int[np.ndarray, "joints"]
    """The joints, each after those that carry it."""
    blur: float
    """Metres of rounding in where a sphere is relative to another place of it."""


def pack_lanes(
    robot: Robot,
    own: SphereModel,
    outside: SphereModel,
    pairs: Sequence[LinkPair],
    only_meshes: Collection[LinkPair],
    buffer: float,
) -> Lanes:
    """Packs a robot.

    Args:
        robot: the robot.
        own: covers the links as seen by other links, padding applied.
        outside: covers them as seen by obstacles, padding applied; links as in `own`.
        pairs: the checked ones.
        only_meshes: those of them that spheres cannot decide.
        buffer: metres that everything must be apart.
    """
    names = [name for name in robot.link_names if name in own.counts]
    balls = {robot.link_index(name): _both(own.link(name), outside.link(name)) for name in names}
    rows = np.array([k for k, pair in enumerate(pairs) if pair not in only_meshes], dtype=np.int64)
    others = np.setdiff1d(np.arange(len(pairs)), rows)
    index = [(robot.link_index(pairs[k][0]), robot.link_index(pairs[k][1])) for k in rows.tolist()]
    centers = np.concatenate([np.zeros((0, 3)), *(ball[0] for ball in balls.values())])
    radii = np.concatenate([np.zeros(0), *(ball[1] for ball in balls.values())])
    link_idx = np.repeat(list(balls), [len(ball[1]) for ball in balls.values()])
    packed = pack_model(robot.tree, centers, radii, link_idx, index, list(balls))
    limits = packed.doubles.reshape(-1, LAWS)[:, -1]
    reach, ways = _reaches(robot, {link: ball[0] for link, ball in balls.items()}, limits)
    place = {link: k for k, link in enumerate(balls)}
    pair_reach = np.zeros((len(rows), len(robot.tree.moving)))
    for row, (a, b) in zip(pair_reach, index, strict=True):
        between = ways[place[a]] != ways[place[b]]  # what carries both moves neither relative to the other
        row[:] = np.where(between, reach[place[a]] + reach[place[b]], 0.0)
    pad = buffer + packed.margin + ROUNDING
    root = matrix_from_wxyz_xyz(np.concatenate([robot.tree.quat_cos[0], robot.tree.shift[0]]))
    base = np.concatenate([root[:3, :3].ravel(), root[:3, 3]])[None]
    carried, far, ranked = ways > 0.0, _far(packed), _ranked(robot)
    freeze(
        packed.ints,
        packed.floats,
        packed.doubles,
        reach,
        pair_reach,
        rows,
        base,
        others,
        carried,
        far,
        ranked,
    )
    return Lanes(
        packed.ints, packed.floats, packed.doubles, pad, reach, pair_reach, rows, base, others, carried, far, ranked,
        packed.margin,
    )  # fmt: skip


def _far(packed: PackedModel) -> Float[np.ndarray, "links"]:
    """How far sphere centres are from the middle of their link's ball, by the numbers that kernels work with."""
    from ..distance import LINK_SPHERE, LINK_SPHERES, tables

    _, _, links, _, _, _, points = tables(packed.ints, packed.floats)
    centers = points.reshape(-1, 4)[:, :3].astype(np.float64)
    spheres = [slice(row[LINK_SPHERE], row[LINK_SPHERE] + row[LINK_SPHERES]) for row in links]
    far = [np.linalg.norm(centers[part] - centers[k], axis=1).max() for k, part in enumerate(spheres)]
    return ROUND_UP * np.array(far, dtype=np.float64)


def _ranked(robot: Robot) -> Int[np.ndarray, "joints"]:
    """Moving joints by how many others carry them."""
    bodies = find_bodies(robot.tree)
    depth = np.zeros(len(robot.tree.moving), dtype=np.int64)
    for body in range(1, len(bodies.parent)):
        depth[bodies.q_idx[body]] = len(bodies.ancestors(body))
    return np.argsort(depth, kind="stable")


def _both(
    a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]
) -> tuple[Float[np.ndarray, "n 3"], Float[np.ndarray, "n"]]:
    """Centres and radii that cover what two sets of spheres of a link cover: one forward kinematics serves both."""
    if a[0].shape == b[0].shape and (a[0] == b[0]).all():
        return a[0], np.maximum(a[1], b[1])
    return np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]])


def _reaches(
    robot: Robot, centers: dict[int, Float[np.ndarray, "n 3"]], limits: Float[np.ndarray, "joints"]
) -> tuple[Float[np.ndarray, "links joints"], Float[np.ndarray, "links joints"]]:
    """Reach of every link by every joint, and 1 where the joint carries the link."""
    bodies, frames = find_bodies(robot.tree), robot.tree.link_frame
    reach, carries = (np.zeros((len(centers), len(robot.tree.moving))) for _ in range(2))
    for k, (link, points) in enumerate(centers.items()):
        frame = int(frames[link])
        where = _Where.at(bodies.balls(frame, points, np.zeros(len(points)))[:, :3])
        for body in bodies.ancestors(bodies.of_frame[frame])[:-1]:
            joint, turns = bodies.q_idx[body], bodies.kind[body] == 1
            carries[k, joint] = 1.0
            reach[k, joint] = ROUND_UP * float(where.radius.max()) if turns else 1.0
            where = where.carried(bodies.T_parent_body[body], 0.0 if turns else float(limits[joint]))
    return reach, carries


class _Where(NamedTuple):
    """Where points can be, whatever the joints beyond do: in a cylinder around the z axis and a ball about the origin.

    A joint turns them about z, which leaves both as they are, or slides them along z.
    """

    low: Float[np.ndarray, "n"]
    high: Float[np.ndarray, "n"]
    radius: Float[np.ndarray, "n"]
    """Of the cylinder."""
    ball: Float[np.ndarray, "n"]

    @classmethod
    def at(cls, points: Float[np.ndarray, "n 3"]) -> _Where:
        z, radius = points[:, 2], np.hypot(points[:, 0], points[:, 1])
        return cls(z, z, radius, np.hypot(z, radius))

    def carried(self, T_parent_body: Matrix4, slide: float) -> _Where:
        """In the frame of the body before, after any turn, or a slide of at most `slide` to both sides."""
        low, high, ball = self.low - slide, self.high + slide, self.ball + slide
        origin, axis = T_parent_body[:3, 3], T_parent_body[:3, 2]
        ends = [origin + np.outer(z, axis) for z in (low, high)]
        tilt = float(np.hypot(axis[0], axis[1]))
        radius = np.maximum(*(np.hypot(end[:, 0], end[:, 1]) for end in ends)) + self.radius
        if tilt > 1e-9:  # seen along z, discs of the cylinder are ellipses
            along = axis[:2] / tilt
            reach = np.maximum(*(abs(end[:, :2] @ along) for end in ends)) + self.radius * abs(axis[2])
            aside = abs(float(origin[0] * along[1] - origin[1] * along[0])) + self.radius
            radius = np.minimum(radius, np.hypot(reach, aside))
        radius = np.minimum(radius, np.hypot(origin[0], origin[1]) + ball)
        ball = ball + float(np.linalg.norm(origin))
        low, high = (
            np.minimum(*(end[:, 2] for end in ends)) - self.radius * tilt,
            np.maximum(*(end[:, 2] for end in ends)) + self.radius * tilt,
        )
        ball = np.minimum(ball, np.hypot(np.maximum(abs(low), abs(high)), radius))
        return _Where(np.maximum(low, -ball), np.minimum(high, ball), np.minimum(radius, ball), ball)
