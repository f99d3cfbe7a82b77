"""Scenes as JSON: everything a world holds, without loss.

    {"format": "elbowroom-world", "version": 1, "obstacles": [
      {"kind": "box", "name": "table", "pose": [1, 0, 0, 0, 0.5, 0, 0.3], "size": [0.8, 0.8, 0.05]}, ...]}

A pose is seven numbers, wxyz_xyz, or four rows of four; it is written as seven where they give the same matrix to the
last bit, else as four rows. Arrays (`points`, `vertices`, `faces`, `values`) are nested lists, or name an array of a
NumPy file: `{"file": "scene.npz", "array": "..."}`. Large ones are written to a file of that kind beside the JSON, each
under a hash of its content: equal ones are stored once, and those of another scene are never confused with ours.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .._poses import as_matrix, as_wxyz_xyz
from .._text import short
from ..errors import ElbowroomError, FormatError
from ._linked import LinkedFiles
from ._obstacles import Box, Capsule, Cylinder, HalfSpace, MeshObstacle, Obstacle, Sphere
from ._sampled import PointCloud, SdfGrid
from ._world import refuse_too_many

FORMAT = "elbowroom-world"
VERSION = 1
PLACES = (
    "position",
    "orientation",
    "translation",
    "rotation",
    "quaternion",
    "center",
    "origin",
    "xyz",
    "rpy",
)
"""Keys by which other tools place an object: if they were ignored, it would stand at the origin."""
INLINE = 3000
"""Numbers of an array that is still written into the JSON."""
FIELDS: dict[type[Obstacle], tuple[str, ...]] = {
    Box: ("size",),
    Sphere: ("radius",),
    Cylinder: ("radius", "length"),
    Capsule: ("radius", "length"),
    HalfSpace: ("normal", "offset"),
    MeshObstacle: ("vertices", "faces"),
    PointCloud: ("points", "radius"),
    SdfGrid: ("values", "spacing", "origin"),
}
"""What each kind is made of, besides `kind`, `name` and `pose`."""
KINDS = {kind.kind: kind for kind in FIELDS}
OPTIONAL = ("normal", "offset", "origin")
"""Fields with a default."""
FROM_FILE = {"mesh": ("vertices", "faces"), "point_cloud": ("points",), "sdf_grid": ("values",)}
"""Fields that `file` stands for."""


def parse_json(text: str, path: Path) -> Any:
    """Values of a JSON text.

    Raises:
        FormatError: it is broken, nested without end, or gives a key twice.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise FormatError(f"{path}: the key {short(twice)} is given twice")
        return found

    try:
        return json.loads(text, object_pairs_hook=unique)
    except RecursionError as error:
        raise FormatError(f"{path}: the JSON is nested too deeply") from error
    except ValueError as error:  # broken JSON, or an integer of thousands of digits
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{path}: not readable as JSON: {error}") from error


# Reading ----------------------------------------------------------------------------------------


def obstacles_from_json(
    data: Mapping[str, Any], path: Path, files: LinkedFiles
) -> tuple[list[Obstacle], list[str]]:
    """Obstacles of a scene, and notes on what it says that was not understood.

    Raises:
        FormatError: the scene is broken; the message names the obstacle and the field.
    """
    if data.get("version") != VERSION:
        raise FormatError(
            f"{path}: version {short(data.get('version'))} of a scene is not known, expected {VERSION}"
        )
    listed, notes = data.get("obstacles"), data.get("notes", [])
    if not isinstance(listed, list):
        raise FormatError(f"{path}: 'obstacles' must be a list, found {short(listed)}")
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise FormatError(f"{path}: 'notes' must be a list of sentences, found {short(notes)}")
    refuse_too_many(len(listed))
    found, said = list[Obstacle](), list[str](notes)
    said += _unknown(data, ("format", "version", "obstacles", "notes"), "the scene")
    for k, entry in enumerate(listed):
        name = entry.get("name") if isinstance(entry, Mapping) else None
        where = f"{path}: obstacle {k + 1}" + (f" {short(name)}" if name else "")
        try:
            obstacle, unknown = _obstacle(entry, where, files)
        except ElbowroomError as error:
            if str(path) in str(error):
                raise
            raise FormatError(f"{where}: {error}") from error
        found.append(obstacle)
        said += unknown
    return found, said


def _obstacle(entry: Any, where: str, files: LinkedFiles) -> tuple[Obstacle, list[str]]:
    if not isinstance(entry, Mapping):
        raise FormatError(f"{where}: expected an object, found {short(entry)}")
    word = entry.get("kind")
    if not isinstance(word, str) or word not in KINDS:
        raise FormatError(f"{where}: 'kind' must be one of {', '.join(KINDS)}, found {short(word)}")
    kind = KINDS[word]
    given = {key: value for key, value in entry.items() if key in FIELDS[kind] or key == "pose"}
    linked: tuple[str, ...] = ()
    if "file" in entry and word in FROM_FILE:
        linked = ("file", "scale") if word == "mesh" else ("file", "array")
        both = [key for key in FROM_FILE[word] if key in given]
        if both:
            raise FormatError(f"{where}: 'file' and {both[0]!r} cannot both be given")
    elif word == "mesh" and "scale" in entry:
        raise FormatError(f"{where}: 'scale' is for a mesh of a 'file'; vertices are in metres")
    misplaced = [key for key in PLACES if key in entry and key not in FIELDS[kind]]
    if misplaced:
        raise FormatError(
            f"{where}: the place of a {word} is its 'pose', w x y z x y z or four rows of four; "
            f"{misplaced[0]!r} is no key"
        )
    stands_for = FROM_FILE[word] if linked else ()
    missing = [key for key in FIELDS[kind] if key not in (*given, *OPTIONAL, *stands_for)]
    if missing:
        others = " or 'file'" if word in FROM_FILE and missing[0] in FROM_FILE[word] else ""
        raise FormatError(
            f"{where}: {missing[0]!r}{others} is missing; a {word} has {', '.join(FIELDS[kind])}"
        )
    values = {key: _numbers(value, f"{where}: {key!r}", files) for key, value in given.items()}
    if word == "mesh":
        values["mesh"] = _mesh(entry, values, where, files)
    elif linked and word == "point_cloud":
        values["points"] = files.points(entry["file"], entry.get("array"), where)
    elif linked:
        values["values"] = files.array(entry["file"], entry.get("array"), where)
    name = entry.get("name", "")
    known = ("kind", "name", "pose", *FIELDS[kind], *linked)
    return kind(name=name, **values), _unknown(entry, known, f"{word} {name!r}")


def _mesh(entry: Mapping[str, Any], values: dict[str, Any], where: str, files: LinkedFiles) -> Any:
    if "file" in entry:
        given = np.ravel(_numbers(entry.get("scale", 1.0), f"{where}: 'scale'", files))
        scale = given.tolist() * (3 if given.size == 1 else 1)
        if len(scale) != 3 or not (np.isfinite(scale).all() and all(scale)):
            raise FormatError(
                f"{where}: 'scale' must be one or three numbers other than 0, found {short(entry['scale'])}"
            )
        return files.mesh(entry["file"], (scale[0], scale[1], scale[2]), where)
    parts = entry["vertices"], entry["faces"]
    key = json.dumps(parts) if all(isinstance(part, Mapping) for part in parts) else None
    return files.mesh_of(values.pop("vertices"), values.pop("faces"), key)


def _numbers(value: Any, where: str, files: LinkedFiles) -> Any:
    """Numbers as they are; lists of them and arrays of files as arrays."""
    if isinstance(value, Mapping):
        return files.array(value.get("file"), value.get("array"), where)
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError) as error:
        raise FormatError(f"{where}: expected numbers in equal rows, found {short(value)}") from error
    if array.dtype.kind not in "fiu" and array.size:
        raise FormatError(f"{where}: expected numbers, found {short(value)}")
    return array if isinstance(value, list) else value


def _unknown(entry: Mapping[str, Any], known: tuple[str, ...], what: str) -> list[str]:
    others = [key for key in entry if key not in known]
    return [f"{what}: {', '.join(map(short, others[:6]))} is not known and not kept"] if others else []


# Writing ----------------------------------------------------------------------------------------


@dataclass
class Sidecar:
    """Arrays that go into a file beside the JSON."""

    name: str
    """Of that file; "" keeps all arrays in the JSON."""
    arrays: dict[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])

    def put(self, array: np.ndarray) -> Any:
        """What stands in the JSON for an array."""
        if not self.name or array.size <= INLINE:
            return array.tolist()
        digest = hashlib.sha256(f"{array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
        key = digest.hexdigest()[:20]
        self.arrays[key] = array
        return {"file": self.name, "array": key}


def obstacles_to_json(obstacles: Sequence[Obstacle], sidecar: Sidecar) -> list[dict[str, Any]]:
    """Obstacles as plain values; large arrays go to the sidecar."""
    poses = np.array([obstacle.pose for obstacle in obstacles]).reshape(-1, 4, 4)
    sevens = as_wxyz_xyz(poses)
    same = (as_matrix(sevens) == poses).all(axis=(1, 2))
    entries: list[dict[str, Any]] = []
    for k, obstacle in enumerate(obstacles):
        pose = sevens[k] if same[k] else poses[k]
        entry = {"kind": obstacle.kind, "name": obstacle.name, "pose": pose.tolist()}
        holder = obstacle.mesh if isinstance(obstacle, MeshObstacle) else obstacle
        for name in FIELDS[type(obstacle)]:
            value = getattr(holder, name)
            entry[name] = sidecar.put(value) if isinstance(value, np.ndarray) else value
        entries.append(entry)
    return entries


def json_text(entries: list[dict[str, Any]], notes: tuple[str, ...]) -> str:
    """The whole file, an obstacle a line."""
    lines = ",\n".join(f"  {json.dumps(entry, allow_nan=False)}" for entry in entries)
    head = {"format": FORMAT, "version": VERSION, **({"notes": notes} if notes else {})}
    return json.dumps(head)[:-1] + ', "obstacles": [\n' + lines + "\n]}\n"
