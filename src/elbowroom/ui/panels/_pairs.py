"""The Pairs panel: which pairs of links are checked and why, one pair in words, toggled, decided again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ElbowroomError
from ...pairs import PairReason
from .._commands import pairs_file
from .._escape import escape
from .._jobs import Job, Report
from .._sphere_work import closest_cfg, decide, file_bytes
from ..scene import PairNodes
from ..state import (
    ChoosePair,
    DecidePair,
    Event,
    Near,
    NearFound,
    PairsComputed,
    SetCfg,
    SetPairForm,
    override_of,
)
from ._widgets import Bound, Shown, on_click

if TYPE_CHECKING:
    from ...pairs import PairEvidence, PairMatrix
    from ...robot import Robot
    from ...typing import LinkPair
    from .._view import View
    from ._widgets import Desk

NONE = "choose ..."
WORDS = {None: "as computed", True: "checked", False: "ignored"}


class PairsPanel:
    """See the module."""

    title = "Pairs"

    def __init__(self, gui: Any, scene: Any, desk: Desk) -> None:
        self._desk, self._nodes = desk, PairNodes(scene)
        self._picture = gui.add_html("")
        self._names: tuple[str, ...] = ()
        cell = gui.add_text(CELL, "", hint="Row, column of the matrix; a click on a cell fills it in")
        self._cell = Bound[str](cell, desk, self._clicked)
        links = [gui.add_dropdown(f"Link {k}", (NONE,)) for k in "AB"]
        self._links = [Bound[str](link, desk, lambda _: self._chosen(links)) for link in links]
        self._words = gui.add_markdown("")
        said = gui.add_dropdown(
            "Override", tuple(WORDS.values()), hint="Check or ignore this pair, whatever was computed"
        )
        self._said = Bound[str](said, desk, self._decided)
        acts = gui.add_button_group("Look", ("Closest", "Clear"))
        on_click(acts, lambda: self._look(acts.value))
        with gui.add_folder("Recompute all pairs"):
            samples = gui.add_number("Samples", 10_000, min=1, max=1_000_000, step=1000)
            seed = gui.add_number("Seed", 0, min=0, max=2**31, step=1)
            buffer = gui.add_number("Buffer mm", 20.0, min=0.0, max=1000.0, step=1.0)
            press = gui.add_button_group("Pairs", ("Recompute", "Download"))
        self._form = (
            self._wish(samples, lambda value: {"samples": int(value)}),
            self._wish(seed, lambda value: {"seed": int(value)}),
            self._wish(buffer, lambda value: {"buffer": float(value) / 1000}),
        )
        on_click(press, lambda: self._recompute(download=press.value == "Download"))
        self._asked: tuple[Any, ...] = ()
        self._exact: tuple[Any, ...] = (None, None, None)
        self._listed, self._drawn = Shown[Any](self._list), Shown[Any](self._draw)
        self._text = Shown[str](self._show_words)

    def _wish(self, handle: Any, change: Callable[[Any], dict[str, Any]]) -> Bound[Any]:
        def event(value: Any) -> Event:
            return SetPairForm(replace(self._desk.view.state.pairs.form, **change(value)))

        return Bound(handle, self._desk, event)

    def show(self, view: View) -> None:
        """Brings widgets and scene up to date."""
        pairs = None if view.model is None else view.model.pairs
        names = () if pairs is None or view.robot is None else own_links(pairs, view.robot)
        pair = known_pair(view.state.pairs.pair, names)
        self._listed(names)
        self._names = names
        self._cell.show(cell_of(pair, names), view)
        self._drawn((pairs, names, pair))
        self._ask(view, pair)
        self._nodes.show(view)
        self._text(pair_text(view, pairs, pair))
        for widget, name in zip(self._links, pair or (NONE, NONE), strict=True):
            if pair is not None or view.state.pairs.pair is None:
                self._follow(widget, name, view)
        self._said.show(WORDS[None if pair is None else override_of(view.state.model, pair)], view)
        form = view.state.pairs.form
        values = (form.samples, form.seed, round(1000 * form.buffer, 6))
        for widget, value in zip(self._form, values, strict=True):
            widget.show(value, view)

    def _follow(self, widget: Bound[str], name: str, view: View) -> None:
        """A link that is chosen while the other is not yet stays as it is."""
        if name != NONE or all(link.handle.value != NONE for link in self._links):
            widget.show(name, view)

    def _chosen(self, links: list[Any]) -> Event | None:
        a, b = (link.value for link in links)
        return None if NONE in (a, b) else ChoosePair((a, b))

    def _clicked(self, text: str) -> Event | None:
        """A cell of the matrix, as `row,column` from 0; anything else is being typed."""
        row, _, column = text.partition(",")
        if not (row.strip().isdecimal() and column.strip().isdecimal()):
            return None
        i, j = int(row), int(column)
        return (
            ChoosePair((self._names[i], self._names[j])) if max(i, j) < len(self._names) and i != j else None
        )

    def _decided(self, word: str) -> Event | None:
        pair = self._desk.view.state.pairs.pair
        if pair is None:
            self._desk.say("Choose two links first.")
            return None
        checked = next(checked for checked, text in WORDS.items() if text == word)
        return DecidePair(*pair, checked)

    def _look(self, label: str) -> None:
        view = self._desk.view
        robot, model, pair = view.robot, view.model, view.state.pairs.pair
        if label == "Clear":
            for link in self._links:
                link.handle.value = NONE
            self._desk.send(ChoosePair(None))
        elif robot is None or model is None or pair is None:
            self._desk.say("Choose two links first.")
        else:
            cfg, spheres = np.array(view.state.robot.cfg), model.spheres

            def work(report: Report) -> Event:
                found = closest_cfg(model.robot, spheres, pair, cfg, report.check)
                return SetCfg(tuple(found.tolist()))

            self._desk.run(Job("closest", f"looking for where {pair[0]} and {pair[1]} are closest", work))

    def _ask(self, view: View, pair: LinkPair | None) -> None:
        """How close the pair is at the configuration as it is."""
        robot, cfg, near = view.robot, view.state.robot.cfg, view.state.pairs.near
        if robot is None or pair is None or (near is not None and near.of(pair, cfg, robot)):
            return
        if self._asked == (robot, pair, cfg):
            return
        self._asked = robot, pair, cfg

        def question() -> Event | None:
            exact = self._exact_for(robot, pair)
            found = exact.contacts(np.array(cfg)) or exact.distances(np.array(cfg))
            return NearFound(Near(found[0], pair, cfg, robot)) if found else None

        self._desk.ask("near", question)

    def _exact_for(self, robot: Robot, pair: LinkPair) -> Any:
        from ...mesh import ExactCollision

        if self._exact[:2] != (robot, pair):
            self._exact = robot, pair, ExactCollision(robot, [pair])
        return self._exact[2]

    def _recompute(self, *, download: bool) -> None:
        view = self._desk.view
        robot, parts = view.robot, view.state.model
        if robot is None:
            return
        try:
            options = view.state.pairs.form.options(parts)
        except ElbowroomError as error:
            self._desk.say(str(error), error=True)
            return

        def work(report: Report) -> Event:
            pairs, uncovered = report.child(decide, robot, parts.spheres, options)
            if download:
                name = pairs_file(robot)
                self._desk.download(name, file_bytes(name, robot=robot, pairs=pairs))
            return PairsComputed(pairs, options=options, uncovered=uncovered)

        self._desk.run(Job("pairs", f"deciding the pairs of {robot.name}", work))

    def _list(self, names: tuple[str, ...]) -> None:
        for link in self._links:
            link.handle.options = (NONE, *names)

    def _draw(self, shown: tuple[PairMatrix | None, tuple[str, ...], LinkPair | None]) -> None:
        pairs, names, pair = shown
        self._picture.content = "" if pairs is None else matrix_svg(pairs, names, pair)

    def _show_words(self, text: str) -> None:
        self._words.content = text


def own_links(pairs: PairMatrix, robot: Robot) -> tuple[str, ...]:
    """Links of the robot that have pairs; not objects that it holds."""
    return tuple(name for name in pairs.link_names if name in robot.link_names)


def cell_of(pair: LinkPair | None, names: tuple[str, ...]) -> str:
    """Row and column of a pair in the matrix; "" for none."""
    if pair is None:
        return ""
    i, j = sorted((names.index(pair[0]), names.index(pair[1])), reverse=True)
    return f"{i},{j}"


def known_pair(pair: LinkPair | None, names: tuple[str, ...]) -> LinkPair | None:
    """The pair, if both links are there."""
    return pair if pair is not None and set(pair) <= set(names) else None


def pair_text(view: View, pairs: PairMatrix | None, pair: LinkPair | None) -> str:
    """What is known of a pair, as Markdown."""
    if pairs is None:
        return "Pairs appear when the model is ready." if view.robot is not None else ""
    if pair is None:
        counts = ", ".join(f"{count} {listed(reason)}" for reason, count in pairs.counts().items())
        lines = [f"{len(pairs.entries)} pairs: {counts}. Click a cell, or choose two links, to see why."]
        return "\n\n".join([*lines, *(f"Note: {escape(note, 600)}." for note in pairs.notes)])
    found = pairs.evidence(*pair)
    lines = [f"**{escape(pair[0])}** (blue) and **{escape(pair[1])}** (purple): **{escape(found.reason)}**"]
    lines.append(escape(found.text, 600)[:1].upper() + escape(found.text, 600)[1:] + ".")
    facts: list[str] = []
    if found.samples:
        near = f"within {1000 * found.buffer:g} mm in {found.hits} of {found.samples} samples"
        facts.append(f"spheres came {near}")
    if found.mesh_samples:
        facts.append(f"meshes collided in {found.mesh_hits} of {found.mesh_samples}")
    if found.bound is not None and found.samples and found.reason is not PairReason.NEVER_PROVED:
        what = "are apart" if found.reason is PairReason.ALWAYS else "meet"
        facts.append(
            f"at most {100 * found.bound:.3g} % of configurations {what}, {100 * found.confidence:g} % sure"
        )
    if found.clearance is not None:
        proved = "proved clearance" if found.reason is PairReason.NEVER_PROVED else "clearance"
        facts.append(f"{proved} {1000 * found.clearance:.1f} mm")
    if found.closest:
        facts.append(f"closest found by meshes {1000 * found.closest:.1f} mm")
    if facts:
        lines.append("; ".join(facts).capitalize() + ".")
    near = view.state.pairs.near
    if near is not None and near.of(pair, view.state.robot.cfg, view.robot):
        verb = "apart by" if near.clash.distance > 0 else "overlapping by"
        lines.append(f"Now: **{verb} {1000 * abs(near.clash.distance):.1f} mm**, by meshes.")
    return "\n\n".join(lines)


def listed(reason: str) -> str:
    """A reason as an entry of a list, where its own comma would be read as the next entry.

    >>> listed("never, proved"), listed("adjacent")
    ('never (proved)', 'adjacent')
    """
    what, _, how = reason.partition(", ")
    return f"{what} ({how})" if how else what


KINDS: dict[Any, tuple[str, str, str]] = {
    "spheres": ("#bf3a4d", "c", "checked, by spheres"),
    "meshes": ("#7a1f3d", "m", "checked, by meshes alone"),
    PairReason.ADJACENT: ("#6b6b6b", "a", "adjacent"),
    PairReason.DEFAULT: ("#edae49", "d", "touching at the default pose"),
    PairReason.ALWAYS: ("#8d5a2b", "w", "always touching"),
    PairReason.NEVER_PROVED: ("#00798c", "n", "never (proved)"),
    PairReason.NEVER_SAMPLED: ("#9ad1d4", "s", "never (sampled)"),
    PairReason.USER: ("#7b5ea7", "u", "ignored by the user"),
}
"""Colour (those of the reports' picture, darker where a letter needs it), letter and words.
Letters, so that no one has to tell colours apart."""
DARK_LETTERS = {PairReason.DEFAULT, PairReason.NEVER_SAMPLED}
WIDTH = 360.0
"""Units of the drawing; it is scaled to the panel."""
NAMES = 118.0
"""Of them, for names."""
MOST_LETTERS = 30
"""Links beyond which letters could not be read."""
CELL = "Cell"
"""Label of the text that a click writes row and column into: viser has no events of HTML. The style in
the header hides it."""
CLICK = (
    "const b=[...document.querySelectorAll('label')].find((l)=>l.textContent==='Cell')"
    "?.closest('.mantine-Flex-root')?.querySelector('input');"
    "if(b){Object.getOwnPropertyDescriptor(HTMLInputElement.prototype,'value').set.call(b,this.dataset.pair);"
    "b.dispatchEvent(new Event('input',{bubbles:true}))}"
)
"""Holds nothing that comes from a description."""
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
        f'<div class="er-matrix" style="padding:0 0.5em"><svg viewBox="0 0 {WIDTH:g} {height:g}" role="img" '
        f'aria-label="{words}" '
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
        f'<rect class="er-cell" data-pair="{row},{column}" onclick="{CLICK}" x="{x:.1f}" y="{y:.1f}" '
        f'width="{side:.1f}" height="{side:.1f}" fill="{colour}">'
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
        f'<text x="{x + 5:.1f}" y="{y + 7.8:.1f}" font-size="8" text-anchor="middle" fill="{ink}" '
        f'pointer-events="none">{letter}</text>'
        f'<text x="{x + 14:.1f}" y="{y + 8.5:.1f}" font-size="9.5">{words} ({count})</text>'
    )
