"""`read` and `write`: whatever a file holds, in the format that its content or its extension says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import FormatError, InputError
from ..pairs import pairs_from_ignored
from ..robot import as_robot
from ..typing import RobotLike
from ._contents import Contents
from ._curobo import read_curobo
from ._curobo_write import write_curobo
from ._json import read_json, write_json
from ._mjcf import read_mjcf, write_mjcf
from ._options import ExportOptions
from ._sniff import SCENE, sniff
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
        What the format cannot hold, and what to mind; empty when nothing was lost.

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

    Writers of YAML and MJCF read the file that is there and refuse it themselves.
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
