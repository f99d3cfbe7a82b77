"""cuRobo robot configurations (YAML).

`kinematics`, at the top or inside `robot_cfg`, holds the spheres (inline or in a file of their own),
buffers and ignored pairs. cuRobo adds `collision_sphere_buffer` to every radius and
`self_collision_buffer` on top of it between links; so world padding is the first and self padding the
sum of both. Everything else in the file stays as it is, comments included; so do links that the file has
and the sphere model has not, such as `attached_object` of `extra_links`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._poses import matrix_from_wxyz_xyz
from ..errors import FormatError, UnknownLinkError, unknown
from ..spheres import SphereModel
from ..typing import LinkPair
from . import _link_maps as maps
from ._contents import (
    Contents,
    default_values,
    for_robot,
    ignored_pairs,
    is_template,
    lost_of_pairs,
    lost_spheres,
    name_of,
    number,
    short,
)
from ._yaml import dump_yaml, flow, load_yaml

if TYPE_CHECKING:
    from ..robot import Robot

FORMAT = "curobo"
DECIMALS = 12
"""Paddings with so many decimals or fewer come back exactly as they were given, though the file holds a difference."""
NEIGHBOURS = 3
"""Floats on each side of a difference that are tried, so that adding it back gives the same number."""


def read_curobo(path: str | Path, robot: Robot | None = None) -> Contents:
    """Reads a cuRobo configuration, version 1 or 2, or a bare file of `collision_spheres`.

    Spheres of `extra_links` become objects attached to the link that carries them.

    Raises:
        FormatError: not such a file; the message names the place.
        UnknownLinkError: the spheres are of another robot.
    """
    path = Path(path)
    data, notes = load_yaml(path)
    kinematics = _kinematics(data, path)
    spheres, sphere_notes = _spheres(kinematics, path)
    extra = _extra(kinematics, "extra_links", path)
    reserved = _extra(kinematics, "extra_collision_spheres", path)
    own = {link: entries for link, entries in spheres.items() if link not in extra}
    world = maps.read_padding(
        kinematics.get("collision_sphere_buffer"), list(own), f"{path}: collision_sphere_buffer"
    )
    between = maps.read_padding(
        kinematics.get("self_collision_buffer"), list(own), f"{path}: self_collision_buffer"
    )
    names = list(dict.fromkeys([*_names(kinematics, path), *own]))
    names = [name for name in names if name not in extra and (name in own or name not in reserved)]
    total = {link: _sum(world.get(link, 0.0), between.get(link, 0.0)) for link in (*world, *between)}
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
    model = for_robot(model, robot)
    for link, entries in spheres.items():
        if link in extra and entries:
            model = _attach(model, link, extra[link], entries, f"{path}: extra_links: {link!r}")
    kept, outside = _known(_ignored(kinematics, path), model.link_names)
    if outside:
        notes.append(f"ignored pairs with links that have no place in the model: {outside}")
    return Contents(FORMAT, model, kept, notes=(*notes, *sphere_notes))


def write_curobo(
    path: str | Path, *, robot: Robot | None = None, spheres: SphereModel | None = None, pairs: Any = None
) -> tuple[str, ...]:
    """Writes spheres, buffers and ignored pairs; a file that is there already keeps everything else.

    Returns:
        What the format cannot hold.
    """
    path = Path(path)
    data = load_yaml(path)[0] if is_template(path) else {"robot_cfg": {"kinematics": _skeleton(robot, pairs)}}
    kinematics = _kinematics(data, path)
    ignored = ignored_pairs(pairs)
    lost = lost_of_pairs(pairs, ignored)
    links = spheres.link_names if spheres is not None else robot.link_names if robot is not None else None
    foreign = _foreign(kinematics, links, path)
    if pairs is not None:
        kept = {names: "" for names in _ignored(kinematics, path) if foreign & set(names)}
        kinematics["self_collision_ignore"] = maps.write_ignore({**ignored, **kept})
    if spheres is not None:
        lost += _write_model(kinematics, spheres, foreign, path)
    dump_yaml(path, data)
    return tuple(lost)


def _write_model(kinematics: Any, spheres: SphereModel, foreign: set[str], path: Path) -> list[str]:
    """Puts spheres and buffers into a configuration; links that are foreign to the model keep theirs.

    Attached objects go back to the extra link of their name, where the file has one.
    """
    lost: list[str] = []
    extra = _extra(kinematics, "extra_links", path)
    old_names = [name for name in _names(kinematics, path) if name in foreign]
    old_spheres = _old_spheres(kinematics, foreign, path, lost)
    written: dict[str, Any] = {}
    for name in spheres.objects:
        if name in extra:
            centers, radii = _in_extra_link(spheres, name, extra[name], f"{path}: extra_links: {name!r}")
            before = old_spheres.get(name)
            if before is None or not _same(before, centers, radii):
                written[name] = maps.entries_of(centers, radii)
            spheres = spheres.detach(name)
    lost += lost_spheres(spheres)
    own = list(spheres.counts)
    held = list(dict.fromkeys([*old_names, *written]))
    kinematics["collision_link_names"] = flow([*own, *held])
    kinematics["collision_spheres"] = {**maps.write_spheres(spheres), **old_spheres, **written}
    world, total = spheres.world_padding, spheres.self_padding
    between: dict[str, float] = {}
    rounded: list[str] = []
    for link in own:
        between[link], exact = _difference(total.get(link, 0.0), world.get(link, 0.0))
        if not exact:
            rounded.append(link)
    if rounded:
        lost.append(
            f"self padding of these links may come back changed in its last digit, for the file holds its difference"
            f" to world padding: {', '.join(rounded)}"
        )
    for key, values, default in (
        ("collision_sphere_buffer", {link: world.get(link, 0.0) for link in own} if world else {}, 0.0),
        ("self_collision_buffer", between, {}),
    ):
        before = maps.read_padding(kinematics.get(key), held, f"{path}: {key}")
        kept = {link: value for link, value in before.items() if link in foreign or link in held}
        everything = {**values, **kept} if values or not kept else {**dict.fromkeys(own, 0.0), **kept}
        kinematics[key] = everything or default
    others = sorted(set(old_spheres) - set(extra) - set(_extra(kinematics, "extra_collision_spheres", path)))
    if others:
        lost.append(f"links of the file that are not in the model stay as they are: {', '.join(others)}")
    return lost


def _extra(kinematics: Any, key: str, path: Path) -> dict[str, Any]:
    value = kinematics.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise FormatError(f"{path}: {key}: expected a mapping of links, found {short(value)}")
    return {name_of(link, f"{path}: {key}"): entry for link, entry in value.items()}


def _names(kinematics: Any, path: Path) -> list[str]:
    value = kinematics.get("collision_link_names")
    if value is None:
        return []
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise FormatError(f"{path}: collision_link_names: expected a list of links, found {short(value)}")
    return [name_of(link, f"{path}: collision_link_names") for link in value]


def _ignored(kinematics: Any, path: Path) -> dict[LinkPair, str]:
    return maps.read_ignore(kinematics.get("self_collision_ignore"), f"{path}: self_collision_ignore")


def _foreign(kinematics: Any, links: Sequence[str] | None, path: Path) -> set[str]:
    """Links of the file that are not the robot's: those it adds itself and, if the links are known, all others."""
    found = {
        *_extra(kinematics, "extra_links", path),
        *_extra(kinematics, "extra_collision_spheres", path),
    }
    if links is not None:
        found.update(_names(kinematics, path))
        for key in ("collision_spheres", "collision_sphere_buffer", "self_collision_buffer"):
            value = kinematics.get(key)
            if isinstance(value, Mapping):
                found.update(name_of(link, f"{path}: {key}") for link in value)
        found.update(name for names in _ignored(kinematics, path) for name in names)
    return found - set(links or ())


def _old_spheres(kinematics: Any, foreign: set[str], path: Path, lost: list[str]) -> dict[str, Any]:
    """Entries of foreign links as the file has them, disabled spheres included."""
    value = kinematics.get("collision_spheres")
    if isinstance(value, str):
        if not foreign:
            return {}
        try:
            value = _sphere_file(value, path)[0]
        except FormatError as error:
            lost.append(f"spheres of {', '.join(sorted(foreign))} are not kept: {error}")
    if not isinstance(value, Mapping):
        return {}
    return {str(link): entries for link, entries in value.items() if str(link) in foreign}


def _in_extra_link(model: SphereModel, name: str, extra: Any, where: str) -> tuple[np.ndarray, np.ndarray]:
    """Spheres of an attached object in the frame of the extra link that carries it."""
    mask = np.array([attached == name for attached in model.attached])
    T = _transform(extra, where)
    return (model.centers[mask] - T[:3, 3]) @ T[:3, :3], model.radii[mask]


def _same(entries: Any, centers: np.ndarray, radii: np.ndarray) -> bool:
    """Whether the enabled spheres of a file are these, but for rounding of the transform."""
    found = maps.read_spheres({"link": entries}, "extra link")[0]["link"]
    old_centers, old_radii = maps.arrays_of(found)
    return np.array_equal(old_radii, radii) and np.allclose(
        np.reshape(old_centers, (-1, 3)), centers, rtol=0.0, atol=1e-12
    )


def _sum(world: float, between: float) -> float:
    """World padding plus buffer between links, without the noise of adding two floats."""
    total = world + between
    noise = 2.0 * math.ulp(max(abs(world), abs(between)))
    rounded = round(total, DECIMALS)
    return rounded if abs(rounded - total) <= noise else total


def _difference(total: float, world: float) -> tuple[float, bool]:
    """A buffer that `_sum` turns back into the total, and whether it does so exactly."""
    first = total - world
    below = above = first
    for _ in range(NEIGHBOURS + 1):
        for candidate in (below, above):
            if _sum(world, candidate) == total:
                return candidate, True
        below, above = math.nextafter(below, -math.inf), math.nextafter(above, math.inf)
    return first, False


def _kinematics(data: Any, path: Path) -> Any:
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
    value, file, notes = _sphere_file(value, path)
    found, more = maps.read_spheres(value, f"{file}: collision_spheres")
    return found, [*notes, *more]


def _sphere_file(name: str, path: Path) -> tuple[Any, Path, list[str]]:
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
    data, notes = load_yaml(file)
    return data.get("collision_spheres", data), file, notes


def _attach(model: SphereModel, link: str, extra: Any, entries: maps.Entries, where: str) -> SphereModel:
    """Attaches the spheres of an extra link to the link that carries it."""
    T = _transform(extra, where)
    parent = name_of(extra["parent_link_name"], f"{where}: parent_link_name")
    if parent not in model.link_names:
        raise UnknownLinkError(f"{where}: parent_link_name: {unknown('link', parent, model.link_names)}")
    centers, radii = maps.arrays_of(entries)
    return model.attach(parent, np.array(centers) @ T[:3, :3].T + T[:3, 3], radii, link)


def _transform(extra: Any, where: str) -> np.ndarray:
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


def _skeleton(robot: Robot | None, pairs: Any) -> dict[str, Any]:
    """What a new file says of the robot itself, in version 2's names."""
    if robot is None:
        return {"format_version": 2.0}
    return {
        "format_version": 2.0,
        "urdf_path": robot.path.name if robot.path else f"{robot.name}.urdf",
        "asset_root_path": "",
        "base_link": robot.tree.root,
        "tool_frames": maps.tool_frames(robot),
        "cspace": {
            "joint_names": flow(list(robot.joint_names)),
            "default_joint_position": flow(default_values(robot, pairs)),
        },
    }
