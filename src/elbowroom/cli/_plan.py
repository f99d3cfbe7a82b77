"""How does the robot get from here to there without touching anything? Exit code 1 when no way was found.

The way is shortened, rounded, given speeds within the joints' limits, and proved free all the way by the robot's
meshes among the obstacles of SCENE; without SCENE the robot is alone. --goal is a configuration, several, or where a
link should be. --out writes the motion as rows a fixed time apart.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from .._files import check_place
from ..errors import InputError
from ..pairs import PairOptions
from ..plan import PlanOptions
from ..plan.doors import Group, limits_of
from ..spheres import FitOptions
from . import _plan_report
from ._common import check_plot, waiting
from ._model_options import ModelOptions
from ._options import NoEffect, Shared
from ._plan_places import places
from ._plan_progress import live

if TYPE_CHECKING:
    from ..collision import CollisionModel
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
    """Where the motion begins: joint values in rad and m in the order of the robot's joints, a named configuration, or
    a file with one row of them."""
    goal: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NUMBER ...|NAME ...|FILE|LINK NUMBER ...")] = ()
    """Where it ends: the same, several of them (the first that is reached wins), or a link and its place x y z, then
    its orientation qw qx qy qz. Joints that a file leaves out stay where they start."""
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
    """In rad/s and m/s, one for all joints or one for each; the robot's if not given, and 3 where it states none."""
    acceleration_limits: tuple[float, ...] = ()
    """In rad/s^2 and m/s^2; ten times the velocity limits if not given."""
    jerk_limits: tuple[float, ...] = ()
    """In rad/s^3 and m/s^3; none if not given."""
    out: Path | None = None
    """The motion: .csv, rows of --rate a second as check --trajectory reads them, or .json, without loss."""
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
