"""Which joint values put links where they are asked to be, free of collision? Exit code 1 when none were found.

Each --target is a link and a place: x y z in metres, or a pose with a quaternion qw qx qy qz. The answer is judged by
the robot's meshes (and by the obstacles of --scene) before it is called one; when there is none, the reason is said.
--targets takes many from a file. --serve follows moving targets instead: JSON lines in, joint commands out, at a fixed
rate, on standard input and output or a WebSocket; docs/guide/ik-serve.md lists the messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import tyro

from .._files import check_place
from ..errors import InputError, UnknownJointError, unknown
from ..ik import IkOptions
from ..pairs import PairOptions
from ..remote import XrOptions
from ..remote.doors import check_port, checked_rate
from . import _ik_report, _model_options
from ._cfg_options import check_count, named
from ._common import check_plot, progress_bar, waiting
from ._ik_targets import read_targets, targets_from_words
from ._model_options import ModelOptions
from ._options import NoEffect, Shared

if TYPE_CHECKING:
    from ..robot import Robot

LEFT = "frame_left_arm_ee"
EXAMPLES = {
    f"elbowroom ik teaarm --target {LEFT} 0.3 0.35 0.6": "a place for one hand, any orientation",
    f"elbowroom ik teaarm --target {LEFT} 0.2 0.35 0.5 0 0 90 --rpy --lock waist_yaw --plot ik.png": (
        "a pose, the waist locked, with a picture"
    ),
    "elbowroom ik teaarm --targets poses.csv --scene scene.yaml --allow base_link table --json": (
        "many targets among obstacles"
    ),
    "elbowroom ik teaarm --serve < moves.jsonl > commands.jsonl": "follow targets of a stream, 200 ticks a second",
}
SEARCH = ("position_tolerance", "orientation_tolerance", "seeds", "rest_weight", "manipulability_weight",
          "clearance_weight", "timeout", "seed")  # fmt: skip
XR = ("left", "right", "head", "clutch", "scale", "yaw")
EXIT_NOT_REACHED = 1
MOST_LINKS = 6
"""Likely end-effectors that are listed."""


@dataclass(frozen=True)
class Options(ModelOptions):
    """Arguments of `elbowroom ik`."""

    target: Annotated[tuple[str, ...], tyro.conf.arg(metavar="LINK NUMBER ...")] = ()
    """A link and its place x y z in metres, then its orientation qw qx qy qz, or none; may be given several times."""
    rpy: bool = False
    """Orientations of --target are roll, pitch and yaw in degrees, about the fixed axes x, y, z in this order."""
    targets: Path | None = None
    """File of many targets, each solved for itself: CSV with columns LINK.x LINK.y LINK.z LINK.qw ... LINK.qz, or JSON,
    a list of {link: pose} or one a line; - is standard input."""
    link: Annotated[tuple[str, ...], tyro.conf.arg(metavar="LINK ...")] = ()
    """Link of the columns x, y, z of --targets; the links that --serve follows."""
    cfg: tuple[float, ...] = ()
    """Where the robot is, in rad and m, in the order of its joints: the answer is near it, joints that are not solved
    for stay there."""
    named: str | None = None
    """The same by name; default and zero always exist."""
    degrees: bool = False
    """Angles of --cfg and --lock are in degrees."""
    lock: tuple[str, ...] = ()
    """Joints to hold still, where --cfg or the default pose has them, or at a value."""
    joints: Annotated[tuple[str, ...], tyro.conf.arg(metavar="JOINT ...")] = ()
    """Joints to solve for; all that move a target if not given."""
    collision: bool = True
    """Judge answers for collisions; without, kinematics alone."""
    settings: Annotated[PairOptions, Shared("samples", "ignore")] = field(default_factory=PairOptions)
    """How the pairs are decided."""
    search: Annotated[IkOptions, Shared(*SEARCH)] = field(default_factory=IkOptions)
    """How answers are sought."""
    limit: int = 20
    """Targets of --targets to list: all when there are no more than this, else the first that were not reached."""
    csv: Path | None = None
    """Table of the configurations, joints by name, as check --cfg-file reads it."""
    plot: Path | None = None
    """Picture of the robot at the answer with the targets, .png."""
    serve: bool = False
    """Follow moving targets: JSON lines in, joint commands out."""
    port: int | None = None
    """Serve on a WebSocket of this port of the loopback address instead of standard input and output; 0: any."""
    rate: float = 200.0
    """Ticks a second of --serve."""
    origin: Annotated[tuple[str, ...], tyro.conf.arg(metavar="URL ...")] = ()
    """Web pages of other hosts that may connect to --port, such as https://10.0.0.5:4443."""
    xr: Annotated[XrOptions, Shared(*XR)] = field(default_factory=XrOptions)
    """How the messages of a headset steer."""


NO_EFFECT = (
    *_model_options.NO_EFFECT,
    NoEffect(("target", "targets", "rpy", "limit", "csv", "plot", "collision", *SEARCH),
             lambda options: options.serve, "--serve follows targets that come as messages"),
    NoEffect(("port", "rate", "origin", *XR), lambda options: not options.serve, "it is about --serve"),
    NoEffect(("origin",), lambda options: options.port is None, "only a WebSocket has one; --port opens it"),
    NoEffect(("rpy",), lambda options: not options.target, "it is about --target"),
    NoEffect(("limit", "csv"), lambda options: options.targets is None, "it is about --targets"),
    NoEffect(("plot",), lambda options: options.targets is not None, "it shows the answer to --target"),
    NoEffect(("link",), lambda options: options.targets is None and not options.serve,
             "--target names its links; it is about --targets and --serve"),
    NoEffect(("degrees",), lambda options: not options.cfg and not options.lock, "no joint values are given"),
    NoEffect(("spheres", "pairs", "scene", "allow", "buffer", "method", "n_spheres", "samples", "ignore"),
             lambda options: not options.collision, "--no-collision asks for kinematics alone"),
)  # fmt: skip


def run(options: Options) -> int:
    """Solves and reports, or serves; exit code 1 when a target was not reached."""
    check_plot(options.plot, (".png",))
    if options.csv is not None:
        check_place(options.csv)
    world = options.read_world()
    robot = options.load()
    _check_question(options, robot)
    options.check_allow(robot, world)
    asked = targets_from_words(options.target, robot, options.rpy)
    rows = None if options.targets is None else read_targets(options.targets, robot, options.link)
    _check_names(robot, "--joints", options.joints)
    held = _held(robot, options)
    judge = options.collision_model(robot, world) if options.collision else robot
    start = _start(judge, options)
    if options.serve:
        from ._ik_serve import serve

        return serve(judge, options, start, held)  # pyright: ignore[reportArgumentType]
    return _solve(options, judge, start, held, asked, rows)


def _solve(
    options: Options, judge: Any, start: Any, held: dict[str, float | None], asked: Any, rows: Any
) -> int:
    from ..ik import IkSolver

    solver = IkSolver(
        judge,
        options=options.search,
        joints=options.joints or None,
        held={name: value for name, value in held.items() if value is not None},
    )
    locked = tuple(name for name, value in held.items() if value is None)
    if rows is None:
        with waiting("solving"):
            result = solver.solve(asked, start, locked)
        _ik_report.one(result, solver.robot, options)
        return 0 if result.success else EXIT_NOT_REACHED
    with progress_bar(f"solving {len(rows.rows)} sets of targets"):
        results = solver.solve_batch(rows.rows, start, locked)
    _ik_report.many(results, rows.places, solver.robot, options)
    return 0 if all(result.success for result in results) else EXIT_NOT_REACHED


def _check_question(options: Options, robot: Robot) -> None:
    """Refuses what makes no sense before long work; without targets it says which links could have some."""
    from ..robot.doors import named_poses

    if options.target and options.targets is not None:
        raise InputError("--target and --targets cannot both be given")
    if options.limit < 0:
        raise InputError(f"--limit: expected a number from 0 up, found {options.limit}")
    for link in (*options.link, *options.xr.links.values()):
        robot.link_index(link)
    checked_rate(options.rate)
    if options.port:
        check_port(options.port)
    if options.named not in (None, "default"):
        named_poses(robot, [options.named])
    if options.cfg and options.named:
        raise InputError("--cfg and --named cannot both be given")
    check_count(robot, options.cfg)
    if not (options.target or options.targets or options.serve):
        from ..robot.doors import default_tool_frames

        ends = default_tool_frames(robot)
        likely = f"; likely end-effector links: {', '.join(ends[:MOST_LINKS])}" if ends else ""
        raise InputError(
            f"nothing to reach: expected --target LINK x y z [qw qx qy qz], --targets FILE or --serve{likely}"
        )


def _start(judge: Any, options: Options) -> np.ndarray | None:
    """The configuration that --cfg or --named gives; None for neither."""
    from ..collision import CollisionModel
    from ..robot.doors import named_poses

    robot: Robot = judge.robot if isinstance(judge, CollisionModel) else judge
    if options.cfg:
        return robot.as_cfg([_radians(robot, options, k, value) for k, value in enumerate(options.cfg)])
    if options.named is None:
        return None
    if isinstance(judge, CollisionModel):
        return named(judge, options.named)[1]
    return named_poses(robot, [options.named])[0][1]


def _held(robot: Robot, options: Options) -> dict[str, float | None]:
    """Joints to be held still: at a value, or (None) where they are."""
    held: dict[str, float | None] = {}
    for entry in options.lock:
        whole = entry in robot.joint_names or "=" not in entry  # names may have signs of equality
        name, sign, value = (entry, "", "") if whole else entry.rpartition("=")
        _check_names(robot, "--lock", [name])
        if name in held:
            raise InputError(f"--lock: joint {name} is there twice")
        if name in options.joints:
            raise InputError(f"--lock: joint {name} is among --joints")
        try:
            index = robot.joint_names.index(name)
            held[name] = _radians(robot, options, index, float(value)) if sign else None
        except ValueError:
            raise InputError(f"--lock {entry}: expected JOINT or JOINT=NUMBER") from None
    return held


def _check_names(robot: Robot, flag: str, names: Sequence[str]) -> None:
    for name in names:
        if name not in robot.joint_names:
            raise UnknownJointError(f"{flag}: {unknown('actuated joint', name, robot.joint_names)}")


def _radians(robot: Robot, options: Options, index: int, value: float) -> float:
    turns = robot.tree.actuated[index].type != "prismatic"
    return float(np.radians(value)) if options.degrees and turns else value
