"""How does the robot get from start to goal without touching anything? Exit code 1 if no path was found.

The path is shortened, smoothed, timed within the joints' limits, and proved free over its whole length with the robot's
meshes and the obstacles of SCENE, if given. --goal is a configuration, several of them, or a pose of a link. --out
writes the motion as rows at a fixed rate.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import tyro

from .._files import check_place
from .._progress import PATIENCE
from .._text import number, read_text
from ..errors import ElbowroomError, FormatError, InputError, UnknownNameError, unknown
from ..pairs import PairOptions
from ..plan import PlanOptions
from ..plan.internal import Group, limits_of
from ..recordings import read_configurations
from ..robot.internal import named_poses
from ..spheres import FitOptions
from . import _plan_report
from ._common import check_plot, waiting
from ._ik_targets import read_targets, targets_from_words
from ._model_options import ModelOptions, in_radians
from ._options import NoEffect, Shared
from ._progress import say

if TYPE_CHECKING:
    from ..collision import CollisionModel
    from ..plan import PlanProgress
    from ..robot import Robot

EXAMPLES = {
    "elbowroom plan teaarm --start arms_forward --goal hug": "between two named configurations",
    "elbowroom plan panda scene.yaml --start start.json --goal goal.json --out motion.csv --plot motion.png": (
        "among obstacles, with a table of the motion and pictures"
    ),
    "elbowroom plan teaarm --goal frame_left_arm_ee 0.3 0.35 0.6 --method stomp": "a hand to a place, by STOMP",
}
SEARCH = ("timeout", "seed", "method", "goals", "max_nodes", "shortcuts", "smooth", "rate")
KINDS = (".csv", ".json")
EXIT_NO_PATH = 1


@dataclass(frozen=True)
class Options(ModelOptions):
    """Arguments of `elbowroom plan`."""

    scene: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="SCENE")] = None
    """File of obstacles in the robot's world frame: JSON, or the YAML of MoveIt and MotionBenchMaker."""
    start: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NUMBER ...|NAME|FILE")] = ("default",)
    """Start of the motion: joint values in rad and m in the order of the robot's joints, a named configuration, or
    a file with one row of them."""
    goal: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NUMBER ...|NAME ...|FILE|LINK NUMBER ...")] = ()
    """Goal of the motion: the same, several of them (the first that is reached wins), or a link and its position x y z,
    optionally followed by its orientation qw qx qy qz. Joints that a file omits stay where they start."""
    rpy: bool = False
    """The orientation of a link in --goal is roll, pitch and yaw in degrees, about the fixed axes x, y, z in this
    order."""
    degrees: bool = False
    """Angles of --start and --goal are in degrees."""
    joints: Annotated[tuple[str, ...], tyro.conf.arg(metavar="JOINT ...")] = ()
    """Joints that may move; the others stay where they start. All if not given."""
    fit: Annotated[FitOptions, Shared("n_spheres")] = field(default_factory=FitOptions)
    """How spheres are fitted."""
    settings: Annotated[PairOptions, Shared("samples", "ignore")] = field(default_factory=PairOptions)
    """How the pairs are decided."""
    search: Annotated[PlanOptions, Shared(*SEARCH)] = field(default_factory=PlanOptions)
    """How a way is sought and what is made of it."""
    velocity_limits: tuple[float, ...] = ()
    """In rad/s and m/s, one for all joints or one for each; if not given, the robot's, or 3 where it states none."""
    acceleration_limits: tuple[float, ...] = ()
    """In rad/s^2 and m/s^2; ten times the velocity limits if not given."""
    jerk_limits: tuple[float, ...] = ()
    """In rad/s^3 and m/s^3; none if not given."""
    out: Path | None = None
    """File for the motion: .csv, with --rate rows per second as check --trajectory reads them, or .json, which loses
    nothing."""
    plot: Path | None = None
    """Pictures of the motion, its clearance, its speeds and the cost of the search: .png, .svg or .pdf."""


NO_EFFECT = (
    NoEffect(("n_spheres",), lambda options: options.spheres is not None,
             "the spheres are those of the file given with --spheres, nothing is fitted"),
    NoEffect(("allow",), lambda options: options.scene is None, "no obstacles are given; SCENE gives them"),
    NoEffect(("samples",), lambda options: options.pairs is not None, "the pairs are those of --pairs"),
    NoEffect(("max_nodes", "shortcuts"), lambda options: options.search.method == "stomp", "it is about the sampler"),
)  # fmt: skip


def run(options: Options) -> int:
    """Plans and reports; exit code 1 when no way was found."""
    from ..plan import plan_motion

    check_plot(options.plot)
    if options.out is not None:
        if options.out.suffix.lower() not in KINDS:
            raise InputError(f"--out {options.out}: expected a name ending in {' or '.join(KINDS)}")
        check_place(options.out)
    if not options.goal:
        raise InputError("nothing to reach: expected --goal with joint values, a name, a file, or LINK x y z")
    world = options.read_world()
    robot = options.load()
    options.check_allow(robot, world)
    asked = _search(options)
    limits_of(robot, asked)  # wrong ones are told before the long work
    start, goal = _places(options, robot, robot.default_cfg)
    Group.of(robot, start, options.joints or None)
    began = time.perf_counter()
    model = options.collision_model(robot, world)
    made = time.perf_counter() - began
    if "default" in (*options.start, *options.goal):  # the model's is free where the robot's own guess is not
        start, goal = _places(options, robot, model.default_cfg)
    with live(options.search.method) as progress:
        result = plan_motion(model, start, goal, options.joints or None, asked, progress=progress)
    _write(model, result, options)
    _plan_report.report(model, result, options, made)
    return 0 if result.success else EXIT_NO_PATH


def _places(options: Options, robot: Robot, default: Any) -> tuple[Any, Any]:
    return places(robot, default, options.start, options.goal, degrees=options.degrees, rpy=options.rpy)


def _search(options: Options) -> PlanOptions:
    """The options of the search, limits included."""
    given = {
        name: values[0] if len(values) == 1 else values
        for name in ("velocity_limits", "acceleration_limits", "jerk_limits")
        if (values := getattr(options, name))
    }
    return replace(options.search, **given)


def _write(model: CollisionModel, result: Any, options: Options) -> None:
    """Files of a motion that was found; of none there is nothing to write."""
    if options.out is not None and result.motion is not None:
        result.motion.write(options.out, rate=options.search.rate)
    if options.plot is not None and result.path is not None:
        from ..ui.draw import plot_plan, save_figure

        with waiting("drawing"):
            save_figure(plot_plan(model, result), options.plot)


# How a search goes, on standard error: a line that renews itself in a terminal, a line now and then in a pipe ---

SHOWN = 0.1
"""Seconds between two changes of the line in a terminal."""


@contextmanager
def live(method: str) -> Generator[Callable[[PlanProgress], None]]:
    """Yields what `plan_motion` may call with its progress."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console

    with Console(file=sys.stderr).status(f"planning ({method})") as status:
        last = 0.0

        def show(progress: PlanProgress) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last > SHOWN:
                last = now
                status.update(text_of(progress))

        yield show


class _Lines:
    """A line every two seconds, none for what is over by then."""

    def __init__(self) -> None:
        self.last = time.monotonic()

    def __call__(self, progress: PlanProgress) -> None:
        now = time.monotonic()
        if now - self.last > PATIENCE:
            self.last = now
            say(text_of(progress))


def text_of(progress: PlanProgress) -> str:
    """What is being done, nodes and best cost so far, seconds."""
    parts = [progress.doing]
    if progress.nodes:
        parts.append(f"{progress.nodes:,} nodes")
    if progress.cost is not None:
        parts.append(f"best cost {number(progress.cost, 4)}")
    return f"{', '.join(parts)} ({progress.seconds:.1f} s)"


# Where a motion of `elbowroom plan` begins and ends: numbers, names, files, or the place of a link ---


def places(
    robot: Robot, default: np.ndarray, start: Sequence[str], goal: Sequence[str], *, degrees: bool, rpy: bool
) -> tuple[np.ndarray, Any]:
    """Start (dof,) and goal, as `plan_motion` takes it: configurations, or targets of links.

    Args:
        robot: whose joints and links they are.
        default: (dof,) the configuration of that name.
        start, goal: words of --start and --goal.
        degrees: angles are degrees, in files too.
        rpy: orientations of links are roll, pitch and yaw.

    Raises:
        InputError: other numbers of numbers or of configurations. UnknownNameError: neither a name nor a file.
    """
    begins = _configurations(robot, default, start, "--start", degrees, None)
    if len(begins) != 1:
        raise InputError(f"--start: expected one configuration, found {len(begins)}")
    if goal[0] in robot.link_names and goal[0] not in _names(robot):
        return begins[0], targets_from_words(goal, robot, rpy, "--goal")
    if rpy:
        raise InputError("--rpy has no effect here: no link is named in --goal")
    if len(goal) == 1 and _of_links(Path(goal[0]), robot):
        rows = read_targets(Path(goal[0]), robot, ()).rows
        if len(rows) != 1:
            raise InputError(f"--goal {goal[0]}: expected one set of targets, found {len(rows)}")
        return begins[0], rows[0]
    ends = _configurations(robot, default, goal, "--goal", degrees, begins[0])
    return begins[0], ends[0] if len(ends) == 1 else ends


def _configurations(
    robot: Robot,
    default: np.ndarray,
    words: Sequence[str],
    flag: str,
    degrees: bool,
    missing: np.ndarray | None,
) -> np.ndarray:
    """Configurations (n, dof) from words: numbers, one after the other; names; or a file.

    `missing` (dof,) is where joints are that a file leaves out; None refuses such files.
    """
    numbers = _numbers(words, flag)
    if numbers is not None:
        if not robot.dof or len(numbers) % robot.dof:
            joints = ", ".join(robot.joint_names) or "it has no joints"
            raise InputError(f"{flag} needs {robot.dof} numbers ({joints}), found {len(numbers)}")
        rows = robot.as_cfgs(np.array(numbers).reshape(-1, robot.dof))
        return in_radians(robot, rows) if degrees else rows
    if len(words) == 1 and words[0] not in _names(robot) and Path(words[0]).exists():
        return read_configurations(words[0], robot, degrees=degrees, missing=missing).cfgs
    for word in words:
        if word not in _names(robot):
            hint = "; there is no file of that name either" if "." in word or "/" in word else ""
            raise UnknownNameError(f"{flag}: {unknown('named configuration', word, _names(robot))}{hint}")
    return np.stack([default if word == "default" else named_poses(robot, [word])[0][1] for word in words])


def _numbers(words: Sequence[str], flag: str) -> list[float] | None:
    """The numbers that all words are; None where the first is none.

    Raises:
        InputError: a later one is none.
    """
    found: list[float] = []
    for word in words:
        try:
            found.append(float(word))
        except ValueError:
            if not found:
                return None
            raise InputError(
                f"{flag}: expected a number after {words[len(found) - 1]}, found {word!r}"
            ) from None
    return found


def _names(robot: Robot) -> tuple[str, ...]:
    return tuple(dict.fromkeys(("default", "zero", *robot.named_cfgs)))


def _of_links(path: Path, robot: Robot) -> bool:
    """Whether a file is JSON that names links, not joints."""
    try:
        found = json.loads(read_text(path)) if path.suffix.lower() == ".json" else None
    except (ElbowroomError, FormatError, ValueError, RecursionError):
        return False  # what is wrong is said by who reads configurations
    entry = found[0] if isinstance(found, list) and len(found) == 1 else found  # pyright: ignore
    return (
        isinstance(entry, dict)
        and any(key in robot.link_names for key in entry)
        and not any(  # pyright: ignore
            key in robot.joint_names
            for key in entry  # pyright: ignore[reportUnknownVariableType]
        )
    )
