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

CRAWL_DEPTH = 4
"""How far below a ROS_PACKAGE_PATH entry packages are looked for, as ROS does."""


class MeshResolver:
    """Maps mesh addresses of one description to files."""

    def __init__(self, description: Path | None, package_dirs: Iterable[str | os.PathLike[str]] = ()) -> None:
        """Prepares the search.

        Args:
            description: the description file; None when it came from memory.
            package_dirs: folders that are packages or hold packages.

        Raises:
            InputError: one of `package_dirs` is not a folder.
        """
        given = as_folders(package_dirs)
        ros = os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)
        self._ros_dirs = [Path(entry).absolute() for entry in ros if entry]
        self._trusted = [*given, *self._ros_dirs]
        self._folder = description.absolute().parent if description else None
        # Installed workspaces link files back to their sources: both places are the description's own.
        homes = [description.absolute().parent, description.resolve().parent] if description else []
        self._own = list(dict.fromkeys(_package_root(home.resolve()) for home in homes))

    def allows(self, path: Path) -> bool:
        """Whether a file may be read: inside the description's own folders or those the user named."""
        real = path.resolve()
        trusted = (*self._trusted, *(folder.resolve() for folder in self._trusted))
        return any(_inside(real, folder) for folder in (*self._own, *trusted))

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
            path = self._absolute(address)
            self.require(path, f"{where}: mesh {address!r}")
            return _existing([path], address, where)
        if scheme == "package":
            return self._from_package(unquote(rest).lstrip("/"), address, where)
        if scheme == "file":
            return _existing([self._absolute(unquote(rest))], address, where)
        raise UnsafeFileError(
            f"{where}: mesh {address!r}: only package://, file:// and paths are read, never {scheme}:// addresses"
        )

    def require(self, path: Path, what: str) -> None:
        """Refuses a file outside the allowed folders.

        Raises:
            UnsafeFileError: the file lies elsewhere.
        """
        try:
            allowed = self.allows(path)
        except (OSError, ValueError, RuntimeError) as error:
            raise MeshError(f"{what} is not a usable path: {error}") from error
        if not allowed:
            own = self._own[0] if self._own else "(none)"
            raise UnsafeFileError(
                f"{what} lies outside the description's own folder {own}; name its folder in package_dirs to allow it"
            )

    def _from_package(self, path: str, address: str, where: str) -> Path:
        package, _, inside = path.partition("/")
        if package in ("", ".", ".."):
            raise UnsafeFileError(f"{where}: mesh {address!r}: {package!r} is not the name of a package")
        candidates: list[Path] = []
        for root in self._package_folders(package):
            candidate = Path(os.path.normpath(root / inside))
            if not _inside(candidate, root):
                raise UnsafeFileError(f"{where}: mesh {address!r} leaves its package {package!r}")
            # Links inside folders that the user named are followed; elsewhere they must stay in the own folders.
            if any(_inside(root, folder) for folder in self._trusted) or self.allows(candidate):
                candidates.append(candidate)
        return _existing(candidates, address, where)

    def _package_folders(self, package: str) -> list[Path]:
        """Folders that may be the package, most trusted first."""
        folders: list[Path] = []
        for folder in self._trusted:
            folders += [folder] if folder.name == package else []
            folders.append(folder / package)
        for folder in (self._folder, *self._folder.parents) if self._folder else ():
            folders += [folder] if folder.name == package else []
            folders += [folder / package] if (folder / package / "package.xml").is_file() else []
        for folder in self._ros_dirs:
            folders += _crawl(folder, package, CRAWL_DEPTH)
        return folders

    def _absolute(self, path: str) -> Path:
        base = self._folder or Path.cwd()
        return Path(os.path.normpath(base / path))


def as_folders(package_dirs: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Absolute paths of `package_dirs`; a single path counts as one folder.

    Raises:
        InputError: something that is not a path, or not a folder.
    """
    entries = (package_dirs,) if isinstance(package_dirs, (str, os.PathLike)) else package_dirs
    try:
        folders = [Path(entry).expanduser().absolute() for entry in entries]
    except TypeError as error:
        raise InputError(f"package_dirs: expected paths of folders, found {package_dirs!r:.80}") from error
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"package_dirs: {folder} is not a folder")
    return folders


def _existing(candidates: list[Path], address: str, where: str) -> Path:
    for candidate in candidates:
        try:
            if candidate.is_file():
                return candidate
        except (OSError, ValueError):
            continue
    looked = ", ".join(str(candidate) for candidate in candidates[:4]) or "nowhere: no folder is known for it"
    raise MeshError(f"{where}: mesh {address!r:.120} was not found; looked at {looked:.400}")


def _crawl(folder: Path, package: str, depth: int) -> list[Path]:
    """Folders of that name with a package.xml below a folder, as ROS finds packages."""
    found: list[Path] = []
    try:
        entries = [entry for entry in os.scandir(folder) if entry.is_dir() and not entry.name.startswith(".")]
    except OSError:
        return found
    for entry in entries:
        path = Path(entry.path)
        if (path / "package.xml").is_file():
            found += [path] if entry.name == package else []
        elif depth > 1:
            found += _crawl(path, package, depth - 1)
    return found


def _package_root(folder: Path) -> Path:
    """Nearest folder at or above with a package.xml, otherwise the parent: meshes beside `urdf/` are common.

    The parent does not count when it holds the user's home, as for a file that lies right in the home folder.
    """
    for candidate in (folder, *folder.parents):
        if (candidate / "package.xml").is_file():
            return candidate
    parent = folder.parent
    return folder if parent == parent.parent or _inside(Path.home().resolve(), parent) else parent


def _inside(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents
