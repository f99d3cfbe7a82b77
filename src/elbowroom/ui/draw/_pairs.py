"""Pictures of a pair matrix. Figures are returned, never shown."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...pairs import PairMatrix, PairReason

COLOURS = {
    PairReason.CHECKED: "#d1495b",
    PairReason.ADJACENT: "#b8b8b8",
    PairReason.DEFAULT: "#edae49",
    PairReason.ALWAYS: "#8d5a2b",
    PairReason.NEVER_PROVED: "#00798c",
    PairReason.NEVER_SAMPLED: "#9ad1d4",
    PairReason.USER: "#7b5ea7",
}
"""Warm: looked at; cold: known to stay apart; grey: together by construction."""


def plot_pairs(pairs: PairMatrix) -> Any:
    """Links against links, coloured by reason; checked pairs show how often samples met, in per cent."""
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    reasons = list(COLOURS)
    names = pairs.link_names
    cells = np.full((len(names), len(names)), np.nan)
    figure = Figure(figsize=(2.5 + 0.28 * len(names), 1.5 + 0.28 * len(names)), layout="constrained")
    axes = figure.add_subplot()
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if i == j:
                continue
            found = pairs.evidence(a, b)
            cells[i, j] = reasons.index(found.reason)
            if found.reason is PairReason.CHECKED and found.samples and len(names) <= 40:
                share = 100.0 * found.hits / found.samples
                axes.text(j, i, f"{share:.0f}", ha="center", va="center", fontsize=5, color="white")
    axes.imshow(cells, cmap=ListedColormap(list(COLOURS.values())), vmin=-0.5, vmax=len(reasons) - 0.5)
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize=6)
    axes.set_yticks(range(len(names)), names, fontsize=6)
    axes.set_title(f"{pairs.robot_name}: pairs of links", fontsize=9)
    used = [reason for reason in reasons if reason in pairs.counts()]
    handles = [Patch(color=COLOURS[reason], label=f"{reason} ({pairs.counts()[reason]})") for reason in used]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=6, frameon=False)
    return figure
