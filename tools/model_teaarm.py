"""Model the teaarm robot: writes its URDF, SRDF and meshes from the table of facts beside them.

Kinematics, limits, masses and inertias are the facts, digit for digit. The shapes are ours: closed,
non-convex housings made of motor bosses around the joint axes, forks, brackets and hollows. Rules every shape
keeps (`tests/assets/test_teaarm.py` measures them):

- along the axes of the link's equivalent box (the solid box with its mass and inertia), the extent is 0.75
  to 1.35 times the box, and the centre of volume lies within 20 mm of the centre of mass;
- a shape reaches its own joint and those of its children: neighbours come within 2 mm of each other. The box
  of l5 ends 34 mm short of the wrist axis, and that of l7 58 mm short of the tool frame; there thin parts
  reach on (fork ears; fingers, to 9 mm before the frame), which add little inertia, and the long extent is
  allowed up to 1.62 times the box;
- the volume is at most 0.85 of that of the convex hull.

Frames: at the zero pose the robot stands up along +z, faces +y and has its left side at -x. A part is drawn
in millimetres along these world axes, from the origin of its own link. The sagittal plane is x = const,
halfway between the two shoulder joints. The right arm repeats the left one:

- l1, l2, l5, l6, l7 are reflected in that plane. The facts place the j6 origins on opposite faces of the
  wrist fork (37.8 mm behind on the left, 33.3 mm in front on the right), but on the same axis line: the
  reflected part is moved along that line;
- l3 and l4 are copied unreflected: the elbow motor sits at +x of both upper arms (j4 is 31.5 mm inwards on
  the left, outwards on the right), so the reflection would not meet the joint.

The remaining differences between the arms (below 1 mm, across the axes) are dropped: a part sits on its own
axis. The facts give the right hand a wider box than the left one; the one shape keeps the rules for both.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _solids import GRID, Floats, block, bore, canonical, finish, hull, rod, union, write_stl
from manifold3d import Manifold
from scipy.spatial.transform import Rotation

HERE = Path(__file__).resolve().parents[1] / "src" / "elbowroom" / "assets" / "teaarm"
FACTS = HERE / "teaarm_facts.json"

REFLECTED = ("l1", "l2", "l5", "l6", "l7")
COPIED = ("l3", "l4")

LATERAL_LIMIT = 1e-3
"""Largest distance between a right joint axis and the reflected left one that is dropped, metres."""

COLOURS = {
    "shell": (0.86, 0.87, 0.88, 1.0),
    "joint": (0.26, 0.29, 0.33, 1.0),
    "accent": (0.16, 0.45, 0.62, 1.0),
}
DARK = ("base_link", "waist_link", "l2", "l4", "l6")
ACCENT = ("l7",)


def base_link() -> Manifold:
    """Foot plate with bolt holes, a turret up to the yaw bearing, four ribs, hollow from below."""
    plate = hull(*(rod((x, y, -11), (x, y, 2), 16, sides=16) for x in (-62, 62) for y in (-62, 62)))
    turret = rod((0, 0, 0), (0, 0, 69), 50, bevel=3, sides=48)
    ribs = [
        hull(block((-4, -4, 0), (4, 4, 52), 0), block((-4, -4, 0), (4, 4, 4), 0).translate((x, y, 0)))
        for x in (-58, 58)
        for y in (-58, 58)
    ]
    holes = [bore((x, y, -20), (x, y, 20), 5, sides=12) for x in (-66, 66) for y in (-38, 38)]
    groove = bore((0, 0, 52), (0, 0, 57), 60, 48) - bore((0, 0, 51), (0, 0, 58), 45, 48)
    hollow = bore((0, 0, -20), (0, 0, 22), 34)
    return (union(plate, turret, *ribs) - union(hollow, groove, *holes)).translate((100, -100, 0))


def waist_link() -> Manifold:
    """Turntable, pedestal and the drum of the pitch motor, open at both ends around its hub."""
    pitch_z = 73.4
    flange = rod((0, 0, 0.7), (0, 0, 11), 44)
    pedestal = hull(block((-26, -40, 8), (26, 40, 20)), block((-26, -34, 40), (26, 34, 60)))
    drum = rod((-33.5, 0, pitch_z), (33.5, 0, pitch_z), 45, bevel=3, sides=40)
    ends = [bore((s * 15, 0, pitch_z), (s * 40, 0, pitch_z), 36, 32) for s in (-1, 1)]
    hub = rod((-35.2, 0, pitch_z), (35.2, 0, pitch_z), 20)
    slot = block((-60, 18, 16), (60, 60, 30), 0)
    return union(union(flange, pedestal, drum) - union(*ends, slot, slot.mirror((0, 1, 0))), hub)


def torso_link() -> Manifold:
    """Fork on the waist, open chest frame with a back plate, shoulder bosses, neck and head.

    Drawn from the sagittal plane; its joint frame is 36.2 mm to the right.
    """
    ears = [
        hull(rod((s * 36.2, 0, 0), (s * 46.2, 0, 0), 25), block((s * 36.2, -22, 50), (s * 46.2, 22, 62), 1))
        for s in (-1, 1)
    ]
    yoke = hull(block((-46.2, -26, 50), (46.2, 26, 66)), block((-62, -32, 84), (62, 32, 100)))
    chest = hull(block((-66, -33, 90), (66, 33, 110), 8), block((-76, -36, 400), (76, 36, 452), 10))
    window = hull(block((-42, -80, 128), (42, 80, 140), 0), block((-54, -80, 350), (54, 80, 372), 0))
    back = hull(block((-50, -30, 120), (50, -24, 130), 0), block((-60, -30, 370), (60, -24, 380), 0))
    vents = [block((-34, -60, z), (34, -10, z + 14), 0) for z in (170, 220, 270, 320)]
    flanks = [
        hull(block((s * 58, -16, 150), (s * 90, 16, 160), 0), block((s * 64, -20, 340), (s * 90, 20, 350), 0))
        for s in (-1, 1)
    ]
    shoulders = [rod((s * 60, 0, 417), (s * 92.2, 0, 417), 35, bevel=2) for s in (-1, 1)]
    neck = rod((0, 0, 440), (0, 0, 490), 22)
    head = hull(block((-44, -32, 484), (44, 30, 556), 8), block((-34, -26, 484), (34, 34, 571), 8))
    face = hull(block((-30, 26, 506), (30, 60, 548), 0))
    body = union((chest - union(window, *flanks)), back - union(*vents), yoke, *ears, *shoulders, neck, head)
    return (body - face).translate((-36.18, 0, 0))


def arm_l1() -> Manifold:
    """Shoulder: flange and neck on the first axis, then the housing of the second motor, open in front."""
    flange = rod((-0.5, 0, 0), (-10, 0, 0), 27)
    neck = rod((-8, 0, 0), (-40, 0, 0), 21, bevel=0)
    housing = rod((-60, -26.5, 0), (-60, 30, 0), 37.5, bevel=3, sides=40)
    cup = bore((-60, 14, 0), (-60, 40, 0), 29, 32)
    cap = rod((-60, 0, 0), (-60, 22, 0), 13)
    return union(union(flange, neck, housing) - cup, cap)


def arm_l2() -> Manifold:
    """Shoulder bracket: a plate behind the second motor, a foot under it that carries the third."""
    plate = hull(rod((0, -11, 0), (0, 0.8, 0), 23), block((-22, -11, -44), (22, 0.8, -40), 1))
    corner = hull(block((-20, -10.5, -44), (20, 0, -38), 1), block((-20, -2, -65.5), (20, 6, -56), 1))
    foot = hull(rod((0, 30.1, -66), (0, 30.1, -55), 21), block((-21, -2, -66), (21, 4, -55), 1))
    window = hull(bore((0, -20, -24), (0, 10, -24), 7), bore((0, -20, -40), (0, 10, -40), 7))
    return union(plate, corner, foot) - window


def arm_l3() -> Manifold:
    """Upper arm: the third motor, an I-beam and the elbow spool across its end."""
    elbow_z = -153.75
    motor = rod((0, 0, -66), (0, 0, -0.6), 25.5, bevel=2)
    collar = bore((0, 0, -52), (0, 0, -46), 40, 32) - bore((0, 0, -53), (0, 0, -45), 22.5, 32)
    shaft = rod((0, 0, -4), (0, 0, 7), 13, bevel=1)
    beam = hull(block((-24, -20, -80), (24, 20, -64)), block((-28, -19, elbow_z), (28, 19, -128)))
    pockets = [block((-15, s * 8, -122), (15, s * 40, -76), 0) for s in (-1, 1)]
    spool = rod((-31.8, 0, elbow_z), (31.8, 0, elbow_z), 24, bevel=2)
    waist = bore((-15, 0, elbow_z), (15, 0, elbow_z), 40, 32) - bore(
        (-16, 0, elbow_z), (16, 0, elbow_z), 16, 32
    )
    waist = waist ^ block((-40, -60, elbow_z - 60), (40, 60, elbow_z + 14), 0)
    return union(motor - collar, shaft, union(beam, spool) - union(*pockets, waist))


def arm_l4() -> Manifold:
    """Elbow: a fork with the motor on the +x ear, and the housing of the forearm roll motor below."""
    bridge = block((-69, -22, -60), (11, 22, -44), 4)
    motor_ear = hull(rod((0.8, 0, 0), (11, 0, 0), 24), block((0.8, -20, -56), (11, 20, -46), 1))
    motor = rod((8, 0, 0), (15, 0, 0), 17)
    far_ear = hull(rod((-70, 0, 0), (-63.8, 0, 0), 18), block((-69, -16, -56), (-63.8, 16, -46), 1))
    roll = rod((-31.5, 0, -102.4), (-31.5, 0, -54), 23.5, bevel=2)
    collar = bore((-31.5, 0, -92), (-31.5, 0, -86), 40, 32) - bore((-31.5, 0, -93), (-31.5, 0, -85), 20, 32)
    return union(bridge, motor_ear, motor, far_ear, roll - collar)


def arm_l5() -> Manifold:
    """Forearm: the roll motor and a fork that holds the wrist (ears to 37.8 mm behind, 33.3 mm in front)."""
    wrist_z = -120.5
    motor = rod((0, 0, -52), (0, 0, -7.5), 23, bevel=2)
    bridge = block((-21, -37.8, -64), (21, 33.3, -48), 4)
    rear = hull(
        rod((0, -37.8, wrist_z), (0, -28.5, wrist_z), 12), block((-17, -37.3, -62), (17, -29, -56), 1)
    )
    front = hull(rod((0, 28, wrist_z), (0, 33.3, wrist_z), 12), block((-17, 28.4, -62), (17, 32.9, -56), 1))
    window = bore((0, -60, -86), (0, 60, -86), 8)
    return union(motor, bridge, union(rear, front) - window)


def arm_l6() -> Manifold:
    """Wrist: two crossing motors, along y between the ears of the forearm and along x to the hand."""
    centre = 37.5
    pitch = rod((0, centre - 27.5, 0), (0, centre + 27, 0), 15.5)
    roll = rod((-20, centre, 0), (21, centre, 0), 17.5)
    hollow = bore((10, centre, 0), (40, centre, 0), 12)
    ends = [bore((0, centre + s * 20, 0), (0, centre + s * 40, 0), 8) for s in (-1, 1)]
    return union(pitch, roll) - union(hollow, *ends)


def arm_l7() -> Manifold:
    """Hand: an ear on the outer side of the wrist, a palm, and two fingers with a gap along x."""
    middle, tip_z = 20.5, -192.0
    ear = hull(rod((-10.5, 0, 0), (-0.8, 0, 0), 16), block((-10.5, -19, -56), (-0.8, 19, -46), 1))
    palm = hull(block((-10.5, -22, -64), (43, 22, -47), 5), block((-4, -19, -86), (44, 19, -78), 3))
    channel = block((middle - 12, -40, -100), (middle + 12, 40, -66), 0)
    side = hull(block((4, 12, -62), (38, 40, -50), 0))
    fingers = []
    for s in (-1, 1):
        root = block((middle + s * 12 - 5.5, -10, -100), (middle + s * 12 + 5.5, 10, -76), 1)
        knuckle = block((middle + s * 17 - 4.5, -9, -134), (middle + s * 17 + 4.5, 9, -126), 1)
        tip = block((middle + s * 11 - 3, -7, tip_z), (middle + s * 11 + 3, 7, tip_z + 8), 1)
        fingers += [hull(root, knuckle), hull(knuckle, tip)]
    return union(union(ear, palm) - union(channel, side, side.mirror((0, 1, 0))), *fingers)


BODY_PARTS: dict[str, Callable[[], Manifold]] = {
    "base_link": base_link,
    "waist_link": waist_link,
    "torso_link": torso_link,
}
ARM_PARTS: dict[str, Callable[[], Manifold]] = {
    "l1": arm_l1,
    "l2": arm_l2,
    "l3": arm_l3,
    "l4": arm_l4,
    "l5": arm_l5,
    "l6": arm_l6,
    "l7": arm_l7,
}


def zero_pose(facts: dict[str, Any]) -> dict[str, Floats]:
    """Return the pose `(4, 4)` of every link in the base frame with all joints at zero."""
    poses = {"base_link": np.eye(4)}
    pending = list(facts["joints"])
    while pending:
        joint = pending.pop(0)
        if joint["parent"] not in poses:
            pending.append(joint)
            continue
        step = np.eye(4)
        step[:3, :3] = Rotation.from_euler("xyz", joint["rpy"]).as_matrix()
        step[:3, 3] = joint["xyz"]
        poses[joint["child"]] = poses[joint["parent"]] @ step
    return poses


def right_from_left(part: str, poses: dict[str, Floats]) -> tuple[Floats, Floats]:
    """Return the signed permutation and the offset from a left link frame to the right one."""
    left, right = poses[f"left_arm_{part}"], poses[f"right_arm_{part}"]
    flip = np.diag([-1.0, 1.0, 1.0]) if part in REFLECTED else np.eye(3)
    exact = right[:3, :3].T @ flip @ left[:3, :3]
    turn = np.round(exact)
    assert np.abs(exact - turn).max() < 1e-6, f"{part}: the link frames do not correspond"
    offset = np.zeros(3)
    if part in REFLECTED:
        plane = poses["left_arm_l1"][0, 3] + poses["right_arm_l1"][0, 3]
        image = flip @ left[:3, 3] + [plane, 0.0, 0.0]
        miss = right[:3, :3].T @ (image - right[:3, 3])
        assert np.hypot(miss[0], miss[1]) < LATERAL_LIMIT, f"{part}: the joint axes do not correspond"
        offset[2] = round(miss[2] / GRID) * GRID
    return turn, offset


def model_meshes(facts: dict[str, Any]) -> dict[str, tuple[Floats, np.ndarray]]:
    """Return vertices and faces of every link that has a shape, in its link frame, metres."""
    poses = zero_pose(facts)
    meshes = {name: finish(part(), poses[name][:3, :3].T) for name, part in BODY_PARTS.items()}
    for part, draw in ARM_PARTS.items():
        verts, faces = finish(draw(), poses[f"left_arm_{part}"][:3, :3].T)
        turn, offset = right_from_left(part, poses)
        meshes[f"left_arm_{part}"] = verts, faces
        outward = faces if np.linalg.det(turn) > 0 else faces[:, ::-1]
        meshes[f"right_arm_{part}"] = canonical(verts @ turn.T + offset, outward)
    return meshes


def whole_body(
    waist: tuple[float, float], left: tuple[float, ...], right: tuple[float, ...] | None = None
) -> dict[str, float]:
    """Return a pose of all 16 joints; a right arm not given mirrors the left one (j4 keeps its sign)."""
    if right is None:
        right = tuple(value if k == 3 else -value for k, value in enumerate(left))
    pose = {"waist_yaw": waist[0], "waist_pitch": waist[1]}
    pose |= {f"left_j{k + 1}": value for k, value in enumerate(left)}
    pose |= {f"right_j{k + 1}": value + 0.0 for k, value in enumerate(right)}
    return pose


def named_poses(facts: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Return the poses of the SRDF: all but the last free of contact between links that are not joined."""
    zeros = (0.0,) * 7
    hug_left = (-1.3, 0.0, 1.1, 1.5, 0.0, 0.0, 0.0)
    hug_right = (0.5, 0.0, -1.1, 1.4, 0.0, 0.0, 0.0)
    return {
        "zero": whole_body((0.0, 0.0), zeros),
        "default": {**whole_body((0.0, 0.0), zeros), **facts["default_configuration"]},
        "arms_forward": whole_body((0.0, 0.0), (-1.5, -0.05, 0.0, 0.15, 0.0, 0.0, 0.0)),
        "arms_up": whole_body((0.0, 0.0), (-3.0, -0.15, 0.0, 0.2, 0.0, 0.0, 0.0)),
        "hug": whole_body((0.0, 0.0), hug_left, hug_right),
        "self_collision": whole_body((0.0, 0.0), (-1.0, 0.0, 1.2, 1.3, 0.0, 0.0, 0.0)),
    }


def numbers(values: Any) -> str:
    """Return numbers as text with every digit they need."""
    return " ".join(repr(float(value) + 0.0) for value in values)


def inertial_lines(link: dict[str, Any]) -> list[str]:
    """Return the `<inertial>` element: the solid equivalent box, turned into the link frame."""
    a, b, c = link["box_size"]
    left, _, right = np.linalg.svd(np.asarray(link["box_axes"]))
    axes = left @ right
    moments = link["mass"] / 12.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    tensor = axes.T @ np.diag(moments) @ axes
    entries = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    # Rounded far below the largest entry: the last digits of the small ones differ between processors.
    text = " ".join(f'{key}="{round(float(tensor[at]), 12):.9e}"' for key, at in entries.items())
    return [
        "    <inertial>",
        f'      <origin xyz="{numbers(link["com"])}" rpy="0 0 0"/>',
        f'      <mass value="{link["mass"]!r}"/>',
        f"      <inertia {text}/>",
        "    </inertial>",
    ]


def urdf_text(facts: dict[str, Any]) -> str:
    """Return the URDF."""
    lines = [
        '<?xml version="1.0"?>',
        "<!-- Written by tools/model_teaarm.py from teaarm_facts.json. -->",
        '<robot name="teaarm">',
    ]
    lines += [
        f'  <material name="{name}"><color rgba="{numbers(rgba)}"/></material>'
        for name, rgba in COLOURS.items()
    ]
    for link in facts["links"]:
        name = link["name"]
        if "mass" not in link:
            lines.append(f'  <link name="{name}"/>')
            continue
        colour = "accent" if name.endswith(ACCENT) else "joint" if name.endswith(DARK) else "shell"
        mesh = f'<geometry><mesh filename="meshes/{name}.stl"/></geometry>'
        lines += [f'  <link name="{name}">', *inertial_lines(link)]
        lines += [
            f'    <visual>{mesh}<material name="{colour}"/></visual>',
            f"    <collision>{mesh}</collision>",
            "  </link>",
        ]
    for joint in facts["joints"]:
        lines += [
            f'  <joint name="{joint["name"]}" type="{joint["type"]}">',
            f'    <origin xyz="{numbers(joint["xyz"])}" rpy="{numbers(joint["rpy"])}"/>',
            f'    <parent link="{joint["parent"]}"/>',
            f'    <child link="{joint["child"]}"/>',
        ]
        if joint["type"] != "fixed":
            limit = " ".join(f'{key}="{joint[key]!r}"' for key in ("lower", "upper", "velocity", "effort"))
            lines += [f'    <axis xyz="{numbers(joint["axis"])}"/>', f"    <limit {limit}/>"]
        lines.append("  </joint>")
    return "\n".join([*lines, "</robot>", ""])


def srdf_text(facts: dict[str, Any]) -> str:
    """Return the SRDF: groups, end effectors, named poses, and the joined pairs that may touch."""
    moving = [joint["name"] for joint in facts["joints"] if joint["type"] != "fixed"]
    groups = {
        "waist": [name for name in moving if name.startswith("waist")],
        "left_arm": [name for name in moving if name.startswith("left")],
        "right_arm": [name for name in moving if name.startswith("right")],
    }
    lines = ['<?xml version="1.0"?>', "<!-- Written by tools/model_teaarm.py. -->", '<robot name="teaarm">']
    for group, joints in groups.items():
        lines += [
            f'  <group name="{group}">',
            *(f'    <joint name="{name}"/>' for name in joints),
            "  </group>",
        ]
    for group, parts in {"both_arms": ("left_arm", "right_arm"), "whole_body": tuple(groups)}.items():
        lines += [
            f'  <group name="{group}">',
            *(f'    <group name="{part}"/>' for part in parts),
            "  </group>",
        ]
    for side, frame in facts["end_effectors"].items():
        lines += [f'  <group name="{side}_tool">', f'    <link name="{frame}"/>', "  </group>"]
        lines.append(
            f'  <end_effector name="{side}_ee" parent_link="{side}_arm_l7" group="{side}_tool" '
            f'parent_group="{side}_arm"/>'
        )
    for pose, values in named_poses(facts).items():
        lines.append(f'  <group_state name="{pose}" group="whole_body">')
        lines += [f'    <joint name="{name}" value="{values[name]!r}"/>' for name in moving]
        lines.append("  </group_state>")
    shaped = {link["name"] for link in facts["links"] if "mass" in link}
    for joint in facts["joints"]:
        if joint["parent"] in shaped and joint["child"] in shaped:
            first, second = sorted((joint["parent"], joint["child"]))
            lines.append(f'  <disable_collisions link1="{first}" link2="{second}" reason="Adjacent"/>')
    return "\n".join([*lines, "</robot>", ""])


def write_all(out: Path) -> None:
    """Write teaarm.urdf, teaarm.srdf and meshes/*.stl into a folder."""
    facts = json.loads(FACTS.read_text(encoding="utf-8"))
    (out / "meshes").mkdir(parents=True, exist_ok=True)
    for name, (verts, faces) in model_meshes(facts).items():
        write_stl(out / "meshes" / f"{name}.stl", verts, faces)
    (out / "teaarm.urdf").write_text(urdf_text(facts), encoding="utf-8", newline="\n")
    (out / "teaarm.srdf").write_text(srdf_text(facts), encoding="utf-8", newline="\n")


def main() -> None:
    """Read the command line and write the files."""
    parser = argparse.ArgumentParser(description="Model the teaarm robot from its table of facts.")
    parser.add_argument(
        "--out", type=Path, default=HERE, help="folder to write into (default: the package's own)"
    )
    write_all(parser.parse_args().out)


if __name__ == "__main__":
    main()
