"""The two levels behind the verdict: covering spheres and meshes of the checked pairs, and the calls on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from jaxtyping import Float

from .. import _core
from .._parallel import cores
from ..mesh import ExactCollision, TriangleMesh
from ..pairs import PairMatrix
from ..robot import Robot
from ..spheres import SphereModel
from ..typing import LinkPair
from ._core_world import link_spheres
from ._cover import covering_in_world
from ._lanes import Lanes, pack_lanes
from ._pack import PackedScene, pack_scene
from ._pieces import Pieces
from ._segment import PackedChains, SegmentProofs, pack_chains, prove_all
from ._segment_world import LinkChains, pack_link_chains

ORDER_SAMPLES = 256
"""Random configurations that decide the order of pairs, most often colliding first: it only costs or saves time."""

ROUNDING = 1e-9
"""Radians or metres beyond a limit that do not count."""
MADE = ("core", "core_spheres", "chains", "bodies", "lanes", "_packed")
"""What is made on demand and does not travel."""


class Engine:
    """Spheres and meshes of the checked pairs of one robot."""

    def __init__(
        self, robot: Robot, spheres: SphereModel, pairs: PairMatrix, buffer: float, threads: int | None
    ) -> None:
        self.robot = robot
        self.buffer = buffer
        self.threads = threads or cores()
        self._meshes = ExactCollision(robot, pairs.checked, threads=self.threads)
        self.spheres = replace(spheres, radii=spheres.padded_radii("self"), self_padding={})
        """What covers the links, padding applied."""
        solid = set(self.spheres.counts)
        self.pairs = self._sorted(pair for pair in pairs.checked if set(pair) <= solid)
        """Checked pairs of links with geometry, those that often collide first."""
        only_meshes = set(pairs.by_meshes)
        self._given, self._only_meshes = spheres, only_meshes

    @cached_property
    def core_spheres(self) -> _core.LinkSpheres:
        """The spheres in the compiled core."""
        return link_spheres(self.robot, self.spheres.centers, self.spheres.radii, self.spheres.link_idx)

    @cached_property
    def core(self) -> _core.Scene:
        """Spheres, meshes and pairs in the compiled core."""
        robot = self.robot
        meshes = {robot.link_index(name): mesh.tree for name, mesh in self.meshes.items()}
        pairs = np.array([[robot.link_index(name) for name in pair] for pair in self.pairs], dtype=np.int64)
        only_meshes = np.array([pair in self._only_meshes for pair in self.pairs], dtype=np.bool_)
        limits = np.stack([robot.lower - ROUNDING, robot.upper + ROUNDING])
        return _core.Scene(self.core_spheres, meshes, pairs.reshape(-1, 2), only_meshes, self.buffer, limits)

    @cached_property
    def _packed(self) -> PackedScene:
        """The same for kernels of other folders."""
        return pack_scene(self.robot, self._balls, self._meshes.meshes, self.pairs, self.buffer)

    def _sorted(self, pairs: Iterable[LinkPair]) -> tuple[LinkPair, ...]:
        low, high = (np.where(np.isfinite(v), v, 0.0) for v in (self.robot.lower, self.robot.upper))
        cfgs = np.random.default_rng(0).uniform(low, high, (ORDER_SAMPLES, self.robot.dof))
        often = self._meshes.colliding(cfgs).sum(axis=0).tolist()
        count = dict(zip(self._meshes.pairs, often, strict=True))
        return tuple(sorted(pairs, key=lambda pair: -count.get(pair, 0)))

    @property
    def meshes(self) -> Mapping[str, TriangleMesh]:
        """Mesh of every link of a checked pair that has one."""
        return self._meshes.meshes

    # Questions ----------------------------------------------------------------------------------

    def segments(
        self,
        begins: Float[np.ndarray, "n dof"],
        ends: Float[np.ndarray, "n dof"],
        slacks: Float[np.ndarray, "#n dof"],
        among: Any = None,
        **more: Any,
    ) -> SegmentProofs:
        """As `CollisionModel.segments_free`; `among` are the obstacles, `more` is for `prove_all`."""
        return prove_all(
            self.chains, self._packed, among, begins, ends, slacks, self.buffer, self.threads, **more
        )

    def curves(
        self,
        pieces: Float[np.ndarray, "n 4 dof"],
        slacks: Float[np.ndarray, "#n dof"],
        among: Any,
        quick: Pieces,
        check: Callable[[np.ndarray], Any],
    ) -> SegmentProofs:
        """As `CollisionModel.curves_free`, by `quick` first; `check` refuses values that no error bound covers."""
        return quick.prove(partial(self.segments, among=among), check, pieces, slacks)

    @cached_property
    def chains(self) -> PackedChains:
        """The joints between the links of every pair."""
        return pack_chains(self.robot, self._balls, self._packed, self.pairs)

    @cached_property
    def chain_links(self) -> tuple[str, ...]:
        """Links of the pairs, as `chains` and `bodies` number them."""
        return tuple(sorted({name for pair in self.pairs for name in pair}))

    @cached_property
    def bodies(self) -> LinkChains:
        """The same links on their bodies, in the world."""
        return pack_link_chains(self.robot, self._balls, self._packed, self.chain_links)

    @cached_property
    def lanes(self) -> Lanes:
        """All links with geometry in lanes, for proofs of edges by spheres."""
        outside = covering_in_world(self.robot, self._given)
        outside = replace(outside, radii=outside.padded_radii("world"), world_padding={})
        return pack_lanes(self.robot, self.spheres, outside, self.pairs, self._only_meshes, self.buffer)

    @property
    def _balls(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        spheres = self.spheres
        return spheres.centers, spheres.radii, spheres.link_idx

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in MADE}
