"""Two robots become one: a tool, a hand or a second arm fixed on a link, and parts left out.

The joined robot is a Robot like any other. Its configuration is that of the carrier followed by that of what it
carries. It has no description file of its own (`xml` and `path` are None), so what edits the user's file (a spherized
URDF) refuses it with an error; MJCF, SRDF and the others are written as for any robot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._frozen import FrozenMap, frozen
from .._poses import as_matrix, matrix_from_wxyz_xyz
from ..errors import InputError
from ..typing import LinkPair, Matrix4, RobotLike, sorted_pair
from ._default import DefaultPose
from ._load import as_robot
from ._robot import Robot
from ._tree import build_tree
from ._types import Joint, Note


def root_pose(robot: Robot) -> Matrix4:
    """Pose of the root link in the robot's world."""
    return matrix_from_wxyz_xyz(np.concatenate([robot.tree.quat_cos[0], robot.tree.shift[0]]))


def joined(
    robot: RobotLike, other: RobotLike, link: str, pose: Any = None, *, prefix: str = "", name: str = ""
) -> Robot:
    """A robot with another one fixed on one of its links.

    Args:
        robot: the carrier. Its world is the world of the result.
        other: what it carries.
        link: of the carrier.
        pose: of the other robot's world frame in `link`, (7,) or (4, 4); None for the identity. Its root link is where
            it is in that frame.
        prefix: put before every name of the other robot: links, joints, named configurations.
        name: of the result; empty for both names with a plus.

    Returns:
        The joined robot: meshes, limits, couplings, notes and disabled pairs of both. A named configuration of one has
        the other at its default pose; where both have one of the same name, it holds the values of both.

    Raises:
        UnknownLinkError: the carrier has no such link.
        InputError: names that both have, or a pose that is none.
    """
    robot = as_robot(robot)
    other = as_robot(other)
    robot.link_index(link)
    if not isinstance(prefix, str):
        raise InputError(f"prefix: expected text, found {prefix!r:.40}")
    T_link_other = np.eye(4) if pose is None else as_matrix(pose, "pose")
    if T_link_other.shape != (4, 4):
        raise InputError(f"pose: expected one pose, found a stack of shape {T_link_other.shape}")
    carried = _renamed(other, prefix) if prefix else other
    _refuse_clashes(robot, carried, prefix)
    root = carried.tree.root
    mount = Joint(
        name=f"{root} on {link}",
        type="fixed",
        parent=link,
        child=root,
        T_parent_joint=frozen(T_link_other @ root_pose(carried)),
        axis=frozen(np.array([0.0, 0.0, 1.0])),
    )
    label = name or f"{robot.name}+{other.name}"
    tree = build_tree(
        label,
        (*robot.link_names, *carried.link_names),
        (*robot.tree.joints, mount, *carried.tree.joints),
        root_pose(robot),
    )
    return Robot(
        name=label,
        tree=tree,
        shapes=FrozenMap({**robot.shapes, **carried.shapes}),
        named_cfgs=FrozenMap(_named(robot, carried)),
        default_pose=_default(robot, carried, other.name),
        notes=(*robot.notes, *carried.notes),
        disabled_pairs=FrozenMap({**robot.disabled_pairs, **carried.disabled_pairs}),
        visual_only=(*robot.visual_only, *carried.visual_only),
        left_out=(*robot.left_out, *carried.left_out),
        visual_sources=FrozenMap({**robot.visual_sources, **carried.visual_sources}),
        source=f"{robot.source or robot.name} with {other.source or other.name} on {link}",
    )


def without_links(robot: RobotLike, links: Iterable[str]) -> Robot:
    """A robot without some links and all that they carry, such as the gripper that a hand replaces.

    Raises:
        UnknownLinkError: no such link.
        InputError: the root link, or a joint that stays follows one that goes.
    """
    robot = as_robot(robot)
    if isinstance(links, str):
        raise InputError(f"without: expected names of links, found the text {links!r}; write ({links!r},)")
    gone = set(links)
    for name in gone:
        robot.link_index(name)
    if not gone:
        return robot
    if robot.tree.root in gone:
        raise InputError(
            f"{robot.name}: the root link {robot.tree.root!r} carries everything and has to stay"
        )
    found = True
    while found:  # children of what goes
        more = {joint.child for joint in robot.tree.joints if joint.parent in gone} - gone
        gone |= more
        found = bool(more)
    joints = tuple(joint for joint in robot.tree.joints if joint.child not in gone)
    kept = {joint.name for joint in joints}
    for joint in joints:
        if joint.coupling is not None and joint.coupling.driver not in kept:
            raise InputError(
                f"{robot.name}: joint {joint.name!r} follows {joint.coupling.driver!r}, which goes with "
                f"{robot.joint(joint.coupling.driver).child!r}; leave out {joint.child!r} as well"
            )
    names = tuple(name for name in robot.link_names if name not in gone)
    columns = [i for i, name in enumerate(robot.joint_names) if name in kept]
    dropped = {*gone, *(joint.name for joint in robot.tree.joints if joint.name not in kept)}
    pose = robot.default_pose
    return replace(
        robot,
        tree=build_tree(robot.name, names, joints, root_pose(robot)),
        shapes=FrozenMap({name: shapes for name, shapes in robot.shapes.items() if name not in gone}),
        named_cfgs=FrozenMap({name: frozen(cfg[columns]) for name, cfg in robot.named_cfgs.items()}),
        default_pose=replace(
            pose,
            cfg=frozen(pose.cfg[columns]),
            guessed_joints=tuple(joint for joint in pose.guessed_joints if joint in kept),
        ),
        notes=tuple(note for note in robot.notes if note.where not in dropped),
        disabled_pairs=FrozenMap(
            {pair: reason for pair, reason in robot.disabled_pairs.items() if not gone & set(pair)}
        ),
        visual_only=tuple(name for name in robot.visual_only if name not in gone),
        left_out=tuple(name for name in robot.left_out if name not in gone),
        visual_sources=FrozenMap({k: v for k, v in robot.visual_sources.items() if k not in gone}),
        path=None,
        xml=None,
        _meshes={},
    )


def _renamed(robot: Robot, prefix: str) -> Robot:
    """The robot with a prefix before all its names."""
    tree = robot.tree
    joints = [
        replace(
            joint,
            name=prefix + joint.name,
            parent=prefix + joint.parent,
            child=prefix + joint.child,
            coupling=joint.coupling and replace(joint.coupling, driver=prefix + joint.coupling.driver),
        )
        for joint in tree.joints
    ]
    own = {*tree.link_names, *(joint.name for joint in tree.joints)}
    pose = robot.default_pose
    return replace(
        robot,
        tree=build_tree(robot.name, [prefix + name for name in tree.link_names], joints, root_pose(robot)),
        shapes=FrozenMap({prefix + link: shapes for link, shapes in robot.shapes.items()}),
        named_cfgs=FrozenMap({prefix + name: cfg for name, cfg in robot.named_cfgs.items()}),
        default_pose=replace(pose, guessed_joints=tuple(prefix + joint for joint in pose.guessed_joints)),
        notes=tuple(_moved_note(note, prefix) if note.where in own else note for note in robot.notes),
        disabled_pairs=FrozenMap(_prefixed(robot.disabled_pairs, prefix)),
        visual_only=tuple(prefix + link for link in robot.visual_only),
        left_out=tuple(prefix + link for link in robot.left_out),
        visual_sources=FrozenMap({prefix + link: source for link, source in robot.visual_sources.items()}),
        _meshes={},
    )


def _moved_note(note: Note, prefix: str) -> Note:
    return replace(note, where=prefix + note.where)


def _prefixed(pairs: Mapping[LinkPair, str], prefix: str) -> dict[LinkPair, str]:
    return {sorted_pair(prefix + a, prefix + b): reason for (a, b), reason in pairs.items()}


def _refuse_clashes(robot: Robot, other: Robot, prefix: str) -> None:
    joints = {joint.name for joint in robot.tree.joints} & {joint.name for joint in other.tree.joints}
    links = set(robot.link_names) & set(other.link_names)
    for kind, both in (("link", links), ("joint", joints)):
        if both:
            named = ", ".join(sorted(both)[:5]) + (", ..." if len(both) > 5 else "")
            again = (
                f"the prefix {prefix!r} does not part them"
                if prefix
                else f"give a prefix, such as '{other.name}_'"
            )
            raise InputError(f"{robot.name} and {other.name} both have {kind}s named {named}: {again}")


def _named(robot: Robot, other: Robot) -> dict[str, np.ndarray]:
    """Named configurations of both; each has the other robot at rest, or at its own of the same name."""
    names = dict.fromkeys((*robot.named_cfgs, *other.named_cfgs))
    return {
        name: np.concatenate(
            [robot.named_cfgs.get(name, robot.default_cfg), other.named_cfgs.get(name, other.default_cfg)]
        )
        for name in names
    }


def _default(robot: Robot, other: Robot, name: str) -> DefaultPose:
    return DefaultPose(
        frozen(np.concatenate([robot.default_cfg, other.default_cfg])),
        f"{robot.default_pose.source}; {name}: {other.default_pose.source}",
        (*robot.default_pose.guessed_joints, *other.default_pose.guessed_joints),
    )
