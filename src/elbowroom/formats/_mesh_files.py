"""Where the mesh files of a URDF are, and how a copy of it in another folder names them.

`package://` is found by whoever knows the packages, a relative path by whoever starts at the right folder; a copy
elsewhere therefore names files in full, as `file://`, which Pinocchio, ROS and we read from everywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..errors import ElbowroomError
from ..robot.doors import MeshResolver, package_dirs_of
from ._options import path_text

if TYPE_CHECKING:
    from ..robot import Robot

PACKAGE = "package://"


def package_folders(root: Any, urdf: Path, robot: Robot) -> list[Path]:
    """Folders that hold the packages a URDF names, by where its files are found; empty if it names none.

    Files are looked for where the robot's own were: in its package folders, then around the URDF.
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
        kind = "absolute" if paths == "absolute" else "relative to it, as few readers but ours take them"
        notes.append(f"{changed} mesh addresses became {kind}, for the file is in another folder")
    if missing:
        notes.append(f"{len(missing)} mesh files were not found and keep their addresses: {missing[0]}, ...")
    return notes


def _named_files(root: Any) -> Iterator[Any]:
    """Elements of a URDF that name a file."""
    return (element for element in root.iter("mesh", "texture") if element.get("filename"))
