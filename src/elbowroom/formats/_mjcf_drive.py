"""Position servos of a new MJCF and the poses that they hold.

Descriptions state no gains. Each actuated joint gets a servo that is as stiff as its load asks: `kp` is the larger of
what gives its inertia the natural frequency `FREQUENCY`, and what lets gravity push it aside by no more than `SAG`
with everything behind it held out level. Critical damping is left to MuJoCo (`dampratio="1"`). Inertia and lever arms
are those of the default pose, coupled joints count with the joint that drives them. Joints of light links, as those of
fingers, get the inertia of a rotor (`armature`) that keeps their frequency below `FASTEST`, as real gears do: without
it, no step of usual length could follow them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from .._text import shortest
from ..robot import Joint, Robot
from ..robot.internal import urdf_links

CLASS = "robot"
"""Default class of all that is the robot's in a new file."""
FREQUENCY = 20.0
"""rad/s: least natural frequency of a joint under its servo, about 3 Hz."""
FASTEST = 100.0
"""rad/s: largest natural frequency, a fifth of what MuJoCo's step of 2 ms can follow."""
SAG = {"hinge": 0.01, "slide": 0.001}
"""rad and m that gravity may push a joint aside."""
STEP = 1e-6
"""rad, m: step of the difference quotient of coupling laws, which are polynomials."""
DEFAULT = "default"
"""Name of the default pose's keyframe."""


@dataclass(frozen=True)
class _Load:
    """What a joint has to move and to hold; of a driver together with the joints that follow it."""

    inertia: float
    """kg m^2, kg."""
    level: float
    """Force of gravity (N m, N) with everything behind the joint held out level."""
    rest: float
    """Force of gravity in the default pose."""

    def gain(self, joint: Joint) -> float:
        """Stiffness (N m/rad, N/m) that it takes."""
        sag = SAG["slide" if joint.type == "prismatic" else "hinge"]
        return max(FREQUENCY**2 * self.inertia, self.level / sag)

    def rotor(self, joint: Joint) -> float:
        """Inertia (kg m^2, kg) that is missing to keep the frequency below `FASTEST`."""
        return max(0.0, self.gain(joint) / FASTEST**2 - self.inertia)


def add_servos(root: Any, robot: Robot, cfg: Float[np.ndarray, "dof"], still: Collection[str]) -> list[str]:
    """Adds an actuator for each actuated joint of a document that has its bodies, masses and joints.

    Args:
        root: the document.
        robot: the robot.
        cfg: its default pose.
        still: names of joints that cannot move and are not in the document.

    Returns:
        What to keep in mind: joints whose stated effort does not hold the default pose.
    """
    joints = {joint.name: joint for joint in robot.tree.moving if joint.name not in still}
    if not joints:
        return []
    loads = _loads(root, robot, cfg, list(joints.values()))
    limited: set[str] = set()
    for element in root.find("worldbody").iter("joint"):
        name = element.get("name")
        limited |= {name} if element.get("range") else set()
        rotor = loads[name].rotor(joints[name])
        if rotor > 0:
            element.set("armature", _short(rotor))
    actuators = etree.SubElement(root, "actuator")
    weak: list[str] = []
    for name, joint in joints.items():
        if not joint.actuated:
            continue
        load = loads[name]
        said = {"class": CLASS, "name": name, "joint": name, "kp": _short(load.gain(joint))}
        if name not in limited:
            said["inheritrange"] = "0"
        if load.rest <= joint.effort < math.inf and joint.effort > 0:
            said["forcerange"] = shortest((-joint.effort, joint.effort))
        elif 0 < joint.effort < math.inf:
            weak.append(f"{name} ({joint.effort:.3g} of {load.rest:.3g})")
        etree.SubElement(actuators, "position", **said)
    text = "stated efforts below the gravity load of the joint in the default pose (N m, N) are left out, so that the"
    return [f"{text} servos hold it: {', '.join(weak)}"] if weak else []


def _short(value: float) -> str:
    """A number of our own choice: three digits."""
    return shortest(float(f"{value:.3g}"))


def _loads(
    root: Any, robot: Robot, cfg: Float[np.ndarray, "dof"], moving: Sequence[Joint]
) -> dict[str, _Load]:
    """What each joint has to move and to hold in a document without servos."""
    import mujoco

    model: Any = mujoco.MjModel.from_xml_string(etree.tostring(root).decode())  # pyright: ignore[reportAttributeAccessIssue]
    data: Any = mujoco.MjData(model)  # pyright: ignore[reportAttributeAccessIssue]
    kept = [robot.tree.moving.index(joint) for joint in moving]
    ids = [model.joint(joint.name).id for joint in moving]
    dofs = model.jnt_dofadr[ids]
    data.qpos[model.jnt_qposadr[ids]] = robot.tree.expand(cfg)[kept]
    mujoco.mj_forward(model, data)  # pyright: ignore[reportAttributeAccessIssue]
    level = np.array([_level_load(model, data, k) for k in ids])
    found: dict[str, _Load] = {}
    for place, joint in enumerate(moving):
        share = np.eye(len(moving))[place]  # of each joint in the motion
        if joint.actuated:
            step = STEP * (np.array(robot.joint_names) == joint.name)
            share = (robot.tree.expand(cfg + step) - robot.tree.expand(cfg - step))[kept] / (2 * STEP)
        speeds, momenta = np.zeros(model.nv), np.zeros(model.nv)
        speeds[dofs] = share
        mujoco.mj_mulM(model, data, momenta, speeds)  # pyright: ignore[reportAttributeAccessIssue]
        gravity = abs(float(speeds @ data.qfrc_bias))
        found[joint.name] = _Load(float(speeds @ momenta), float(np.abs(share) @ level), gravity)
    return found


def _level_load(model: Any, data: Any, joint: int) -> float:
    """Force of gravity (N m, N) on a joint if all that it carries were held out level from its axis."""
    body = model.jnt_bodyid[joint]
    weight = float(model.body_subtreemass[body] * np.linalg.norm(model.opt.gravity))
    if model.jnt_type[joint] == 2:  # mjJNT_SLIDE
        return weight
    arm = data.subtree_com[body] - data.xanchor[joint]
    return weight * float(np.linalg.norm(np.cross(data.xaxis[joint], arm)))


def add_keyframes(root: Any, robot: Robot, cfg: Float[np.ndarray, "dof"]) -> list[str]:
    """Adds the default pose and the named poses, with the servos' targets; returns the names of those left out.

    MuJoCo has joints and actuators in the order of the document.
    """
    joints = [joint.get("name") for joint in root.find("worldbody").iter("joint")]
    servos = [servo.get("joint") for servo in root.iterfind("actuator/position")]
    if not joints:
        return []
    named = {name: named for name, named in robot.named_cfgs.items() if name != DEFAULT}
    keyframe = etree.SubElement(root, "keyframe")
    for name, pose in {DEFAULT: cfg, **named}.items():
        values = dict(zip((j.name for j in robot.tree.moving), robot.tree.expand(pose).tolist(), strict=True))
        said = {"qpos": shortest(values[joint] for joint in joints)}
        if servos:
            said["ctrl"] = shortest(values[joint] for joint in servos)
        etree.SubElement(keyframe, "key", name=name, **said)
    other = robot.named_cfgs.get(DEFAULT)
    clash = other is not None and (other != cfg).any()
    return [f"the pose named {DEFAULT!r} is omitted because the default pose differs"] if clash else []


def stated_losses(robot: Robot) -> dict[str, dict[str, str]]:
    """Damping and friction of joints, as attributes of MJCF joints, where the URDFs of their links state them.

    A joint is known by the link that it moves, so that held joints and the names of joined robots make no difference.
    """
    links = urdf_links(robot)
    dynamics: dict[
        Any, dict[str, tuple[str, Any]]
    ] = {}  # URDF -> link -> name and <dynamics> of the joint before it
    for document in {link.getparent() for link in links.values()}:
        dynamics[document] = {
            joint.find("child").get("link"): (joint.get("name"), joint.find("dynamics"))
            for joint in document.findall("joint")
            if joint.find("child") is not None
        }
    found: dict[str, dict[str, str]] = {}
    for joint in robot.tree.moving:
        link = links.get(joint.child)
        name, element = (
            ("", None) if link is None else dynamics[link.getparent()].get(link.get("name"), ("", None))
        )
        if element is None or not joint.name.endswith(name):
            continue
        for ours, theirs in (("damping", "damping"), ("frictionloss", "friction")):
            try:
                value = float(element.get(theirs, "0"))
            except ValueError:
                continue
            if 0 < value < math.inf:
                found.setdefault(joint.name, {})[ours] = shortest(value)
    return found
