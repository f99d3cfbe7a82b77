"""URDF files and `yourdfpy.URDF` objects read into joints and shapes.

yourdfpy parses the elements, which `_urdf_elements` has checked and mended; this module is the only one that knows it.
The values are translated into our own types. Floating and planar joints are held still and noted.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from .._frozen import FrozenMap, frozen
from ..errors import DescriptionError
from ..typing import Matrix4
from ._mend import mend_joints
from ._meshfile import read_mesh
from ._parts import Parts
from ._resolve import MeshResolver, as_folders
from ._tessellate import primitive
from ._types import Coupling, Joint, JointType, Note, Shape
from ._urdf_elements import prepare
from ._urdf_visuals import UrdfVisuals


def parts_from_tree(
    tree: Any, path: Path, package_dirs: Iterable[str | os.PathLike[str]], use_visual: bool
) -> Parts:
    """Translates a parsed URDF file.

    Raises:
        DescriptionError: an element is broken; names file and line.
    """
    import yourdfpy

    where = str(path)
    root = tree.getroot()
    mended, visual_only = prepare(root, where, use_visual)
    capsules = _capsules_to_cylinders(root)
    try:
        urdf = yourdfpy.URDF.load(
            io.BytesIO(etree.tostring(tree)),
            build_scene_graph=False,
            load_meshes=False,
            load_collision_meshes=False,
        )
    except Exception as error:  # yourdfpy raises AttributeError, KeyError, ValueError ... for broken files
        raise DescriptionError(f"{where}: not a usable URDF: {type(error).__name__}: {error}") from error
    resolver = MeshResolver(path, package_dirs)
    parts = _translate(urdf.robot, where, lambda name: resolver.resolve(name, where), use_visual, capsules)
    parts.visual_only = visual_only
    parts.notes[:0] = [*mended, *resolver.mended]
    return parts


def parts_from_yourdfpy(urdf: Any, package_dirs: Iterable[str | os.PathLike[str]], use_visual: bool) -> Parts:
    """Translates a `yourdfpy.URDF`; meshes are found by its own filename handler, then by `package_dirs`."""
    where = f"yourdfpy.URDF {urdf.robot.name!r}"
    resolver = MeshResolver(None, package_dirs)

    def handled(address: str) -> Path | None:
        path = urdf._filename_handler(fname=address)
        return Path(path) if isinstance(path, (str, os.PathLike)) and Path(path).is_file() else None

    def resolve(address: str) -> Path:
        return handled(address) or resolver.resolve(address, where)

    parts = _translate(urdf.robot, where, resolve, use_visual, frozenset())
    parts.notes[:0] = resolver.mended
    meshes = [
        v.geometry.mesh for link in urdf.robot.links for v in link.visuals if v.geometry and v.geometry.mesh
    ]
    paths = {mesh.filename: path for mesh in meshes if (path := handled(mesh.filename))}
    found = {**paths, **{str(path): path for path in paths.values()}}  # it writes what its handler returned
    folders = tuple(as_folders(package_dirs))
    parts.visuals = UrdfVisuals(etree.tostring(urdf.write_xml()), None, folders, FrozenMap(found))
    return parts


def _capsules_to_cylinders(root: Any) -> frozenset[tuple[str, str, int]]:
    """yourdfpy does not know <capsule>: renames them to <cylinder> and returns (link, element, index) of each."""
    found: set[tuple[str, str, int]] = set()
    for link in root.findall("link"):
        for tag in ("collision", "visual"):
            for index, element in enumerate(link.findall(tag)):
                for capsule in element.findall("geometry/capsule"):
                    capsule.tag = "cylinder"
                    found.add((link.get("name"), tag, index))
    return frozenset(found)


def _translate(
    robot: Any,
    where: str,
    resolve: Callable[[str], Path],
    use_visual: bool,
    capsules: frozenset[tuple[str, str, int]],
) -> Parts:
    parts = Parts(name=robot.name, link_names=[link.name for link in robot.links], joints=[])
    carrier: dict[str, Any] = {}
    for joint in robot.joints:
        other = carrier.setdefault(joint.child, joint)
        if other is not joint:
            raise DescriptionError(
                f"{where}: link {joint.child!r} has two parents: joints {other.name!r} and {joint.name!r} "
                "both carry it; a robot must be a tree"
            )
    for joint in robot.joints:
        if joint.type in ("floating", "planar"):
            if joint.parent not in carrier:
                parts.floating_bases.append(joint.name)
            parts.notes.append(
                Note("held", joint.name, f"{joint.type} joint, held at its origin or at base_pose")
            )
        parts.joints.append(_joint(joint))
    parts.joints, mended = mend_joints(parts.joints)
    parts.notes += mended
    for link in robot.links:
        elements, tag = (link.collisions, "collision")
        if not elements and use_visual and link.visuals:
            elements, tag = (link.visuals, "visual")
            parts.notes.append(
                Note("approximated", link.name, "no collision geometry; its visual geometry is used")
            )
        elif not elements and link.visuals:
            parts.visual_only.append(link.name)
        shapes = [
            _shape(element, f"{where}: link {link.name!r}", resolve, (link.name, tag, index) in capsules)
            for index, element in enumerate(elements)
        ]
        parts.add_shapes(link.name, shapes)
    return parts


def _joint(joint: Any) -> Joint:
    kind: JointType = joint.type if joint.type in ("revolute", "continuous", "prismatic") else "fixed"
    axis = np.array([1.0, 0.0, 0.0] if joint.axis is None else joint.axis, dtype=np.float64)
    length = np.linalg.norm(axis)
    axis = axis / length if kind != "fixed" and length > 0 else axis
    limit = joint.limit

    def value(number: float | None, default: float) -> float:
        return default if number is None else float(number)

    lower, upper = (0.0, 0.0) if kind == "fixed" else (-math.inf, math.inf)
    velocity, effort = math.inf, math.inf
    if limit is not None:
        lower, upper = value(limit.lower, 0.0), value(limit.upper, 0.0)
        velocity, effort = value(limit.velocity, math.inf), value(limit.effort, math.inf)
    if kind == "continuous":
        lower, upper = -math.pi, math.pi
    coupling = None
    if joint.mimic is not None and kind != "fixed":
        coupling = Coupling(
            joint.mimic.joint, (value(joint.mimic.offset, 0.0), value(joint.mimic.multiplier, 1.0))
        )
    return Joint(
        name=joint.name,
        type=kind,
        parent=joint.parent,
        child=joint.child,
        T_parent_joint=_origin(joint.origin),
        axis=frozen(axis),
        lower=lower,
        upper=upper,
        velocity=velocity,
        effort=effort,
        coupling=coupling,
    )


def _origin(origin: Any) -> Matrix4:
    return frozen(np.eye(4) if origin is None else np.array(origin, dtype=np.float64))


def _shape(element: Any, where: str, resolve: Callable[[str], Path], is_capsule: bool) -> Shape:
    T_link_shape, geometry = _origin(element.origin), element.geometry
    if not np.all(np.isfinite(T_link_shape)):
        raise DescriptionError(f"{where}: the origin of a shape has NaN or infinite numbers")
    if geometry.mesh is not None:
        scale = np.broadcast_to(1.0 if geometry.mesh.scale is None else geometry.mesh.scale, 3)
        factors = tuple(map(float, scale))
        if 0.0 in factors and any(factors):
            raise DescriptionError(
                f"{where}: mesh {geometry.mesh.filename!r} has scale {factors}; it must not be flat"
            )
        path = resolve(geometry.mesh.filename)
        return Shape("mesh", T_link_shape, factors, partial(read_mesh, path, factors, where), str(path))
    if geometry.box is not None:
        return primitive("box", T_link_shape, tuple(map(float, geometry.box.size)))
    if geometry.sphere is not None:
        return primitive("sphere", T_link_shape, (float(geometry.sphere.radius),))
    if geometry.cylinder is not None:
        size = float(geometry.cylinder.radius), float(geometry.cylinder.length)
        return primitive("capsule" if is_capsule else "cylinder", T_link_shape, size)
    raise DescriptionError(f"{where}: a shape is neither mesh, box, cylinder, capsule nor sphere")
