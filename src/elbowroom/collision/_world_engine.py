"""The robot among obstacles: covering spheres, the meshes behind them and the world, and the calls on them."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float, Int

from .. import _core
from .._frozen import freeze, frozen
from .._parallel import cores, over_rows
from .._poses import matrix_from_wxyz_xyz
from ..distance.doors import enclosing_ball
from ..mesh import TriangleMesh
from ..robot import Robot
from ..robot.doors import find_bodies
from ..spheres import SphereModel
from ..world import World
from ..world.doors import PackedGrid
from ._core_world import core_world, link_spheres
from ._pack import pack_scene
from ._segment_world import LinkChains, pack_link_chains
from ._slack import rows_of

if TYPE_CHECKING:
    from ._engine import Engine

THREAD_SEGMENTS = 8
"""Proofs of so many segments and more are shared by the cores."""
REACH_SAMPLES = 256
"""Random configurations that tell where the robot goes: beyond it, the grid has no cells."""
ROOM = 0.1
"""Metres added to where it was seen to go."""
MADE = ("grid", "core", "_boxes", "_of_robot")
"""What is made on demand and does not travel."""


class WorldEngine:
    """Links with geometry against obstacles."""

    def __init__(
        self,
        own: Engine,
        spheres: SphereModel,
        meshes: Mapping[str, TriangleMesh],
        world: World,
        allow: Collection[tuple[str, str]] = (),
        buffer: float = 0.0,
        threads: int | None = None,
    ) -> None:
        """Packs links and obstacles.

        Args:
            own: the robot against itself.
            spheres: proved to cover the links; their world padding counts where spheres decide.
            meshes: by link.
            world: the obstacles.
            allow: (link, obstacle) that may touch.
            buffer: metres that links and obstacles must be apart.
            threads: for large batches; None uses all cores this process may run on.
        """
        robot = own.robot
        self._own, self.robot, self.buffer, self.meshes = own, robot, buffer, dict(meshes)
        self.threads = threads or cores()
        self.links: tuple[str, ...] = tuple(name for name in robot.link_names if name in spheres.counts)
        """Links with geometry, as the kernels number them."""
        radii = spheres.padded_radii("world")
        self._balls = spheres.centers, radii, spheres.link_idx
        packed = pack_scene(robot, self._balls, meshes, (), buffer, self.links)
        root = matrix_from_wxyz_xyz(np.concatenate([robot.tree.quat_cos[0], robot.tree.shift[0]]))
        base = np.concatenate([root[:3, :3].ravel(), root[:3, 3]])[None]
        freeze(base)
        self._packed = packed
        self._robot = packed.scene, packed.frames, packed.nodes, packed.tris, base
        self._pad = buffer + packed.spheres.margin
        bodies, frames = find_bodies(robot.tree), robot.tree.link_frame
        still = [bodies.of_frame[int(frames[robot.link_index(name)])] == 0 for name in self.links]
        self._still, self.turns = (
            np.flatnonzero(still),
            np.flatnonzero(~np.array(still, dtype=bool))[::-1].copy(),
        )
        freeze(self._still, self.turns)
        self._of_robot: dict[str, Any] = {}  # what is made on demand and shared by all worlds
        self._enter(world, allow)

    def _enter(self, world: World, allow: Collection[tuple[str, str]]) -> None:
        self.world = world
        """The obstacles."""
        self.allowed: Bool[np.ndarray, "links obstacles"] = np.zeros((len(self.links), len(world)), np.bool_)
        """Whether touching is meant."""
        for link, obstacle in allow:
            if link in self.links:
                self.allowed[self.links.index(link), world.index(obstacle)] = True
        self._strict: Bool[np.ndarray, "links"] = np.array([not row.any() for row in self.allowed], np.bool_)
        freeze(self.allowed, self._strict)
        self._known: dict[str, bool] = {}

    def among(self, world: World, allow: Collection[tuple[str, str]] = ()) -> WorldEngine:
        """The same robot among other obstacles; what was packed of it is shared."""
        other = copy.copy(self)
        for made in ("grid", "_boxes") if world is not self.world else ():  # of the world
            other.__dict__.pop(made, None)
        other.__dict__.pop("core", None)
        other._of_robot = self._of_robot
        other._enter(world, allow)
        return other

    # Questions ----------------------------------------------------------------------------------

    def still_free(self, by: str = "meshes") -> bool:
        """Whether the world leaves the links alone that no joint moves: asked once."""
        return self.core.still_free(by == "meshes")

    @cached_property
    def core(self) -> _core.Surroundings:
        """Links and obstacles in the compiled core."""
        robot, world = self.robot, core_world(self.world)
        meshes = {robot.link_index(name): mesh.tree for name, mesh in self.meshes.items()}
        grid = None
        if _core.ClearanceGrid.pays(world):
            grid = _core.ClearanceGrid(world, self.region, self.threads)
        return _core.Surroundings(self._core_spheres(), meshes, world, grid, self.allowed, self.buffer)

    def _core_spheres(self) -> _core.LinkSpheres:
        """The spheres as obstacles see them: those of the robot itself where they are the same."""
        if "spheres" not in self._of_robot:
            own, (centers, radii, links) = self._own, self._balls
            same = np.array_equal(own.spheres.centers, centers) and np.array_equal(own.spheres.radii, radii)
            same = same and np.array_equal(own.spheres.link_idx, links)
            made = own.core_spheres if same else link_spheres(self.robot, centers, radii, links)
            self._of_robot["spheres"] = made
        return self._of_robot["spheres"]

    def segments(
        self,
        begins: Float[np.ndarray, "n dof"],
        ends: Float[np.ndarray, "n dof"],
        slacks: Float[np.ndarray, "#n dof"],
        budgets: Int[np.ndarray, "n"],
        opens: Bool[np.ndarray, "#n links"] | None = None,
        wish: float = 0.0,
    ) -> tuple[Float[np.ndarray, "n 2"], Int[np.ndarray, "n 5"]]:
        """Proves or refutes that links stay farther than the buffer from obstacles between pairs of configurations.

        Args:
            begins: one configuration a segment.
            ends: another.
            slacks: how far joints may be off each segment; one row stands for all.
            budgets: pieces that each proof may take.
            opens: whether a link is looked at; one row stands for all, None looks at all links.
            wish: metres to stay away besides the buffer.

        Returns:
            `found` and `counts` as `prove_world_segments` gives them.
        """
        from ._kernels_segment_world import prove_world_segments

        found, counts = np.empty((len(begins), 2)), np.empty((len(begins), 5), np.int64)
        packed, grid, chains = self.world.packed, self.grid, self.chains
        asked = frozen(np.ones((1, len(self.links)), np.bool_)) if opens is None else opens

        def piece(first: int, last: int) -> None:
            rows = slice(first, last)
            prove_world_segments(
                frozen(begins[rows]), frozen(ends[rows]), rows_of(slacks, rows), rows_of(asked, rows),
                self.buffer + wish, budgets[rows], chains, packed, grid, self.allowed, found[rows], counts[rows],
            )  # fmt: skip

        over_rows(piece, len(begins), threads=self.threads, at_least=THREAD_SEGMENTS, align=1)
        return found, counts

    # What the kernels take ------------------------------------------------------------------------

    @cached_property
    def grid(self) -> PackedGrid:
        """Lower bounds of distances to the obstacles where the robot goes."""
        return self.world.grid(self.region, self.threads)

    @cached_property
    def region(self) -> Float[np.ndarray, "2 3"]:
        """Corners of a box around where the links were seen to go, in the world frame."""
        low, high = (
            np.where(np.isfinite(v), v, other)
            for v, other in ((self.robot.lower, -np.pi), (self.robot.upper, np.pi))
        )
        cfgs = np.random.default_rng(0).uniform(low, high, (REACH_SAMPLES, self.robot.dof))
        T = matrix_from_wxyz_xyz(self.robot.link_poses(cfgs))[:, self._balls[2]]
        centers = np.einsum("nsij,sj->nsi", T[..., :3, :3], self._balls[0]) + T[..., :3, 3]
        room = float(self._balls[1].max()) + ROOM
        return frozen(np.stack([centers.min(axis=(0, 1)) - room, centers.max(axis=(0, 1)) + room]))

    @property
    def chains(self) -> LinkChains:
        """The links on their bodies, for proofs of segments."""
        if "chains" not in self._of_robot:
            chains = pack_link_chains(self.robot, self._balls, self._packed, self.links)
            self._of_robot["chains"] = chains
        return self._of_robot["chains"]

    @property
    def _grouped(self) -> tuple[Int[np.ndarray, "links 2"], Float[np.ndarray, "balls 4"]]:
        """Balls of each link in its frame, the one around them first."""
        if "grouped" not in self._of_robot:
            self._of_robot["grouped"] = self._group_balls()
        return self._of_robot["grouped"]

    def _group_balls(self) -> tuple[Int[np.ndarray, "links 2"], Float[np.ndarray, "balls 4"]]:
        centers, radii, of = self._balls
        rows: list[np.ndarray] = []
        spans: list[tuple[int, int]] = []
        for name in self.links:
            mine = of == self.robot.link_index(name)
            balls = np.column_stack([centers[mine], radii[mine]])
            spans.append((len(rows) + 1, len(balls)))
            rows += [enclosing_ball(balls), *balls]
        found = np.array(spans, dtype=np.int64).reshape(-1, 2), np.array(rows).reshape(-1, 4)
        freeze(*found)
        return found

    @cached_property
    def _boxes(self) -> Float[np.ndarray, "obstacles 6"]:
        return frozen(np.array([obstacle.bounds.ravel() for obstacle in self.world]).reshape(-1, 6))

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in MADE}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # Pickling makes arrays writable, and kernels are compiled for those that are not.
        self._robot = *self._robot[:2], self._packed.nodes, self._packed.tris, frozen(self._robot[4])
        freeze(self.allowed, self._strict, self._still, self.turns)
        self._of_robot = {}
