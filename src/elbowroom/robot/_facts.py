"""What a description says, as plain values that can be kept in a file and compared with a later version of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._cache import content_hash
from .._files import plain
from ._robot import Robot

Facts = Mapping[str, Any]
UNITS = {"revolute": "rad", "continuous": "rad", "prismatic": "m", "fixed": ""}


def description_facts(robot: Robot) -> dict[str, Any]:
    """Links, joints, shapes, named poses and disabled pairs of a robot, as values that JSON can hold."""
    links: dict[str, Any] = {}
    for name in robot.link_names:
        mesh = robot.link_mesh(name)
        if mesh is None:
            links[name] = {"triangles": 0, "shapes": ""}
        else:
            links[name] = {
                "triangles": len(mesh.faces),
                "shapes": content_hash([np.asarray(mesh.vertices), np.asarray(mesh.faces)]),
            }
    joints = {
        joint.name: {
            "type": joint.type,
            "parent": joint.parent,
            "child": joint.child,
            "lower": joint.lower,
            "upper": joint.upper,
            "velocity": joint.velocity,
            "axis": joint.axis,
            "T_parent_joint": joint.T_parent_joint,
            "T_joint_child": joint.T_joint_child,
            "follows": "" if joint.coupling is None else joint.coupling.driver,
            "polycoef": () if joint.coupling is None else joint.coupling.polycoef,
        }
        for joint in robot.tree.joints
    }
    return plain(
        {
            "name": robot.name,
            "root": robot.tree.root,
            "links": links,
            "joints": joints,
            "named_cfgs": robot.named_cfgs,
            "disabled_pairs": [[*pair, reason] for pair, reason in sorted(robot.disabled_pairs.items())],
        }
    )


def description_changes(old: Facts, new: Facts) -> tuple[str, ...]:
    """What changed from older facts to newer ones, a sentence each; empty when nothing did."""
    said: list[str] = []
    if old["root"] != new["root"]:
        said.append(f"the root link is {new['root']}, it was {old['root']}")
    said += _names("link", old["links"], new["links"]) + _names("joint", old["joints"], new["joints"])
    for name, now in new["links"].items():
        was = old["links"].get(name)
        if was is not None and was["shapes"] != now["shapes"]:
            counts = f"{was['triangles']} -> {now['triangles']} triangles"
            said.append(f"the collision shapes of link {name} changed ({counts})")
    for name, now in new["joints"].items():
        if name in old["joints"]:
            said += _joint(name, old["joints"][name], now)
    said += _names("named pose", old["named_cfgs"], new["named_cfgs"])
    said += [
        f"the named pose {name} changed"
        for name, now in new["named_cfgs"].items()
        if old["named_cfgs"].get(name, now) != now
    ]
    before, after = ({(a, b): why for a, b, why in facts["disabled_pairs"]} for facts in (old, new))
    for verb, extra in (
        ("disables", after.keys() - before.keys()),
        ("no longer disables", before.keys() - after.keys()),
    ):
        said += [f"the description {verb} the pair {a}, {b}" for a, b in sorted(extra)]
    return tuple(said)


def _names(kind: str, old: Facts, new: Facts) -> list[str]:
    """Names that came and went."""
    return [f"{kind} {name} is new" for name in new if name not in old] + [
        f"{kind} {name} is gone" for name in old if name not in new
    ]


def _joint(name: str, old: Facts, new: Facts) -> list[str]:
    said: list[str] = []
    for key, text in (("type", "type"), ("parent", "parent link"), ("child", "child link")):
        if old[key] != new[key]:
            said.append(f"joint {name}: {text} {old[key]} -> {new[key]}")
    unit = UNITS.get(new["type"], "")
    for key, text, per in (
        ("lower", "lower limit", ""),
        ("upper", "upper limit", ""),
        ("velocity", "speed limit", "/s"),
    ):
        if old[key] != new[key]:
            said.append(f"joint {name}: {text} {_value(old[key])} -> {_value(new[key])} {unit}{per}")
    if old["axis"] != new["axis"]:
        said.append(f"joint {name}: another axis")
    for key in ("T_parent_joint", "T_joint_child"):
        if old[key] != new[key]:
            said.append(f"joint {name}: {_moved(np.array(old[key]), np.array(new[key]))}")
    if (old["follows"], old["polycoef"]) != (new["follows"], new["polycoef"]):
        said.append(f"joint {name}: follows {new['follows'] or 'no joint'} by another law")
    return said


def _value(value: float | None) -> str:
    """A limit; what is not finite is kept as null."""
    return "none" if value is None else f"{value:.4g}"


def _moved(old: np.ndarray, new: np.ndarray) -> str:
    """How far a frame moved and turned."""
    turn = np.arccos(np.clip(0.5 * (np.trace(old[:3, :3].T @ new[:3, :3]) - 1.0), -1.0, 1.0))
    shift = 1000.0 * np.linalg.norm(new[:3, 3] - old[:3, 3])
    return f"its place moved {shift:.4g} mm and turned {np.degrees(turn):.3g} degrees"
