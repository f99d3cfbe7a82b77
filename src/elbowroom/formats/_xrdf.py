"""XRDF, NVIDIA's extended robot description (YAML 1.2, format_version 1.0).

`geometry` holds named groups of spheres; `collision` (world) and `self_collision` each name a group and
a buffer per link. Everything else in a file stays as it is, comments included.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import FormatError, unknown
from ..pairs.internal import BY_MESHES
from ..robot import as_robot
from ..spheres import SphereModel
from ..typing import RobotLike
from . import _yaml as maps
from ._contents import (
    Contents,
    for_robot,
    is_template,
    lost_poses,
    lost_spheres,
    meshes_decide,
    pairs_for_spheres,
    short,
)
from ._curobo_robot import ACCELERATION, JERK
from ._options import ExportOptions, RobotFacts, robot_facts, spheres_below, without_loose
from ._yaml import dump_yaml, flow, load_yaml, read_mark

FORMAT, KIND = "xrdf", "XRDF"
VERSION = 1.0
GROUP = "elbowroom_spheres"
"""Name of the group of spheres in files that we begin."""


def read_xrdf(path: str | Path, robot: RobotLike | None = None) -> Contents:
    """Reads the spheres of the collision geometry, both buffers and the ignored pairs.

    Raises:
        FormatError: not an XRDF of a known version; the message names the place.
        UnknownLinkError: the spheres are of another robot.
    """
    robot = None if robot is None else as_robot(robot)
    path = Path(path)
    data, notes = _load(path)
    world, own = _section(data, "collision", path), _section(data, "self_collision", path)
    group = _group(world, own, path)
    if group is None:
        return Contents(FORMAT, notes=(*notes, "the file names no collision geometry"))
    if (own.get("geometry") or group) != group:
        notes.append(
            f"self_collision uses another geometry, {short(own['geometry'])}; {group!r} is read for both"
        )
    geometry = _section(data, "geometry", path)
    if group not in geometry:
        raise FormatError(f"{path}: collision: {unknown('geometry', group, map(str, geometry))}")
    spheres, sphere_notes = maps.read_spheres(
        _section(geometry, group, path).get("spheres"), f"{path}: geometry: {group}"
    )
    links = list(spheres)
    model = SphereModel.from_links(
        links,
        {link: maps.arrays_of(entries) for link, entries in spheres.items()},
        world_padding=_known(world, links, f"{path}: collision: buffer_distance", notes),
        self_padding=_known(own, links, f"{path}: self_collision: buffer_distance", notes),
        robot_name=robot.name if robot else "",
        evidence={"source": path.name, "geometry": group},
    )
    marked = read_mark(path)
    ignored = {
        names: BY_MESHES if names in marked else ""
        for names in maps.read_ignore(own.get("ignore"), f"{path}: self_collision: ignore")
    }
    model = for_robot(model, robot, path)
    return Contents(FORMAT, model if len(model) else None, ignored, notes=(*notes, *sphere_notes))


def write_xrdf(
    path: str | Path,
    *,
    robot: RobotLike | None = None,
    spheres: SphereModel | None = None,
    pairs: Any = None,
    options: ExportOptions | None = None,
) -> tuple[str, ...]:
    """Writes spheres, buffers, ignored pairs and what a planner must know of the robot.

    Args:
        path: the file; an existing one keeps everything else.
        robot: the robot; without it the file lacks what only a robot can tell.
        spheres: the spheres.
        pairs: a PairMatrix or ignored pairs; those of the robot's SRDF if None.
        options: base, tools, locked joints and default pose.

    Returns:
        What the format cannot hold, what is missing and what to do about it.

    Raises:
        FormatError: there is a file already that is not an XRDF of a known version; it stays as it is.
    """
    robot = None if robot is None else as_robot(robot)
    path = Path(path)
    data = _load(path)[0] if is_template(path) else {"format": "xrdf", "format_version": VERSION}
    own = _open(data, "self_collision", path)
    tells_pairs = pairs is not None or own.get("ignore") is None
    spheres, pairs, lost = without_loose(robot, spheres, pairs)
    ignored, said = pairs_for_spheres(pairs, robot, KIND) if tells_pairs else ({}, list[str]())
    lost += said
    if robot is not None:
        facts = robot_facts(robot, pairs, options or ExportOptions())
        lost += _describe(data, facts, options or ExportOptions(), path)
        if spheres is not None:
            spheres, more = spheres_below(spheres, facts)
            lost += more
    elif data.get("cspace") is None:
        lost.append(
            "XRDF needs cspace and readers need tool_frames, which come from the robot: pass it, or add them"
        )
    world = _open(data, "collision", path)
    group = _group(world, own, path) or GROUP
    groups = _open(data, "geometry", path)
    _open(groups, group, path)
    for section in (world, own):
        section.setdefault("geometry", group)
        section.setdefault("buffer_distance", {})
    if spheres is not None:
        world["geometry"], own["geometry"] = group, group
        world["buffer_distance"] = dict(spheres.world_padding)
        own["buffer_distance"] = dict(spheres.self_padding)
        groups[group]["spheres"] = maps.write_spheres(spheres)
    groups[group].setdefault("spheres", {})
    if tells_pairs:
        own["ignore"] = maps.write_ignore(ignored)
    dump_yaml(path, data, None if pairs is None else meshes_decide(ignored))
    return (*lost, *lost_spheres(spheres), *lost_poses(robot, KIND))


def _describe(data: Any, facts: RobotFacts, options: ExportOptions, path: Path) -> list[str]:
    """Adds what the file lacks about the robot, and what the user's options change; returns notes.

    Joints that are not in `cspace` are held at their default positions: so locked joints are told.
    """
    notes: list[str] = []
    modifiers = data.get("modifiers")
    if modifiers is None:
        modifiers = data["modifiers"] = []
    if not isinstance(modifiers, list):
        raise FormatError(f"{path}: modifiers: expected a list, found {short(modifiers)}")
    bases = [entry for entry in modifiers if isinstance(entry, dict) and "set_base_frame" in entry]
    if not bases:
        modifiers.insert(0, {"set_base_frame": facts.base_link})
    elif options.base_link is not None:
        bases[0]["set_base_frame"] = facts.base_link
    if data.get("tool_frames") is None or options.tool_frames is not None:
        data["tool_frames"] = flow(list(facts.tool_frames))
    asked = bool(options.locked) or options.default_cfg is not None
    if data.get("default_joint_positions") is None or asked:
        data["default_joint_positions"] = dict(facts.positions)
    old = _section(data, "cspace", path)
    if not old or (options.locked and list(old.get("joint_names") or ()) != facts.active):
        count = len(facts.active)
        data["cspace"] = {
            "joint_names": flow(facts.active),
            "acceleration_limits": flow([ACCELERATION] * count),
            "jerk_limits": flow([JERK] * count),
        }
        notes.append(
            f"acceleration and jerk limits, which XRDF needs and the robot does not state, are {ACCELERATION:g} and"
            f" {JERK:g} for every joint; replace them with your robot's"
        )
    return notes


def _load(path: Path) -> tuple[Any, list[str]]:
    """The document and notes on it, if it says that it is an XRDF of our version."""
    data, notes = load_yaml(path)
    if data.get("format") != "xrdf":
        raise FormatError(f"{path}: expected 'format: xrdf', found {short(data.get('format'))}")
    if data.get("format_version") != VERSION:
        raise FormatError(
            f"{path}: format_version {short(data.get('format_version'))} is not known, expected {VERSION}"
        )
    return data, notes


def _section(data: Any, key: str, path: Path) -> Any:
    """A mapping to read; one that is missing or empty is an empty mapping."""
    value = data.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise FormatError(f"{path}: {key}: expected a mapping, found {short(value)}")
    return value


def _open(data: Any, key: str, path: Path) -> Any:
    """A mapping to write into, made where it is missing or empty."""
    if data.get(key) is None:
        data[key] = {}
    return _section(data, key, path)


def _group(world: Any, own: Any, path: Path) -> str | None:
    """Name of the group of spheres; the world's counts before the robot's own."""
    for key, section in (("collision", world), ("self_collision", own)):
        group = section.get("geometry")
        if group is not None and not isinstance(group, str):
            raise FormatError(
                f"{path}: {key}: geometry: expected the name of a geometry, found {short(group)}"
            )
        if group:
            return str(group)
    return None


def _known(section: Any, links: list[str], where: str, notes: list[str]) -> dict[str, float]:
    padding = maps.read_padding(section.get("buffer_distance"), links, where)
    for link in padding:
        if link not in links:
            notes.append(f"{where}: link {link!r} has no spheres; its buffer is left out")
    return {link: value for link, value in padding.items() if link in links}
