"""What the verbs share: the robot's arguments, JSON output, progress bars."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from .._files import plain, write_bytes
from ..errors import FormatError, InputError

if TYPE_CHECKING:
    from .._parallel import Progress
    from ..mesh import TriangleMesh
    from ..pairs import PairMatrix
    from ..robot import Robot
    from ..spheres import SphereModel


PIPE_WIDTH = 160
"""Columns of a table that goes to a file or pipe, where nothing limits them."""


@dataclass(frozen=True)
class RobotOptions:
    """Arguments of every verb that loads a robot."""

    robot: Annotated[str, tyro.conf.Positional]
    """Name or path of the robot; `elbowroom info` lists the names."""
    srdf: Path | None = None
    """SRDF file with named poses and disabled pairs."""
    package_dirs: tuple[Path, ...] = ()
    """Folders in which package:// meshes are looked for."""
    use_visual: bool = False
    """Take visual geometry for links that have no collision geometry."""
    xacro_args: tuple[str, ...] = ()
    """Arguments of a xacro file, each as name:=value."""
    strict: bool = False
    """Refuse a description that breaks a rule, instead of mending it."""
    json: bool = False
    """Print JSON instead of tables."""

    def load(self) -> Robot:
        """Loads the robot that the arguments name."""
        from ..robot import load_robot, unseen_links

        robot = load_robot(
            self.robot,
            srdf=self.srdf,
            package_dirs=self.package_dirs,
            use_visual=self.use_visual,
            strict=self.strict,
            xacro_args=dict(_xacro_arg(text) for text in self.xacro_args),
        )
        if (unseen := unseen_links(robot)) is not None:
            print(f"note: {robot.name}: {unseen}", file=sys.stderr)
        return robot


def _xacro_arg(text: str) -> tuple[str, str]:
    name, separator, value = text.partition(":=")
    if not (name and separator):
        raise InputError(f"--xacro-args: expected name:=value, found {text!r}")
    return name, value


def spheres_from_file(path: Path, robot: Robot) -> SphereModel:
    """Spheres of a file of any format, for this robot.

    Raises:
        FormatError: the file holds none.
    """
    from .. import formats

    found = formats.read(path, robot=robot).spheres
    if found is None:
        raise FormatError(f"{path}: the file holds no spheres")
    return found


def pairs_from_file(path: Path, robot: Robot) -> PairMatrix:
    """Pairs of a file of any format that holds them, for this robot.

    Raises:
        FormatError: the file holds none.
    """
    from .. import formats

    found = formats.read(path, robot=robot).pairs
    if found is None:
        raise FormatError(f"{path}: the file holds no pairs")
    return found


def read_mesh_file(path: Path, scale: float = 1.0) -> TriangleMesh:
    """The triangles of a mesh file, times `scale`.

    Raises:
        InputError: there is no such file. MeshError: it is not a mesh.
    """
    from ..mesh import TriangleMesh
    from ..robot import read_mesh

    if not path.is_file():
        raise InputError(f"{path}: there is no such mesh file")
    data = read_mesh(path, (scale, scale, scale), "mesh")
    return TriangleMesh(data.vertices, data.faces)


def console() -> Any:
    """A rich console for tables; as wide as they need when the output is not a terminal."""
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=PIPE_WIDTH)


def print_json(value: Any) -> None:
    """Prints a value as JSON; arrays become lists, infinities null."""
    print(json.dumps(plain(value), indent=2, allow_nan=False))


@contextmanager
def progress_bar(label: str, *, quiet: bool = False) -> Generator[Progress | None]:
    """A progress bar on standard error; yields the callback to give to long work, or None when quiet."""
    if quiet:
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def write_text(path: Path, text: str) -> None:
    """Writes a file all or nothing, making its folder.

    Raises:
        InputError: the place cannot be written.
    """
    make_folder(path.parent)
    write_bytes(path, text.encode())


def make_folder(path: Path) -> Path:
    """Makes a folder for output.

    Raises:
        InputError: it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {path}: {error}") from error
    return path
