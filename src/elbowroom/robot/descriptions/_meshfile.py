"""Mesh files read into triangles.

Binary STL, which most robots bring, is read here. trimesh parses the rest, and what it finds in a file is kept in the
user's cache, for its import alone takes longer than all else that a known robot needs. Vertices are merged, so that
closed surfaces are seen as closed (STL repeats every corner); nothing else is repaired. A mesh that cannot be read or
holds no triangle is an error.
"""

from __future__ import annotations

import io
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from ..._cache import Arrays, cached
from ..._closed import merge_vertices
from ..._frozen import frozen
from ...errors import MeshError, UnsafeFileError
from .._types import MeshData

FORMATS = (".stl", ".obj", ".dae", ".ply", ".glb", ".off")
"""Formats in one file each; what they name besides (textures, materials, buffers elsewhere) is not opened, except for
the colours of what is only looked at (`_painted`)."""
MATERIALS = ("bind_material", "library_materials", "library_effects", "library_images")
"""Elements of a Collada file that colour its shapes."""
MAX_BYTES = 512 * 2**20
"""Largest mesh file read; far above any robot link in use, far below a computer's memory."""
READING = 1
"""Counted up when files are read otherwise, so that older cached triangles are not used."""
STL_HEAD, STL_TRIANGLE = (
    84,
    np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")]),
)
"""Bytes before the triangles of a binary STL file, the last four of which say how many there are; and one of them."""


def read_mesh(path: Path, scale: tuple[float, ...], where: str) -> MeshData:
    """Reads a mesh file; all its pieces are joined.

    Args:
        path: the file, of one of `FORMATS`.
        scale: factors along x, y, z; a mirrored mesh (odd number of negatives) is wound outward again.
        where: element that asks, for messages.

    Raises:
        MeshError: of another format, unreadable, too large, empty, or with vertices that are not finite.
        UnsafeFileError: a Collada file with a document type or entities, or one that hides them.
    """
    data, suffix = mesh_bytes(path, where), path.suffix.lower()
    found = _binary_stl(data) if suffix == ".stl" else None
    if found is None:
        key = [READING, version("trimesh"), suffix, data]
        found = cached("meshes", key, lambda: _parsed_triangles(data, path, where), fits=_are_triangles)
    return clean_triangles(found["vertices"], found["faces"], np.asarray(scale), f"{where}: {path}")


def _binary_stl(data: bytes) -> Arrays | None:
    """The triangles of a binary STL file; None for what is not just that."""
    count = int.from_bytes(data[STL_HEAD - 4 : STL_HEAD], "little")
    if len(data) != STL_HEAD + count * STL_TRIANGLE.itemsize:
        return None
    corners = np.frombuffer(data, STL_TRIANGLE, count, STL_HEAD)["corners"]
    return {
        "vertices": corners.reshape(-1, 3).astype(np.float64),
        "faces": np.arange(3 * count, dtype=np.int64).reshape(-1, 3),
    }


def _parsed_triangles(data: bytes, path: Path, where: str) -> Arrays:
    """What trimesh reads from the contents of a file, joined and in metres."""
    import trimesh

    loaded = parse_mesh(without_materials(data, path), path, where, skip_materials=True)
    try:
        mesh = loaded.to_mesh() if isinstance(loaded, trimesh.Scene) else loaded
        vertices, faces = np.asarray(mesh.vertices, dtype=np.float64), np.asarray(mesh.faces, dtype=np.int64)
        vertices = vertices * unit_in_metres(mesh.metadata.get("units") or loaded.metadata.get("units"))
    except Exception as error:  # point clouds, drawings and whatever else a file may hold
        raise _unreadable(path, where, error) from error
    return {"vertices": vertices, "faces": faces}


def _are_triangles(arrays: Arrays) -> bool:
    kinds = {name: (array.dtype.str, array.ndim, array.shape[1:]) for name, array in arrays.items()}
    return kinds == {"vertices": ("<f8", 2, (3,)), "faces": ("<i8", 2, (3,))}


def mesh_bytes(path: Path, where: str) -> bytes:
    """Contents of a mesh file that may be read.

    Raises:
        MeshError: of a format not in `FORMATS`, too large, or not readable.
        UnsafeFileError: a Collada file with a document type or entities, or one that hides them.
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise MeshError(
            f"{where}: {path.name}: meshes of this kind are not read; allowed are {', '.join(FORMATS)}"
        )
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise MeshError(
                f"{where}: {path} has {size / 2**20:.0f} MB; at most {MAX_BYTES // 2**20} MB are read"
            )
        data = path.read_bytes()
    except OSError as error:
        raise MeshError(f"{where}: {path} cannot be read: {error}") from error
    if suffix == ".dae" and _unsafe_xml(data):
        raise UnsafeFileError(
            f"{where}: {path}: document types, entities, archives and UTF-16 are not allowed in a mesh"
        )
    return data


def without_materials(data: bytes, path: Path) -> bytes:
    """Contents of a Collada file without its materials; those of other files as they are.

    Colours play no part in collisions, and the reader drops every shape whose material is broken without a word.
    """
    if path.suffix.lower() != ".dae":
        return data
    try:
        root = etree.fromstring(
            data, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
        )
    except (etree.XMLSyntaxError, ValueError):
        return data  # the reader says what is wrong with it
    for element in root.xpath(" | ".join(f"//*[local-name()='{name}']" for name in MATERIALS)):
        element.getparent().remove(element)
    return etree.tostring(root)


def parse_mesh(data: bytes, path: Path, where: str, **options: Any) -> Any:
    """What trimesh reads from the contents of a mesh file: a mesh or a scene.

    It is given memory: with a path or an open file it would follow what the mesh names to other files. Names are
    followed only by a `resolver` among the options.

    Raises:
        MeshError: it cannot be read.
    """
    import trimesh

    try:
        return trimesh.load(io.BytesIO(data), file_type=path.suffix[1:].lower(), process=False, **options)
    except Exception as error:  # trimesh's readers raise whatever their format libraries raise
        raise _unreadable(path, where, error) from error


def _unreadable(path: Path, where: str, error: Exception) -> MeshError:
    return MeshError(f"{where}: {path} cannot be read as a mesh: {type(error).__name__}: {error}")


def unit_in_metres(units: str | None) -> float:
    """Collada files state their unit, which trimesh passes on as "0.01 * meters"; other formats have none."""
    factor, separator, _ = (units or "").partition(" * meter")
    return float(factor) if separator else 1.0


def _unsafe_xml(data: bytes) -> bool:
    """Whether a Collada file declares a document type or entities, or is written so that they cannot be seen."""
    return (
        b"<!DOCTYPE" in data
        or b"<!ENTITY" in data
        or b"\0" in data[:64]
        or data[:2] in (b"PK", b"\xff\xfe", b"\xfe\xff")
    )


def clean_triangles(vertices: np.ndarray, faces: np.ndarray, scale: np.ndarray, where: str) -> MeshData:
    """Checks and scales triangles, merges equal vertices and keeps the winding outward."""
    check_triangles(vertices, faces, where)
    corners = vertices[faces.ravel()]
    label, first = merge_vertices(corners)
    order = np.lexsort(
        corners[first].T[::-1]
    )  # places in the order of their coordinates, whatever the file's is
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    unique, faces = corners[first[order]], place[label].reshape(faces.shape)
    if np.prod(scale) < 0:
        faces = faces[:, ::-1]
    return MeshData(frozen(unique * scale), frozen(np.ascontiguousarray(faces)))


def check_triangles(vertices: np.ndarray, faces: np.ndarray, where: str) -> None:
    """Refuses what is no triangle mesh.

    Raises:
        MeshError: no triangle, triangles of vertices that do not exist, or coordinates that are not finite.
    """
    if faces.ndim != 2 or faces.shape[1:] != (3,) or len(faces) == 0:
        raise MeshError(f"{where}: it holds no triangle")
    if vertices.ndim != 2 or vertices.shape[1] != 3 or faces.min() < 0 or faces.max() >= len(vertices):
        raise MeshError(f"{where}: its triangles name vertices that do not exist ({len(vertices)} vertices)")
    if not np.all(np.isfinite(vertices[faces])):
        raise MeshError(f"{where}: it has vertices with NaN or infinite coordinates")
