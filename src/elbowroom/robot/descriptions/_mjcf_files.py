"""Which files an MJCF model makes MuJoCo open, found before MuJoCo sees it.

A walk over the XML of the model, its includes and its sub-models collects every attribute that names a file and
every place in which MuJoCo may look for it; all must lie inside the allowed folders. Nothing is interpreted: what a
file means is MuJoCo's business. Files that MuJoCo's reader and ours could read differently (other encodings than
UTF-8) and numbers that make MuJoCo write a log into the current folder (NaN) are refused, and so are joints whose range
is the wrong way round, which MuJoCo takes without a word for joints without limits.
"""

from __future__ import annotations

import contextlib
import math
import os
from pathlib import Path
from typing import Any

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from ..._xml import at_line, read_xml
from ...errors import DescriptionError, UnsafeFileError
from ._resolve import MeshResolver, absolute, is_file

ENCODINGS = (None, "utf-8", "ascii", "us-ascii")
FOLDER_ATTRIBUTES = ("meshdir", "texturedir", "assetdir")


def find_files(path: Path, resolver: MeshResolver) -> tuple[Path, list[str]]:
    """The absolute path to give to MuJoCo, which follows no link before a `..`, and the files that are missing.

    A file that is a link, or in a linked folder, is read where its assets are: where it is given or at the original.
    """
    given, real = absolute(path), path.resolve()
    if real != given:
        with contextlib.suppress(UnsafeFileError):
            if not check_files(given, resolver):
                return given, []
    return real, check_files(real, resolver)


def check_files(path: Path, resolver: MeshResolver) -> list[str]:
    """Walks a model, given by its absolute path, and everything it includes or attaches.

    Returns:
        Notes on files that are in none of the places where MuJoCo looks.

    Raises:
        UnsafeFileError: a file outside the allowed folders, an include of itself, another encoding.
        DescriptionError: broken XML, an include without a file, NaN.
    """
    walk = _Walk(resolver, path.parent)
    walk.model(path)
    return walk.missing


class _Walk:
    """One model: its files share asset folders; sub-models are walks of their own."""

    def __init__(self, resolver: MeshResolver, base: Path, active: tuple[Path, ...] = ()) -> None:
        self.resolver, self.base, self.active = resolver, base, active
        self.seen: set[Path] = set()
        self.assets: list[tuple[str, Path, str]] = []
        self.folders: set[str] = {""}
        self.missing: list[str] = []

    def model(self, path: Path) -> None:
        self._file(path)
        for name, holder, where in self.assets:
            places = dict.fromkeys(
                _join(start, folder, file)
                for folder in sorted(self.folders)
                for start in (self.base, holder)
                for file in (name, Path(name).name)
            )
            for place in places:
                self.resolver.require(place, f"{where}: the file {name!r}")
            if not any(is_file(place) for place in places):
                folders = ", ".join(map(str, dict.fromkeys(place.parent for place in places)))
                self.missing.append(f"{where}: {name!r} is not in {folders:.300}")

    def _file(self, path: Path) -> None:
        tree = read_xml(path, "MJCF")
        encoding = tree.docinfo.encoding
        if (encoding.lower() if encoding else None) not in ENCODINGS:
            raise UnsafeFileError(f"{path}: it is encoded as {encoding}; MJCF must be UTF-8")
        self.seen.add(path.resolve())
        for element in tree.getroot().iter("*"):
            where = at_line(str(path), element)
            _refuse_nan(where, element)
            tag = etree.QName(element).localname  # MuJoCo's reader knows no namespaces
            if tag == "joint":
                _refuse_reversed(where, element)
            if tag == "compiler":
                self.folders |= {element.get(key) for key in FOLDER_ATTRIBUTES if element.get(key)}
            elif tag == "include":
                self._include(element.get("file"), path.parent, where)
            elif tag == "model" and element.get("file"):
                self._submodel(element.get("file"), where)
            else:
                files = [value for key, value in element.attrib.items() if key.startswith("file") and value]
                self.assets += [(value, path.parent, where) for value in files]

    def _include(self, name: str | None, holder: Path, where: str) -> None:
        if not name:
            raise DescriptionError(f"{where}: attribute 'file' is missing")
        places = [_join(self.base, "", name), _join(holder, "", name)]
        for place in places:
            self.resolver.require(place, f"{where}: the file {name!r}")
        found = next((place for place in places if is_file(place)), None)
        if found is None:
            raise DescriptionError(
                f"{where}: the file {name!r} was not found; looked at {places[0]} and {places[1]}"
            )
        if found.resolve() in self.seen:
            raise UnsafeFileError(f"{where}: {name!r} is included more than once")
        self._file(found)

    def _submodel(self, name: str, where: str) -> None:
        place = _join(self.base, "", name)
        self.resolver.require(place, f"{where}: the file {name!r}")
        if place.resolve() in self.active or place.resolve() in self.seen:
            raise UnsafeFileError(f"{where}: the model {name!r} attaches itself")
        if not is_file(place):
            self.missing.append(f"{where}: {name!r} is not in {place.parent}")
            return
        inner = _Walk(self.resolver, place.parent, (*self.active, *self.seen))
        inner.model(place)
        self.missing += inner.missing


def _join(start: Path, folder: str, name: str) -> Path:
    return Path(os.path.normpath(start / folder / name))


def _refuse_nan(where: str, element: Any) -> None:
    for key, value in element.attrib.items():
        if (
            "nan" in value.lower()
            and any(_is_nan(word) for word in value.split())
            and key not in ("name", "class")
        ):
            raise DescriptionError(f"{where}: {key}={value!r:.60}: NaN is not allowed")


def _refuse_reversed(where: str, element: Any) -> None:
    """Refuses a range whose lower end is above its upper one; what is no range is left to MuJoCo to refuse."""
    try:
        lower, upper = map(float, element.get("range", "").split())
    except ValueError:
        return
    if lower > upper and element.get("limited") != "false":
        raise DescriptionError(
            f"{where}: range={element.get('range')!r:.60}: the lower limit is above the upper one; "
            f'write range="{upper:g} {lower:g}", or limited="false" for a joint without limits'
        )


def _is_nan(word: str) -> bool:
    try:
        return math.isnan(float(word))
    except ValueError:
        return False
