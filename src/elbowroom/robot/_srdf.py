"""SRDF files: named poses, groups, disabled pairs and their reasons.

Only what a Robot needs to know; writing SRDF is the business of `formats/`. Elements that are not
understood are left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._xml import at_line, attribute, numbers, read_xml
from ..errors import DescriptionError, ElbowroomError, unknown
from ..typing import LinkPair, sorted_pair


@dataclass(frozen=True)
class Srdf:
    """What an SRDF file says of a robot."""

    named: dict[str, dict[str, float]]
    """Group states: name -> joint -> value. States of one name in several groups are joined."""
    disabled: dict[LinkPair, str]
    """Pairs whose collision check is disabled, with the reason given ("" when none is)."""
    groups: dict[str, tuple[str, ...]]
    """Group -> names of the joints, links, chains and groups it lists, as written."""
    notes: tuple[str, ...] = ()
    """Entries that name joints or links the robot does not have; they are left out."""


def read_srdf(path: Path, link_names: tuple[str, ...], joint_names: tuple[str, ...]) -> Srdf:
    """Reads an SRDF file for a robot with these links and joints.

    Published SRDFs are often shared by variants of a robot, so unknown names are noted, not refused;
    an SRDF none of whose names fits belongs to another robot and is an error.

    Raises:
        DescriptionError: broken XML, missing attributes, values that are not numbers, another robot's file.
    """
    where = str(path)
    root = srdf_tree(path).getroot()
    links, joints = set(link_names), set(joint_names)
    notes: list[str] = []
    named: dict[str, dict[str, float]] = {}
    used = 0
    for state in root.findall("group_state"):
        values = named.setdefault(attribute(where, state, "name"), {})
        for element in state.findall("joint"):
            joint = attribute(where, element, "name")
            if joint not in joints:
                notes.append(f"group state {state.get('name')!r}: {unknown('joint', joint, joint_names)}")
                continue
            used += 1
            attribute(where, element, "value")
            numbers_given = numbers(where, element, "value", (1, 2, 3, 4, 6, 7))
            if numbers_given is not None and len(numbers_given) == 1:
                values[joint] = numbers_given[0]
            else:
                notes.append(
                    f"group state {state.get('name')!r}: joint {joint!r} has several values; left out"
                )
    disabled: dict[LinkPair, str] = {}
    for element in root.findall("disable_collisions"):
        names = [attribute(where, element, end) for end in ("link1", "link2")]
        missing = [name for name in names if name not in links]
        if missing:
            notes.append(f"disabled pair: {unknown('link', missing[0], link_names)}")
            continue
        used += 1
        disabled[link_pair(where, element)] = element.get("reason", "")
    if notes and not used:
        raise DescriptionError(f"{where}: the SRDF is for another robot; {notes[0]}")
    groups = {
        attribute(where, group, "name"): tuple(name for child in group for name in _names(child))
        for group in root.findall("group")
    }
    return Srdf(named, disabled, groups, tuple(notes))


def _names(element: Any) -> tuple[str, ...]:
    if not isinstance(element.tag, str):  # a comment
        return ()
    return tuple(value for key in ("name", "base_link", "tip_link") if (value := element.get(key)))


def srdf_tree(path: Path, error: type[ElbowroomError] = DescriptionError) -> Any:
    """The lxml tree of an SRDF file."""
    tree = read_xml(path, "SRDF file")
    if tree.getroot().tag != "robot":
        raise error(f"{path}: expected an SRDF with root <robot>, found <{tree.getroot().tag}>")
    return tree


def link_pair(where: str, element: Any, error: type[ElbowroomError] = DescriptionError) -> LinkPair:
    """The two links of a `<disable_collisions>` or `<enable_collisions>`, sorted by name."""
    a, b = (attribute(where, element, name, error) for name in ("link1", "link2"))
    if a == b:
        raise error(f"{at_line(where, element)}: link {a!r} is paired with itself")
    return sorted_pair(a, b)
