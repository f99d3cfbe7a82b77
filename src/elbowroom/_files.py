"""The one door through which files are written: all or nothing, and nothing harmed.

A file is made beside its place under another name and takes its name at the end, so readers never see half a file and
a full disk leaves the old one as it was. A link stays a link, and what it points to is replaced; devices, pipes and
files with several names are written into. Permissions stay, new files get those of the user's umask. A file is only
replaced by one of the same kind, and no folder is made.
"""

from __future__ import annotations

import os
import stat
import sys
import uuid
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ._kinds import EMPTY, kind_of, kind_of_large
from .errors import InputError

LARGEST_READ = 64 * 2**20
"""Largest existing file that is read as a whole, bytes; of our files, only arrays are larger."""
UNFINISHED: set[str] = set()
"""Unfinished files and folders, to remove when the process ends without unwinding."""


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a file as the module says.

    Raises:
        InputError: the place cannot be written, or something of another kind is there; it stays as it was.
    """
    check_place(path, kind_of(data))
    try:
        if _own_stream(path) is not None:
            _write_to_own(path, data)
        elif _in_place(path):
            _write_into(path, data)
        else:
            with replacing(path) as file:
                file.write(data)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error


def check_place(path: Path, kind: str | None = None) -> None:
    """Refuses a place that cannot be written; to be asked before long work.

    Args:
        path: the place.
        kind: what will be written, in the words of `kind_of`; None does not look at what is there.

    Raises:
        InputError: there is no folder for it, it is a folder or read-only, or something of another kind is there.
    """
    try:
        target = path.resolve()
        try:
            found = target.stat()
        except FileNotFoundError:
            if not target.parent.is_dir():
                raise InputError(f"cannot write {path}: there is no folder {target.parent}") from None
            if not os.access(target.parent, os.W_OK):
                raise InputError(f"cannot write {path}: the folder {target.parent} is read-only") from None
            return
        if stat.S_ISDIR(found.st_mode):
            raise InputError(f"cannot write {path}: it is a folder")
        if not stat.S_ISREG(found.st_mode) or _own_stream(path) is not None:
            return
        if not found.st_mode & 0o222 or not os.access(target, os.W_OK):
            raise InputError(f"cannot write {path}: the file is read-only")
        if kind is None or found.st_size == 0:
            return
        there = kind_of(target.read_bytes()) if found.st_size <= LARGEST_READ else kind_of_large(target)
    except (OSError, RuntimeError, ValueError) as error:  # loops of links, names that no file can have
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}") from error
    if there not in (kind, EMPTY):
        raise InputError(
            f"cannot write {path}: the file there holds {there}, and {kind} would replace it; choose another name, or "
            "delete it first"
        )


def is_template(path: Path) -> bool:
    """Whether there is a file whose other contents are to be kept when ours are written into it."""
    try:
        return path.is_file() and path.stat().st_size > 0 and _own_stream(path) is None
    except (OSError, ValueError):
        return False


def is_stdout(path: Path) -> bool:
    """Whether writing there is writing to standard output: `/dev/stdout` and its other names."""
    return _own_stream(path) == 1


def make_folder(path: Path) -> Path:
    """Makes one folder for output, unless it is there.

    Raises:
        InputError: it cannot be made; the folder around it must be there.
    """
    try:
        path.mkdir(exist_ok=True)
    except FileNotFoundError as error:
        raise InputError(f"cannot make the folder {path}: there is no folder {path.parent}") from error
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot make the folder {path}: {getattr(error, 'strerror', None) or error}"
        ) from error
    return path


@contextmanager
def replacing(path: Path) -> Generator[IO[bytes]]:
    """A new file beside `path` that takes its name at the end; a link stays, its target is replaced.

    Whatever stops the writing, the old file stays and nothing is left behind.
    """
    target = path.resolve()
    temporary = target.with_name(f".{target.name[:40]}.{uuid.uuid4().hex[:12]}")
    UNFINISHED.add(str(temporary))
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            yield file
        with suppress(FileNotFoundError):
            old = target.stat()
            with suppress(PermissionError, AttributeError):  # Windows has no owners
                if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
                    os.chown(temporary, old.st_uid, old.st_gid)
            os.chmod(temporary, stat.S_IMODE(old.st_mode))
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
        UNFINISHED.discard(str(temporary))


def _in_place(path: Path) -> bool:
    """Whether a file must be written into: a device or pipe, one with several names, a mount, a closed folder."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    target = path.resolve()
    alone = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
    return not alone or os.path.ismount(target) or not os.access(target.parent, os.W_OK)


def _write_into(path: Path, data: bytes) -> None:
    """Writes into what is there; a regular file gets its old content back if that fails."""
    if not path.is_file():
        with open(path, "wb", buffering=0) as file:
            _write_all(file, data)
        return
    with open(path, "r+b", buffering=0) as file:
        old = file.read()
        try:
            file.seek(0)
            _write_all(file, data)
            file.truncate()
        except BaseException:
            file.seek(0)
            _write_all(file, old)
            file.truncate()
            raise


def _write_all(file: Any, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def _own_stream(path: Path) -> int | None:
    """Descriptor of our standard output or error, if the path names it.

    Replacing the file behind it would part it from what else is printed there.
    """
    for descriptor in (1, 2):
        with suppress(OSError, ValueError):
            if os.path.samestat(path.stat(), os.fstat(descriptor)):
                return descriptor
    return None


def _write_to_own(path: Path, data: bytes) -> None:
    """Writes after what was printed before; a reader that has gone, such as `head`, is no error."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    with suppress(BrokenPipeError), open(os.dup(_own_stream(path) or 1), "wb", buffering=0) as file:
        _write_all(file, data)


def plain(value: Any) -> Any:
    """JSON values of nested mappings, sequences, arrays and numpy numbers; what is not finite becomes null."""
    import numpy as np  # `elbowroom --help` does without

    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)
