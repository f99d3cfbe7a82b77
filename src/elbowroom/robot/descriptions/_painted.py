"""Mesh files read with their colours.

The guards are those of collision meshes. Material files and images that a mesh names are read from the folders that
the description may read, and from nowhere else; what is refused or missing is noted, and the mesh stays without it.
Pieces of plain colour have their equal vertices merged; those with a texture or colours by vertex stay as they are.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from ...errors import MeshError
from .._types import Note
from .._visuals import Color, Piece, as_trimesh
from ._meshfile import (
    check_triangles,
    clean_triangles,
    mesh_bytes,
    parse_mesh,
    unit_in_metres,
    without_materials,
)

IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".tga", ".tif", ".tiff")
"""Images that textures may be; decoded by Pillow."""
MAX_SIDE_BYTES = 64 * 2**20
"""Largest material file or image that is read."""
MAX_PIXELS = 2**26
"""Largest texture, 8192 x 8192: an image of a few bytes may claim more than fits in memory."""


def read_painted(
    path: Path, scale: tuple[float, ...], where: str, allows: Callable[[Path], bool], notes: list[Note]
) -> tuple[Piece, ...]:
    """Reads a mesh file with its colours, a piece for each material.

    Args:
        path: the file, of one of the formats of collision meshes.
        scale: factors along x, y, z; mirrored pieces are wound outward again.
        where: element that asks, for messages.
        allows: whether a file beside it, a material or an image, may be read.
        notes: gets what was left out.

    Raises:
        MeshError, UnsafeFileError: as for collision meshes.
    """
    beside = _Beside(path.parent, allows)
    found = _meshes(mesh_bytes(path, where), path, where, beside)
    pieces = [_piece(mesh, T, np.asarray(scale), f"{where}: {path}") for mesh, T in found]
    if not pieces:
        raise MeshError(f"{where}: {path}: it holds no triangle")
    notes += [Note("approximated", path.name, fault) for fault in dict.fromkeys(beside.faults)]
    return tuple(pieces)


def _meshes(data: bytes, path: Path, where: str, beside: _Beside) -> list[tuple[Any, np.ndarray]]:
    """Meshes of a file with the pose of each in it; all of them, if need be without their colours."""
    if path.suffix.lower() != ".dae":
        return _placed(parse_mesh(data, path, where, resolver=beside), path, where)
    try:
        return _placed(parse_mesh(data, path, where, resolver=beside, ignore_broken=False), path, where)
    except MeshError:  # something is broken that may be no matter, or that makes the reader drop shapes
        found = _placed(parse_mesh(data, path, where, resolver=beside), path, where)
        plain = _placed(parse_mesh(without_materials(data, path), path, where), path, where)
        if sum(len(mesh.faces) for mesh, _ in found) == sum(len(mesh.faces) for mesh, _ in plain):
            return found
        beside.faults.append("its materials are broken; it is shown without its own colours")
        return plain


def _placed(loaded: Any, path: Path, where: str) -> list[tuple[Any, np.ndarray]]:
    try:
        return list(_geometries(loaded))
    except Exception as error:  # point clouds, drawings and whatever else a file may hold
        raise MeshError(
            f"{where}: {path} cannot be read as a mesh: {type(error).__name__}: {error}"
        ) from error


def _geometries(loaded: Any) -> Iterator[tuple[Any, np.ndarray]]:
    """Meshes of a file with the pose of each in it, unit included; a mesh that is placed twice comes twice."""
    import trimesh

    if not isinstance(loaded, trimesh.Scene):
        yield loaded, np.diag([*(3 * [unit_in_metres(loaded.metadata.get("units"))]), 1.0])
        return
    for node in loaded.graph.nodes_geometry:
        pose, name = loaded.graph[node]
        mesh: Any = loaded.geometry[name]
        if isinstance(mesh, trimesh.Trimesh) and len(mesh.faces):
            unit = unit_in_metres(mesh.metadata.get("units") or loaded.metadata.get("units"))
            yield mesh, np.diag([unit, unit, unit, 1.0]) @ np.asarray(pose)  # units are of the whole file


def _piece(mesh: Any, T: np.ndarray, scale: np.ndarray, where: str) -> Piece:
    """One mesh of a file, placed and scaled, with its colours."""
    import trimesh

    vertices = np.asarray(mesh.vertices, dtype=np.float64) @ T[:3, :3].T + T[:3, 3]
    faces = np.asarray(mesh.faces, dtype=np.int64)
    if np.linalg.det(T[:3, :3]) < 0:
        faces = faces[:, ::-1]
    color, painted = _paint(mesh.visual, len(vertices))
    if not painted:
        return Piece(as_trimesh(clean_triangles(vertices, faces, scale, where)), color)
    check_triangles(vertices, faces, where)
    faces = faces[:, ::-1] if np.prod(scale) < 0 else faces
    placed = trimesh.Trimesh(vertices * scale, faces.copy(), process=False, visual=mesh.visual.copy())
    return Piece(placed, color, True)


def _paint(visual: Any, n_vertices: int) -> tuple[Color | None, bool]:
    """The one colour of a mesh, if it has one, and whether it has a texture or many."""
    from trimesh.visual.color import DEFAULT_COLOR
    from trimesh.visual.material import PBRMaterial

    if visual.kind in ("vertex", "face"):
        rows = np.unique(
            np.asarray(visual.vertex_colors if visual.kind == "vertex" else visual.face_colors), axis=0
        )
        return (_color(rows[0]), False) if len(rows) == 1 else (None, True)
    if visual.kind != "texture":
        return None, False
    material = visual.material
    image = getattr(material, "image", None) or getattr(material, "baseColorTexture", None)
    if image is not None and visual.uv is not None and len(visual.uv) == n_vertices:
        return None, True
    if isinstance(material, PBRMaterial):
        return (None if material.baseColorFactor is None else _color(material.main_color)), False
    main = np.asarray(material.main_color)
    unset = np.array_equal(main, np.asarray(DEFAULT_COLOR))
    return (None if unset else _color(main)), False


def _color(row: Any) -> Color:
    red, green, blue, opacity = (float(value) / 255.0 for value in row)
    return red, green, blue, opacity


class _Beside:
    """What trimesh asks for files that a mesh names. It swallows what is raised here, so faults are kept."""

    def __init__(self, folder: Path, allows: Callable[[Path], bool]) -> None:
        self.folder, self.allows = folder, allows
        self.faults: list[str] = []

    def get(self, name: str) -> bytes:
        """Contents of a material file or image.

        Raises:
            MeshError: it may not or cannot be read.
        """
        try:
            return self._read(str(name))
        except MeshError as error:
            self.faults.append(str(error))
            raise

    __getitem__ = get

    def keys(self) -> Sequence[str]:
        """Nothing is listed: files are asked for by name."""
        return ()

    def _read(self, name: str) -> bytes:
        plain = unquote(name.strip()).replace("\\", "/")
        path = Path(os.path.normpath(self.folder / plain))
        suffix = path.suffix.lower()
        what = f"{name!r:.120} beside the mesh"
        if "://" in plain or suffix not in (*IMAGES, ".mtl"):
            raise MeshError(f"{what} is not read: only material files and images in the same folders are")
        try:
            if not self.allows(path):
                raise MeshError(f"{what} is not read: it lies outside the folders that may be read")
            if path.stat().st_size > MAX_SIDE_BYTES:
                raise MeshError(f"{what} is not read: it has more than {MAX_SIDE_BYTES // 2**20} MB")
            data = path.read_bytes()
        except (OSError, ValueError, RuntimeError) as error:
            raise MeshError(f"{what} cannot be read: {error}") from error
        if suffix in IMAGES:
            _check_image(data, what)
        return data


def _check_image(data: bytes, what: str) -> None:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as image:
            width, height = image.size
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise MeshError(f"{what} is not an image that can be read: {error}") from error
    if width * height > MAX_PIXELS:
        raise MeshError(f"{what} is not read: it has {width} x {height} pixels")
