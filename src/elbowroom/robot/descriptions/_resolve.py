"""Where the mesh files of a description are.

`package://` is looked up in `package_dirs`, in ROS_PACKAGE_PATH and AMENT_PREFIX_PATH and in the folders above the
description; relative paths start at the description. A file outside the description's own folders is
read only when `package_dirs` or an explicit `file://` address allows it, so a description from elsewhere
cannot pull in files of this machine by `../../`. Every folder is compared after links and `..` are followed.

A robot made of several packages that were copied into one folder (`b1_description/urdf/b1-z1.urdf` with
`z1_description/meshes` beside it) is found there too: where no `package.xml` says where the description's package ends
and its own folder is `urdf` or the like, `package://` addresses reach those folders beside that package that look like
packages themselves. Folders that hold the user's home, and those that everybody may write to, hold no packages.

A file that is not where the address says is searched again as other loaders and other systems do: by the
end of its address where its package is unknown, and with upper and lower case alike. What is found that way is
repaired, with a note.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from ...errors import InputError, MeshError, UnsafeFileError
from .._types import Note

CRAWL_DEPTH = 4
"""How far below a ROS_PACKAGE_PATH entry packages are searched for, as ROS does."""
DESCRIPTION_FOLDERS = ("urdf", "xacro", "robots")
"""Names of the folder of a package that holds its descriptions."""
PACKAGE_MARKS = ("package.xml", "meshes", "mesh", *DESCRIPTION_FOLDERS)
"""What a folder beside a description's package holds, one of these at least, if it is a package too."""
SHOWN = 6
"""Folders that a message lists before it says how many more there are."""


class MeshResolver:
    """Maps mesh addresses of one description, or addresses of any kind in another file, to files."""

    def __init__(
        self,
        description: Path | None,
        package_dirs: Iterable[str | os.PathLike[str]] = (),
        *,
        word: str = "mesh",
    ) -> None:
        """Prepares the search.

        Args:
            description: the description file; None when it came from memory.
            package_dirs: folders that are packages or hold packages.
            word: what the addresses name, for messages.

        Raises:
            InputError: one of `package_dirs` is not a folder.
        """
        given = as_folders(package_dirs)
        self._word = word
        self._ros_dirs = _from_environment("ROS_PACKAGE_PATH")
        shares = [folder / "share" for folder in _from_environment("AMENT_PREFIX_PATH")]
        self._trusted = [*given, *self._ros_dirs, *shares]
        self._folder = absolute(description).parent if description else None
        # Installed workspaces link files back to their sources: both places are the description's own.
        homes = [self._folder, description.resolve().parent] if self._folder and description else []
        self._own = list(dict.fromkeys(_package_root(home.resolve()) for home in homes))
        self._beside = [folder for home in homes for folder in _folder_of_packages(home.resolve())]
        self._above = list(dict.fromkeys(folder for home in homes for folder in (home, *home.parents)))
        self._packages: dict[str, list[Path]] = {}
        self.mended: list[Note] = []
        """What was found elsewhere than the description says."""

    def allows(self, path: Path) -> bool:
        """Whether a file may be read: inside the description's own folders or those the user named."""
        real = path.resolve()
        trusted = (folder.resolve() for folder in self._trusted)
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
        scheme, separator, rest = address.strip().replace("\\", "/").partition("://")
        if not separator:
            path = self._absolute(scheme)
            self.require(path, f"{where}: {self._word} {address!r:.120}")
            return self._existing([path], address, where)
        if scheme in ("package", "model"):  # model:// is Gazebo's
            return self._from_package(unquote(rest).lstrip("/"), address, where)
        if scheme == "file":
            return self._existing([self._absolute(unquote(rest))], address, where)
        raise UnsafeFileError(
            f"{where}: {self._word} {address!r}: only package://, file:// and paths are read, "
            f"never {scheme}:// addresses"
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
                f"{what} lies outside the description's own folder {own}; name its folder in package_dirs "
                "(--package-dirs) to allow it"
            )

    def package_folder(self, package: str, where: str) -> Path:
        """The folder of a package.

        Raises:
            MeshError: there is none; the message lists where it was looked for.
        """
        for folder in self._package_folders(package):
            if folder.is_dir() and self._reaches(folder, folder):
                return folder
        raise MeshError(f"{where}: {self._no_package(package)}")

    def _from_package(self, path: str, address: str, where: str) -> Path:
        package, _, inside = path.partition("/")
        if package in ("", ".", ".."):
            raise UnsafeFileError(
                f"{where}: {self._word} {address!r}: {package!r} is not the name of a package"
            )
        candidates: list[Path] = []
        folders = [folder for folder in self._package_folders(package) if folder.is_dir()]
        for root in folders:
            candidate = Path(os.path.normpath(root / inside))
            if not _inside(candidate, root):
                raise UnsafeFileError(f"{where}: {self._word} {address!r} leaves its package {package!r}")
            if self._reaches(root, candidate):
                candidates.append(candidate)
        if folders and not candidates:  # says why
            self.require(
                Path(os.path.normpath(folders[0] / inside)), f"{where}: {self._word} {address!r:.120}"
            )
        if folders:
            return self._existing(candidates, address, where)
        return self._without_package(package, inside, address, where)

    def _reaches(self, root: Path, file: Path) -> bool:
        """Links inside folders that the user named are followed; elsewhere they must stay in the own folders."""
        return any(_inside(root, folder) for folder in self._trusted) or self._allows_packaged(file)

    def _allows_packaged(self, path: Path) -> bool:
        """Whether a file of a `package://` address may be read: as `allows`, or in a package beside the own one."""
        real = path.resolve()
        return self.allows(path) or any(_in_package_of(folder, real) for folder in self._beside)

    def _without_package(self, package: str, inside: str, address: str, where: str) -> Path:
        """The file of an unknown package, where the end of its address fits below one of the own folders."""
        parts = inside.split("/")
        for start in range(max(len(parts) - 1, 1)):  # a folder and a file at least, if it has so much
            for folder in self._above:
                candidate = Path(os.path.normpath(folder.joinpath(*parts[start:])))
                if is_file(candidate) and _inside(candidate, folder) and self._allows_packaged(candidate):
                    note = Note(
                        "mended", f"package {package!r}", f"not found; its files are taken from {folder}"
                    )
                    self.mended += [note] if note not in self.mended else []
                    return candidate
        raise MeshError(f"{where}: {self._word} {address!r:.120}: {self._no_package(package)}")

    def _no_package(self, package: str) -> str:
        searched = [str(folder) for folder in dict.fromkeys((*self._trusted, *self._above))]
        more = f" and {len(searched) - SHOWN} more above" if len(searched) > SHOWN else ""
        return (
            f"package {package!r} was not found; looked in {', '.join(searched[:SHOWN]) or 'no folder'}{more}; "
            "give the folder that holds it as package_dirs (--package-dirs), or set ROS_PACKAGE_PATH or "
            "AMENT_PREFIX_PATH"
        )

    def _package_folders(self, package: str) -> list[Path]:
        """Folders that may be the package, most trusted first."""
        if package in self._packages:
            return self._packages[package]
        folders: list[Path] = []
        for folder in self._trusted:
            folders += [folder] if folder.name == package else []
            folders.append(folder / package)
        for folder in self._above:
            folders += [folder] if folder.name == package else []
            folders += [folder / package] if (folder / package / "package.xml").is_file() else []
        for folder in self._ros_dirs:
            folders += _crawl(folder, package, CRAWL_DEPTH)
        self._packages[package] = folders
        return folders

    def _absolute(self, path: str) -> Path:
        """A path from the description's folder; `..` out of a linked one leads to where the link stands, if it can."""
        base = self._folder or Path.cwd()
        plain = Path(os.path.normpath(base / path))
        followed = absolute(base / path)
        return followed if followed != plain and not plain.exists() and followed.exists() else plain

    def _existing(self, candidates: list[Path], address: str, where: str) -> Path:
        for candidate in candidates:
            if is_file(candidate):
                return candidate
        for candidate in candidates:
            found = _ignoring_case(candidate)
            if found is not None and (self.allows(found) or not self.allows(candidate)):
                self.mended.append(
                    Note("mended", f"{self._word} {address!r}", f"the file is spelled {found.name!r}")
                )
                return found
        looked = ", ".join(str(candidate) for candidate in candidates[:4]) or "no folder that may be read"
        raise MeshError(f"{where}: {self._word} {address!r:.120} was not found; looked at {looked:.400}")


def absolute(path: Path) -> Path:
    """The absolute path without `..`, followed as the operating system does: links before a `..` are resolved."""
    whole = path if path.is_absolute() else Path.cwd() / path
    climbs = [index for index, part in enumerate(whole.parts) if part == ".."]
    if not climbs:
        return whole
    return Path(*whole.parts[: climbs[-1] + 1]).resolve().joinpath(*whole.parts[climbs[-1] + 1 :])


def as_folders(package_dirs: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Absolute paths of `package_dirs`; a single path counts as one folder.

    Raises:
        InputError: something that is not a path, or not a folder.
    """
    entries = (package_dirs,) if isinstance(package_dirs, (str, os.PathLike)) else package_dirs
    try:
        folders = [absolute(Path(entry).expanduser()) for entry in entries]
    except (TypeError, RuntimeError) as error:
        raise InputError(f"package_dirs: expected paths of folders, found {package_dirs!r:.80}") from error
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"package_dirs: {folder} is not a folder")
    return folders


def _from_environment(variable: str) -> list[Path]:
    return [absolute(Path(entry)) for entry in os.environ.get(variable, "").split(os.pathsep) if entry]


def is_file(path: Path) -> bool:
    """Whether there is such a file; False for what cannot be a path."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _ignoring_case(path: Path) -> Path | None:
    """The only file that differs from the path by case in its last two names at most; made on Windows or a Mac."""
    try:
        folders = [path.parent] if path.parent.is_dir() else _alike(path.parent)
        found = [file for folder in folders for file in _alike(folder / path.name) if file.is_file()]
    except (OSError, ValueError):
        return None
    return found[0] if len(found) == 1 else None


def _alike(path: Path) -> list[Path]:
    entries = path.parent.iterdir() if path.parent.is_dir() else ()
    return [entry for entry in entries if entry.name.casefold() == path.name.casefold()]


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


def _folder_of_packages(folder: Path) -> list[Path]:
    """The folder in which the package of a description in `folder` lies beside others; none where that is not plain.

    Never the root of the file system, the user's home or a folder above it, nor one that everybody may write to.
    """
    package = folder.parent
    marked = any((candidate / "package.xml").is_file() for candidate in (folder, *folder.parents))
    if marked or folder.name not in DESCRIPTION_FOLDERS or package.parent == package.parent.parent:
        return []
    if _inside(Path.home().resolve(), package.parent) or _is_everybodys(package.parent):
        return []
    return [package.parent]


def _is_everybodys(folder: Path) -> bool:
    """Whether everybody may write to a folder, as to /tmp: what lies in it side by side need not belong together."""
    try:
        return os.name == "posix" and bool(folder.stat().st_mode & stat.S_IWOTH)
    except OSError:
        return True


def _in_package_of(folder: Path, file: Path) -> bool:
    """Whether a file, links followed, lies in a folder of `folder` that looks like a package; nothing hidden does."""
    if not _inside(file, folder):
        return False
    parts = file.relative_to(folder).parts
    if not parts or any(part.startswith(".") for part in parts):
        return False
    return any((folder / parts[0] / mark).exists() for mark in PACKAGE_MARKS)


def _inside(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents
