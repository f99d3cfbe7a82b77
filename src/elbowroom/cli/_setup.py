"""From a description to everything that other tools need, in one folder: proved spheres, pairs with reasons, our own
lossless robot.json, SRDF, cuRobo (v1 and v2), XRDF, a URDF and an MJCF of spheres, pictures and a short report.

A second run into the same folder says what changed since the first.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import tyro

from .._files import make_folder
from ..errors import InputError, UnknownLinkError, unknown
from ._common import RobotOptions, console, print_json, progress_bar

if TYPE_CHECKING:
    from ..formats import ExportOptions
    from ..pairs import PairMatrix
    from ..robot import Robot
    from ..spheres import SphereModel

EXIT_NOT_PROVED = 1


@dataclass(frozen=True, kw_only=True)
class Options(RobotOptions):
    """Arguments of `elbowroom setup`."""

    out: Path
    """Folder for the files; made if it is not there."""
    base_link: str | None = None
    """Link that planners take for the base; the root if not given."""
    ee_link: tuple[str, ...] = ()
    """Links that planners move: tool frames. The ends of the longest chains if not given."""
    lock: tuple[str, ...] = ()
    """Joints to hold still, as NAME (at the default pose) or NAME=VALUE (rad or m)."""
    n_spheres: Annotated[int | None, tyro.conf.arg(aliases=("-n",))] = None
    """Spheres in all."""
    per_link: tuple[str, ...] = ()
    """Most spheres of single links, as LINK=COUNT."""
    pose: str | None = None
    """Named pose to take for the default pose."""
    cfg: tuple[float, ...] = ()
    """Default pose as joint values, rad and m, in the order of the robot's joints."""
    paths: Literal["absolute", "relative"] = "absolute"
    """How the files name the description and its meshes."""
    samples: int = 10_000
    """Configurations to sample for the pairs."""
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
    per_link = _per_link(robot, options.per_link)
    _export(robot, None, options)  # wrong names are told before the long work
    folder = make_folder(options.out)
    check_folder(folder, robot.name)
    made = _make(robot, per_link, options)
    written = write_all(folder, made, options.srdf)
    if options.json:
        print_json(written.facts())
    else:
        console().print(written.text(), highlight=False, markup=False)
    return 0 if made.proof.proved else EXIT_NOT_PROVED


def _make(robot: Robot, per_link: Mapping[str, int], options: Options) -> Made:
    from ..pairs import PairOptions, compute_pairs
    from ..spheres import FitOptions, fit_spheres, prove_coverage

    start = time.perf_counter()
    fit = FitOptions(
        n_spheres=options.n_spheres, per_link=per_link or None, seed=options.seed, workers=options.workers
    )
    with progress_bar(f"fitting spheres to {robot.name}", quiet=options.json) as progress:
        spheres = fit_spheres(robot, fit, progress=progress)
    fitted = time.perf_counter()
    proof = prove_coverage(robot, spheres)
    proved = time.perf_counter()
    with progress_bar(f"deciding pairs of {robot.name}", quiet=options.json) as progress:
        settings = PairOptions(samples=options.samples, seed=options.seed)
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


def _per_link(robot: Robot, entries: tuple[str, ...]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for entry in entries:
        name, _, count = entry.rpartition("=")
        if not count.isdecimal() or not name:
            raise InputError(f"--per-link {entry}: expected LINK=COUNT, for instance {robot.mesh_links[0]}=8")
        if name not in robot.mesh_links:
            raise UnknownLinkError(f"--per-link: {unknown('link with geometry', name, robot.mesh_links)}")
        counts[name] = int(count)
    return counts
