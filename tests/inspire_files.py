"""MJCF files of the Inspire hand in the styles of public repositories, made from the bundled hand's own table.

Each keeps the kinematics and shapes of the bundled hand and differs as the public ones do: base frame, names, couplings,
actuators, tip sites. No file is copied.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from elbowroom.grasp.internal import rh56_spec

FINGERS = ("thumb", "index", "middle", "ring", "pinky")
DOWN = (0.5, -0.5, -0.5, 0.5)
"""Fingers along -Y of the world instead of +Z."""


def blank(side: str) -> Any:
    """The bundled hand without keyframes, sites, equalities and actuators."""
    spec = rh56_spec("spec", "rh56" if side == "right" else "rh56_left")
    spec.modelname = f"inspire_hand_{side}"
    for part in (spec.keys, spec.sites, spec.equalities, spec.actuators):
        for entry in list(part):
            spec.delete(entry)
    return spec


def add_follower(spec: Any, follower: str, driver: str, *law: float) -> None:
    equality = spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, name1=follower, name2=driver)
    equality.data[:5] = (*law, *(0.0,) * (5 - len(law)))


def add_servo(spec: Any, name: str, joint: str, limits: tuple[float, float] | None = None) -> None:
    """A position servo, as the public files have them."""
    more = {} if limits is None else {"ctrlrange": limits, "ctrllimited": True}
    servo = spec.add_actuator(name=name, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT, **more)
    servo.set_to_position(kp=20.0)


def rename(text: str, name: Callable[[str], str]) -> str:
    """The file with other names of bodies and joints, wherever they stand."""
    keys = "|".join(("name", "joint", "joint1", "joint2", "body1", "body2"))
    return re.sub(rf'\b({keys})="([^"]*)"', lambda m: f'{m[1]}="{name(m[2])}"', text)


def lab(side: str) -> str:
    """Plain names and frame; equalities state the motor's joint as the follower; the left hand's tip sites are those of
    the right, not mirrored (correlllab/h1_mujoco)."""
    spec = blank(side)
    other = rh56_spec()
    right = {site.name.split("_")[1]: site for site in other.sites}
    for finger in FINGERS:
        for prefix in ("", "track_hand_", "trace_hand_"):
            site = right[finger]
            spec.body(site.parent.name).add_site(name=f"{prefix}{side}_{finger}_tip", pos=site.pos)
    for finger in FINGERS[1:]:
        add_follower(spec, f"{finger}_proximal_joint", f"{finger}_intermediate_joint", 0.0, 1.0)
        add_servo(spec, finger, f"{finger}_proximal_joint", (0.0, 1.47))
    add_follower(spec, "thumb_proximal_pitch_joint", "thumb_intermediate_joint", 0.0, 0.8)
    add_follower(spec, "thumb_distal_joint", "thumb_intermediate_joint", 0.0, 0.75)
    add_servo(spec, "thumb_proximal", "thumb_proximal_pitch_joint", (0.0, 0.6))
    add_servo(spec, "thumb_yaw", "thumb_proximal_yaw_joint", (0.0, 1.308))
    return spec.to_xml()


def suite(side: str) -> str:
    """Another frame and origin, a motor at each of twelve joints, no coupling, sites at the joints only (robosuite)."""
    spec = blank(side)
    base = spec.body("base")
    base.pos, base.quat = (0.002, 0.0316, 0.0), DOWN
    for joint in spec.joints:
        add_servo(spec, f"{joint.name}_drive", joint.name, (0.0, float(joint.range[1])))
    letter = side[0]

    def name(old: str) -> str:
        if old == "base":
            return f"{letter}_palm"
        if not old.startswith(FINGERS):
            return old
        finger, rest = old.split("_", 1)
        rest = rest.removesuffix("_joint").removesuffix("_yaw").removesuffix("_pitch")
        if finger == "thumb":
            marks = {"proximal_base": "proximal_1", "proximal": "proximal_2", "intermediate": "middle"}
            rest = "proximal_1" if "yaw" in old else marks.get(rest, rest)
        else:
            rest = {"intermediate": "distal"}.get(rest, rest)
        joint = "joint_" if old.endswith("_joint") else ""
        return f"{joint}{letter}_{finger}_{rest}" + ("_drive" if old.endswith("_drive") else "")

    return rename(spec.to_xml(), name)


def floating(side: str) -> str:
    """Six joints below the palm, motors everywhere, tip sites with copies, shapes that collide with nothing
    (facebookresearch/spider)."""
    spec = blank(side)
    base = spec.body("base")
    base.quat = DOWN
    for i, axis in enumerate("xyz"):
        for kind, word in ((mujoco.mjtJoint.mjJNT_SLIDE, "pos"), (mujoco.mjtJoint.mjJNT_HINGE, "rot")):
            base.add_joint(name=f"{word}_{axis}", type=kind, axis=np.eye(3)[i], range=(-1.0, 1.0))
    own = rh56_spec("spec", "rh56" if side == "right" else "rh56_left")
    for site in own.sites:
        finger = site.name.split("_")[1]
        for prefix in ("", "track_hand_", "trace_hand_"):
            spec.body(site.parent.name).add_site(name=f"{prefix}{finger}_tip", pos=site.pos)
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    for joint in spec.joints:
        add_servo(spec, f"{joint.name}_position", joint.name)
    return rename(spec.to_xml(), lambda old: f"{side}_{old}")


def maker(side: str) -> str:
    """Short prefixes, `little` for the pinky, linear couplings the usual way round, tips as bodies, no motors
    (URDFs of the maker and of Unitree, converted)."""
    spec = blank(side)
    base = spec.body("base")
    base.pos, base.quat = (0.1, -0.2, 0.3), (0.8, 0.1, -0.5, 0.3162)
    own = rh56_spec("spec", "rh56" if side == "right" else "rh56_left")
    for site in own.sites:
        tip = spec.body(site.parent.name).add_body(name=f"{site.name.split('_')[1]}_tip", pos=site.pos)
        tip.mass, tip.inertia, tip.explicitinertial = 1e-4, (1e-8, 1e-8, 1e-8), True
    for finger in FINGERS[1:]:
        add_follower(spec, f"{finger}_intermediate_joint", f"{finger}_proximal_joint", -0.04545, 1.06399)
        spec.joint(f"{finger}_proximal_joint").range = (0.0, 1.47)
        spec.joint(f"{finger}_intermediate_joint").range = (-0.04545, 1.56)
    add_follower(spec, "thumb_intermediate_joint", "thumb_proximal_pitch_joint", 0.0, 1.334)
    add_follower(spec, "thumb_distal_joint", "thumb_proximal_pitch_joint", 0.0, 0.667)
    prefix = side[0].upper()
    return rename(spec.to_xml(), lambda old: f"{prefix}_{old.replace('pinky', 'little')}")


STYLES: dict[str, Callable[[str], str]] = {"lab": lab, "suite": suite, "floating": floating, "maker": maker}


def write(folder: Path, style: str, side: str) -> Path:
    """A file of that style and side."""
    path = folder / f"{style}_{side}.xml"
    path.write_text(STYLES[style](side), encoding="utf-8")
    return path
