"""What a planner's file says of a robot besides spheres and pairs: base, tools, joints, default pose, its URDF.

A URDF says none of the first four. `ExportOptions` has the user's words, `robot_facts` completes them from the robot.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._xml import read_xml
from ..errors import ElbowroomError, InputError, UnknownJointError, UnknownLinkError, unknown
from ..pairs import PairMatrix
from ..robot.internal import default_tool_frames
from ._contents import ignored_pairs, links_below, loose_links

if TYPE_CHECKING:
    from ..robot import Robot
    from ..spheres import SphereModel


@dataclass(frozen=True)
class ExportOptions:
    """What to say of the robot in files for planners; every format takes what it can hold."""

    base_link: str | None = None
    """Link that planning starts from; the robot's root if None."""
    tool_frames: tuple[str, ...] | None = None
    """Links that are told where to go, the main one first (cuRobo 1 calls it `ee_link`); `default_tool_frames` if
    None."""
    locked: Mapping[str, float] = field(default_factory=dict[str, float])
    """Actuated joints that planning holds still, with their values (rad, m)."""
    default_cfg: Any = None
    """Configuration (dof,) to start from; that of the pair matrix, which is free, or else the robot's if None."""
    paths: Literal["absolute", "relative"] = "absolute"
    """How files are named that the written file needs. Relative paths start at the written file."""
    urdf: str | os.PathLike[str] | None = None
    """URDF that a planner is to read; the one that the robot was loaded from if None."""
    curobo_version: Literal[1, 2] | None = None
    """Version of cuRobo that is to read the file; if None, that of the existing file, or else 2."""

    def __post_init__(self) -> None:
        if isinstance(self.tool_frames, str):
            raise InputError(f"tool_frames: expected a tuple of links, found {self.tool_frames!r}")
        if self.paths not in ("absolute", "relative"):
            raise InputError(f"paths: expected 'absolute' or 'relative', found {self.paths!r:.40}")
        if self.curobo_version not in (None, 1, 2):
            raise InputError(f"curobo_version: expected 1 or 2, found {self.curobo_version!r:.40}")


@dataclass(frozen=True)
class RobotFacts:
    """What the files of planners say of a robot."""

    base_link: str
    tool_frames: tuple[str, ...]
    positions: dict[str, float]
    """Default value of every actuated joint behind the base, locked ones at theirs, in the order of the configuration:
    that of the URDF, which XRDF's readers count on."""
    locked: dict[str, float]
    below: frozenset[str]
    """The base link and all links that it carries."""

    @property
    def active(self) -> list[str]:
        """Joints that planning moves."""
        return [name for name in self.positions if name not in self.locked]


def robot_facts(robot: Robot, pairs: Any, options: ExportOptions) -> RobotFacts:
    """The user's words, completed from the robot.

    Raises:
        UnknownLinkError, UnknownJointError: a name that the robot does not have. InputError: a tool that the base does
            not carry, or values that are not numbers.
    """
    base = robot.tree.root if options.base_link is None else options.base_link
    below = links_below(robot, base)
    tools = options.tool_frames
    if tools is None:
        tools = tuple(name for name in default_tool_frames(robot) if name in below) or (base,)
    for name in (base, *tools):
        if name not in robot.link_names:
            raise UnknownLinkError(unknown("link", str(name), robot.link_names))
        if name not in below:
            raise InputError(f"tool frame {name!r} is not carried by the base link {base!r}")
    if not tools:
        raise InputError("tool_frames: expected at least one link")
    given = getattr(pairs, "default_cfg", None) if options.default_cfg is None else options.default_cfg
    cfg = robot.default_cfg if given is None else robot.as_cfg(given)
    values = zip(robot.tree.actuated, cfg.tolist(), strict=True)
    positions = {joint.name: value for joint, value in values if joint.parent in below}
    locked: dict[str, float] = {}
    for name, value in options.locked.items():
        if name not in robot.joint_names:
            raise UnknownJointError(f"locked: {unknown('actuated joint', str(name), robot.joint_names)}")
        if name not in positions:
            raise InputError(f"locked: joint {name!r} is not behind the base link {base!r}")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(value):
            raise InputError(f"locked: joint {name!r}: expected a finite number, found {value!r:.40}")
        locked[name] = positions[name] = float(value)
    return RobotFacts(base, tuple(tools), positions, locked, below)


def needed_joints(robot: Robot, facts: RobotFacts, links: Iterable[str]) -> set[str]:
    """Joints between the base link and the tools or any of these links; coupled ones count as their drivers."""
    parents = {joint.child: joint for joint in reversed(robot.tree.joints)}
    found: set[str] = set()
    for link in (*facts.tool_frames, *links):
        while link != facts.base_link and link in parents and link in facts.below:
            joint = parents[link]
            found.add(joint.coupling.driver if joint.coupling else joint.name)
            link = joint.parent
    return found


def spheres_below(spheres: SphereModel, facts: RobotFacts) -> tuple[SphereModel, list[str]]:
    """The spheres of links that the base carries; others would be links that planners cannot reach."""
    outside = [link for link in spheres.counts if link not in facts.below]
    text = f"links that {facts.base_link} does not carry are left out: {', '.join(outside)}"
    return (_without(spheres, outside), [text]) if outside else (spheres, [])


def without_loose(
    robot: Robot | None, spheres: SphereModel | None, pairs: Any
) -> tuple[SphereModel | None, Any, list[str]]:
    """Spheres and pairs without those of `loose_links`, and a note on it."""
    loose = loose_links(robot)
    if not loose:
        return spheres, pairs, []
    if spheres is not None:
        spheres = _without(spheres, loose)
    if isinstance(pairs, PairMatrix):
        links = tuple(link for link in pairs.link_names if link not in loose)
        entries = {names: found for names, found in pairs.entries.items() if not loose & set(names)}
        pairs = replace(pairs, link_names=links, entries=entries)
    elif pairs is not None:
        pairs = {names: word for names, word in ignored_pairs(pairs).items() if not loose & set(names)}
    return (
        spheres,
        pairs,
        [f"free bodies that are not the robot's are left out, with their pairs: {', '.join(sorted(loose))}"],
    )


def _without(spheres: SphereModel, links: Collection[str]) -> SphereModel:
    """A model whose spheres are not on these links."""
    inside = ~np.isin(spheres.link_idx, [spheres.index(link) for link in spheres.counts if link in links])
    attached = tuple(np.array(spheres.attached)[inside].tolist()) if spheres.attached else ()
    return replace(
        spheres,
        centers=spheres.centers[inside],
        radii=spheres.radii[inside],
        link_idx=spheres.link_idx[inside],
        attached=attached,
    )


def urdf_of(robot: Robot, options: ExportOptions) -> Path | None:
    """The URDF that a planner is to read for a robot; None where it came from something else.

    Raises:
        InputError: the URDF that the user names is none.
    """
    path = robot.path if options.urdf is None else Path(options.urdf)
    if path is None or path.suffix.lower() == ".xacro":
        return None
    try:
        is_urdf = read_xml(path, "URDF").getroot().tag == "robot"
    except ElbowroomError:
        if options.urdf is None:
            return None
        raise
    if not is_urdf and options.urdf is not None:
        raise InputError(f"urdf: {path} is not a URDF")
    return Path(os.path.abspath(path)) if is_urdf else None


def path_text(target: Path, file: Path, paths: Literal["absolute", "relative"]) -> str:
    """How a written file names another: never a bare name, which readers look for in folders of their own."""
    if paths == "absolute":
        return os.path.abspath(target)
    text = Path(os.path.relpath(target, os.path.abspath(file.parent))).as_posix()
    return text if text.startswith("..") else f"./{text}"
