"""Grasp planning: one line grasp by tables, exactly, by the smooth method, and by a loop over MuJoCo.

CPU time per grasp over 60 widths, smallest of several runs, in one process. The MuJoCo loop solves the same
closure s by Brent's method with `mj_kinematics` at every step, coupled joints set by polynomials, which is how
the specified planner computes without tables. Errors are fingertip errors of the tables and width and height
errors of the grasps.
"""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.optimize import brentq

from benchmarks._machine import version
from benchmarks._table import Row
from benchmarks._timing import cpu_seconds
from elbowroom.grasp import GraspPlanner, Hand, load_hand
from elbowroom.grasp.internal import rh56_spec

WIDTHS = 60
YAW = 1.308


class MujocoLoop:
    """The closure solved on MuJoCo's kinematics."""

    def __init__(self, hand: Hand) -> None:
        self.model = rh56_spec(hand.revision).compile()
        self.data = mujoco.MjData(self.model)
        self.order = [self.model.joint(name).qposadr[0] for name in hand.joint_names]
        self.hand = hand
        self.thumb, self.index = (self.model.site(f"right_{name}_tip").id for name in ("thumb", "index"))

    def width(self, s: float) -> float:
        ctrl = np.array([0.0, 0.0, 0.0, 1.5 * s, 0.6 * s, YAW])
        self.data.qpos[self.order] = self.hand.joints(ctrl)
        mujoco.mj_kinematics(self.model, self.data)
        d = self.data.site_xpos[self.thumb] - self.data.site_xpos[self.index]
        return float(np.hypot(d[0], d[2]))

    def line(self, width: float) -> float:
        return brentq(lambda s: self.width(s) - width, 0.0, 0.489, xtol=1e-5)


def measure() -> list[tuple[str, float, str]]:
    hand = load_hand("rh56")
    tables, exact = GraspPlanner(hand, "proportional"), GraspPlanner(hand, "proportional", exact=True)
    smooth = GraspPlanner(hand)
    loop = MujocoLoop(hand)
    widths = np.linspace(0.009, 0.11, WIDTHS)
    rows: list[tuple[str, float, str]] = []
    for label, plan, note in (
        ("MuJoCo loop", loop.line, "width only: no tilt, no grasp value"),
        ("proportional, tables", tables.line, ""),
        ("proportional, exact", exact.line, ""),
        ("smooth, line", smooth.line, ""),
        ("smooth, plane of 5", lambda w: smooth.plane(min(w, 0.107), fingers=5), ""),
        ("smooth, cylinder", lambda w: smooth.cylinder(0.015 + 0.8 * w), ""),
    ):
        found = [plan(float(width)) for width in widths]
        if not note:
            width_error = max(abs(grasp.width_error) for grasp in found)
            height_error = max(abs(grasp.height_error) for grasp in found)
            note = f"width error {width_error:.1e} m, height error {height_error:.1e} m"
        seconds = cpu_seconds(lambda plan=plan: [plan(float(width)) for width in widths], 5) / WIDTHS
        rows.append((label, seconds, note))
    return rows


def fingertips() -> tuple[float, float, float]:
    """Seconds for all fingertips: ours, ours with the Jacobian, MuJoCo's `mj_kinematics`."""
    hand = load_hand("rh56")
    ctrl = np.array([0.3, 0.3, 0.3, 0.4, 0.2, 1.2])
    loop = MujocoLoop(hand)
    tips = cpu_seconds(lambda: [hand.points_unchecked(ctrl, False) for _ in range(1000)]) / 1000
    both = cpu_seconds(lambda: [hand.points_unchecked(ctrl, True) for _ in range(1000)]) / 1000
    theirs = cpu_seconds(lambda: [loop.width(0.2) for _ in range(1000)]) / 1000
    return tips, both, theirs


def rows() -> Iterator[Row]:
    """Of the table: each method beside the loop over MuJoCo, and fingertips."""
    measured = measure()
    loop, peer = measured[0][1], ("MuJoCo loop", version("MuJoCo"))
    for label, seconds, _ in measured[1:]:
        if "plane" in label or "cylinder" in label:  # what the loop does not do
            yield Row("grasp", "rh56", f"{label}, CPU time", 1e3 * seconds, "ms")
            continue
        note = "The loop finds the width of a line grasp alone: no tilt, no height, no value of the grasp"
        yield Row("grasp", "rh56", f"{label}, CPU time", 1e3 * seconds, "ms", 1e3 * loop, *peer, note=note)
    tips, both, theirs = fingertips()
    yield Row("grasp", "rh56", "all fingertips", 1e6 * tips, "us", 1e6 * theirs, *peer)
    yield Row("grasp", "rh56", "all fingertips with Jacobian", 1e6 * both, "us", 1e6 * theirs, *peer)


def main() -> None:
    measured = measure()
    peer = measured[0][1]
    table = Table("method", "ms a grasp", "against the MuJoCo loop", "errors over 60 widths", box=None)
    for label, seconds, note in measured:
        table.add_row(label, f"{1e3 * seconds:.3f}", f"{peer / seconds:.2f} x", note)
    Console(width=140).print(table)
    tips, both, theirs = fingertips()
    print(
        f"all fingertips: {1e6 * tips:.1f} us, with Jacobian {1e6 * both:.1f} us, MuJoCo {1e6 * theirs:.1f} us"
    )


if __name__ == "__main__":
    main()
