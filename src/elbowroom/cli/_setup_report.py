"""The report of `elbowroom setup`: one page of Markdown with what was found, decided and written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._setup import Made
    from ._setup_files import Written


def headline(made: Made) -> str:
    """One sentence on spheres and pairs."""
    covered = (
        "proved to cover every link"
        if made.proof.proved
        else f"NOT covering {', '.join(made.proof.uncovered)}"
    )
    total = sum(made.seconds.values())
    return (
        f"{len(made.spheres)} spheres, {covered}; {len(made.pairs.checked)} of {len(made.pairs.entries)} pairs "
        f"to check, {len(made.pairs.by_meshes)} of them by meshes alone ({total:.1f} s)"
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
    notes = [f"- {cell(note)}" for note in (*map(str, (n for n in robot.notes if n.warns)), *pairs.notes)]
    if notes:
        parts += ["## To know", "\n".join(notes)]
    parts += ["## Spheres", "![the robot and its spheres](robot.png)", _spheres(made)]
    parts += ["## Pairs", "![pairs of links](pairs.png)", _pairs(made)]
    parts += ["## Files", _files(written, uses)]
    return "\n\n".join(parts) + "\n"


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
    """Counts, then a row per pair that is ignored although nobody proved it apart."""
    pairs = made.pairs
    counts = ", ".join(f"{count} {reason}" for reason, count in pairs.counts().items())
    rows = [f"{counts}. Ignored, and not proved to stay apart:", "", "| link | link | why |", "|---|---|---|"]
    for (a, b), found in pairs.entries.items():
        if found.reason.name not in ("CHECKED", "NEVER_PROVED", "ADJACENT"):
            rows.append(f"| {cell(a)} | {cell(b)} | {cell(found.text)} |")
    return (
        "\n".join(rows)
        if len(rows) > 4
        else f"{counts}. Every ignored pair is adjacent or proved to stay apart."
    )


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
