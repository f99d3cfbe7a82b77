"""Spherized URDF: every collision shape of a link is a sphere, as VAMP and others use it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from .._text import shortest
from ..errors import ApproximationWarning, ElbowroomError, InputError
from ..robot import Robot, as_robot, load_robot
from ..robot.internal import MeshResolver, description_tree, package_dirs_of
from ..spheres import SphereModel
from ..typing import RobotLike
from ._contents import Contents, for_robot, ignored_pairs, lost_spheres, mark_as_ours, write_bytes
from ._options import ExportOptions, path_text

if TYPE_CHECKING:
    from ..robot import Robot


FORMAT = "urdf"


def read_urdf(path: str | Path, robot: RobotLike | None = None) -> Contents:
    """Reads a URDF: the robot itself, and the spheres among its collision shapes."""
    robot = None if robot is None else as_robot(robot)
    found = read_description(Path(path), robot, FORMAT)
    return replace(found, notes=(*found.notes, "a URDF holds no ignored pairs; its SRDF does"))


def read_description(path: Path, robot: Robot | None, format_name: str) -> Contents:
    """Reads a URDF or MJCF file and takes its collision spheres as a sphere model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)  # passed on as notes
        described = load_robot(path)
    spheres: dict[str, tuple[list[np.ndarray], list[float]]] = {}
    notes = [str(note) for note in described.notes if note.warns]
    for link, shapes in described.shapes.items():
        balls = [shape for shape in shapes if shape.kind == "sphere"]
        if balls:
            spheres[link] = (
                [shape.T_link_shape[:3, 3] for shape in balls],
                [shape.size[0] for shape in balls],
            )
        if len(balls) < len(shapes):
            notes.append(f"link {link!r}: {len(shapes) - len(balls)} collision shapes are not spheres")
    model = SphereModel.from_links(
        described.link_names, spheres, robot_name=described.name, evidence={"source": path.name}
    )
    return Contents(
        format_name,
        for_robot(model, robot, path) if len(model) else None,
        described.disabled_pairs,
        robot=described,
        notes=tuple(notes),
    )


def write_urdf(
    path: str | Path,
    *,
    robot: RobotLike | None = None,
    spheres: SphereModel | None = None,
    pairs: Any = None,
    options: ExportOptions | None = None,
) -> tuple[str, ...]:
    """Writes the robot's URDF with spheres in place of its collision shapes; everything else stays.

    Args:
        path: the file; in another folder than the robot's it names meshes in full, so that they are found.
        robot: the robot, loaded from a URDF file.
        spheres: the spheres.
        pairs: not held by URDF.
        options: `paths` says how meshes are named.

    Returns:
        What the format cannot hold, and what to keep in mind.

    Raises:
        InputError: no spheres, or a robot that was not loaded from a URDF file.
    """
    robot = None if robot is None else as_robot(robot)
    path = Path(path)
    if spheres is None or robot is None or robot.path is None or (tree := description_tree(robot)) is None:
        raise InputError(
            f"{path}: a spherized URDF needs spheres and a robot that was loaded from a URDF file"
        )
    root = tree.getroot()
    if root.tag != "robot":
        raise InputError(f"{path}: the robot was loaded from <{root.tag}>, not from a URDF")
    model, lost = for_robot(spheres, robot), lost_spheres(spheres, "URDF")
    for link in root.findall("link"):
        name = link.get("name")
        centers, radii = model.link(name)
        if not len(radii):
            if link.find("collision") is not None:
                lost.append(f"link {name!r} has no spheres and keeps its collision shapes")
            continue
        _replace(
            link, link.findall("collision"), [_collision(c, r) for c, r in zip(centers, radii, strict=True)]
        )
    if ignored_pairs(pairs):
        lost.append("ignored pairs are not kept by URDF; write an SRDF beside it")
    lost += anchor_meshes(root, robot, path, (options or ExportOptions()).paths)
    etree.cleanup_namespaces(root)  # an expanded xacro still declares xacro's, and would be taken for one
    mark_as_ours(root)
    write_bytes(path, etree.tostring(tree, xml_declaration=True, encoding="utf-8"))
    return tuple(lost)


def _collision(center: np.ndarray, radius: float) -> Any:
    collision = etree.Element("collision")
    etree.SubElement(collision, "origin", xyz=shortest(center), rpy="0 0 0")
    etree.SubElement(etree.SubElement(collision, "geometry"), "sphere", radius=shortest(float(radius)))
    return collision


def _replace(parent: Any, old: list[Any], new: Iterable[Any]) -> None:
    """Puts new children where the first old one was, indented like it; comments and order stay."""
    place = parent.index(old[0]) if old else len(parent)
    tail = old[0].tail if old else "\n"
    for element in old:
        if element.tail and element.tail.strip():  # text of the user between elements
            before = element.getprevious()
            if before is not None:
                before.tail = (before.tail or "") + element.tail
        parent.remove(element)
    for offset, element in enumerate(new):
        element.tail = tail
        parent.insert(place + offset, element)


PACKAGE = "package://"


def package_folders(root: Any, urdf: Path, robot: Robot) -> list[Path]:
    """Folders that hold the packages a URDF names, by where its files are found; empty if it names none.

    Files are searched where the robot's own were found: in its package folders, then around the URDF.
    """
    resolver = MeshResolver(urdf, package_dirs_of(robot))
    found: dict[Path, None] = {}
    for element in _named_files(root):
        address = element.get("filename")
        if address.startswith(PACKAGE):
            inside = "/" + address.removeprefix(PACKAGE).lstrip("/")
            with suppress(ElbowroomError):
                file = str(resolver.resolve(address, str(urdf)))
                found |= {Path(file.removesuffix(inside)): None} if file.endswith(inside) else {}
    return list(found)


def packaged_outside(root: Any, folder: Path) -> list[str]:
    """Addresses of packages whose files are not in a folder."""
    named = dict.fromkeys(element.get("filename") for element in _named_files(root))
    inside = {name: name.removeprefix(PACKAGE).lstrip("/") for name in named if name.startswith(PACKAGE)}
    return [name for name, file in inside.items() if not (folder / file).is_file()]


def anchor_meshes(root: Any, robot: Robot, path: Path, paths: Literal["absolute", "relative"]) -> list[str]:
    """Changes the mesh and texture addresses of a robot's URDF so that they hold in the folder of `path`."""
    assert robot.path is not None
    urdf = Path(os.path.abspath(robot.path))
    if urdf.parent.resolve() == path.parent.resolve():
        return []
    resolver = MeshResolver(urdf, package_dirs_of(robot))
    changed, missing = 0, list[str]()
    for element in _named_files(root):
        address = element.get("filename")
        if address.startswith("file://") or Path(address).is_absolute():
            continue
        try:
            file = resolver.resolve(address, str(path))
        except ElbowroomError:
            missing.append(address)
            continue
        text = path_text(file, path, paths)
        # Readers do not agree on whether %20 is a space, so only what would read as such an escape is escaped.
        full = Path(text).as_uri() if "%" in text else f"file://{text}"
        element.set("filename", full if paths == "absolute" else text)
        changed += 1
    notes: list[str] = []
    if changed:
        kind = "absolute" if paths == "absolute" else "relative to it, which few other readers accept"
        notes.append(f"{changed} mesh paths were made {kind} because the file is in another folder")
    if missing:
        notes.append(f"{len(missing)} mesh files were not found and keep their addresses: {missing[0]}, ...")
    return notes


def _named_files(root: Any) -> Iterator[Any]:
    """Elements of a URDF that name a file."""
    return (element for element in root.iter("mesh", "texture") if element.get("filename"))
