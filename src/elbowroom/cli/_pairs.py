"""Say for every pair of links whether it must be checked for collision, why, and how one knows."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from .._files import check_place, is_template
from .._text import counted
from ..errors import InputError
from ..pairs import PairOptions, PairReason, compute_pairs
from ..pairs.doors import CHECKPOINT, grouped_by_reason, write_pairs_srdf
from . import _sphere_options
from ._common import (
    aside,
    check_not_description,
    check_out,
    check_plot,
    console,
    pose_facts,
    print_json,
    progress_bar,
    table,
    waiting,
)
from ._options import NoEffect, Shared
from ._pairs_diff import Difference, difference_lines, differences
from ._sphere_options import SphereOptions as SphereOptions

if TYPE_CHECKING:
    from ..pairs import PairMatrix
    from ..robot import Robot
    from ..spheres import SphereModel

EXAMPLES = {
    "elbowroom pairs teaarm --method centerline --out teaarm_pairs.json": "decide all pairs, keep the evidence",
    "elbowroom pairs teaarm --method centerline --out teaarm.srdf --plot teaarm.png": "for MoveIt, and a picture",
    "elbowroom pairs teaarm --method centerline --diff": "compare with the pairs that the SRDF disables",
}


@dataclass(frozen=True)
class Options(SphereOptions):
    """Arguments of `elbowroom pairs`."""

    settings: Annotated[
        PairOptions,
        Shared("samples", "seed", "buffer", "default_cfgs", "ignore", "check", "use_srdf", "proof_boxes"),
    ] = field(default_factory=PairOptions)
    """How they are decided."""
    all: bool = False
    """List every pair; JSON always does."""
    diff: bool = False
    """Compare with the SRDF's own pairs, which are then not taken over."""
    out: Path | None = None
    """File to write: .json holds everything; .srdf, .yml (cuRobo), .xrdf and .xml (MJCF) what they can. An existing
    file is edited, its comments and other elements kept."""
    format: str | None = None
    """Name of the format, if the extension of --out does not tell."""
    plot: Path | None = None
    """Picture of the matrix in colours, .png, .svg or .pdf."""
    checkpoint: Path | None = None
    """File from which an interrupted long run goes on."""
    workers: int | None = None
    """Processes; decided by the amount of work if not given. Does not change the answer."""


NO_EFFECT = (
    *_sphere_options.NO_EFFECT,
    NoEffect(("use_srdf",), lambda options: options.diff, "--diff does not take over the pairs of the SRDF"),
    NoEffect(("format",), lambda options: options.out is None, "it is the format of --out"),
)
LISTED = 16
"""Ignored pairs up to which each has a line, unless all are asked for: what fits a screen."""
MATRIX = "JSON of the format 'elbowroom pairs'"
"""Kind of file that JSON of a matrix is."""


def run(options: Options) -> int:
    """Computes the matrix, reports and writes it."""
    if check_out(options.out, options.format, as_json=MATRIX) == "urdf":
        raise InputError(f"--out {options.out}: a URDF holds no pairs; .json, .srdf, .yml, .xrdf and .xml do")
    check_plot(options.plot)
    if options.checkpoint is not None:
        check_place(options.checkpoint, CHECKPOINT)
    from ..collision.doors import cached_pairs

    robot = options.load()
    check_not_description(options.out, robot)
    model = options.model(robot)
    settings = replace(options.settings, use_srdf=options.settings.use_srdf and not options.diff)
    start = time.perf_counter()
    with progress_bar(f"deciding the pairs of {robot.name}") as progress:
        how: dict[str, Any] = {"workers": options.workers, "progress": progress}
        if options.checkpoint is None:
            pairs = cached_pairs(robot, model, settings, **how)
        else:
            pairs = compute_pairs(robot, model, settings, checkpoint=options.checkpoint, **how)
    seconds = time.perf_counter() - start
    notes = _write(robot, model, pairs, options)
    changes = differences(robot, pairs) if options.diff else None
    if options.json:
        print_json(_report(robot, pairs, seconds, notes, changes))
    else:
        _print(robot, pairs, seconds, notes, changes, options)
    return 0


def _write(robot: Robot, model: SphereModel, pairs: PairMatrix, options: Options) -> list[str]:
    notes: list[str] = []
    if options.out is not None:
        from .. import formats
        from ..formats.doors import format_of

        name = format_of(options.out, options.format)
        if name == "srdf" and not is_template(options.out) and options.srdf is not None:
            notes += write_pairs_srdf(options.out, pairs, options.srdf)
        else:
            # cuRobo and XRDF name a robot's spheres and its pairs together; the others need the pairs alone.
            spheres = model if name in ("curobo", "xrdf") else None
            notes += formats.write(options.out, robot=robot, spheres=spheres, pairs=pairs, format=name)
    if options.plot is not None:
        from ..ui.draw import plot_pairs, save_figure

        with waiting("drawing"):
            save_figure(plot_pairs(pairs), options.plot, dpi=200)
    return notes


def _report(
    robot: Robot, pairs: PairMatrix, seconds: float, notes: list[str], changes: list[Difference] | None
) -> dict[str, Any]:
    return {
        "robot": pairs.robot_name,
        "modelled": robot.modelled,
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
                "closest": found.closest,
                "witness": found.witness,
                "boxes": found.boxes,
                "decided_by": found.decided_by,
                "mesh_samples": found.mesh_samples,
                "mesh_hits": found.mesh_hits,
                "mesh_depth": found.mesh_depth,
                "source": found.source,
                "srdf": found.srdf_reason,
                "contradicted": found.contradicted,
            }
            for (a, b), found in pairs.entries.items()
        ],
        "default_pose": pose_facts(pairs.default_pose),
        "notes": pairs.notes,
        "not_written": notes,
        **({} if changes is None else {"differs_from_srdf": [change.facts() for change in changes]}),
    }


def _print(
    robot: Robot,
    pairs: PairMatrix,
    seconds: float,
    notes: list[str],
    changes: list[Difference] | None,
    options: Options,
) -> None:
    out = console(aside=aside(options.out, options.plot))

    def line(text: str, style: str = "") -> None:
        out.print(text, markup=False, style=style)

    line(f"{pairs} ({seconds:.1f} s)", "bold")
    shown = [pair for pair in pairs.entries if options.all or pair in pairs.ignored]
    if options.all or len(shown) <= LISTED:
        rows = [(a, b, str(pairs.entries[a, b].reason), pairs.entries[a, b].text) for a, b in shown]
        out.print(table(("link", "link", "reason", ""), rows))
    else:
        settled = (PairReason.ADJACENT, PairReason.NEVER_PROVED)
        unsettled = {p: e for p, e in pairs.entries.items() if p in pairs.ignored and e.reason not in settled}
        for reason, text in grouped_by_reason(unsettled).items():
            line(f"{reason}: {text}")
    line(f"default pose: {pairs.default_pose}")
    for note in (*robot.modelled, *pairs.notes):
        line(f"note: {note}")
    if not options.all:
        line(f"checked: {counted(len(pairs.checked), 'pair')}; --all lists every pair and why")
    if changes is not None:
        line("")
        for text, heading in difference_lines(changes):
            line(text, "bold" if heading else "")
    for path in (options.out, options.plot):
        if path is not None:
            line(f"wrote {path}")
    for note in notes:
        line(f"  not in the file: {note}")
