"""cuRobo robot configurations (YAML).

`kinematics`, at the top or inside `robot_cfg`, holds the spheres (inline or in a file of their own), buffers and
ignored pairs. World padding is `collision_sphere_buffer`. Self padding is `self_collision_buffer` in version 1 (0.7
takes the first buffer off again between links), and the sum of both in version 2, as the loaders' sources have it.
Version 1 names its tools `ee_link` and `link_names`, version 2 `tool_frames`. `_curobo_write.py` writes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._poses import matrix_from_wxyz_xyz
from ..errors import FormatError, UnknownLinkError, unknown
from ..pairs.internal import BY_MESHES
from ..robot import as_robot
from ..spheres import SphereModel
from ..typing import LinkPair, RobotLike
from . import _yaml as maps
from ._contents import Contents, for_robot, name_of, number, short
from ._yaml import load_yaml, read_mark

FORMAT = "curobo"
DECIMALS = 12
"""Paddings with so many decimals or fewer come back exactly as they were given, though the file holds a difference."""
MARKS = ("ee_link", "link_names"), ("tool_frames", "format_version")
"""Keys that only version 1 has, and those that only version 2 has."""


def read_curobo(path: str | Path, robot: RobotLike | None = None) -> Contents:
    """Reads a cuRobo configuration, version 1 or 2, or a bare file of `collision_spheres`.

    Spheres of `extra_links` become objects attached to the link that carries them.

    Raises:
        FormatError: not such a file; the message names the place.
        UnknownLinkError: the spheres are of another robot.
    """
    robot = None if robot is None else as_robot(robot)
    path = Path(path)
    data, notes = load_yaml(path)
    kinematics = kinematics_of(data, path)
    spheres, sphere_notes = _spheres(kinematics, path)
    extra = extra_of(kinematics, "extra_links", path)
    reserved = extra_of(kinematics, "extra_collision_spheres", path)
    own = {link: entries for link, entries in spheres.items() if link not in extra}
    world = maps.read_padding(
        kinematics.get("collision_sphere_buffer"), list(own), f"{path}: collision_sphere_buffer"
    )
    between = maps.read_padding(
        kinematics.get("self_collision_buffer"), list(own), f"{path}: self_collision_buffer"
    )
    names = list(dict.fromkeys([*names_of(kinematics, path), *own]))
    names = [name for name in names if name not in extra and (name in own or name not in reserved)]
    total = between
    if version_of(kinematics) == 2:
        total = {
            link: padding_sum(world.get(link, 0.0), between.get(link, 0.0)) for link in (*world, *between)
        }
    left = sorted({link for link in (*world, *between) if link not in names})
    if left:
        notes.append(f"buffers of links that are not in the model are left out: {', '.join(left)}")
    model = SphereModel.from_links(
        names,
        {link: maps.arrays_of(entries) for link, entries in own.items()},
        world_padding={link: value for link, value in world.items() if link in names},
        self_padding={link: value for link, value in total.items() if link in names},
        robot_name=robot.name if robot else "",
        evidence={"source": path.name},
    )
    model = for_robot(model, robot, path)
    for link, entries in spheres.items():
        if link in extra and entries:
            model = _attach(model, link, extra[link], entries, f"{path}: extra_links: {link!r}")
    marked = read_mark(path)
    kept = {names: BY_MESHES if names in marked else "" for names in ignored_of(kinematics, path)}
    outside = ""
    if robot is not None or len(model):
        kept, outside = _known(kept, model.link_names)
    if outside:
        notes.append(f"ignored pairs with links that have no place in the model: {outside}")
    return Contents(FORMAT, model if len(model) else None, kept, notes=(*notes, *sphere_notes))


def version_of(kinematics: Any) -> int:
    """Version of cuRobo that a configuration is for; 2 where nothing tells."""
    first, second = (any(key in kinematics for key in keys) for keys in MARKS)
    return 1 if first and not second else 2


def extra_of(kinematics: Any, key: str, path: Path) -> dict[str, Any]:
    """Entries of links that the file adds to the robot."""
    value = kinematics.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise FormatError(f"{path}: {key}: expected a mapping of links, found {short(value)}")
    return {name_of(link, f"{path}: {key}"): entry for link, entry in value.items()}


def names_of(kinematics: Any, path: Path) -> list[str]:
    """Links that the file lists as colliding."""
    value = kinematics.get("collision_link_names")
    if value is None:
        return []
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise FormatError(f"{path}: collision_link_names: expected a list of links, found {short(value)}")
    return [name_of(link, f"{path}: collision_link_names") for link in value]


def ignored_of(kinematics: Any, path: Path) -> dict[LinkPair, str]:
    """Pairs that the file ignores."""
    return maps.read_ignore(kinematics.get("self_collision_ignore"), f"{path}: self_collision_ignore")


def padding_sum(world: float, between: float) -> float:
    """World padding plus buffer between links, without the noise of adding two floats."""
    total = world + between
    noise = 2.0 * math.ulp(max(abs(world), abs(between)))
    rounded = round(total, DECIMALS)
    return rounded if abs(rounded - total) <= noise else total


def kinematics_of(data: Any, path: Path) -> Any:
    """The mapping that describes the robot; a bare file of spheres is one itself."""
    holder = data.get("robot_cfg", data)
    kinematics = holder.get("kinematics") if isinstance(holder, Mapping) else None
    if kinematics is None and "collision_spheres" in data:
        return data
    if not isinstance(kinematics, Mapping):
        raise FormatError(
            f"{path}: expected 'robot_cfg: kinematics:' or 'kinematics:', found {short(list(data))}"
        )
    return kinematics


def _spheres(kinematics: Any, path: Path) -> tuple[dict[str, maps.Entries], list[str]]:
    value = kinematics.get("collision_spheres")
    if value is None:
        return {}, ["the file holds no collision_spheres"]
    if not isinstance(value, str):
        return maps.read_spheres(value, f"{path}: collision_spheres")
    value, file, notes = sphere_file(value, path)
    found, more = maps.read_spheres(value, f"{file}: collision_spheres")
    return found, [*notes, *more]


def sphere_file(name: str, path: Path) -> tuple[Any, Path, list[str]]:
    """What a file of spheres holds, which must lie below the folder of the configuration."""
    folder = path.parent.resolve()
    try:
        file = (folder / name).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise FormatError(
            f"{path}: collision_spheres: {short(name)} is not a usable path: {error}"
        ) from error
    if folder not in file.parents:
        raise FormatError(f"{path}: collision_spheres: {short(name)} lies outside the file's own folder")
    if not file.is_file():
        raise FormatError(f"{path}: collision_spheres: there is no file {short(name)} beside it")
    data, notes = load_yaml(file)
    return data.get("collision_spheres", data), file, notes


def _attach(model: SphereModel, link: str, extra: Any, entries: maps.Entries, where: str) -> SphereModel:
    """Attaches the spheres of an extra link to the link that carries it."""
    T = transform_of(extra, where)
    parent = name_of(extra["parent_link_name"], f"{where}: parent_link_name")
    if parent not in model.link_names:
        raise UnknownLinkError(f"{where}: parent_link_name: {unknown('link', parent, model.link_names)}")
    centers, radii = maps.arrays_of(entries)
    return model.attach(parent, np.array(centers) @ T[:3, :3].T + T[:3, 3], radii, link)


def transform_of(extra: Any, where: str) -> np.ndarray:
    """Pose of an extra link in its parent (4, 4)."""
    if not isinstance(extra, Mapping) or "parent_link_name" not in extra:
        raise FormatError(f"{where}: expected 'parent_link_name', found {short(extra)}")
    values = extra.get("fixed_transform", (0, 0, 0, 1, 0, 0, 0))
    if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != 7:
        raise FormatError(f"{where}: fixed_transform: expected x y z qw qx qy qz, found {short(values)}")
    transform = [number(value, f"{where}: fixed_transform") for value in values]
    return matrix_from_wxyz_xyz(np.array([*transform[3:], *transform[:3]]), where)


def _known(pairs: Mapping[LinkPair, str], links: tuple[str, ...]) -> tuple[dict[LinkPair, str], str]:
    kept = {names: reason for names, reason in pairs.items() if set(names) <= set(links)}
    outside = sorted({name for names in pairs if names not in kept for name in names if name not in links})
    return kept, ", ".join(outside)
