"""The matrix of pairs as an SVG: colours and letters by reason, words when the mouse rests on a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...pairs import PairReason
from .._escape import escape

if TYPE_CHECKING:
    from ...pairs import PairEvidence, PairMatrix
    from ...typing import LinkPair

KINDS: dict[Any, tuple[str, str, str]] = {
    "spheres": ("#d1495b", "c", "checked, by spheres"),
    "meshes": ("#7a1f3d", "m", "checked, by meshes alone"),
    PairReason.ADJACENT: ("#8f8f8f", "a", "adjacent"),
    PairReason.DEFAULT: ("#edae49", "d", "touching at the default pose"),
    PairReason.ALWAYS: ("#8d5a2b", "w", "always touching"),
    PairReason.NEVER_PROVED: ("#00798c", "n", "never, proved"),
    PairReason.NEVER_SAMPLED: ("#9ad1d4", "s", "never, sampled"),
    PairReason.USER: ("#7b5ea7", "u", "ignored by the user"),
}
"""Colour (those of the reports' picture), letter and words. Letters, so that nobody has to tell colours apart."""
DARK_LETTERS = {PairReason.DEFAULT, PairReason.NEVER_SAMPLED}
WIDTH = 360.0
"""Units of the drawing; it is scaled to the panel."""
NAMES = 118.0
"""Of them, for names."""
MOST_LETTERS = 30
"""Links beyond which letters could not be read."""
ROW = 13.0
"""Height of a line of the legend."""


def kind_of(found: PairEvidence) -> Any:
    """Key of `KINDS`."""
    return found.decided_by if found.reason is PairReason.CHECKED else found.reason


def matrix_svg(pairs: PairMatrix, names: tuple[str, ...], chosen: LinkPair | None) -> str:
    """Links against links, each pair once, as SVG for `add_html`; columns have the numbers on the diagonal.

    Args:
        pairs: the matrix. names: links to show, in order. chosen: the pair to mark.
    """
    if not names:
        return ""
    cell = (WIDTH - NAMES) / len(names)
    counts: dict[Any, int] = {}
    parts: list[str] = []
    for row, a in enumerate(names):
        parts.append(_name(a, row, cell, chosen))
        for column, b in enumerate(names[:row]):
            found = pairs.evidence(a, b)
            kind = kind_of(found)
            counts[kind] = counts.get(kind, 0) + 1
            parts.append(_cell(row, column, cell, kind, f"{a} / {b}: {found.text}", len(names)))
    if chosen is not None:
        parts.append(_mark(names.index(chosen[0]), names.index(chosen[1]), cell))
    top = cell * len(names) + 8
    kinds = [kind for kind in KINDS if kind in counts]
    for k, kind in enumerate(kinds):
        parts.append(_legend(k, kind, counts[kind], top))
    height = top + ROW * ((len(kinds) + 1) // 2) + 4
    words = f"{len(pairs.entries)} pairs of links by reason"
    return (
        f'<div style="padding:0 0.5em"><svg viewBox="0 0 {WIDTH:g} {height:g}" role="img" aria-label="{words}" '
        'style="width:100%;display:block" font-family="sans-serif" fill="currentColor">'
        f"{''.join(parts)}</svg></div>"
    )


def _name(name: str, row: int, cell: float, chosen: LinkPair | None) -> str:
    bold = ' font-weight="bold"' if chosen is not None and name in chosen else ""
    size = min(9.0, 0.85 * cell)
    y = cell * (row + 0.5) + 0.35 * size
    number = f'<text x="{NAMES + cell * (row + 0.5):.1f}" y="{y:.1f}" text-anchor="middle"'
    return (
        f'<text x="{NAMES - 4:.1f}" y="{y:.1f}" font-size="{size:.1f}" text-anchor="end"{bold}>'
        f"{escape(name, 22)} {row + 1}</text>"
        f'{number} font-size="{0.8 * size:.1f}"{bold}>{row + 1}</text>'
    )


def _cell(row: int, column: int, cell: float, kind: Any, words: str, count: int) -> str:
    colour, letter, _ = KINDS[kind]
    x, y, side = NAMES + cell * column, cell * row, 0.94 * cell
    text = ""
    if count <= MOST_LETTERS:
        ink = "#222" if kind in DARK_LETTERS else "#fff"
        text = (
            f'<text x="{x + side / 2:.1f}" y="{y + 0.72 * cell:.1f}" font-size="{0.68 * cell:.1f}" '
            f'text-anchor="middle" fill="{ink}" pointer-events="none">{letter}</text>'
        )
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" height="{side:.1f}" fill="{colour}">'
        f"<title>{escape(words, 300)}</title></rect>{text}"
    )


def _mark(i: int, j: int, cell: float) -> str:
    row, column = max(i, j), min(i, j)
    return (
        f'<rect x="{NAMES + cell * column - 1:.1f}" y="{cell * row - 1:.1f}" width="{cell + 1:.1f}" '
        f'height="{cell + 1:.1f}" fill="none" stroke="currentColor" stroke-width="2.5"/>'
    )


def _legend(k: int, kind: Any, count: int, top: float) -> str:
    colour, letter, words = KINDS[kind]
    x, y = (k % 2) * WIDTH / 2, top + ROW * (k // 2)
    ink = "#222" if kind in DARK_LETTERS else "#fff"
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="10" height="10" fill="{colour}"/>'
        f'<text x="{x + 5:.1f}" y="{y + 7.8:.1f}" font-size="8" text-anchor="middle" fill="{ink}">{letter}</text>'
        f'<text x="{x + 14:.1f}" y="{y + 8.5:.1f}" font-size="9.5">{words} ({count})</text>'
    )
