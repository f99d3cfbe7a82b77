"""The robot among obstacles: covering spheres, the meshes behind them and the world, and the calls on them."""

from __future__ import annotations

import copy
import threading
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from .._frozen import freeze, frozen
from .._numba.world.packed import PackedGrid, packed_grid, packed_world
from .._parallel import cores, over_rows
from .._poses import matrix_from_wxyz_xyz
from ..distance.doors import bad_row, enclosing_ball
from ..mesh import TriangleMesh
from ..robot import Robot
from ..robot.doors import find_bodies
from ..spheres import SphereModel
from ..world import World
from ._pack import pack_scene
from ._segment_world import LinkChains, pack_link_chains
from ._slack import rows_of

THREAD_ROWS = 1024
"""Batches from this size on are shared by the cores; below, starting threads costs more than it saves."""
MEASURE_ROWS = 32
"""The same for clearances, which cost more."""
THREAD_SEGMENTS = 8
"""The same for proofs of segments."""
REACH_SAMPLES = 256
"""Random configurations that tell where the robot goes: beyond it, the grid has no cells."""
ROOM = 0.1
"""Metres added to where it was seen to go."""
MADE = ("grid", "_boxes", "_of_robot", "_sides")
"""What is made on demand and does not travel."""


class WorldEngine:
    """Links with geometry against obstacles."""

    def __init__(
        self,
        robot: Robot,
        spheres: SphereModel,
        meshes: Mapping[str, TriangleMesh],
        world: World,
        allow: Collection[tuple[str, str]] = (),
        buffer: float = 0.0,
        threads: int | None = None,
    ) -> None:
        """Packs links and obstacles.

        Args:
            robot: the robot.
            spheres: proved to cover the links; their world padding counts where spheres decide.
            meshes: by link.
            world: the obstacles.
            allow: (link, obstacle) that may touch.
            buffer: metres that links and obstacles must be apart.
            threads: for large batches; None uses all cores this process may run on.
        """
        self.robot, self.buffer = robot, buffer
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
        self._local = threading.local()

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
        for made in ("grid", "_boxes", "_sides") if world is not self.world else ():  # of the world
            other.__dict__.pop(made, None)
        other._local, other._of_robot = threading.local(), self._of_robot
        other._enter(world, allow)
        return other

    # Questions ----------------------------------------------------------------------------------

    def free(
        self, rows: Float[np.ndarray, "n dof"], by: str = "meshes", out: Bool[np.ndarray, "n"] | None = None
    ) -> Bool[np.ndarray, "n"]:
        """Whether no link touches an obstacle, or comes closer than the buffer.

        Args:
            rows: configurations.
            by: "meshes", or "spheres" (conservative, faster).
            out: rows that are False already are not looked at; changed in place.
        """
        answer = np.ones(len(rows), dtype=np.bool_) if out is None else out
        if not len(self.world):
            return answer
        if not self.still_free(by):
            answer[:] = False
            return answer
        self._ask(rows, by, self.turns, answer)
        return answer

    def still_free(self, by: str = "meshes") -> bool:
        """Whether the world leaves the links alone that no joint moves: asked once."""
        if by not in self._known:
            answer = np.ones(1, dtype=np.bool_)
            self._ask(self.robot.default_cfg[None], by, self._still, answer)
            self._known[by] = bool(answer[0])
        return self._known[by]

    def _ask(
        self,
        rows: Float[np.ndarray, "n dof"],
        by: str,
        turns: Int[np.ndarray, "some"],
        answer: Bool[np.ndarray, "n"],
    ) -> None:
        """`free` of the links that `turns` names, into `answer`."""
        from ._kernels_world import world_free

        by_mesh, robot, world = by == "meshes", self._sides[:6], self._sides[6:]

        def piece(start: int, stop: int) -> int:
            part, own = answer[start:stop], frozen(rows[start:stop])
            bad = world_free(own, self._workspace(), *robot, by_mesh, *world, turns, part, self._scratch())
            return bad + start if bad >= 0 else -1

        found = over_rows(piece, len(rows), threads=self.threads, at_least=THREAD_ROWS)
        bad = next((row for row in found if row >= 0), -1)
        if bad >= 0:
            raise bad_row(self.robot.name, rows, bad)

    @cached_property
    def _sides(self) -> tuple[Any, ...]:
        """What `world_free` takes of the robot, then of the world; plain tuples are quicker to hand over."""
        model = self._packed.spheres
        robot = model.ints, model.floats, model.doubles, self._pad, self.buffer, self._robot
        return *robot, tuple(packed_world(self.world)), tuple(self.grid), self.allowed, self._strict

    def gaps(
        self, rows: Float[np.ndarray, "n dof"], *, by: str = "meshes"
    ) -> tuple[Float[np.ndarray, "n"], Int[np.ndarray, "n 2"]]:
        """Proved lower bounds of the clearance to the world, and of which link (of `links`) and obstacle each is.

        By spheres where they are apart, by meshes where not; where link and obstacle overlap, minus what surely parts
        them. Infinite, with -1, -1, when there is nothing to be near to.
        """
        from ._kernels_world_gaps import world_gaps

        out = np.full(len(rows), np.inf)
        closest = np.full((len(rows), 2), -1, np.int64)
        if not len(self.world):
            return out, closest
        q_full = self.robot.tree.expand(rows)
        spans, balls = self._grouped

        def piece(start: int, stop: int) -> None:
            part = slice(start, stop)
            world_gaps(
                q_full[part], spans, balls, by == "meshes", self._robot, packed_world(self.world), self._boxes,
                self.grid, self.allowed, out[part], closest[part], self._scratch(),
            )  # fmt: skip

        over_rows(piece, len(rows), threads=self.threads, at_least=MEASURE_ROWS, align=1)
        return out, closest

    def by_spheres(self, row: Float[np.ndarray, "dof"]) -> bool:
        """Whether spheres alone show that all links are farther from all obstacles than the buffer."""
        return bool(self.gaps(row[None], by="spheres")[0][0] > self.buffer)

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
        packed, grid, chains = packed_world(self.world), self.grid, self.chains
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
        return packed_grid(self.world, self.region, self.threads)

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

    def _workspace(self) -> np.ndarray:
        """Scratch memory of the calling thread."""
        try:
            return self._local.work
        except AttributeError:
            self._local.work = self._packed.spheres.workspace()
            return self._local.work

    def _scratch(self) -> Any:
        """What the kernels work with, of the calling thread and for this world."""
        kept = getattr(self._local, "scratch", None)
        if kept is None or kept[0] is not self.world:
            from ._kernels_world import world_scratch

            kept = self._local.scratch = self.world, world_scratch(self._robot, packed_world(self.world))
        return kept[1]

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_local", *MADE)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # Pickling makes arrays writable, and kernels are compiled for those that are not.
        self._robot = *self._robot[:2], self._packed.nodes, self._packed.tris, frozen(self._robot[4])
        freeze(self.allowed, self._strict, self._still, self.turns)
        self._of_robot = {}
        self._local = threading.local()
