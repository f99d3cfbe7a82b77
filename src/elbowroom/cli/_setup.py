"""From a description to everything that other tools need, in one folder: proved spheres, pairs with reasons, our own
lossless robot.json, SRDF, cuRobo (v1 and v2), XRDF, a URDF and an MJCF of spheres, pictures and a short report.

A second run into the same folder says what changed since the first.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import tyro

from .._files import make_folder
from ..errors import InputError
from ..pairs import PairOptions
from ..spheres import FitOptions
from ._common import RobotOptions, console, print_json, progress_bar, waiting
from ._options import Shared

if TYPE_CHECKING:
    from ..formats import ExportOptions
    from ..pairs import PairMatrix
    from ..robot import Robot
    from ..spheres import SphereModel

EXIT_NOT_PROVED = 1
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
    """Folder for the files; made if it is not there."""
    base_link: str | None = None
    """Link that planners take for the base; the root if not given."""
    ee_link: tuple[str, ...] = ()
    """Links that planners move: tool frames. The ends of the longest chains if not given."""
    lock: tuple[str, ...] = ()
    """Joints to hold still: at the default pose, or at a number (rad or m)."""
    fit: Annotated[FitOptions, Shared("n_spheres", "per_link", "margin")] = field(default_factory=FitOptions)
    """How spheres are fitted."""
    settings: Annotated[PairOptions, Shared("samples", "buffer", "ignore", "check", "use_srdf")] = field(
        default_factory=PairOptions
    )
    """How pairs are decided."""
    pose: str | None = None
    """Named pose to take for the default pose."""
    cfg: tuple[float, ...] = ()
    """Default pose as joint values, rad and m, in the order of the robot's joints."""
    paths: Literal["absolute", "relative"] = "absolute"
    """How the files name the description and its meshes."""
    seed: int = 0
    """The same seed gives the same files."""
    workers: int | None = None
    """Processes; all cores if not given. Does not change the files."""


@dataclass(frozen=True)
class Made:
    """What was computed for a robot."""

    robot: Robot
    spheres: SphereModel
    pairs: PairMatrix
    export: ExportOptions
    proof: Any
    seconds: Mapping[str, float]


def run(options: Options) -> int:
    """Loads, fits, proves, decides pairs, writes all files; exit code 1 when coverage is not proved."""
    from ._setup_files import check_folder, write_all

    robot = _with_default(options.load(), options)
    _export(robot, None, options)  # wrong names are told before the long work
    check_folder(options.out, robot.name)
    made = _make(robot, options)
    with waiting(f"writing the files of {robot.name}"):
        written = write_all(make_folder(options.out), made, options.srdf)
    if options.json:
        print_json(written.facts())
    else:
        console().print(written.text(), highlight=False, markup=False)
    return 0 if made.proof.proved else EXIT_NOT_PROVED


def _make(robot: Robot, options: Options) -> Made:
    from ..pairs import compute_pairs
    from ..spheres import fit_spheres, prove_coverage

    start = time.perf_counter()
    fit = replace(options.fit, seed=options.seed, workers=options.workers)
    with progress_bar(f"fitting spheres to {robot.name}") as progress:
        spheres = fit_spheres(robot, fit, progress=progress)
    fitted = time.perf_counter()
    proof = prove_coverage(robot, spheres)
    proved = time.perf_counter()
    with progress_bar(f"deciding the pairs of {robot.name}") as progress:
        settings = replace(options.settings, seed=options.seed)
        pairs = compute_pairs(robot, spheres, settings, workers=options.workers, progress=progress)
    seconds = {"spheres": fitted - start, "proof": proved - fitted, "pairs": time.perf_counter() - proved}
    return Made(robot, spheres, pairs, _export(robot, pairs, options), proof, seconds)


def _with_default(robot: Robot, options: Options) -> Robot:
    """The robot with the default pose asked for.

    Raises:
        InputError: two poses are asked for, or it is not one. UnknownNameError: no pose of that name.
    """
    from ..robot import DefaultPose, named_poses

    if options.pose is not None and options.cfg:
        raise InputError("--pose and --cfg both give the default pose; give one of them")
    if options.pose is None and not options.cfg:
        return robot
    wanted = options.pose if options.pose is not None else np.array(options.cfg)
    (label, cfg), *_ = named_poses(robot, [wanted])
    outside = [
        f"{name} = {value:.4g} (from {low:.4g} to {high:.4g})"
        for name, value, low, high in zip(robot.joint_names, cfg, robot.lower, robot.upper, strict=True)
        if not low - 1e-9 <= value <= high + 1e-9
    ]
    if outside:
        raise InputError(f"the default pose is outside the joint limits: {', '.join(outside)}")
    cfg.flags.writeable = False
    source = f"asked for: {label}" if options.pose is not None else "asked for by its values"
    return replace(robot, default_pose=DefaultPose(cfg, source))


def _export(robot: Robot, pairs: PairMatrix | None, options: Options) -> ExportOptions:
    """Base, tool frames, locked joints, default pose and paths, checked and completed from the robot."""
    from ..formats import ExportOptions, robot_facts

    pose = robot.default_cfg if pairs is None or pairs.default_cfg is None else pairs.default_cfg
    rest = dict(zip(robot.joint_names, pose.tolist(), strict=True))
    locked: dict[str, float] = {}
    for entry in options.lock:
        name, sign, value = entry.rpartition("=") if "=" in entry else (entry, "", "")
        try:
            locked[name] = float(value) if sign else rest.get(name, 0.0)
        except ValueError:
            raise InputError(f"--lock {entry}: expected NAME or NAME=NUMBER") from None
    asked = ExportOptions(
        base_link=options.base_link, tool_frames=options.ee_link or None, locked=locked, paths=options.paths
    )
    facts = robot_facts(robot, pairs, asked)
    return replace(asked, base_link=facts.base_link, tool_frames=facts.tool_frames)
