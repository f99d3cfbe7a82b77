"""The files of `elbowroom setup`: what is written, and what each format cannot hold.

Everything is made in a folder beside, and moved into place when all of it is there: a run that fails or is interrupted
changes nothing. A file that was edited since the last run stays as it is; the new one goes beside it. Files of the same
files of these names that no earlier run wrote belong to someone else, and the folder is refused.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .._files import UNFINISHED, make_folder, plain, write_bytes
from .._text import number
from ..errors import ElbowroomError, InputError
from ._common import pose_facts
from ._setup_report import headline, report

if TYPE_CHECKING:
    from ._setup import Made

OURS, RECORD, REPORT, SRDF = "robot.json", "setup.json", "report.md", "robot.srdf"
FORMAT = "elbowroom-setup"
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
    """File -> what it cannot hold, and what to keep in mind."""
    missing: dict[str, str] = field(default_factory=dict[str, str])
    """File -> why it was not written."""
    changes: tuple[str, ...] | None = None
    """What changed since the last run; None when there was none."""
    edited: dict[str, str] = field(default_factory=dict[str, str])
    """File that was edited since the last run and stays -> the new one beside it."""

    def facts(self) -> dict[str, Any]:
        """Everything as plain values."""
        made = self.made
        return {
            "robot": made.robot.name,
            "folder": self.folder,
            "spheres": len(made.spheres),
            "proved": made.proof.proved,
            "coverage": made.proof.counts(),
            "modelled": made.robot.modelled,
            "loose": made.spheres.notes,
            "pairs": {reason.name: count for reason, count in made.pairs.counts().items()},
            "by_meshes": len(made.pairs.by_meshes),
            "choices": made.choices,
            "default_pose": pose_facts(made.pairs.default_pose),
            "seconds": made.seconds,
            "files": {name: list(notes) for name, notes in self.files.items()},
            "not_written": self.missing,
            "edited": self.edited,
            "changes": self.changes,
        }

    def text(self) -> str:
        """A short account for the terminal."""
        lines = [f"{self.made.robot.name}: {headline(self.made)}"]
        lines += [f"  note: {text}" for text in (*self.made.robot.modelled, *self.made.spheres.notes)]
        if self.changes is not None:
            count = {0: "nothing", 1: "one thing"}.get(len(self.changes), f"{len(self.changes)} things")
            lines += [f"changed since the last run: {count}", *(f"  {change}" for change in self.changes)]
        lines.append(f"in {self.folder}:")
        width = max(map(len, (*self.files, *self.missing, *self.edited.values())))
        for name in self.files:
            aside = (
                f" (edited since the last run: it stays, new is {self.edited[name]})"
                if name in self.edited
                else ""
            )
            lines.append(f"  {name:<{width}}  {USES[name]}{aside}")
        lines += [f"  {name:<{width}}  not written: {why}" for name, why in self.missing.items()]
        return "\n".join(lines)


def write_all(folder: Path, made: Made) -> Written:
    """Makes every file, then moves them into a folder, which is made if need be.

    Raises:
        InputError: a place cannot be written, or the folder is not ours to write into.
    """

    known = check_folder(folder, made.robot.name)
    written = Written(folder, made, changes=changes_since(folder / OURS, known, made))
    recorded: dict[str, list[str]] = known.get("files", {})
    with _scratch(folder) as scratch:
        for name, product in PRODUCTS.items():
            try:
                written.files[name] = product.write(made, scratch / name)
            except InputError as error:
                if isinstance(error.__cause__, OSError):  # the disk, not the robot
                    raise
                written.missing[name] = str(error).removeprefix(f"{scratch / name}: ")
        make_folder(folder)
        places = {name: _place(folder, name, recorded) for name in (*written.files, REPORT)}
        written.edited = {name: place for name, place in places.items() if place != name}
        write_bytes(scratch / REPORT, report(written, USES).encode())
        written.files[REPORT] = ()
        new = {place: [_hash(scratch / name)] for name, place in places.items()}
        # An interrupt between two moves leaves old and new files, both of which the record knows.
        _keep_record(folder, made, {k: recorded.get(k, []) + new.get(k, []) for k in (*recorded, *new)})
        for name, place in places.items():
            write_bytes(folder / place, (scratch / name).read_bytes())
    _keep_record(folder, made, {**recorded, **new})
    return written


def check_folder(folder: Path, robot: str) -> Mapping[str, Any]:
    """What the last run into a folder recorded; {} when there was none.

    Raises:
        InputError: something would be harmed: files of another robot, or files that no earlier run wrote; or there
            is no place for the folder.
    """
    if not folder.is_dir() and (
        folder.exists() or folder.is_symlink() or not folder.absolute().parent.is_dir()
    ):
        there = folder.exists() or folder.is_symlink()
        found = "it is no folder" if there else f"there is no folder {folder.absolute().parent}"
        raise InputError(f"cannot make the folder {folder}: {found}")
    path = folder / RECORD
    known: dict[str, Any] = {}
    if path.exists():
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            if known["format"] != FORMAT or not all(isinstance(h, list) for h in known["files"].values()):
                raise KeyError("format")
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise InputError(
                f"{path}: this is not what an earlier setup wrote; choose another folder"
            ) from None
        if known.get("robot") != robot:
            raise InputError(
                f"{folder} holds the files of {known.get('robot')!r:.60}, not of {robot!r}; choose another folder"
            )
    foreign = [name for name in USES if (folder / name).exists() and name not in known.get("files", {})]
    if foreign:
        raise InputError(
            f"{folder} has files that setup would write and that no earlier setup wrote: {', '.join(foreign)}; "
            "choose another folder"
        )
    return known


@contextmanager
def _scratch(folder: Path) -> Generator[Path]:
    """A folder beside another, so that relative paths from both are the same; gone at the end, come what may."""
    try:
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name[:40]}.", dir=folder.absolute().parent))
    except OSError as error:
        raise InputError(f"cannot write beside {folder}: {error.strerror or error}") from error
    UNFINISHED.add(str(made))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        UNFINISHED.discard(str(made))


def _place(folder: Path, name: str, recorded: Mapping[str, list[str]]) -> str:
    """Name under which a file is written: its own, or another one beside a file that was edited."""
    path = folder / name
    if not path.exists() or _hash(path) in recorded.get(name, []):
        return name
    return f"{path.stem}.new{path.suffix}"


def _keep_record(folder: Path, made: Made, files: Mapping[str, list[str]]) -> None:
    record = {"format": FORMAT, "robot": made.robot.name, "choices": made.choices, "files": files}
    write_bytes(folder / RECORD, json.dumps(plain(record), indent=1).encode() + b"\n")


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# The products ----------------------------------------------------------------------------------


def _format(name: str, curobo: Literal[1, 2] | None = None) -> Writer:
    """Writes the spheres and pairs in a format."""

    def write(made: Made, path: Path) -> tuple[str, ...]:
        from .. import formats

        notes = formats.write(
            path,
            robot=made.robot,
            spheres=made.spheres,
            pairs=made.pairs,
            format=name,
            options=replace(made.export, curobo_version=curobo),
        )
        held = made.export.locked and name in ("srdf", "urdf", "mjcf")
        return (*notes, "joints that are to be held still are not stored by this format") if held else notes

    return write


def _srdf(made: Made, path: Path) -> tuple[str, ...]:
    """Writes into a copy of the robot's own SRDF, with its groups and states."""
    if made.srdf is not None:
        write_bytes(path, made.srdf)
    return _format("srdf")(made, path)


def _picture(made: Made, path: Path) -> tuple[str, ...]:
    from ._spheres import plot

    plot(made.robot, made.spheres, path, made.pairs.default_cfg)
    return ()


def _matrix(made: Made, path: Path) -> tuple[str, ...]:
    from ..ui.draw import plot_pairs, save_figure

    save_figure(plot_pairs(made.pairs), path, dpi=130)
    return ()


PRODUCTS = {
    OURS: Product(
        "everything, without loss; pass it to check, ik and plan as --spheres and --pairs", _format("json")
    ),
    SRDF: Product("MoveIt: planning groups, named states, pairs with reasons, spheres", _srdf),
    "curobo_v1.yml": Product("cuRobo 0.7", _format("curobo", curobo=1)),
    "curobo_v2.yml": Product("cuRobo 2", _format("curobo", curobo=2)),
    "robot.xrdf": Product("Isaac Sim, cuMotion, Lula", _format("xrdf")),
    "spheres.urdf": Product(
        "VAMP, PyBullet, Pinocchio: the URDF with spheres as collision shapes", _format("urdf")
    ),
    "mujoco.xml": Product(
        "MuJoCo: a model that holds its pose, with spheres and excluded pairs", _format("mjcf")
    ),
    "robot.png": Product("picture of the robot and its spheres", _picture),
    "pairs.png": Product("picture of the pairs", _matrix),
}
USES = {name: product.use for name, product in PRODUCTS.items()} | {
    REPORT: "what needs attention, figures by link, and what each format cannot store"
}


# What changed since the last `elbowroom setup` into a folder: description, choices, spheres, pairs ---

SHOWN = 12
"""Pairs named one by one; beyond, they are counted."""


def changes_since(path: Path, record: Mapping[str, Any], made: Made) -> tuple[str, ...] | None:
    """Sentences on what changed since our own file was written; None when there is none.

    Args:
        path: our own file of the last run.
        record: what the last run noted of its choices.
        made: what this run computed.
    """
    from .. import formats
    from ..robot.internal import description_changes, description_facts

    if not path.is_file():
        return None
    try:
        old = formats.read(path, format="json")
        said = list(description_changes(old.facts, description_facts(made.robot)))
    except (ElbowroomError, KeyError, TypeError, ValueError) as error:
        return (f"the {path.name} of the last run cannot be compared: {error}",)
    before = record.get("choices", {})
    for name, now in plain(made.choices).items():
        if name in before and before[name] != now:
            said.append(f"{name.replace('_', ' ')}: {_shown(before[name])} -> {_shown(now)}")
    said += _spheres(old.spheres.counts if old.spheres is not None else {}, made.spheres.counts)
    return (*said, *(_pairs(old.pairs, made) if old.pairs is not None else ()))


def _shown(value: Any) -> str:
    """A choice in words."""
    if isinstance(value, (list, dict)):
        pairs = value.items() if isinstance(value, dict) else ((None, entry) for entry in value)
        return ", ".join(_shown(v) if k is None else f"{k} {_shown(v)}" for k, v in pairs) or "none"
    return number(value) if isinstance(value, float) else "none" if value is None else str(value)


def _spheres(old: Mapping[str, int], new: Mapping[str, int]) -> list[str]:
    differ = [
        f"{link} {old.get(link, 0)} -> {new.get(link, 0)}"
        for link in dict.fromkeys((*old, *new))
        if old.get(link, 0) != new.get(link, 0)
    ]
    totals = f"{sum(old.values())} -> {sum(new.values())} in all"
    return [f"spheres: {', '.join(differ)} ({totals})"] if differ else []


def _pairs(old: Any, made: Made) -> list[str]:
    """Pairs whose reason changed; those that are no longer checked first."""
    diff = old.diff(made.pairs)
    ignored, checked = diff.newly_ignored, diff.newly_checked
    said = [
        f"pair {a}, {b}: {diff.changed[(a, b)][0]} -> {diff.changed[(a, b)][1]}"
        for a, b in (*ignored, *checked, *sorted(set(diff.changed) - set(ignored) - set(checked)))
    ]
    return said if len(said) <= SHOWN else [*said[:SHOWN], f"... and {len(said) - SHOWN} more pairs"]
