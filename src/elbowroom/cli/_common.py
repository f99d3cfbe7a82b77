"""What the verbs share: the robot's arguments, files of any format, output and progress."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from .._files import check_place, write_bytes
from .._files import make_folder as make_folder
from .._kinds import CUROBO, OUR_MJCF, OUR_URDF, PNG, SRDF, XRDF
from ..errors import ApproximationWarning, FormatError, InputError
from ._output import aside as aside
from ._output import console as console
from ._output import print_json as print_json
from ._output import table as table
from ._progress import progress_bar as progress_bar
from ._progress import waiting as waiting

if TYPE_CHECKING:
    from ..mesh import TriangleMesh
    from ..pairs import PairMatrix
    from ..robot import DefaultPose, Robot
    from ..spheres import SphereModel


@dataclass(frozen=True)
class RobotOptions:
    """Arguments of every verb that loads a robot."""

    robot: Annotated[str, tyro.conf.Positional]
    """Name or path of the robot; `elbowroom info` lists the names."""
    srdf: Path | None = None
    """SRDF file with named poses and disabled pairs."""
    package_dirs: tuple[Path, ...] = ()
    """Folders to search for package:// meshes."""
    use_visual: bool = False
    """Use visual geometry for links that have no collision geometry."""
    xacro_args: tuple[str, ...] = ()
    """Arguments of a xacro file, each as name:=value."""
    hold: tuple[str, ...] = ()
    """Joints to fix, each as name=value in rad or m; the robot then has no such joints."""
    strict: bool = False
    """Reject a description that breaks a rule instead of repairing it."""
    json: bool = False
    """Print JSON instead of tables."""

    def load(self, *, tell: bool = True) -> Robot:
        """Loads the robot that the arguments name; `tell`: says on standard error which links no check sees."""
        from ..robot import load_robot
        from ..robot.internal import unseen_links

        with waiting(f"loading {self.robot}"):
            robot = load_robot(
                self.robot,
                srdf=self.srdf,
                package_dirs=self.package_dirs,
                use_visual=self.use_visual,
                strict=self.strict,
                xacro_args=dict(xacro_arg(text) for text in self.xacro_args),
                hold=dict(hold_arg(text) for text in self.hold),
            )
        if tell and (unseen := unseen_links(robot)) is not None:
            print(f"note: {robot.name}: {unseen}", file=sys.stderr)
        return robot


def xacro_arg(text: str) -> tuple[str, str]:
    """Name and value of an argument of a xacro file.

    Raises:
        InputError: not name:=value.
    """
    name, separator, value = text.partition(":=")
    if not (name and separator):
        raise InputError(f"--xacro-args: expected name:=value, found {text!r}")
    return name, value


def hold_arg(text: str) -> tuple[str, float]:
    """Name and value of a joint to be held.

    Raises:
        InputError: not name=number.
    """
    name, separator, value = text.rpartition("=")
    try:
        if name and separator:
            return name, float(value)
    except ValueError:
        pass
    raise InputError(f"--hold: expected name=value with a number in rad or m, found {text!r}")


MOST_NOTES = 20
"""Notes on a scene that are printed."""
KIND_OF_FORMAT = {"srdf": SRDF, "urdf": OUR_URDF, "mjcf": OUR_MJCF, "curobo": CUROBO, "xrdf": XRDF}
"""What a file of each format is; JSON may be several things."""


def check_out(path: Path | None, format: str | None = None, *, as_json: str | None = None) -> str:
    """The format in which a file will be written, asked before long work.

    Args:
        path: the file; None is no file.
        format: its format, if the extension does not tell.
        as_json: the kind of file that JSON will be.

    Raises:
        FormatError: the format is not known. InputError: the place cannot be written, or holds something else.
    """
    if path is None:
        return ""
    from ..formats.internal import format_of

    name = format_of(path, format)
    check_place(path, KIND_OF_FORMAT.get(name, as_json))
    return name


def check_plot(path: Path | None, formats: tuple[str, ...] = (".png", ".svg", ".pdf")) -> None:
    """Refuses a picture that cannot be written, before long work.

    Raises:
        InputError: another extension, or the place cannot be written, or holds something else.
    """
    if path is not None:
        if path.suffix.lower() not in formats:
            raise InputError(f"--plot {path}: expected a name ending in {' or '.join(formats)}")
        check_place(path, PNG if path.suffix.lower() == ".png" else None)


def check_not_description(path: Path | None, robot: Robot | None) -> None:
    """Refuses to write over the description that the robot was just read from.

    Raises:
        InputError: the two are the same file.
    """
    own = None if robot is None else robot.path
    if path is not None and own is not None and own.exists() and path.exists() and path.samefile(own):
        raise InputError(f"cannot write {path}: it is the robot's own description; choose another name")


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
    from ..robot.internal import read_mesh

    if not path.is_file():
        raise InputError(f"{path}: there is no such mesh file")
    data = read_mesh(path, (scale, scale, scale), "mesh")
    return TriangleMesh(data.vertices, data.faces)


def pose_facts(pose: DefaultPose | None) -> dict[str, Any] | None:
    """A default pose as plain values."""
    if pose is None:
        return None
    return {"cfg": pose.cfg, "source": pose.source, "guessed_joints": pose.guessed_joints}


def some(notes: tuple[str, ...]) -> tuple[str, ...]:
    """Notes to print: all if they are few."""
    if len(notes) <= MOST_NOTES:
        return notes
    return (*notes[:MOST_NOTES], f"... and {len(notes) - MOST_NOTES} more; --json lists all")


@contextmanager
def quiet() -> Generator[None]:
    """Keeps warnings on approximations back, where what they say is printed as notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        yield


def write_text(path: Path, text: str) -> None:
    """Writes a text as `write_bytes` does.

    Raises:
        InputError: the place cannot be written.
    """
    write_bytes(path, text.encode())


def clash_facts(clash: Any) -> dict[str, Any]:
    """A clash for JSON."""
    return {
        "a": clash.a,
        "b": clash.b,
        "distance": clash.distance,
        "point_a": clash.point_a,
        "point_b": clash.point_b,
        "normal": clash.normal,
    }
