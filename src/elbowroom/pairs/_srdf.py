"""Pair matrices in SRDF files: `<disable_collisions>`, `<disable_default_collisions>`, `<enable_collisions>`.

Reading follows MoveIt: a link's default may be disabled, single pairs enabled again, single pairs disabled. Writing
edits the given file in place of making a new one: comments, order and every other element stay as they were.
What we computed is marked, in attributes and one element that other readers ignore, so that reading gives the same
pairs as computed again: `computed="elbowroom"`, `proved="true"` and the `clearance` of a proof, `evidence`, an
`<enable_collisions by="meshes">` for each pair that only meshes can decide, and `<elbowroom_pairs>` with the links
that were looked at and the default pose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from .._files import write_bytes
from .._frozen import frozen
from .._text import counted, nine_digits, shortest
from .._xml import append, numbers, remove
from ..errors import DescriptionError, ElbowroomError
from ..robot import DefaultPose, Robot
from ..robot.internal import DisabledPair, SrdfPairs, link_pair, srdf_pairs, srdf_tree
from ..typing import LinkPair
from ._evidence import PairEvidence, PairReason
from ._given import SRDF_REASONS, matrix_from_ignored
from ._matrix import PairMatrix

TO_SRDF = {
    PairReason.ADJACENT: "Adjacent",
    PairReason.DEFAULT: "Default",
    PairReason.ALWAYS: "Always",
    PairReason.NEVER_PROVED: "Never",
    PairReason.NEVER_SAMPLED: "Never",
    PairReason.USER: "User",
}
"""Our reasons as SRDF writes them."""
BY_DEFAULT = "SRDF default"
"""Source of pairs that `<disable_default_collisions>` disables without naming them."""
MARK = "elbowroom_pairs"
"""Element that says which links our computation looked at, and the default pose."""


def read_pairs_srdf(path: Path | str, robot: Robot) -> PairMatrix:
    """The pair matrix that an SRDF file describes for a robot.

    Links that the robot does not have are noted and left out, as files are often shared by variants.

    Raises:
        DescriptionError: broken XML, missing attributes, a link paired with itself, or no link in common.
    """
    where = str(path)
    root = srdf_tree(Path(path)).getroot()
    found = srdf_pairs(root, where, robot.link_names)
    if found.notes and not found.disabled:
        raise DescriptionError(f"{where}: the SRDF is for another robot than {robot.name}; {found.notes[0]}")
    return matrix_from_srdf(root, where, robot, found)


def matrix_from_srdf(root: Any, where: str, robot: Robot, found: SrdfPairs) -> PairMatrix:
    """The matrix of what an SRDF says; pairs that it does not name are checked."""
    evidence = {pair: _evidence(said) for pair, said in found.disabled.items()}
    mark = root.find(MARK)
    if mark is None:
        return matrix_from_ignored(robot, evidence, "SRDF", found.notes)
    looked_at = set((mark.get("links") or "").split()) & set(robot.link_names)
    for pair, said in found.enabled.items():
        if said.get("computed") == "elbowroom":
            text = said.get("evidence") or "checked because Elbowroom found that it can meet"
            by = "meshes" if said.get("by") == "meshes" else "spheres"
            evidence[pair] = PairEvidence(PairReason.CHECKED, text, decided_by=by)
    open_pair = PairEvidence(PairReason.CHECKED, "checked because Elbowroom found that it can meet")
    pose = _read_pose(mark, where, robot)
    return matrix_from_ignored(robot, evidence, "SRDF", found.notes, looked_at, open_pair, pose)


def write_pairs_srdf(
    path: Path | str, pairs: PairMatrix, template: Path | str | None = None
) -> tuple[str, ...]:
    """Writes a matrix as SRDF, all or nothing.

    Args:
        path: the file to write.
        pairs: the matrix.
        template: SRDF file whose comments, order and other elements are kept; may be `path` itself. None writes a
            file with the pairs alone.

    Returns:
        What SRDF cannot hold, as sentences.

    Raises:
        DescriptionError: the template is broken. InputError: the file cannot be written.
    """
    if template is None:
        root = etree.Element("robot", name=pairs.robot_name)
        root.text = "\n"
        tree = root.getroottree()
    else:
        tree = srdf_tree(Path(template))
        root = tree.getroot()
    lost = edit_pairs(root, pairs, str(template))
    data = etree.tostring(tree, xml_declaration=True, encoding="UTF-8")
    write_bytes(Path(path), data if data.endswith(b"\n") else data + b"\n")
    return lost


def edit_pairs(
    root: Any, pairs: PairMatrix, where: str, error: type[ElbowroomError] = DescriptionError
) -> tuple[str, ...]:
    """Makes the elements say what the matrix says, touching as few as possible; returns what they cannot say."""
    ignored = {pair: _attributes(pairs.entries[pair]) for pair in pairs.ignored}
    marks = {pair: _attributes(pairs.entries[pair]) for pair in pairs.by_meshes}
    edit_elements(root, where, ignored, set(pairs.checked), marks, error)
    computed = any(found.source == "computed" for found in pairs.entries.values())
    old = root.find(MARK)
    if old is not None:
        remove(root, old)
    unseen = unseen_in_srdf(pairs.ignored.values(), pairs.by_meshes)
    if not computed:
        return tuple(unseen)
    said = {"links": " ".join(pairs.link_names)}
    if pairs.default_pose is not None:
        said["default_cfg"] = shortest(map(nine_digits, pairs.default_pose.cfg.tolist()))
        said["pose"] = pairs.default_pose.source
        said["guessed"] = " ".join(pairs.default_pose.guessed_joints)
        if (
            root.find("group_state[@computed='elbowroom']") is None
        ):  # those are the poses, for everybody to read
            unseen.append("the default pose is in an element that only Elbowroom reads")
    append(root, MARK, said, after=("disable_collisions",))
    return (
        "samples, bounds, seeds, witnesses and what the pairs were made for are not held by SRDF",
        *unseen,
    )


def unseen_in_srdf(reasons: Iterable[PairReason], by_meshes: Sequence[LinkPair] = ()) -> list[str]:
    """What our SRDF holds on pairs that other readers of SRDF do not see."""
    counts = Counter(reasons)
    proved, sampled = counts[PairReason.NEVER_PROVED], counts[PairReason.NEVER_SAMPLED]
    lost: list[str] = []
    if proved:
        lost.append(
            f"{counted(proved, 'pair')} proved never to collide and {sampled} that collided in no sample are all Never"
            " to other readers, which ignore our attribute proved"
        )
    if by_meshes:
        lost.append(f"other readers do not know that meshes alone decide {first_of(by_meshes)}")
    return lost


def first_of(pairs: Sequence[LinkPair]) -> str:
    """How many pairs that are checked, and one of them."""
    a, b = pairs[0]
    return f"{counted(len(pairs), 'checked pair')} ({a} and {b}{', ...' if len(pairs) > 1 else ''})"


def edit_elements(
    root: Any,
    where: str,
    off: Mapping[LinkPair, Mapping[str, str]],
    on: set[LinkPair],
    marks: Mapping[LinkPair, Mapping[str, str]],
    error: type[ElbowroomError] = DescriptionError,
) -> None:
    """Makes an SRDF disable some pairs and not others; elements of pairs that are in neither stay.

    Args:
        root: the `<robot>` element.
        where: name of the file, for messages.
        off: pairs to disable, with attributes to set. A link's default says it as well where these are no more than
            `reason="User"`.
        on: pairs to check.
        marks: those of them that need an `<enable_collisions>` with attributes of its own.
        error: what a broken element raises.
    """
    by_default = {element.get("link") for element in root.findall("disable_default_collisions")}
    written: set[LinkPair] = set()
    for element in root.findall("disable_collisions"):
        pair = link_pair(where, element, error)
        if pair in on or pair in written:
            remove(root, element)
        elif pair in off:
            written.add(pair)
            _set(element, off[pair])
    enabled: set[LinkPair] = set()
    for element in root.findall("enable_collisions"):
        pair = link_pair(where, element, error)
        ours = element.get("computed") == "elbowroom"
        if pair in off or (ours and pair not in marks and not by_default & set(pair)):
            remove(root, element)
        else:
            enabled.add(pair)
            _set(element, marks.get(pair, {}))
    for pair in sorted(set(off) - written):
        attributes = {"reason": "User", **off[pair]}
        if attributes != {"reason": "User"} or not by_default & set(pair):
            _set(_add(root, "disable_collisions", pair), attributes)
    for pair in sorted(on - enabled):
        if by_default & set(pair) or pair in marks:
            _set(_add(root, "enable_collisions", pair), marks.get(pair, {}))


def _set(element: Any, attributes: Mapping[str, str]) -> None:
    """Sets missing attributes; our marks that no longer hold are removed."""
    if all(element.get(name) == value for name, value in attributes.items()):
        return
    for name in ("computed", "proved", "clearance", "by", "evidence"):
        if name not in attributes:
            element.attrib.pop(name, None)
    for name, value in attributes.items():
        element.set(name, value)


def _add(root: Any, tag: str, pair: LinkPair) -> Any:
    return append(root, tag, {"link1": pair[0], "link2": pair[1]}, after=("disable_collisions",))


def _attributes(found: PairEvidence) -> dict[str, str]:
    """What an element says of a pair: marks and evidence of what we computed, the words of a file as they were."""
    if found.reason is PairReason.CHECKED:
        return {"computed": "elbowroom", "by": found.decided_by, "evidence": found.text}
    if found.source == BY_DEFAULT:
        return {}
    if found.source == "SRDF" and found.srdf_reason is not None:
        return {"reason": found.srdf_reason} if found.srdf_reason else {}
    said = {"reason": TO_SRDF[found.reason]}
    if found.source == "computed":
        said["computed"] = "elbowroom"
    if found.reason is PairReason.NEVER_PROVED:
        said["proved"] = "true"
        if found.clearance is not None:
            said["clearance"] = repr(floor(1e6 * found.clearance) / 1e6)
    return {**said, "evidence": found.text}


def _evidence(said: DisabledPair) -> PairEvidence:
    if said.default_of is not None:
        text = f"ignored because the SRDF disables collisions of {said.default_of} by default"
        return PairEvidence(PairReason.USER, text, source=BY_DEFAULT)
    reason = SRDF_REASONS.get(said.reason.lower(), PairReason.USER)
    if reason is PairReason.NEVER_SAMPLED and said.attributes.get("proved") == "true":
        reason = PairReason.NEVER_PROVED
    says = f"says {said.reason!r}" if said.reason else "lists it"
    text = said.attributes.get("evidence") or f"ignored because the SRDF {says}"
    bound = clearance = None
    if reason is PairReason.NEVER_PROVED:
        bound, clearance = 0.0, _clearance(said.attributes.get("clearance"))
    if said.computed:
        return PairEvidence(reason, text, bound=bound, clearance=clearance)
    return PairEvidence(
        reason, text, bound=bound, clearance=clearance, source="SRDF", srdf_reason=said.reason
    )


def _clearance(value: str | None) -> float | None:
    """The proved clearance in metres that an element holds, if any."""
    try:
        return None if value is None else float(value)
    except ValueError as error:
        raise DescriptionError(f"clearance must be metres, found {value!r:.40}") from error


def _read_pose(mark: Any, where: str, robot: Robot) -> DefaultPose | None:
    """The default pose, if it is there and of as many joints as the robot's."""
    values = numbers(where, mark, "default_cfg", robot.dof) if mark.get("default_cfg") else None
    if values is None:
        return None
    cfg = frozen(np.array(values, dtype=np.float64))
    return DefaultPose(cfg, mark.get("pose", "SRDF"), tuple((mark.get("guessed") or "").split()))
