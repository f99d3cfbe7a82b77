"""MJCF with sphere geoms and excluded pairs.

A robot that came from an MJCF file keeps that file, and of it only the robot's own bodies are touched (`_mjcf_files.py`
says which): their other geoms stay visible but no longer collide, spheres without mass are added, comments and order
stay; floors, tables and what lies on them are as before. Included files that hold bodies become part of it. A robot
from elsewhere gets a new file with the same tree, joints, limits, couplings and masses (`_mjcf_tree.py`,
`_mjcf_mass.py`), servos that hold its poses (`_mjcf_drive.py`), and only spheres. Numbers are written in full; MuJoCo's
own writer keeps six digits, which can make a sphere that just covers a link too small.

Checked pairs that MuJoCo would drop, for it does not let a body collide with what carries it, become explicit pairs of
spheres. Pairs without spheres are excludes alone: in the robot's file, or in one to include where it has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path
from typing import Any

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from .._xml import add_line, read_xml, remove
from ..errors import InputError
from ..pairs import PairMatrix
from ..pairs.internal import BY_MESHES
from ..robot import Robot, as_robot
from ..robot.internal import adjacent_pairs, description_tree
from ..spheres import SphereModel
from ..typing import LinkPair, RobotLike, sorted_pair
from . import _mjcf_spheres as balls
from ._contents import (
    Contents,
    for_robot,
    is_template,
    lost_spheres,
    mark_as_ours,
    pair,
    pairs_for_meshes,
    pairs_for_spheres,
    write_bytes,
)
from ._mjcf_drive import CLASS
from ._mjcf_files import SPHERE_BITS, MjcfScene, anchor_assets, anchor_includes, scene_of, splice_bodies
from ._mjcf_tree import WORLD, tree_of
from ._options import ExportOptions
from ._urdf import read_description

FORMAT, KIND = "mjcf", "MJCF"


def read_mjcf(path: str | Path, robot: RobotLike | None = None) -> Contents:
    """Reads an MJCF file: the robot, the sphere geoms that collide, and the excluded pairs.

    A file of excludes alone, to be included in others, gives these.
    """
    robot = None if robot is None else as_robot(robot)
    import mujoco

    path = Path(path)
    root = read_xml(path, "MJCF").getroot()
    if root.find(".//body") is None and root.find(".//include") is None:
        found = [(e.get("body1", ""), e.get("body2", "")) for e in root.iter("exclude")]
        if found:
            return Contents(FORMAT, ignored={pair(a, b, f"{path}: exclude"): "" for a, b in found})
    contents = read_description(path, robot, FORMAT)
    # Not the robot's own disabled pairs, which leave out those with a world that is no link of it.
    spec: Any = mujoco.MjSpec.from_file(str(path))  # pyright: ignore[reportAttributeAccessIssue]
    marked = {entry.name for entry in spec.excludes if entry.name.startswith(BY_MESHES)}
    excluded = {
        pair(entry.bodyname1, entry.bodyname2, f"{path}: exclude"): BY_MESHES if entry.name in marked else ""
        for entry in spec.excludes
    }
    return replace(contents, ignored=excluded)


@dataclass(frozen=True)
class _Sheet:
    """A document to write into."""

    tree: Any
    scene: MjcfScene
    source: Path | None
    """File that the document was read from; None for a new one."""

    @property
    def root(self) -> Any:
        return self.tree.getroot()


def write_mjcf(
    path: str | Path,
    *,
    robot: RobotLike | None = None,
    spheres: SphereModel | None = None,
    pairs: Any = None,
    options: ExportOptions | None = None,
) -> tuple[str, ...]:
    """Writes the robot as MJCF with spheres as its colliding geoms and ignored pairs as excludes.

    Args:
        path: the file. Excludes alone are written into an existing scene.
        robot: the robot; needed unless pairs alone are written.
        spheres: the spheres; None leaves the robot's own geoms as they are.
        pairs: a PairMatrix or ignored pairs; None leaves the excludes of the robot's file, and writes those of its SRDF
            into a new one.
        options: not needed; accepted so that all writers are called alike.

    Returns:
        What the format cannot hold, and what to keep in mind.

    Raises:
        InputError: spheres without a robot, another scene at the place of a new file, a body of the robot without a
            name, a robot with a link called `world` that is not MuJoCo's, or a document in which MuJoCo takes a sphere
            for something else; nothing is written then.
    """
    robot = None if robot is None else as_robot(robot)
    path = Path(path)
    if spheres is not None and robot is None:
        raise InputError(f"{path}: MJCF needs the robot of the spheres")
    sheet, lost = _sheet(path, robot, spheres, pairs)
    if sheet is None:
        return _write_fragment(path, pairs)
    own, model = sheet.scene.own, None
    excluded: dict[LinkPair, str] | None = None
    if pairs is not None or sheet.source is None:
        ignored, said = (
            pairs_for_spheres(pairs, robot, KIND) if spheres is not None else pairs_for_meshes(pairs, KIND)
        )
        excluded = {names: word for names, word in ignored.items() if own.issuperset(names)}
        outside = len(ignored) - len(excluded)
        text = f"{outside} ignored pairs with bodies that are not the robot's, or not there, are left out"
        lost += [*said, text] if outside else said
    explicit = _explicit_pairs(sheet.root)
    if spheres is not None:
        if pairs is not None:
            sheet = replace(sheet, scene=sheet.scene.letting_links_meet())
        model = for_robot(spheres, robot)
        lost += [*lost_spheres(spheres, KIND), *_write_spheres(sheet, model, path)]
    if excluded is not None:
        _write_excludes(sheet.root, excluded, own)
    if pairs is not None:
        links = own if robot is None else own & set(robot.mesh_links if model is None else model.counts)
        explicit = _checked(pairs, robot, links, excluded or {})
    lost += _keep(sheet, explicit)
    data = _marked(path, sheet.tree, sheet.source)
    beside = sheet.source is not None and path.parent.resolve() == sheet.source.parent.resolve()
    balls.prove_compiled(data, path, beside, model, own)
    write_bytes(path, data)
    return tuple(lost)


def _sheet(
    path: Path, robot: Robot | None, spheres: SphereModel | None, pairs: Any
) -> tuple[_Sheet | None, list[str]]:
    """What to write into: the robot's file, the existing scene, or a new one; None where excludes stand alone."""
    there = read_xml(path, "MJCF") if is_template(path) else None
    if there is not None and there.getroot().tag != "mujoco":
        raise InputError(f"{path}: there is a file already that is not MJCF: <{there.getroot().tag}>")
    if robot is not None and robot.path is not None:
        tree = description_tree(robot)
        if tree is not None and tree.getroot().tag == "mujoco":
            return _user_sheet(tree, robot.path, path, robot)
    if spheres is None:
        holds = there is not None and next(there.getroot().iter("body", "include"), None) is not None
        return _user_sheet(there, path, path, robot) if holds else (None, [])
    assert robot is not None
    if there is not None and _is_foreign(there.getroot()):
        raise InputError(
            f"{path}: there is a scene already; load the robot from it to write into it, or write into a new file"
        )
    return _new_sheet(robot, pairs)


def _is_foreign(root: Any) -> bool:
    """Whether a document holds geoms other than our spheres, so that it is not entirely ours."""
    bodies = root.find("worldbody")
    return bodies is not None and not all(map(balls.is_ours, bodies.iter("geom")))


def _new_sheet(robot: Robot, pairs: Any) -> tuple[_Sheet, list[str]]:
    """A new document of a robot from elsewhere; everything in it is the robot's."""
    import mujoco

    cfg = getattr(pairs, "default_cfg", None)
    tree, lost = tree_of(robot, robot.default_cfg if cfg is None else cfg)
    text = etree.tostring(tree).decode()
    scene = scene_of(mujoco.MjModel.from_xml_string(text))  # pyright: ignore[reportAttributeAccessIssue]
    links = robot.link_names
    scene = replace(scene, own=frozenset(links), bits=dict.fromkeys(links, SPHERE_BITS))
    return _Sheet(tree, scene, None), lost


def _user_sheet(tree: Any, source: Path, path: Path, robot: Robot | None) -> tuple[_Sheet, list[str]]:
    """A user's document, with the bodies of included files in it, to be written to a path."""
    import mujoco

    scene = scene_of(mujoco.MjModel.from_xml_path(str(source)))  # pyright: ignore[reportAttributeAccessIssue]
    if robot is not None:
        scene = replace(scene, own=scene.own & set(robot.link_names))
    root, folder = tree.getroot(), source.parent
    splice_bodies(root, folder)
    lost: list[str] = []
    if path.parent.resolve() != folder.resolve():
        lost = [*anchor_includes(root, folder, path), *anchor_assets(root, folder)]
    return _Sheet(tree, scene, source), lost


def _marked(path: Path, tree: Any, source: Path | None) -> bytes:
    """A document's text; one that goes back to where it came from stays the user's, others are marked as ours."""
    if source is None or not path.exists() or not path.samefile(source):
        mark_as_ours(tree.getroot())
    if source is None:
        etree.indent(tree, "  ")
    return etree.tostring(tree, xml_declaration=True, encoding="utf-8") + b"\n"


def _write_fragment(path: Path, pairs: Any) -> tuple[str, ...]:
    """Writes excludes alone, for a robot whose MJCF is not known."""
    ignored, lost = pairs_for_meshes(pairs, KIND)
    root = read_xml(path, "MJCF").getroot() if is_template(path) else etree.Element("mujoco")
    named = {element.get(key) for element in root.iter("exclude") for key in ("body1", "body2")}
    _write_excludes(root, ignored, frozenset(named))
    write_bytes(path, _marked(path, root.getroottree(), path if is_template(path) else None))
    text = (
        "the file holds excludes alone: <include> it in an MJCF whose bodies have the links' names (MuJoCo's own"
        ' reader of URDF joins fixed links unless fusestatic="false"), or write spheres too'
    )
    return (*lost, text)


def _write_spheres(sheet: _Sheet, model: SphereModel, path: Path) -> list[str]:
    """Gives the robot's bodies spheres and silences their other geoms; returns what was left out."""
    root, scene = sheet.root, sheet.scene
    bodies = {body.get("name"): body for body in root.iter("body")}
    bodies[WORLD] = root.find("worldbody")
    links = [link for link in model.counts if link in scene.own]
    missing = [link for link in links if bodies.get(link) is None]
    if missing:
        raise InputError(
            f"{path}: the body {missing[0]!r} has no name in the robot's file; give it that name"
        )
    for geom in list(root.iter("geom")):
        holder = next(geom.iterancestors("body", "worldbody", "default"), None)
        if holder is None or holder.get("name", WORLD) not in scene.own or holder.tag == "default":
            continue
        if balls.is_ours(geom):
            remove(geom.getparent(), geom)
        else:
            geom.set("contype", "0")
            geom.set("conaffinity", "0")
    refused = balls.refusals(sheet.source, links, path) if sheet.source is not None else {}
    for link in links:
        contype, conaffinity = map(str, scene.bits[link])
        said = {"type": "sphere", "contype": contype, "conaffinity": conaffinity, "mass": "0"}
        if sheet.source is None:  # the class of a new file says all of it, MuJoCo's own world is in no class
            said = {"class": CLASS} if bodies[link].tag == "worldbody" else {}
        balls.add_spheres(bodies[link], link, model, said | refused.get(link, {}))
    notes: list[str] = []
    strangers = [link for link in model.counts if link not in scene.own]
    if strangers:
        notes.append(
            f"bodies that are not the robot's get no spheres and stay as they are: {', '.join(strangers)}"
        )
    moved = [link for link in links if "class" in refused.get(link, {})]
    if moved:
        notes.append(
            f"spheres of these links take friction and solver settings from the class {balls.MAIN}, because the"
            f" default class of their body has end points: {', '.join(moved)}"
        )
    return notes


def _write_excludes(root: Any, excluded: Mapping[LinkPair, str], own: frozenset[str]) -> None:
    """Makes the file exclude these pairs of the robot's bodies and no others; those with other bodies stay.

    Names of excludes mark pairs that are there only because spheres cannot decide them.
    """
    there: set[LinkPair] = set()
    for element in list(root.iter("exclude")):
        names = sorted_pair(element.get("body1", ""), element.get("body2", ""))
        marked = (element.get("name") or "").startswith(BY_MESHES)
        if names in excluded and marked == (excluded[names] == BY_MESHES):
            there.add(names)
        elif names in excluded or own.issuperset(names):
            remove(element.getparent(), element)
    for a, b in sorted(set(excluded) - there):
        mark = {"name": f"{BY_MESHES}: {a} and {b}"} if excluded[a, b] == BY_MESHES else {}
        add_line(_contact(root), "exclude", {**mark, "body1": a, "body2": b})


def _contact(root: Any) -> Any:
    contact = root.find("contact")
    return add_line(root, "contact", {}) if contact is None else contact


def _checked(
    pairs: Any, robot: Robot | None, links: Set[str], excluded: Mapping[LinkPair, str]
) -> list[LinkPair]:
    """Pairs of links that are to be checked: those of a matrix, or all that are neither excluded nor adjacent."""
    every: Iterable[LinkPair] = ()
    if isinstance(pairs, PairMatrix):
        every = pairs.checked
    elif robot is not None:
        adjacent = adjacent_pairs(robot)
        every = (names for names in combinations(sorted(links), 2) if names not in adjacent)
    return [names for names in every if names not in excluded and links >= set(names)]


def _explicit_pairs(root: Any) -> list[LinkPair]:
    """Pairs of links that explicit pairs of our spheres keep; their elements are taken out."""
    found: set[LinkPair] = set()
    for element in list(root.iter("pair")):
        names = (element.get("geom1", ""), element.get("geom2", ""))
        if element.getparent().tag == "contact" and all(
            name.startswith(balls.SPHERE_PREFIX) for name in names
        ):
            found.add(sorted_pair(*map(balls.link_of, names)))
            remove(element.getparent(), element)
    return sorted(found)


def _keep(sheet: _Sheet, checked: list[LinkPair]) -> list[str]:
    """Writes explicit pairs for checked pairs that MuJoCo would drop; returns those that stay lost."""
    scene = sheet.scene
    rigid = [names for names in checked if scene.rigid(*names)]
    named = [geom.get("name") or "" for geom in sheet.root.iter("geom")]
    counts = Counter(balls.link_of(name) for name in named if name.startswith(balls.SPHERE_PREFIX))
    bare: list[LinkPair] = []
    dropped = scene.dropped(checked)
    refused = balls.pair_refusals(sheet.source) if dropped else {}
    for a, b in dropped:
        for i, k in product(range(counts[a]), range(counts[b])):
            names = {"geom1": balls.geom_name(a, i), "geom2": balls.geom_name(b, k)}
            add_line(_contact(sheet.root), "pair", {**names, **refused})
        bare += [] if counts[a] and counts[b] else [(a, b)]
    kinds = {
        "MuJoCo welds these checked pairs together and never checks them": rigid,
        "MuJoCo's parent filter or the bits of their geoms keep these checked pairs from colliding, and there are no"
        " spheres to pair": bare,
    }
    return [
        f"{text}: {', '.join(f'{a} and {b}' for a, b in found)}" for text, found in kinds.items() if found
    ]
