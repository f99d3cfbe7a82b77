"""Exact self-collision of a robot: its link meshes, posed by forward kinematics, all checked pairs.

This is the answer every faster answer is checked against. Meshes that are closed are solids, so a link inside another
collides with it. Links without a mesh cannot collide; pairs that name them are kept apart in `unchecked`, not dropped
in silence. Configurations are shared between threads (the kernels release the interpreter lock).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from ..errors import InputError, UnknownLinkError, unknown
from ._collide import Scene, scene_rows
from ._depth import Contact, mesh_mesh_deepest_contact
from ._distance import distance
from ._mesh import TriangleMesh, freeze

CHUNK = 64
"""Configurations a thread takes at a time."""


@dataclass(frozen=True, eq=False)
class LinkContact:
    """Two links that collide."""

    link_a: str
    """First link; names are sorted."""
    link_b: str
    """Second link."""
    contact: Contact
    """Where and how deep, in the world frame; the normal points from `link_a` to `link_b`."""

    @property
    def depth(self) -> float:
        """Metres the links must move apart along the contact's normal."""
        return self.contact.depth


@dataclass(frozen=True, eq=False)
class LinkDistances:
    """Signed distances of all checked pairs in one configuration."""

    pairs: tuple[tuple[str, str], ...]
    """Link names."""
    distances: Float[np.ndarray, "pairs"]
    """Metres: clearance, or minus the depth."""
    points_a: Float[np.ndarray, "pairs 3"]
    """Closest points on the first links, world frame."""
    points_b: Float[np.ndarray, "pairs 3"]
    """Closest points on the second links, world frame."""

    @property
    def minimum(self) -> float:
        """Smallest distance; infinite when there are no pairs."""
        return float(self.distances.min(initial=np.inf))

    @property
    def closest(self) -> tuple[str, str] | None:
        """The pair with the smallest distance."""
        return self.pairs[int(np.argmin(self.distances))] if self.pairs else None

    def __getitem__(self, pair: tuple[str, str]) -> float:
        key = (min(pair), max(pair))
        if key not in self.pairs:
            raise UnknownLinkError(unknown("pair", " - ".join(key), [" - ".join(p) for p in self.pairs]))
        return float(self.distances[self.pairs.index(key)])


class ExactCollision:
    """Mesh-exact self-collision checker of one robot.

    Args:
        robot: offers `link_names`, `link_mesh(name)` and `link_poses(cfgs)`.
        pairs: pairs of link names, or a value whose `checked` holds them.
        contain: closed meshes are solids.
        workers: threads; all cores when omitted.

    Raises:
        UnknownLinkError: a pair names a link the robot does not have.
        InputError: `pairs` is not made of pairs of names.
    """

    def __init__(self, robot: Any, pairs: Any, *, contain: bool = True, workers: int | None = None) -> None:
        self.robot = robot
        """The robot."""
        named = _named_pairs(pairs, tuple(robot.link_names))
        used = sorted({name for pair in named for name in pair})
        meshes = {name: _link_mesh(robot, name) for name in used}
        self.pairs = tuple(p for p in named if meshes[p[0]] is not None and meshes[p[1]] is not None)
        """Checked pairs, sorted names, in the order given."""
        self.unchecked = tuple(p for p in named if p not in set(self.pairs))
        """Pairs in which a link has no mesh; they cannot collide."""
        self.meshes: dict[str, TriangleMesh] = {n: m for n, m in meshes.items() if m is not None}
        """Mesh of every link that takes part."""
        self.contain = bool(contain)
        """Whether closed meshes contain things."""
        self.open_links = tuple(n for n, m in self.meshes.items() if not m.closed)
        """Links whose mesh is an open surface: nothing can be inside them."""
        self.workers = workers or os.cpu_count() or 1
        """Threads used for batches."""
        number = {name: k for k, name in enumerate(self.meshes)}
        self._link_idx = np.array([list(robot.link_names).index(n) for n in self.meshes], dtype=np.int64)
        numbered = [(number[a], number[b]) for a, b in self.pairs]
        self._scene = Scene(list(self.meshes.values()), numbered) if self.pairs else None

    def free(self, cfgs: Any) -> Bool[np.ndarray, "*batch"]:
        """Which configurations have no colliding pair?

        Args:
            cfgs: `(..., dof)` in `robot.joint_names` order.
        """
        return (self._states(cfgs, first_only=True) == 0).all(axis=-1)

    def colliding(self, cfgs: Any) -> Bool[np.ndarray, "*batch pairs"]:
        """Which pairs collide in which configurations; pairs in the order of `pairs`."""
        return self._states(cfgs, first_only=False) > 0

    def contacts(self, cfg: Any) -> tuple[LinkContact, ...]:
        """Colliding links of one configuration with contact point, normal and depth; the deepest first."""
        rows, poses = self._one(cfg)
        if self._scene is None:
            return ()
        states = np.zeros((1, len(self.pairs)), np.uint8)
        self._scene.states_into(rows, states, contain=self.contain, first_only=False)
        found: list[LinkContact] = []
        for k in np.flatnonzero(states[0]):
            a, b = self.pairs[k]
            contact = mesh_mesh_deepest_contact(
                self.meshes[a], poses[a], self.meshes[b], poses[b], contain=self.contain
            )
            if contact is not None:
                found.append(LinkContact(a, b, contact))
        return tuple(sorted(found, key=lambda c: -c.depth))

    def distances(self, cfg: Any) -> LinkDistances:
        """Signed distance of every checked pair in one configuration."""
        _, poses = self._one(cfg)
        results = [
            distance(self.meshes[a], poses[a], self.meshes[b], poses[b], contain=self.contain)
            for a, b in self.pairs
        ]
        values = np.array([r.distance for r in results])
        points_a = np.array([r.point_a for r in results]).reshape(-1, 3)
        points_b = np.array([r.point_b for r in results]).reshape(-1, 3)
        freeze(values, points_a, points_b)
        return LinkDistances(self.pairs, values, points_a, points_b)

    def _one(self, cfg: Any) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Packed poses `(1, meshes, 12)` and the pose of every mesh by name."""
        array = np.asarray(cfg, dtype=np.float64)
        if array.ndim != 1:
            raise InputError(f"cfg: expected one configuration, shape (dof,), found {array.shape}")
        poses = np.asarray(self.robot.link_poses(array[None]))[0][self._link_idx]
        rows = scene_rows(poses[None], len(self.meshes)) if self.meshes else np.empty((1, 0, 12))
        return rows, dict(zip(self.meshes, poses, strict=True))

    def _states(self, cfgs: Any, *, first_only: bool) -> np.ndarray:
        """States `(*batch, pairs)` as of `Scene.states`, by chunks over threads."""
        array = np.asarray(cfgs, dtype=np.float64)
        if array.ndim == 0:
            raise InputError("cfgs: expected shape (..., dof), found a number")
        scene = self._scene
        if scene is None:
            return np.zeros((*array.shape[:-1], 0), np.uint8)
        flat = np.ascontiguousarray(array.reshape(-1, array.shape[-1]))
        out = np.zeros((len(flat), len(self.pairs)), np.uint8)

        def work(begin: int) -> None:
            part = slice(begin, begin + CHUNK)
            poses = np.asarray(self.robot.link_poses(flat[part]))[:, self._link_idx]
            rows = scene_rows(poses, len(self.meshes))
            scene.states_into(rows, out[part], contain=self.contain, first_only=first_only)

        starts = range(0, len(flat), CHUNK)
        if self.workers > 1 and len(starts) > 1:
            with ThreadPoolExecutor(self.workers) as pool:
                list(pool.map(work, starts))
        else:
            for begin in starts:
                work(begin)
        return out.reshape(*array.shape[:-1], len(self.pairs))


def _link_mesh(robot: Any, name: str) -> TriangleMesh | None:
    mesh = robot.link_mesh(name)
    return None if mesh is None or len(mesh.faces) == 0 else TriangleMesh.from_trimesh(mesh)


def _named_pairs(pairs: Any, link_names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Sorted, distinct pairs of known names, in the order given."""
    source = getattr(pairs, "checked", pairs)
    if not isinstance(source, Iterable):
        raise InputError(f"pairs: expected pairs of link names, found a {type(pairs).__name__}")
    known = set(link_names)
    found: dict[tuple[str, str], None] = {}
    for pair in source:
        names = tuple(pair) if not isinstance(pair, str) else ()
        if len(names) != 2 or not all(isinstance(n, str) for n in names):
            raise InputError(f"pairs: expected pairs of link names, found {pair!r:.80}")
        for name in names:
            if name not in known:
                raise UnknownLinkError(unknown("link", str(name), link_names))
        if names[0] == names[1]:
            raise InputError(f"pairs: a link cannot collide with itself: {names[0]!r}")
        found[(min(names), max(names))] = None
    return tuple(found)
