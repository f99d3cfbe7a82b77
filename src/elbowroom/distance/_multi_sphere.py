"""MultiSphereCollision: self-collision distances in JAX, differentiable and batched.

All pairs of spheres are listed once, when the model is made; at run time there is only JAX: forward
kinematics, differences and a square root. All distances of a batch are laid out with the configurations innermost and
pairs are taken row by row: about ten times as fast on a CPU as gathering points pair by pair.
`max_penetration` and `compute_link_pair_distance` look for the nearest spheres alone, by bounds (`_nearest`): time and
memory follow the pairs that are near. Their gradient is that of the nearest pair, which is the exact gradient wherever
that pair is unique.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import jax_dataclasses as jdc
import numpy as np
from jax.custom_batching import sequential_vmap
from jaxtyping import Array, Float, Int

from .._brief import brief
from .._text import short
from ..errors import InputError, shape_text
from ..robot import Robot, as_robot
from ..robot.internal import as_kinematics, pair_list
from ..typing import Kinematics, LinkPair, Pairs, RobotLike
from ._inputs import Spheres, default_pairs, link_values, pairs_for_spheres, sphere_arrays
from ._nearest import SphereGroups

SCAN_BATCH = 32
"""From this many configurations on, pairs are scanned one by one: a row is long enough to fill the vector units."""
BLOCK = 128
"""Configurations of which distances are turned from rows of pairs to rows of configurations at once, in cache."""


@brief
@jdc.pytree_dataclass
class MultiSphereCollision:
    """Spheres on links, and the pairs of spheres whose distance matters.

    A pytree: arrays are leaves, names and counts are static. Pairs are sorted by link pair, then by sphere.
    """

    num_primitives: jdc.Static[int]
    """Number of spheres P."""
    num_links: jdc.Static[int]
    """Number of links of the robot."""
    link_names: jdc.Static[tuple[str, ...]]
    """Links in the robot's order."""
    sphere_centers_local: Float[Array, "P 3"]
    """Centres in the frames of their links, m."""
    sphere_radii: Float[Array, "P"]
    """Radii, m, padding included."""
    sphere_link_indices: Int[Array, "P"]
    """Link of each sphere, as a position in `link_names`."""
    pair_i: Int[Array, "K"]
    pair_j: Int[Array, "K"]
    """The two spheres of each pair. To leave pairs out, use `without_links`."""
    groups: SphereGroups
    """The same pairs for searches: link pairs, and groups of spheres."""
    left_to_meshes: jdc.Static[tuple[LinkPair, ...]] = ()
    """Checked pairs of a PairMatrix that only meshes can decide, because their spheres overlap at rest: distances here
    say nothing of them."""

    @staticmethod
    def from_models(robot: RobotLike, spheres: Spheres, pairs: Pairs | None = None) -> MultiSphereCollision:
        """Lists the sphere pairs of the given link pairs.

        Args:
            robot: an Elbowroom or pyroki Robot; only its link names are used unless `pairs` is None.
            spheres: the sphere model.
            pairs: a PairMatrix, of which the pairs are taken that spheres can decide (`by_spheres`; the others are
                in `left_to_meshes`), or (link, link) tuples; None takes all pairs that are not adjacent.

        Raises:
            InputError: spheres or pairs that make no sense. UnknownLinkError: a link the robot does not have.
        """
        robot = as_kinematics(robot)
        names = robot_link_names(robot)
        centers, radii, links = sphere_arrays(names, spheres, who=str(getattr(robot, "name", "the robot")))
        if pairs is None:
            pairs = default_pairs(as_robot(robot), {names[k] for k in np.unique(links)})
        asked, left = pairs_for_spheres(names, pairs, "MultiSphereCollision")
        members = {name: np.flatnonzero(links == k) for k, name in enumerate(names)}
        asked = tuple((a, b) for a, b in asked if len(members[a]) and len(members[b]))
        blocks = [np.meshgrid(members[a], members[b], indexing="ij") for a, b in asked]
        first = np.concatenate([np.zeros(0, dtype=np.int64), *(block[0].ravel() for block in blocks)])
        second = np.concatenate([np.zeros(0, dtype=np.int64), *(block[1].ravel() for block in blocks)])
        return MultiSphereCollision(
            num_primitives=len(radii),
            num_links=len(names),
            link_names=names,
            sphere_centers_local=jnp.asarray(centers, dtype=float),
            sphere_radii=jnp.asarray(radii, dtype=float),
            sphere_link_indices=jnp.asarray(links, dtype=jnp.int32),
            pair_i=jnp.asarray(first, dtype=jnp.int32),
            pair_j=jnp.asarray(second, dtype=jnp.int32),
            groups=SphereGroups.build(centers, members, asked),
            left_to_meshes=left,
        )

    @property
    def num_pairs(self) -> int:
        """Number of sphere pairs K."""
        return self.pair_i.shape[0]

    def link_pairs(self) -> tuple[LinkPair, ...]:
        """Link pairs that have sphere pairs, sorted by name."""
        return self.groups.link_pairs

    def without_links(self, ignore: Any) -> MultiSphereCollision:
        """The same spheres without the given link pairs (numpy, not for use under jit)."""
        dropped = set(pair_list(self.link_names, ignore))
        links = np.asarray(self.sphere_link_indices)
        first, second = np.asarray(self.pair_i), np.asarray(self.pair_j)
        table = np.ones((self.num_links, self.num_links), dtype=bool)
        for a, b in dropped:
            i, j = self.link_names.index(a), self.link_names.index(b)
            table[i, j] = table[j, i] = False
        keep = table[links[first], links[second]]
        return jdc.replace(
            self,
            pair_i=jnp.asarray(first[keep]),
            pair_j=jnp.asarray(second[keep]),
            groups=self.groups.without(dropped),
        )

    # At run time: pure JAX --------------------------------------------------------------------

    def at_config(self, robot: RobotLike, cfg: Any) -> tuple[Float[Array, "*batch P 3"], Float[Array, "P"]]:
        """Sphere centres in the world, and radii.

        Args:
            robot: whose links are `link_names` in this order.
            cfg: (..., dof).
        """
        robot = as_kinematics(robot)
        return jnp.stack(self._world(robot, cfg), axis=-1), self.sphere_radii

    def compute_self_collision_distance(self, robot: RobotLike, cfg: Any) -> Float[Array, "*batch K"]:
        """Signed distance of every sphere pair in metres: positive apart, negative overlapping."""
        robot = as_kinematics(robot)
        world = self._world(robot, cfg)
        batch = world[0].shape[:-1]
        points = jnp.stack([v.reshape(-1, self.num_primitives) for v in world], axis=1)
        distances = _distances(points, self.sphere_radii, self.pair_i, self.pair_j)
        return distances.reshape(*batch, self.num_pairs)

    def compute_link_pair_distance(
        self, robot: RobotLike, cfg: Any, limit: Any = jnp.inf
    ) -> Float[Array, "*batch link_pairs"]:
        """Distance of the nearest spheres of each of `link_pairs()`, metres: positive apart, negative overlapping.

        Args:
            robot: whose links are `link_names` in this order.
            cfg: (..., dof).
            limit: metres, one number or one per link pair: distances below it are exact, others only known to be at
                least as large. A low limit is faster.

        Returns:
            Differentiable: the gradient of the nearest spheres of each link pair.
        """
        robot = as_kinematics(robot)
        return self._nearest(robot, cfg, self.sphere_radii, self._limits(limit))

    def max_penetration(
        self, robot: RobotLike, cfg: Any, buffers: Float[Array, "links"] | Mapping[str, float] | float = 0.0
    ) -> Float[Array, "*batch"]:
        """Largest penetration of any pair in metres: positive when colliding, negative (minus the clearance) when free.

        Args:
            robot: whose links are `link_names` in this order.
            cfg: (..., dof).
            buffers: metres added to the radii of each link: an array in link order, a map, or one number.

        Returns:
            (...,); minus infinity when there is no pair. Differentiable: the gradient of the deepest pair.
        """
        robot = as_kinematics(robot)
        radii = self.sphere_radii + self._link_buffers(buffers)[self.sphere_link_indices]
        return -self._nearest(robot, cfg, radii, jnp.full(1, jnp.inf))[..., 0]

    def _nearest(
        self, robot: Kinematics, cfg: Any, radii: Float[Array, "P"], limits: Float[Array, "rows"]
    ) -> Float[Array, "*batch rows"]:
        """Distances of the nearest spheres of each link pair, or with one limit of all of them together."""
        self._require_links(robot)
        poses = robot.forward_kinematics(cfg)
        batch = poses.shape[:-2]
        if self.num_pairs == 0:
            return jnp.full((*batch, len(limits)), jnp.inf, poses.dtype)
        poses = poses.reshape(-1, *poses.shape[-2:])
        radii, limits = radii.astype(poses.dtype), limits.astype(poses.dtype)
        i, j = _search(*jax.lax.stop_gradient((poses, radii, limits)), self)
        ends = [
            jnp.stack(_place_each(poses, self.sphere_centers_local[k], self.sphere_link_indices[k]), axis=-1)
            for k in (i, j)
        ]
        length = _safe_sqrt(jnp.sum((ends[0] - ends[1]) ** 2, axis=-1))
        return (length - radii[i] - radii[j]).reshape(*batch, len(limits))

    def _world(self, robot: Kinematics, cfg: Any) -> tuple[Array, Array, Array]:
        """x, y and z of the centres, each (*batch, P)."""
        self._require_links(robot)
        poses = robot.forward_kinematics(cfg)
        return _place(poses, self.sphere_centers_local, self.sphere_link_indices)

    def _require_links(self, robot: Kinematics) -> None:
        names = robot_link_names(robot)
        if names != self.link_names:
            raise InputError(
                f"this collision model has the {self.num_links} links of another robot or order; "
                f"the robot given has {len(names)} links beginning with {names[:3]}"
            )

    def _limits(self, limit: Any) -> Float[Array, "link_pairs"]:
        problem = InputError(f"limit must be metres, found {short(limit)}")
        if limit is None:  # NaN to older JAX
            raise problem
        try:
            limits = jnp.asarray(limit, dtype=float)
        except (TypeError, ValueError) as error:
            raise problem from error
        count = len(self.link_pairs())
        if limits.shape not in ((), (count,)):
            raise InputError(
                f"limit (the margin of a cost) must be one number or one per link pair, ({count},), found "
                f"{shape_text(limit)}"
            )
        return jnp.broadcast_to(limits, (count,))

    def _link_buffers(self, buffers: Any) -> Array:
        if isinstance(buffers, (Mapping, float, int)):
            return jnp.asarray(
                link_values(self.link_names, buffers, "buffers"), dtype=self.sphere_radii.dtype
            )
        if np.shape(buffers) != (self.num_links,):
            raise InputError(
                f"buffers must be one number per link, ({self.num_links},), found {shape_text(buffers)}"
            )
        return jnp.asarray(buffers)


def robot_link_names(robot: Any) -> tuple[str, ...]:
    """Link names of an Elbowroom or pyroki Robot.

    Raises:
        InputError: neither of them.
    """
    if isinstance(robot, Robot):
        return robot.link_names
    try:
        return tuple(robot.links.names)
    except AttributeError:
        raise InputError(f"expected an elbowroom or pyroki Robot, found a {type(robot).__name__}") from None


# The functions below are compiled once per shape, so that calls outside of jit do not compile anew.


@jax.jit
def _place(
    poses: Float[Array, "*batch links 7"], centers: Float[Array, "P 3"], links: Int[Array, "P"]
) -> tuple[Array, Array, Array]:
    """x, y and z of the centres in the world, each (*batch, P)."""
    return _moved(poses[..., links, :], centers)


@jax.jit
def _place_each(
    poses: Float[Array, "n links 7"], centers: Float[Array, "n rows 3"], links: Int[Array, "n rows"]
) -> tuple[Array, Array, Array]:
    """The same for other centres in each configuration, each (n, rows)."""
    return _moved(jnp.take_along_axis(poses, links[..., None], axis=1), centers)


def _moved(T: Float[Array, "*batch P 7"], centers: Float[Array, "*batch P 3"]) -> tuple[Array, Array, Array]:
    w, x, y, z, tx, ty, tz = (T[..., k] for k in range(7))
    px, py, pz = (centers[..., k].astype(T.dtype) for k in range(3))
    cx, cy, cz = 2.0 * (y * pz - z * py), 2.0 * (z * px - x * pz), 2.0 * (x * py - y * px)
    return (
        px + w * cx + y * cz - z * cy + tx,
        py + w * cy + z * cx - x * cz + ty,
        pz + w * cz + x * cy - y * cx + tz,
    )


@jax.jit
def _search(
    poses: Float[Array, "n links 7"],
    radii: Float[Array, "P"],
    limits: Float[Array, "rows"],
    coll: MultiSphereCollision,
) -> tuple[Int[Array, "n rows"], Int[Array, "n rows"]]:
    """The nearest spheres in each configuration."""
    return jax.vmap(_search_one, in_axes=(0, None, None, None))(poses, radii, limits, coll)


@sequential_vmap
def _search_one(
    poses: Float[Array, "links 7"], radii: Float[Array, "P"], limits: Float[Array, "rows"], coll: Any
) -> tuple[Int[Array, "rows"], Int[Array, "rows"]]:
    """A batch is searched one by one: together, all would run as long as the longest search."""
    points = jnp.stack(_place(poses, coll.sphere_centers_local, coll.sphere_link_indices), axis=-1)
    return coll.groups.nearest(points, radii, limits)


@jax.jit
def _distances(
    points: Float[Array, "n 3 P"], radii: Float[Array, "P"], i: Int[Array, "K"], j: Int[Array, "K"]
) -> Float[Array, "n K"]:
    """Distances of all pairs, in blocks of configurations that stay in cache."""
    reach = radii[i] + radii[j]

    def block(points: Float[Array, "n 3 P"]) -> Float[Array, "n K"]:
        return _pair_lengths(jnp.moveaxis(points, 0, -1).swapaxes(0, 1), i, j).T - reach

    n = points.shape[0]
    if n <= BLOCK:
        return block(points)
    padded = jnp.pad(points, ((0, -n % BLOCK), (0, 0), (0, 0)), mode="edge")
    blocks = jax.lax.map(block, padded.reshape(-1, BLOCK, *points.shape[1:]))
    return blocks.reshape(-1, len(i))[:n]


@jax.custom_jvp
def _pair_lengths(
    points: Float[Array, "P 3 n"], i: Int[Array, "K"], j: Int[Array, "K"]
) -> Float[Array, "K n"]:
    """Distances between points i and j; for large batches row by row, which needs no memory but the result."""
    if points.shape[-1] < SCAN_BATCH:
        return jnp.sqrt(jnp.sum((_rows(points, i) - _rows(points, j)) ** 2, axis=1))

    def step(carry: None, pair: tuple[Array, Array]) -> tuple[None, Array]:
        a, b = (jax.lax.dynamic_index_in_dim(points, index, 0, keepdims=False) for index in pair)
        return carry, jnp.sqrt(jnp.sum((a - b) ** 2, axis=0))

    return jax.lax.scan(step, None, (i, j))[1]


@_pair_lengths.defjvp
def _pair_lengths_jvp(
    primals: tuple[Array, Array, Array], tangents: tuple[Array, Any, Any]
) -> tuple[Array, Array]:
    points, i, j = primals
    lengths = _pair_lengths(points, i, j)
    apart = (lengths > 0.0)[:, None]
    direction = jnp.where(apart, _rows(points, i) - _rows(points, j), 0.0) / jnp.where(
        apart, lengths[:, None], 1.0
    )
    return lengths, jnp.sum(direction * (_rows(tangents[0], i) - _rows(tangents[0], j)), axis=1)


def _rows(values: Float[Array, "P 3 n"], index: Int[Array, "K"]) -> Float[Array, "K 3 n"]:
    """Rows by index; `from_models` guarantees that every index is in range."""
    return values.at[index].get(mode="promise_in_bounds")


@jax.custom_jvp
def _safe_sqrt(squared: Array) -> Array:
    """Square root whose gradient is zero, not infinite, where two centres coincide."""
    return jnp.sqrt(squared)


@_safe_sqrt.defjvp
def _safe_sqrt_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    root = jnp.sqrt(primals[0])
    positive = root > 0.0
    return root, jnp.where(positive, 0.5 / jnp.where(positive, root, 1.0), 0.0) * tangents[0]
