"""Where the mesh files of a description are.

`package://` is looked up in `package_dirs`, in ROS_PACKAGE_PATH and in the folders above the
description; relative paths start at the description. A file outside the description's own folders is
read only when `package_dirs` or an explicit `file://` address says so, so a description from elsewhere
cannot pull in files of this machine by `../../`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from ..errors import InputError, MeshError, UnsafeFileError


class MeshResolver:
    """Maps mesh addresses of one description to files."""

    def __init__(
        self, description_dir: Path | None, package_dirs: Iterable[str | os.PathLike[str]] = ()
    ) -> None:
        """Prepares the search.

        Args:
            description_dir: folder of the description file; None when it came from memory.
            package_dirs: folders that are packages or hold packages.

        Raises:
            InputError: one of `package_dirs` is not a folder.
        """
        if isinstance(package_dirs, (str, os.PathLike)):
            package_dirs = (package_dirs,)
        given = [Path(entry).expanduser().resolve() for entry in package_dirs]
        for entry in given:
            if not entry.is_dir():
                raise InputError(f"package_dirs: {entry} is not a folder")
        ros = [
            Path(entry).resolve()
            for entry in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)
            if entry
        ]
        self._description_dir = description_dir.resolve() if description_dir else None
        self._package_dirs = [*given, *ros]
        self._own = [] if self._description_dir is None else [_package_root(self._description_dir)]

    def resolve(self, address: str, where: str) -> Path:
        """Returns the file that a mesh address names.

        Args:
            address: the `filename` of a mesh element.
            where: element that asks, for messages.

        Raises:
            UnsafeFileError: a network address, or a file outside the allowed folders.
            MeshError: no such file; the message lists where it was looked for.
        """
        scheme, separator, rest = address.partition("://")
        if not separator:
            return self._from_path(address, where)
        if scheme == "package":
            return self._from_package(unquote(rest).lstrip("/"), address, where)
        if scheme == "file":
            return self._existing([self._absolute(unquote(rest))], address, where)
        raise UnsafeFileError(
            f"{where}: mesh {address!r}: only package://, file:// and paths are read, never {scheme}:// addresses"
        )

    def _from_path(self, address: str, where: str) -> Path:
        candidate = self._absolute(address)
        if not any(_inside(candidate, folder) for folder in (*self._own, *self._package_dirs)):
            raise UnsafeFileError(
                f"{where}: mesh {address!r} lies outside the description's own folder"
                f" {self._own[0] if self._own else '(none)'}; name its folder in package_dirs to allow it"
            )
        return self._existing([candidate], address, where)

    def _from_package(self, path: str, address: str, where: str) -> Path:
        package, _, inside = path.partition("/")
        roots: list[Path] = []
        for folder in self._package_dirs:
            roots += [folder / package] + ([folder] if folder.name == package else [])
        if self._description_dir is not None:
            for folder in (self._description_dir, *self._description_dir.parents):
                roots += [folder] if folder.name == package else []
                roots += [folder / package] if folder.parent != folder else []
        candidates = [(root, (root / inside).resolve()) for root in roots]
        for root, candidate in candidates:
            if not _inside(candidate, root.resolve()):
                raise UnsafeFileError(f"{where}: mesh {address!r} leaves its package {package!r}")
        return self._existing([candidate for _, candidate in candidates], address, where)

    def _absolute(self, path: str) -> Path:
        base = self._description_dir or Path.cwd()
        try:
            return (base / path).resolve()
        except (OSError, ValueError, RuntimeError) as error:
            raise MeshError(f"mesh {path!r:.80} is not a usable path: {error}") from error

    @staticmethod
    def _existing(candidates: list[Path], address: str, where: str) -> Path:
        for candidate in candidates:
            try:
                if candidate.is_file():
                    return candidate
            except (OSError, ValueError):
                continue
        looked = (
            ", ".join(str(candidate) for candidate in candidates[:4]) or "nowhere: no package_dirs were given"
        )
        raise MeshError(f"{where}: mesh {address!r:.120} was not found; looked at {looked:.400}")


def _package_root(folder: Path) -> Path:
    """Nearest folder at or above with a package.xml, otherwise the parent: meshes beside `urdf/` are common."""
    for candidate in (folder, *folder.parents):
        if (candidate / "package.xml").is_file():
            return candidate
    return folder.parent if folder.parent.parent != folder.parent else folder


def _inside(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents
