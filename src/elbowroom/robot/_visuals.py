"""What a robot looks like: visual geometry with its colours, read when it is asked for.

Nothing here is checked for collisions and nothing here may stop loading: a visual that cannot be read is skipped, and
a note says which and why. Collision geometry is in `Robot.shapes`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .._brief import brief
from .._frozen import Frozen
from ..errors import ElbowroomError
from ..typing import Matrix4
from ._types import MeshData, Note, ShapeKind

if TYPE_CHECKING:
    import trimesh

Color = tuple[float, float, float, float]
"""Red, green, blue and opacity, each from 0 to 1."""
GREY: Color = (0.7, 0.7, 0.7, 1.0)
"""What has no colour in the description and none of its own is drawn in."""


@brief
@dataclass(frozen=True, eq=False)
class Visual:
    """A piece of what a link looks like."""

    name: str
    """Of the element, or a number where it has none; told apart within a link."""
    mesh: trimesh.Trimesh
    """Triangles in the link frame, metres. Shared by all who ask: copy it before you change it."""
    color: Color
    """Of the description (URDF material, MJCF geom or material), else of the mesh if it has only one, else `GREY`."""
    painted: bool
    """Whether `mesh.visual` holds colours by vertex or a texture, which count more than `color`, as in RViz."""


@dataclass(frozen=True, eq=False)
class Piece:
    """Triangles in the frame of a visual shape with one way of being coloured."""

    mesh: trimesh.Trimesh
    color: Color | None = None
    """The one colour that the mesh file gives it; None: it gives none, or `mesh.visual` holds many."""
    painted: bool = False
    """Whether `mesh.visual` holds colours by vertex or a texture."""


@dataclass(frozen=True, eq=False)
class VisualShape(Frozen):
    """A visual element of a description, not read yet."""

    name: str
    T_link_visual: Matrix4
    color: Color | None
    """What the description says; None where it says nothing."""
    load: Callable[[list[Note]], Sequence[Piece]]
    """Reads it. What could be read in part only is added to the notes; what cannot be read raises an ElbowroomError."""


class VisualSource(Protocol):
    """Where the visual shapes of a description are read from; picklable, and parsed once."""

    @property
    def shapes(self) -> Mapping[str, Sequence[VisualShape]]:
        """Visual shapes per link, by the names of the description; links without any are absent."""
        ...

    @property
    def faults(self) -> Mapping[str, Sequence[Note]]:
        """What of a link cannot be read at all."""
        ...


@dataclass(frozen=True, eq=False)
class KnownVisuals(Frozen):
    """Visual shapes that are at hand."""

    shapes: Mapping[str, Sequence[VisualShape]]
    faults: Mapping[str, Sequence[Note]]


def read_visuals(source: VisualSource, link: str) -> tuple[tuple[Visual, ...], tuple[Note, ...]]:
    """Reads all visuals of a link, and says what was left out and why.

    Args:
        source: of the description that the link is in.
        link: its name there.
    """
    try:
        shapes, notes = source.shapes.get(link, ()), [*source.faults.get(link, ())]
    except ElbowroomError as error:  # a file that was there when the robot was loaded
        return (), (_left_out(link, error),)
    found: list[Visual] = []
    for shape in shapes:
        try:
            pieces = shape.load(notes)
        except ElbowroomError as error:
            notes.append(_left_out(link, error))
            continue
        found += _visuals(shape, pieces)
    return tuple(_told_apart(found)), tuple(notes)


def _left_out(link: str, error: ElbowroomError) -> Note:
    return Note("skipped", link, f"a visual is left out: {error}")


def _visuals(shape: VisualShape, pieces: Sequence[Piece]) -> list[Visual]:
    """One visual for all pieces of plain colour, and one for each that is painted."""
    plain = [piece for piece in pieces if not piece.painted]
    visuals = [_plain(shape, plain)] if plain else []
    color = shape.color or GREY
    visuals += [Visual(shape.name, piece.mesh, color, True) for piece in pieces if piece.painted]
    for visual in visuals:
        visual.mesh.apply_transform(shape.T_link_visual)
    return visuals


def _plain(shape: VisualShape, pieces: Sequence[Piece]) -> Visual:
    """Pieces of plain colours as one mesh; with a colour per vertex if the colours differ."""
    colors = [piece.color or shape.color or GREY for piece in pieces]
    shared = dict.fromkeys(colors)
    mesh = _merged([piece.mesh for piece in pieces])
    if len(shared) == 1:
        return Visual(shape.name, mesh, next(iter(shared)), False)
    counts = [len(piece.mesh.vertices) for piece in pieces]
    rows = np.round(255 * np.array(colors)).astype(np.uint8)
    painted: Any = mesh
    painted.visual.vertex_colors = np.repeat(rows, counts, axis=0)
    return Visual(shape.name, mesh, shape.color or GREY, True)


def _merged(meshes: Sequence[trimesh.Trimesh]) -> trimesh.Trimesh:
    import trimesh

    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    vertices = np.concatenate([mesh.vertices for mesh in meshes])
    faces = np.concatenate([mesh.faces + start for mesh, start in zip(meshes, starts, strict=False)])
    return trimesh.Trimesh(vertices, faces, process=False)


def _told_apart(visuals: Sequence[Visual]) -> list[Visual]:
    """The visuals with names that differ: a name that was there before gets a number."""
    taken: set[str] = set()
    found: list[Visual] = []
    for visual in visuals:
        name, number = visual.name, 1
        while name in taken:
            number += 1
            name = f"{visual.name}_{number}"
        taken.add(name)
        found.append(Visual(name, visual.mesh, visual.color, visual.painted))
    return found


def primitive_loader(kind: ShapeKind, size: tuple[float, ...]) -> Callable[[list[Note]], Sequence[Piece]]:
    """What makes the triangles of a primitive; sizes as in `Shape.size`."""
    return partial(_primitive, kind, size)


def _primitive(kind: ShapeKind, size: tuple[float, ...], notes: list[Note]) -> tuple[Piece, ...]:
    from ._tessellate import TRIANGLES

    return (Piece(as_trimesh(TRIANGLES[kind](*size))),)


def as_trimesh(data: MeshData) -> trimesh.Trimesh:
    """A mesh of its own from triangles that are shared."""
    import trimesh

    return trimesh.Trimesh(data.vertices.copy(), data.faces.copy(), process=False)
