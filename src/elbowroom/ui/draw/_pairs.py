"""Pictures of a pair matrix. Figures are returned, never shown."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...pairs import PairEvidence, PairMatrix, PairReason

COLOURS = {
    "checked, by spheres": "#d1495b",
    "checked, by meshes alone": "#7a1f3d",
    PairReason.ADJACENT: "#b8b8b8",
    PairReason.DEFAULT: "#edae49",
    PairReason.ALWAYS: "#8d5a2b",
    PairReason.NEVER_PROVED: "#00798c",
    PairReason.NEVER_SAMPLED: "#9ad1d4",
    PairReason.USER: "#7b5ea7",
}
"""Red: looked at; cold: known to stay apart; grey: together by construction."""
MOST_NUMBERED = 40
"""Links beyond which numbers in the cells could not be read."""


def plot_pairs(pairs: PairMatrix) -> Any:
    """Links against links, coloured by reason and by who decides, spheres or meshes alone.

    Numbers in the cells of checked pairs are per cent of the samples: those in which the spheres came closer than the
    buffer or, where meshes alone decide, those in which the meshes met.
    """
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    kinds, names = list(COLOURS), pairs.link_names
    cells = np.full((len(names), len(names)), np.nan)
    size = 0.28 * len(names)
    figure = Figure(figsize=(max(2.5 + size, 5.5), max(2.0 + size, 3.5)), layout="constrained")
    axes = figure.add_subplot()
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if i == j:
                continue
            found = pairs.evidence(a, b)
            cells[i, j] = kinds.index(_kind(found))
            text = _share(found)
            if text and len(names) <= MOST_NUMBERED:
                axes.text(j, i, text, ha="center", va="center", fontsize=5, color="white")
    axes.imshow(cells, cmap=ListedColormap(list(COLOURS.values())), vmin=-0.5, vmax=len(kinds) - 0.5)
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize=6)
    axes.set_yticks(range(len(names)), names, fontsize=6)
    axes.set_title(f"{pairs.robot_name}: {len(pairs.entries)} pairs of links", fontsize=9)
    counts = [_kind(found) for found in pairs.entries.values()]
    handles = [
        Patch(color=colour, label=f"{kind} ({counts.count(kind)})")
        for kind, colour in COLOURS.items()
        if kind in counts
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=6, frameon=False)
    if len(names) <= MOST_NUMBERED and any(map(_share, pairs.entries.values())):
        axes.set_xlabel(_legend(pairs), fontsize=6)
    return figure


def _kind(found: PairEvidence) -> Any:
    """Key of `COLOURS`."""
    if found.reason is not PairReason.CHECKED:
        return found.reason
    return "checked, by meshes alone" if found.decided_by == "meshes" else "checked, by spheres"


def _share(found: PairEvidence) -> str:
    """Per cent of the samples in which a checked pair met, as its cell shows it; empty when not sampled."""
    by_meshes = found.decided_by == "meshes"
    hits, samples = (found.mesh_hits, found.mesh_samples) if by_meshes else (found.hits, found.samples)
    if found.reason is not PairReason.CHECKED or not samples:
        return ""
    share = 100.0 * hits / samples
    return "<1" if 0.0 < share < 1.0 else f"{share:.0f}"


def _legend(pairs: PairMatrix) -> str:
    """What the numbers are."""
    near = {
        found.buffer for found in pairs.entries.values() if _share(found) and found.decided_by == "spheres"
    }
    within = f"within {1e3 * min(near):g} mm" if len(near) == 1 else "within the buffer"
    by_spheres = f"spheres came {within} of each other" if near != {0.0} else "spheres overlapped"
    lines = (
        "numbers: per cent of random configurations in which",
        f"{by_spheres} (dark red: in which meshes met)",
    )
    return "\n".join(lines)  # one line is wider than the picture of a small robot
