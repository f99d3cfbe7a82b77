"""What a file of any format holds, and the small helpers that all formats share."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from .._brief import brief
from .._files import is_template as is_template
from .._files import write_bytes as write_bytes
from .._kinds import MARK
from .._text import MAX_BITS, counted
from .._text import MAX_BYTES as MAX_BYTES
from .._text import read_text as read_text
from .._text import short as short
from ..errors import FormatError, InputError, UnknownLinkError
from ..pairs.internal import BY_MESHES, first_of
from ..typing import LinkPair, sorted_pair

if TYPE_CHECKING:
    from ..pairs import PairMatrix
    from ..robot import Robot
    from ..spheres import SphereModel


@brief
@dataclass(frozen=True)
class Contents:
    """What was read from a file."""

    format: str
    """Name of the format: json, curobo, xrdf, srdf, urdf or mjcf."""
    spheres: SphereModel | None = None
    ignored: Mapping[LinkPair, str] = field(default_factory=dict[LinkPair, str])
    """Pairs that the file says not to check, with the reason where it gives one. A pair with the reason
    "by meshes" is ignored by readers that know spheres alone, and checked by others."""
    robot: Robot | None = None
    """The robot, where the file is a description."""
    pairs: PairMatrix | None = None
    """The whole pair matrix, where the file holds one: JSON, or an SRDF that is read with the robot."""
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the description said when the file was written, where it keeps that: ours."""
    notes: tuple[str, ...] = ()
    """What the file holds that was not understood or cannot be represented."""


def mark_as_ours(root: Any) -> None:
    """Leaves a comment in a description that is written whole: it may be replaced later, one without it may not."""
    if not any(child.tag is etree.Comment and MARK in (child.text or "") for child in root):
        comment = etree.Comment(f" {MARK} ")
        comment.tail = "\n"
        indent = (root.text or "").rpartition("\n")[2]
        if len(root) and not (root[-1].tail or "").strip() and not indent.strip():
            root[-1].tail = f"\n{indent}"
        root.append(comment)


def pair(a: str, b: str, where: str) -> LinkPair:
    """A pair of two different links, sorted.

    Raises:
        FormatError: the two are the same.
    """
    if a == b:
        raise FormatError(f"{where}: link {a!r} is paired with itself")
    return sorted_pair(a, b)


def ignored_pairs(pairs: Any) -> dict[LinkPair, str]:
    """Pairs not to check, with reasons, from a PairMatrix, a mapping or an iterable of name pairs."""
    if pairs is None:
        return {}
    given = getattr(pairs, "ignored", pairs)
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise InputError(
            f"pairs: expected a PairMatrix, a mapping or an iterable of pairs, found {short(given)}"
        )
    items: Iterable[Any] = given.items() if isinstance(given, Mapping) else ((entry, "") for entry in given)
    found: dict[LinkPair, str] = {}
    for entry, reason in items:
        names: tuple[Any, ...] = tuple(entry) if isinstance(entry, Iterable) else ()
        if len(names) != 2 or isinstance(entry, str):
            raise InputError(f"pairs: expected pairs of two link names, found {short(entry)}")
        found[pair(str(names[0]), str(names[1]), "pairs")] = str(getattr(reason, "name", reason))
    return found


@contextmanager
def naming(path: Path) -> Generator[None]:
    """Errors about what a file holds name the file."""
    try:
        yield
    except (FormatError, UnknownLinkError) as error:
        raise type(error)(f"{path}: {error}") from error


def for_robot(model: SphereModel, robot: Robot | None, path: Path | None = None) -> SphereModel:
    """The spheres in the order of a robot's links, if one is given; warns when they are another robot's.

    Args:
        model: the spheres.
        robot: the robot; None leaves them as they are.
        path: the file that they were read from.
    """
    if robot is None:
        return model
    with nullcontext() if path is None else naming(path):
        return model.for_links(robot.link_names, robot.name)


def links_below(robot: Robot, base: str) -> frozenset[str]:
    """A link and all that it carries; nothing carries a free body of a scene that is not the robot's own."""
    loose = {note.where for note in robot.notes if note.kind == "loose"}
    carried: dict[str, list[str]] = {}
    for joint in robot.tree.joints:
        carried.setdefault(joint.parent, []).append(joint.child)
    found, waiting = {base}, [base]
    while waiting:
        children = [child for child in carried.get(waiting.pop(), ()) if child not in found | loose]
        found.update(children)
        waiting += children
    return frozenset(found)


def loose_links(robot: Robot | None) -> frozenset[str]:
    """Links of free bodies in a scene that are not the robot's own: no planner's file may say that they are fixed."""
    if robot is None:
        return frozenset()
    loose = (note.where for note in robot.notes if note.kind == "loose")
    return frozenset[str]().union(*(links_below(robot, link) for link in loose))


def number(value: Any, where: str) -> float:
    """A finite number.

    Raises:
        FormatError: anything else.
    """
    if not isinstance(value, bool) and isinstance(value, (int, float)):
        try:
            found = float(value)
        except OverflowError:  # an integer beyond the largest float
            found = float("inf")
        if abs(found) < float("inf"):
            return found
    raise FormatError(f"{where}: expected a finite number, found {short(value)}")


def name_of(value: Any, where: str) -> str:
    """The name of a link: text, or a number where YAML takes a name for one.

    Raises:
        FormatError: anything else.
    """
    if isinstance(value, str):
        return str(value)
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not plain or (isinstance(value, int) and value.bit_length() > MAX_BITS):
        raise FormatError(f"{where}: expected the name of a link, found {short(value)}")
    return str(value)


def lost_of_pairs(ignored: Mapping[LinkPair, str], kind: str) -> list[str]:
    """A note on what a kind of file that only lists ignored pairs does not hold of them."""
    reasons = sum(reason not in ("", BY_MESHES) for reason in ignored.values())
    return (
        [f"reasons and evidence of {counted(reasons, 'ignored pair')} are not kept by {kind}"]
        if reasons
        else []
    )


def pairs_for_spheres(pairs: Any, robot: Robot | None, kind: str) -> tuple[dict[LinkPair, str], list[str]]:
    """Pairs that a reader which knows spheres alone must not check, and notes on what it will not know.

    Pairs that only meshes can decide are among them, for their spheres overlap at rest: checked, they would always
    collide. Without pairs, those that the robot's SRDF or MJCF disables stand for them.
    """
    if pairs is None:
        loose = loose_links(robot)
        disabled = robot.disabled_pairs if robot is not None else {}
        said = {names: word for names, word in disabled.items() if not loose & set(names)}
        return said, [] if said or robot is None else [
            "no pair is ignored, so neighbouring links always collide; give pairs, or load the robot with its SRDF"
        ]
    ignored = ignored_pairs(pairs) | dict.fromkeys(getattr(pairs, "by_meshes", ()), BY_MESHES)
    notes = lost_of_pairs(ignored, kind)
    by_meshes = meshes_decide(ignored)
    if by_meshes:
        notes.append(
            f"meshes alone decide {first_of(by_meshes)}, since their spheres overlap at rest: ignored in {kind} and"
            " not checked by its readers"
        )
    return ignored, notes


def meshes_decide(ignored: Mapping[LinkPair, str]) -> list[LinkPair]:
    """The pairs among those ignored by sphere readers that meshes decide."""
    return sorted(names for names, reason in ignored.items() if reason == BY_MESHES)


def pairs_for_meshes(pairs: Any, kind: str) -> tuple[dict[LinkPair, str], list[str]]:
    """Pairs that a reader which knows meshes must not check, and notes on what it will not know."""
    ignored = {names: reason for names, reason in ignored_pairs(pairs).items() if reason != BY_MESHES}
    return ignored, lost_of_pairs(ignored, kind)


def lost_poses(robot: Robot | None, kind: str) -> list[str]:
    """A note on the robot's named poses, of which a kind of file holds at most one, the default."""
    poses = robot.named_cfgs if robot is not None else {}
    named = [name for name in sorted(poses) if robot and (poses[name] != robot.default_cfg).any()]
    return [f"named poses are not kept by {kind}: {', '.join(named)}"] if named else []


def lost_spheres(model: SphereModel | None, unpadded: str = "") -> list[str]:
    """Notes on what a format does not hold of a model: names of attached objects, padding, the proof of coverage.

    Args:
        model: the model.
        unpadded: the kind of file, if it holds no padding.
    """
    if model is None:
        return []
    lost: list[str] = []
    if model.objects:
        lost.append(f"attached objects become spheres of their links: {', '.join(model.objects)}")
    if unpadded and (model.self_padding or model.world_padding):
        lost.append(f"padding is not kept by {unpadded}")
    return lost
