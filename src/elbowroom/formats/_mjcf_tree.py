"""A robot's tree as a new MJCF document: bodies, masses, joints, limits, couplings, servos and poses, no geoms.

Our joints move their child by `T_parent_joint * motion(q) * T_joint_child`, several in order. MJCF says the same
with one pose of the body at zero, and the axis and anchor of each joint in that body: what follows a motion is
carried through it (X * motion = motion' * X). So bodies with several joints, or joints away from the origin, are
written exactly as they move. Joints that cannot move become part of the pose.
"""

from __future__ import annotations

import math
import textwrap
from typing import Any

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from .._poses import as_wxyz_xyz
from .._text import shortest
from .._xml import parse_xml
from ..errors import InputError
from ..robot import Joint, Robot
from ..robot.internal import joint_motion, urdf_links
from ..typing import Matrix4
from ._mjcf_drive import CLASS, FASTEST, FREQUENCY, SAG, add_keyframes, add_servos, stated_losses
from ._mjcf_mass import masses_of

WORLD = "world"
"""Name of MuJoCo's own body at the root, which no other body may have."""
LEAST_MASS, LEAST_INERTIA = 1e-6, 1e-9
"""For links without spheres, which MuJoCo would refuse to move without any mass (kg, kg m^2)."""
FAR = 1e6
"""Stands for infinity (rad, m) where only one of two limits is finite: MJCF has both or none."""
NOISE = 1e-15
"""Rounding noise (m, or of unit vectors) that is written as zero."""
COLUMNS = 108
"""Width of comments."""
HEAD = (
    "The base is fixed to the world, as descriptions have it: to let the robot stand on its own, put a freejoint into"
    " its first body and a floor into the world.",
    f"Gains are ours, not the robot's: kp is the larger of {FREQUENCY:g}^2 times the inertia of the joint and the load"
    f" of gravity with everything behind the joint held out level over {SAG['hinge']:g} rad ({SAG['slide']:g} m), and"
    f" armature keeps the frequency of light links below {FASTEST:g} rad/s.",
)
"""What every new file says of itself."""


def tree_of(robot: Robot, default_cfg: np.ndarray) -> tuple[Any, list[str]]:
    """A new MJCF with the robot's tree, joints, limits, couplings, servos and poses, and what is lost in it.

    Args:
        robot: the robot.
        default_cfg: its default pose (dof,), which becomes a keyframe too.

    Raises:
        InputError: a link is called `world` and is not the root at the origin.
    """
    lost: list[str] = []
    constants = _constants(robot)
    masses, losses = masses_of(robot, constants), stated_losses(robot)
    root = etree.Element("mujoco", model=robot.name)
    head = (*(masses.sentences() or ["Masses and inertias are those of the description."]), *HEAD)
    for text in head:
        root.append(_comment(text))
    compiler = {"angle": "radian", "autolimits": "true"}
    etree.SubElement(
        root, "compiler", **compiler, boundmass=shortest(LEAST_MASS), boundinertia=shortest(LEAST_INERTIA)
    )
    etree.SubElement(root, "option", integrator="implicitfast")
    _defaults(root)
    bodies = {robot.tree.root: _root_body(robot, etree.SubElement(root, "worldbody"), lost)}
    chains: dict[str, list[Joint]] = {}
    for joint in robot.tree.joints:
        chains.setdefault(joint.child, []).append(joint)
    waiting = [robot.tree.root]
    while waiting:
        link = waiting.pop(0)
        if link in chains:
            pose, moving = _body_frame(chains[link], constants)
            bodies[link] = _body(bodies[chains[link][0].parent], link, as_wxyz_xyz(pose))
            for joint, axis, anchor in moving:
                _joint(bodies[link], joint, axis, anchor, losses.get(joint.name, {}), lost)
        if link in masses.inertials and bodies[link].tag == "body":
            etree.SubElement(bodies[link], "inertial", masses.inertials[link].attributes())
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
        etree.SubElement(equality, "joint", **names, polycoef=shortest(coefficients))
    weak = add_servos(root, robot, default_cfg, constants)
    root.insert(len(head), _comment(_limits_of_servos(robot, weak)))
    lost += [*masses.sentences(), *weak]
    lost += add_keyframes(root, robot, default_cfg)
    return parse_xml(etree.tostring(root), robot.name), lost


def _limits_of_servos(robot: Robot, weak: list[str]) -> str:
    """Where efforts, damping and friction come from, and what is left out of them."""
    described = urdf_links(robot)
    other = any(joint.child not in described for joint in robot.tree.moving)
    text = ", but ".join(["Efforts, damping and friction are those of the description", *weak])
    return (
        f"{text}. Joints that come from no URDF have no damping and friction here." if other else f"{text}."
    )


def _defaults(root: Any) -> None:
    """One class for all that is the robot's, so that a scene around it keeps MuJoCo's own defaults."""
    robot = etree.SubElement(etree.SubElement(root, "default"), "default", {"class": CLASS})
    etree.SubElement(robot, "geom", type="sphere", mass="0")
    etree.SubElement(robot, "position", dampratio="1", inheritrange="1")


def _comment(text: str) -> Any:
    """A comment on lines of readable length; XML allows no two hyphens in it."""
    text = text[:1].upper() + text[1:]
    lines = textwrap.wrap(text.replace("--", "- -").rstrip("-"), COLUMNS, break_long_words=False)
    return etree.Comment(f" {lines[0]} " if len(lines) == 1 else "\n    ".join(["", *lines]) + "\n  ")


def _clean(values: np.ndarray) -> str:
    """Numbers of a pose or a direction in full, without rounding noise around zero."""
    return shortest(np.where(np.abs(values) < NOISE, 0.0, values))


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
    """A body; what is MuJoCo's default is left out."""
    body = etree.SubElement(parent, "body", name=name)
    pos, quat = _clean(pose[4:]), _clean(pose[:4])
    if pos != "0 0 0":
        body.set("pos", pos)
    if quat not in ("1 0 0 0", "-1 0 0 0"):
        body.set("quat", quat)
    if parent.tag == "worldbody":
        body.set("childclass", CLASS)
    return body


def _joint(
    body: Any, joint: Joint, axis: np.ndarray, anchor: np.ndarray, losses: dict[str, str], lost: list[str]
) -> None:
    kind = "slide" if joint.type == "prismatic" else "hinge"
    attributes = {"name": joint.name, "type": kind, "axis": _clean(axis)}
    if (place := _clean(anchor)) != "0 0 0":
        attributes["pos"] = place
    limits = _range(joint, lost)
    if limits is not None:
        attributes["range"] = shortest(limits)
    etree.SubElement(body, "joint", **attributes, **losses)


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
