"""What the kernels of the verdict run on: the spheres of all checked pairs and the meshes behind them.

The spheres are packed by `distance` (float32, bounding balls, error bound). This module adds the meshes: bodies and
their joints in float64, the place of every link on its body, where each link's tree starts, and for every pair
whether meshes decide it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from ..._frozen import freeze
from ...mesh import TriangleMesh
from ...robot import Robot
from ...robot.doors import find_bodies
from ...typing import LinkPair
from ..mesh_tables import pack_meshes
from ..sphere_tables import PackedModel, pack_model

N_BODIES, N_LINKS, N_PAIRS, AT_BODIES, AT_LINKS, AT_PAIRS, HEADER = range(7)
"""Entries at the start of `scene`: counts of bodies, links and pairs, where their tables start, size of this header."""
BODY_PARENT, BODY_KIND, BODY_JOINT, BODY_WIDTH = range(4)
"""Columns of a body: the body that carries it, the kind of joint, its entry of `q_full`."""
LINK_BODY, LINK_ROOT, LINK_WIDTH = range(3)
"""Columns of a link: its body, and the row of its tree's root, -1 without a mesh."""
POSE = 12
"""Numbers of a pose in `frames`: rotation row by row, then translation."""


@dataclass(frozen=True)
class PackedScene:
    """Spheres and meshes of the checked pairs; arrays only, so it can be sent to any worker."""

    spheres: PackedModel
    scene: Int[np.ndarray, "table"]
    """Counts, bodies, links, and for every pair 1 where meshes decide, 0 where spheres do."""
    frames: Float[np.ndarray, "numbers"]
    """Pose of each body in its parent at q = 0, then of each link on its body."""
    nodes: Float[np.ndarray, "rows 16"]
    tris: Float[np.ndarray, "rows 9"]
    """Trees and triangles of all meshes."""
    pads: Float[np.ndarray, "pairs"]
    """float32: what spheres must be apart, error bound included."""
    pairs: Int[np.ndarray, "pairs 2"]
    """Numbers of the links of every pair in `scene`."""
    roots: Mapping[str, int]
    """Row of the root of each link's tree."""
    placed: Mapping[str, Float[np.ndarray, "12"]]
    """Pose of each link of a pair on its body."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        freeze(self.nodes, self.tris)  # as the kernels know them: pickling makes arrays writable

    def decided_by(self, meshes: Sequence[bool]) -> Int[np.ndarray, "table"]:
        """`scene` in which meshes decide just the marked pairs, those without meshes excepted."""
        scene = self.scene.copy()
        at = int(scene[AT_PAIRS])
        scene[at:] &= np.asarray(meshes, dtype=np.int64)
        return scene


def pack_scene(
    robot: Robot,
    balls: tuple[np.ndarray, np.ndarray, np.ndarray],
    meshes: Mapping[str, TriangleMesh],
    pairs: Sequence[LinkPair],
    buffer: float,
    alone: Sequence[str] = (),
) -> PackedScene:
    """Packs the checked pairs of a robot.

    Args:
        robot: the robot.
        balls: centres in link frames, radii and links (positions in `robot.link_names`), links ascending; every
            link of a pair has some.
        meshes: by link; a pair is decided by meshes when both links have one.
        pairs: the checked ones.
        buffer: metres that two links of a pair must be apart.
        alone: more links to pack, which are compared with other things than links.
    """
    index = [(robot.link_index(a), robot.link_index(b)) for a, b in pairs]
    single = [robot.link_index(name) for name in alone]
    spheres = pack_model(robot.tree, *balls, index, single)
    bodies = find_bodies(robot.tree)
    used = sorted({*single, *(link for pair in index for link in pair)})  # as `pack_model` numbers links
    frame = {link: int(robot.tree.link_frame[link]) for link in used}
    keep = bodies.with_ancestors({bodies.of_frame[frame[link]] for link in used})
    number = {body: k for k, body in enumerate(keep)}
    nodes, tris, roots = pack_meshes(list(meshes.values()))
    root_of = dict(zip(meshes, roots.tolist(), strict=True))
    body_rows = [[number.get(bodies.parent[b], 0), bodies.kind[b], bodies.q_idx[b]] for b in keep]
    link_rows = [
        [number[bodies.of_frame[frame[link]]], root_of.get(robot.link_names[link], -1)] for link in used
    ]
    decide = [int(a in meshes and b in meshes) for a, b in pairs]
    at_links = HEADER + BODY_WIDTH * len(keep)
    at_pairs = at_links + LINK_WIDTH * len(used)
    header = [len(keep), len(used), len(pairs), HEADER, at_links, at_pairs]
    poses = [bodies.T_parent_body[b] for b in keep] + [bodies.T_body_frame[frame[link]] for link in used]
    rows = np.array(poses).reshape(-1, 4, 4)
    frames = np.concatenate([rows[:, :3, :3].reshape(-1, 9), rows[:, :3, 3]], axis=1)
    place = {link: k for k, link in enumerate(used)}
    return PackedScene(
        spheres=spheres,
        scene=np.array(header + _flat(body_rows) + _flat(link_rows) + decide, dtype=np.int64),
        frames=frames.ravel(),
        nodes=nodes,
        tris=tris,
        pads=np.full(len(pairs), np.nextafter(np.float32(buffer + spheres.margin), np.float32(np.inf))),
        pairs=np.array([[place[a], place[b]] for a, b in index], dtype=np.int64).reshape(-1, 2),
        roots=root_of,
        placed={robot.link_names[link]: frames[len(keep) + k] for k, link in enumerate(used)},
    )


def _flat(rows: Sequence[Sequence[int]]) -> list[int]:
    return [value for row in rows for value in row]
