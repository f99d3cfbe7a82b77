"""Robots for frax (github.com/danielpmorton/frax 0.1.0): its `collision_data` as Python, for it asks for tuples.

Spheres are in the frames of the moving joints, in the order of `joint_ordering`, with those of fixed links merged into
the link that carries them, as frax merges the links. Pairs are pairs of spheres, each with a tolerance of 0.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from .._poses import matrix_from_wxyz_xyz
from ..errors import InputError
from ..robot import Robot, as_robot
from ..spheres import SphereModel
from ..typing import RobotLike
from ._contents import pairs_for_spheres, write_bytes

KIND = "frax's collision data"


def write_frax(
    path: str | Path, *, robot: RobotLike, spheres: SphereModel, pairs: Any = None
) -> tuple[str, ...]:
    """Writes what `frax.Robot(urdf, collision_data=..., joint_ordering=...)` takes.

    Args:
        path: the Python file, with `URDF`, `JOINT_ORDERING` and `COLLISION_DATA`.
        robot: the robot, with a fixed base and without mimic joints, which frax does not know.
        spheres: what stands for its links.
        pairs: a PairMatrix or ignored pairs; those of the robot's SRDF if None.

    Returns:
        What the file cannot hold.

    Raises:
        InputError: not a .py file, or joints that follow others.
    """
    robot, path = as_robot(robot), Path(path)
    if path.suffix != ".py":
        raise InputError(f"{path}: frax takes Python data; name the file NAME.py")
    carrier = _carriers(robot)
    ignored, notes = pairs_for_spheres(pairs, robot, KIND)
    Ts = matrix_from_wxyz_xyz(robot.link_poses(robot.default_cfg))
    groups = {joint: list[tuple[str, np.ndarray, float]]() for joint in (None, *robot.joint_names)}
    children = {joint: robot.joint(joint).child for joint in robot.joint_names}
    for link in spheres.link_names:
        joint = carrier[link]
        frame = robot.link_names[0] if joint is None else children[joint]
        T = np.linalg.inv(Ts[robot.link_index(frame)]) @ Ts[robot.link_index(link)]
        for center, radius in zip(*spheres.link(link), strict=True):
            groups[joint].append((link, T[:3, :3] @ center + T[:3, 3], float(radius)))
    root, body = groups.pop(None), [item for group in groups.values() for item in group]
    joints = [joint for joint, group in groups.items() for _ in group]
    data = {
        "positions": [[center.tolist() for _, center, _ in group] for group in groups.values()],
        "radii": [[radius for *_, radius in group] for group in groups.values()],
        "root_positions": [center.tolist() for _, center, _ in root],
        "root_radii": [radius for *_, radius in root],
        "root_sc_pairs": [
            [i, j]
            for (i, (a, *_)), (j, (b, *_)) in product(enumerate(root), enumerate(body))
            if tuple(sorted((a, b))) not in ignored
        ],
        "body_sc_pairs": [
            [i, j]
            for i, (a, *_) in enumerate(body)
            for j, (b, *_) in enumerate(body)
            if i < j and joints[i] != joints[j] and tuple(sorted((a, b))) not in ignored
        ],
    }
    data |= {f"{which}_sc_tols": [0.0] * len(data[f"{which}_sc_pairs"]) for which in ("root", "body")}
    content = {
        "URDF": str(robot.path or ""),
        "JOINT_ORDERING": tuple(robot.joint_names),
        "COLLISION_DATA": {key: _tuples(value) for key, value in data.items()},
    }
    opening = f'"""{robot.name} for frax: `frax.Robot(URDF, COLLISION_DATA, JOINT_ORDERING)`."""\n\n'
    lines = "".join(f"{name} = {value!r}\n" for name, value in content.items())
    write_bytes(path, (opening + lines).encode())
    return tuple(notes)


def _carriers(robot: Robot) -> dict[str, str | None]:
    """Link -> the moving joint whose frame carries it; None for what is fixed to the world."""
    above = {joint.child: joint for joint in robot.tree.joints}
    found: dict[str, str | None] = {}
    for link in robot.link_names:
        at = link
        while at in above and above[at].name not in robot.joint_names:
            if above[at].type != "fixed":
                raise InputError(
                    f"frax has no joints that follow others or are held: {above[at].name} of {robot.name}; give a URDF "
                    "in which it is fixed"
                )
            at = above[at].parent
        found[link] = above[at].name if at in above else None
    return found


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
