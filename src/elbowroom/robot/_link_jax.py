"""Pose and geometric Jacobian of one link in JAX: what inverse kinematics differentiates.

Only the joints that carry the link are composed. The derivative of the pose is not left to automatic differentiation:
it is the geometric Jacobian, made of the axes and origins that forward kinematics has already placed. The Jacobian is
itself a differentiable function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..errors import UnknownLinkError, unknown
from ._fk_jax import as_floats, compose, cross, expand_function
from ._tree import PRISMATIC, REVOLUTE, KinematicTree


@jax.tree_util.register_pytree_node_class
class LinkInJax:
    """A link of a robot for JAX functions, to which it is static: a pytree without leaves, equal to itself alone."""

    def __init__(self, tree: KinematicTree, link: str) -> None:
        if link not in tree.link_names:
            raise UnknownLinkError(unknown("link", str(link), tree.link_names))
        frames = _ancestors(tree, int(tree.link_frame[tree.link_names.index(link)]))
        expand, n_moving = expand_function(tree), len(tree.moving)
        moving = np.array([f for f in frames if tree.q_idx[f] >= 0], dtype=np.int64)
        # Places among the frames of the chain, and entries of q_full; int32 as in `_fk_jax`.
        place = np.array([frames.index(f) for f in moving], dtype=np.int32)
        entry = tree.q_idx[moving].astype(np.int32)
        slides = (tree.kind[moving] == PRISMATIC)[:, None]
        local = _local_motion(tree, np.array(frames, dtype=np.int64))

        def placed(q_full: jax.Array) -> jax.Array:
            """Poses (frames, 7) of the frames from the root to the link."""

            def descend(T_world: jax.Array, T_parent: jax.Array) -> tuple[jax.Array, jax.Array]:
                T_world = compose(T_world, T_parent)
                return T_world, T_world

            steps = local(q_full)
            _, below = jax.lax.scan(descend, steps[0], steps[1:])
            return jnp.concatenate([steps[:1], below])

        def columns(poses: jax.Array) -> tuple[jax.Array, jax.Array]:
            """Velocity of the link origin and angular velocity (moving joints of the chain, 3), per unit rate."""
            w, v = poses[place, :1], poses[place, 1:4]
            fixed = jnp.asarray(tree.axis[moving].astype(poses.dtype))
            twice = 2.0 * cross(v, fixed)
            axes = fixed + w * twice + cross(v, twice)
            arms = poses[-1, 4:] - poses[place, 4:]
            return jnp.where(slides, axes, cross(axes, arms)), jnp.where(slides, 0.0, axes)

        @jax.custom_jvp
        def pose_of(q_full: jax.Array) -> jax.Array:
            return placed(q_full)[-1]

        @pose_of.defjvp
        def _derivative(primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
            poses = placed(primals[0])
            linear, angular = columns(poses)
            rates = tangents[0][entry]
            turn = 0.5 * (rates @ angular)
            w, v = poses[-1, 0], poses[-1, 1:4]
            quaternion = jnp.concatenate([-(turn @ v)[None], w * turn + cross(turn, v)])
            return poses[-1], jnp.concatenate([quaternion, rates @ linear])

        def full_jacobian(q_full: jax.Array) -> jax.Array:
            linear, angular = columns(placed(q_full))
            both = jnp.concatenate([linear, angular], axis=-1).T
            return jnp.zeros((6, n_moving), both.dtype).at[:, entry].add(both)

        def pose(cfg: Any) -> jax.Array:
            return pose_of(expand(as_floats(cfg)))

        def jacobian(cfg: Any) -> jax.Array:
            values, push = jax.linearize(expand, as_floats(cfg))
            by_driver = jax.vmap(push)(jnp.eye(len(tree.actuated), dtype=values.dtype))
            return full_jacobian(values) @ by_driver.T

        self.link = link
        self.pose: Callable[[Any], Float[Array, "7"]] = pose
        """T_world_link, wxyz_xyz, at a configuration (dof,)."""
        self.jacobian: Callable[[Any], Float[Array, "6 dof"]] = jacobian
        """Velocity of the link's origin and its angular velocity, world axes, per unit rate of each actuated joint."""

    def tree_flatten(self) -> tuple[tuple[()], LinkInJax]:
        """For JAX: no leaves."""
        return (), self

    @classmethod
    def tree_unflatten(cls, static: LinkInJax, leaves: Any) -> LinkInJax:
        """For JAX: the same link."""
        return static


def _ancestors(tree: KinematicTree, frame: int) -> list[int]:
    """Frames from the root to a frame."""
    found = [frame]
    while tree.parent[found[-1]] >= 0:
        found.append(int(tree.parent[found[-1]]))
    return found[::-1]


def _local_motion(tree: KinematicTree, frames: np.ndarray) -> Callable[[jax.Array], jax.Array]:
    """Function from q_full to poses (frames, 7) in the parent frames."""
    entry = np.where(tree.q_idx[frames] < 0, len(tree.moving), tree.q_idx[frames]).astype(np.int32)
    half = np.where(tree.kind[frames] == REVOLUTE, 0.5, 0.0)
    arrays = (tree.quat_cos[frames], tree.quat_sin[frames], tree.shift[frames], tree.slide[frames])

    def local(q_full: jax.Array) -> jax.Array:
        dtype = q_full.dtype
        quat_cos, quat_sin, shift, slide = (array.astype(dtype) for array in arrays)
        q = jnp.concatenate([q_full, jnp.zeros(1, dtype)])[entry]
        angle = (q * half.astype(dtype))[:, None]
        quaternion = jnp.cos(angle) * quat_cos + jnp.sin(angle) * quat_sin
        return jnp.concatenate([quaternion, shift + q[:, None] * slide], axis=-1)

    return local
