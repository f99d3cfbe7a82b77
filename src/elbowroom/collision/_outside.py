"""The links of a robot as obstacles see them, and the obstacles, in the compiled core."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from .. import _core
from .._frozen import freeze, frozen
from .._poses import matrix_from_wxyz_xyz
from ..distance.internal import largest_values
from ..mesh import TriangleMesh
from ..spheres import SphereModel
from ..world import World
from ._links import Balls, Links, link_spheres

REACH_SAMPLES = 256
"""Random configurations that tell where the robot goes: beyond it, the grid has no cells."""
ROOM = 0.1
"""Metres added to where it was seen to go."""
MADE = ("core", "of_robot")
"""What is made on demand and does not travel."""


class Outside:
    """Links with geometry against obstacles."""

    def __init__(self, own: Links, spheres: SphereModel, meshes: Mapping[str, TriangleMesh]) -> None:
        """The links, in an empty world.

        Args:
            own: the same against each other.
            spheres: proved to cover the links; their world padding counts where spheres decide.
            meshes: by link.
        """
        robot = own.robot
        self.own, self.robot, self.buffer = own, robot, own.buffer
        self.links: tuple[str, ...] = tuple(name for name in robot.link_names if name in spheres.counts)
        """Links with geometry, as the core numbers them."""
        self.balls: Balls = spheres.centers, spheres.padded_radii("world"), spheres.link_idx
        """Spheres, padding applied."""
        self.meshes = dict(meshes)
        self.of_robot: dict[str, Any] = {}
        """What is made on demand and shared by all worlds."""
        self._enter(World(), ())

    def _enter(self, world: World, allow: Collection[tuple[str, str]]) -> None:
        self.world = world
        """The obstacles."""
        self.allowed: Bool[np.ndarray, "links obstacles"] = np.zeros((len(self.links), len(world)), np.bool_)
        """Whether touching is meant."""
        for link, obstacle in allow:
            if link in self.links:
                self.allowed[self.links.index(link), world.index(obstacle)] = True
        freeze(self.allowed)

    def among(self, world: World, allow: Collection[tuple[str, str]] = ()) -> Outside:
        """The same robot among other obstacles; what was made of it is shared.

        Args:
            world: the obstacles.
            allow: (link, obstacle) that may touch.
        """
        other = copy.copy(self)
        other.of_robot = self.of_robot
        other._enter(world, allow)
        return other

    @cached_property
    def core(self) -> _core.Surroundings:
        """Links and obstacles in the compiled core."""
        if "spheres" not in self.of_robot:
            self.of_robot["spheres"] = self.core_spheres(None)
        return self.surroundings(self.of_robot["spheres"])

    def core_spheres(self, largest: Float[np.ndarray, "moving"] | None) -> _core.LinkSpheres:
        """The spheres for joint values up to `largest`; those that links see of each other where they are the same."""
        same = all(np.array_equal(a, b) for a, b in zip(self.own.balls, self.balls, strict=True))
        if same and largest is None:
            return self.own.core_spheres
        most = largest_values(self.robot.tree) if largest is None else largest
        return link_spheres(self.robot, self.balls, most)

    def surroundings(self, spheres: _core.LinkSpheres) -> _core.Surroundings:
        """These spheres among the obstacles."""
        robot, world = self.robot, self.world.core
        if "meshes" not in self.of_robot:
            trees = {robot.link_index(name): mesh.tree for name, mesh in self.meshes.items()}
            self.of_robot["meshes"] = trees
        pays = _core.ClearanceGrid.pays(world)
        grid = self.world.clearance_grid(self.region) if pays else None
        return _core.Surroundings(spheres, self.of_robot["meshes"], world, grid, self.allowed, self.buffer)

    @property
    def region(self) -> Float[np.ndarray, "2 3"]:
        """Corners of a box around where the links were seen to go, in the world frame."""
        if "region" not in self.of_robot:
            self.of_robot["region"] = self._reach()
        return self.of_robot["region"]

    def _reach(self) -> Float[np.ndarray, "2 3"]:
        centers, radii, link_idx = self.balls
        low, high = (
            np.where(np.isfinite(v), v, other)
            for v, other in ((self.robot.lower, -np.pi), (self.robot.upper, np.pi))
        )
        cfgs = np.random.default_rng(0).uniform(low, high, (REACH_SAMPLES, self.robot.dof))
        T = matrix_from_wxyz_xyz(self.robot.link_poses(cfgs))[:, link_idx]
        places = np.einsum("nsij,sj->nsi", T[..., :3, :3], centers) + T[..., :3, 3]
        room = float(radii.max()) + ROOM
        return frozen(np.stack([places.min(axis=(0, 1)) - room, places.max(axis=(0, 1)) + room]))

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in MADE}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, of_robot={})
        freeze(self.allowed)
