"""Convert spheres and ignored pairs from one file format to another.

Formats are told by content and extension: .json, .yml (cuRobo), .xrdf, .srdf, .urdf (spherized) and .xml (MJCF).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from ..errors import FormatError, InputError
from ._common import aside, check_not_description, check_out, console, print_json, waiting

if TYPE_CHECKING:
    from ..robot import Robot

EXAMPLES = {
    "elbowroom convert teaarm.json teaarm.yml --robot teaarm": "spheres for cuRobo",
    "elbowroom convert teaarm.json teaarm.xrdf --robot teaarm --pairs teaarm_pairs.json": (
        "spheres and pairs for Isaac, from a file each"
    ),
}


@dataclass(frozen=True)
class Options:
    """Arguments of `elbowroom convert`."""

    source: Annotated[Path, tyro.conf.Positional]
    """File to read: .json, .yml (cuRobo), .xrdf, .srdf, .urdf (spherized) or .xml (MJCF)."""
    target: Annotated[Path, tyro.conf.Positional]
    """File to write; one that is there already keeps what is not understood in it."""
    robot: str | None = None
    """Name or path of the robot; checks the links, and is needed to write URDF and MJCF."""
    srdf: Path | None = None
    """The robot's SRDF, or any file that holds pairs: its pairs are written unless the source has its own."""
    package_dirs: tuple[Path, ...] = ()
    """Folders in which the robot's package:// meshes are looked for."""
    pairs: Path | None = None
    """File of any format whose pairs are written, instead of those of the source."""
    source_format: str | None = None
    """Format of the source, if neither its content nor its extension tells."""
    target_format: str | None = None
    """Format of the target, if its extension does not tell."""
    json: bool = False
    """Print JSON instead of text."""


def run(options: Options) -> int:
    """Reads, writes, and says what was lost on the way."""
    from .. import formats

    if options.robot is None and (options.srdf is not None or options.package_dirs):
        raise InputError("--srdf and --package-dirs belong to a robot; name it with --robot")
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
    out.print(f"{options.source} -> {options.target}: {count} spheres, {ignored} ignored pairs", markup=False)
    for label, notes in (("not read", read), ("not in the file", lost)):
        for note in notes:
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
        return load_robot(options.robot, srdf=srdf, package_dirs=options.package_dirs)


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
