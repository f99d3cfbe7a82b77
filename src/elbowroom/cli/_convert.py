"""Convert spheres and ignored pairs, or a scene of obstacles, from one file format to another.

Formats are recognised by content and extension: .json, .yml (cuRobo), .xrdf, .srdf, .urdf (spherized) and .xml (MJCF);
for scenes .json and .yaml (MoveIt).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from .._text import counted
from ..errors import FormatError, InputError
from ._common import (
    aside,
    check_not_description,
    check_out,
    console,
    print_json,
    quiet,
    some,
    waiting,
    xacro_arg,
)

if TYPE_CHECKING:
    from ..robot import Robot

EXAMPLES = {
    "elbowroom convert teaarm.json teaarm.yml --robot teaarm": "spheres for cuRobo",
    "elbowroom convert teaarm.json teaarm.xrdf --robot teaarm --pairs teaarm_pairs.json": (
        "spheres and pairs for Isaac, from a file each"
    ),
    "elbowroom convert scene.yaml scene.json": "obstacles of MoveIt or MotionBenchMaker, and back",
}


@dataclass(frozen=True)
class Options:
    """Arguments of `elbowroom convert`."""

    source: Annotated[Path, tyro.conf.Positional]
    """File to read: .json, .yml (cuRobo), .xrdf, .srdf, .urdf (spherized) or .xml (MJCF), or a scene."""
    target: Annotated[Path, tyro.conf.Positional]
    """File to write. An existing file keeps the content that Elbowroom does not understand, unless it is a scene."""
    robot: str | None = None
    """Name or path of the robot; checks the links, and is needed to write URDF and MJCF."""
    srdf: Path | None = None
    """The robot's SRDF, or any file that holds pairs: its pairs are written unless the source has its own."""
    package_dirs: tuple[Path, ...] = ()
    """Folders to search for package:// meshes of the robot or the scene."""
    use_visual: bool = False
    """Use the robot's visual geometry for links that have no collision geometry."""
    xacro_args: tuple[str, ...] = ()
    """Arguments of the robot's xacro file, each as name:=value."""
    strict: bool = False
    """Reject a robot description that breaks a rule instead of repairing it."""
    pairs: Path | None = None
    """File of any format whose pairs are written, instead of those of the source."""
    source_format: str | None = None
    """Format of the source, if neither content nor extension identifies it."""
    target_format: str | None = None
    """Format of the target, if its extension does not identify it; json or moveit for a scene."""
    json: bool = False
    """Print JSON instead of text."""


def run(options: Options) -> int:
    """Reads, writes, and reports what was lost."""
    from .. import formats
    from ..world.internal import is_scene

    if options.source_format is None and is_scene(options.source):
        return _convert_scene(options)
    of_robot = (options.srdf is not None, options.package_dirs, options.use_visual, options.xacro_args)
    if options.robot is None and (any(of_robot) or options.strict):
        flags = "--srdf, --package-dirs, --use-visual, --xacro-args and --strict"
        raise InputError(f"{flags} belong to a robot; name it with --robot")
    name = check_out(options.target, options.target_format)
    robot = _robot(options)
    contents = formats.read(options.source, robot=robot, format=options.source_format)
    pairs, read = _pairs(options, robot, contents)
    if not contents.spheres and not pairs:
        raise FormatError(f"{options.source}: the file holds neither spheres nor ignored pairs")
    robot = robot or contents.robot
    check_not_description(options.target, robot)
    lost = formats.write(
        options.target, robot=robot, spheres=contents.spheres, pairs=pairs or None, format=name
    )
    count = 0 if contents.spheres is None else len(contents.spheres)
    ignored = len(getattr(pairs, "ignored", pairs))
    if options.json:
        report = {"spheres": count, "ignored_pairs": ignored, "not_read": read, "not_written": lost}
        print_json({"from": contents.format, "to": name, **report})
        return 0
    out = console(aside=aside(options.target))
    out.print(
        f"{options.source} -> {options.target}: {counted(count, 'sphere')}, {counted(ignored, 'ignored pair')}",
        markup=False,
    )
    for label, notes in (("not read", read), ("not in the file", lost)):
        for note in notes:
            out.print(f"  {label}: {note}", markup=False)
    return 0


def _convert_scene(options: Options) -> int:
    """Obstacles from one file to another."""
    from ..world import World
    from ..world.internal import scene_format

    for flag, given in (("--robot", options.robot), ("--srdf", options.srdf), ("--pairs", options.pairs)):
        if given is not None:
            raise InputError(f"{flag} has no effect here: {options.source} is a scene of obstacles")
    name = scene_format(options.target, options.target_format)
    with quiet():
        world = World.read(options.source, package_dirs=options.package_dirs)
    lost = world.write(options.target, name)
    if options.json:
        print_json({"to": name, "obstacles": len(world), "not_read": world.notes, "not_written": lost})
        return 0
    out = console(aside=aside(options.target))
    out.print(f"{options.source} -> {options.target}: {counted(len(world), 'obstacle')}", markup=False)
    for label, notes in (("note", world.notes), ("of the file", lost)):
        for note in some(notes):
            out.print(f"  {label}: {note}", markup=False)
    return 0


def _robot(options: Options) -> Robot | None:
    from .. import formats
    from ..robot import load_robot

    if options.robot is None:
        return None
    srdf = options.srdf
    if srdf is not None and formats.read(srdf).format != "srdf":
        srdf = None  # some other file that holds pairs
    with waiting(f"loading {options.robot}"):
        return load_robot(
            options.robot,
            srdf=srdf,
            package_dirs=options.package_dirs,
            use_visual=options.use_visual,
            strict=options.strict,
            xacro_args=dict(map(xacro_arg, options.xacro_args)),
        )


def _pairs(options: Options, robot: Robot | None, contents: Any) -> tuple[Any, tuple[str, ...]]:
    """The pairs to write, with what was not read: a whole matrix where there is one, or ignored pairs.

    Those of `--pairs` come first, then those of the source, then those of `--srdf`.
    """
    from .. import formats

    if options.pairs is None and (contents.ignored or options.srdf is None):
        own = contents.pairs if contents.pairs is not None else dict(contents.ignored)
        return own, contents.notes
    path = options.pairs or options.srdf
    assert path is not None
    other = formats.read(path, robot=robot)
    if not other.ignored and options.pairs is not None:
        raise FormatError(f"{path}: the file holds no pairs")
    found = other.pairs if other.pairs is not None else dict(other.ignored)
    return found, (*contents.notes, *other.notes)
