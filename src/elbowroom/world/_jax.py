"""Signed distances to obstacles in JAX: differentiable, under jit, vmap and grad, in the precision of the points.

Obstacles of one kind are one batch. All of them are measured, and the nearest is measured once more for the derivative,
which so costs the same whatever the number of obstacles. Primitives, half-spaces and distance fields are plain JAX;
meshes and clouds are asked of the numba kernels by callbacks, whose derivative is the kernels' own gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import InputError, shape_text
from ._obstacles import MeshObstacle
from ._pack import BOX, CAPSULE, CYLINDER, HALF_SPACE, SPHERE, PackedWorld
from ._sampled import PointCloud, SdfGrid

if TYPE_CHECKING:
    from ._world import World

Distance = Callable[[jax.Array], jax.Array]
"""From points (..., 3) in the world to signed distances (...), metres."""


class JaxWorld:
    """The distances of a world as jitted functions of points (..., 3); compiled once per shape and precision."""

    def __init__(self, world: World) -> None:
        parts = [
            *_primitives(world.packed),
            *(_field(o) for o in world if isinstance(o, SdfGrid)),
            *_asked(world),
        ]

        def distance(points: jax.Array) -> jax.Array:
            points = _checked(points)
            if not parts:
                return jnp.full(points.shape[:-1], jnp.inf, points.dtype)
            return _least(jnp.stack([part(points) for part in parts], axis=-1))

        def distance_and_gradient(points: jax.Array) -> tuple[jax.Array, jax.Array]:
            found, pull = jax.vjp(distance, _checked(points))
            (gradient,) = pull(jnp.ones_like(found))
            return found, gradient

        self.distance: Distance = jax.jit(distance)
        """Signed distances to the nearest obstacle (...), metres; infinite in an empty world."""
        self.distance_and_gradient: Callable[[jax.Array], tuple[jax.Array, jax.Array]] = jax.jit(
            distance_and_gradient
        )
        """The same, and their gradients by the point (..., 3)."""


def _checked(points: jax.Array) -> jax.Array:
    """Points as floating point numbers."""
    if points.shape[-1:] != (3,):
        raise InputError(f"points: expected shape (..., 3), found {shape_text(points)}")
    is_float = jnp.issubdtype(points.dtype, jnp.floating)
    return points if is_float else points.astype(jnp.result_type(float))


def _least(distances: jax.Array) -> jax.Array:
    """The least along the last axis; its derivative is that of one of them, also where several are equal."""
    nearest = jnp.argmin(distances, axis=-1, keepdims=True)
    return jnp.take_along_axis(distances, nearest, axis=-1)[..., 0]


# Primitives ---------------------------------------------------------------------------------------


def _length(v: jax.Array) -> jax.Array:
    """Length of vectors (..., d), with derivative zero at zero."""
    square = (v * v).sum(axis=-1)
    some = square > 0.0
    return jnp.where(some, jnp.sqrt(jnp.where(some, square, 1.0)), 0.0)


def _size(v: jax.Array) -> jax.Array:
    """|v| with derivative 1 at zero, so that points on a plane of symmetry are pushed out too."""
    return jnp.where(v < 0.0, -v, v)


def _corner(beyond: jax.Array) -> jax.Array:
    """Signed distance from signed distances (..., d) along directions at right angles."""
    return _length(jnp.maximum(beyond, 0.0)) + jnp.minimum(beyond.max(axis=-1), 0.0)


def _box(x: jax.Array, size: jax.Array) -> jax.Array:
    return _corner(_size(x) - size[..., :3])


def _sphere(x: jax.Array, size: jax.Array) -> jax.Array:
    return _length(x) - size[..., 0]


def _cylinder(x: jax.Array, size: jax.Array) -> jax.Array:
    return _corner(jnp.stack([_length(x[..., :2]) - size[..., 0], _size(x[..., 2]) - size[..., 1]], axis=-1))


def _capsule(x: jax.Array, size: jax.Array) -> jax.Array:
    z = jnp.maximum(_size(x[..., 2]) - size[..., 1], 0.0)
    return _length(jnp.concatenate([x[..., :2], z[..., None]], axis=-1)) - size[..., 0]


def _half_space(x: jax.Array, size: jax.Array) -> jax.Array:
    return (x * size[..., :3]).sum(axis=-1) - size[..., 3]


SHAPES: dict[int, Callable[[jax.Array, jax.Array], jax.Array]] = {
    BOX: _box,
    SPHERE: _sphere,
    CYLINDER: _cylinder,
    CAPSULE: _capsule,
    HALF_SPACE: _half_space,
}
"""Signed distance of points (..., 3) in the frame of an obstacle, by kind; sizes as in `PackedWorld`."""


def _local(points: jax.Array, poses: jax.Array) -> jax.Array:
    """Points in the frames of obstacles, whose poses are rows of 12."""
    R = poses[..., :9].reshape(*poses.shape[:-1], 3, 3)
    # Sums of products, not a matrix product: accelerators would round those to less than single precision.
    return ((points - poses[..., 9:])[..., None] * R).sum(axis=-2)


def _primitives(packed: PackedWorld) -> list[Distance]:
    return [_nearest_of(packed, kind) for kind in SHAPES if (packed.kinds == kind).any()]


def _nearest_of(packed: PackedWorld, kind: int) -> Distance:
    """Distance to the nearest obstacle of one kind."""
    shape, rows = SHAPES[kind], packed.kinds == kind
    all_poses, all_sizes = packed.poses[rows], packed.sizes[rows]

    def distance(points: jax.Array) -> jax.Array:
        poses, sizes = all_poses.astype(points.dtype), all_sizes.astype(points.dtype)
        fixed = jax.lax.stop_gradient(points)
        nearest = jnp.argmin(
            shape(_local(fixed[..., None, :], jnp.asarray(poses)), jnp.asarray(sizes)), axis=-1
        )
        return shape(_local(points, jnp.asarray(poses)[nearest]), jnp.asarray(sizes)[nearest])

    return distance


# Distance fields ----------------------------------------------------------------------------------


def _field(field: SdfGrid) -> Distance:
    """Trilinear inside the grid; beyond it, the least that the nearest sample allows. See `_kernels_field`."""
    pose = np.concatenate([field.pose[:3, :3].ravel(), field.pose[:3, 3]])
    last = np.array(field.values.shape) - 1

    def distance(points: jax.Array) -> jax.Array:
        dtype = points.dtype
        step, origin = np.array(field.spacing, dtype), np.array(field.origin, dtype)
        x = _local(points, jnp.asarray(pose.astype(dtype))) - origin
        inner = jnp.clip(x, 0.0, (last * step).astype(dtype))
        cell = jnp.clip(jnp.floor(jax.lax.stop_gradient(inner) / step), 0, last - 1).astype(np.int32)
        value = _trilinear(jnp.asarray(field.values), cell, inner / step - cell)
        gap = ((x - inner) ** 2).sum(axis=-1)
        out = gap > 0.0
        beyond = jnp.sqrt(jnp.where(out, gap + jnp.maximum(value, 0.0) ** 2, 1.0))
        depth = jnp.minimum(x, (last * step).astype(dtype) - x).min(axis=-1)
        return jnp.where(out, beyond, jnp.where(value < 0.0, jnp.maximum(value, -depth), value))

    return distance


def _trilinear(values: jax.Array, cell: jax.Array, at: jax.Array) -> jax.Array:
    """Interpolates between the samples of cells (..., 3), at places (..., 3) from 0 to 1 in them."""
    i, j, k = cell[..., 0], cell[..., 1], cell[..., 2]
    total = jnp.zeros(at.shape[:-1], at.dtype)
    for a in range(2):
        for b in range(2):
            for c in range(2):
                weight = jnp.prod(jnp.where(np.array([a, b, c]) == 1, at, 1.0 - at), axis=-1)
                total = total + weight * values[i + a, j + b, k + c].astype(at.dtype)
    return total


# Meshes and clouds --------------------------------------------------------------------------------


def _asked(world: World) -> Sequence[Distance]:
    """Distance to meshes and clouds, by the numba kernels."""
    some = [o for o in world if isinstance(o, (MeshObstacle, PointCloud))]
    if not some:
        return ()
    part = type(world)(some)

    def measure(points: Any) -> np.ndarray:
        rows = np.asarray(points, np.float64)
        finite = np.isfinite(rows).all(axis=-1)
        found = np.full(finite.shape, np.nan)
        found[finite] = part.distance(rows[finite])
        return found.astype(points.dtype)

    def differentiate(points: Any) -> np.ndarray:
        rows = np.asarray(points, np.float64)
        finite = np.isfinite(rows).all(axis=-1)
        both = np.full((*finite.shape, 4), np.nan)
        both[finite, 0], both[finite, 1:] = part.distance_and_gradient(rows[finite])
        return both.astype(points.dtype)

    @jax.custom_jvp
    def distance(points: jax.Array) -> jax.Array:
        shape = jax.ShapeDtypeStruct(points.shape[:-1], points.dtype)
        return jax.pure_callback(measure, shape, points, vmap_method="expand_dims")

    @distance.defjvp
    def _tangent(primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
        (points,), (motion,) = primals, tangents
        shape = jax.ShapeDtypeStruct((*points.shape[:-1], 4), points.dtype)
        both = jax.pure_callback(differentiate, shape, points, vmap_method="expand_dims")
        return both[..., 0], (both[..., 1:] * motion).sum(axis=-1)

    return (distance,)
