"""Pair matrices in SRDF files: `<disable_collisions>`, `<disable_default_collisions>`, `<enable_collisions>`.

Reading follows MoveIt: a link's default may be disabled, single pairs enabled again, single pairs disabled. Writing
edits the given file in place of making a new one: comments, order and every other element stay as they were.
SRDF knows one kind of never; ours that are proved carry `proved="true"` and every pair the sentence that explains
it as `evidence`, attributes that other readers ignore.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from .._files import write_bytes
from .._xml import append, remove
from ..errors import DescriptionError
from ..robot import DisabledPair, Robot, disabled_in_srdf, link_pair, srdf_tree
from ..typing import LinkPair
from ._given import SRDF_REASONS, matrix_from_ignored
from ._matrix import PairEvidence, PairMatrix, PairReason

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


def read_pairs_srdf(path: Path | str, robot: Robot) -> PairMatrix:
    """The pair matrix that an SRDF file describes for a robot.

    Links that the robot does not have are noted and left out, as files are often shared by variants.

    Raises:
        DescriptionError: broken XML, missing attributes, a link paired with itself, or no link in common.
    """
    ignored, notes = pairs_in_srdf(srdf_tree(Path(path)).getroot(), str(path), robot)
    return matrix_from_ignored(robot, ignored, "SRDF", notes)


def pairs_in_srdf(root: Any, where: str, robot: Robot) -> tuple[dict[LinkPair, PairEvidence], list[str]]:
    """Evidence for the pairs of a robot that an SRDF disables, and notes on links that the robot does not have."""
    found, notes = disabled_in_srdf(root, where, robot.link_names)
    if notes and not found:
        raise DescriptionError(f"{where}: the SRDF is for another robot than {robot.name}; {notes[0]}")
    return {pair: _evidence(said) for pair, said in found.items()}, notes


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
    edit_pairs(root, pairs, str(template))
    data = etree.tostring(tree, xml_declaration=True, encoding="UTF-8")
    write_bytes(Path(path), data if data.endswith(b"\n") else data + b"\n")
    counted = sum(1 for found in pairs.entries.values() if found.samples)
    lost = "samples, bounds, seeds and witnesses are not held by SRDF; their sentences are, as attributes"
    return (lost,) if counted else ()


def edit_pairs(root: Any, pairs: PairMatrix, where: str) -> None:
    """Makes the elements say what the matrix says, touching as few as possible."""
    wanted = {pair: found for pair, found in pairs.entries.items() if found.reason is not PairReason.CHECKED}
    checked = set(pairs.checked)
    off = {element.get("link") for element in root.findall("disable_default_collisions")}
    written: set[LinkPair] = set()
    for element in root.findall("disable_collisions"):
        pair = link_pair(where, element)
        if pair in checked or pair in written:
            remove(root, element)
        elif pair in wanted:
            written.add(pair)
            _update(element, wanted[pair])
    enabled: set[LinkPair] = set()
    for element in root.findall("enable_collisions"):
        pair = link_pair(where, element)
        if pair in wanted:
            remove(root, element)
        else:
            enabled.add(pair)
    for pair, found in wanted.items():
        if pair not in written and not (off & set(pair) and found.source == BY_DEFAULT):
            _update(_add(root, "disable_collisions", pair), found)
    for pair in sorted(checked - enabled):
        if off & set(pair):
            _add(root, "enable_collisions", pair)


def _update(element: Any, found: PairEvidence) -> None:
    """Sets reason and evidence unless the element already says the same."""
    if _evidence(DisabledPair(element.get("reason", ""), None, element.attrib)) == found:
        return
    if found.source == "SRDF" and found.srdf_reason is not None:
        element.set("reason", found.srdf_reason)
    else:
        element.set("reason", TO_SRDF[found.reason])
    element.attrib.pop("proved", None)
    if found.reason is PairReason.NEVER_PROVED:
        element.set("proved", "true")
    element.set("evidence", found.text)


def _evidence(said: DisabledPair) -> PairEvidence:
    if said.default_of is not None:
        text = f"ignored because the SRDF disables collisions of {said.default_of} by default"
        return PairEvidence(PairReason.USER, text, source=BY_DEFAULT)
    reason = SRDF_REASONS.get(said.reason.lower(), PairReason.USER)
    if reason is PairReason.NEVER_SAMPLED and said.attributes.get("proved") == "true":
        reason = PairReason.NEVER_PROVED
    text = said.attributes.get("evidence") or f"ignored because the SRDF says {said.reason or 'so'!r}"
    bound = 0.0 if reason is PairReason.NEVER_PROVED else None
    return PairEvidence(reason, text, bound=bound, source="SRDF", srdf_reason=said.reason)


def _add(root: Any, tag: str, pair: LinkPair) -> Any:
    return append(root, tag, {"link1": pair[0], "link2": pair[1]}, after=("disable_collisions",))
