"""Geoms of a compiled MJCF that are to be looked at.

MuJoCo shows geoms by group and colours them by `rgba`, unless that is its default and there is a material. Authors part
what is seen from what collides: a visual geom collides with nothing (contype and conaffinity 0). So a body shows its
geoms that collide with nothing, and of those that collide the ones in the same groups, which MuJoCo cannot show apart;
a body whose geoms all collide shows them. What is wholly transparent is left out, as MuJoCo does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from ..._frozen import Frozen, FrozenMap, frozen
from ..._poses import matrix_from_wxyz_xyz
from .._types import Note, ShapeKind
from .._visuals import Color, KnownVisuals, Piece, VisualShape, as_trimesh, primitive_loader
from ._meshfile import check_triangles, clean_triangles

UNSET = (0.5, 0.5, 0.5, 1.0)
"""MuJoCo's `rgba` of a geom that gives none; a material counts then."""


@dataclass(frozen=True, eq=False)
class MjcfVisuals(Frozen):
    """The visual geoms of an MJCF file by body. The file is compiled again: a loaded robot keeps none of them."""

    path: Path
    package_dirs: tuple[Path, ...] = ()

    @cached_property
    def _known(self) -> KnownVisuals:
        from ._mjcf import model_from_file

        return visuals_of_model(model_from_file(self.path, self.package_dirs))

    @property
    def shapes(self) -> Mapping[str, Sequence[VisualShape]]:
        """Visual shapes per body."""
        return self._known.shapes

    @property
    def faults(self) -> Mapping[str, Sequence[Note]]:
        """Geoms that have no finite mesh."""
        return self._known.faults


def visuals_of_model(model: Any) -> KnownVisuals:
    """Visual geoms of an MjModel; what they need of it is copied."""
    from ._mjcf import body_names

    shapes: dict[str, list[VisualShape]] = {}
    faults: dict[str, list[Note]] = {}
    for body, name in enumerate(body_names(model)):
        for geom in shown_geoms(model, body):
            shape = _shape(model, geom)
            if isinstance(shape, Note):
                faults.setdefault(name, []).append(Note("skipped", name, shape.text))
            else:
                shapes.setdefault(name, []).append(shape)
    return KnownVisuals(FrozenMap(shapes), FrozenMap(faults))


def shown_geoms(model: Any, body: int) -> list[int]:
    """Numbers of the geoms that a body is seen by."""
    first, count = int(model.body_geomadr[body]), int(model.body_geomnum[body])
    geoms = [geom for geom in range(first, first + count) if geom_color(model, geom)[3] > 0]
    only_seen = [geom for geom in geoms if not (model.geom_contype[geom] or model.geom_conaffinity[geom])]
    groups = {int(model.geom_group[geom]) for geom in only_seen}
    return [geom for geom in geoms if not groups or int(model.geom_group[geom]) in groups]


def geom_color(model: Any, geom: int) -> Color:
    """The colour that MuJoCo shows a geom in."""
    own, material = model.geom_rgba[geom], int(model.geom_matid[geom])
    given = material < 0 or any(float(value) != unset for value, unset in zip(own, UNSET, strict=True))
    red, green, blue, opacity = (float(value) for value in (own if given else model.mat_rgba[material]))
    return red, green, blue, opacity


def _shape(model: Any, geom: int) -> VisualShape | Note:
    import mujoco

    types: Any = mujoco.mjtGeom  # pyright: ignore[reportAttributeAccessIssue]
    kinds: dict[int, ShapeKind] = {
        int(types.mjGEOM_BOX): "box",
        int(types.mjGEOM_SPHERE): "sphere",
        int(types.mjGEOM_ELLIPSOID): "ellipsoid",
        int(types.mjGEOM_CYLINDER): "cylinder",
        int(types.mjGEOM_CAPSULE): "capsule",
    }
    kind = int(model.geom_type[geom])
    name = model.geom(geom).name or f"geom_{geom}"
    T = frozen(matrix_from_wxyz_xyz(np.concatenate([model.geom_quat[geom], model.geom_pos[geom]])))
    if kind == int(types.mjGEOM_MESH):
        return VisualShape(name, T, geom_color(model, geom), _mesh_loader(model, geom))
    if kind not in kinds:
        label = types(kind).name.removeprefix("mjGEOM_").lower()
        return Note("skipped", name, f"a visual {label} geom ({name}) has no finite mesh")
    a, b, c = (float(value) for value in model.geom_size[geom])
    sizes: dict[ShapeKind, tuple[float, ...]] = {
        "box": (2 * a, 2 * b, 2 * c),
        "sphere": (a,),
        "ellipsoid": (a, b, c),
        "cylinder": (a, 2 * b),
        "capsule": (a, 2 * b),
    }
    return VisualShape(name, T, geom_color(model, geom), primitive_loader(kinds[kind], sizes[kinds[kind]]))


def _mesh_loader(model: Any, geom: int) -> Any:
    """Copies of a mesh's triangles, and of its texture where it has one and is laid out for it."""
    mesh = int(model.geom_dataid[geom])
    vertices = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]].copy()
    start, count = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    faces = model.mesh_face[start : start + count].copy()
    where = f"MJCF mesh {model.mesh(mesh).name!r}"
    pixels = _texture(model, int(model.geom_matid[geom]))
    if pixels is None or model.mesh_texcoordadr[mesh] < 0:
        return partial(_plain, vertices, faces, where)
    uv = model.mesh_texcoord[model.mesh_texcoordadr[mesh] :][: model.mesh_texcoordnum[mesh]].copy()
    return partial(
        _textured, vertices, faces, uv, model.mesh_facetexcoord[start : start + count].copy(), pixels, where
    )


def _texture(model: Any, material: int) -> np.ndarray | None:
    """Pixels (height, width, channels) of a material's flat texture; None if it has none."""
    import mujoco

    roles: Any = mujoco.mjtTextureRole  # pyright: ignore[reportAttributeAccessIssue]
    types: Any = mujoco.mjtTexture  # pyright: ignore[reportAttributeAccessIssue]
    if material < 0:
        return None
    options = (
        int(model.mat_texid[material, int(role)]) for role in (roles.mjTEXROLE_RGB, roles.mjTEXROLE_RGBA)
    )
    texture = max(options)
    if texture < 0 or int(model.tex_type[texture]) != int(types.mjTEXTURE_2D):
        return None
    shape = tuple(int(part[texture]) for part in (model.tex_height, model.tex_width, model.tex_nchannel))
    start = int(model.tex_adr[texture])
    return model.tex_data[start : start + int(np.prod(shape))].reshape(shape).copy()


def _plain(vertices: np.ndarray, faces: np.ndarray, where: str, notes: list[Note]) -> tuple[Piece, ...]:
    data = clean_triangles(vertices.astype(np.float64), faces.astype(np.int64), np.ones(3), where)
    return (Piece(as_trimesh(data)),)


def _textured(
    vertices: np.ndarray,
    faces: np.ndarray,
    uv: np.ndarray,
    uv_faces: np.ndarray,
    pixels: np.ndarray,
    where: str,
    notes: list[Note],
) -> tuple[Piece, ...]:
    """A corner with another place in the texture is a vertex of its own."""
    import trimesh
    from PIL import Image
    from trimesh.visual import TextureVisuals

    check_triangles(vertices, faces, where)
    corners, inverse = np.unique(
        np.stack([faces.ravel(), uv_faces.ravel()], axis=1), axis=0, return_inverse=True
    )
    place = uv[corners[:, 1]].astype(np.float64)
    place[:, 1] = 1.0 - place[:, 1]  # MuJoCo counts rows from the top of the picture, trimesh from the bottom
    image = Image.fromarray(pixels.squeeze())
    mesh = trimesh.Trimesh(
        vertices[corners[:, 0]].astype(np.float64),
        inverse.reshape(faces.shape),
        process=False,
        visual=TextureVisuals(uv=place, image=image),
    )
    return (Piece(mesh, painted=True),)
