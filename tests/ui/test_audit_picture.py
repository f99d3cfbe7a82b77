"""The picture of an audit: every low is kept, contacts and unproved segments are marked."""

from __future__ import annotations

import io

import numpy as np

from elbowroom._clash import Clash
from elbowroom.collision import Audit, ConstantClearance, Moment
from elbowroom.ui.draw import plot_audit
from elbowroom.ui.draw._audit import POINTS


def made(n: int, *, times: bool) -> Audit:
    """A motion whose clearance falls from 50 mm, with one row in contact and one segment blocked."""
    clearance = np.linspace(0.05, 0.01, n)
    clearance[n // 2] = -0.02
    free = clearance > 0
    between, at, pair = np.zeros(n - 1, int), np.full(n - 1, np.nan), np.full(n - 1, -1)
    between[[n // 2 - 1, n // 2]] = 3
    between[2], at[2], pair[2] = 1, 0.5, 0
    zero = np.zeros(3)
    moment = Moment(
        n // 2, 1.0 if times else None, (Clash("a", "b", -0.02, zero, zero, np.array([0, 0, 1.0])),)
    )
    return Audit(
        "made", ("j",), 0.005, 1.7e9 + np.arange(n) / 10 if times else None, free, np.minimum(clearance, 0.002),
        np.ones(n, int), clearance, np.zeros(n, int), (ConstantClearance("base", "table", 0.002, obstacle=True),),
        between, at, pair, np.full(n - 1, 0.001), (("a", "b"), ("base", "table")), moment, moment, np.zeros((n, 1), bool), (), 0.1,
    )  # fmt: skip


def test_contacts_and_unproved_segments_are_marked():
    axes = plot_audit(made(40, times=True)).axes[0]
    labels = axes.get_legend_handles_labels()[1]
    assert {"closest pair that the motion can change", "always 2.0 mm: base and table"} <= set(labels)
    assert {"in contact or closer than 5 mm", "between the rows, not proved free", "buffer asked for"} <= set(
        labels
    )
    assert "from 1700000000.000" in axes.get_xlabel()
    marks = next(line for line in axes.lines if line.get_label().startswith("between"))
    np.testing.assert_allclose(marks.get_xdata(), [0.25], atol=1e-6)
    assert "1 of 40 rows in contact or closer than 5 mm" in axes.get_title()
    assert [text.get_text() for text in axes.texts] == ["first: a, b, -20.0 mm"]


def test_a_long_motion_keeps_its_lows():
    axes = plot_audit(made(50_001, times=False)).axes[0]
    curve = axes.lines[0]
    assert len(curve.get_xdata()) <= POINTS
    assert min(curve.get_ydata()) == -20.0
    assert axes.get_xlabel() == "row"
    axes.figure.savefig(io.BytesIO(), format="png")
