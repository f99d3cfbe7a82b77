"""pyroki's duck type, both ways.

pyroki is not on PyPI, so Elbowroom never imports it: our Robot offers the attributes that code written
for pyroki reads (`joints.*`, `links.*`, `forward_kinematics`), and `as_robot` turns a pyroki Robot, told
by its attributes, into ours. pyroki holds no geometry, so such a Robot has links without meshes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from .._frozen import frozen
from .._poses import matrix_from_wxyz_xyz
from ..errors import InputError
from ._default import default_pose
from ._tree import build_tree
from ._types import Coupling, Joint, JointType

if TYPE_CHECKING:
    from ._robot import Robot


@dataclass(frozen=True)
class JointInfo:
    """Joint facts under pyroki's names; `*_all` cover every joint, fixed and coupled ones included."""

    names: tuple[str, ...]
    actuated_names: tuple[str, ...]
    lower_limits: Float[np.ndarray, "dof"]
    upper_limits: Float[np.ndarray, "dof"]
    velocity_limits: Float[np.ndarray, "dof"]
    lower_limits_all: Float[np.ndarray, "joints"]
    upper_limits_all: Float[np.ndarray, "joints"]
    velocity_limits_all: Float[np.ndarray, "joints"]
    parent_indices: Int[np.ndarray, "joints"]
    """Joint that carries the parent link; -1 at the root."""
    full_idx: Int[np.ndarray, "joints"]
    """Entry of the expanded configuration; -1 for fixed joints."""
    expand: Callable[[Any], Any]

    @property
    def num_joints(self) -> int:
        """Joints of any kind."""
        return len(self.names)

    @property
    def num_actuated_joints(self) -> int:
        """Entries of a configuration."""
        return len(self.actuated_names)

    def get_full_config(self, cfg: Any) -> Any:
        """Values (*batch, joints) of every joint; zero for fixed ones (JAX)."""
        import jax.numpy as jnp

        moving = self.expand(cfg)
        padded = jnp.concatenate([moving, jnp.zeros((*moving.shape[:-1], 1), moving.dtype)], axis=-1)
        return padded[..., np.where(self.full_idx < 0, moving.shape[-1], self.full_idx).astype(np.int32)]


@dataclass(frozen=True)
class LinkInfo:
    """Link facts under pyroki's names."""

    names: tuple[str, ...]
    parent_joint_indices: Int[np.ndarray, "links"]
    """Joint that carries the link; -1 for the root."""

    @property
    def num_links(self) -> int:
        """Number of links."""
        return len(self.names)


def joint_info(robot: Robot) -> JointInfo:
    """Joint facts of a Robot."""
    from ._fk_jax import make_expand

    joints = robot.tree.joints
    carrier = {joint.child: index for index, joint in enumerate(joints)}
    full = {joint.name: index for index, joint in enumerate(robot.tree.moving)}
    still = [joint.type == "fixed" for joint in joints]

    def column(values: list[float]) -> np.ndarray:
        return frozen(np.where(still, 0.0, values))

    return JointInfo(
        names=tuple(joint.name for joint in joints),
        actuated_names=robot.joint_names,
        lower_limits=robot.lower,
        upper_limits=robot.upper,
        velocity_limits=robot.velocity_limits,
        lower_limits_all=column([joint.lower for joint in joints]),
        upper_limits_all=column([joint.upper for joint in joints]),
        velocity_limits_all=column([joint.velocity for joint in joints]),
        parent_indices=frozen(np.array([carrier.get(joint.parent, -1) for joint in joints], dtype=np.int64)),
        full_idx=frozen(np.array([full.get(joint.name, -1) for joint in joints], dtype=np.int64)),
        expand=make_expand(robot.tree),
    )


def link_info(robot: Robot) -> LinkInfo:
    """Link facts of a Robot."""
    carrier = {joint.child: index for index, joint in enumerate(robot.tree.joints)}
    return LinkInfo(
        names=robot.link_names,
        parent_joint_indices=frozen(
            np.array([carrier.get(name, -1) for name in robot.link_names], dtype=np.int64)
        ),
    )


def as_robot(robot: Any) -> Robot:
    """Returns an Elbowroom Robot as it is, and a pyroki Robot (told by its attributes) as one of ours.

    Raises:
        InputError: neither of them.
    """
    from ._robot import Robot

    if isinstance(robot, Robot):
        return robot
    try:
        joints, links = robot.joints, robot.links
        twists, origins = np.asarray(joints.twists), np.asarray(joints.parent_transforms, dtype=np.float64)
    except AttributeError:
        raise InputError(f"expected an elbowroom or pyroki Robot, found a {type(robot).__name__}") from None
    carrier = np.asarray(links.parent_joint_indices)
    link_of = {int(joint): index for index, joint in enumerate(carrier) if joint >= 0}
    child_of = {joint: links.names[index] for joint, index in link_of.items()}
    root = links.names[int(np.flatnonzero(carrier < 0)[0])]
    parents = np.asarray(joints.parent_indices)
    # Newer versions place links in their joint's frame (MJCF bodies); older ones have link and joint frame coincide.
    placed = getattr(links, "T_parent_joint_link", None)

    def link_in_joint(joint: int) -> np.ndarray:
        if placed is None:
            return np.eye(4)
        return matrix_from_wxyz_xyz(np.asarray(placed, dtype=np.float64)[link_of[joint]])

    mimic = np.asarray(joints.mimic_act_indices)
    tree = build_tree(
        "pyroki Robot",
        links.names,
        [
            Joint(
                name=name,
                type=_type_of(twists[index]),
                parent=root if parents[index] < 0 else child_of[int(parents[index])],
                child=child_of[index],
                T_parent_joint=frozen(matrix_from_wxyz_xyz(origins[index])),
                axis=frozen(_axis_of(twists[index])),
                lower=float(joints.lower_limits_all[index]),
                upper=float(joints.upper_limits_all[index]),
                velocity=float(joints.velocity_limits_all[index]),
                T_joint_child=frozen(link_in_joint(index)),
                coupling=None
                if mimic[index] < 0
                else Coupling(
                    joints.actuated_names[int(mimic[index])],
                    (float(joints.mimic_offset[index]), float(joints.mimic_multiplier[index])),
                ),
            )
            for index, name in enumerate(joints.names)
        ],
        np.eye(4),
    )
    pose = default_pose(tree, {}, {}, {})
    return Robot(name="pyroki", tree=tree, shapes={}, named_cfgs={}, default_pose=pose, source="pyroki Robot")


def _type_of(twist: np.ndarray) -> JointType:
    if np.any(twist[3:]):
        return "revolute"
    return "prismatic" if np.any(twist[:3]) else "fixed"


def _axis_of(twist: np.ndarray) -> np.ndarray:
    axis = twist[3:] if np.any(twist[3:]) else twist[:3]
    length = float(np.linalg.norm(axis))
    return np.asarray(axis, dtype=np.float64) / length if length else np.array([0.0, 0.0, 1.0])
