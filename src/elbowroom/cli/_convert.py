"""Convert spheres and ignored pairs from one file format to another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from ..errors import FormatError, InputError
from ._common import console, print_json


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
    """SRDF file of the robot, with named poses and disabled pairs."""
    package_dirs: tuple[Path, ...] = ()
    """Folders in which the robot's package:// meshes are looked for."""
    source_format: str | None = None
    """Format of the source, if neither its content nor its extension tells."""
    target_format: str | None = None
    """Format of the target, if its extension does not tell."""
    json: bool = False
    """Print JSON instead of text."""


def run(options: Options) -> int:
    """Reads, writes, and says what was lost on the way."""
    from .. import formats
    from ..robot import load_robot

    if options.robot is None and (options.srdf is not None or options.package_dirs):
        raise InputError("--srdf and --package-dirs belong to a robot; name it with --robot")
    formats.format_of(options.target, options.target_format)
    robot = None
    if options.robot is not None:
        robot = load_robot(options.robot, srdf=options.srdf, package_dirs=options.package_dirs)
    contents = formats.read(options.source, robot=robot, format=options.source_format)
    if contents.spheres is None and not contents.ignored:
        raise FormatError(f"{options.source}: the file holds neither spheres nor ignored pairs")
    lost = formats.write(
        options.target,
        robot=robot or contents.robot,
        spheres=contents.spheres,
        pairs=contents.ignored or None,
        format=options.target_format,
    )
    count = 0 if contents.spheres is None else len(contents.spheres)
    if options.json:
        print_json(
            {
                "spheres": count,
                "ignored_pairs": len(contents.ignored),
                "not_read": contents.notes,
                "not_written": lost,
            }
        )
        return 0
    out = console()
    out.print(
        f"{options.source} -> {options.target}: {count} spheres, {len(contents.ignored)} ignored pairs",
        highlight=False,
        markup=False,
    )
    for label, notes in (("not read", contents.notes), ("not written", lost)):
        for note in notes:
            out.print(f"  {label}: {note}", highlight=False, markup=False)
    return 0
