"""Signed distances to obstacles in JAX: differentiable, under jit, vmap and grad, in the precision of the points.

Obstacles of one kind are one batch. All of them are measured, and the nearest is measured once more for the derivative,
which so costs the same whatever the number of obstacles. Primitives, half-spaces and distance fields are plain JAX;
meshes and clouds are asked of the compiled core by callbacks, whose derivative is the core's own gradient.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import InputError, shape_text
from ._obstacles import Box, Capsule, Cylinder, HalfSpace, MeshObstacle, Obstacle, Sphere
from ._sampled import PointCloud, SdfGrid

if TYPE_CHECKING:
    from ._world import World

Components = tuple[jax.Array, jax.Array, jax.Array]
"""x, y and z of points, each an array."""
Distance = Callable[[jax.Array], jax.Array]
"""From points (..., 3) in the world to signed distances (...), metres."""


class JaxWorld:
    """The distances of a world as jitted functions of points (..., 3); compiled once per shape and precision."""

    def __init__(self, world: World) -> None:
        parts = [
            *_primitives(world),
            *(_field(o) for o in world if isinstance(o, SdfGrid)),
            *_asked(world),
        ]

        def distance(points: jax.Array) -> jax.Array:
            points = _checked(points)
            if not parts:
                return jnp.full(points.shape[:-1], jnp.inf, points.dtype)
            return functools.reduce(_nearer, [part(points) for part in parts])

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


def _nearer(a: jax.Array, b: jax.Array) -> jax.Array:
    """The lesser; its derivative is that of one of them, also where they are equal."""
    return jnp.where(b < a, b, a)


# Primitives ---------------------------------------------------------------------------------------


def _length(*v: jax.Array) -> jax.Array:
    """Length of vectors given by their components, with derivative zero at zero."""
    square = sum(c * c for c in v)
    some = square > 0.0
    return jnp.where(some, jnp.sqrt(jnp.where(some, square, 1.0)), 0.0)


def _size(v: jax.Array) -> jax.Array:
    """|v| with derivative 1 at zero, so that points on a plane of symmetry are pushed out too."""
    return jnp.where(v < 0.0, -v, v)


def _corner(*beyond: jax.Array) -> jax.Array:
    """Signed distance from signed distances along directions at right angles."""
    most = functools.reduce(jnp.maximum, beyond)
    return _length(*(jnp.maximum(b, 0.0) for b in beyond)) + jnp.minimum(most, 0.0)


def _box(x: Components, size: jax.Array) -> jax.Array:
    return _corner(*(_size(x[k]) - size[..., k] for k in range(3)))


def _sphere(x: Components, size: jax.Array) -> jax.Array:
    return _length(*x) - size[..., 0]


def _cylinder(x: Components, size: jax.Array) -> jax.Array:
    return _corner(_length(x[0], x[1]) - size[..., 0], _size(x[2]) - size[..., 1])


def _capsule(x: Components, size: jax.Array) -> jax.Array:
    return _length(x[0], x[1], jnp.maximum(_size(x[2]) - size[..., 1], 0.0)) - size[..., 0]


def _half_space(x: Components, size: jax.Array) -> jax.Array:
    return x[0] * size[..., 0] + x[1] * size[..., 1] + x[2] * size[..., 2] - size[..., 3]


SHAPES: dict[type[Obstacle], Callable[[Components, jax.Array], jax.Array]] = {
    Box: _box,
    Sphere: _sphere,
    Cylinder: _cylinder,
    Capsule: _capsule,
    HalfSpace: _half_space,
}
"""Signed distance of points in the frame of an obstacle, by kind; sizes as `_sizes` gives them."""


def _sizes(obstacle: Obstacle) -> tuple[float, ...]:
    """Half edges, a radius, radius and half length, or normal and offset."""
    match obstacle:
        case Box():
            return tuple(0.5 * edge for edge in obstacle.size)
        case Sphere():
            return (obstacle.radius,)
        case Cylinder() | Capsule():
            return obstacle.radius, 0.5 * obstacle.length
        case HalfSpace():
            return *obstacle.normal, obstacle.offset
        case _:
            raise TypeError(f"no primitive: {type(obstacle).__name__}")


def _local(points: jax.Array, poses: jax.Array) -> Components:
    """Points in the frames of obstacles, whose poses are rows of 12.

    By components, which run through memory in long rows, and not by a matrix product, which accelerators round to less
    than single precision.
    """
    u, v, w = (points[..., k] - poses[..., 9 + k] for k in range(3))
    x, y, z = (u * poses[..., k] + v * poses[..., 3 + k] + w * poses[..., 6 + k] for k in range(3))
    return x, y, z


def _primitives(world: World) -> list[Distance]:
    by_kind = {kind: [o for o in world if type(o) is kind] for kind in SHAPES}
    return [_nearest_of(kind, some) for kind, some in by_kind.items() if some]


def _nearest_of(kind: type[Obstacle], obstacles: Sequence[Obstacle]) -> Distance:
    """Distance to the nearest of obstacles of one kind."""
    shape = SHAPES[kind]
    all_poses = np.array([[*o.pose[:3, :3].ravel(), *o.pose[:3, 3]] for o in obstacles])
    all_sizes = np.array([_sizes(o) for o in obstacles])

    def distance(points: jax.Array) -> jax.Array:
        poses = jnp.asarray(all_poses.astype(points.dtype))
        sizes = jnp.asarray(all_sizes.astype(points.dtype))
        fixed = jax.lax.stop_gradient(points)
        nearest = jnp.argmin(shape(_local(fixed[..., None, :], poses), sizes), axis=-1)
        return shape(_local(points, poses[nearest]), sizes[nearest])

    return distance


# Distance fields ----------------------------------------------------------------------------------


CORNERS = np.array([[k >> 2, (k >> 1) & 1, k & 1] for k in range(8)], np.int32)
"""Corners of a cell."""


def _field(field: SdfGrid) -> Distance:
    """Trilinear inside the grid; beyond it, the least that the nearest sample allows. See `SdfGrid`."""
    pose = np.concatenate([field.pose[:3, :3].ravel(), field.pose[:3, 3]])
    shape = field.values.shape

    def distance(points: jax.Array) -> jax.Array:
        x = _local(points, jnp.asarray(pose.astype(points.dtype)))
        cells, places, gaps, depths = zip(
            *(_cell(x[k], field.origin[k], field.spacing[k], shape[k]) for k in range(3)), strict=True
        )
        value = _trilinear(jnp.asarray(field.values), cells, places)
        gap = gaps[0] ** 2 + gaps[1] ** 2 + gaps[2] ** 2
        out = gap > 0.0
        beyond = jnp.sqrt(jnp.where(out, gap + jnp.maximum(value, 0.0) ** 2, 1.0))
        inside = jnp.maximum(value, -functools.reduce(jnp.minimum, depths))
        return jnp.where(out, beyond, jnp.where(value < 0.0, inside, value))

    return distance


def _cell(x: jax.Array, origin: float, step: float, samples: int) -> tuple[jax.Array, ...]:
    """Along one axis: the cell, the place in it from 0 to 1, how far beyond the grid and how far inside it."""
    last = step * (samples - 1)
    x = x - origin
    inner = jnp.clip(x, 0.0, last)
    cell = jnp.minimum(jnp.floor(jax.lax.stop_gradient(inner) / step), samples - 2).astype(np.int32)
    return cell, inner / step - cell, x - inner, jnp.minimum(x, last - x)


def _trilinear(values: jax.Array, cell: Sequence[jax.Array], place: Sequence[jax.Array]) -> jax.Array:
    """Interpolates between the samples at the corners of cells."""
    cells = tuple(cell[k][..., None] + CORNERS[:, k] for k in range(3))
    u, v, w = (
        jnp.where(CORNERS[:, k] == 1, place[k][..., None], 1.0 - place[k][..., None]) for k in range(3)
    )
    return (u * v * w * values[cells].astype(u.dtype)).sum(axis=-1)


# Meshes and clouds --------------------------------------------------------------------------------


def _asked(world: World) -> Sequence[Distance]:
    """Distance to meshes and clouds, by the compiled core."""
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
