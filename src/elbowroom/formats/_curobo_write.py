"""Writing of cuRobo configurations (YAML) that its loader takes as they are.

What the loader reads, key by key, is listed with its sources in `tests/formats/test_planner_keys.py`. A new file has
all of it; an existing file keeps its content, comments included, and gets what it lacks. So do links that
the file has and the sphere model has not, such as `attached_object` of `extra_links`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FormatError, InputError
from ..robot import as_robot
from ..spheres import SphereModel
from ..typing import RobotLike
from . import _yaml as maps
from ._contents import is_template, lost_poses, lost_spheres, meshes_decide, name_of, pairs_for_spheres
from ._curobo import (
    extra_of,
    ignored_of,
    kinematics_of,
    names_of,
    padding_sum,
    sphere_file,
    transform_of,
    version_of,
)
from ._curobo_robot import NEEDED, describe_robot
from ._options import ExportOptions, needed_joints, robot_facts, spheres_below, without_loose
from ._yaml import dump_yaml, flow, load_yaml

KIND = "cuRobo YAML"
NEIGHBOURS = 3
"""Floats on each side of a difference that are tried, so that adding it back gives the same number."""


def write_curobo(
    path: str | Path,
    *,
    robot: RobotLike | None = None,
    spheres: SphereModel | None = None,
    pairs: Any = None,
    options: ExportOptions | None = None,
) -> tuple[str, ...]:
    """Writes spheres, buffers, ignored pairs and what cuRobo must know of the robot.

    Args:
        path: the file; an existing one keeps everything else.
        robot: the robot; without it the file lacks what only a robot can tell.
        spheres: the spheres.
        pairs: a PairMatrix or ignored pairs; those of the robot's SRDF if None.
        options: base, tools, locked joints, default pose, paths and version.

    Returns:
        What the format cannot hold, what is missing and what to do about it.

    Raises:
        InputError: the existing file is for another version of cuRobo.
    """
    robot = None if robot is None else as_robot(robot)
    path, given = Path(path), options or ExportOptions()
    there = is_template(path)
    data: Any = load_yaml(path)[0] if there else {"robot_cfg": {"kinematics": {}}}
    kinematics = kinematics_of(data, path)
    version = version_of(kinematics) if there else given.curobo_version or 2
    if given.curobo_version not in (None, version):
        raise InputError(
            f"{path} is for cuRobo {version}; write version {given.curobo_version} into a new file"
        )
    tells_pairs = pairs is not None or kinematics.get("self_collision_ignore") is None
    spheres, pairs, lost = without_loose(robot, spheres, pairs)
    ignored, said = pairs_for_spheres(pairs, robot, KIND) if tells_pairs else ({}, list[str]())
    lost += said
    facts = robot_facts(robot, pairs, given) if robot is not None else None
    if facts is not None and spheres is not None:
        spheres, more = spheres_below(spheres, facts)
        lost += more
    bare = kinematics is data and not any(key in data for key in NEEDED[version])  # spheres for another file
    if robot is not None and facts is not None and not bare:
        solid = spheres.counts if spheres is not None else ()
        lost += describe_robot(
            kinematics, robot, facts, given, version, path, needed_joints(robot, facts, solid)
        )
    elif version == 2 and not there:
        kinematics["format_version"] = 2.0
    links = spheres.link_names if spheres is not None else robot.link_names if robot is not None else None
    foreign = _foreign(kinematics, links, path)
    if pairs is not None or (tells_pairs and not bare):
        kept = {names: "" for names in ignored_of(kinematics, path) if foreign & set(names)}
        kinematics["self_collision_ignore"] = maps.write_ignore({**ignored, **kept})
    if spheres is not None:
        lost += _write_model(kinematics, spheres, foreign, path, version)
    if not bare:
        empty: dict[str, Any] = {
            "collision_link_names": flow([]),
            "collision_spheres": {},
            "self_collision_buffer": {},
        }
        for key, value in empty.items():
            if kinematics.get(key) is None:
                kinematics[key] = value
        missing = [key for key in NEEDED[version] if kinematics.get(key) is None]
        if missing and not (robot is not None and missing == ["urdf_path"]):  # as is said already
            lost.append(
                f"cuRobo does not load the file without {', '.join(missing)}: give the robot, or add them"
            )
    dump_yaml(path, data, None if pairs is None else meshes_decide(ignored))
    return (*lost, *lost_poses(robot, KIND))


def _write_model(
    kinematics: Any, spheres: SphereModel, foreign: set[str], path: Path, version: int
) -> list[str]:
    """Puts spheres and buffers into a configuration; links that are foreign to the model keep theirs.

    Attached objects go back to the extra link of their name, where the file has one.
    """
    lost: list[str] = []
    extra = extra_of(kinematics, "extra_links", path)
    old_names = [name for name in names_of(kinematics, path) if name in foreign]
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
        whole = total.get(link, 0.0)
        between[link], exact = (whole, True) if version == 1 else _difference(whole, world.get(link, 0.0))
        if not exact:
            rounded.append(link)
    if rounded:
        lost.append(
            f"self padding of these links may change in its last digit, because the file holds its difference"
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
    others = sorted(
        set(old_spheres) - set(extra) - set(extra_of(kinematics, "extra_collision_spheres", path))
    )
    if others:
        lost.append(f"links of the file that are not in the model stay as they are: {', '.join(others)}")
    return lost


def _foreign(kinematics: Any, links: Sequence[str] | None, path: Path) -> set[str]:
    """Links of the file that are not the robot's: those it adds itself and, if the links are known, all others."""
    found = {
        *extra_of(kinematics, "extra_links", path),
        *extra_of(kinematics, "extra_collision_spheres", path),
    }
    if links is not None:
        found.update(names_of(kinematics, path))
        for key in ("collision_spheres", "collision_sphere_buffer", "self_collision_buffer"):
            value = kinematics.get(key)
            if isinstance(value, Mapping):
                found.update(name_of(link, f"{path}: {key}") for link in value)
        found.update(name for names in ignored_of(kinematics, path) for name in names)
    return found - set(links or ())


def _old_spheres(kinematics: Any, foreign: set[str], path: Path, lost: list[str]) -> dict[str, Any]:
    """Entries of foreign links as the file has them, disabled spheres included."""
    value = kinematics.get("collision_spheres")
    if isinstance(value, str):
        if not foreign:
            return {}
        try:
            value = sphere_file(value, path)[0]
        except FormatError as error:
            lost.append(f"spheres of {', '.join(sorted(foreign))} are not kept: {error}")
    if not isinstance(value, Mapping):
        return {}
    return {str(link): entries for link, entries in value.items() if str(link) in foreign}


def _in_extra_link(model: SphereModel, name: str, extra: Any, where: str) -> tuple[np.ndarray, np.ndarray]:
    """Spheres of an attached object in the frame of the extra link that carries it."""
    mask = np.array([attached == name for attached in model.attached])
    T = transform_of(extra, where)
    return (model.centers[mask] - T[:3, 3]) @ T[:3, :3], model.radii[mask]


def _same(entries: Any, centers: np.ndarray, radii: np.ndarray) -> bool:
    """Whether the enabled spheres of a file are these, up to rounding of the transform."""
    found = maps.read_spheres({"link": entries}, "extra link")[0]["link"]
    old_centers, old_radii = maps.arrays_of(found)
    return np.array_equal(old_radii, radii) and np.allclose(
        np.reshape(old_centers, (-1, 3)), centers, rtol=0.0, atol=1e-12
    )


def _difference(total: float, world: float) -> tuple[float, bool]:
    """A buffer that `_sum` turns back into the total, and whether it does so exactly."""
    first = total - world
    below = above = first
    for _ in range(NEIGHBOURS + 1):
        for candidate in (below, above):
            if padding_sum(world, candidate) == total:
                return candidate, True
        below, above = math.nextafter(below, -math.inf), math.nextafter(above, math.inf)
    return first, False
