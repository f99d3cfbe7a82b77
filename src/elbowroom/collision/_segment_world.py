"""Segments among obstacles: the robot's links, their ways from the root and what they may touch, packed for the proof.

Method and guarantee are in `_kernels_segment_world` and `_kernels_link_world`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from .._parallel import over_rows
from .._poses import matrix_from_wxyz_xyz
from ..mesh import TriangleMesh, pack_meshes
from ..pairs import PairChains
from ..robot import Robot, coupling_law, find_bodies
from ..spheres import SphereModel
from ..typing import LinkPair
from ..world import World

THREAD_SEGMENTS = 8
"""Batches from this size on are shared by the cores."""


class WorldChains(NamedTuple):
    """Arrays of the links with geometry and of the bodies that carry them; body 0 is the root."""

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
    allowed: Int[np.ndarray, "links obstacles"]
    """uint8: 1 where a link may touch an obstacle."""


@dataclass(frozen=True, eq=False)
class WorldSegments:
    """Proofs of one robot in one world."""

    link_names: tuple[str, ...]
    """Links with geometry, in the order in which they are looked at."""
    obstacle_names: tuple[str, ...]
    chains: WorldChains
    world: World

    def prove(
        self,
        begins: Float[np.ndarray, "n dof"],
        ends: Float[np.ndarray, "n dof"],
        buffer: float,
        budgets: Int[np.ndarray, "n"],
        threads: int,
    ) -> tuple[Float[np.ndarray, "n 2"], Int[np.ndarray, "n 5"]]:
        """Proves or refutes segments: `found` and `counts` of `prove_world_segments`."""
        from ._kernels_segment_world import prove_world_segments

        found, counts = np.empty((len(begins), 2)), np.empty((len(begins), 5), np.int64)
        packed = self.world.packed

        def piece(first: int, last: int) -> None:
            rows = slice(first, last)
            prove_world_segments(
                begins[rows],
                ends[rows],
                buffer,
                budgets[rows],
                self.chains,
                packed,
                found[rows],
                counts[rows],
            )

        over_rows(piece, len(begins), threads=threads, at_least=THREAD_SEGMENTS, align=1)
        return found, counts

    def pair(self, link: int, obstacle: int) -> LinkPair:
        """Names of a link and an obstacle as the kernel counts them."""
        return self.link_names[link], self.obstacle_names[obstacle]


def pack_world_segments(
    robot: Robot,
    spheres: SphereModel,
    meshes: Mapping[str, TriangleMesh],
    world: World,
    allow: Collection[LinkPair],
) -> WorldSegments:
    """Packs a robot among obstacles.

    Args:
        robot: the robot; its root may be anywhere in the world.
        spheres: they cover the links; their world padding counts for links without a mesh, which they decide.
        meshes: by link.
        world: the obstacles.
        allow: (link, obstacle) that may touch.
    """
    tree, bodies = robot.tree, find_bodies(robot.tree)
    padded = spheres.padded_radii("world")
    meshed = np.array([name in meshes for name in robot.link_names])[spheres.link_idx]
    maker = PairChains(tree, spheres.centers, np.where(meshed, spheres.radii, padded), spheres.link_idx)
    # Those far from the root move most and collide most.
    frame_of = {name: int(tree.link_frame[robot.link_index(name)]) for name in spheres.counts}
    body_of = {name: bodies.of_frame[frame] for name, frame in frame_of.items()}
    names = sorted(body_of, key=lambda name: -len(bodies.ancestors(body_of[name])))
    keep = bodies.with_ancestors(set(body_of.values()))
    number = {body: k for k, body in enumerate(keep)}
    laws = [coupling_law(tree, bodies.q_idx[body]) if body else (0, [0.0]) for body in keep]
    polys = np.zeros((len(keep), max(len(law) for _, law in laws)))
    for row, (_, law) in zip(polys, laws, strict=True):
        row[: len(law)] = law
    T_world_root = matrix_from_wxyz_xyz(np.concatenate([tree.quat_cos[0], tree.shift[0]]))
    local = [bodies.T_parent_body[body] if body else T_world_root for body in keep]
    ways = [[number[body] for body in bodies.ancestors(body_of[name]) if body] for name in names]
    grouped = [maker.balls_of(robot.link_index(name)) for name in names]
    nodes, tris, roots = pack_meshes(list(meshes.values()))
    root_of = dict(zip(meshes, roots.tolist(), strict=True))
    way_rows, ball_rows, span_rows = (
        np.cumsum([0, *map(len, parts)])
        for parts in (ways, [balls for balls, _ in grouped], [spans for _, spans in grouped])
    )
    links = [
        [
            number[body_of[name]], way_rows[k], len(ways[k]), ball_rows[k], len(grouped[k][1]), len(grouped[k][0]),
            span_rows[k], root_of.get(name, -1),
        ]
        for k, name in enumerate(names)
    ]  # fmt: skip
    placed = np.array([bodies.T_body_frame[frame_of[name]] for name in names]).reshape(-1, 4, 4)
    allowed = np.zeros((len(names), len(world)), np.uint8)
    for link, obstacle in allow:
        if link in body_of:  # a link without geometry touches nothing
            allowed[names.index(link), world.index(obstacle)] = 1
    chains = WorldChains(
        parents=np.array([number.get(bodies.parent[body], 0) for body in keep], dtype=np.int64),
        kinds=np.array([bodies.kind[body] for body in keep], dtype=np.int64),
        drivers=np.array([driver for driver, _ in laws], dtype=np.int64),
        local=np.ascontiguousarray(np.array(local)[:, :3]),
        polys=polys,
        links=np.array(links, dtype=np.int64).reshape(-1, 8),
        way=np.array([body for way in ways for body in way], dtype=np.int64),
        balls=np.concatenate([np.zeros((0, 4)), *(balls for balls, _ in grouped)]),
        spans=np.concatenate([np.zeros((0, 2), np.int64), *(spans for _, spans in grouped)]),
        placed=np.concatenate([placed[:, :3, :3].reshape(-1, 9), placed[:, :3, 3]], axis=1),
        nodes=nodes,
        tris=tris,
        allowed=allowed,
    )
    return WorldSegments(tuple(names), world.names, chains, world)
