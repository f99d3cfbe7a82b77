"""Say for every pair of links whether it must be checked for collision, why, and how one knows."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from ._common import RobotOptions, console, print_json, progress_bar, spheres_from_file

if TYPE_CHECKING:
    from ..pairs import PairMatrix
    from ..robot import Robot
    from ..spheres import SphereModel


@dataclass(frozen=True)
class SphereOptions(RobotOptions):
    """Arguments of every verb that needs the robot's spheres."""

    spheres: Path | None = None
    """File with the spheres, as `elbowroom spheres` writes it; fitted anew if not given."""
    method: Literal["tight", "centerline"] = "tight"
    """How spheres are fitted: tight in seconds to a minute, once, with few false alarms; centerline in a second."""
    n_spheres: Annotated[int | None, tyro.conf.arg(aliases=("-n",))] = None
    """Budget in all, for the tight method."""

    def model(self, robot: Robot) -> SphereModel:
        """The spheres that the arguments name."""
        from ..spheres import FitOptions, fit_spheres

        if self.spheres is not None:
            return spheres_from_file(self.spheres, robot)
        with progress_bar("spheres", quiet=self.json) as progress:
            return fit_spheres(
                robot, FitOptions(method=self.method, n_spheres=self.n_spheres), progress=progress
            )


@dataclass(frozen=True)
class Options(SphereOptions):
    """Arguments of `elbowroom pairs`."""

    samples: int = 10_000
    """Configurations to sample within the limits."""
    seed: int = 0
    """The same seed gives the same answer."""
    buffer: float = 0.02
    """Padding in metres when asking whether a pair never meets."""
    pose: tuple[str, ...] = ("default",)
    """Named poses at which links may touch: pairs whose meshes do are ignored; none with --pose."""
    use_srdf: bool = True
    """Ignore the pairs that the SRDF disables or the MJCF excludes, with their reasons."""
    proof_boxes: int = 20_000
    """Boxes of joint values that one proof may take; more prove more."""
    all: bool = False
    """List the pairs that are checked too."""
    diff: bool = False
    """Compare with the SRDF's own pairs, which are then not taken over."""
    out: Path | None = None
    """File to write: .json holds everything; an existing .srdf is edited, its comments and other elements kept."""
    plot: Path | None = None
    """PNG with the matrix in colours."""
    checkpoint: Path | None = None
    """File from which an interrupted long run goes on."""
    workers: int | None = None
    """Processes; decided by the amount of work if not given. Does not change the answer."""


def run(options: Options) -> int:
    """Computes the matrix, reports and writes it."""
    from ..pairs import PairOptions, compute_pairs

    robot = options.load()
    model = options.model(robot)
    settings = PairOptions(
        samples=options.samples,
        seed=options.seed,
        buffer=options.buffer,
        default_cfgs=options.pose,
        use_srdf=options.use_srdf and not options.diff,
        proof_boxes=options.proof_boxes,
    )
    start = time.perf_counter()
    with progress_bar("pairs", quiet=options.json) as progress:
        pairs = compute_pairs(
            robot, model, settings, workers=options.workers, progress=progress, checkpoint=options.checkpoint
        )
    seconds = time.perf_counter() - start
    notes = _write(pairs, options)
    changes = _changes(robot, pairs) if options.diff else None
    if options.json:
        print_json(_report(pairs, seconds, notes, changes))
    else:
        _print(pairs, seconds, notes, changes, options)
    return 0


def _write(pairs: PairMatrix, options: Options) -> list[str]:
    notes: list[str] = []
    if options.out is not None:
        from ..pairs import write_pairs_srdf

        if options.out.suffix.lower() == ".srdf" and not options.out.exists() and options.srdf is not None:
            notes += write_pairs_srdf(options.out, pairs, options.srdf)
        else:
            notes += pairs.write(options.out)
    if options.plot is not None:
        from ..ui.draw import plot_pairs, save_figure

        save_figure(plot_pairs(pairs), options.plot, dpi=200)
    return notes


def _changes(robot: Robot, pairs: PairMatrix) -> list[dict[str, Any]]:
    """Pairs that the SRDF and the matrix treat differently, checked or not."""
    found: list[dict[str, Any]] = []
    for (a, b), evidence in pairs.entries.items():
        given = robot.disabled_pairs.get((a, b))
        if (given is None) != (evidence.reason.name == "CHECKED"):
            says = "checked" if given is None else f"disabled, {given}"
            found.append({"link_a": a, "link_b": b, "srdf": says, "found": evidence.text})
    return found


def _report(
    pairs: PairMatrix, seconds: float, notes: list[str], changes: list[dict[str, Any]] | None
) -> dict[str, Any]:
    return {
        "robot": pairs.robot_name,
        "seconds": seconds,
        "counts": {reason.name: count for reason, count in pairs.counts().items()},
        "pairs": [
            {
                "link_a": a,
                "link_b": b,
                "reason": found.reason.name,
                "text": found.text,
                "samples": found.samples,
                "hits": found.hits,
                "bound": found.bound,
                "confidence": found.confidence,
                "clearance": found.clearance,
                "boxes": found.boxes,
                "decided_by": found.decided_by,
                "mesh_samples": found.mesh_samples,
                "mesh_hits": found.mesh_hits,
                "mesh_depth": found.mesh_depth,
                "source": found.source,
                "srdf": found.srdf_reason,
            }
            for (a, b), found in pairs.entries.items()
        ],
        "default_pose": pairs.default_pose
        and {
            "cfg": pairs.default_pose.cfg,
            "source": pairs.default_pose.source,
            "guessed_joints": pairs.default_pose.guessed_joints,
        },
        "notes": pairs.notes,
        "not_written": notes,
        **({} if changes is None else {"differs_from_srdf": changes}),
    }


def _print(
    pairs: PairMatrix,
    seconds: float,
    notes: list[str],
    changes: list[dict[str, Any]] | None,
    options: Options,
) -> None:
    from rich.markup import escape
    from rich.table import Table

    out = console()
    out.print(f"[bold]{escape(str(pairs))}[/bold] ({seconds:.1f} s)")
    table = Table("link", "link", "reason", "", box=None, header_style="bold")
    for (a, b), found in pairs.entries.items():
        if options.all or found.reason.name != "CHECKED":
            table.add_row(escape(a), escape(b), str(found.reason), escape(found.text))
    out.print(table)
    out.print(escape(f"default pose: {pairs.default_pose}"))
    for note in pairs.notes:
        out.print(escape(f"note: {note}"))
    if not options.all:
        out.print(f"{len(pairs.checked)} pairs are checked; --all lists them")
    if changes is not None:
        out.print(f"\n[bold]{len(changes)} pairs differ from the SRDF[/bold]")
        for change in changes:
            text = f"  {change['link_a']}, {change['link_b']}: SRDF {change['srdf']}; {change['found']}"
            out.print(escape(text))
    for note in notes:
        out.print(f"not written: {escape(note)}")
