"""The report of `elbowroom setup`: one page of Markdown with what was found, decided and written.

It leads with what needs attention; tables of every link, pair and file are folded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from .._text import counted

if TYPE_CHECKING:
    from ..spheres import LinkCoverage
    from ._setup import Made
    from ._setup_files import Written

LOOSE = 3.0
"""Volume of the spheres over the convex hull above which a link's spheres are called loose."""
MOST = 8
"""Links of one kind that are named among what needs attention."""


def headline(made: Made) -> str:
    """One sentence on spheres and pairs."""
    total, pairs = sum(made.seconds.values()), made.pairs
    return (
        f"{len(made.spheres)} spheres, {made.proof.headline}; {len(pairs.checked)} of {len(pairs.entries)} pairs "
        f"to check, {len(pairs.by_meshes)} of them by meshes alone ({total:.1f} s)"
    )


def cell(text: str) -> str:
    """Text that Markdown shows as it is, in tables too."""
    return re.sub(r"([\\|*`\[\]<>])", r"\\\1", " ".join(text.split()))


def report(written: Written, uses: Mapping[str, str]) -> str:
    """The whole page."""
    made = written.made
    robot, pairs, export = made.robot, made.pairs, made.export
    held = ", ".join(f"{name} at {value:.4g}" for name, value in export.locked.items())
    tools = ", ".join(export.tool_frames or ())
    parts = [
        f"# {cell(robot.name)}",
        f"From `{robot.source}`: {len(robot.link_names)} links, {robot.dof} actuated joints. {headline(made)}.",
        *(f"Shapes of {cell(text)}." for text in robot.modelled),
        f"Base {export.base_link}; tool frames {tools}; default pose: {pairs.default_pose}"
        + (f"; held still: {held}" if held else "")
        + ".",
    ]
    if written.changes is not None:
        lines = [f"- {cell(change)}" for change in written.changes] or ["Nothing."]
        parts += ["## Changed since the last run", "\n".join(lines)]
    parts += ["## Needs attention", "\n".join(f"- {line}" for line in _attention(made)) or "Nothing."]
    counts = ", ".join(f"{count} {reason}" for reason, count in pairs.counts().items())
    parts += ["## Spheres", "![the robot and its spheres](robot.png)"]
    parts.append(
        _folded(f"{counted(len(made.proof.links), 'link')}: spheres, proof and tightness", _spheres(made))
    )
    parts += ["## Pairs", f"{counts}.", "![pairs of links](pairs.png)", _pairs(made)]
    parts += [
        "## Files",
        _folded(f"{len(written.files)} files, and what each cannot hold", _files(written, uses)),
    ]
    return "\n\n".join(parts) + "\n"


def _folded(title: str, text: str) -> str:
    """Text that is shown when its title is clicked."""
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def _attention(made: Made) -> list[str]:
    """What a reader should look at first, a line each: links that are not covered, not seen or covered loosely, pairs
    that touch and are not checked, and what is not represented exactly."""
    from ..pairs import PairReason
    from ..pairs.internal import grouped_by_reason

    robot, proof, pairs = made.robot, made.proof, made.pairs
    lines: list[str] = []
    lines += [f"not covered: {_some([proof.links[name] for name in proof.uncovered], _gap)}"] * bool(
        proof.uncovered
    )
    if proof.visual_only:
        lines.append(
            f"no collision geometry, so no check sees {counted(len(proof.visual_only), 'link')}: "
            f"{cell(', '.join(proof.visual_only))}; `--use-visual` takes what is visible"
        )
    if proof.left_out:
        lines.append(f"geometry that was left out: {cell(', '.join(proof.left_out))}")
    loose = sorted(
        (link for link in proof.links.values() if link.hull_ratio > LOOSE), key=lambda link: -link.hull_ratio
    )
    lines += map(cell, made.spheres.notes)
    if loose and not made.spheres.notes:  # spheres of other methods and files say nothing of themselves
        lines.append(
            f"loose spheres on {counted(len(loose), 'link')}, which more spheres (`-n`, `--per-link`) tighten: "
            f"{_some(loose, _looseness)}"
        )
    touching = {
        pair: found
        for pair, found in pairs.entries.items()
        if found.reason in (PairReason.DEFAULT, PairReason.ALWAYS)
        or (found.reason not in (PairReason.CHECKED, PairReason.ADJACENT) and found.mesh_hits)
    }
    for reason, text in grouped_by_reason(touching).items():
        lines.append(f"ignored although their meshes touch, at rest or in samples ({reason}): {cell(text)}")
    return [*lines, *(cell(str(note)) for note in robot.notes if note.warns), *map(cell, pairs.notes)]


def _some(links: Sequence[LinkCoverage], words: Callable[[LinkCoverage], str]) -> str:
    more = f", and {len(links) - MOST} more" if len(links) > MOST else ""
    return ", ".join(f"{cell(link.name)} ({words(link)})" for link in links[:MOST]) + more


def _gap(link: LinkCoverage) -> str:
    return f"{1000 * link.worst_gap:.3g} mm outside" if link.n_spheres else "no sphere"


def _looseness(link: LinkCoverage) -> str:
    spheres, out = counted(link.n_spheres, "sphere"), 1000 * link.max_protrusion
    return f"{spheres} of {link.hull_ratio:.1f} times its hull, sticking out {out:.0f} mm"


def _spheres(made: Made) -> str:
    """A row per link."""
    rows = [
        "| link | spheres | proved | union over mesh volume | largest protrusion, mm |",
        "|---|---|---|---|---|",
    ]
    for name, link in made.proof.links.items():
        proved = "yes" if link.proved else f"NO, {1000 * link.worst_gap:.3g} mm outside"
        what = f"{link.volume_ratio:.2f}" + ("" if link.closed else " (of its hull)")
        rows.append(
            f"| {cell(name)} | {link.n_spheres} | {proved} | {what} | {1000 * link.max_protrusion:.1f} |"
        )
    return "\n".join(rows)


def _pairs(made: Made) -> str:
    """A row per pair that is ignored without a proof."""
    rows = [
        f"| {cell(a)} | {cell(b)} | {cell(found.text)} |"
        for (a, b), found in made.pairs.entries.items()
        if found.reason.name not in ("CHECKED", "NEVER_PROVED", "ADJACENT")
    ]
    if not rows:
        return "Every ignored pair is adjacent or proved to stay apart."
    title = f"{counted(len(rows), 'pair')} ignored, and not proved to stay apart"
    return _folded(title, "\n".join(["| link | link | why |", "|---|---|---|", *rows]))


def _files(written: Written, uses: Mapping[str, str]) -> str:
    lines: list[str] = []
    for name, notes in written.files.items():
        lines.append(f"- `{name}`: {uses[name]}")
        if name in written.edited:
            lines.append(
                f"  - edited since the last run: it stays as it is, the new one is `{written.edited[name]}`"
            )
        lines += [f"  - {cell(note)}" for note in notes]
    lines += [f"- `{name}` is not written: {cell(why)}" for name, why in written.missing.items()]
    return "\n".join(lines)
