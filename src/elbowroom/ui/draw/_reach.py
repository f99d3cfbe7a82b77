"""Picture of a slice of the workspace: what a link can reach, and what collision forbids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...ik import ReachMap

FORBIDDEN = "#c62828"


def plot_reach(found: ReachMap) -> Figure:
    """Two maps side by side: the share of orientations reached free of collision, and the clearance of the answers.

    Crosses mark cells that can be reached, but only in collision. Without a model there is only the first map.
    """
    from matplotlib.figure import Figure

    measured = bool(np.isfinite(found.clearance).any())
    left, right = _edges(found.across)
    low, high = _edges(found.up)
    tall = min(max((high - low) / (right - left), 0.5), 1.8)
    width = 5.6 * (2 if measured else 1)
    figure = Figure(figsize=(width, 4.6 * tall + 1.0), layout="constrained")
    axes = figure.subplots(1, 2 if measured else 1, squeeze=False, sharey=True)[0]
    asked = (
        "any orientation"
        if not found.orientations
        else "one orientation"
        if found.orientations == 1
        else f"share of {found.orientations} orientations"
    )
    panels = [
        (
            100.0 * np.where(found.met > 0.0, found.share, np.nan),
            "viridis",
            0.0,
            100.0,
            f"reached, {asked} (%)",
        )
    ]
    if measured:
        top = 1e3 * float(np.nanmax(found.clearance))
        panels.append(
            (1e3 * found.clearance, "cividis", 0.0, max(top, 1.0), "largest clearance of an answer (mm)")
        )
    for panel, (values, colours, smallest, largest, title) in zip(axes, panels, strict=True):
        image = panel.imshow(
            values, origin="lower", extent=(left, right, low, high), cmap=colours, vmin=smallest, vmax=largest
        )
        rows, columns = np.nonzero((found.met > 0.0) & (found.share == 0.0))
        if len(rows):
            panel.plot(
                found.across[columns],
                found.up[rows],
                "x",
                color=FORBIDDEN,
                markersize=4,
                label="only in collision",
            )
            panel.legend(loc="upper right", fontsize=8, framealpha=0.9)
        panel.set_xlabel(f"{found.plane[0]} (m)")
        panel.set_title(title, fontsize=10)
        figure.colorbar(image, ax=panel, shrink=0.85)
    axes[0].set_ylabel(f"{found.plane[1]} (m)")
    figure.suptitle(str(found), fontsize=11)
    return figure


def _edges(centres: np.ndarray) -> tuple[float, float]:
    """From the outer edge of the first cell to that of the last."""
    half = 0.5 * float(centres[1] - centres[0]) if len(centres) > 1 else 0.05
    return float(centres[0]) - half, float(centres[-1]) + half
