"""Arguments of the verbs that ask for a verdict: spheres, pairs, obstacles and what may touch."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import tyro

from ..errors import InputError, UnknownLinkError, UnknownNameError, unknown
from ..pairs import PairOptions
from ..pairs.internal import BUFFER
from ..spheres import FitOptions, fit_spheres
from ._common import (
    RobotOptions,
    pairs_from_file,
    pose_facts,
    progress_bar,
    quiet,
    spheres_from_file,
    waiting,
)
from ._options import NoEffect, Shared

if TYPE_CHECKING:
    from ..collision import CollisionModel
    from ..pairs import PairMatrix
    from ..recordings import Configurations
    from ..robot import Robot
    from ..spheres import SphereModel
    from ..world import World


MOST_RANDOM = 10_000_000
"""Random configurations in one call: what fits into memory on any machine."""


def check_there(path: Path | None) -> None:
    """Raises before long work if there is no such file; "-" is standard input.

    Raises:
        InputError: nothing is there.
    """
    if path is None or str(path) == "-":
        return
    try:
        path.stat()
    except FileNotFoundError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except (OSError, ValueError):
        pass  # reading will say what is wrong


@dataclass(frozen=True)
class FileOptions:
    """How the columns of a file of configurations are to be understood."""

    degrees: bool = False
    """Angles are in degrees, also those of --cfg; sliding joints stay in metres."""
    missing: str | None = None
    """Value of joints that the file does not give: a named configuration, default, zero or a number. Without it, such
    files are rejected."""
    columns: str = ""
    """Use only the columns whose names start with this, e.g. observation.state."""
    time_column: Annotated[str | None, tyro.conf.arg(metavar="COLUMN")] = None
    """Name or number (from 1) of the column that holds the time in seconds; found by its name if not given."""

    def read(self, path: Path, model: CollisionModel) -> Configurations:
        """The rows of a file, or of standard input for "-"."""
        from ..recordings import read_configurations

        return read_configurations(
            path,
            model.robot,
            degrees=self.degrees,
            missing=self._held(model),
            columns=self.columns,
            time_column=self.time_column,
        )

    def _held(self, model: CollisionModel) -> np.ndarray | None:
        if self.missing is None:
            return None
        try:
            return np.full(model.robot.dof, float(self.missing))
        except ValueError:
            return named(model, self.missing)[1]


@dataclass(frozen=True)
class CfgOptions(FileOptions):
    """Which configurations: any of these together, the default pose if none is given."""

    cfg: tuple[float, ...] = ()
    """Joint values in rad and m, in the order of the robot's joints; several configurations one after the other."""
    cfg_file: Path | None = None
    """File of configurations, one per row: CSV, NPY, NPZ, JSON lines or JSON, joints by name or in the robot's order; -
    is standard input."""
    named: tuple[str, ...] = ()
    """Named configurations; default and zero always exist."""
    random: int = 0
    """Configurations drawn within the limits."""


@dataclass(frozen=True)
class Chosen:
    """Configurations and what to call them."""

    cfgs: np.ndarray
    """(n, dof)."""
    groups: tuple[tuple[int, Callable[[int], str]], ...]
    """First row of every group, and the name of its k-th row."""
    notes: tuple[str, ...]

    def label(self, row: int) -> str:
        """Name of a row: "cfg 2", "hug", "moves.csv:17", "random 1"."""
        first, name = self.groups[bisect_right([start for start, _ in self.groups], row) - 1]
        return name(row - first)


def check_choice(robot: Robot, options: CfgOptions) -> None:
    """Refuses configurations that cannot be chosen, before any work is done for them.

    Raises:
        InputError: a wrong number of values. UnknownNameError: no configuration of that name.
    """
    from ..robot.internal import named_poses

    check_count(robot, options.cfg, several=True)
    named_poses(robot, options.named)
    if not 0 <= options.random <= MOST_RANDOM:
        raise InputError(
            f"--random: expected a number from 0 to {MOST_RANDOM:,}, found {options.random}; draw more with other seeds"
        )


def check_count(robot: Robot, numbers: Sequence[float], *, several: bool = False) -> None:
    """Refuses values of --cfg that are not one configuration, or not whole ones where `several` are allowed.

    Raises:
        InputError: says how many there should be, and of which joints.
    """
    count = len(numbers)
    if count and (not robot.dof or count % robot.dof or not (several or count == robot.dof)):
        joints = ", ".join(robot.joint_names) or "it has no joints"
        each = " per configuration" if several else ""
        raise InputError(f"--cfg needs {robot.dof} numbers{each} ({joints}), found {count}")


def choose(model: CollisionModel, options: CfgOptions, seed: int) -> Chosen:
    """The configurations that the arguments name, in the order cfg, file, named, random.

    Raises:
        InputError: what `check_choice` refuses, or a file that does not fit the robot.
    """
    robot = model.robot
    check_choice(robot, options)
    parts: list[np.ndarray] = []
    groups: list[tuple[int, Callable[[int], str]]] = []
    notes: tuple[str, ...] = ()

    def add(rows: Any, name: Callable[[int], str]) -> None:
        groups.append((sum(map(len, parts)), name))
        parts.append(np.asarray(rows))

    if options.cfg:
        given = np.array(options.cfg).reshape(-1, robot.dof)
        if options.degrees:
            given = in_radians(robot, given)
        add(given, lambda k: f"cfg {k + 1}")
    if options.cfg_file is not None:
        found = options.read(options.cfg_file, model)
        notes = found.notes
        add(found.cfgs, found.where)
    for name in options.named:
        label, cfg = named(model, name)
        add(cfg[None], lambda _, label=label: label)
    if options.random:
        add(robot.random_cfgs(options.random, seed), lambda k: f"random {k + 1}")
    if not parts:
        add(model.default_cfg[None], lambda _: "default")
    return Chosen(robot.as_cfgs(np.concatenate(parts)), tuple(groups), notes)


def in_radians(robot: Robot, cfgs: np.ndarray) -> np.ndarray:
    """Configurations (n, dof) with angles in degrees; sliding joints stay in metres."""
    turning = [joint.type != "prismatic" for joint in robot.tree.actuated]
    return np.where(turning, np.radians(cfgs), cfgs)


def named(model: CollisionModel, name: str) -> tuple[str, np.ndarray]:
    """A configuration by name; the default is the model's, which is free where the robot's own guess is not."""
    from ..robot.internal import named_poses

    return ("default", model.default_cfg) if name == "default" else named_poses(model.robot, [name])[0]


def no_effect(file_given: Callable[[Any], bool]) -> tuple[NoEffect, ...]:
    """Options of files that change nothing without one; `file_given` is told the options."""
    return (
        NoEffect(
            ("missing", "columns", "time_column"),
            lambda options: not file_given(options),
            "it is about the columns of a file, and none is given",
        ),
        NoEffect(
            ("degrees",),
            lambda options: not file_given(options) and not options.cfg,
            "no joint values are given",
        ),
    )


@dataclass(frozen=True)
class SphereOptions(RobotOptions):
    """Arguments of every verb that needs the robot's spheres."""

    spheres: Path | None = None
    """File with the spheres, as elbowroom spheres writes it; without it, spheres are fitted."""
    fit: Annotated[FitOptions, Shared("method", "n_spheres")] = field(default_factory=FitOptions)
    """How they are fitted without a file."""

    def model(self, robot: Robot) -> SphereModel:
        """The spheres that the arguments name."""
        if self.spheres is not None:
            return spheres_from_file(self.spheres, robot)
        with progress_bar(f"fitting spheres to {robot.name}") as progress:
            return fit_spheres(robot, self.fit, progress=progress)


FROM_FILE = "the spheres are those of the file given with --spheres, nothing is fitted"
NO_BUDGET = "the centerline method has no budget for the whole robot; elbowroom spheres has --per-link"
SPHERES_NO_EFFECT = (
    NoEffect(("method", "n_spheres"), lambda options: options.spheres is not None, FROM_FILE),
    NoEffect(("n_spheres",), lambda options: options.fit.method == "centerline", NO_BUDGET),
)
"""For verbs with `SphereOptions`."""


@dataclass(frozen=True)
class ModelOptions(SphereOptions):
    """Arguments of every verb that makes a CollisionModel."""

    pairs: Path | None = None
    """File that lists the pairs to check, in any format that holds pairs; without it, pairs are computed."""
    settings: Annotated[PairOptions, Shared("samples", "seed", "ignore")] = field(default_factory=PairOptions)
    """How the pairs are decided without a file; the seed is used for all random choices."""
    scene: Path | None = None
    """File of obstacles in the robot's world frame: JSON, or the YAML of MoveIt and MotionBenchMaker."""
    allow: tuple[tuple[str, str], ...] = ()
    """Links that may touch obstacles of --scene, such as the base its table: pairs of names, one after the other."""
    buffer: float = 0.0
    """Clearance that every pair must keep, metres."""

    def read_world(self) -> World | None:
        """The obstacles of --scene."""
        from ..world import World

        if self.scene is None:
            return None
        with waiting(f"reading {self.scene}"), quiet():
            return World.read(self.scene, package_dirs=self.package_dirs)

    def check_allow(self, robot: Robot, world: World | None) -> None:
        """Refuses names of --allow that do not exist, before the long work."""
        for link, obstacle in self.allow:
            if world is not None and link in world and obstacle not in world:  # whichever is named first
                link, obstacle = obstacle, link
            if link not in robot.link_names:
                raise UnknownLinkError(f"--allow: {unknown('link', link, robot.link_names)}")
            if world is not None and obstacle not in world:
                raise UnknownNameError(f"--allow: {unknown('obstacle', obstacle, world.names)}")

    def scene_facts(self, world: World | None) -> dict[str, Any]:
        """What reports say of the scene, if there is one."""
        if world is None:
            return {}
        return {"scene": self.scene, "obstacles": len(world), "allowed": self.allow}

    def model_facts(self, model: CollisionModel) -> dict[str, Any]:
        """What reports say of the model itself: its pairs and its default pose."""
        pose = model.pairs.default_pose
        return {
            "checked_pairs": len(model.pairs.checked),
            "decided_by_meshes_alone": len(model.by_meshes),
            "ignored_pairs": len(model.ignored),
            "default_pose": pose_facts(model.robot.default_pose if pose is None else pose),
        }

    def chosen_spheres(self, robot: Robot) -> SphereModel:
        """Those of --spheres, those that the pairs of --pairs were decided with, or fitted ones."""
        from .. import formats

        if self.pairs is not None and self.spheres is None and self.fit == FitOptions():
            held = formats.read(self.pairs, robot=robot).spheres
            if held is not None:  # pairs hold for the spheres that they were decided with
                return held
        return self.model(robot)

    def decided_pairs(self, robot: Robot, spheres: SphereModel) -> PairMatrix:
        """Those of --pairs, or computed ones, with what --ignore names."""
        from ..collision.internal import cached_pairs

        if self.pairs is not None:
            return pairs_from_file(self.pairs, robot).with_user(ignore=self.settings.ignore)
        buffer = max(BUFFER, self.buffer)  # a pair that is never met must stay apart by the buffer asked for
        with progress_bar(f"deciding the pairs of {robot.name}") as progress:
            settings = replace(self.settings, buffer=buffer)
            return cached_pairs(robot, spheres, settings, progress=progress)

    def collision_model(self, robot: Robot, world: World | None) -> CollisionModel:
        """The model of the robot among the obstacles."""
        from ..collision import CollisionModel
        from ..collision.internal import covering

        spheres, _ = covering(robot, self.chosen_spheres(robot))
        pairs = self.decided_pairs(robot, spheres)
        return CollisionModel(robot, spheres, pairs, world, self.buffer, allow=self.allow)


NO_EFFECT = (
    *SPHERES_NO_EFFECT,
    NoEffect(("allow",), lambda options: options.scene is None, "no obstacles are given; --scene gives them"),
    NoEffect(("samples",), lambda options: options.pairs is not None, "the pairs are those of --pairs"),
)
"""For verbs with `ModelOptions`."""
