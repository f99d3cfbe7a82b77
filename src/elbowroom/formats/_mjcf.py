"""MJCF with sphere geoms and excluded pairs.

A robot that came from an MJCF file keeps that file: its other geoms stay visible but no longer collide,
spheres are added to the bodies, comments and order stay. A robot from elsewhere gets a new file with the
same tree, joints, limits and couplings, and only spheres. Numbers are written in full; MuJoCo's own
writer keeps six digits, which can make a sphere that just covers a link too small.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from .._poses import as_wxyz_xyz
from .._xml import parse_xml, read_xml
from ..errors import InputError
from ..robot import Joint, Robot
from ..spheres import SphereModel
from ..typing import LinkPair
from ._contents import Contents, for_robot, ignored_pairs, pair, write_bytes
from ._urdf import read_description
from ._yaml import lost_names, lost_objects

FORMAT = "mjcf"
LEAST_MASS, LEAST_INERTIA = 1e-6, 1e-9
"""For links without spheres, which MuJoCo would refuse to move without any mass (kg, kg m^2)."""


def read_mjcf(path: str | Path, robot: Robot | None = None) -> Contents:
    """Reads an MJCF file: the robot, the sphere geoms that collide, and the excluded pairs."""
    import mujoco

    path = Path(path)
    contents = read_description(path, robot, FORMAT)
    spec: Any = mujoco.MjSpec.from_file(str(path))  # pyright: ignore[reportAttributeAccessIssue]
    excluded = {pair(entry.bodyname1, entry.bodyname2, f"{path}: exclude"): "" for entry in spec.excludes}
    return Contents(FORMAT, contents.spheres, excluded, contents.robot, contents.notes)


def write_mjcf(
    path: str | Path, *, robot: Robot | None = None, spheres: SphereModel | None = None, pairs: Any = None
) -> tuple[str, ...]:
    """Writes the robot as MJCF with spheres as its colliding geoms and ignored pairs as excludes.

    Returns:
        What the format cannot hold, and what to mind.

    Raises:
        InputError: no robot or no spheres, or a model that is spread over included files.
    """
    path = Path(path)
    if spheres is None or robot is None:
        raise InputError(f"{path}: MJCF needs a robot and its spheres")
    model, ignored = for_robot(spheres, robot), ignored_pairs(pairs)
    lost = [*lost_names(ignored), *lost_objects(spheres)]
    if model.self_padding or model.world_padding:
        lost.append("padding is not kept by MJCF")
    tree = read_xml(robot.path, "description") if robot.path is not None else None
    if tree is None or tree.getroot().tag != "mujoco":
        tree = _tree_of(robot)
        lost.append("masses are those of the spheres, not the robot's")
    elif robot.path is not None and path.parent.resolve() != robot.path.parent.resolve():
        lost += _anchor_assets(tree.getroot(), robot.path.parent)
    root = tree.getroot()
    _write_spheres(root, model, path)
    if pairs is not None:
        _write_excludes(root, ignored)
    write_bytes(path, etree.tostring(tree, xml_declaration=True, encoding="utf-8", pretty_print=True))
    return tuple(lost)


def _write_spheres(root: Any, model: SphereModel, path: Path) -> None:
    bodies = {body.get("name"): body for body in root.iter("body")}
    bodies["world"] = root.find("worldbody")
    missing = [link for link in model.counts if bodies.get(link) is None]
    if missing:
        raise InputError(
            f"{path}: the body {missing[0]!r} is not in the robot's main file; join its included files into one first"
        )
    for geom in list(root.find("worldbody").iter("geom")):
        if (geom.get("name") or "").startswith(SPHERE_PREFIX):
            geom.getparent().remove(geom)
        else:
            geom.set("contype", "0")
            geom.set("conaffinity", "0")
    for link in model.counts:
        for index, (center, radius) in enumerate(zip(*model.link(link), strict=True)):
            etree.SubElement(
                bodies[link],
                "geom",
                name=f"{SPHERE_PREFIX}{link}:{index}",
                type="sphere",
                size=repr(float(radius)),
                pos=_text(center),
                contype="1",
                conaffinity="1",
            )


SPHERE_PREFIX = "sphere:"
"""Names of our geoms begin so; writing again replaces them."""


def _write_excludes(root: Any, ignored: Mapping[LinkPair, str]) -> None:
    for element in list(root.iter("exclude")):
        element.getparent().remove(element)
    contact = root.find("contact")
    if contact is None:
        contact = etree.SubElement(root, "contact")
    for a, b in sorted(ignored):
        etree.SubElement(contact, "exclude", body1=a, body2=b)


def _anchor_assets(root: Any, folder: Path) -> list[str]:
    """Makes asset folders absolute, so that they hold in another place."""
    if root.find("asset") is None and not list(root.iter("include")):
        return []
    compiler = root.find("compiler")
    if compiler is None:
        compiler = etree.Element("compiler")
        root.insert(0, compiler)
    shared = compiler.get("assetdir", "")
    for attribute in ("meshdir", "texturedir"):
        compiler.set(attribute, str((folder / compiler.get(attribute, shared)).resolve()))
    return ["asset folders became absolute, for the file is in another folder; load it with package_dirs"]


def _tree_of(robot: Robot) -> Any:
    """A new MJCF with the robot's tree, joints, limits and couplings."""
    root = etree.Element("mujoco", model=robot.name)
    etree.SubElement(
        root,
        "compiler",
        angle="radian",
        autolimits="true",
        boundmass=repr(LEAST_MASS),
        boundinertia=repr(LEAST_INERTIA),
    )
    world = etree.SubElement(root, "worldbody")
    root_pose = np.concatenate([robot.tree.quat_cos[0], robot.tree.shift[0]])
    bodies = {robot.tree.root: _body(world, robot.tree.root, root_pose)}
    waiting = list(robot.child_joints(robot.tree.root))
    while waiting:
        joint = waiting.pop(0)
        if not np.array_equal(joint.T_joint_child, np.eye(4)):
            raise InputError(
                f"joint {joint.name!r} is not at its link's origin; write from the MJCF file instead"
            )
        body = bodies[joint.child] = _body(
            bodies[joint.parent], joint.child, as_wxyz_xyz(joint.T_parent_joint)
        )
        if joint.type != "fixed":
            _joint(body, joint)
        waiting += robot.child_joints(joint.child)
    coupled = [joint for joint in robot.tree.moving if joint.coupling is not None]
    equality = etree.SubElement(root, "equality") if coupled else None
    for joint in coupled:
        assert joint.coupling is not None
        coefficients = np.zeros(5)
        coefficients[: len(joint.coupling.polycoef)] = joint.coupling.polycoef
        names = {"joint1": joint.name, "joint2": joint.coupling.driver}
        etree.SubElement(equality, "joint", **names, polycoef=_text(coefficients))
    return parse_xml(etree.tostring(root), robot.name)


def _body(parent: Any, name: str, pose: np.ndarray) -> Any:
    return etree.SubElement(parent, "body", name=name, pos=_text(pose[4:]), quat=_text(pose[:4]))


def _joint(body: Any, joint: Joint) -> None:
    kind = "slide" if joint.type == "prismatic" else "hinge"
    attributes = {"name": joint.name, "type": kind, "axis": _text(joint.axis)}
    if joint.type != "continuous" and np.isfinite(joint.upper - joint.lower) and joint.upper > joint.lower:
        attributes["range"] = _text(np.array([joint.lower, joint.upper]))
    etree.SubElement(body, "joint", **attributes)


def _text(values: np.ndarray) -> str:
    return " ".join(map(repr, np.asarray(values, dtype=float).tolist()))
