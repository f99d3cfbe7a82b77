"""What proofs of segments among obstacles run on: links with geometry, their balls, and the joints that carry them.

Method and guarantee are in `_kernels_segment_world` and `_kernels_link_world`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from ..._poses import matrix_from_wxyz_xyz
from ...pairs.doors import PairChains
from ...robot import Robot
from ...robot.doors import coupling_law, find_bodies
from ._pack import PackedScene


class LinkChains(NamedTuple):
    """Arrays of the links and of the bodies that carry them; body 0 is the root."""

    parents: Int[np.ndarray, "bodies"]
    kinds: Int[np.ndarray, "bodies"]
    """Of each body's joint: 1 turns about z, 2 slides along z, 0 for the root."""
    drivers: Int[np.ndarray, "bodies"]
    """Entry of the configuration that moves each joint."""
    local: Float[np.ndarray, "bodies 3 4"]
    """Each body in its parent at zero; the root in the world."""
    polys: Float[np.ndarray, "bodies terms"]
    """Joint value as a polynomial of its driver, constant term first."""
    links: Int[np.ndarray, "links 8"]
    """See `_kernels_link_world`."""
    turns: Int[np.ndarray, "links"]
    """Order in which links are looked at: those far from the root, which move most, first."""
    way: Int[np.ndarray, "joints"]
    """Bodies that carry each link, outermost first, without the root."""
    balls: Float[np.ndarray, "balls 4"]
    """Groups, then spheres of each link, in the frame of its body."""
    spans: Int[np.ndarray, "groups 2"]
    """First sphere of each group, counted in its link, and their number."""
    placed: Float[np.ndarray, "links 12"]
    """Each link on its body."""
    nodes: Float[np.ndarray, "rows 16"]
    tris: Float[np.ndarray, "rows 9"]
    """Trees and triangles of the links' meshes."""


def pack_link_chains(
    robot: Robot, balls: tuple[np.ndarray, np.ndarray, np.ndarray], scene: PackedScene, names: Sequence[str]
) -> LinkChains:
    """Packs the links of a robot.

    Args:
        robot: the robot; its root may be anywhere in the world.
        balls: as in `pack_scene`; they cover the links, and decide for those without a mesh.
        scene: the meshes of the links, and the links on their bodies.
        names: links with spheres, in the order of the answer.
    """
    tree, bodies = robot.tree, find_bodies(robot.tree)
    maker = PairChains(tree, *balls)
    body_of = [bodies.of_frame[int(tree.link_frame[robot.link_index(name)])] for name in names]
    keep = bodies.with_ancestors(body_of)
    number = {body: k for k, body in enumerate(keep)}
    laws = [coupling_law(tree, bodies.q_idx[body]) if body else (0, [0.0]) for body in keep]
    polys = np.zeros((len(keep), max(len(law) for _, law in laws)))
    for row, (_, law) in zip(polys, laws, strict=True):
        row[: len(law)] = law
    T_world_root = matrix_from_wxyz_xyz(np.concatenate([tree.quat_cos[0], tree.shift[0]]))
    local = [bodies.T_parent_body[body] if body else T_world_root for body in keep]
    ways = [[number[b] for b in bodies.ancestors(body) if b] for body in body_of]
    grouped = [maker.balls_of(robot.link_index(name)) for name in names]
    way_rows, ball_rows, span_rows = (
        np.cumsum([0, *map(len, parts)]).tolist()
        for parts in (ways, [each for each, _ in grouped], [each for _, each in grouped])
    )
    links = [
        [
            number[body_of[k]], way_rows[k], len(ways[k]), ball_rows[k], len(grouped[k][1]), len(grouped[k][0]),
            span_rows[k], scene.roots.get(name, -1),
        ]
        for k, name in enumerate(names)
    ]  # fmt: skip
    return LinkChains(
        parents=np.array([number.get(bodies.parent[body], 0) for body in keep], dtype=np.int64),
        kinds=np.array([bodies.kind[body] for body in keep], dtype=np.int64),
        drivers=np.array([driver for driver, _ in laws], dtype=np.int64),
        local=np.ascontiguousarray(np.array(local)[:, :3]),
        polys=polys,
        links=np.array(links, dtype=np.int64).reshape(-1, 8),
        turns=np.argsort([-len(way) for way in ways], kind="stable").astype(np.int64),
        way=np.array([body for way in ways for body in way], dtype=np.int64),
        balls=np.concatenate([np.zeros((0, 4)), *(each for each, _ in grouped)]),
        spans=np.concatenate([np.zeros((0, 2), np.int64), *(each for _, each in grouped)]),
        placed=np.array([scene.placed[name] for name in names]).reshape(-1, 12),
        nodes=scene.nodes,
        tris=scene.tris,
    )
