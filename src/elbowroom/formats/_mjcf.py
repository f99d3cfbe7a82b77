"""MJCF with sphere geoms and excluded pairs.

A robot that came from an MJCF file keeps that file: its other geoms stay visible but no longer collide,
spheres without mass are added to the bodies, comments and order stay. A robot from elsewhere gets a new file with the
same tree, joints, limits and couplings, and only spheres. Numbers are written in full; MuJoCo's own
writer keeps six digits, which can make a sphere that just covers a link too small.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from .._xml import read_xml
from ..errors import InputError
from ..robot import Robot, description_tree
from ..spheres import SphereModel
from ..typing import LinkPair
from ._contents import Contents, for_robot, ignored_pairs, lost_of_pairs, lost_spheres, pair, write_bytes
from ._mjcf_tree import WORLD, text_of, tree_of
from ._urdf import read_description

FORMAT = "mjcf"
SPHERE_PREFIX = "sphere:"
"""Names of our geoms begin so; writing again replaces them."""


def read_mjcf(path: str | Path, robot: Robot | None = None) -> Contents:
    """Reads an MJCF file: the robot, the sphere geoms that collide, and the excluded pairs."""
    import mujoco

    path = Path(path)
    contents = read_description(path, robot, FORMAT)
    # Not the robot's own disabled pairs, which leave out those with a world that is no link of it.
    spec: Any = mujoco.MjSpec.from_file(str(path))  # pyright: ignore[reportAttributeAccessIssue]
    excluded = {pair(entry.bodyname1, entry.bodyname2, f"{path}: exclude"): "" for entry in spec.excludes}
    return replace(contents, ignored=excluded)


def write_mjcf(
    path: str | Path, *, robot: Robot | None = None, spheres: SphereModel | None = None, pairs: Any = None
) -> tuple[str, ...]:
    """Writes the robot as MJCF with spheres as its colliding geoms and ignored pairs as excludes.

    Returns:
        What the format cannot hold, and what to mind.

    Raises:
        InputError: no robot or no spheres, a model that is spread over included files, or a robot with a link
            called `world` that is not MuJoCo's.
    """
    path = Path(path)
    if spheres is None or robot is None:
        raise InputError(f"{path}: MJCF needs a robot and its spheres")
    model, ignored = for_robot(spheres, robot), ignored_pairs(pairs)
    lost = [*lost_of_pairs(pairs, ignored), *lost_spheres(spheres, "MJCF")]
    tree = description_tree(robot)
    massive: set[str] | None = None
    if robot.path is None or tree is None or tree.getroot().tag != "mujoco":
        tree, more = tree_of(robot)
        lost += ["masses are those of the spheres, not the robot's", *more]
    else:
        root, folder = tree.getroot(), robot.path.parent
        included = _included(root, folder)
        if any(
            inner.find("worldbody") is not None or inner.find(".//body") is not None for _, inner in included
        ):
            lost.append("geoms of bodies in included files still collide; only the main file is changed")
        if path.parent.resolve() != folder.resolve():
            lost += _anchor_includes(included, folder, path)
            lost += _anchor_assets(root, folder)
        massive = _massive_spheres(root)
        if massive & set(model.counts):
            links = ", ".join(sorted(massive & set(model.counts)))
            lost.append(f"masses of these links are those of their spheres, as in the file before: {links}")
    root = tree.getroot()
    _write_spheres(root, model, path, massive)
    if pairs is not None:
        _write_excludes(root, ignored)
    write_bytes(path, etree.tostring(tree, xml_declaration=True, encoding="utf-8", pretty_print=True))
    return tuple(lost)


def _massive_spheres(root: Any) -> set[str]:
    """Bodies whose mass comes from spheres of ours, in a file that we wrote for a robot from elsewhere."""
    found: set[str] = set()
    for body in root.iter("body"):
        if body.find("inertial") is None:
            ours = [g for g in body.findall("geom") if (g.get("name") or "").startswith(SPHERE_PREFIX)]
            if any(geom.get("mass") is None for geom in ours):
                found.add(body.get("name"))
    return found


def _write_spheres(root: Any, model: SphereModel, path: Path, massive: set[str] | None) -> None:
    """Replaces our spheres and silences other geoms; only spheres of `massive` (None: all) links have mass."""
    worlds = root.findall("worldbody")
    if not worlds:
        raise InputError(
            f"{path}: the robot's main file has no <worldbody>; join its included files into one first"
        )
    bodies = {body.get("name"): body for body in root.iter("body")}
    bodies[WORLD] = worlds[0]
    missing = [link for link in model.counts if bodies.get(link) is None]
    if missing:
        raise InputError(
            f"{path}: the body {missing[0]!r} is not in the robot's main file; join its included files into one first"
        )
    for geom in [geom for world in worlds for geom in world.iter("geom")]:
        if (geom.get("name") or "").startswith(SPHERE_PREFIX):
            geom.getparent().remove(geom)
        else:
            geom.set("contype", "0")
            geom.set("conaffinity", "0")
    for link in model.counts:
        mass = {} if massive is None or link in massive else {"mass": "0"}
        for index, (center, radius) in enumerate(zip(*model.link(link), strict=True)):
            etree.SubElement(
                bodies[link],
                "geom",
                name=f"{SPHERE_PREFIX}{link}:{index}",
                type="sphere",
                size=repr(float(radius)),
                pos=text_of(center),
                contype="1",
                conaffinity="1",
                **mass,
            )


def _write_excludes(root: Any, ignored: Mapping[LinkPair, str]) -> None:
    for element in list(root.iter("exclude")):
        element.getparent().remove(element)
    contact = root.find("contact")
    if contact is None:
        contact = etree.SubElement(root, "contact")
    for a, b in sorted(ignored):
        etree.SubElement(contact, "exclude", body1=a, body2=b)


def _included(root: Any, folder: Path) -> list[tuple[Any, Any]]:
    """Include elements of a file with the documents they name, nested ones too; paths start at the main file."""
    found: list[tuple[Any, Any]] = []
    for element in root.iter("include"):
        inner = read_xml(folder / element.get("file", ""), "included file").getroot()
        found += [(element, inner), *_included(inner, folder)]
    return found


def _anchor_includes(included: list[tuple[Any, Any]], folder: Path, path: Path) -> list[str]:
    """Makes paths of included files absolute, so that they hold in another place.

    Raises:
        InputError: an included file has paths of its own, which would have to change too.
    """
    for element, inner in included:
        folders = [c for c in inner.iter("compiler") if set(c.attrib) & {"meshdir", "texturedir", "assetdir"}]
        if folders or inner.find(".//include") is not None:
            raise InputError(
                f"{path}: the included file {element.get('file')!r} names further files by relative paths; write"
                f" into {folder} instead, or join the included files into one first"
            )
    for element, _ in included:
        element.set("file", str((folder / element.get("file")).resolve()))
    text = f"{len(included)} paths of included files became absolute; load the file with package_dirs={str(folder)!r}"
    return [text] if included else []


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
