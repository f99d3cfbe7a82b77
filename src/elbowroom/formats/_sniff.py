"""Which format a file is in, by what it holds.

XML is told by its root and the elements in it, JSON and YAML by their keys. Where the content does not decide, the
caller goes by the extension.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from .._kinds import SCENE as SCENE_YAML
from .._kinds import kind_of, scene_parts
from .._xml import read_xml
from ..errors import ElbowroomError
from ._contents import MAX_BYTES

XRDF_LINE = re.compile(rb"""^["']?format["']?\s*:\s*["']?xrdf["']?\s*(#.*)?$""", re.MULTILINE)
SCENE = "scene"
"""Not one of the formats of this folder: a scene of obstacles, which `World.read` reads."""
CUROBO_LINE = re.compile(rb"""^["']?(robot_cfg|kinematics|collision_spheres)["']?\s*:""", re.MULTILINE)
OF_SRDF = (
    "disable_collisions",
    "enable_collisions",
    "disable_default_collisions",
    "group",
    "group_state",
    "end_effector",
    "virtual_joint",
    "link_sphere_approximation",
)
"""Elements below <robot> that SRDF has and URDF has not."""


def sniff(path: Path) -> str:
    """Name of the format that the content shows, or an empty text; a file that cannot be read shows none."""
    try:
        if path.stat().st_size > MAX_BYTES:
            return ""
        data = path.read_bytes()
    except (OSError, ValueError):
        return ""
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if start == b"<":
        try:
            return _of_root(read_xml(path, mended=[]).getroot())
        except ElbowroomError:
            return ""
    if start == b"{":
        return _of_object(data)
    if XRDF_LINE.search(data):
        return "xrdf"
    if CUROBO_LINE.search(data):
        return "curobo"
    return SCENE if kind_of(data) == SCENE_YAML else ""


def _of_object(data: bytes) -> str:
    """JSON, unless it has the keys of a YAML format, of which JSON is a special case."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return ""
    if found.get("format") == "xrdf":
        return "xrdf"
    if found.get("format") == "elbowroom-world" or scene_parts(found) is not None:
        return SCENE
    return "curobo" if {"robot_cfg", "kinematics", "collision_spheres"} & set(found) else "json"


def _of_root(root: Any) -> str:
    if root.tag == "mujoco":
        return "mjcf"
    if root.tag != "robot":
        return ""
    if root.find("link") is not None:
        return "urdf"
    return "srdf" if any(root.find(tag) is not None for tag in OF_SRDF) else ""
