"""Files of what a page holds: every format, as bytes to download or at a path that the user typed.

A page's spheres and pairs may be in no file yet. The model file holds them without loss, and the scene file the
obstacles; every other format is what `elbowroom convert` makes of these two, to the byte.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from ._commands import Need, command, file_name, robot_words

if TYPE_CHECKING:
    from ..collision import CollisionModel
    from ._view import View

MAX_PATH = 1000
"""Characters of a path."""


@dataclass(frozen=True)
class Kind:
    """A format of the Export panel."""

    label: str
    ending: str
    """Of the names of downloads, after the robot's name."""
    format: str
    """As `formats.write` or `World.write` call it."""
    about: str
    """What it is for, and what it holds."""
    spheres: bool = True
    pairs: bool = True
    """Whether it is given these."""


KINDS: Mapping[str, Kind] = {
    "model": Kind(
        "Model (JSON)",
        "_model.json",
        "json",
        "Spheres and pairs with all evidence, without loss. Commands start from this file.",
    ),
    "scene": Kind(
        "Scene (JSON)", "_scene.json", "json", "The obstacles, without loss. Commands start from this file."
    ),
    "curobo": Kind("cuRobo (YAML)", ".yml", "curobo", "For cuRobo: spheres, ignored pairs, joints, tools."),
    "xrdf": Kind("XRDF", ".xrdf", "xrdf", "For Isaac: spheres, ignored pairs, joints, tools."),
    "srdf": Kind("SRDF", ".srdf", "srdf", "For MoveIt: disabled pairs with reasons, and spheres."),
    "urdf": Kind(
        "Spherized URDF", "_spheres.urdf", "urdf", "The description with spheres as its collision shapes."
    ),
    "mjcf": Kind("MJCF", "_spheres.xml", "mjcf", "For MuJoCo: sphere geoms and excluded pairs."),
    "spheres": Kind("Spheres (JSON)", "_spheres.json", "json", "Spheres alone.", pairs=False),
    "pairs": Kind(
        "Pairs (JSON)", "_pairs.json", "json", "Pairs alone, with reasons and evidence.", spheres=False
    ),
    "moveit": Kind("Scene (YAML)", "_scene.yaml", "moveit", "The obstacles, for MoveIt."),
}
"""In the order of the list."""
SCENES = ("scene", "moveit")


def default_name(view: View, kind: str) -> str:
    """Of a download."""
    return file_name(view, KINDS[kind].ending)


def typed_path(view: View, kind: str, text: str) -> Path:
    """The file that a typed path means; in an existing folder, one of the default name.

    Raises:
        InputError: nothing was typed, or what is no path.
    """
    text = text.strip()
    if not text or len(text) > MAX_PATH or not text.isprintable():
        raise InputError("type where to write: an existing folder, or a file in one")
    try:
        path = Path(text).expanduser().absolute()
        return path / default_name(view, kind) if path.is_dir() else path
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"{text!r:.80} is no path: {error}") from None


def export_to(view: View, kind: str, path: Path) -> tuple[str, ...]:
    """Writes a file; returns what the format cannot hold, and what to keep in mind.

    Raises:
        InputError: the place cannot be written, or there is nothing to write. FormatError: a file of another kind is
            there; it stays.
    """
    from .. import formats

    chosen, robot = KINDS[kind], view.robot
    if robot is None:
        raise InputError("there is no robot yet whose files could be written")
    if kind in SCENES:
        world = view.state.model.world
        if world is None or not len(world):
            raise InputError("there are no obstacles to write")
        return world.write(path, chosen.format)
    model = _bare(view)
    spheres = view.state.model.spheres
    spheres = model.spheres if spheres is None else spheres
    held = [item.name for item in view.state.model.attached]
    lost = formats.write(
        path,
        robot=robot,
        spheres=spheres if chosen.spheres else None,
        pairs=model.pairs if chosen.pairs else None,
        format=chosen.format,
    )
    return (*lost, *([f"objects that links hold are not written: {', '.join(held)}"] if held else []))


def export_bytes(view: View, kind: str) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """The files of a download, by name, the main one first, and what the format cannot hold.

    Raises:
        InputError: there is nothing to write.
    """
    name = default_name(view, kind)
    with tempfile.TemporaryDirectory(prefix="elbowroom_") as folder:
        notes = export_to(view, kind, Path(folder) / name)
        found = {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}
        notes = tuple(note.replace(f"{folder}/", "") for note in notes)
    return {name: found.pop(name), **found}, notes


def export_command(view: View, kind: str, path: str | None = None) -> tuple[str, tuple[Need, ...]]:
    """The command that writes the same file from the files that it needs; "" where there is none.

    Args:
        view: the page. kind: the format. path: where to; None for the name of a download.
    """
    chosen, robot = KINDS[kind], robot_words(view)
    target = path or default_name(view, kind)
    if kind == "moveit":
        return _converted(view, "scene", target, (), chosen.format), ("scene",)
    if robot is None or kind in ("model", "scene", "pairs") or view.robot is None:
        return "", ()
    if kind == "spheres":
        source = file_name(view, KINDS["model"].ending)
        return command("spheres", *robot, "--spheres", source, "--out", target, *_told(target, "json")), (
            "model",
        )
    return _converted(view, "model", target, ("--robot", *robot), chosen.format), ("model",)


def _converted(view: View, source: Need, target: str, words: tuple[str, ...], format: str) -> str:
    extra = _told(target, format, "--target-format")
    return command("convert", file_name(view, KINDS[source].ending), target, *words, *extra)


def _told(target: str, format: str, flag: str = "--format") -> tuple[str, ...]:
    """Words that name the format where the extension does not."""
    from ..formats.internal import EXTENSIONS

    known = {"moveit": (".yaml", ".yml")}.get(
        format, tuple(ext for ext, name in EXTENSIONS.items() if name == format)
    )
    return () if Path(target).suffix.lower() in known else (flag, format)


def _bare(view: View) -> CollisionModel:
    """The page's model with nothing held.

    Raises:
        InputError: it is being made.
    """
    model = view.model
    if model is None or not view.current:
        raise InputError("the model is being made; try again when it is there")
    for item in reversed(view.state.model.attached):
        model = model.detach(item.name)
    return model
