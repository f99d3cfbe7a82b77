"""Exact self-collision of a robot: its link meshes, posed by forward kinematics, the pairs given and no others.

This is the answer every faster answer is checked against. Meshes that are closed are solids, so a link inside another
collides with it. Links without a mesh cannot collide; pairs that name them are kept apart in `unchecked`, not dropped
in silence. Configurations are shared between threads (the core releases the interpreter lock).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from jaxtyping import Bool, Float

from .._clash import Clash
from .._parallel import cores, over_rows
from ..errors import InputError
from ..robot import Robot, as_robot
from ..robot.internal import pair_list
from ..typing import LinkPair, Pairs, RobotLike
from ._collide import MeshScene, scene_rows
from ._depth import mesh_mesh_separation
from ._distance import distance
from ._mesh import TriangleMesh

CHUNK = 64
"""Configurations whose poses are held at a time; below so many, one thread does it all."""


class MeshedRobot(Protocol):
    """What the checker needs of a robot; `elbowroom.Robot` has it."""

    @property
    def link_names(self) -> tuple[str, ...]:
        """Links in the order of poses."""
        ...

    def link_mesh(self, link: str, /) -> Any:
        """Triangles of a link (`vertices` and `faces`), or None."""
        ...

    def link_poses(self, cfgs: Any, /) -> np.ndarray:
        """(n, links, 7) poses of configurations (n, dof)."""
        ...


class ExactCollision:
    """Mesh-exact self-collision checker of one robot.

    Args:
        robot: the robot.
        pairs: pairs of link names, or a PairMatrix, whose checked ones are taken.
        contain: closed meshes contain what is inside them, which then collides.
        threads: for batches; all cores when omitted.

    Raises:
        UnknownLinkError: a pair names a link the robot does not have.
        InputError: `pairs` is not made of pairs of names.
    """

    def __init__(
        self,
        robot: MeshedRobot | RobotLike,
        pairs: Pairs,
        *,
        contain: bool = True,
        threads: int | None = None,
    ) -> None:
        robot = robot if hasattr(robot, "link_mesh") else as_robot(robot)
        self.robot = robot
        """The robot."""
        names = tuple(robot.link_names)
        named = pair_list(names, pairs)
        meshes = {name: _link_mesh(robot, name) for name in sorted({name for pair in named for name in pair})}
        self.meshes: dict[str, TriangleMesh] = {n: m for n, m in meshes.items() if m is not None}
        """Mesh of every link that takes part."""
        self.pairs = tuple(pair for pair in named if set(pair) <= set(self.meshes))
        """Checked pairs, sorted by name."""
        self.unchecked = tuple(pair for pair in named if not set(pair) <= set(self.meshes))
        """Pairs in which a link has no mesh; they cannot collide."""
        self.contain = bool(contain)
        """Whether closed meshes contain what is inside them."""
        self.open_links = tuple(n for n, m in self.meshes.items() if not m.closed)
        """Links whose mesh is an open surface: nothing can be inside them."""
        self.threads = threads or cores()
        """Threads used for batches."""
        number = {name: k for k, name in enumerate(self.meshes)}
        self._link_idx = np.array([names.index(n) for n in self.meshes], dtype=np.int64)
        numbered = [(number[a], number[b]) for a, b in self.pairs]
        self._scene = MeshScene(list(self.meshes.values()), numbered) if self.pairs else None

    def free(self, cfgs: Any) -> Bool[np.ndarray, "*batch"]:
        """Which configurations have no colliding pair?

        Args:
            cfgs: `(..., dof)` in `robot.joint_names` order.
        """
        return (self._states(cfgs, first_only=True) == 0).all(axis=-1)

    def colliding(self, cfgs: Any) -> Bool[np.ndarray, "*batch pairs"]:
        """Which pairs collide in which configurations; pairs in the order of `pairs`."""
        return self._states(cfgs, first_only=False) > 0

    def contacts(self, cfg: Any, pairs: Iterable[LinkPair] | None = None) -> tuple[Clash, ...]:
        """Colliding links of one configuration with depth, normal and points; the deepest first.

        Args:
            cfg: (dof,) configuration.
            pairs: those of `pairs` to look at; all when omitted.
        """
        poses = self._poses(cfg)
        wanted = set(self.pairs if pairs is None else pairs)
        hits = self.colliding(np.asarray(cfg)[None])[0]
        found: list[Clash] = []
        for k in np.flatnonzero(hits):
            if self.pairs[k] not in wanted:
                continue
            a, b = self.pairs[k]
            contact = mesh_mesh_separation(
                self.meshes[a], poses[a], self.meshes[b], poses[b], contain=self.contain
            )
            if contact is None:  # they touch to rounding only
                found += self.distances(cfg, [(a, b)])
            else:
                found.append(Clash(a, b, -contact.depth, contact.point_a, contact.point_b, contact.normal))
        return tuple(sorted(found, key=lambda clash: clash.distance))

    def distances(self, cfg: Any, pairs: Iterable[LinkPair] | None = None) -> tuple[Clash, ...]:
        """Signed distance of pairs in one configuration (positive apart, negative overlapping); the closest first.

        Args:
            cfg: (dof,) configuration.
            pairs: those of `pairs` to measure; all when omitted.
        """
        poses = self._poses(cfg)
        found: list[Clash] = []
        for a, b in self.pairs if pairs is None else pairs:
            near = distance(self.meshes[a], poses[a], self.meshes[b], poses[b], contain=self.contain)
            found.append(Clash(a, b, near.distance, near.point_a, near.point_b, near.normal))
        return tuple(sorted(found, key=lambda clash: clash.distance))

    def _poses(self, cfg: Any) -> dict[str, Float[np.ndarray, "7"]]:
        """Pose of every mesh by name."""
        array = np.asarray(cfg, dtype=np.float64)
        if array.ndim != 1:
            raise InputError(f"cfg: expected one configuration, shape (dof,), found {array.shape}")
        poses = np.asarray(self.robot.link_poses(array[None]))[0][self._link_idx]
        return dict(zip(self.meshes, poses, strict=True))

    def _states(self, cfgs: Any, *, first_only: bool) -> np.ndarray:
        """States `(*batch, pairs)` as of `MeshScene.states`, by chunks over threads."""
        array = np.asarray(cfgs, dtype=np.float64)
        if array.ndim == 0:
            raise InputError("cfgs: expected shape (..., dof), found a number")
        scene = self._scene
        if scene is None:
            return np.zeros((*array.shape[:-1], 0), np.uint8)
        flat = np.ascontiguousarray(array.reshape(int(np.prod(array.shape[:-1])), array.shape[-1]))
        out = np.zeros((len(flat), len(self.pairs)), np.uint8)

        def piece(start: int, stop: int) -> None:
            for begin in range(start, stop, CHUNK):
                part = slice(begin, min(begin + CHUNK, stop))
                poses = np.asarray(self.robot.link_poses(flat[part]))[:, self._link_idx]
                rows = scene_rows(poses, len(self.meshes))
                scene.states_into(rows, out[part], contain=self.contain, first_only=first_only)

        over_rows(piece, len(flat), threads=self.threads, at_least=2 * CHUNK, align=CHUNK)
        return out.reshape(*array.shape[:-1], len(self.pairs))


def _link_mesh(robot: MeshedRobot, name: str) -> TriangleMesh | None:
    mesh = robot.link_triangles(name) if isinstance(robot, Robot) else robot.link_mesh(name)
    return None if mesh is None or len(mesh.faces) == 0 else TriangleMesh.from_trimesh(mesh)
