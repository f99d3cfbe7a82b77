"""What a cuRobo configuration says of the robot itself: URDF, base, tools, locked joints, default pose.

Paths are never bare names, which cuRobo looks for in its own assets folder, and `urdf_path` never names anything but a
URDF.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import counted
from .._xml import read_xml
from ..errors import FormatError
from ._contents import short
from ._options import ExportOptions, RobotFacts, path_text, urdf_of
from ._urdf import package_folders, packaged_outside
from ._yaml import flow

if TYPE_CHECKING:
    from ..robot import Robot

ACCELERATION, JERK = 10.0, 500.0
"""cuRobo's own defaults (rad/s^2, rad/s^3): a URDF has no such limits."""
NEEDED = {
    1: ("urdf_path", "base_link", "ee_link", "cspace"),
    2: ("urdf_path", "base_link", "tool_frames", "cspace"),
}
"""Keys of each version that only a robot can fill."""


def describe_robot(
    kinematics: Any,
    robot: Robot,
    facts: RobotFacts,
    options: ExportOptions,
    version: int,
    path: Path,
    needed: set[str],
) -> list[str]:
    """Adds what the file lacks about the robot, and what the user's options change; returns notes."""
    notes: list[str] = []

    def tell(key: str, value: Any, asked: bool) -> None:
        if asked or kinematics.get(key) is None:
            kinematics[key] = value

    if version == 2:
        tell("format_version", 2.0, False)
    urdf = urdf_of(robot, options)
    if urdf is None:
        if kinematics.get("urdf_path") is None:
            notes.append(
                f"urdf_path is missing: cuRobo reads URDF alone and {robot.name} was loaded from {_source(robot)}; name"
                " a URDF of the same links and joints (ExportOptions.urdf)"
            )
    elif options.urdf is not None or kinematics.get("urdf_path") is None:
        kinematics["urdf_path"] = path_text(urdf, path, options.paths)
        # cuRobo takes off package:// and joins the rest to this folder.
        root = read_xml(urdf, "URDF").getroot()
        folder = [*package_folders(root, urdf, robot), urdf.parent][0]
        kinematics["asset_root_path"] = path_text(folder, path, options.paths)
        elsewhere = packaged_outside(root, folder)
        if elsewhere:
            notes.append(
                f"asset_root_path is one folder, {folder}; cuRobo does not find {counted(len(elsewhere), 'file')} of"
                f" packages that are not in it ({elsewhere[0]}, ...): put the packages into one folder"
            )
        if options.paths == "relative":
            notes.append(
                "cuRobo looks for relative paths in its own assets folder: give it urdf_path and asset_root_path when"
                " it loads the file (ContentPath), or write absolute ones"
            )
    tools, asked = list(facts.tool_frames), options.tool_frames is not None
    tell("base_link", facts.base_link, options.base_link is not None)
    if version == 1:
        tell("ee_link", tools[0], asked)
        tell("link_names", flow(tools) if len(tools) > 1 else None, asked)
    else:
        tell("tool_frames", flow(tools), asked)
    locked = {name: value for name, value in facts.locked.items() if name in needed}
    if len(locked) < len(facts.locked):
        idle = ", ".join(name for name in facts.locked if name not in locked)
        notes.append(
            f"locked joints that move no sphere and no tool are not written, because cuRobo rejects them: {idle}"
        )
    tell("lock_joints", locked or None, bool(options.locked))
    _tell_cspace(kinematics, facts, options, version, path)
    return [*notes, *_refused(robot, needed)]


def _tell_cspace(
    kinematics: Any, facts: RobotFacts, options: ExportOptions, version: int, path: Path
) -> None:
    pose = "retract_config" if version == 1 else "default_joint_position"
    old = kinematics.get("cspace")
    if old is not None and not isinstance(old, Mapping):
        raise FormatError(f"{path}: cspace: expected a mapping, found {short(old)}")
    cspace: Any = {} if old is None else old
    if not cspace or options.default_cfg is not None or options.locked:
        cspace["joint_names"] = flow(list(facts.positions))
        cspace[pose] = flow(list(facts.positions.values()))
    if not old:
        cspace |= {"max_acceleration": ACCELERATION, "max_jerk": JERK}
    kinematics["cspace"] = cspace


def _refused(robot: Robot, needed: set[str]) -> list[str]:
    """What cuRobo's reader of URDF cannot take in the joints that it needs."""
    moving = [joint for joint in robot.tree.moving if joint.name in needed or joint.coupling]
    kinds = {
        "cuRobo reads only joints along x, y or z; these are slanted": [
            joint.name for joint in moving if np.abs(joint.axis).max() < 1.0 - 1e-9
        ],
        "cuRobo needs a velocity limit in the URDF, which these joints lack": [
            joint.name for joint in moving if not math.isfinite(joint.velocity)
        ],
        "cuRobo reads no floating or planar joints; start from a base_link behind these": [
            note.where for note in robot.notes if note.kind == "held" and note.where in needed
        ],
    }
    return [f"{text}: {', '.join(names)}" for text, names in kinds.items() if names]


def _source(robot: Robot) -> str:
    return robot.path.name if robot.path is not None else robot.source or "memory"
