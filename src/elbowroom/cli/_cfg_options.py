"""Arguments of the verbs that take configurations: typed, named, drawn at random, or from a file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import tyro

from ..errors import InputError
from ._options import NoEffect

if TYPE_CHECKING:
    from ..collision import CollisionModel
    from ..robot import Configurations, Robot

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
    """Angles are in degrees, those of --cfg too; sliding joints are in metres all the same."""
    missing: str | None = None
    """Where joints are held that the file does not give: a named configuration, default, zero or a number. Without it,
    such files are refused."""
    columns: str = ""
    """Look only at columns of the file whose name starts with this, e.g. observation.state."""
    time_column: Annotated[str | None, tyro.conf.arg(metavar="COLUMN")] = None
    """Name or number (from 1) of the column that holds the time in seconds; found by its name if not given."""

    def read(self, path: Path, model: CollisionModel) -> Configurations:
        """The rows of a file, or of standard input for "-"."""
        from ..robot import read_configurations

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
    """File of configurations, one a row: CSV, NPY, NPZ, JSON lines or JSON, joints by name or in the robot's order; a
    - is standard input."""
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
    from ..robot.doors import named_poses

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
    """Configurations (n, dof) whose angles are given in degrees; slides are metres all the same."""
    turning = [joint.type != "prismatic" for joint in robot.tree.actuated]
    return np.where(turning, np.radians(cfgs), cfgs)


def named(model: CollisionModel, name: str) -> tuple[str, np.ndarray]:
    """A configuration by name; the default is the model's, which is free where the robot's own guess is not."""
    from ..robot.doors import named_poses

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
