"""xacro files expanded into URDF by xacro itself, where it is installed.

A xacro file is a program: its expressions are evaluated by Python. So only files whose name says that they are xacro
are expanded, and only those that come from somebody trusted should be.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import logging
import threading
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

from ..errors import DescriptionError, ElbowroomError
from ._resolve import MeshResolver

_LOG = logging.getLogger(__name__)
_LOCK = threading.Lock()
"""xacro keeps its state in its module."""


def is_xacro(path: Path) -> bool:
    """Whether the name says so: `.xacro`, `.urdf.xacro`."""
    return path.suffix.lower() == ".xacro"


def expand(path: Path, resolver: MeshResolver, arguments: Mapping[str, str]) -> bytes:
    """The URDF text that a xacro file stands for.

    Args:
        path: the file. resolver: finds the packages of `$(find ...)` and says which files may be included.
        arguments: values of its `<xacro:arg>`s.

    Raises:
        DescriptionError: xacro is not installed, or does not understand the file; its message is passed on.
        UnsafeFileError: it includes a file outside the allowed folders.
    """
    xacro = _module()
    if xacro is None:
        raise DescriptionError(
            f"{path}: this is a xacro file; pip install xacro to have it expanded here, or expand it first: "
            f"xacro {path.name} > robot.urdf"
        )
    said = io.StringIO()
    with _LOCK, contextlib.redirect_stderr(said), _finding_packages(xacro, resolver, path):
        before = len(xacro.all_includes)
        try:
            document = xacro.process_file(str(path), mappings=dict(arguments))
        except Exception as error:  # whatever the expressions of the file raise
            if isinstance(
                ours := getattr(error, "exc", error), ElbowroomError
            ):  # which xacro may have wrapped
                raise ours from error
            detail = " ".join(f"{type(error).__name__}: {error}".split())
            raise DescriptionError(f"{path}: xacro cannot expand it: {detail:.400}") from error
        included = list(xacro.all_includes[before:])
    for name in included:
        resolver.require(Path(name), f"{path}: the included file {name!r}")
    if said.getvalue():
        _LOG.info("xacro on %s: %s", path, said.getvalue().strip())
    return document.toxml(encoding="utf-8")


def _module() -> Any:
    """The xacro module: its own distribution, or the one that xacrodoc brings along."""
    for name, attribute in (("xacro", None), ("xacrodoc.xacrodoc", "xacro")):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        found = getattr(module, attribute, None) if attribute else module
        if hasattr(found, "process_file"):
            return found
    return None


@contextlib.contextmanager
def _finding_packages(xacro: Any, resolver: MeshResolver, path: Path) -> Generator[None]:
    """Lets `$(find package)` look where our meshes are looked for; without ROS, xacro knows no place at all."""
    try:
        places: Any = importlib.import_module(f"{xacro.__name__}.substitution_args")
    except ImportError:  # ROS 1 has its own way, and knows the packages
        yield
        return
    original = places._eval_find
    places._eval_find = lambda package: str(resolver.package_folder(package, str(path)))
    try:
        yield
    finally:
        places._eval_find = original
