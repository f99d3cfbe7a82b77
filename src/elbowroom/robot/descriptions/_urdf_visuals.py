"""Visual elements of a URDF, read from its text when they are first asked for.

A fault in one of them leaves out that one and is noted; colours are those of `<material>`, found as urdfdom finds them:
what is defined at the robot counts first, then the first element that defines a name. Textures of materials are not
read; those of mesh files are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from ..._frozen import Frozen, frozen
from ..._xml import at_line, numbers, parse_xml
from ...errors import DescriptionError
from ...typing import Matrix4
from .._types import Note
from .._visuals import Color, Piece, VisualShape, primitive_loader
from ._painted import read_painted
from ._resolve import MeshResolver
from ._urdf_elements import SHAPES, check_values


@dataclass(frozen=True, eq=False)
class UrdfVisuals(Frozen):
    """The visual elements of a URDF by link."""

    xml: bytes
    """Text of the description."""
    path: Path | None
    """Its file; None for one from memory."""
    package_dirs: tuple[Path, ...] = ()
    """As given to `load_robot`."""
    found: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """Files of addresses that were resolved elsewhere."""

    @cached_property
    def resolver(self) -> MeshResolver:
        """Finds the mesh files, by the rules for collision meshes."""
        return MeshResolver(self.path, self.package_dirs)

    @property
    def shapes(self) -> Mapping[str, Sequence[VisualShape]]:
        """Visual shapes per link."""
        return self._parsed[0]

    @property
    def faults(self) -> Mapping[str, Sequence[Note]]:
        """Visual elements that are broken."""
        return self._parsed[1]

    @cached_property
    def _parsed(self) -> tuple[dict[str, list[VisualShape]], dict[str, list[Note]]]:
        where = str(self.path or "URDF")
        root = parse_xml(self.xml, where).getroot()
        colors = _named_colors(where, root)
        shapes: dict[str, list[VisualShape]] = {}
        faults: dict[str, list[Note]] = {}
        for link in root.findall("link"):
            name = link.get("name", "")
            if name in shapes or name in faults:  # described twice in the same words
                continue
            for index, element in enumerate(link.findall("visual")):
                notes = faults.setdefault(name, [])
                try:
                    color = _color(where, element, colors, name, notes)
                    shapes.setdefault(name, []).extend(self._shapes(element, index, where, color))
                except DescriptionError as error:
                    notes.append(Note("skipped", name, f"a visual is left out: {error}"))
        return {name: found for name, found in shapes.items() if found}, faults

    def _shapes(self, element: Any, index: int, where: str, color: Color | None) -> list[VisualShape]:
        """Shapes of one visual element: one, or against the rules several."""
        T_link_visual = _origin(where, element)
        label = element.get("name") or f"visual_{index}"
        return [
            VisualShape(label, T_link_visual, color, self._loader(shape, where))
            for shape in element.xpath("./geometry/*")
        ]

    def _loader(self, shape: Any, where: str) -> Any:
        if shape.tag not in SHAPES:
            raise DescriptionError(
                f"{at_line(where, shape)}: no shape is called so; allowed are {', '.join(SHAPES)}"
            )
        check_values(where, shape)
        if shape.tag == "mesh":
            given = numbers(where, shape, "scale", (1, 3)) or [1.0]
            scale = tuple(given * 3 if len(given) == 1 else given)
            _refuse_flat(where, shape, scale)
            return partial(_read, self, shape.get("filename"), scale, at_line(where, shape))
        names = {"box": ("size",), "sphere": ("radius",)}.get(shape.tag, ("radius", "length"))
        size = tuple(
            value for name in names for value in numbers(where, shape, name, 3 if name == "size" else 1) or ()
        )
        _refuse_flat(where, shape, size[:1] if shape.tag == "capsule" else size)
        return primitive_loader(shape.tag, size)


def _read(
    source: UrdfVisuals, address: str, scale: tuple[float, ...], where: str, notes: list[Note]
) -> tuple[Piece, ...]:
    """Pieces of a mesh file."""
    known = len(source.resolver.mended)
    path = source.found.get(address) or source.resolver.resolve(address, where)
    notes += source.resolver.mended[known:]
    return read_painted(path, scale, where, source.resolver.allows, notes)


def _refuse_flat(where: str, shape: Any, size: Sequence[float]) -> None:
    if 0.0 in size:
        raise DescriptionError(f"{at_line(where, shape)}: it has no extent")


def _origin(where: str, element: Any) -> Matrix4:
    from scipy.spatial.transform import Rotation

    T = np.eye(4)
    origin = element.find("origin")
    if origin is not None:
        T[:3, 3] = numbers(where, origin, "xyz", 3) or (0.0, 0.0, 0.0)
        T[:3, :3] = Rotation.from_euler(
            "xyz", numbers(where, origin, "rpy", 3) or (0.0, 0.0, 0.0)
        ).as_matrix()
    return frozen(T)


def _named_colors(where: str, root: Any) -> dict[str, Color]:
    """Colours by the name of their material; one that is broken is noted where it is used."""
    found: dict[str, Color] = {}
    for material in (*root.findall("material"), *root.findall("link/visual/material")):
        name = material.get("name")
        with suppress(DescriptionError):
            color = _rgba(where, material)
            if name and color is not None:
                found.setdefault(name, color)
    return found


def _color(
    where: str, element: Any, colors: Mapping[str, Color], link: str, notes: list[Note]
) -> Color | None:
    material = element.find("material")
    if material is None:
        return None
    try:
        return colors.get(material.get("name") or "") or _rgba(where, material)
    except DescriptionError as error:
        notes.append(Note("approximated", link, f"a visual has no colour: {error}"))
        return None


def _rgba(where: str, material: Any) -> Color | None:
    """Colour of a material; None where it has none.

    Raises:
        DescriptionError: it is not three or four numbers.
    """
    color = material.find("color")
    values = None if color is None else numbers(where, color, "rgba", (3, 4))
    if values is None:
        return None
    red, green, blue, *opacity = (min(max(value, 0.0), 1.0) for value in values)
    return red, green, blue, opacity[0] if opacity else 1.0
