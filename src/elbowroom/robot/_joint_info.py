"""Facts of joints and links under pyroki's names, as arrays: what code written for pyroki reads of a robot.

pyroki places every joint in the frame of the joint before it, and moves it by a twist: that is `parent_transforms`,
`twists` and `parent_indices`. Indices are JAX arrays, since pyroki's costs index them with traced numbers; numbers are
numpy arrays in double precision, which JAX rounds where it meets its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Array, Float, Int

from .._frozen import frozen
from .._poses import as_wxyz_xyz, matrix_from_wxyz_xyz
from ..errors import InputError
from ._bodies import coupling_law
from ._tree import KinematicTree


@dataclass(frozen=True)
class JointInfo:
    """Joint facts under pyroki's names; arrays over `joints` cover every joint, fixed and coupled ones included."""

    names: tuple[str, ...]
    """Of all joints, in the order of the description."""
    actuated_names: tuple[str, ...]
    """Of those with an entry in a configuration, in its order."""
    lower_limits: Float[np.ndarray, "dof"]
    """rad or m."""
    upper_limits: Float[np.ndarray, "dof"]
    velocity_limits: Float[np.ndarray, "dof"]
    """rad/s or m/s; infinite where the description gives none."""
    lower_limits_all: Float[np.ndarray, "joints"]
    """The same for every joint; zero for fixed ones."""
    upper_limits_all: Float[np.ndarray, "joints"]
    velocity_limits_all: Float[np.ndarray, "joints"]
    parent_indices: Int[Array, "joints"]
    """The joint before; -1 for joints of the root link."""
    twists: Float[np.ndarray, "joints 6"]
    """Motion in the joint's own frame per unit of its value: translation, then rotation; zero for fixed joints."""
    parent_transforms: Float[np.ndarray, "joints 7"]
    """Frame of the joint at zero in the frame of the joint before, moved (in the world for joints of the root link),
    wxyz_xyz."""
    full_idx: Int[np.ndarray, "joints"]
    """Entry of the expanded configuration; -1 for fixed joints."""
    expand: Callable[[Any], Any]
    tree: KinematicTree

    @property
    def num_joints(self) -> int:
        """Joints of any kind."""
        return len(self.names)

    @property
    def num_actuated_joints(self) -> int:
        """Entries of a configuration."""
        return len(self.actuated_names)

    @cached_property
    def actuated_indices(self) -> Int[Array, "joints"]:
        """Entry of a configuration that is the joint's own; -1 for fixed and coupled joints."""
        place = {name: k for k, name in enumerate(self.actuated_names)}
        return _indices([place.get(name, -1) for name in self.names])

    @cached_property
    def mimic_act_indices(self) -> Int[Array, "joints"]:
        """Entry of a configuration that a coupled joint follows in the end; -1 for all others.

        Raises:
            InputError: a joint follows by a law that is not linear, which pyroki's fields cannot say.
        """
        return _indices([law[0] for law in self._mimics])

    @cached_property
    def mimic_multiplier(self) -> Float[np.ndarray, "joints"]:
        """Slope of a coupled joint; 1 for all others."""
        return frozen(np.array([law[1] for law in self._mimics]))

    @cached_property
    def mimic_offset(self) -> Float[np.ndarray, "joints"]:
        """Value of a coupled joint where the one it follows is zero; 0 for all others."""
        return frozen(np.array([law[2] for law in self._mimics]))

    @cached_property
    def _mimics(self) -> list[tuple[int, float, float]]:
        """Driver, slope and offset of every joint."""
        found: list[tuple[int, float, float]] = []
        for name, full in zip(self.names, self.full_idx.tolist(), strict=True):
            if full < 0 or not self.tree.is_coupled[full]:
                found.append((-1, 1.0, 0.0))
                continue
            driver, law = coupling_law(self.tree, full)
            if len(law) > 2:
                raise InputError(
                    f"joint {name!r} follows {self.actuated_names[driver]!r} by a polynomial of degree {len(law) - 1}; "
                    "mimic_multiplier and mimic_offset can only say a line. get_full_config is exact"
                )
            found.append((driver, law[1] if len(law) > 1 else 0.0, law[0]))
        return found

    def get_full_config(self, cfg: Any) -> Any:
        """Values (*batch, joints) of every joint; zero for fixed ones (JAX)."""
        import jax.numpy as jnp

        moving = self.expand(cfg)
        padded = jnp.concatenate([moving, jnp.zeros((*moving.shape[:-1], 1), moving.dtype)], axis=-1)
        return padded[..., np.where(self.full_idx < 0, moving.shape[-1], self.full_idx).astype(np.int32)]

    def poses(self, cfg: Any) -> Any:
        """Poses (*batch, joints, 7) of the moved joint frames in the world, wxyz_xyz (JAX)."""
        import jax
        import jax.numpy as jnp

        from ._fk_jax import compose

        values = self.get_full_config(cfg)
        dtype = values.dtype
        slide, axis = (part.astype(dtype) for part in np.split(self.twists, 2, axis=1))
        half = 0.5 * values[..., None]
        turned = jnp.where(np.any(axis, axis=1, keepdims=True), half, 0.0)
        motion = jnp.concatenate([jnp.cos(turned), jnp.sin(turned) * axis, 2.0 * half * slide], axis=-1)
        local = jnp.moveaxis(compose(jnp.asarray(self.parent_transforms.astype(dtype)), motion), -2, 0)
        before = np.asarray(self.parent_indices)
        order = _parents_first(before.tolist())

        def descend(placed: Any, step: Any) -> Any:
            joint, parent = step
            return placed.at[joint].set(compose(placed[parent], local[joint])), None

        # The row after the last joint is the world, where joints of the root link begin.
        world = jnp.zeros_like(local[:1]).at[..., 0].set(1.0)
        rows = jnp.concatenate([jnp.zeros_like(local), world])
        parents = np.where(before < 0, len(before), before).astype(np.int32)[order]
        placed, _ = jax.lax.scan(descend, rows, (order, parents))
        return jnp.moveaxis(placed[:-1], 0, -2)


@dataclass(frozen=True)
class LinkInfo:
    """Link facts under pyroki's names."""

    names: tuple[str, ...]
    """In the order of `forward_kinematics`."""
    parent_joint_indices: Int[Array, "links"]
    """Joint that carries the link; -1 for the root."""
    T_parent_joint_link: Float[np.ndarray, "links 7"]
    """Link in the moved frame of that joint (the root: in the world), wxyz_xyz; identity in URDF."""

    @property
    def num_links(self) -> int:
        """Number of links."""
        return len(self.names)

    def poses(self, Ts_world_joint: Any) -> Any:
        """Link poses (*batch, links, 7) from poses (*batch, joints, 7) of the moved joint frames (JAX)."""
        import jax.numpy as jnp

        from ._fk_jax import compose

        world = jnp.zeros_like(Ts_world_joint[..., :1, :]).at[..., 0].set(1.0)
        padded = jnp.concatenate([Ts_world_joint, world], axis=-2)
        index = np.asarray(self.parent_joint_indices)
        carriers = padded[..., np.where(index < 0, padded.shape[-2] - 1, index).astype(np.int32), :]
        return compose(carriers, jnp.asarray(self.T_parent_joint_link.astype(padded.dtype)))


def joint_info(tree: KinematicTree) -> JointInfo:
    """Joint facts of a robot."""
    from ._fk_jax import make_expand

    joints = tree.joints
    full = {joint.name: index for index, joint in enumerate(tree.moving)}
    still = [joint.type == "fixed" for joint in joints]
    before = _joints_before(tree)
    last = _last_joints(tree)
    twists = np.zeros((len(joints), 6))
    origins = np.empty((len(joints), 4, 4))
    for k, joint in enumerate(joints):
        if joint.type == "prismatic":
            twists[k, :3] = joint.axis
        elif joint.type != "fixed":
            twists[k, 3:] = joint.axis
        origins[k] = joint.T_parent_joint
        if before[k] < 0:
            origins[k] = _root_pose(tree) @ origins[k]
        elif joints[before[k]].child != joint.child:  # the joint before carries the parent link
            origins[k] = joints[last[joint.parent]].T_joint_child @ origins[k]

    def column(values: list[float]) -> np.ndarray:
        return frozen(np.where(still, 0.0, values))

    return JointInfo(
        names=tuple(joint.name for joint in joints),
        actuated_names=tuple(joint.name for joint in tree.actuated),
        lower_limits=frozen(np.array([joint.lower for joint in tree.actuated], dtype=np.float64)),
        upper_limits=frozen(np.array([joint.upper for joint in tree.actuated], dtype=np.float64)),
        velocity_limits=frozen(np.array([joint.velocity for joint in tree.actuated], dtype=np.float64)),
        lower_limits_all=column([joint.lower for joint in joints]),
        upper_limits_all=column([joint.upper for joint in joints]),
        velocity_limits_all=column([joint.velocity for joint in joints]),
        parent_indices=_indices(before),
        twists=frozen(twists),
        parent_transforms=frozen(as_wxyz_xyz(origins) if len(joints) else np.zeros((0, 7))),
        full_idx=frozen(np.array([full.get(joint.name, -1) for joint in joints], dtype=np.int64)),
        expand=make_expand(tree),
        tree=tree,
    )


def link_info(tree: KinematicTree) -> LinkInfo:
    """Link facts of a robot."""
    last = _last_joints(tree)
    placed = [
        tree.joints[last[name]].T_joint_child if name in last else _root_pose(tree)
        for name in tree.link_names
    ]
    return LinkInfo(
        names=tree.link_names,
        parent_joint_indices=_indices([last.get(name, -1) for name in tree.link_names]),
        T_parent_joint_link=frozen(as_wxyz_xyz(np.array(placed))),
    )


def _indices(values: list[int]) -> Any:
    """A JAX array; int32 as everywhere in our JAX code. A fact also where it is first asked for under jit."""
    import jax
    import jax.numpy as jnp

    with jax.ensure_compile_time_eval():
        return jnp.asarray(np.array(values, dtype=np.int32))


def _root_pose(tree: KinematicTree) -> np.ndarray:
    """The root link in the world."""
    return matrix_from_wxyz_xyz(np.concatenate([tree.quat_cos[0], tree.shift[0]]))


def _last_joints(tree: KinematicTree) -> dict[str, int]:
    """Of each link the joint that carries it, the last where there are several."""
    return {joint.child: k for k, joint in enumerate(tree.joints)}


def _joints_before(tree: KinematicTree) -> list[int]:
    """Of each joint the one before: an earlier joint of the same link, or what carries the parent link; or -1."""
    last = _last_joints(tree)
    of_child: dict[str, int] = {}
    found: list[int] = []
    for k, joint in enumerate(tree.joints):
        found.append(of_child.get(joint.child, last.get(joint.parent, -1)))
        of_child[joint.child] = k
    return found


def _parents_first(before: list[int]) -> np.ndarray:
    """Joints in an order in which each comes after the one before it."""

    def depth(joint: int) -> int:
        steps = 0
        while before[joint] >= 0:
            joint, steps = before[joint], steps + 1
        return steps

    return np.argsort([depth(joint) for joint in range(len(before))], kind="stable").astype(np.int32)
