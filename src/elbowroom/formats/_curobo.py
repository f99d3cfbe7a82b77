"""cuRobo robot configurations (YAML).

`kinematics`, at the top or inside `robot_cfg`, holds the spheres (inline or in a file of their own),
buffers and ignored pairs. cuRobo adds `collision_sphere_buffer` to every radius and
`self_collision_buffer` on top of it between links; so world padding is the first and self padding the
sum of both. Everything else in the file stays as it is, comments included.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._poses import matrix_from_wxyz_xyz
from ..errors import FormatError
from ..spheres import SphereModel
from ..typing import LinkPair
from ._contents import Contents, for_robot, ignored_pairs, number
from ._yaml import (
    Spheres,
    dump_yaml,
    flow,
    load_yaml,
    lost_names,
    lost_objects,
    read_ignore,
    read_padding,
    read_spheres,
    write_ignore,
    write_spheres,
)

if TYPE_CHECKING:
    from ..robot import Robot

FORMAT = "curobo"


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
    extra = kinematics.get("extra_links") or {}
    own = {link: entries for link, entries in spheres.items() if link not in extra}
    world = read_padding(
        kinematics.get("collision_sphere_buffer"), list(own), f"{path}: collision_sphere_buffer"
    )
    between = read_padding(
        kinematics.get("self_collision_buffer"), list(own), f"{path}: self_collision_buffer"
    )
    names = list(dict.fromkeys([*map(str, kinematics.get("collision_link_names") or ()), *own]))
    names = [name for name in names if name not in extra]
    total = {link: world.get(link, 0.0) + between.get(link, 0.0) for link in (*world, *between)}
    model = SphereModel.from_links(
        names,
        {link: _arrays(entries) for link, entries in own.items()},
        world_padding={link: value for link, value in world.items() if link in names},
        self_padding={link: value for link, value in total.items() if link in names},
        robot_name=robot.name if robot else "",
        evidence={"source": path.name},
    )
    model = for_robot(model, robot)
    for link, entries in spheres.items():
        if link in extra and entries:
            model = _attach(model, link, extra[link], entries, f"{path}: extra_links: {link!r}")
    ignored = read_ignore(kinematics.get("self_collision_ignore"), f"{path}: self_collision_ignore")
    kept, outside = _known(ignored, model.link_names)
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
    data = load_yaml(path)[0] if path.exists() else {"robot_cfg": {"kinematics": _skeleton(robot)}}
    kinematics = _kinematics(data, path)
    ignored = ignored_pairs(pairs)
    if spheres is not None:
        kinematics["collision_link_names"] = flow(list(spheres.counts))
        kinematics["collision_spheres"] = write_spheres(spheres)
        world, own = spheres.world_padding, spheres.self_padding
        links = list(spheres.counts)
        kinematics["collision_sphere_buffer"] = (
            {link: world.get(link, 0.0) for link in links} if world else 0.0
        )
        kinematics["self_collision_buffer"] = {
            link: own.get(link, 0.0) - world.get(link, 0.0) for link in links
        }
    if pairs is not None:
        kinematics["self_collision_ignore"] = write_ignore(ignored)
    dump_yaml(path, data)
    return (*lost_names(ignored), *lost_objects(spheres))


def _kinematics(data: Any, path: Path) -> Any:
    holder = data.get("robot_cfg", data)
    kinematics = holder.get("kinematics") if isinstance(holder, Mapping) else None
    if kinematics is None and "collision_spheres" in data:
        return data
    if not isinstance(kinematics, Mapping):
        raise FormatError(
            f"{path}: expected 'robot_cfg: kinematics:' or 'kinematics:', found {', '.join(map(str, data))}"
        )
    return kinematics


def _spheres(kinematics: Any, path: Path) -> tuple[Spheres, list[str]]:
    value = kinematics.get("collision_spheres")
    if value is None:
        return {}, ["the file holds no collision_spheres"]
    if not isinstance(value, str):
        return read_spheres(value, f"{path}: collision_spheres")
    folder = path.parent.resolve()
    file = (folder / value).resolve()
    if folder not in file.parents:
        raise FormatError(f"{path}: collision_spheres: {value!r} lies outside the file's own folder")
    data, notes = load_yaml(file)
    found, more = read_spheres(data.get("collision_spheres", data), f"{file}: collision_spheres")
    return found, [*notes, *more]


def _arrays(entries: list[tuple[list[float], float]]) -> tuple[list[list[float]], list[float]]:
    return [center for center, _ in entries], [radius for _, radius in entries]


def _attach(
    model: SphereModel, link: str, extra: Any, entries: list[tuple[list[float], float]], where: str
) -> SphereModel:
    """Attaches the spheres of an extra link to the link that carries it."""
    if not isinstance(extra, Mapping) or "parent_link_name" not in extra:
        raise FormatError(f"{where}: expected 'parent_link_name', found {extra!r:.80}")
    transform = [
        number(value, f"{where}: fixed_transform")
        for value in extra.get("fixed_transform", (0, 0, 0, 1, 0, 0, 0))
    ]
    if len(transform) != 7:
        raise FormatError(
            f"{where}: fixed_transform: expected x y z qw qx qy qz, found {len(transform)} numbers"
        )
    T = matrix_from_wxyz_xyz(np.array([*transform[3:], *transform[:3]]), where)
    centers, radii = _arrays(entries)
    return model.attach(
        str(extra["parent_link_name"]), np.array(centers) @ T[:3, :3].T + T[:3, 3], radii, link
    )


def _known(pairs: Mapping[LinkPair, str], links: tuple[str, ...]) -> tuple[dict[LinkPair, str], str]:
    kept = {names: reason for names, reason in pairs.items() if set(names) <= set(links)}
    outside = sorted({name for names in pairs if names not in kept for name in names if name not in links})
    return kept, ", ".join(outside)


def _skeleton(robot: Robot | None) -> dict[str, Any]:
    """What a new file says of the robot itself, in version 2's names."""
    if robot is None:
        return {"format_version": 2.0}
    leaves = [name for name in robot.link_names if not robot.child_joints(name)]
    return {
        "format_version": 2.0,
        "urdf_path": robot.path.name if robot.path else f"{robot.name}.urdf",
        "asset_root_path": "",
        "base_link": robot.tree.root,
        "tool_frames": flow(leaves),
        "cspace": {
            "joint_names": flow(list(robot.joint_names)),
            "default_joint_position": flow(robot.default_cfg.tolist()),
        },
    }
