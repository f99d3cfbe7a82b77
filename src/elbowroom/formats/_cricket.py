"""Robots for VAMP: what cricket, which generates VAMP's robots, reads: a JSON file, a spherized URDF and an SRDF.

Keys as of cricket's README and resources (github.com/CoMMALab/cricket, commit 0e03516): `name`, `urdf`, `srdf`,
`end_effector` and, in newer versions, `end_effectors`, `resolution`, `template`, `subtemplates`, `output`,
`active_joints` and `default_configuration`. Spheres are all that VAMP knows: pairs that only meshes can decide are
disabled for it, and named in the notes.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..robot import as_robot
from ..robot.internal import default_tool_frames
from ..spheres import SphereModel
from ..typing import RobotLike
from ._contents import BY_MESHES, pairs_for_spheres, write_bytes
from ._options import ExportOptions
from ._srdf import write_srdf
from ._urdf import write_urdf

KIND = "cricket's SRDF"
RESOLUTION = 32
"""Samples an edge is checked at, of cricket's panda and fetch; its baxter has 64."""
MANY_JOINTS = 10
"""Above so many joints the resolution is that of its baxter."""


def write_cricket(
    path: str | Path,
    *,
    robot: RobotLike,
    spheres: SphereModel,
    pairs: Any = None,
    options: ExportOptions | None = None,
) -> tuple[str, ...]:
    """Writes a robot for cricket, and so for VAMP: the JSON file, and beside it `NAME_spherized.urdf` and `NAME.srdf`.

    Args:
        path: the JSON file.
        robot: the robot, loaded from a URDF file.
        spheres: what stands for its links.
        pairs: a PairMatrix or ignored pairs; those of the robot's SRDF if None.
        options: `tool_frames` are the end effectors; `locked` joints are left out of `active_joints`.

    Returns:
        What the files cannot hold, and what to keep in mind.

    Raises:
        InputError: not a .json file, or a robot that was not loaded from a URDF file.
    """
    robot, path, given = as_robot(robot), Path(path), options or ExportOptions()
    if path.suffix != ".json":
        raise InputError(f"{path}: cricket reads JSON; name the file NAME.json")
    stem = path.stem
    urdf, srdf = path.with_name(f"{stem}_spherized.urdf"), path.with_name(f"{stem}.srdf")
    ignored, notes = pairs_for_spheres(pairs, robot, KIND)
    said = [*notes, *write_urdf(urdf, robot=robot, spheres=spheres, options=given)]
    disabled = {names: "User" if reason == BY_MESHES else reason for names, reason in ignored.items()}
    said += write_srdf(srdf, robot=robot, pairs=disabled)  # an SRDF for meshes would leave out the first
    tools = list(given.tool_frames or default_tool_frames(robot))
    data: dict[str, Any] = {
        "name": _struct_name(robot.name),
        "urdf": urdf.name,
        "srdf": srdf.name,
        "end_effector": tools[0] if tools else robot.link_names[-1],
        "end_effectors": tools or [robot.link_names[-1]],
        "resolution": RESOLUTION if robot.dof <= MANY_JOINTS else 2 * RESOLUTION,
        "template": "templates/fk_template.hh",
        "subtemplates": [{"name": "ccfk", "template": "templates/ccfk_template.hh"}],
        "output": f"{stem}_fk.hh",
    }
    if given.locked:
        data["active_joints"] = [name for name in robot.joint_names if name not in given.locked]
        data["default_configuration"] = {name: [float(value)] for name, value in given.locked.items()}
    write_bytes(path, (json.dumps(data, indent=4) + "\n").encode())
    return tuple(dict.fromkeys(said))


def _struct_name(name: str) -> str:
    """A name that C++ takes for a struct."""
    found = re.sub(r"\W", "_", name) or "robot"
    return (found[0].upper() if not found[0].isdigit() else f"R{found[0]}") + found[1:]
