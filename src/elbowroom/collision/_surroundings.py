"""What is close among the obstacles at one configuration, measured: names, distances, points and normals.

Boxes around links and obstacles bound all distances from below; what can matter (all within the buffer, and the
closest) is measured, nearest bound first: meshes against the exact shapes, depths by
`_contacts`. Links that exist only as spheres are measured by them.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from jaxtyping import Float

from .._clash import Clash
from .._poses import matrix_from_wxyz_xyz
from ..mesh import TriangleMesh
from ..robot import Robot
from ..robot.internal import find_bodies
from ..spheres import SphereModel
from ..typing import Matrix4
from ..world import World
from ._allow import Allow
from ._contacts import ObstacleContact, contact_at, overlap
from ._defaults import covering_in_world
from ._links import Links
from ._outside import Outside

FIRST_LOOK = 64
"""Pairs sorted at first; eight times as many whenever these do not do."""
ENCLOSED = 1e-4
"""Metres that the triangles of a curved link may be outside it: false alarms of the world end there."""
ROUNDING = 1e-8
"""Metres by which the bounds of boxes may be off: what touches by its bounds within this is measured."""
FLAT = ("mesh", "box")
"""Kinds of shapes whose triangles are exact."""


class Surroundings:
    """The links of a robot among obstacles."""

    def __init__(
        self,
        robot: Robot,
        meshes: Mapping[str, TriangleMesh],
        spheres: SphereModel,
        outside: Outside,
    ) -> None:
        """Packs the meshes.

        Args:
            robot: the robot.
            meshes: of all links that have one.
            spheres: links without a mesh are measured by theirs, with the padding against the world.
            outside: decides about the same links and obstacles.
        """
        self.robot, self.buffer = robot, outside.buffer
        self._meshes = dict(meshes)
        radii = spheres.padded_radii("world")
        self._balls = {
            name: (spheres.centers[mine], radii[mine])
            for name in spheres.counts
            if name not in meshes
            for mine in [spheres.link_idx == spheres.index(name)]
        }
        self.links = (*self._meshes, *self._balls)
        """Links that take part."""
        self._link_idx = [robot.link_index(name) for name in self.links]
        bodies, frames = find_bodies(robot.tree), robot.tree.link_frame[self._link_idx].tolist()
        self._still = [k for k, frame in enumerate(frames) if bodies.of_frame[frame] == 0]
        self._boxes = np.array([self._box(name) for name in self.links]).reshape(-1, 2, 3)
        self._enter(outside, frozenset())

    @classmethod
    def of(
        cls,
        own: Links,
        spheres: SphereModel,
    ) -> Surroundings:
        """A robot packed for any world, in an empty one.

        Args:
            own: the robot against itself; its meshes are taken where they are exact.
            spheres: proved to cover its links.
        """
        robot, known = own.robot, own.meshes
        meshes = {
            name: known[name]
            if name in known and all(shape.kind in FLAT for shape in robot.shapes[name])
            else TriangleMesh.from_trimesh(robot.link_triangles(name, within=ENCLOSED))
            for name in robot.mesh_links
        }
        spheres = covering_in_world(robot, spheres)
        return cls(robot, meshes, spheres, Outside(own, spheres, meshes))

    def among(self, world: World, allow: Allow) -> Surroundings:
        """The same robot among other obstacles; what was packed of it is shared.

        Args:
            world: the obstacles.
            allow: pairs that may touch; they are never closest.
        """
        other = copy.copy(self)
        other._enter(self.outside.among(world, allow), allow)
        return other

    def _enter(self, outside: Outside, allow: Allow) -> None:
        self.outside = outside
        """The same links and obstacles in the compiled core."""
        self.world = outside.world
        """The obstacles."""
        number = {name: k for k, name in enumerate(self.links)}
        self._allowed = sorted((number[a], self.world.index(b)) for a, b in allow if a in number)
        bounds = np.concatenate([np.zeros((0, 3)), *(obstacle.bounds for obstacle in self.world)])
        self._bounds = np.ascontiguousarray(bounds.reshape(-1, 2, 3).transpose(1, 2, 0))

    def _box(self, link: str) -> Float[np.ndarray, "2 3"]:
        """Middle and half the size of a box around a link, in its frame."""
        if link in self._meshes:
            mesh = self._meshes[link]
            return np.stack([mesh.center, mesh.half_extents])
        centers, radii = self._balls[link]
        low, high = (centers - radii[:, None]).min(axis=0), (centers + radii[:, None]).max(axis=0)
        return np.stack([0.5 * (low + high), 0.5 * (high - low)])

    # Questions ----------------------------------------------------------------------------------

    def near(self, row: Float[np.ndarray, "dof"], below: float = np.inf) -> tuple[Clash, ...]:
        """Links and obstacles not farther apart than the buffer, and the closest pair, the closest first.

        Args:
            row: the configuration.
            below: a closest pair that is not nearer than this need not be found.
        """
        Ts = self._poses(row)
        lower = self._lower(Ts)
        found: list[Clash] = []
        best = below
        for link, k in _ascending(lower):
            reach = max(self.buffer, best)
            if lower[link, k] > reach + ROUNDING:
                break
            contact = self._contact(link, Ts[link], k, reach)
            if contact is None:
                continue
            a, b = self.links[link], self.world.obstacles[k].name
            found.append(
                Clash(a, b, contact.distance, contact.point_link, contact.point_obstacle, contact.normal)
            )
            best = min(best, contact.distance)
        found.sort(key=lambda clash: clash.distance)
        return tuple(found[:1] + [clash for clash in found[1:] if clash.distance <= self.buffer])

    def nearer(
        self,
        rows: Float[np.ndarray, "n dof"],
        known: Float[np.ndarray, "n"],
        bounds: Float[np.ndarray, "n"],
    ) -> Iterator[tuple[int, Clash]]:
        """The closest or deepest obstacle of those configurations where it is nearer than what is known otherwise.

        Args:
            rows: configurations.
            known: clearances there, metres.
            bounds: lower bounds of the clearance to the obstacles there.
        """
        for k in np.flatnonzero(bounds < known).tolist():
            near = self.near(rows[k], float(known[k]))
            if near and near[0].distance < known[k]:
                yield k, near[0]

    def measured(self, row: Float[np.ndarray, "dof"], pair: tuple[str, str]) -> Clash:
        """A link and an obstacle, however far apart."""
        return self._measured(self._poses(row), self.links.index(pair[0]), self.world.index(pair[1]))

    def all_measured(self, row: Float[np.ndarray, "dof"]) -> tuple[Clash, ...]:
        """Every link and every obstacle, those that may touch included."""
        Ts = self._poses(row)
        return tuple(
            self._measured(Ts, link, k) for link in range(len(self.links)) for k in range(len(self.world))
        )

    def _measured(self, Ts: Float[np.ndarray, "links 4 4"], link: int, k: int) -> Clash:
        found = self._contact(link, Ts[link], k, np.inf)
        assert found is not None  # within any reach
        names = self.links[link], self.world.obstacles[k].name
        return Clash(*names, found.distance, found.point_link, found.point_obstacle, found.normal)

    def within(
        self, row: Float[np.ndarray, "dof"], reach: float, links: Sequence[int] | None = None
    ) -> tuple[tuple[str, str], ...]:
        """Pairs (link, obstacle) not farther apart than `reach` that may not touch, sorted by name.

        Args:
            row: the configuration.
            reach: metres, 0 for what touches.
            links: numbers of those to look at; all when omitted.
        """
        Ts = self._poses(row)
        lower = self._lower(Ts, links)
        return self._close(Ts, [(int(a), int(k)) for a, k in np.argwhere(lower <= reach + ROUNDING)], reach)

    def allowed_touching(self, row: Float[np.ndarray, "dof"]) -> tuple[tuple[str, str], ...]:
        """Pairs (link, obstacle) that are allowed to touch and do."""
        return self._close(self._poses(row), self._allowed, 0.0)

    def stuck(self) -> tuple[tuple[str, str], ...]:
        """Links that no joint moves and obstacles that they clash with, whatever the configuration."""
        return self.within(self.robot.default_cfg, self.buffer, self._still) if self._still else ()

    # Work ---------------------------------------------------------------------------------------

    def _poses(self, row: Float[np.ndarray, "dof"]) -> Float[np.ndarray, "links 4 4"]:
        return matrix_from_wxyz_xyz(np.asarray(self.robot.link_poses(row[None]))[0][self._link_idx])

    def _lower(
        self, Ts: Float[np.ndarray, "links 4 4"], links: Sequence[int] | None = None
    ) -> Float[np.ndarray, "links obstacles"]:
        """Distances of the boxes around links and obstacles; infinite for pairs that may touch and links not asked."""
        R, half = Ts[:, :3, :3], self._boxes[:, 1]
        middle = np.einsum("lij,lj->li", R, self._boxes[:, 0]) + Ts[:, :3, 3]
        spread = np.einsum("lij,lj->li", np.abs(R), half)
        begin, end = middle - spread, middle + spread
        out = np.full((len(self.links), len(self.world)), np.inf)
        low, high = self._bounds
        for link in range(len(self.links)) if links is None else links:
            squared = np.zeros(len(self.world))
            for axis in range(3):
                gap = np.maximum(low[axis] - end[link, axis], begin[link, axis] - high[axis])
                squared += np.maximum(gap, 0.0, out=gap) ** 2
            np.sqrt(squared, out=out[link])
        for link, k in self._allowed:
            out[link, k] = np.inf
        return out

    def _close(
        self, Ts: Float[np.ndarray, "links 4 4"], pairs: Sequence[tuple[int, int]], reach: float
    ) -> tuple[tuple[str, str], ...]:
        found = [
            (self.links[a], self.world.obstacles[k].name)
            for a, k in pairs
            if self._gap(a, Ts[a], k, reach)[0] <= reach
        ]
        return tuple(sorted(found))

    def _contact(self, link: int, T: Matrix4, k: int, reach: float) -> ObstacleContact | None:
        """What is measured of a link and an obstacle; None when they are farther apart than `reach`."""
        gap, on_link, normal = self._gap(link, T, k, reach)
        if gap > reach:
            return None
        name = self.links[link]
        if gap <= 0.0 and name in self._meshes:
            return overlap(self._meshes[name], T, self.world.obstacles[k])
        return contact_at(gap, on_link, normal)

    def _gap(self, link: int, T: Matrix4, k: int, reach: float) -> tuple[float, np.ndarray, np.ndarray]:
        """Distance, the link's point and the normal, which mean nothing where meshes touch or are beyond reach."""
        name = self.links[link]
        if name in self._balls:
            return self._ball_gap(name, T, k)
        # A distance equal to the reach counts; 0 asks for no more than whether they touch.
        limit = np.nextafter(reach, np.inf) if reach > 0.0 else 0.0
        pose = np.concatenate([T[:3, :3].ravel(), T[:3, 3]])[None]
        meets, gaps, points = self.world.core.mesh_gaps(k, self._meshes[name].tree, pose, limit)
        gap, (on_link, on_obstacle) = float(gaps[0]), points[0]
        if meets[0] or not 0.0 < gap <= reach:
            return (0.0 if meets[0] else np.inf), on_link, on_obstacle
        span = on_obstacle - on_link
        return gap, on_link, span / max(float(np.linalg.norm(span)), 1e-300)

    def _ball_gap(self, name: str, T: Matrix4, k: int) -> tuple[float, np.ndarray, np.ndarray]:
        """The nearest of a link's spheres."""
        centers, radii = self._balls[name]
        points = centers @ T[:3, :3].T + T[:3, 3]
        gaps, gradients = np.empty(len(points)), np.empty((len(points), 3))
        World([self.world.obstacles[k]]).core.gradients(points, gaps, gradients)
        near = int((gaps - radii).argmin())
        normal = -gradients[near]
        return float(gaps[near] - radii[near]), points[near] + radii[near] * normal, normal


def _ascending(values: Float[np.ndarray, "links obstacles"]) -> Iterator[tuple[int, int]]:
    """Places of the finite values, the smallest first, sorted only as far as is asked for."""
    left, count = values.ravel().copy(), FIRST_LOOK
    while True:
        part = np.argpartition(left, count)[:count] if count < len(left) else np.arange(len(left))
        part = part[np.isfinite(left[part])]
        if len(part) == 0:
            return
        for place in part[np.argsort(left[part], kind="stable")].tolist():
            yield divmod(place, values.shape[1])
        left[part] = np.inf
        count *= 8
