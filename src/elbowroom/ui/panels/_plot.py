"""Small plots in a panel, by uPlot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999")
"""Okabe and Ito; further lines begin again, dashed."""
HEIGHT = 170
"""Pixels."""


class Plot:
    """Lines over one axis; hidden until there is something to draw.

    Args:
        gui: a `viser.GuiApi`.
        title: above it.
        x: name of the horizontal axis, with its unit.
    """

    def __init__(self, gui: Any, title: str, x: str) -> None:
        self._x = x
        self._handle = gui.add_uplot(
            (np.array([0.0, 1.0]), np.array([0.0, 0.0])),
            _series(x, ("",)),
            title=title,
            scales={"x": {"time": False}},
            height=HEIGHT,
            visible=False,
        )
        self._names: tuple[str, ...] = ("",)

    def show(self, xs: Any, lines: dict[str, Any]) -> None:
        """Draws lines (n,) each over xs (n,); fewer than two points hide the plot."""
        names, at = tuple(lines), np.asarray(xs, dtype=np.float64)
        shown = len(at) > 1 and bool(names)
        if shown:
            if names != self._names:
                self._handle.series = _series(self._x, names)
                self._names = names
            self._handle.data = (at, *(np.asarray(line, dtype=np.float64) for line in lines.values()))
        if self._handle.visible != shown:
            self._handle.visible = shown


def _series(x: str, names: Sequence[str]) -> tuple[Any, ...]:
    lines: list[dict[str, Any]] = [{"label": x}]
    for k, name in enumerate(names):
        line: dict[str, Any] = {"label": name, "stroke": COLOURS[k % len(COLOURS)], "width": 2}
        if k >= len(COLOURS):
            line["dash"] = (6.0, 4.0)
        lines.append({**line, "points": {"show": False}})
    return tuple(lines)
