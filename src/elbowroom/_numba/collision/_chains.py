"""What kernels of proofs between links run on: the joints between the links of every pair, packed into flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from ...pairs.doors import PairChains
from ...robot import Robot
from ...typing import LinkPair
from ._pack import PackedScene


@dataclass(frozen=True)
class PackedChains:
    """The joints between the links of every pair, and the links' balls."""

    pairs: tuple[LinkPair, ...]
    chains: Int[np.ndarray, "pairs 7"]
    kinds: Int[np.ndarray, "joints"]
    drivers: Int[np.ndarray, "joints"]
    """Entry of the configuration that moves each joint."""
    local: Float[np.ndarray, "joints 3 4"]
    polys: Float[np.ndarray, "joints terms"]
    links: Int[np.ndarray, "links 5"]
    balls: Float[np.ndarray, "balls 4"]
    spans: Int[np.ndarray, "groups 2"]
    placed: Float[np.ndarray, "links 12"]
    """Each link on its body."""


def pack_chains(
    robot: Robot,
    balls: tuple[np.ndarray, np.ndarray, np.ndarray],
    scene: PackedScene,
    pairs: Sequence[LinkPair],
) -> PackedChains:
    """Packs the chains of the checked pairs.

    Args:
        robot: the robot.
        balls: as in `pack_scene`.
        scene: the same pairs, packed.
        pairs: the checked ones.
    """
    maker = PairChains(robot.tree, *balls)
    used = sorted({name for pair in pairs for name in pair})
    number = {name: k for k, name in enumerate(used)}
    made = [maker.between(robot.link_index(a), robot.link_index(b)) for a, b in pairs]
    width = max((chain.joints.poly.shape[1] for chain in made), default=1)
    rows: list[list[int]] = []
    joints = 0
    for (a, b), chain in zip(pairs, made, strict=True):
        meshes = int(a in scene.roots and b in scene.roots)
        rows.append(
            [number[a], number[b], joints, len(chain.joints.kind), chain.joints.n_a, chain.side, meshes]
        )
        joints += len(chain.joints.kind)
    grouped = [maker.balls_of(robot.link_index(name)) for name in used]
    ball_rows = np.cumsum([0, *(len(each) for each, _ in grouped)])
    span_rows = np.cumsum([0, *(len(each) for _, each in grouped)])
    links = [
        [int(ball_rows[k]), len(spans), len(each), int(span_rows[k]), scene.roots.get(used[k], -1)]
        for k, (each, spans) in enumerate(grouped)
    ]
    return PackedChains(
        pairs=tuple(pairs),
        chains=np.array(rows, dtype=np.int64).reshape(-1, 7),
        kinds=np.concatenate([np.zeros(0, np.int64), *(chain.joints.kind for chain in made)]),
        drivers=np.concatenate(
            [np.zeros(0, np.int64), *(chain.joints.cfg_idx[chain.joints.var] for chain in made)]
        ),
        local=np.concatenate([np.zeros((0, 3, 4)), *(chain.joints.local for chain in made)]),
        polys=np.concatenate([np.zeros((0, width)), *(_widened(chain.joints.poly, width) for chain in made)]),
        links=np.array(links, dtype=np.int64).reshape(-1, 5),
        balls=np.concatenate([np.zeros((0, 4)), *(each for each, _ in grouped)]),
        spans=np.concatenate([np.zeros((0, 2), np.int64), *(each for _, each in grouped)]),
        placed=np.array([scene.placed[name] for name in used]).reshape(-1, 12),
    )


def _widened(poly: Float[np.ndarray, "joints terms"], width: int) -> Float[np.ndarray, "joints width"]:
    """Polynomials with zeros for the terms they lack."""
    return np.pad(poly, ((0, 0), (0, width - poly.shape[1])))
