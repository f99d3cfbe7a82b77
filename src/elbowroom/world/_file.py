"""Scenes in files: JSON without loss, MoveIt and MotionBenchMaker YAML as far as it goes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._cache import npz_bytes
from .._files import check_place, is_stdout, write_bytes
from .._kinds import EMPTY, SCENE, WORLD, WORLD_MARK, kind_of, scene_parts
from .._text import read_text
from .._yaml import parse_yaml
from ..errors import FormatError, InputError
from ._json import FORMAT, Sidecar, json_text, obstacles_from_json, obstacles_to_json, parse_json
from ._linked import LinkedFiles
from ._moveit import obstacles_from_scene
from ._moveit_write import scene_text

if TYPE_CHECKING:
    from ._obstacles import Obstacle
    from ._world import World

MAX_BYTES = 128 * 2**20
"""Largest scene read; more belongs into arrays beside it."""
EXTENSIONS = {".json": "json", ".yaml": "moveit", ".yml": "moveit"}
"""Extension -> format."""
NO_SCENE = "expected a scene of obstacles (JSON, or the YAML of MoveIt)"


def read_obstacles(
    path: Path, package_dirs: Iterable[str | os.PathLike[str]]
) -> tuple[list[Obstacle], list[str]]:
    """Obstacles of a file and notes on it; see `World.read`."""
    text = _text(path)
    text = text.rstrip().removesuffix("\n---")  # with which ROS ends a message that it prints
    as_json = text.lstrip()[:1] in ("{", "[")
    data, notes = (parse_json(text, path), []) if as_json else parse_yaml(text, path, "safe")
    files = LinkedFiles(path, package_dirs)
    if isinstance(data, Mapping) and data.get("format") == FORMAT:
        obstacles, said = obstacles_from_json(data, path, files)
    elif isinstance(data, list) or scene_parts(data) is not None:
        obstacles, said = obstacles_from_scene(data, path, files)
    else:
        raise FormatError(f"{path}: {NO_SCENE}, found {kind_of(text.encode())}")
    return obstacles, [*notes, *said, *files.notes]


def _text(path: Path) -> str:
    """Text of a file that may be a scene.

    Raises:
        FormatError: it cannot be read, or is of another kind by its first bytes.
    """
    try:
        with open(path, "rb") as file:
            start = file.read(1000)
            other = start.lstrip()[:1] == b"<" or not kind_of(start).startswith(("text", "a scene", EMPTY))
            other = other and start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] not in (b"{", b"[")
            kind = kind_of(start + file.read(MAX_BYTES)) if other else ""
    except (OSError, ValueError) as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else str(error)
        raise FormatError(f"{path}: {reason}") from error
    if kind:
        raise FormatError(f"{path}: {NO_SCENE}, found {kind}")
    return read_text(path, MAX_BYTES)


def is_scene(path: str | Path) -> bool:
    """Whether a file looks like a scene that `World.read` reads; False for one that cannot be read."""
    try:
        if not Path(path).is_file():
            return False
        with open(path, "rb") as file:
            return kind_of(file.read(MAX_BYTES)) in (WORLD, SCENE)
    except (OSError, ValueError):
        return False


def scene_format(path: Path, name: str | None) -> str:
    """The format in which a scene is written: the one named, or that of the extension.

    Raises:
        InputError: neither is known.
    """
    found = name or EXTENSIONS.get(path.suffix.lower(), "")
    if found not in EXTENSIONS.values():
        known = ", ".join(f"{extension} ({kind})" for extension, kind in EXTENSIONS.items())
        raise InputError(f"{path}: the format {found!r} of a scene is not known; known are {known}")
    return found


def scene_bytes(world: World, format: str) -> tuple[bytes, tuple[str, ...]]:
    """A scene as one file, with all arrays in it, and what the format cannot hold.

    Args:
        world: the obstacles.
        format: "json" or "moveit".

    Raises:
        InputError: another format.
    """
    if scene_format(Path("scene"), format) == "moveit":
        text, lost = scene_text(world)
        return text.encode(), tuple(lost)
    return json_text(obstacles_to_json(world.obstacles, Sidecar("")), world.notes).encode(), ()


def write_world(path: Path, world: World, format: str | None) -> tuple[str, ...]:
    """Writes a scene; see `World.write`."""
    if scene_format(path, format) == "moveit":
        text, lost = scene_text(world)
        write_bytes(path, text.encode())
        return tuple(lost)
    beside = path.with_suffix(".npz")
    alone = is_stdout(path) or (path.exists() and not path.is_file())
    sidecar = Sidecar("" if alone else beside.name)
    entries = obstacles_to_json(world.obstacles, sidecar)
    check_place(path, WORLD)
    if sidecar.arrays:  # first, so that the scene never names arrays that are not there
        write_bytes(beside, npz_bytes({WORLD_MARK: np.array(1), **sidecar.arrays}))
    write_bytes(path, json_text(entries, world.notes).encode())
    return (f"large arrays are in {beside}, which belongs to it",) if sidecar.arrays else ()
