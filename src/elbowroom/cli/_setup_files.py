"""The files of `elbowroom setup`: what is written, and what each format cannot hold.

A file of an earlier run is written anew; one that was edited since is updated in place, so that what the user put in
stays; one that is of neither kind is somebody else's, and nothing at all is written beside it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .._files import plain, write_bytes
from ..errors import InputError
from ._setup_report import headline, report

if TYPE_CHECKING:
    from ._setup import Made

OURS, RECORD, REPORT = "robot.json", "setup.json", "report.md"
Writer = Callable[["Made", Path], tuple[str, ...]]


@dataclass(frozen=True)
class Product:
    """One kind of file."""

    use: str
    """Who reads it."""
    write: Writer
    """Writes it; returns what the format cannot hold. InputError: this robot has no such file."""


@dataclass
class Written:
    """What a run wrote."""

    folder: Path
    made: Made
    files: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """File -> what it cannot hold, and what to mind."""
    missing: dict[str, str] = field(default_factory=dict[str, str])
    """File -> why it was not written."""
    changes: tuple[str, ...] | None = None
    """What changed since the last run; None when there was none."""

    def facts(self) -> dict[str, Any]:
        """Everything as plain values."""
        made = self.made
        pose = made.pairs.default_pose
        return {
            "robot": made.robot.name,
            "folder": self.folder,
            "spheres": len(made.spheres),
            "proved": made.proof.proved,
            "pairs": {reason.name: count for reason, count in made.pairs.counts().items()},
            "by_meshes": len(made.pairs.by_meshes),
            **choices(made),
            "default_pose": pose and {"source": pose.source, "cfg": pose.cfg},
            "seconds": made.seconds,
            "files": {name: list(notes) for name, notes in self.files.items()},
            "not_written": self.missing,
            "changes": self.changes,
        }

    def text(self) -> str:
        """A short account for the terminal."""
        lines = [f"{self.made.robot.name}: {headline(self.made)}"]
        if self.changes is not None:
            count = f"{len(self.changes)} things" if self.changes else "nothing"
            lines += [f"changed since the last run: {count}", *(f"  {change}" for change in self.changes)]
        lines.append(f"in {self.folder}:")
        width = max(map(len, (*self.files, *self.missing)))
        lines += [f"  {name:<{width}}  {PRODUCTS[name].use}" for name in self.files if name in PRODUCTS]
        lines += [f"  {name:<{width}}  not written: {why}" for name, why in self.missing.items()]
        lines.append(f"  {REPORT:<{width}}  figures by link, and what each format cannot hold")
        return "\n".join(lines)


def write_all(folder: Path, made: Made, srdf: Path | None) -> Written:
    """Writes every file into a folder that is there.

    Raises:
        InputError: the folder holds files of the same names that no earlier run wrote, or of another robot.
    """
    from ._setup_changes import changes_since

    known = check_folder(folder, made.robot.name)
    written = Written(folder, made, changes=changes_since(folder / OURS, known, made))
    for name, product in PRODUCTS.items():
        path = folder / name
        fresh = known.get("files", {}).get(name) == _hash(path)
        try:
            with _restored(path, fresh):
                if name == SRDF and srdf is not None and not path.exists():
                    path.write_bytes(srdf.read_bytes())
                notes = product.write(made, path)
        except InputError as error:
            written.missing[name] = str(error).removeprefix(f"{path}: ")
            continue
        edited = () if fresh or not path.exists() or name not in known.get("files", {}) else (EDITED,)
        written.files[name] = (*edited, *notes)
    write_bytes(folder / REPORT, report(written, {n: p.use for n, p in PRODUCTS.items()}).encode())
    written.files[REPORT] = ()
    record = {
        "format": "elbowroom-setup",
        "robot": made.robot.name,
        "choices": choices(made),
        "files": {name: _hash(folder / name) for name in written.files},
    }
    write_bytes(folder / RECORD, json.dumps(plain(record), indent=1).encode() + b"\n")
    return written


def choices(made: Made) -> dict[str, Any]:
    """What the user chose, or what was chosen for them."""
    export = made.export
    return {
        "base_link": export.base_link,
        "tool_frames": export.tool_frames,
        "locked": dict(export.locked),
        "paths": export.paths,
    }


EDITED = "edited since the last run: spheres, pairs and the choices of this run are new, everything else is as it was"


def check_folder(folder: Path, robot: str) -> Mapping[str, Any]:
    """What the last run into a folder recorded; {} when there was none.

    Raises:
        InputError: something would be harmed: files of another robot, or files that no earlier run wrote; or there
            is no place for the folder.
    """
    if not folder.is_dir() and (folder.exists() or not folder.absolute().parent.is_dir()):
        found = "it is a file" if folder.exists() else f"there is no folder {folder.absolute().parent}"
        raise InputError(f"cannot make the folder {folder}: {found}")
    path = folder / RECORD
    known: dict[str, Any] = {}
    if path.exists():
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            if known["format"] != "elbowroom-setup" or not isinstance(known["files"], dict):
                raise KeyError("format")
        except (OSError, ValueError, KeyError, TypeError):
            raise InputError(
                f"{path}: this is not what an earlier setup wrote; choose another folder"
            ) from None
        if known.get("robot") != robot:
            raise InputError(
                f"{folder} holds the files of {known.get('robot')!r:.60}, not of {robot!r}; choose another "
                "folder"
            )
    foreign = [
        name
        for name in (*PRODUCTS, REPORT)
        if (folder / name).exists() and name not in known.get("files", {})
    ]
    if foreign:
        raise InputError(
            f"{folder} has files that setup would write and that no earlier setup wrote: {', '.join(foreign)}; "
            "choose another folder"
        )
    return known


@contextmanager
def _restored(path: Path, fresh: bool) -> Generator[None]:
    """Puts an old file aside while a new one is written from nothing; it comes back if that fails."""
    if not fresh or not path.exists():
        yield
        return
    aside = path.with_name(f".{path.name}.before")
    path.replace(aside)
    try:
        yield
    except BaseException:
        aside.replace(path)
        raise
    aside.unlink()


def _hash(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


# The products ----------------------------------------------------------------------------------


def _format(name: str, curobo: Literal[1, 2] | None = None) -> Writer:
    """Writes the spheres and pairs in a format."""

    def write(made: Made, path: Path) -> tuple[str, ...]:
        from .. import formats

        return formats.write(
            path,
            robot=made.robot,
            spheres=made.spheres,
            pairs=made.pairs,
            format=name,
            options=replace(made.export, curobo_version=curobo),
        )

    return write


def _picture(made: Made, path: Path) -> tuple[str, ...]:
    from ._spheres import plot

    plot(made.robot, made.spheres, path)
    return ()


def _matrix(made: Made, path: Path) -> tuple[str, ...]:
    from ..ui.draw import plot_pairs, save_figure

    save_figure(plot_pairs(made.pairs), path, dpi=130)
    return ()


SRDF = "robot.srdf"
PRODUCTS = {
    OURS: Product("everything, lossless; --spheres and --pairs of every verb take it", _format("json")),
    SRDF: Product("MoveIt: pairs with reasons, spheres, named poses", _format("srdf")),
    "curobo_v1.yml": Product("cuRobo 0.7", _format("curobo", curobo=1)),
    "curobo_v2.yml": Product("cuRobo 2", _format("curobo", curobo=2)),
    "robot.xrdf": Product("Isaac Sim, cuMotion, Lula", _format("xrdf")),
    "spheres.urdf": Product("VAMP, PyBullet, Pinocchio: the URDF with spheres to collide", _format("urdf")),
    "mujoco.xml": Product("MuJoCo: the tree with spheres and excluded pairs", _format("mjcf")),
    "robot.png": Product("picture of the robot and its spheres", _picture),
    "pairs.png": Product("picture of the pairs", _matrix),
}
