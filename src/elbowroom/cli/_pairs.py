"""Decide for every pair of links whether it must be checked for collision, with the reason and the evidence."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from .._files import check_place, is_template
from .._text import counted, number
from ..errors import InputError
from ..pairs import PairOptions, PairReason, compute_pairs
from ..pairs.internal import CHECKPOINT, grouped_by_reason, write_pairs_srdf
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
from ._model_options import SPHERES_NO_EFFECT
from ._model_options import SphereOptions as SphereOptions
from ._options import NoEffect, Shared

if TYPE_CHECKING:
    from ..pairs import PairEvidence, PairMatrix
    from ..robot import Robot
    from ..spheres import SphereModel
    from ..typing import LinkPair

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
    """Compare with the SRDF's own pairs, which are then not used."""
    out: Path | None = None
    """File to write: .json holds everything; .srdf, .yml (cuRobo), .xrdf and .xml (MJCF) hold what they can. An
    existing file is edited, its comments and other elements kept."""
    format: str | None = None
    """Name of the format, if the extension of --out does not identify it."""
    plot: Path | None = None
    """Picture of the matrix in colours, .png, .svg or .pdf."""
    checkpoint: Path | None = None
    """File from which an interrupted run resumes."""
    workers: int | None = None
    """Number of processes; chosen by the amount of work if not given. Does not change the answer."""


NO_EFFECT = (
    *SPHERES_NO_EFFECT,
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
    from ..collision.internal import cached_pairs

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
        from ..formats.internal import format_of

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


# How a computed pair matrix differs from what the robot's SRDF disables: `pairs --diff` -----------

HEADINGS = {
    "collides": "disabled by the SRDF, and really can collide; checked here",
    "near": "disabled by the SRDF, known to come near only; checked here",
    "not_proved": "disabled by the SRDF, not known to collide or to come near, but not proved; checked here",
    "ignored": "checked by the SRDF; ignored here",
    "within_buffer": "ignored by both, proved never to collide, but within the buffer",
}
"""Kinds of difference, what needs attention first. The last is no difference of the matrices."""


@dataclass(frozen=True)
class Difference:
    """One pair."""

    kind: str
    """A key of HEADINGS."""
    pair: LinkPair
    srdf: str | None
    """The reason that the SRDF gives for disabling it, maybe empty; None when it does not."""
    found: PairEvidence
    text: str
    """A complete sentence."""

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "kind": self.kind,
            "link_a": self.pair[0],
            "link_b": self.pair[1],
            "srdf": self.srdf,
            "found": self.found.text,
            "closest": self.found.closest,
            "witness": self.found.witness,
            "text": self.text,
        }


def differences(robot: Robot, pairs: PairMatrix) -> list[Difference]:
    """Pairs that the SRDF and the matrix treat differently, and those that both ignore and that come close."""
    order = list(HEADINGS)
    found = [
        Difference(kind, pair, given, evidence, _sentence(kind, pair, given, evidence))
        for pair, evidence in pairs.entries.items()
        for given in (robot.disabled_pairs.get(pair),)
        for kind in (_kind(given, evidence),)
        if kind is not None
    ]
    return sorted(found, key=lambda change: order.index(change.kind))


def difference_lines(changes: Sequence[Difference]) -> Iterator[tuple[str, bool]]:
    """Lines to print, and whether each is a heading."""
    count = sum(change.kind != "within_buffer" for change in changes)
    yield f"{counted(count, 'pair')} {'differs' if count == 1 else 'differ'} from the SRDF", True
    for kind, heading in HEADINGS.items():
        mine = [change for change in changes if change.kind == kind]
        if mine:
            yield f"{counted(len(mine), 'pair')} {heading}:", True
            yield from ((f"  {change.text}", False) for change in mine)


def _kind(given: str | None, found: PairEvidence) -> str | None:
    checked = found.reason.name == "CHECKED"
    if given is None:
        return None if checked else "ignored"
    if checked:
        if found.collides:
            return "collides"
        met = found.hits > 0 if found.closest is None else found.closest <= found.buffer
        return "near" if met else "not_proved"
    proved = found.reason.name == "NEVER_PROVED"
    return "within_buffer" if proved and (found.closest or found.buffer + 1.0) <= found.buffer else None


def _sentence(kind: str, pair: LinkPair, given: str | None, found: PairEvidence) -> str:
    a, b = pair
    who = f"{a} and {b}"
    if kind == "ignored":
        return f"{who}: the SRDF leaves the pair checked; it is {found.text}."
    says = (
        f"the SRDF disables the pair as {given!r}" if given else "the SRDF disables the pair without a reason"
    )
    at = "" if found.witness is None else f" at the configuration {_cfg(found.witness)}"
    if kind == "collides":
        often = f" in {found.mesh_hits} of {found.mesh_samples} samples" if found.mesh_hits else ""
        example = ", for example" if often and at else ""
        return f"{who}: {says}, but their meshes collide{often}{example}{at}."
    if kind == "within_buffer":
        return f"{who}: {says}; rightly so, but they come within {1000 * (found.closest or 0.0):.1f} mm{at}."
    if found.closest is None:
        return f"{who}: {says}; it is {found.text}."
    if kind == "not_proved":
        return (
            f"{who}: {says}; the closest that they were found is {1000 * found.closest:.1f} mm{at}, more than the "
            f"buffer of {1000 * found.buffer:g} mm, but they have not been shown to never collide."
        )
    return (
        f"{who}: {says}; no collision is known, but they come within {1000 * found.closest:.1f} mm{at}, and they "
        "have not been shown to never collide."
    )


def _cfg(cfg: Sequence[float]) -> str:
    return f"[{', '.join(number(value, 6) for value in cfg)}]"
