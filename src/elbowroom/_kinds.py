"""What kind of file some bytes are, in a word or two: told by content alone, so that one kind never replaces another.

The kind of what is about to be written and of what is there already come from the same function; they are the same
kind when the texts are equal.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

EMPTY = "nothing"
PNG = "a PNG picture"
URDF, SRDF, MJCF = "a URDF", "an SRDF", "an MJCF"
MARK = "written by Elbowroom"
"""Comment in descriptions that we write whole."""
OUR_URDF, OUR_MJCF = f"{URDF} {MARK}", f"{MJCF} {MARK}"
"""Only these are replaced by another of the kind: a description that someone made is not."""
CUROBO, XRDF = "a cuRobo YAML", "an XRDF"
SPHERES = "spheres as JSON"
WORLD, SCENE = "a scene of obstacles as JSON", "a scene of obstacles as YAML"
WORLD_MARK, WORLD_ARRAYS = "elbowroom_world", "arrays of a scene of obstacles"
"""An entry of that name tells the arrays of a scene from others."""

_MAGIC = {
    b"\x89PNG\r\n\x1a\n": PNG,
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"%PDF": "a PDF",
    b"\x1f\x8b": "gzip data",
    b"\x93NUMPY": "a NumPy array",
    b"\x7fELF": "a program",
}
_XRDF_LINE = re.compile(rb"""^["']?format["']?\s*:\s*["']?xrdf\b""", re.MULTILINE)
_SCENE_LINE = re.compile(rb"""^[ \t]*["']?collision_objects["']?\s*:""", re.MULTILINE)
_SHAPES_LINE = re.compile(rb"""^[ \t-]*["']?(primitives|meshes|planes)["']?\s*:""", re.MULTILINE)
_CUROBO_LINE = re.compile(rb"""^["']?(robot_cfg|kinematics|collision_spheres)["']?\s*:""", re.MULTILINE)


def kind_of(data: bytes) -> str:
    """The kind of a file, as words for a message."""
    for start, kind in _MAGIC.items():
        if data.startswith(start):
            return kind
    if data.startswith(b"PK\x03\x04"):
        return _of_archive(io.BytesIO(data))
    text = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text:
        return EMPTY
    if b"<svg" in text[:2000]:
        return "an SVG picture"
    if text[:1] == b"<":
        return _of_xml(data)
    if text[:1] in (b"{", b"["):
        return _of_json(data)
    if _XRDF_LINE.search(data):
        return XRDF
    if _CUROBO_LINE.search(data):
        return CUROBO
    if _SCENE_LINE.search(data) or (text[:1] == b"-" and _SHAPES_LINE.search(data)):
        return SCENE
    return _of_text(text)


def kind_of_large(path: Path) -> str:
    """The kind of a file too large to be looked at as a whole: archives are told by their list of entries."""
    with open(path, "rb") as file:
        return _of_archive(file) if file.read(4) == b"PK\x03\x04" else "a large file"


def _of_archive(file: IO[bytes]) -> str:
    """Arrays (npz) by their names, so that one set of arrays does not replace another; other archives by entries."""
    try:
        names = sorted(zipfile.ZipFile(file).namelist())
    except (zipfile.BadZipFile, ValueError, OSError):
        return "a broken archive"
    if f"{WORLD_MARK}.npy" in names:
        return WORLD_ARRAYS
    arrays = all(name.endswith(".npy") for name in names)
    listed = ", ".join(name.removesuffix(".npy") for name in names[:6])
    return f"arrays ({listed})" if arrays else f"an archive ({listed})"


def _of_xml(data: bytes) -> str:
    from ._xml import parse_xml
    from .errors import ElbowroomError

    try:
        root: Any = parse_xml(data, "").getroot()
    except ElbowroomError:
        return "XML that cannot be read"
    ours = f"<!-- {MARK} -->".encode() in data
    if not ours and ("http://www.ros.org/wiki/xacro" in root.nsmap.values() or b"<xacro:" in data):
        return "a xacro file"
    if root.tag == "mujoco":
        return OUR_MJCF if ours else MJCF
    if root.tag == "robot":
        return SRDF if root.find("link") is None else OUR_URDF if ours else URDF
    return f"XML of <{root.tag}>"


def _of_json(data: bytes) -> str:
    """By its `format` if it says one; spheres by their shape; others by the first key, which writers keep."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return "text that looks like JSON"
    if not isinstance(found, Mapping) or not found:
        return "a JSON list" if isinstance(found, list) else "JSON without entries"
    says = found.get("format")
    if says == "elbowroom-spheres" or _are_spheres(found.get("spheres", found)):
        return SPHERES
    if says == "elbowroom-world":
        return WORLD
    if scene_parts(found) is not None:
        return SCENE
    if isinstance(says, str):
        return f"JSON of the format {says[:40]!r}"
    return f"JSON that starts with {str(next(iter(found)))[:40]!r}"


def scene_parts(found: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """The scene and its world, where values are a MoveIt scene; one and the same where the objects are at the top.

    A request to apply a scene has it one level deeper.
    """
    if not isinstance(found, Mapping):
        return None
    for scene in (found, found.get("scene"), found.get("planning_scene")):
        if isinstance(scene, Mapping):
            for world in (scene, scene.get("world")):
                if isinstance(world, Mapping) and "collision_objects" in world:
                    return scene, world
    return None


def _are_spheres(by_link: Any) -> bool:
    """Whether every link of a mapping has a list of `center` and `radius`, or lists of `centers` and `radii`."""

    def fits(entry: Any) -> bool:
        if isinstance(entry, Mapping):
            return {"centers", "radii"} <= entry.keys()
        return isinstance(entry, list) and all(isinstance(one, Mapping) and "radius" in one for one in entry)

    return isinstance(by_link, Mapping) and bool(by_link) and all(map(fits, by_link.values()))


def _of_text(text: bytes) -> str:
    """By the first word: the first column of a table, the name in the title of a report."""
    if b"\0" in text[:4096]:
        return "binary data"
    word = re.split(rb"[\s,;]", text[:200].lstrip(b"#%/ \t"), maxsplit=1)[0]
    return f"text that starts with {word[:40].decode(errors='replace')!r}"
