"""URDF files and `yourdfpy.URDF` objects read into joints and shapes.

`_urdf_elements` has checked and mended the elements of a file. They are read into values with yourdfpy's names, so that
both kinds of source are translated into our own types by the same lines, and a file needs no yourdfpy, whose import
takes longer than all the rest. Floating and planar joints are held still and noted.

Joints that break a rule are mended where other loaders let them pass. The mended joint can do all that the described
one may have meant: a joint that follows nothing moves by itself, one without limits turns freely. A note says each;
`load_robot(strict=True)` refuses them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from ..._frozen import FrozenMap, frozen
from ...errors import DescriptionError
from ...typing import Matrix4
from .._tessellate import primitive
from .._types import MOVING, Coupling, Description, Joint, JointType, Note, Shape
from ._meshfile import read_mesh
from ._resolve import MeshResolver, as_folders
from ._urdf_elements import NUMBERS, prepare
from ._urdf_visuals import UrdfVisuals


def description_from_tree(
    tree: Any, path: Path, package_dirs: Iterable[str | os.PathLike[str]], use_visual: bool
) -> Description:
    """Translates a parsed URDF file.

    Raises:
        DescriptionError: an element is broken; names file and line.
    """
    where = str(path)
    root = tree.getroot()
    mended, visual_only = prepare(root, where, use_visual)
    resolver = MeshResolver(path, package_dirs)
    parts = _translate(_read(root), where, lambda name: resolver.resolve(name, where), use_visual)
    parts.visual_only = visual_only
    parts.notes[:0] = [*mended, *resolver.mended]
    return parts


def description_from_yourdfpy(
    urdf: Any, package_dirs: Iterable[str | os.PathLike[str]], use_visual: bool
) -> Description:
    """Translates a `yourdfpy.URDF`; meshes are found by its own filename handler, then by `package_dirs`."""
    where = f"yourdfpy.URDF {urdf.robot.name!r}"
    resolver = MeshResolver(None, package_dirs)

    def handled(address: str) -> Path | None:
        path = urdf._filename_handler(fname=address)
        return Path(path) if isinstance(path, (str, os.PathLike)) and Path(path).is_file() else None

    def resolve(address: str) -> Path:
        return handled(address) or resolver.resolve(address, where)

    parts = _translate(urdf.robot, where, resolve, use_visual)
    parts.notes[:0] = resolver.mended
    meshes = [
        v.geometry.mesh for link in urdf.robot.links for v in link.visuals if v.geometry and v.geometry.mesh
    ]
    paths = {mesh.filename: path for mesh in meshes if (path := handled(mesh.filename))}
    found = {**paths, **{str(path): path for path in paths.values()}}  # it writes what its handler returned
    folders = tuple(as_folders(package_dirs))
    parts.visuals = UrdfVisuals(etree.tostring(urdf.write_xml()), None, folders, FrozenMap(found))
    return parts


def _read(root: Any) -> SimpleNamespace:
    """The elements of a file as values, under the names that yourdfpy gives them."""
    return SimpleNamespace(
        name=root.get("name"),
        links=[
            SimpleNamespace(
                name=link.get("name"),
                collisions=[_read_shape(element) for element in link.findall("collision")],
                visuals=[_read_shape(element) for element in link.findall("visual")],
            )
            for link in root.findall("link")
        ],
        joints=[
            SimpleNamespace(
                name=joint.get("name"),
                type=joint.get("type"),
                parent=joint.find("parent").get("link"),
                child=joint.find("child").get("link"),
                origin=_read_origin(joint.find("origin")),
                axis=_numbers(joint.find("axis"), "xyz"),
                limit=_read_numbers(joint.find("limit")),
                mimic=_read_numbers(joint.find("mimic")),
            )
            for joint in root.findall("joint")
        ],
    )


def _read_shape(element: Any) -> SimpleNamespace:
    shape = element.find("geometry/*")
    found = SimpleNamespace(mesh=None, box=None, sphere=None, cylinder=None, capsule=None)
    if shape.tag == "mesh":
        found.mesh = SimpleNamespace(filename=shape.get("filename"), scale=_numbers(shape, "scale"))
    elif shape.tag == "box":
        found.box = SimpleNamespace(size=_numbers(shape, "size"))
    else:
        setattr(found, shape.tag, _read_numbers(shape))
    return SimpleNamespace(origin=_read_origin(element.find("origin")), geometry=found)


def _read_numbers(element: Any) -> SimpleNamespace | None:
    """The attributes of an element that each are one number, None where they are not given; and the joint it names."""
    if element is None:
        return None
    values = {
        name: None if (text := element.get(name)) is None else float(text) for name in NUMBERS[element.tag]
    }
    return SimpleNamespace(joint=element.get("joint"), **values)


def _numbers(element: Any, name: str) -> list[float] | None:
    """The numbers of an attribute; None where it is not given or empty."""
    text = "" if element is None else element.get(name, "")
    return [float(word) for word in text.split()] or None


def _read_origin(element: Any) -> Matrix4 | None:
    """The pose of an `<origin>`: roll, pitch and yaw about fixed axes, then the translation."""
    if element is None:
        return None
    angles = np.array(_numbers(element, "rpy") or (0.0, 0.0, 0.0))
    (si, sj, sk), (ci, cj, ck) = np.sin(angles), np.cos(angles)
    T = np.eye(4)
    T[:3, :3] = (
        (cj * ck, sj * (si * ck) - ci * sk, sj * (ci * ck) + si * sk),
        (cj * sk, sj * (si * sk) + ci * ck, sj * (ci * sk) - si * ck),
        (-sj, cj * si, cj * ci),
    )
    T[:3, 3] = _numbers(element, "xyz") or (0.0, 0.0, 0.0)
    return T + 0.0  # no -0, which would count as another robot in hashes


def _translate(
    robot: Any,
    where: str,
    resolve: Callable[[str], Path],
    use_visual: bool,
) -> Description:
    parts = Description(name=robot.name, link_names=[link.name for link in robot.links], joints=[])
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
        elements = link.collisions
        if not elements and use_visual and link.visuals:
            elements = link.visuals
            parts.notes.append(
                Note("approximated", link.name, "no collision geometry; its visual geometry is used")
            )
        elif not elements and link.visuals:
            parts.visual_only.append(link.name)
        parts.add_shapes(
            link.name, [_shape(element, f"{where}: link {link.name!r}", resolve) for element in elements]
        )
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


def _shape(element: Any, where: str, resolve: Callable[[str], Path]) -> Shape:
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
    for kind in ("cylinder", "capsule"):  # yourdfpy knows no capsule
        if (found := getattr(geometry, kind, None)) is not None:
            return primitive(kind, T_link_shape, (float(found.radius), float(found.length)))
    raise DescriptionError(f"{where}: a shape is neither mesh, box, cylinder, capsule nor sphere")


TINY_AXIS = 1e-9
"""An axis shorter than this has no direction."""

Mended = tuple[Joint, str] | None
"""A joint and what was done to it, or nothing where the rule is kept."""


def mend_joints(joints: Sequence[Joint]) -> tuple[list[Joint], list[Note]]:
    """The joints with usable axes, couplings and limits, and what was done to them."""
    result, notes = list(joints), list[Note]()
    for rule in (_axis, _coupling, _velocity, _order, _bounds):  # a joint that was freed needs bounds
        for i, joint in enumerate(result):
            mended = rule(joint, result) if joint.type in MOVING else None
            if mended is not None:
                result[i] = mended[0]
                notes.append(Note("mended", joint.name, mended[1]))
    return result, notes


def _axis(joint: Joint, joints: Sequence[Joint]) -> Mended:
    if not np.linalg.norm(joint.axis) < TINY_AXIS:
        return None
    held = replace(joint, type="fixed", axis=frozen(np.array([1.0, 0.0, 0.0])), coupling=None)
    return held, "its axis is zero, so it cannot move; it is held at 0"


def _coupling(joint: Joint, joints: Sequence[Joint]) -> Mended:
    """Follows the couplings from a joint on: they must end at a joint that moves by itself."""
    if joint.coupling is None:
        return None
    by_name = {other.name: other for other in joints if other.type in MOVING}
    driver = joint.coupling.driver
    fault = ""
    if driver not in by_name:
        fixed = any(other.name == driver for other in joints)
        fault = f"{driver!r}, which does not {'move' if fixed else 'exist'}"
    chain, current = [joint.name], by_name.get(driver)
    while not fault and current is not None and current.coupling is not None:
        if current.name in chain:
            fault = f"itself: {' -> '.join([*chain, current.name])}"
        chain.append(current.name)
        current = by_name.get(current.coupling.driver)
    return (replace(joint, coupling=None), f"it mimics {fault}; it moves by itself") if fault else None


def _velocity(joint: Joint, joints: Sequence[Joint]) -> Mended:
    if not joint.velocity < 0:
        return None
    return replace(
        joint, velocity=-joint.velocity
    ), f"its velocity limit {joint.velocity:g} is read without its sign"


def _order(joint: Joint, joints: Sequence[Joint]) -> Mended:
    if not joint.lower > joint.upper:
        return None
    swapped = replace(joint, lower=joint.upper, upper=joint.lower)
    return swapped, f"its limits {joint.lower:g} to {joint.upper:g} are the wrong way round; they are swapped"


def _bounds(joint: Joint, joints: Sequence[Joint]) -> Mended:
    """A joint that moves by itself needs limits; one that turns and has none turns freely."""
    if joint.coupling is not None or not math.isinf(joint.upper - joint.lower):
        return None
    if joint.type == "prismatic":
        return joint, "nothing limits how far it slides; give it limits to sample its range"
    if math.isinf(joint.lower) and math.isinf(joint.upper):
        return replace(
            joint, type="continuous", lower=-math.pi, upper=math.pi
        ), "nothing limits it; it turns freely"
    lower = joint.upper - math.tau if math.isinf(joint.lower) else joint.lower
    upper = lower + math.tau
    return replace(joint, lower=lower, upper=upper), "one of its limits is infinite; it gets one full turn"
