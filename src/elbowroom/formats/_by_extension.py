"""`read` and `write`: whatever a file holds, in the format that its content or its extension says.

Which format a file is in, by what it holds. XML is told by its root and the elements in it, JSON and YAML by their
keys. Where the content does not decide, the caller goes by the extension.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._kinds import SCENE as SCENE_YAML
from .._kinds import kind_of, scene_parts
from .._xml import read_xml
from ..errors import ElbowroomError, FormatError, InputError
from ..pairs import pairs_from_ignored
from ..robot import as_robot
from ..typing import RobotLike
from ._contents import MAX_BYTES, Contents
from ._curobo import read_curobo
from ._curobo_write import write_curobo
from ._json import read_json, write_json
from ._mjcf import read_mjcf, write_mjcf
from ._options import ExportOptions
from ._srdf import read_srdf, write_srdf
from ._urdf import read_urdf, write_urdf
from ._xrdf import read_xrdf, write_xrdf

if TYPE_CHECKING:
    from ..spheres import SphereModel

FORMATS: dict[str, tuple[Callable[..., Contents], Callable[..., tuple[str, ...]]]] = {
    "json": (read_json, write_json),
    "curobo": (read_curobo, write_curobo),
    "xrdf": (read_xrdf, write_xrdf),
    "srdf": (read_srdf, write_srdf),
    "urdf": (read_urdf, write_urdf),
    "mjcf": (read_mjcf, write_mjcf),
}
"""Format -> reader and writer."""
EXTENSIONS = {
    ".json": "json",
    ".yml": "curobo",
    ".yaml": "curobo",
    ".xrdf": "xrdf",
    ".srdf": "srdf",
    ".urdf": "urdf",
    ".xml": "mjcf",
}


def read(path: str | Path, *, robot: RobotLike | None = None, format: str | None = None) -> Contents:
    """Reads whatever a file holds.

    Args:
        path: the file.
        robot: the robot that the file is for; its links are checked and give the order, and lists of ignored pairs
            become a PairMatrix.
        format: name of the format; by default what the content looks like, or else what the extension says.

    Raises:
        FormatError: the file does not follow its format; the message names the place.
    """
    robot = None if robot is None else as_robot(robot)
    told = format or sniff(Path(path))
    if told == SCENE:
        raise FormatError(
            f"{path}: expected spheres or pairs, found a scene of obstacles; World.read reads it, and "
            "elbowroom check takes it as --scene"
        )
    name = format_of(path, told)
    found = FORMATS[name][0](path, robot=robot)
    if robot is None or found.pairs is not None or not found.ignored:
        return found
    links = set(robot.link_names)
    known = {pair: word for pair, word in found.ignored.items() if set(pair) <= links}
    return replace(found, pairs=pairs_from_ignored(robot, known, name))


def write(
    path: str | Path,
    *,
    robot: RobotLike | None = None,
    spheres: SphereModel | None = None,
    pairs: Any = None,
    format: str | None = None,
    options: ExportOptions | None = None,
) -> tuple[str, ...]:
    """Writes spheres and ignored pairs in the format that the extension names.

    Args:
        path: the file; if it is there already, what is not understood in it is kept.
        robot: the robot; URDF and MJCF need it.
        spheres: the sphere model.
        pairs: a PairMatrix, or ignored pairs as a mapping to reasons or an iterable.
        format: name of the format, if the extension does not tell.
        options: what to say of the robot in files for planners, and how to name the files they need.

    Returns:
        What the format cannot hold, and what to keep in mind; empty when nothing was lost.

    Raises:
        FormatError: there is a file already that is of another kind.
    """
    robot = None if robot is None else as_robot(robot)
    name = format_of(path, format)
    if spheres is None and pairs is None:
        raise InputError(f"{path}: nothing to write: give spheres, pairs or both")
    _refuse_other_kinds(Path(path), name)
    return FORMATS[name][1](path, robot=robot, spheres=spheres, pairs=pairs, options=options)


def _refuse_other_kinds(path: Path, name: str) -> None:
    """Lets nothing be replaced that is not of the kind to be written; empty files and devices are nothing.

    Writers of YAML and MJCF read the existing file and refuse it themselves.
    """
    if name not in ("json", "urdf", "srdf") or not path.is_file() or not path.stat().st_size:
        return
    found = sniff(path)
    reason = f"it looks like {found}" if found else "it is something else"
    try:
        if name == "json":
            read_json(path)
        if found == name or (not found and name == "srdf"):  # an SRDF may say nothing
            return
    except FormatError as error:
        reason = str(error)
    raise FormatError(f"{path}: there is a file already that is not {name}, and it stays: {reason}")


def format_of(path: str | Path, name: str | None = None) -> str:
    """The format that a name says, or else the extension of a file.

    Raises:
        FormatError: it is not known; the message lists those that are.
    """
    path = Path(path)
    name = name or EXTENSIONS.get(path.suffix.lower(), "")
    if name not in FORMATS:
        known = ", ".join(f"{extension} ({kind})" for extension, kind in EXTENSIONS.items())
        raise FormatError(f"{path}: unknown format {(name or path.suffix)!r}; known are {known}")
    return name


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
