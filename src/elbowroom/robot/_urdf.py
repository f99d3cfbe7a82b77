"""URDF files and `yourdfpy.URDF` objects read into joints and shapes.

yourdfpy parses the elements; this module is the only one that knows it. Before parsing, every number
of the file is checked so that a fault is reported with its line; afterwards the values are translated
into our own types. Floating and planar joints are held still and noted.
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

from .._frozen import frozen
from .._xml import at_line, numbers
from ..errors import DescriptionError
from ..typing import Matrix4
from ._meshfile import read_mesh
from ._parts import Parts
from ._resolve import MeshResolver
from ._tessellate import box_mesh, capsule_mesh, cylinder_mesh, sphere_mesh
from ._types import Coupling, Joint, JointType, MeshData, Note, Shape

_NUMBERS: dict[str, dict[str, int | tuple[int, ...]]] = {
    "origin": {"xyz": 3, "rpy": 3},
    "axis": {"xyz": 3},
    "limit": {"lower": 1, "upper": 1, "velocity": 1, "effort": 1},
    "mimic": {"multiplier": 1, "offset": 1},
    "mesh": {"scale": (1, 3)},
    "box": {"size": 3},
    "cylinder": {"radius": 1, "length": 1},
    "capsule": {"radius": 1, "length": 1},
    "sphere": {"radius": 1},
    "mass": {"value": 1},
}
_REQUIRED: dict[str, tuple[str, ...]] = {
    "parent": ("link",),
    "child": ("link",),
    "mimic": ("joint",),
    "mesh": ("filename",),
    "box": ("size",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "sphere": ("radius",),
}
_JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")


def parts_from_tree(
    tree: Any, path: Path, package_dirs: Iterable[str | os.PathLike[str]], use_visual: bool
) -> Parts:
    """Translates a parsed URDF file.

    Raises:
        DescriptionError: the file is not a URDF or an element is broken; names file and line.
    """
    import yourdfpy

    where = str(path)
    root = tree.getroot()
    _check_elements(where, root)
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
    return _translate(urdf.robot, where, lambda name: resolver.resolve(name, where), use_visual, capsules)


def parts_from_yourdfpy(urdf: Any, package_dirs: Iterable[str | os.PathLike[str]], use_visual: bool) -> Parts:
    """Translates a `yourdfpy.URDF`; meshes are found by its own filename handler, then by `package_dirs`."""
    where = f"yourdfpy.URDF {urdf.robot.name!r}"
    resolver = MeshResolver(None, package_dirs)

    def resolve(address: str) -> Path:
        handled = urdf._filename_handler(fname=address)
        found = isinstance(handled, (str, os.PathLike)) and Path(handled).is_file()
        return Path(handled) if found else resolver.resolve(address, where)

    return _translate(urdf.robot, where, resolve, use_visual, frozenset())


def _check_elements(where: str, root: Any) -> None:
    """Checks names, references and numbers of every element that matters, by line."""
    if root.tag != "robot":
        raise DescriptionError(f"{where}: expected a URDF with root <robot>, found <{root.tag}>")
    if any("xacro" in (uri or "") for uri in root.nsmap.values()) and root.xpath(
        "//*[contains(name(), 'xacro:')]"
    ):
        raise DescriptionError(
            f"{where}: this is a xacro file; expand it first: xacro {Path(where).name} > robot.urdf"
        )
    root.set("name", root.get("name") or Path(where).stem)
    for element in root.iter(etree.Element):
        attributes = (
            *_REQUIRED.get(element.tag, ()),
            *(("name",) if element.getparent() is root and element.tag in ("link", "joint") else ()),
        )
        for attribute in attributes:
            if element.get(attribute) is None and not _is_transmission(element):
                raise DescriptionError(f"{at_line(where, element)}: attribute {attribute!r} is missing")
        for attribute, count in _NUMBERS.get(element.tag, {}).items():
            values = numbers(where, element, attribute, count)
            if values is not None and "," in element.get(attribute):
                element.set(
                    attribute, element.get(attribute).replace(",", " ")
                )  # yourdfpy splits at spaces only
            positive = element.tag in ("box", "cylinder", "capsule", "sphere")
            if positive and values is not None and min(values) < 0:
                raise DescriptionError(
                    f"{at_line(where, element)}: {attribute} is negative: {element.get(attribute)}"
                )
    for joint in root.findall("joint"):
        _check_joint_element(where, joint)
    for geometry in root.xpath("./link/collision | ./link/visual"):
        shape = geometry.find("geometry")
        if shape is None or len(shape.xpath("./*")) != 1:
            raise DescriptionError(
                f"{at_line(where, geometry)}: expected one <geometry> with one shape in it"
            )


def _is_transmission(element: Any) -> bool:
    return any(
        parent.tag not in ("link", "joint", "robot", "collision", "visual", "geometry")
        for parent in element.iterancestors()
    )


def _check_joint_element(where: str, joint: Any) -> None:
    kind = joint.get("type")
    if kind not in _JOINT_TYPES:
        raise DescriptionError(
            f"{at_line(where, joint)}: type {kind!r}; allowed are {', '.join(_JOINT_TYPES)}"
        )
    for end in ("parent", "child"):
        if joint.find(end) is None:
            raise DescriptionError(f"{at_line(where, joint)}: <{end}> is missing")
    if kind in ("revolute", "prismatic") and joint.find("limit") is None and joint.find("mimic") is None:
        raise DescriptionError(f"{at_line(where, joint)}: a {kind} joint needs <limit lower= upper=>")


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
        parts.joints.append(_joint(joint, where))
    for link in robot.links:
        elements, tag = (link.collisions, "collision")
        if not elements and use_visual and link.visuals:
            elements, tag = (link.visuals, "visual")
            parts.notes.append(
                Note("approximated", link.name, "no collision geometry; its visual geometry is used")
            )
        shapes = [
            _shape(element, f"{where}: link {link.name!r}", resolve, (link.name, tag, index) in capsules)
            for index, element in enumerate(elements)
        ]
        parts.add_shapes(link.name, shapes)
    return parts


def _joint(joint: Any, where: str) -> Joint:
    kind: JointType = joint.type if joint.type in ("revolute", "continuous", "prismatic") else "fixed"
    axis = np.array([1.0, 0.0, 0.0] if joint.axis is None else joint.axis, dtype=np.float64)
    length = np.linalg.norm(axis)
    if kind != "fixed":
        if axis.shape != (3,) or not np.isfinite(length) or length < 1e-9:
            raise DescriptionError(
                f"{where}: joint {joint.name!r}: its axis {axis.tolist()} must be a finite, non-zero vector"
            )
        axis = axis / length
    limit = joint.limit

    def value(number: float | None, default: float) -> float:
        return default if number is None else float(number)

    lower, upper, velocity, effort = 0.0, 0.0, math.inf, math.inf
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
        if limit is None and kind != "continuous":
            lower, upper = -math.inf, math.inf
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

    def make(kind: Any, size: tuple[float, ...], load: Callable[[], MeshData], source: str = "") -> Shape:
        return Shape(kind, T_link_shape, size, load, source)

    if geometry.mesh is not None:
        scale = np.broadcast_to(1.0 if geometry.mesh.scale is None else geometry.mesh.scale, 3)
        factors = tuple(map(float, scale))
        if 0.0 in factors:
            raise DescriptionError(
                f"{where}: mesh {geometry.mesh.filename!r} has scale {factors}; it must not be zero"
            )
        path = resolve(geometry.mesh.filename)
        return make("mesh", factors, partial(read_mesh, path, factors, where), str(path))
    if geometry.box is not None:
        size = tuple(map(float, geometry.box.size))
        return make("box", size, partial(box_mesh, size))
    if geometry.sphere is not None:
        radius = float(geometry.sphere.radius)
        return make("sphere", (radius,), partial(sphere_mesh, radius))
    if geometry.cylinder is not None:
        radius, length = float(geometry.cylinder.radius), float(geometry.cylinder.length)
        if is_capsule:
            return make("capsule", (radius, length), partial(capsule_mesh, radius, length))
        return make("cylinder", (radius, length), partial(cylinder_mesh, radius, length))
    raise DescriptionError(f"{where}: a shape is neither mesh, box, cylinder, capsule nor sphere")
