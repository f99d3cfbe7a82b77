"""SRDF: sphere approximations of links, disabled pairs, planning groups and named states.

An existing file keeps its other contents as they are, and its groups and states; one without groups gets those of
`_srdf_groups.py`, marked as ours so that the next writing renews them. Numbers have at most nine significant digits,
and spheres are rounded outwards: each holds the exact one, so links stay covered.

Which pairs `<disable_default_collisions>` means depends on the robot's links: with a robot they are read as MoveIt
does (defaults, then enabled pairs, then disabled ones), without one they are noted and left out.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from .._text import nine_digits, shortest
from .._xml import add_line, append, at_line, attribute, numbers, parse_xml, remove
from ..errors import FormatError
from ..pairs import PairMatrix, PairReason
from ..pairs.internal import TO_SRDF, edit_elements, edit_pairs, matrix_from_srdf, unseen_in_srdf
from ..robot import as_robot
from ..robot.internal import link_pair, srdf_pairs, srdf_tree
from ..spheres import SphereModel
from ..typing import LinkPair, RobotLike
from ._contents import (
    Contents,
    for_robot,
    is_template,
    lost_spheres,
    pairs_for_meshes,
    write_bytes,
)
from ._options import ExportOptions, robot_facts, without_loose
from ._srdf_groups import planning_groups, states_of

if TYPE_CHECKING:
    from ..robot import Robot

FORMAT = "srdf"
REASONS = {reason.name: word for reason, word in TO_SRDF.items()}
"""Names of our reasons -> MoveIt's words; others are written as they are."""
DEFAULT_OFF = "disable_default_collisions"
OURS = {"computed": "elbowroom"}
"""Attributes of elements that we wrote; MoveIt does not mind them."""


def read_srdf(path: str | Path, robot: RobotLike | None = None) -> Contents:
    """Reads `<link_sphere_approximation>`, `<disable_collisions>` and, with a robot, what is disabled by default.

    Raises:
        FormatError: an element is broken; the message names file, line and element.
        UnknownLinkError: the spheres are of another robot.
    """
    robot = None if robot is None else as_robot(robot)
    path = Path(path)
    where = str(path)
    root = srdf_tree(path, FormatError).getroot()
    spheres: dict[str, tuple[list[list[float]], list[float]]] = {}
    notes: list[str] = []
    for element in root.findall("link_sphere_approximation"):
        link = attribute(where, element, "link", FormatError)
        if link in spheres:
            raise FormatError(f"{at_line(where, element)}: link {link!r} is approximated twice")
        centers, radii = spheres.setdefault(link, ([], []))
        for sphere in element.findall("sphere"):
            center, radius = numbers(where, sphere, "center", 3), numbers(where, sphere, "radius", 1)
            if center is None or radius is None:
                raise FormatError(f"{at_line(where, sphere)}: expected 'center' and 'radius'")
            if radius[0] < 0:
                raise FormatError(
                    f"{at_line(where, sphere)}: the radius must not be negative, found {radius[0]:g}"
                )
            if radius[0] > 0:
                centers.append(center)
                radii.append(radius[0])
            else:
                notes.append(f"link {link!r}: radius 0 means no sphere; left out")
    model = None
    if spheres:
        found = SphereModel.from_links(list(spheres), spheres, evidence={"source": path.name})
        model = for_robot(found, robot, path)
    ignored, said, matrix = _read_pairs(root, path, robot)
    return Contents(FORMAT, model, ignored, notes=(*notes, *said), pairs=matrix)


def _read_pairs(
    root: Any, path: Path, robot: Robot | None
) -> tuple[dict[LinkPair, str], list[str], PairMatrix | None]:
    """Pairs that are not to be checked, notes, and with a robot the whole matrix.

    Of links that are disabled by default, only pairs count of which both have geometry.
    """
    where = str(path)
    if robot is None:
        named = {link_pair(where, element, FormatError) for element in root.findall("disable_collisions")}
        found = srdf_pairs(root, where, {name for names in named for name in names}, FormatError)
        ignored = {names: said.reason for names, said in found.disabled.items() if said.default_of is None}
        counts = {tag: len(root.findall(tag)) for tag in (DEFAULT_OFF, "enable_collisions")}
        left = " and ".join(f"{count} <{tag}>" for tag, count in counts.items() if count)
        text = f"{left} not applied: what they mean depends on the robot; give it"
        return ignored, [text] if counts[DEFAULT_OFF] else [], None
    found = srdf_pairs(root, where, robot.link_names, FormatError)
    solid = set(robot.mesh_links)
    ignored = {
        names: said.reason
        for names, said in found.disabled.items()
        if said.default_of is None or set(names) <= solid
    }
    says = found.disabled or found.enabled
    return ignored, found.notes, matrix_from_srdf(root, where, robot, found) if says else None


def write_srdf(
    path: str | Path,
    *,
    robot: RobotLike | None = None,
    spheres: SphereModel | None = None,
    pairs: Any = None,
    options: ExportOptions | None = None,
) -> tuple[str, ...]:
    """Writes spheres, disabled pairs, groups and states; an existing file keeps comments, order and everything else.

    Args:
        path: the file; groups and states of its own stay, and ours are not added to them.
        robot: the robot; without it, there are no groups and states.
        spheres: the spheres.
        pairs: a PairMatrix or ignored pairs.
        options: base link, tool frames and default pose: chains begin at the one, end at the others, and the state
            `default` is the third.

    Returns:
        What the format cannot hold.
    """
    robot = None if robot is None else as_robot(robot)
    path = Path(path)
    spheres, pairs, lost = without_loose(robot, spheres, pairs)
    lost += lost_spheres(spheres, "SRDF")
    if is_template(path):
        tree = srdf_tree(path, FormatError)
    else:
        name = robot.name if robot else (spheres.robot_name if spheres else "") or "robot"
        tree = parse_xml(etree.tostring(etree.Element("robot", name=name)), str(path))
    root = tree.getroot()
    if robot is not None:
        _write_groups(root, robot, pairs, options or ExportOptions())
    if spheres is not None:
        _write_spheres(root, spheres)
        if any(nine_digits(value) != value for value in (*spheres.centers.flat, *spheres.radii)):
            lost.append("spheres are rounded outwards to nine digits in SRDF, so each holds the exact one")
    if isinstance(pairs, PairMatrix):
        lost += edit_pairs(root, pairs, str(path), FormatError)
    elif pairs is not None:
        lost += _write_pairs(root, pairs_for_meshes(pairs, "SRDF")[0], robot, str(path))
    write_bytes(path, etree.tostring(tree, xml_declaration=True, encoding="utf-8"))
    return tuple(lost)


def _write_groups(root: Any, robot: Robot, pairs: Any, options: ExportOptions) -> None:
    """Adds groups, end effectors and states to a file that has no groups of its own; renews ours."""
    kinds = ("group", "group_state", "end_effector")
    there = [element for kind in kinds for element in root.findall(kind)]
    ours = [element for element in there if element.get("computed") == OURS["computed"]]
    if len(ours) < len(there) or not robot.dof:
        return
    for element in ours:
        remove(root, element)
    facts = robot_facts(robot, pairs, options)
    groups = planning_groups(robot, facts)
    first = root[0] if len(root) else None
    for group in groups:
        element = add_line(root, "group", {"name": group.name, **OURS}, before=first)
        for tag, attributes in group.elements:
            add_line(element, tag, attributes)
    for group in groups:
        if group.parent is not None:
            link, carrier = group.parent
            said = {"name": group.name, "parent_link": link, "group": group.name, "parent_group": carrier}
            add_line(root, "end_effector", {**said, **OURS}, before=first)
    for state, values in states_of(robot, facts).items():
        for group in reversed(groups):  # of states of one name, Pinocchio keeps the first: that of all joints
            if group.joints:
                said = {"name": state, "group": group.name, **OURS}
                element = add_line(root, "group_state", said, before=first)
                for joint in group.joints:
                    add_line(element, "joint", {"name": joint, "value": values[joint]})


def _write_spheres(root: Any, spheres: SphereModel) -> None:
    """Updates approximations in place, removes those of links without spheres, appends new ones."""
    present = {element.get("link"): element for element in root.findall("link_sphere_approximation")}
    for link, element in present.items():
        says_none = all(sphere.get("radius") == "0" for sphere in element.findall("sphere"))
        if link not in spheres.counts and not says_none:
            remove(root, element)
    for link in spheres.counts:
        element = present.get(link)
        if element is None:
            element = append(root, "link_sphere_approximation", {"link": link})
        for sphere in element.findall("sphere"):
            element.remove(sphere)
        element.text = "\n    "
        centers, radii = spheres.link(link)
        for center, radius in zip(centers.tolist(), radii.tolist(), strict=True):
            sphere = etree.SubElement(element, "sphere", _rounded(center, radius))
            sphere.tail = "\n    "
        element[-1].tail = "\n  "


def _rounded(center: list[float], radius: float) -> dict[str, str]:
    """Attributes of a sphere in nine digits that holds the exact one: its radius makes up for its centre."""
    near = [nine_digits(value) for value in center]
    least = radius + math.dist(center, near)
    return {"center": shortest(near), "radius": shortest(nine_digits(least, decimal.ROUND_CEILING))}


def _write_pairs(root: Any, ignored: Mapping[LinkPair, str], robot: Robot | None, where: str) -> list[str]:
    """Makes the file disable these pairs and no others; returns what could not be done."""
    off = {names: _attributes(reason) for names, reason in ignored.items()}
    present = {link_pair(where, element, FormatError) for element in root.findall("disable_collisions")}
    everyone = set(combinations(sorted(robot.link_names), 2)) if robot is not None else set[LinkPair]()
    edit_elements(root, where, off, (present | everyone) - set(off), {}, FormatError)
    known = PairReason.__members__
    lost = unseen_in_srdf(known[reason] for reason in ignored.values() if reason in known)
    if robot is None and root.find(DEFAULT_OFF) is not None:
        lost.append(
            f"<{DEFAULT_OFF}> stays: without the robot, its pairs cannot be compared with those given"
        )
    return lost


def _attributes(reason: str) -> dict[str, str]:
    """What an element says of a pair; a proof is marked, so that we know it again."""
    word = REASONS.get(reason, reason)
    proved = {"proved": "true"} if reason == PairReason.NEVER_PROVED.name else {}
    return {"reason": word, **proved} if word else {}
