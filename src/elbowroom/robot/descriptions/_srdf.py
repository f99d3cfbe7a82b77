"""SRDF files: named poses, groups, disabled pairs and their reasons.

Only what a Robot needs to know; writing SRDF is the business of `formats/`. Elements that are not understood are left
alone. Which pairs are disabled is decided here for everybody, as MoveIt does it: a link's collisions may be disabled by
default, single pairs enabled again, single pairs disabled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..._xml import at_line, attribute, numbers, read_xml
from ...errors import DescriptionError, ElbowroomError, unknown
from ...typing import LinkPair, sorted_pair


@dataclass(frozen=True)
class DisabledPair:
    """What an SRDF says of a pair that it disables."""

    reason: str = ""
    """As written ("Adjacent", "Never", "Default", "Always", "User", ...); "" when none is given."""
    default_of: str | None = None
    """The link whose collisions are disabled by default, where no element names the pair itself."""
    attributes: Mapping[str, str] = field(default_factory=dict[str, str])
    """All attributes of the element that names the pair."""

    @property
    def computed(self) -> bool:
        """Whether Elbowroom computed and wrote it, rather than a user or another tool."""
        return self.attributes.get("computed") == "elbowroom"


@dataclass(frozen=True)
class SrdfPairs:
    """What an SRDF says of the pairs of a robot's links."""

    disabled: dict[LinkPair, DisabledPair]
    """Pairs that are not to be checked."""
    enabled: dict[LinkPair, dict[str, str]]
    """Pairs that elements enable and none disables, with the elements' attributes."""
    notes: list[str]
    """Entries that name links which do not exist."""


@dataclass(frozen=True)
class Srdf:
    """What an SRDF file says of a robot."""

    named: dict[str, dict[str, float]]
    """Group states: name -> joint -> value. States of one name in several groups are joined."""
    disabled: dict[LinkPair, DisabledPair]
    """Pairs whose collision check is disabled."""
    groups: dict[str, tuple[str, ...]]
    """Group -> names of the joints, links, chains and groups it lists, as written."""
    notes: tuple[str, ...] = ()
    """Entries that name joints or links the robot does not have; they are left out."""


def srdf_for_robot(path: Path, link_names: tuple[str, ...], joint_names: tuple[str, ...]) -> Srdf:
    """Reads an SRDF file for a robot with these links and joints.

    Published SRDFs are often shared by variants of a robot, so unknown names are noted, not refused;
    an SRDF none of whose names fits belongs to another robot and is an error.

    Raises:
        DescriptionError: broken XML, missing attributes, values that are not numbers, another robot's file.
    """
    where = str(path)
    root = srdf_tree(path).getroot()
    notes: list[str] = []
    named: dict[str, dict[str, float]] = {}
    used = 0
    for state in root.findall("group_state"):
        values = named.setdefault(attribute(where, state, "name"), {})
        for element in state.findall("joint"):
            joint = attribute(where, element, "name")
            if joint not in joint_names:
                notes.append(
                    f"value in group state {state.get('name')!r}: {unknown('joint', joint, joint_names)}"
                )
                continue
            used += 1
            attribute(where, element, "value")
            numbers_given = numbers(where, element, "value", (1, 2, 3, 4, 6, 7))
            if numbers_given is not None and len(numbers_given) == 1:
                values[joint] = numbers_given[0]
            else:
                notes.append(
                    f"value in group state {state.get('name')!r}: joint {joint!r} has several, of which none is taken"
                )
    pairs = srdf_pairs(root, where, link_names)
    disabled = pairs.disabled
    notes += pairs.notes
    if notes and not used and not disabled:
        raise DescriptionError(f"{where}: the SRDF is for another robot; {notes[0]}")
    groups = {
        attribute(where, group, "name"): tuple(name for child in group for name in _names(child))
        for group in root.findall("group")
    }
    return Srdf(named, disabled, groups, tuple(notes))


def srdf_pairs(
    root: Any, where: str, link_names: Iterable[str], error: type[ElbowroomError] = DescriptionError
) -> SrdfPairs:
    """The pairs of these links that an SRDF disables, and those that it enables.

    Args:
        root: the `<robot>` element.
        where: name of the file, for messages.
        link_names: the robot's links; what is disabled by default depends on them.
        error: what a broken element raises.
    """
    names = tuple(link_names)
    known = set(names)
    notes: list[str] = []
    found: dict[LinkPair, DisabledPair] = {}
    enabled: dict[LinkPair, dict[str, str]] = {}
    for element in root.findall("disable_default_collisions"):
        link = attribute(where, element, "link", error)
        if link not in known:
            notes.append(f"disable_default_collisions: {unknown('link', link, names)}")
            continue
        for other in names:
            if other != link:
                found[sorted_pair(link, other)] = DisabledPair("User", link)
    for tag in ("enable_collisions", "disable_collisions"):
        for element in root.findall(tag):
            ends = [attribute(where, element, end, error) for end in ("link1", "link2")]
            missing = next((name for name in ends if name not in known), None)
            if missing is not None:
                notes.append(f"{tag}: {unknown('link', missing, names)}")
                continue
            pair = link_pair(where, element, error)
            if tag == "enable_collisions":
                found.pop(pair, None)
                enabled[pair] = dict(element.attrib)
            else:
                enabled.pop(pair, None)
                found[pair] = DisabledPair(element.get("reason", ""), None, dict(element.attrib))
    return SrdfPairs(found, enabled, notes)


def srdf_tree(path: Path, error: type[ElbowroomError] = DescriptionError) -> Any:
    """The lxml tree of an SRDF file."""
    tree = read_xml(path, "SRDF file")
    if tree.getroot().tag != "robot":
        raise error(f"{path}: expected an SRDF with root <robot>, found <{tree.getroot().tag}>")
    if tree.getroot().find("link") is not None:
        raise error(f"{path}: expected an SRDF, found a URDF: it describes links")
    return tree


def link_pair(where: str, element: Any, error: type[ElbowroomError] = DescriptionError) -> LinkPair:
    """The two links of a `<disable_collisions>` or `<enable_collisions>`, sorted by name."""
    a, b = (attribute(where, element, name, error) for name in ("link1", "link2"))
    if a == b:
        raise error(f"{at_line(where, element)}: link {a!r} is paired with itself")
    return sorted_pair(a, b)


def _names(element: Any) -> tuple[str, ...]:
    if not isinstance(element.tag, str):  # a comment
        return ()
    return tuple(value for key in ("name", "base_link", "tip_link") if (value := element.get(key)))
