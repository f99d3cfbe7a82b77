"""Write everything other tools need from a description into one folder: proved spheres, pairs with reasons, a lossless
robot.json, SRDF, cuRobo (v1 and v2), XRDF, a URDF and an MJCF of spheres, pictures and a short report. A second run
into the same folder reports what changed since the first.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import tyro

from .._text import number
from ..errors import InputError, UnknownJointError, unknown
from ..pairs import PairOptions
from ..spheres import FitOptions
from ._common import RobotOptions, console, print_json, progress_bar, waiting
from ._model_options import check_count
from ._options import Shared

if TYPE_CHECKING:
    from ..formats import ExportOptions
    from ..pairs import PairMatrix
    from ..robot import Robot
    from ..spheres import CoverageProof, SphereModel

EXIT_NOT_PROVED = 1
ROUNDING = 1e-9
"""How far beyond a limit a value still counts as on it, rad or m."""
EXAMPLES = {
    "elbowroom setup teaarm --out teaarm_files": "everything, with the defaults",
    "elbowroom setup teaarm --out teaarm_left --ee-link frame_left_arm_ee --lock waist_yaw waist_pitch=0.1": (
        "for the left hand alone, with the waist held still"
    ),
}


@dataclass(frozen=True, kw_only=True)
class Options(RobotOptions):
    """Arguments of `elbowroom setup`."""

    out: Annotated[Path, tyro.conf.arg(metavar="DIR")]
    """Folder for the files; created if it does not exist."""
    base_link: str | None = None
    """Base link for planners; the root if not given."""
    ee_link: tuple[str, ...] = ()
    """Tool frames, the links that planners move; the ends of the longest chains if not given."""
    lock: tuple[str, ...] = ()
    """Joints to hold at the default pose, or at a given value (rad or m)."""
    fit: Annotated[FitOptions, Shared("n_spheres", "per_link", "margin")] = field(default_factory=FitOptions)
    """How spheres are fitted."""
    settings: Annotated[PairOptions, Shared("samples", "buffer", "ignore", "check", "use_srdf")] = field(
        default_factory=PairOptions
    )
    """How pairs are decided."""
    pose: str | None = None
    """Named pose to use as the default pose."""
    cfg: tuple[float, ...] = ()
    """Default pose as joint values, rad and m, in the order of the robot's joints."""
    paths: Literal["absolute", "relative"] = "absolute"
    """How the files refer to the description and its meshes."""
    seed: int = 0
    """The same seed gives the same files."""
    workers: int | None = None
    """Number of processes; all cores if not given. Does not change the files."""


@dataclass(frozen=True)
class Made:
    """What was computed for a robot."""

    robot: Robot
    spheres: SphereModel
    pairs: PairMatrix
    proof: CoverageProof
    export: ExportOptions
    srdf: bytes | None
    """The robot's own SRDF file."""
    choices: Mapping[str, Any]
    """What the user chose, or what was chosen for them."""
    seconds: Mapping[str, float]


def run(options: Options) -> int:
    """Loads, fits, proves, decides pairs, writes all files; exit code 1 when coverage is not proved."""
    from ..robot.internal import pair_list
    from ._setup_files import check_folder, write_all

    robot = _with_locks(_with_default(options.load(), options), options.lock)
    srdf, export = _own_srdf(options), _export(robot, options)
    for pairs in (options.settings.ignore, options.settings.check):
        pair_list(robot.link_names, pairs)  # wrong names are told before the long work
    check_folder(options.out, robot.name)
    made = _make(robot, srdf, export, options)
    with waiting(f"writing the files of {robot.name}"):
        written = write_all(options.out, made)
    if options.json:
        print_json(written.facts())
    else:
        console().print(written.text(), highlight=False, markup=False)
    return 0 if made.proof.proved else EXIT_NOT_PROVED


def _make(robot: Robot, srdf: bytes | None, export: ExportOptions, options: Options) -> Made:
    from ..collision.internal import cached_pairs
    from ..formats.internal import path_text
    from ..spheres import fit_spheres, prove_coverage
    from ._setup_files import RECORD

    start = time.perf_counter()
    fit = replace(options.fit, seed=options.seed, workers=options.workers)
    with progress_bar(f"fitting spheres to {robot.name}") as progress:
        spheres = fit_spheres(robot, fit, progress=progress)
    fitted = time.perf_counter()
    proof = prove_coverage(robot, spheres)
    proved = time.perf_counter()
    settings = replace(options.settings, seed=options.seed)
    with progress_bar(f"deciding the pairs of {robot.name}") as progress:
        pairs = cached_pairs(robot, spheres, settings, workers=options.workers, progress=progress)
    pose = robot.default_pose if pairs.default_pose is None else pairs.default_pose
    seconds = {"spheres": fitted - start, "proof": proved - fitted, "pairs": time.perf_counter() - proved}
    choices = {
        "description": path_text(robot.path, options.out / RECORD, export.paths)
        if robot.path
        else robot.source,
        "base_link": export.base_link,
        "tool_frames": export.tool_frames,
        "held_still": dict(export.locked),
        "paths": export.paths,
        "default_pose": dict(zip(robot.joint_names, pose.cfg.tolist(), strict=True)),
        "spheres_in_all": fit.n_spheres,
        "spheres_per_link": dict(fit.per_link or {}),
        "margin": fit.margin,
        "samples": settings.samples,
        "buffer": settings.buffer,
        "seed": options.seed,
    }
    return Made(robot, spheres, pairs, proof, export, srdf, choices, seconds)


def _with_default(robot: Robot, options: Options) -> Robot:
    """The robot with the default pose asked for.

    Raises:
        InputError: two poses are asked for, or it is not one. UnknownNameError: no pose of that name.
    """
    from ..robot import DefaultPose
    from ..robot.internal import named_poses

    if options.pose is not None and options.cfg:
        raise InputError("--pose and --cfg both give the default pose; give one of them")
    if options.pose is None and not options.cfg:
        return robot
    check_count(robot, options.cfg)
    wanted = options.pose if options.pose is not None else np.array(options.cfg)
    (label, cfg), *_ = named_poses(robot, [wanted])
    _check_limits(robot, dict(zip(robot.joint_names, cfg.tolist(), strict=True)), "the default pose")
    cfg.flags.writeable = False
    source = f"asked for: {label}" if options.pose is not None else "asked for by its values"
    return replace(robot, default_pose=DefaultPose(cfg, source))


def _with_locks(robot: Robot, entries: tuple[str, ...]) -> Robot:
    """The robot with joints to be held still at their values in its default pose, which are no guess then.

    Raises:
        UnknownJointError: no such joint. InputError: a value that is no number, or outside the limits.
    """
    from ..robot import DefaultPose

    held = _locked(robot, entries)
    if not held:
        return robot
    _check_limits(robot, held, "--lock")
    pose = robot.default_pose
    cfg = pose.cfg.copy()
    for name, value in held.items():
        cfg[robot.joint_names.index(name)] = value
    cfg.flags.writeable = False
    source = f"{pose.source}; held still: {', '.join(held)}"
    guessed = tuple(name for name in pose.guessed_joints if name not in held)
    return replace(robot, default_pose=DefaultPose(cfg, source, guessed))


def _check_limits(robot: Robot, values: Mapping[str, float], what: str) -> None:
    outside: list[str] = []
    for name, value in values.items():
        joint = robot.joint(name)
        if not joint.lower - ROUNDING <= value <= joint.upper + ROUNDING:
            outside.append(f"{name} = {number(value)} (from {number(joint.lower)} to {number(joint.upper)})")
    if outside:
        raise InputError(f"{what} is outside the limits: {', '.join(outside)}")


def _locked(robot: Robot, entries: tuple[str, ...]) -> dict[str, float]:
    """Joints to be held still, with their values; those of the default pose where none is given."""
    rest = dict(zip(robot.joint_names, robot.default_cfg.tolist(), strict=True))
    locked: dict[str, float] = {}
    for entry in entries:
        whole = entry in rest or "=" not in entry  # names may have signs of equality
        name, sign, value = (entry, "", "") if whole else entry.rpartition("=")
        if name not in rest:
            raise UnknownJointError(f"--lock: {unknown('actuated joint', name, rest)}")
        if name in locked:
            raise InputError(f"--lock: joint {name} is given twice")
        try:
            locked[name] = float(value) if sign else rest[name]
        except ValueError:
            raise InputError(f"--lock {entry}: expected JOINT or JOINT=NUMBER") from None
    return locked


def _own_srdf(options: Options) -> bytes | None:
    """The SRDF file that was given, or that a robot known by name brings."""
    from ..robot import catalogue

    path = options.srdf
    if path is None and not Path(options.robot).exists():
        path = next((entry.srdf for entry in catalogue() if entry.name == options.robot), None)
    return None if path is None else path.read_bytes()


def _export(robot: Robot, options: Options) -> ExportOptions:
    """Base, tool frames, joints held still, default pose and paths, checked and completed from the robot."""
    from ..formats import ExportOptions
    from ..formats.internal import robot_facts

    asked = ExportOptions(
        base_link=options.base_link,
        tool_frames=options.ee_link or None,
        locked=_locked(robot, options.lock),
        paths=options.paths,
    )
    facts = robot_facts(robot, None, asked)
    return replace(asked, base_link=facts.base_link, tool_frames=facts.tool_frames)
