"""SRDF: sphere approximations of links and disabled pairs, in a file whose other contents stay as they are.

Which pairs `<disable_default_collisions>` means depends on the robot's links: with a robot they are read as MoveIt
does (defaults, then enabled pairs, then disabled ones), without one they are noted and left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from .._xml import append, at_line, attribute, numbers, parse_xml, remove
from ..errors import FormatError
from ..pairs import PairMatrix, PairReason
from ..pairs.doors import TO_SRDF, edit_elements, edit_pairs, matrix_from_srdf, unseen_in_srdf
from ..robot.doors import link_pair, srdf_pairs, srdf_tree
from ..spheres import SphereModel
from ..typing import LinkPair
from ._contents import (
    Contents,
    for_robot,
    is_template,
    lost_poses,
    lost_spheres,
    pairs_for_meshes,
    write_bytes,
)
from ._options import ExportOptions, without_loose

if TYPE_CHECKING:
    from ..robot import Robot

FORMAT = "srdf"
REASONS = {reason.name: word for reason, word in TO_SRDF.items()}
"""Names of our reasons -> MoveIt's words; others are written as they are."""
DEFAULT_OFF = "disable_default_collisions"


def read_srdf(path: str | Path, robot: Robot | None = None) -> Contents:
    """Reads `<link_sphere_approximation>`, `<disable_collisions>` and, with a robot, what is disabled by default.

    Raises:
        FormatError: an element is broken; the message names file, line and element.
        UnknownLinkError: the spheres are of another robot.
    """
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
    robot: Robot | None = None,
    spheres: SphereModel | None = None,
    pairs: Any = None,
    options: ExportOptions | None = None,
) -> tuple[str, ...]:
    """Writes spheres and disabled pairs; a file that is there already keeps comments, order and all else.

    Returns:
        What the format cannot hold.
    """
    path = Path(path)
    spheres, pairs, lost = without_loose(robot, spheres, pairs)
    lost += lost_spheres(spheres, "SRDF")
    if is_template(path):
        tree = srdf_tree(path, FormatError)
    else:
        lost += lost_poses(
            robot, "SRDF without groups, as a new file is; write into a copy of the robot's own"
        )
        name = robot.name if robot else (spheres.robot_name if spheres else "") or "robot"
        tree = parse_xml(etree.tostring(etree.Element("robot", name=name)), str(path))
    root = tree.getroot()
    if spheres is not None:
        _write_spheres(root, spheres)
    if isinstance(pairs, PairMatrix):
        lost += edit_pairs(root, pairs, str(path), FormatError)
    elif pairs is not None:
        lost += _write_pairs(root, pairs_for_meshes(pairs, "SRDF")[0], robot, str(path))
    write_bytes(path, etree.tostring(tree, xml_declaration=True, encoding="utf-8"))
    return tuple(lost)


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
            sphere = etree.SubElement(
                element, "sphere", center=" ".join(map(repr, center)), radius=repr(radius)
            )
            sphere.tail = "\n    "
        element[-1].tail = "\n  "


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
