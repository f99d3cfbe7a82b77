"""pyroki, both ways: a pyroki Robot becomes ours, and ours is given to pyroki's solver.

pyroki and jaxls are not on PyPI, so Elbowroom never needs them: our Robot offers the attributes that code written for
pyroki reads (`joints.*`, `links.*`, `forward_kinematics`; see `_joint_info`), and `as_robot` turns a pyroki Robot, told
by its attributes, into ours. pyroki holds no geometry, so such a Robot has links without meshes. Only `joint_var_cls`,
a class of jaxls by its nature, asks for jaxls to be installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._frozen import frozen
from .._poses import matrix_from_wxyz_xyz
from ..errors import MissingExtraError
from ._default import default_pose
from ._tree import build_tree
from ._types import Coupling, Joint, JointType

if TYPE_CHECKING:
    from ._robot import Robot


JAXLS = "pip install git+https://github.com/brentyi/jaxls"
"""What installs it; on PyPI another project has its name."""


def jaxls_module(purpose: str) -> Any:
    """jaxls, pyroki's solver.

    Raises:
        MissingExtraError: it is not installed, or another project of that name is.
    """
    try:
        import jaxls  # type: ignore[import-not-found]
    except ImportError as error:
        raise MissingExtraError(f"{purpose} needs jaxls, which is not installed: {JAXLS}") from error
    if not (hasattr(jaxls, "Var") and hasattr(jaxls, "Cost")):
        raise MissingExtraError(
            f"{purpose} needs brentyi's jaxls; the installed module of that name has no Var and Cost. The jaxls on "
            f"PyPI is another project: pip uninstall jaxls, then {JAXLS}"
        )
    return jaxls


def joint_variable_class(robot: Any) -> Any:
    """A class of jaxls variables that are configurations of a robot; new ones are at its default configuration."""
    jaxls = jaxls_module("Robot.joint_var_cls")
    import jax.numpy as jnp

    start = robot.default_cfg  # becomes a JAX array when it is used: this may be asked for under jit
    try:
        return type("JointVar", (jaxls.Var,), {}, default_factory=lambda: jnp.asarray(start))
    except TypeError:  # older versions take the value itself
        return type("JointVar", (jaxls.Var,), {}, default=start)


def is_pyroki(robot: Any) -> bool:
    """Whether it is a pyroki Robot, told by its attributes."""
    return all(hasattr(robot, name) for name in ("joints", "links")) and hasattr(robot.joints, "twists")


def robot_from_pyroki(robot: Any) -> Robot:
    """Our Robot with the kinematics of a pyroki Robot, which holds no geometry."""
    from ._robot import Robot

    joints, links = robot.joints, robot.links
    twists, origins = np.asarray(joints.twists), np.asarray(joints.parent_transforms, dtype=np.float64)
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
