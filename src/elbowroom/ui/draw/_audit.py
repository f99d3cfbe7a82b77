"""Clearance of a recorded motion over time, with contacts and what is not proved between the rows."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...collision import Audit, Moment

POINTS = 2000
"""Points along the axis: of a longer motion, the lowest clearance in each of so many equal parts is drawn."""
LINE, CONTACT, UNPROVED, STILL = "#1f5fa8", "#c62828", "#ef8f00", "#777777"


def plot_audit(audit: Audit) -> Figure:
    """Clearance in millimetres over time, or over rows: contacts red, segments that are not proved orange."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 4.2), layout="constrained")
    axes = figure.subplots()
    x = np.arange(1.0, len(audit) + 1.0) if audit.times is None else np.array(audit.times)
    along = "row"
    if audit.times is not None:
        along = "time (s)" if abs(x[0]) < 1e6 else f"time (s), from {x[0]:.3f}"
        x = x - x[0] if abs(x[0]) >= 1e6 else x
    varying = np.where(np.isfinite(audit.varying_clearance), audit.varying_clearance, np.nan)
    at, low = _lowest(x, 1e3 * varying)
    label = "closest pair that the motion can change" if audit.constant else "closest pair"
    axes.plot(at, low, color=LINE, linewidth=1.2, marker="." if len(at) < 60 else None, label=label)
    for one in audit.constant:
        axes.axhline(1e3 * one.distance, color=STILL, linestyle=":", linewidth=0.9, label=str(one))
    axes.axhline(0.0, color="black", linewidth=0.8)
    if audit.buffer:
        axes.axhline(
            1e3 * audit.buffer, color="gray", linestyle="--", linewidth=0.8, label="buffer asked for"
        )
    half = 0.5 * (x[-1] - x[0]) / max(len(audit) - 1, 1)
    for k, (a, b) in enumerate(audit.stretches):
        label = audit.refused if k == 0 else None
        axes.axvspan(x[a] - half, x[b] + half, color=CONTACT, alpha=0.2, linewidth=0, label=label)
    unproved = audit.unproved
    if len(unproved):
        where = x[unproved] + audit.blocked_at[unproved] * (x[unproved + 1] - x[unproved])
        axes.plot(
            where,
            np.zeros(len(where)),
            "v",
            color=UNPROVED,
            label="between the rows, not proved free",
            clip_on=False,
        )
    for moment, name in ((audit.first, "first"), (audit.worst, "worst" if audit.first else "closest")):
        if moment is not None and (name != "worst" or audit.first is None or moment.row != audit.first.row):
            _mark(axes, moment, float(x[moment.row]), name)
    axes.margins(x=0.01, y=0.18)
    axes.set_xlabel(along)
    axes.set_ylabel("clearance (mm), below 0: depth")
    proved = f"{audit.count('proved')} of {max(len(audit) - 1, 0)} segments proved free"
    contact = int((~audit.rows_free).sum())
    axes.set_title(
        f"{audit.robot_name}: {contact} of {len(audit)} rows {audit.refused}, {proved}", fontsize=11
    )
    axes.grid(alpha=0.25)
    axes.legend(loc="upper right", fontsize=8, framealpha=0.9)
    return figure


def _mark(axes: Any, moment: Moment, x: float, name: str) -> None:
    """A dot with the pair and its clearance, the text towards the middle of the picture."""
    clash = moment.clashes[0]
    y = 1e3 * clash.distance
    low, high = axes.get_xlim()
    right = x > 0.5 * (low + high)
    axes.plot([x], [y], "o", color=CONTACT if y <= 0.0 else LINE, markersize=5)
    axes.annotate(
        f"{name}: {clash.a}, {clash.b}, {y:.1f} mm",
        (x, y),
        xytext=(-8 if right else 8, -10 if name == "worst" else 10),
        textcoords="offset points",
        ha="right" if right else "left",
        va="center",
        fontsize=8,
        bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.15},
    )


def _lowest(
    x: Float[np.ndarray, "n"], y: Float[np.ndarray, "n"]
) -> tuple[Float[np.ndarray, "k"], Float[np.ndarray, "k"]]:
    """A curve of at most `POINTS` points that keeps every low."""
    if len(x) <= POINTS:
        return x, y
    cuts = np.linspace(0, len(x), POINTS + 1).astype(int)
    filled = np.where(np.isnan(y), np.inf, y)
    rows = np.array([a + int(np.argmin(filled[a:b])) for a, b in pairwise(cuts)])
    return x[rows], y[rows]
