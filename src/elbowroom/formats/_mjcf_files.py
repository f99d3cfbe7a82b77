"""Files that an MJCF names: included ones, and the folders of its assets.

MuJoCo puts the children of an included file where the include stands and takes every path from the folder of the main
file; so do we.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from .._xml import read_xml
from ..errors import InputError

FOLDERS = ("meshdir", "texturedir")


def splice_bodies(root: Any, folder: Path) -> None:
    """Puts the contents of included files that hold bodies where their includes are, nested ones too."""
    for element in list(root.iter("include")):
        inner = read_xml(folder / element.get("file", ""), "included file").getroot()
        splice_bodies(inner, folder)
        if inner.find(".//body") is None:
            continue
        parent, place = element.getparent(), element.getparent().index(element)
        children = list(inner)
        if children:
            children[-1].tail = element.tail
        parent.remove(element)
        for offset, child in enumerate(children):
            parent.insert(place + offset, child)


def anchor_includes(root: Any, folder: Path, path: Path) -> list[str]:
    """Makes paths of included files absolute, so that they hold in another place.

    Raises:
        InputError: an included file has paths of its own, which would have to change too.
    """
    elements = list(root.iter("include"))
    for element in elements:
        inner = read_xml(folder / element.get("file", ""), "included file").getroot()
        named = [c for c in inner.iter("compiler") if set(c.attrib) & {*FOLDERS, "assetdir"}]
        if named or inner.find(".//include") is not None:
            raise InputError(
                f"{path}: the included file {element.get('file')!r} names further files by relative paths; write"
                f" into {folder} instead, or join the included files into one first"
            )
    for element in elements:
        element.set("file", str((folder / element.get("file")).resolve()))
    text = f"{len(elements)} paths of included files became absolute; load the file with package_dirs={str(folder)!r}"
    return [text] if elements else []


def anchor_assets(root: Any, folder: Path) -> list[str]:
    """Makes asset folders absolute, so that they hold in another place; the last of several compilers counts."""
    if root.find(".//asset") is None and root.find(".//include") is None:
        return []
    compilers = list(root.iter("compiler"))
    if not compilers:
        compilers = [etree.Element("compiler")]
        root.insert(0, compilers[0])
    said = {name: value for compiler in compilers for name, value in compiler.attrib.items()}
    for name in FOLDERS:
        value = str((folder / said.get(name, said.get("assetdir", ""))).resolve())
        for compiler in compilers:
            compiler.set(name, value)
    return ["asset folders became absolute, for the file is in another folder; load it with package_dirs"]
