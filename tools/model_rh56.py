"""Model the rh56 hand: writes the MJCF of the right and of the left hand from the table of facts beside them.

Bodies, poses, joints, ranges, couplings, actuators, tip sites, exclusions and inertias are the facts
(revision `spec`), digit for digit, quaternions normalised. Shapes are primitives: the palm's boxes and
cylinder, and one capsule a phalanx. The capsule is the bounding one of the table, not the best fit: what we
say about clearance has to hold for the true phalanx, so its stand-in must contain it. It stands 1.9 to 4.0 mm
off the surface on average; the fitted one misses it by 1.1 to 2.8 mm (root mean square), on either side.

The joint ranges are the facts' too, although the control ranges and couplings step over them in places: a
control of 0 lies below the lower limits of the thumb pitch and the index, and the coupled thumb joint passes
its upper limit at a pitch of 0.52. Keyframes keep to the ranges and satisfy the couplings exactly.

The facts are of the right hand. The left hand is its mirror image in the X-Z plane of the base frame (y -> -y in every
body's frame): points change the sign of y, rotations keep their angle about the axis (-x, y, -z). Equal joint values
are mirrored postures, so ranges, couplings, controls and keyframes are the same.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parents[1] / "src" / "elbowroom" / "assets" / "rh56"
FACTS = HERE / "rh56_facts.json"
REVISION = "spec"

KEYFRAMES = {
    "open": (0.0, 0.0, 0.0, 0.025, 0.05, 0.0),
    "closed": (1.5, 1.5, 1.5, 1.5, 0.2, 1.1),
    "pinch": (0.0, 0.0, 0.0, 0.8, 0.22, 1.18),
}
"""Control values in actuator order (pinky, ring, middle, index, thumb pitch, thumb yaw), radians.

`open` stands at the lower end of every range. `closed` is a fist with the thumb before it. `pinch` brings the
thumb tip within 4 mm of the index tip; the yaw of 1.18 levels the two sideways. No capsules touch in any.
"""

RGBA = {"base": "0.30 0.32 0.36 1", "thumb": "0.62 0.65 0.69 1", "finger": "0.75 0.77 0.80 1"}


def numbers(values: Sequence[float]) -> str:
    """Return numbers as text with every digit they need."""
    return " ".join(repr(float(value) + 0.0) for value in values)


def unit(quat: Sequence[float]) -> str:
    """Return a quaternion (w, x, y, z) as text, normalised."""
    array = np.asarray(quat, dtype=np.float64)
    return numbers((array / np.linalg.norm(array)).tolist())


def mirrored_point(point: Sequence[float]) -> list[float]:
    """Return a point's mirror image in the X-Z plane."""
    x, y, z = point
    return [x, -y, z]


def mirrored_axis(axis: Sequence[float]) -> list[float]:
    """Return the axis about which the mirror image turns by the same angle."""
    x, y, z = axis
    return [-x, y, -z]


def mirrored_quat(quat: Sequence[float]) -> list[float]:
    """Return the rotation (w, x, y, z) of a mirrored frame."""
    w, *axis = quat
    return [w, *mirrored_axis(axis)]


def left_hand(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of the left hand; its shapes are all symmetric, so that only their poses change."""

    def placed(part: dict[str, Any]) -> dict[str, Any]:
        return {**part, "pos": mirrored_point(part["pos"]), "quat_wxyz": mirrored_quat(part["quat_wxyz"])}

    def phalanx(body: dict[str, Any]) -> dict[str, Any]:
        if "joint" not in body:
            return placed(body)
        joint, inertial, capsule = body["joint"], body["inertial"], body["capsule_bounding"]
        return {
            **placed(body),
            "joint": {
                **joint,
                "anchor": mirrored_point(joint["anchor"]),
                "axis": mirrored_axis(joint["axis"]),
            },
            "inertial": {
                **inertial,
                "com": mirrored_point(inertial["com"]),
                "quat_wxyz": mirrored_quat(inertial["quat_wxyz"]),
            },
            "capsule_bounding": {**capsule, **{end: mirrored_point(capsule[end]) for end in ("p0", "p1")}},
        }

    return {
        **facts,
        "bodies": [phalanx(body) for body in facts["bodies"]],
        "palm_primitives": [placed(part) for part in facts["palm_primitives"]],
        "tip_sites": {
            finger: {
                **site,
                "name": site["name"].replace("right_", "left_"),
                "pos": mirrored_point(site["pos"]),
            }
            for finger, site in facts["tip_sites"].items()
        },
    }


def joint_values(facts: dict[str, Any], ctrl: Sequence[float], revision: str = REVISION) -> dict[str, float]:
    """Return the angle of every joint for control values in actuator order, couplings applied."""
    table = facts["revisions"][revision]
    angles = {act["joint"]: float(value) for act, value in zip(table["actuators"], ctrl, strict=True)}
    for rule in table["couplings"]:
        driver = angles[rule["driver"]]
        angles[rule["joint"]] = sum(coef * driver**power for power, coef in enumerate(rule["polycoef"]))
    return angles


def palm_lines(facts: dict[str, Any]) -> list[str]:
    """Return the geoms of the palm."""
    lines = []
    for part in facts["palm_primitives"]:
        size = part["half_extents"] if part["type"] == "box" else [part["radius"], part["half_length"]]
        lines.append(
            f'<geom name="{part["label"]}" class="palm" type="{part["type"]}" size="{numbers(size)}" '
            f'pos="{numbers(part["pos"])}" quat="{unit(part["quat_wxyz"])}"/>'
        )
    return lines


def body_lines(facts: dict[str, Any], body: dict[str, Any]) -> list[str]:
    """Return the element of a body with all that hangs on it, indented by nesting."""
    lines = [f'<body name="{body["name"]}" pos="{numbers(body["pos"])}" quat="{unit(body["quat_wxyz"])}">']
    inner: list[str] = []
    if "joint" in body:
        joint, inertial, capsule = body["joint"], body["inertial"], body["capsule_bounding"]
        overrides = facts["revisions"][REVISION]["joint_range_overrides"]
        limits = overrides.get(joint["name"], joint["range"])
        inner += [
            f'<inertial mass="{inertial["mass"]!r}" pos="{numbers(inertial["com"])}" '
            f'quat="{unit(inertial["quat_wxyz"])}" diaginertia="{numbers(inertial["diag_inertia"])}"/>',
            f'<joint name="{joint["name"]}" pos="{numbers(joint["anchor"])}" axis="{numbers(joint["axis"])}" '
            f'range="{numbers(limits)}"/>',
            f'<geom name="{body["name"]}" class="{"thumb" if "thumb" in body["name"] else "finger"}" '
            f'size="{capsule["radius"]!r}" fromto="{numbers([*capsule["p0"], *capsule["p1"]])}"/>',
        ]
    else:
        # The source gives no inertia for the palm. MuJoCo takes it from the primitives at the density of the
        # table (0.3509 kg); the table's own figure, 0.8906 kg, does not follow from them.
        inner += palm_lines(facts)
    inner += [
        f'<site name="{site["name"]}" pos="{numbers(site["pos"])}"/>'
        for site in facts["tip_sites"].values()
        if site["body"] == body["name"]
    ]
    for child in facts["bodies"]:
        if child["parent"] == body["name"]:
            inner += body_lines(facts, child)
    return [*lines, *("  " + line for line in inner), "</body>"]


def default_lines(facts: dict[str, Any]) -> list[str]:
    """Return the defaults: dynamics, contact and colours."""
    dyn = facts["dynamics"]
    density = facts["bodies"][0]["inertial_from_primitives"]["density"]
    return [
        f'<joint type="hinge" damping="{dyn["joint_damping"]!r}" armature="{dyn["joint_armature"]!r}" '
        f'frictionloss="{dyn["joint_frictionloss"]!r}"/>',
        f'<geom condim="{dyn["condim"]}" friction="{numbers(dyn["friction"])}" density="{density!r}"/>',
        f'<position kp="{dyn["position_actuator_kp"]!r}" dampratio="{dyn["damping_ratio"]!r}" '
        f'forcerange="{numbers(dyn["actuator_force_range"])}"/>',
        '<site size="0.002" rgba="0.9 0.2 0.1 1"/>',
        f'<default class="palm"><geom rgba="{RGBA["base"]}"/></default>',
        f'<default class="thumb"><geom type="capsule" rgba="{RGBA["thumb"]}"/></default>',
        f'<default class="finger"><geom type="capsule" rgba="{RGBA["finger"]}"/></default>',
    ]


def mjcf_text(facts: dict[str, Any], name: str) -> str:
    """Return the MJCF of a hand of that name."""
    table = facts["revisions"][REVISION]
    root = next(body for body in facts["bodies"] if body["parent"] is None)
    tree = body_lines(facts, root)
    order = [body["joint"]["name"] for body in depth_first(facts, root) if "joint" in body]
    sections = {
        "default": default_lines(facts),
        "worldbody": tree,
        "contact": [f'<exclude body1="{a}" body2="{b}"/>' for a, b in facts["self_collision_exclusions"]],
        "equality": [
            f'<joint joint1="{rule["joint"]}" joint2="{rule["driver"]}" '
            f'polycoef="{numbers(rule["polycoef"])}"/>'
            for rule in table["couplings"]
        ],
        "actuator": [
            f'<position name="{act["name"]}" joint="{act["joint"]}" '
            f'ctrlrange="{numbers(act["ctrl_range"])}"/>'
            for act in table["actuators"]
        ],
        "keyframe": [keyframe_line(facts, key, ctrl, order) for key, ctrl in KEYFRAMES.items()],
    }
    lines = [
        "<!-- Written by tools/model_rh56.py from rh56_facts.json. -->",
        f'<mujoco model="{name}">',
        '  <compiler angle="radian" autolimits="true"/>',
    ]
    for section, inner in sections.items():
        lines += [f"  <{section}>", *("    " + line for line in inner), f"  </{section}>"]
    return "\n".join([*lines, "</mujoco>", ""])


def depth_first(facts: dict[str, Any], body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a body and all below it in the order MuJoCo numbers them."""
    found = [body]
    for child in facts["bodies"]:
        if child["parent"] == body["name"]:
            found += depth_first(facts, child)
    return found


def keyframe_line(facts: dict[str, Any], name: str, ctrl: Sequence[float], order: Sequence[str]) -> str:
    """Return a keyframe with all joints, couplings applied."""
    angles = joint_values(facts, ctrl)
    return f'<key name="{name}" qpos="{numbers([angles[joint] for joint in order])}" ctrl="{numbers(ctrl)}"/>'


def write_all(out: Path) -> None:
    """Write rh56.xml and rh56_left.xml into a folder."""
    facts = json.loads(FACTS.read_text(encoding="utf-8"))
    out.mkdir(parents=True, exist_ok=True)
    for name, own in (("rh56", facts), ("rh56_left", left_hand(facts))):
        (out / f"{name}.xml").write_text(mjcf_text(own, name), encoding="utf-8", newline="\n")


def main() -> None:
    """Read the command line and write the file."""
    parser = argparse.ArgumentParser(description="Model the rh56 hand from its table of facts.")
    parser.add_argument(
        "--out", type=Path, default=HERE, help="folder to write into (default: the package's own)"
    )
    write_all(parser.parse_args().out)


if __name__ == "__main__":
    main()
