"""Which joint values put links at their targets without a collision? Exit code 1 if none were found.

Each --target is a link and a position, x y z in metres, or a pose with a quaternion qw qx qy qz. Answers are checked
with the robot's meshes and the obstacles of --scene; if there is none, the command explains why.
--targets takes many from a file. --serve follows moving targets instead: JSON lines in, joint commands out, at a fixed
rate, on standard input and output or a WebSocket; docs/guide/ik-serve.md lists the messages.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import tyro

from .._files import check_place
from .._text import fixed, number
from ..errors import InputError, UnknownJointError, unknown
from ..ik import IkOptions, IkResult, JointTarget, Target, Tracker
from ..pairs import PairOptions
from ..remote import ServeReport, Session, XrOptions, serve_lines, serve_socket
from ..remote.internal import Mailbox, check_port, checked_rate, steered_links
from . import _model_options, last_words
from ._common import check_plot, clash_facts, console, print_json, progress_bar, table, waiting, write_text
from ._ik_targets import read_targets, targets_from_words
from ._model_options import ModelOptions, check_count, named
from ._options import NoEffect, Shared
from ._progress import say

if TYPE_CHECKING:
    from ..collision import CollisionModel
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
    """A link and its position x y z in metres, optionally followed by its orientation qw qx qy qz; may be given several
    times."""
    rpy: bool = False
    """Orientations of --target are roll, pitch and yaw in degrees, about the fixed axes x, y, z in this order."""
    targets: Path | None = None
    """File of many targets, each solved separately: CSV with columns LINK.x LINK.y LINK.z LINK.qw ... LINK.qz, or JSON,
    a list of {link: pose} or one per line; - is standard input."""
    link: Annotated[tuple[str, ...], tyro.conf.arg(metavar="LINK ...")] = ()
    """Link of the columns x, y, z of --targets; the links that --serve follows."""
    cfg: tuple[float, ...] = ()
    """Current joint values in rad and m, in the order of the robot's joints: the answer is near them, and joints that
    are not solved for keep them."""
    named: str | None = None
    """The same as a named configuration; default and zero always exist."""
    degrees: bool = False
    """Angles of --cfg and --lock are in degrees."""
    lock: tuple[str, ...] = ()
    """Joints to hold at --cfg or the default pose, or at a given value."""
    joints: Annotated[tuple[str, ...], tyro.conf.arg(metavar="JOINT ...")] = ()
    """Joints to solve for; if not given, all joints that move a target."""
    collision: bool = True
    """Check answers for collisions; otherwise solve kinematics alone."""
    settings: Annotated[PairOptions, Shared("samples", "ignore")] = field(default_factory=PairOptions)
    """How the pairs are decided."""
    search: Annotated[IkOptions, Shared(*SEARCH)] = field(default_factory=IkOptions)
    """How answers are sought."""
    limit: int = 20
    """Targets of --targets to list: all if there are no more than this, otherwise the first that were not reached."""
    csv: Path | None = None
    """CSV file of the configurations, joints by name, as check --cfg-file reads it."""
    plot: Path | None = None
    """Picture of the robot at the answer with the targets, .png."""
    serve: bool = False
    """Follow moving targets: JSON lines in, joint commands out."""
    port: int | None = None
    """Serve on a WebSocket of this port of the loopback address instead of standard input and output; 0: any."""
    rate: float = 200.0
    """Ticks per second of --serve."""
    origin: Annotated[tuple[str, ...], tyro.conf.arg(metavar="URL ...")] = ()
    """Origins of other web pages that may connect to --port, such as https://10.0.0.5:4443."""
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
             lambda options: not options.collision, "--no-collision means kinematics alone"),
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
        _print_one(result, solver.robot, options)
        return 0 if result.success else EXIT_NOT_REACHED
    with progress_bar(f"solving {len(rows.rows)} sets of targets"):
        results = solver.solve_batch(rows.rows, start, locked)
    _print_many(results, rows.places, solver.robot, options)
    return 0 if all(result.success for result in results) else EXIT_NOT_REACHED


def _check_question(options: Options, robot: Robot) -> None:
    """Refuses what makes no sense before long work; without targets it says which links could have some."""
    from ..robot.internal import named_poses

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
        from ..robot.internal import default_tool_frames

        ends = default_tool_frames(robot)
        likely = f"; likely end-effector links: {', '.join(ends[:MOST_LINKS])}" if ends else ""
        raise InputError(
            f"nothing to reach: expected --target LINK x y z [qw qx qy qz], --targets FILE or --serve{likely}"
        )


def _start(judge: Any, options: Options) -> np.ndarray | None:
    """The configuration that --cfg or --named gives; None for neither."""
    from ..collision import CollisionModel
    from ..robot.internal import named_poses

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
            raise InputError(f"--lock: joint {name} is given twice")
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


# `elbowroom ik --serve`: a robot that follows messages at a fixed rate ----------------------------

STDIN = 0
XR_PATH = "/xr"
"""Where a headset finds its page on the port of the WebSocket."""


def serve(
    model: CollisionModel, options: Options, start: np.ndarray | None, held: Mapping[str, float | None]
) -> int:
    """Serves until the input ends, a client sends `end`, or an interrupt; the robot is then at rest."""
    robot = model.robot
    links, xr = steered_links(robot, options.link, options.xr)
    place = np.array(model.default_cfg if start is None else start)
    for name, value in held.items():
        if value is not None:
            place[robot.joint_names.index(name)] = value
    joints = [name for name in options.joints or robot.joint_names if name not in held]
    tracker = Tracker(model, links, joints=joints)
    session = Session(tracker, robot, links, place, options.rate, xr)
    with waiting("preparing the first tick"):
        session.prepare()
    mailbox = Mailbox()
    with last_words(mailbox.close):
        if options.port is None:
            report = serve_lines(session, STDIN, _write, mailbox)
        else:
            from ..ui.xr import xr_page

            announce, pages = partial(_announce, session), {XR_PATH: xr_page("/")}
            report = serve_socket(session, options.port, options.origin, announce, mailbox, pages)
        _tell(report, options)
    return 0


def _write(text: str) -> bool:
    """One line on standard output; whether it is still read."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
    return getattr(sys.stdout, "stream", sys.stdout) is not None


def _announce(session: Session, address: str) -> None:
    links = ", ".join(session.links)
    say(f"serving {session.robot.name} ({links}) on {address}, {session.rate:g} ticks a second")
    say(f"page for a headset: http://localhost:{address.rpartition(':')[2]}{XR_PATH}")


def _tell(report: ServeReport, options: Options) -> None:
    if options.json and options.port is not None:
        print_json(vars(report))
    elif not options.json:
        say(str(report))


def _print_one(result: IkResult, robot: Robot, options: Options) -> None:
    """The answer to --target."""
    if options.plot is not None:
        from ..ui.draw import ik_picture, save_png

        save_png(options.plot, ik_picture(robot, result))
    if options.json:
        scene = options.scene_facts(None if result.model is None else result.model.world)
        about = {} if result.model is None else options.model_facts(result.model)
        print_json(
            {"robot": robot.name, "modelled": robot.modelled, **scene, **about, **_facts(result, robot)}
        )
        return
    out = console()

    def line(text: str) -> None:
        out.print(text, markup=False)

    line(f"{robot.name}: {_sentence(result)}")
    for note in (*robot.modelled, *result.notes):
        line(f"  note: {note}")
    line(
        f"  {result.chosen}; {result.seeds_tried} starts, {result.iterations} steps, {1e3 * result.seconds:.0f} ms "
        "including one-time setup"
    )
    rows = [
        (_name(target), fixed(1e3 * position, 3), fixed(np.degrees(orientation), 3))
        for target, position, orientation in zip(
            result.targets, result.position_error, result.orientation_error, strict=True
        )
    ]
    out.print(table(("target", "off by mm", "off by deg"), rows))
    moved = result.cfg.tolist()
    out.print(
        table(
            ("joint", "rad or m"), [(n, number(v, 6)) for n, v in zip(robot.joint_names, moved, strict=True)]
        )
    )
    if options.plot is not None:
        line(f"wrote {options.plot}")


def _print_many(results: Sequence[IkResult], places: Sequence[str], robot: Robot, options: Options) -> None:
    """The answers to --targets."""
    if options.csv is not None:
        write_text(options.csv, _csv(results, robot))
    bad = [k for k, result in enumerate(results) if not result.success]
    shown = list(range(len(results))) if len(results) <= options.limit else bad[: options.limit]
    seconds = np.array([result.seconds for result in results])
    if options.json:
        scene = options.scene_facts(None if results[0].model is None else results[0].model.world)
        print_json(
            {
                "robot": robot.name,
                "modelled": robot.modelled,
                **scene,
                "targets": len(results),
                "reached": len(results) - len(bad),
                "not_reached": [places[k] for k in bad],
                "median_seconds": float(np.median(seconds)),
                "listed": [{"name": places[k], **_facts(results[k], robot)} for k in shown],
            }
        )
        return
    out = console()
    reached = f"{len(results) - len(bad)} of {len(results)} sets of targets reached"
    out.print(f"{robot.name}: {reached}; {1e3 * np.median(seconds):.2f} ms each (median)", markup=False)
    for note in robot.modelled:
        out.print(f"  note: {note}", markup=False)
    rows = [
        (
            places[k],
            "yes" if results[k].success else "no",
            fixed(1e3 * results[k].position_error.max(), 3),
            fixed(np.degrees(results[k].orientation_error.max()), 3),
            "" if (verdict := results[k].verdict) is None else fixed(1e3 * verdict.varying_clearance, 1),
            results[k].why,
        )
        for k in shown
    ]
    out.print(table(("target", "reached", "off by mm", "off by deg", "clearance mm", "why not"), rows))
    if len(bad) > len(shown) and len(results) > options.limit:
        out.print(f"... and {len(bad) - len(shown)} more; --limit {len(bad)} lists all", markup=False)
    if options.csv is not None:
        out.print(f"wrote {options.csv}", markup=False)


def _facts(result: IkResult, robot: Robot) -> dict[str, Any]:
    """A result for JSON."""
    verdict = result.verdict
    return {
        "success": result.success,
        "why": result.why,
        "reason": result.reason,
        "cfg": dict(zip(robot.joint_names, result.cfg.tolist(), strict=True)),
        "targets": [
            {"name": _name(target), "position_error": position, "orientation_error": orientation}
            for target, position, orientation in zip(
                result.targets, result.position_error, result.orientation_error, strict=True
            )
        ],
        "free": result.free,
        "clearance": result.clearance,
        "varying_clearance": None if verdict is None else verdict.varying_clearance,
        "constant": [] if verdict is None else [asdict(found) for found in verdict.constant],
        "clashes": [] if verdict is None else [clash_facts(clash) for clash in verdict.clashes],
        "chosen": result.chosen,
        "candidates": result.candidates,
        "seeds_tried": result.seeds_tried,
        "iterations": result.iterations,
        "seconds": result.seconds,
        "notes": result.notes,
    }


def _sentence(result: IkResult) -> str:
    if not result.success:
        return f"not reached. {result.why}"
    if result.verdict is None:
        return "reached; not judged for collisions"
    return f"reached. {result.verdict}".replace("\n", "\n  ")


def _name(target: Target) -> str:
    return target.joint if isinstance(target, JointTarget) else target.link


def _csv(results: Sequence[IkResult], robot: Robot) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["reached", *robot.joint_names])
    writer.writerows([int(result.success), *map(repr, result.cfg.tolist())] for result in results)
    return text.getvalue()
