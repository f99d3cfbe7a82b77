"""A robot's tree as a new MJCF document: bodies, joints, limits, couplings and named poses, no geoms.

A joint of ours moves its child by `T_parent_joint * motion(q) * T_joint_child`, several in order. MJCF says the same
with one pose of the body at zero, and the axis and anchor of each joint in that body: what follows a motion is
carried through it (X * motion = motion' * X). So bodies with several joints, or joints away from the origin, are
written exactly as they move. Joints that cannot move become part of the pose.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from .._poses import as_wxyz_xyz
from .._xml import parse_xml
from ..errors import InputError
from ..robot import Joint, Robot
from ..robot.doors import joint_motion
from ..typing import Matrix4

WORLD = "world"
"""Name of MuJoCo's own body at the root, which no other body may have."""
LEAST_MASS, LEAST_INERTIA = 1e-6, 1e-9
"""For links without spheres, which MuJoCo would refuse to move without any mass (kg, kg m^2)."""
FAR = 1e6
"""Stands for infinity (rad, m) where only one of two limits is finite: MJCF has both or none."""


def tree_of(robot: Robot, default_cfg: np.ndarray) -> tuple[Any, list[str]]:
    """A new MJCF with the robot's tree, joints, limits, couplings and named poses, and what is lost in it.

    Args:
        robot: the robot.
        default_cfg: its default pose (dof,), which becomes a keyframe too.

    Raises:
        InputError: a link is called `world` and is not the root at the origin.
    """
    lost: list[str] = []
    root = etree.Element("mujoco", model=robot.name)
    compiler = {"angle": "radian", "autolimits": "true"}
    etree.SubElement(
        root, "compiler", **compiler, boundmass=repr(LEAST_MASS), boundinertia=repr(LEAST_INERTIA)
    )
    bodies = {robot.tree.root: _root_body(robot, etree.SubElement(root, "worldbody"), lost)}
    chains: dict[str, list[Joint]] = {}
    for joint in robot.tree.joints:
        chains.setdefault(joint.child, []).append(joint)
    constants = _constants(robot)
    waiting = [joint.child for joint in robot.child_joints(robot.tree.root)]
    while waiting:
        link = waiting.pop(0)
        pose, moving = _body_frame(chains[link], constants)
        bodies[link] = _body(bodies[chains[link][0].parent], link, as_wxyz_xyz(pose))
        for joint, axis, anchor in moving:
            _joint(bodies[link], joint, axis, anchor, lost)
        waiting += [joint.child for joint in robot.child_joints(link)]
    lost += [
        f"joint {name!r} cannot move; it is written as a fixed body at {value:g}"
        for name, value in constants.items()
    ]
    coupled = [joint for joint in robot.tree.moving if joint.coupling and joint.name not in constants]
    equality = etree.SubElement(root, "equality") if coupled else None
    for joint in coupled:
        assert joint.coupling is not None
        coefficients = np.zeros(5)
        coefficients[: len(joint.coupling.polycoef)] = joint.coupling.polycoef
        names = {"joint1": joint.name, "joint2": joint.coupling.driver}
        etree.SubElement(equality, "joint", **names, polycoef=text_of(coefficients))
    _keyframes(root, robot, default_cfg)
    return parse_xml(etree.tostring(root), robot.name), lost


def text_of(values: np.ndarray) -> str:
    """Numbers in full."""
    return " ".join(map(repr, np.asarray(values, dtype=float).tolist()))


def _root_body(robot: Robot, world: Any, lost: list[str]) -> Any:
    pose = np.concatenate([robot.tree.quat_cos[0], robot.tree.shift[0]])
    if robot.tree.root != WORLD:
        if WORLD in robot.link_names:
            raise InputError(
                f"{robot.name}: link {WORLD!r} is not the root; MJCF keeps that name for its own root, rename the link"
            )
        return _body(world, robot.tree.root, pose)
    if not np.array_equal(np.abs(pose), [1, 0, 0, 0, 0, 0, 0]):
        raise InputError(
            f"{robot.name}: the root link {WORLD!r} is not at the origin, where MJCF has the body of that name;"
            " rename the link or load the robot without base_pose"
        )
    lost.append(f"link {WORLD!r} is MuJoCo's own world; readers may not count it as a link of the robot")
    return world


def _keyframes(root: Any, robot: Robot, default_cfg: np.ndarray) -> None:
    """Named poses; MuJoCo's configuration has the joints in the order of the document."""
    joints = [joint.get("name") for joint in root.find("worldbody").iter("joint")]
    poses = {"default": default_cfg, **robot.named_cfgs}
    if not joints or (not robot.named_cfgs and not default_cfg.any()):
        return
    keyframe = etree.SubElement(root, "keyframe")
    for name, cfg in poses.items():
        values = dict(zip((j.name for j in robot.tree.moving), robot.tree.expand(cfg).tolist(), strict=True))
        qpos = np.array([values[joint] for joint in joints])
        etree.SubElement(keyframe, "key", name=name, qpos=text_of(qpos))


def _constants(robot: Robot) -> dict[str, float]:
    """Values of joints that cannot move: equal limits, or coupled to such a joint."""
    found = {joint.name: joint.lower for joint in robot.tree.actuated if joint.lower == joint.upper}
    for index in robot.tree.order:
        joint = robot.tree.moving[index]
        if joint.coupling is not None and joint.coupling.driver in found:
            found[joint.name] = float(
                np.polynomial.polynomial.polyval(found[joint.coupling.driver], joint.coupling.polycoef)
            )
    return found


def _body_frame(
    chain: list[Joint], constants: dict[str, float]
) -> tuple[Matrix4, list[tuple[Joint, np.ndarray, np.ndarray]]]:
    """Pose of a body in its parent at zero, and its moving joints with axis and anchor in the body."""
    moving: list[tuple[Joint, np.ndarray, np.ndarray]] = []
    after = np.eye(4)  # from the frame behind the joint's motion to the body
    for joint in reversed(chain):
        after = joint.T_joint_child @ after
        if joint.name in constants:
            after = joint_motion(joint.type, joint.axis, constants[joint.name]) @ after
        elif joint.type != "fixed":
            R_body_joint = after[:3, :3].T
            moving.append((joint, R_body_joint @ joint.axis, -R_body_joint @ after[:3, 3]))
        after = joint.T_parent_joint @ after
    return after, moving[::-1]


def _body(parent: Any, name: str, pose: np.ndarray) -> Any:
    return etree.SubElement(parent, "body", name=name, pos=text_of(pose[4:]), quat=text_of(pose[:4]))


def _joint(body: Any, joint: Joint, axis: np.ndarray, anchor: np.ndarray, lost: list[str]) -> None:
    kind = "slide" if joint.type == "prismatic" else "hinge"
    attributes = {"name": joint.name, "type": kind, "axis": text_of(axis)}
    if anchor.any():
        attributes["pos"] = text_of(anchor)
    limits = _range(joint, lost)
    if limits is not None:
        attributes["range"] = text_of(np.array(limits))
    etree.SubElement(body, "joint", **attributes)


def _range(joint: Joint, lost: list[str]) -> tuple[float, float] | None:
    """Both limits, or None where the joint has none that MJCF can hold; says what is lost."""
    if joint.type == "continuous":
        return None
    open_below, open_above = not math.isfinite(joint.lower), not math.isfinite(joint.upper)
    if open_below and open_above:
        if joint.type == "revolute":
            lost.append(f"joint {joint.name!r} has no limits and is written as one that turns without end")
        return None
    if open_below or open_above:
        side = "lower" if open_below else "upper"
        lost.append(f"joint {joint.name!r} has no {side} limit, MJCF needs both: {FAR:g} stands for infinity")
        return (-FAR if open_below else joint.lower, FAR if open_above else joint.upper)
    if joint.lower == joint.upper:
        lost.append(
            f"limits of joint {joint.name!r}, both {joint.lower:g}, are left out; it follows its driver"
        )
        return None
    return joint.lower, joint.upper
