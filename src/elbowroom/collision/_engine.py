"""The two levels behind the verdict: covering spheres and meshes of the checked pairs, and the calls on them."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from .._frozen import frozen
from .._parallel import cores, over_rows
from ..distance import SelfCollisionChecker
from ..distance.doors import bad_row
from ..errors import InputError
from ..mesh import ExactCollision, TriangleMesh
from ..pairs import PairMatrix
from ..robot import Robot
from ..spheres import SphereModel
from ..typing import LinkPair
from ._cover import covering_in_world
from ._lanes import Lanes, pack_lanes
from ._pack import PackedScene, pack_scene
from ._pieces import Pieces
from ._segment import PackedChains, SegmentProofs, pack_chains, prove_all
from ._segment_world import LinkChains, pack_link_chains
from ._world_engine import WorldEngine

THREAD_ROWS = 2048
"""Batches from this size on are shared by the cores; below, starting threads costs more than it saves."""
MEASURE_ROWS = 32
"""The same for measured clearances, which cost far more."""
ORDER_SAMPLES = 256
"""Random configurations that decide the order of pairs, most often colliding first: it only costs or saves time."""

MADE = ("_local", "bodies", "lanes")
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
        self.alone = SelfCollisionChecker(robot, self.spheres, self.pairs, threads=self.threads)
        """The spheres of the same pairs in the order of `SelfCollisionChecker.pairs`."""
        self._packed: PackedScene = pack_scene(robot, self._balls, self._meshes.meshes, self.pairs, buffer)
        only_meshes = set(pairs.by_meshes)
        self._given, self._only_meshes = spheres, only_meshes
        self._args = {
            "meshes": self._arguments(self._packed.scene),
            "spheres": self._arguments(self._packed.decided_by([pair in only_meshes for pair in self.pairs])),
        }
        self._local = threading.local()

    def _sorted(self, pairs: Iterable[LinkPair]) -> tuple[LinkPair, ...]:
        low, high = (np.where(np.isfinite(v), v, 0.0) for v in (self.robot.lower, self.robot.upper))
        cfgs = np.random.default_rng(0).uniform(low, high, (ORDER_SAMPLES, self.robot.dof))
        often = self._meshes.colliding(cfgs).sum(axis=0).tolist()
        count = dict(zip(self._meshes.pairs, often, strict=True))
        return tuple(sorted(pairs, key=lambda pair: -count.get(pair, 0)))

    def _arguments(self, scene: np.ndarray) -> tuple[Any, ...]:
        """What the kernels of `free` take after configurations and workspace."""
        packed, model = self._packed, self._packed.spheres
        meshes = (scene, packed.frames, packed.nodes, packed.tris, self.buffer or None)
        return (model.ints, model.floats, model.doubles, packed.pads, *meshes)

    @property
    def meshes(self) -> Mapping[str, TriangleMesh]:
        """Mesh of every link of a checked pair that has one."""
        return self._meshes.meshes

    # Questions ----------------------------------------------------------------------------------

    def free(self, cfgs: Any, by: str) -> Any:
        """As `CollisionModel.free`."""
        args = self._args.get(by)
        if args is None:
            raise InputError(f"by must be 'meshes' or 'spheres', found {by!r:.40}")
        rows, single = self.robot.cfg_rows(cfgs)
        decide, decide_one = _kernels()  # read-only or not is another type to numba: compile for one
        if single:  # the way of planners and controllers: as few Python operations as possible
            answer = decide_one(frozen(rows), self._workspace(), *args)  # a view of its own
            if answer < 0:
                raise bad_row(self.robot.name, rows, 0)
            return answer == 1
        out: Bool[np.ndarray, "n"] = np.empty(len(rows), dtype=np.bool_)

        def piece(start: int, stop: int) -> int:
            own = frozen(rows[start:stop])
            bad = decide(own, self._workspace(), *args, out[start:stop])
            return bad + start if bad >= 0 else -1

        found = over_rows(piece, len(rows), threads=self.threads, at_least=THREAD_ROWS)
        bad = next((row for row in found if row >= 0), -1)
        if bad >= 0:
            raise bad_row(self.robot.name, rows, bad)
        return out

    def gaps(
        self, rows: Float[np.ndarray, "n dof"], *, exact: bool, without: Collection[LinkPair] = ()
    ) -> tuple[Float[np.ndarray, "n"], Int[np.ndarray, "n"], Bool[np.ndarray, "n pairs"]]:
        """Clearance over all pairs, of which pair it is, and which pairs were found to touch; see `mesh_gaps`.

        With `exact`, pairs `without` which it is measured are not looked at.
        """
        from ._kernels import mesh_gaps

        out = np.full(len(rows), np.inf)
        closest = np.full(len(rows), -1, np.int64)
        bounds = self._sphere_bounds(rows)
        bounds[:, [k for k, pair in enumerate(self.pairs) if pair in without]] = np.inf
        touching = np.zeros(bounds.shape, dtype=np.bool_)
        q_full = self.robot.tree.expand(rows)
        packed = self._packed

        def piece(start: int, stop: int) -> None:
            part = slice(start, stop)
            mesh_gaps(
                q_full[part], bounds[part], exact, packed.pairs, packed.scene, packed.frames, packed.nodes,
                packed.tris, out[part], closest[part], touching[part],
            )  # fmt: skip

        over_rows(piece, len(rows), threads=self.threads, at_least=MEASURE_ROWS, align=1)
        return out, closest, touching

    def _sphere_bounds(self, rows: Float[np.ndarray, "n dof"]) -> Float[np.ndarray, "n pairs"]:
        """Lower bounds of the clearance of every pair, by spheres, in the order of `pairs`."""
        order = [self.alone.pairs.index(pair) for pair in self.pairs]
        found = self.alone.pair_distances(rows)[:, order].astype(np.float64)
        return found - self.alone.float_margin

    def by_spheres(self, row: Float[np.ndarray, "dof"]) -> bool:
        """Whether spheres alone show that all pairs are farther apart than the buffer."""
        return bool((self._sphere_bounds(row[None]) > self.buffer).all())

    def segments(
        self,
        begins: Float[np.ndarray, "n dof"],
        ends: Float[np.ndarray, "n dof"],
        slacks: Float[np.ndarray, "#n dof"],
        among: WorldEngine | None = None,
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
        among: WorldEngine | None,
        quick: Pieces,
    ) -> SegmentProofs:
        """As `CollisionModel.curves_free`, by `quick` first."""
        return quick.prove(
            partial(self.segments, among=among), partial(self.free, by="meshes"), pieces, slacks
        )

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

    def _workspace(self) -> np.ndarray:
        """Scratch memory of the calling thread."""
        try:
            return self._local.work
        except AttributeError:
            self._local.work = self._packed.spheres.workspace()
            return self._local.work

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in MADE}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._local = threading.local()


@cache
def _kernels() -> tuple[Any, Any]:
    """The kernels of `free`, for batches and for one configuration; numba loads when they are first needed."""
    from ._kernels import decide, decide_one

    return decide, decide_one
