"""Errors of rotations and directions in JAX: finite values and derivatives everywhere, in the precision of the input.

Both errors are rotation vectors in the world frame: the turn that would take what is to what is wanted. Where the turn
is zero a series stands in for the quotient angle / sine, so that derivatives are exact there too.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def rotate(wxyz: Float[Array, "4"], vector: Float[Array, "3"]) -> Float[Array, "3"]:
    """A vector turned by a unit quaternion."""
    w, v = wxyz[0], wxyz[1:]
    twice = 2.0 * _cross(v, vector)
    return vector + w * twice + _cross(v, twice)


def rotation_error(wanted: Float[Array, "4"], found: Float[Array, "4"]) -> Float[Array, "3"]:
    """log(R_wanted R_found^T): rotation vector in the world frame, angle from 0 to pi.

    Args:
        wanted: quaternion wxyz; lengths of both do not matter.
        found: quaternion wxyz.
    """
    w = jnp.dot(wanted, found)
    v = found[0] * wanted[1:] - wanted[0] * found[1:] - _cross(wanted[1:], found[1:])
    sign = jnp.where(w < 0.0, -1.0, 1.0)  # of the two quaternions of a rotation the one of the smaller angle
    return 2.0 * sign * v * _angle_over_sine(jnp.dot(v, v), sign * w)


def direction_error(wanted: Float[Array, "3"], found: Float[Array, "3"]) -> Float[Array, "3"]:
    """angle * unit(found x wanted) of two unit vectors; where they are opposed, a half turn about any normal."""
    cross, dot = _cross(found, wanted), jnp.dot(found, wanted)
    square = jnp.dot(cross, cross)
    opposed = (square < _tiny(square)) & (dot < 0.0)
    least = jnp.zeros(3, found.dtype).at[jnp.argmin(jnp.abs(found))].set(1.0)
    normal = _cross(found, least)
    normal = normal / jnp.sqrt(jnp.dot(normal, normal))
    return jnp.where(opposed, jnp.pi * normal, cross * _angle_over_sine(square, jnp.where(opposed, 1.0, dot)))


def unit(vector: Float[Array, "3"]) -> Float[Array, "3"]:
    """A vector made one long; zero stays zero."""
    square = jnp.dot(vector, vector)
    some = square > 0.0
    return jnp.where(some, vector / jnp.sqrt(jnp.where(some, square, 1.0)), 0.0)


def _cross(a: Float[Array, "3"], b: Float[Array, "3"]) -> Float[Array, "3"]:
    """`jnp.cross`, which takes several times as long to compile."""
    return jnp.stack(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]],
    )


def _angle_over_sine(sine_squared: jax.Array, cosine: jax.Array) -> jax.Array:
    """atan2(s, c) / s, where c > 0 if s is next to zero."""
    small = sine_squared < _tiny(sine_squared)
    sine = jnp.sqrt(jnp.where(small, 1.0, sine_squared))
    near = jnp.where(small, cosine, 1.0)
    series = 1.0 / near - sine_squared / (3.0 * near**3)
    return jnp.where(small, series, jnp.arctan2(sine, cosine) / sine)


def _tiny(like: jax.Array) -> float:
    """Squares below it are too small to divide by: the series is then exact to rounding."""
    return float(jnp.finfo(like.dtype).eps)
