"""Load every URDF and SRDF file of example-robot-data, here and in Pinocchio, and say how many load.

python tools/example_robots.py [--meshes] [--all]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pinocchio as pin

import elbowroom as er
from elbowroom.errors import ElbowroomError
from elbowroom.robot.descriptions._catalogue import example_robots_dir


@dataclass(frozen=True)
class Row:
    """One file."""

    path: Path
    """From the folder of the robots."""
    loads: bool
    """Whether it loads here."""
    pinocchio: bool
    """Whether Pinocchio takes it."""
    text: str
    """What was mended or noted, or the error."""

    def __str__(self) -> str:
        here, there = ("yes" if good else "NO" for good in (self.loads, self.pinocchio))
        return f"{self.path!s:70} {here:4} {there:4} {self.text}"


def load(path: Path, **options: object) -> er.Robot:
    """A robot, without its warnings: what they say is in its notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return er.load_robot(path, **options)  # pyright: ignore[reportArgumentType]


def urdfs(folder: Path, meshes: bool) -> Iterator[Row]:
    """Every URDF: it loads when its links, joints and shapes do, and with `meshes` all its mesh files too."""
    for path in sorted(folder.rglob("*.urdf")):
        try:
            robot = load(path)
            for link in robot.mesh_links if meshes else ():
                robot.link_mesh(link)
            loads, text = True, "; ".join(robot.mended)
        except ElbowroomError as error:
            loads, text = False, str(error).replace(f"{path}: ", "")
        yield Row(path.relative_to(folder), loads, _pinocchio(path) is not None, text)


def srdfs(folder: Path) -> Iterator[Row]:
    """Every SRDF: it loads when one of the URDFs of its package loads with it."""
    for path in sorted(folder.rglob("*.srdf")):
        package = folder / path.relative_to(folder).parts[0]
        notes: list[list[str]] = []
        text, taken = "no URDF in its package", False
        for urdf in sorted(package.rglob("*.urdf")):
            try:
                found = load(urdf, srdf=path).notes
                notes.append([note.text for note in found if note.where == path.name])
            except ElbowroomError as error:
                text = str(error).replace(f"{path}: ", "")
            model = _pinocchio(urdf)
            if model is not None:
                with contextlib.suppress(ValueError, RuntimeError), contextlib.redirect_stdout(io.StringIO()):
                    pin.loadReferenceConfigurations(model, str(path))
                    taken = True
        best = min(notes, key=len, default=None)
        if best is not None:
            text = f"{len(best)} entries left out: {best[0]}" if best else ""
        yield Row(path.relative_to(folder), best is not None, taken, text)


def _pinocchio(path: Path) -> pin.Model | None:
    try:
        return pin.buildModelFromUrdf(str(path))
    except (ValueError, RuntimeError):
        return None


def main() -> None:
    """Prints what is worth a look, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--meshes", action="store_true", help="read all mesh files too")
    parser.add_argument("--all", action="store_true", help="list files of which there is nothing to say, too")
    arguments = parser.parse_args()
    folder = example_robots_dir()
    if folder is None:
        raise SystemExit("example-robot-data is not installed")
    for kind, rows in (("URDF", list(urdfs(folder, arguments.meshes))), ("SRDF", list(srdfs(folder)))):
        print(f"{kind + ' file':70} here Pinocchio")
        for row in rows:
            if arguments.all or row.text or not (row.loads and row.pinocchio):
                print(row)
        here, there = sum(row.loads for row in rows), sum(row.pinocchio for row in rows)
        print(f"{here} of {len(rows)} {kind} files load here, {there} in Pinocchio\n")


if __name__ == "__main__":
    main()
