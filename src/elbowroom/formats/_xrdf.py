"""XRDF, NVIDIA's extended robot description (YAML 1.2, format_version 1.0).

`geometry` holds named groups of spheres; `collision` (world) and `self_collision` each name a group and
a buffer per link. Everything else in a file stays as it is, comments included.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import FormatError, unknown
from ..spheres import SphereModel
from . import _link_maps as maps
from ._contents import (
    Contents,
    default_values,
    for_robot,
    ignored_pairs,
    is_template,
    lost_of_pairs,
    lost_spheres,
    short,
)
from ._yaml import dump_yaml, flow, load_yaml

if TYPE_CHECKING:
    from ..robot import Robot

FORMAT = "xrdf"
VERSION = 1.0
GROUP = "elbowroom_spheres"
"""Name of the group of spheres in files that we begin."""


def read_xrdf(path: str | Path, robot: Robot | None = None) -> Contents:
    """Reads the spheres of the collision geometry, both buffers and the ignored pairs.

    Raises:
        FormatError: not an XRDF of a known version; the message names the place.
        UnknownLinkError: the spheres are of another robot.
    """
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
    ignored = maps.read_ignore(own.get("ignore"), f"{path}: self_collision: ignore")
    return Contents(FORMAT, for_robot(model, robot), ignored, notes=(*notes, *sphere_notes))


def write_xrdf(
    path: str | Path, *, robot: Robot | None = None, spheres: SphereModel | None = None, pairs: Any = None
) -> tuple[str, ...]:
    """Writes spheres, buffers and ignored pairs; a file that is there already keeps everything else.

    Returns:
        What the format cannot hold.

    Raises:
        FormatError: there is a file already that is not an XRDF of a known version; it stays as it is.
    """
    path = Path(path)
    data = _load(path)[0] if is_template(path) else _skeleton(robot, pairs)
    world, own = _open(data, "collision", path), _open(data, "self_collision", path)
    ignored = ignored_pairs(pairs)
    if spheres is not None:
        group = _group(world, own, path) or GROUP
        world["geometry"], own["geometry"] = group, group
        world["buffer_distance"] = dict(spheres.world_padding)
        own["buffer_distance"] = dict(spheres.self_padding)
        _open(_open(data, "geometry", path), group, path)["spheres"] = maps.write_spheres(spheres)
    if pairs is not None:
        own["ignore"] = maps.write_ignore(ignored)
    dump_yaml(path, data)
    return (*lost_of_pairs(pairs, ignored), *lost_spheres(spheres))


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


def _skeleton(robot: Robot | None, pairs: Any) -> dict[str, Any]:
    data: dict[str, Any] = {"format": "xrdf", "format_version": VERSION}
    if robot is not None:
        values = default_values(robot, pairs)
        data["default_joint_positions"] = dict(zip(robot.joint_names, values, strict=True))
        data["cspace"] = {"joint_names": flow(list(robot.joint_names))}
        data["tool_frames"] = maps.tool_frames(robot)
    return data
