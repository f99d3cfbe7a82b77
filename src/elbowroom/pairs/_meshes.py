"""What the links' own meshes say of pairs: at poses, over samples, and how deep.

Spheres are larger than the links they cover, so where they overlap the links may be apart. Here the meshes are asked,
exactly, for all pairs at once: that costs about as much as asking for one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float

from ..mesh import ExactCollision, TriangleMesh, mesh_mesh_separation
from ..robot import Robot
from ..typing import LinkPair

MEASURED = 2
"""Colliding samples of a pair whose depth is measured; depths cost a thousand times as much as a yes or no."""
CHUNK = 1024
"""Samples held at once."""


class MeshJudge:
    """The meshes of a robot's links, and the pairs of them that are asked about.

    Args:
        robot: the robot.
        pairs: pairs to judge; those in which a link has no mesh are left out.
        samples: configurations (n, dof) over which `hits` counts.
    """

    def __init__(self, robot: Robot, pairs: Iterable[LinkPair], samples: Float[np.ndarray, "n dof"]) -> None:
        solid = set(robot.mesh_links)
        self.robot = robot
        self.samples = samples
        self._exact = ExactCollision(robot, [pair for pair in pairs if set(pair) <= solid])
        self._column = {pair: k for k, pair in enumerate(self._exact.pairs)}

    def knows(self, pair: LinkPair) -> bool:
        """Whether both links have meshes."""
        return pair in self._column

    @cached_property
    def _met(self) -> Bool[np.ndarray, "n pairs"]:
        return self._exact.colliding(self.samples)

    def hits(self, pair: LinkPair) -> int:
        """Samples in which the meshes of a pair collide."""
        return int(self._met[:, self._column[pair]].sum())

    def first_hit(self, pair: LinkPair) -> Float[np.ndarray, "dof"]:
        """The first sample in which the meshes of a pair collide."""
        return self.samples[int(self._met[:, self._column[pair]].argmax())]

    def mesh(self, link: str) -> TriangleMesh:
        """The mesh of a link that takes part."""
        return self._exact.meshes[link]

    def collisions(
        self, pairs: Iterable[LinkPair], cfgs: Float[np.ndarray, "n dof"]
    ) -> dict[LinkPair, tuple[int, int, Float[np.ndarray, "dof"]]]:
        """Of a few pairs, those that collide: in how many of the configurations, of how many, and the first."""
        exact = ExactCollision(self.robot, list(pairs))
        met = exact.colliding(cfgs)
        return {
            pair: (int(met[:, k].sum()), len(cfgs), cfgs[int(met[:, k].argmax())])
            for k, pair in enumerate(exact.pairs)
            if met[:, k].any()
        }

    def touching(self, cfgs: Float[np.ndarray, "n dof"], pairs: Iterable[LinkPair]) -> np.ndarray:
        """(n, pairs) whether the meshes collide; False for pairs without meshes."""
        wanted = list(pairs)
        out = np.zeros((len(cfgs), len(wanted)), dtype=bool)
        known = [k for k, pair in enumerate(wanted) if pair in self._column]
        found = self._exact.colliding(cfgs)
        out[:, known] = found[:, [self._column[wanted[k]] for k in known]]
        return out

    def overlaps(self, pairs: Iterable[LinkPair], cfgs: Float[np.ndarray, "n dof"]) -> dict[LinkPair, int]:
        """Configurations of many in which each of a few pairs collides."""
        exact = ExactCollision(self.robot, list(pairs))
        total = sum(
            exact.colliding(cfgs[start : start + CHUNK]).sum(axis=0) for start in range(0, len(cfgs), CHUNK)
        )
        return {pair: int(np.atleast_1d(total)[k]) for k, pair in enumerate(exact.pairs)}

    def depth(self, pair: LinkPair, cfg: Float[np.ndarray, "dof"]) -> float:
        """Metres that the meshes must part at one configuration; 0 when they are apart."""
        a, b = pair
        poses = self.robot.link_poses(cfg)
        at_a, at_b = (poses[self.robot.link_index(name)] for name in pair)
        contact = mesh_mesh_separation(self._exact.meshes[a], at_a, self._exact.meshes[b], at_b)
        return 0.0 if contact is None else float(contact.depth)

    def sampled_depth(self, pair: LinkPair) -> float | None:
        """The deepest of a few colliding samples, in metres; None when no sample collides."""
        met = np.flatnonzero(self._met[:, self._column[pair]])[:MEASURED]
        return max((self.depth(pair, self.samples[k]) for k in met), default=None)
