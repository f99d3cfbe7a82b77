"""Files that a scene names: meshes, clouds of points, arrays.

They are found by the rules for the meshes of robots (`MeshResolver`): beside the scene or in its package, and
elsewhere only with the user's permission. A file that several obstacles name is read once, and they share what it
holds.

PCD, the files of the Point Cloud Library: ascii and binary. The header names the fields of a point with their sizes
and types; x, y and z are taken, the rest is skipped.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from .._text import short
from ..errors import FormatError
from ..mesh import TriangleMesh
from ..robot.internal import MeshResolver, read_mesh

MAX_BYTES = 2**30
"""Largest file of points or arrays read, and the most that a compressed one may unpack to."""
ARRAYS = (".npy", ".npz")
TEXT = (".xyz", ".txt", ".csv")
CLOUDS = (*ARRAYS, ".ply", ".pcd", *TEXT)
"""Files of points."""


class LinkedFiles:
    """Reads what one scene names."""

    def __init__(self, scene: Path, package_dirs: Iterable[str | os.PathLike[str]]) -> None:
        """Prepares for the file of the scene; `package_dirs` are further folders that may be read from."""
        self._resolver = MeshResolver(scene, package_dirs, word="file")
        self._meshes: dict[Any, TriangleMesh] = {}
        self._arrays: dict[Path, dict[str, np.ndarray]] = {}

    @property
    def notes(self) -> list[str]:
        """What was found elsewhere than the scene says."""
        return [f"{note.where}: {note.text}" for note in self._resolver.mended]

    def mesh(self, address: Any, scale: tuple[float, float, float], where: str) -> TriangleMesh:
        """Triangles of a mesh file, times factors along x, y and z.

        Raises:
            MeshError: there is no such file, or it is no mesh. UnsafeFileError: it may not be read.
        """
        path = self._resolver.resolve(_address(address, where), where)
        if (path, scale) not in self._meshes:
            data = read_mesh(path, scale, where)
            self._meshes[path, scale] = TriangleMesh(data.vertices, data.faces)
        return self._meshes[path, scale]

    def mesh_of(self, vertices: Any, faces: Any, key: str | None) -> TriangleMesh:
        """A mesh of arrays; those of one key, which is not None, are the same and give the same mesh."""
        if key is None or key not in self._meshes:
            mesh = TriangleMesh(vertices, faces)
            if key is None:
                return mesh
            self._meshes[key] = mesh
        return self._meshes[key]

    def array(self, address: Any, name: Any, where: str) -> np.ndarray:
        """An array of an .npy or .npz file.

        Args:
            address: of the file.
            name: of the array; None where the file has only one.
            where: what asks, for messages.

        Raises:
            FormatError: it is no array, or there is none of that name.
        """
        path = self._resolver.resolve(_address(address, where), where)
        if path not in self._arrays:
            self._arrays[path] = _read_arrays(path, where)
        return _array_of(self._arrays[path], name, path, where)

    def points(self, address: Any, name: Any, where: str) -> np.ndarray:
        """Points of a file of one of the kinds `CLOUDS`, (n, 3).

        Raises:
            FormatError: it cannot be read, or is of another kind.
        """
        path = self._resolver.resolve(_address(address, where), where)
        if path.suffix.lower() in ARRAYS:
            return self.array(address, name, where)
        return _points_of(path, where)


def read_points(path: Path, name: str | None = None) -> np.ndarray:
    """Points of a file of one of the kinds `CLOUDS`, (n, 3) or (height, width, 3).

    Args:
        path: the file.
        name: of the array in an .npz file; None where it has only one.

    Raises:
        FormatError: it cannot be read, or is of another kind.
    """
    if path.suffix.lower() in ARRAYS:
        return _array_of(_read_arrays(path, "point cloud"), name, path, "point cloud")
    return _points_of(path, "point cloud")


def _points_of(path: Path, where: str) -> np.ndarray:
    suffix = path.suffix.lower()
    if suffix not in CLOUDS:
        raise FormatError(
            f"{where}: {path.name}: clouds of this kind are not read; allowed are {', '.join(CLOUDS)}"
        )
    data = _read_bytes(path, where)
    try:
        if suffix == ".pcd":
            return pcd_points(data)
        return _ply_points(data) if suffix == ".ply" else _text_points(data)
    except Exception as error:  # the readers of trimesh and numpy raise whatever they come across
        text = " ".join(str(error).split())
        raise FormatError(f"{where}: {path} cannot be read as points: {text:.200}") from error


def _array_of(found: dict[str, np.ndarray], name: Any, path: Path, where: str) -> np.ndarray:
    if name is None and len(found) == 1:
        return next(iter(found.values()))
    if not isinstance(name, str) or name not in found:
        names = ", ".join(list(found)[:8])
        raise FormatError(f"{where}: {path} has no array {short(name)}; say 'array', one of: {names}")
    return found[name]


def _address(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise FormatError(f"{where}: expected the name of a file, found {short(value)}")
    return value


def _read_bytes(path: Path, where: str) -> bytes:
    try:
        size = path.stat().st_size
        if size <= MAX_BYTES:
            return path.read_bytes()
    except OSError as error:
        raise FormatError(f"{where}: {path} cannot be read: {error.strerror or error}") from error
    raise FormatError(f"{where}: {path} has {size >> 20} MB; at most {MAX_BYTES >> 20} MB are read")


def _read_arrays(path: Path, where: str) -> dict[str, np.ndarray]:
    """All arrays of a file, by name; that of an .npy file has the name ""."""
    data = _read_bytes(path, where)
    try:
        if data.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                if sum(entry.file_size for entry in archive.infolist()) > MAX_BYTES:
                    raise ValueError(f"it would unpack to more than {MAX_BYTES >> 20} MB")
        loaded: Any = np.load(io.BytesIO(data), allow_pickle=False)
        return {"": loaded} if isinstance(loaded, np.ndarray) else dict(loaded)
    except Exception as error:  # a broken file may raise almost anything in numpy and zipfile
        hint = "; pickled objects are not read because they can run code" if "pickle" in str(error) else ""
        raise FormatError(f"{where}: {path} is not a readable NumPy file: {error!s:.200}{hint}") from error


def _ply_points(data: bytes) -> np.ndarray:
    """Vertices of a PLY, whether or not it has faces."""
    import trimesh

    try:
        loaded: Any = trimesh.load(io.BytesIO(data), file_type="ply", process=False)
    except KeyError as error:
        raise ValueError(f"its vertices have no {error}") from error
    return np.asarray(loaded.vertices, dtype=np.float64)


def _text_points(data: bytes) -> np.ndarray:
    """Rows of numbers, of which the first three are x, y, z; what follows is colour or a normal."""
    text = data.decode("utf-8-sig").replace(",", " ").replace(";", " ").lstrip()
    if not text:
        return np.zeros((0, 3))
    titles = text[:1].isalpha() and text[:3].lower() not in ("nan", "inf")
    return np.loadtxt(
        io.StringIO(text), usecols=(0, 1, 2), ndmin=2, comments=("#", "//"), skiprows=int(titles)
    )


MAX_HEADER = 64
"""Lines; headers have eleven and comments."""
TYPES = {"F": "f", "I": "i", "U": "u"}


def pcd_points(data: bytes) -> np.ndarray:
    """Points of a PCD file, (n, 3).

    Raises:
        ValueError: it is broken, or compressed.
    """
    stream = io.BytesIO(data)
    header: dict[str, list[str]] = {}
    while "DATA" not in header:
        words = stream.readline().decode("ascii", errors="replace").split()
        if len(header) > MAX_HEADER or stream.tell() == len(data):
            raise ValueError("a PCD header ends with DATA, and this one does not")
        if words and not words[0].startswith("#"):
            header[words[0]] = words[1:]
    names = header.get("FIELDS", [])
    if not {"x", "y", "z"} <= set(names):
        raise ValueError(f"expected the fields x, y and z, found {short(names)}")
    counts = [int(count) for count in header.get("COUNT", ["1"] * len(names))]
    kind = header["DATA"][:1]
    if kind == ["ascii"]:
        first = np.cumsum([0, *counts])
        columns = [int(first[names.index(axis)]) for axis in "xyz"]
        return np.loadtxt(stream, usecols=columns, ndmin=2)
    if kind != ["binary"]:
        raise ValueError(f"PCD data of the kind {short(kind)} is not read; save it as ascii or binary")
    sizes = zip(header["TYPE"], header["SIZE"], strict=True)
    formats = [f"<{TYPES[letter]}{size}" for letter, size in sizes]
    # Padding fields repeat the name "_"; numpy wants names that differ.
    unique = [name if name in ("x", "y", "z") else f"{name}{k}" for k, name in enumerate(names)]
    fields = [(n, f, (c,)) for n, f, c in zip(unique, formats, counts, strict=True)]
    rows = np.frombuffer(data[stream.tell() :], dtype=np.dtype(fields), count=int(header["POINTS"][0]))
    return np.column_stack([rows[axis][:, 0] for axis in "xyz"]).astype(np.float64)
