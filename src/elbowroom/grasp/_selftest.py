"""The planner's own proof: specified figures reproduced, promises of the smooth method kept on 400 widths a mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ._hand import Hand
from ._planner import GraspPlanner, Sweep
from ._rh56 import load_mujoco, load_rh56, rh56_spec, tip_sites
from ._tables import ExactFingers, TableFingers

WIDTHS = 400
RANDOM_CONTROLS = 500
MODES: tuple[tuple[str, str, int], ...] = (
    ("line", "index", 2),
    ("plane", "index", 3),
    ("plane", "index", 4),
    ("plane", "index", 5),
    ("cylinder", "index", 5),
)
"""Mode, finger, fingers of the sweeps."""

SPECIFIED: dict[str, tuple[tuple[str, float, float], ...]] = {
    "spec": (
        ("line from", 8.7, 0.05),
        ("line to", 122.0, 0.5),
        ("plane from", 15.6, 0.05),
        ("plane to", 130.0, 0.5),
        ("cylinder from", 28.6, 0.05),
        ("cylinder to", 103.0, 0.5),
        ("palm mode below", 71.6, 0.05),
    ),
    "newest": (
        ("plane from", 21.85, 0.006),
        ("plane to", 118.43, 0.006),
        ("cylinder from", 29.76, 0.006),
        ("cylinder to", 97.08, 0.006),
        ("palm mode below", 66.34, 0.006),
    ),
}
"""What was published of the specified planner, by revision: name, mm, half of the last printed digit (or 0.5)."""
EXACT_SPEC = (
    ("s_min, exact", "s_min", 0.490, 5e-4),
    ("smallest width, exact (mm)", "width_min", 8.66, 5e-3),
    ("s at d_x = 0, exact", "s_level", 0.429, 5e-4),
    ("width at d_x = 0, exact (mm)", "width_level", 15.5, 5e-2),
)
GRID_SPEC = (
    ("s_min, 120 samples", "s_min", 0.487, 5e-4),
    ("smallest width, 120 samples (mm)", "width_min", 8.7, 5e-2),
    ("s at d_x = 0, 120 samples", "s_level", 0.437, 5e-4),
    ("width at d_x = 0, 120 samples (mm)", "width_level", 14.1, 5e-2),
)
"""Specified figures of thumb and index: name, field, value, tolerance."""


@dataclass(frozen=True)
class TestLine:
    """One thing that was measured."""

    name: str
    value: float
    bound: str
    """What it was compared with, in words."""
    ok: bool


@dataclass(frozen=True)
class SelfTest:
    """Everything that was measured on one revision."""

    revision: str
    lines: tuple[TestLine, ...]
    ranges: dict[str, tuple[float, float]]
    """Verified ranges by method and mode, m."""

    @property
    def ok(self) -> bool:
        """Whether every line holds."""
        return all(line.ok for line in self.lines)


def self_test(
    revision: str = "spec",
    *,
    name: str = "rh56",
    widths: int = WIDTHS,
    progress: Callable[[int, int], None] | None = None,
) -> SelfTest:
    """Measures a bundled hand's planner against its promises.

    Args:
        revision: of the hand.
        name: "rh56" or "rh56_left".
        widths: per mode.
        progress: called with (done, total).
    """
    hand = load_rh56(revision, name)
    steps: list[Callable[[], list[TestLine]]] = [
        lambda: _kinematics(hand),
        lambda: _tables(hand),
        lambda: _specified(hand),
        *(lambda mode=mode: _smooth(hand, mode, widths) for mode in MODES),
    ]
    lines: list[TestLine] = []
    for i, step in enumerate(steps):
        lines += step()
        if progress is not None:
            progress(i + 1, len(steps))
    return SelfTest(revision, tuple(lines), _ranges(hand))


def _ranges(hand: Hand) -> dict[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {}
    for method in ("proportional", "smooth"):
        planner = GraspPlanner(hand, method)
        for mode, finger, fingers in MODES:
            label = f"{mode} {fingers}" if mode == "plane" else mode
            found[f"{method} {label}"] = planner.range(mode, finger=finger, fingers=fingers)
    return found


def _at_most(name: str, value: float, bound: float, unit: str = "") -> TestLine:
    return TestLine(name, value, f"<= {bound:g}{unit}", bool(value <= bound))


def _near(name: str, value: float, target: float, tolerance: float) -> TestLine:
    return TestLine(name, value, f"{target:g} +- {tolerance:g}", abs(value - target) <= tolerance)


def _kinematics(hand: Hand) -> list[TestLine]:
    """Fingertips against MuJoCo, coupled joints set by us."""
    mujoco = load_mujoco()
    model = rh56_spec(hand.revision, hand.name).compile()
    data = mujoco.MjData(model)
    places = [model.joint(name).qposadr[0] for name in hand.joint_names]
    sites = tip_sites(hand.revision, hand.name)
    low = np.array([actuator.lower for actuator in hand.actuators])
    high = np.array([actuator.upper for actuator in hand.actuators])
    worst = 0.0
    for ctrl in np.random.default_rng(0).uniform(low, high, (RANDOM_CONTROLS, len(low))):
        data.qpos[places] = hand.joints(ctrl)
        mujoco.mj_kinematics(model, data)
        theirs = np.array([data.site(sites[name][0]).xpos for name in hand.finger_names])
        worst = max(worst, float(np.abs(theirs - hand.tips(ctrl)).max()))
    return [_at_most(f"fingertips against MuJoCo, {RANDOM_CONTROLS} controls (m)", worst, 1e-6)]


def _tables(hand: Hand) -> list[TestLine]:
    tables, exact = TableFingers(hand), ExactFingers(hand)
    low = np.array([actuator.lower for actuator in hand.actuators])
    high = np.array([actuator.upper for actuator in hand.actuators])
    worst = 0.0
    for ctrl in np.random.default_rng(1).uniform(low, high, (RANDOM_CONTROLS, len(low))):
        for name in hand.finger_names:
            worst = max(worst, float(np.linalg.norm(tables.tip(name, ctrl) - exact.tip(name, ctrl))))
            worst = max(worst, float(np.linalg.norm(tables.knuckle(name, ctrl) - exact.knuckle(name, ctrl))))
    return [_at_most("tables against exact kinematics (m)", worst, 1e-4)]


def _specified(hand: Hand) -> list[TestLine]:
    planner = GraspPlanner(hand, "proportional")
    law = planner.proportional
    found = {
        "line": planner.range("line"),
        "plane": planner.range("plane"),
        "cylinder": planner.range("cylinder"),
    }
    values = {f"{mode} from": 1e3 * limits[0] for mode, limits in found.items()}
    values |= {f"{mode} to": 1e3 * limits[1] for mode, limits in found.items()}
    values["palm mode below"] = 1e3 * law.palm_limit[1]
    lines = [
        _near(f"proportional, {name} (mm)", values[name], target, tolerance)
        for name, target, tolerance in SPECIFIED.get(hand.revision, ())
    ]
    if hand.revision == "spec":
        exact = GraspPlanner(hand, "proportional", exact=True).proportional.figures("index")
        for figures, table in ((law.figures("index"), GRID_SPEC), (exact, EXACT_SPEC)):
            for name, field, target, tolerance in table:
                scale = 1e3 if "width" in field else 1.0
                lines.append(
                    _near(f"proportional, {name}", scale * getattr(figures, field), target, tolerance)
                )
    return lines


def _smooth(hand: Hand, mode: tuple[str, str, int], widths: int) -> list[TestLine]:
    kind, finger, fingers = mode
    planner = GraspPlanner(hand, "smooth")
    sweep = planner.sweep(kind, widths, finger=finger, fingers=fingers)
    label = f"smooth, {kind} {fingers}" if kind == "plane" else f"smooth, {kind}"
    base = min(grasp.to_world(0.1).T_world_base[2, 3] - 0.1 for grasp in sweep.grasps)
    lines = [
        _at_most(f"{label}: width error (m)", max(abs(g.width_error) for g in sweep.grasps), 1e-6),
        _at_most(
            f"{label}: thumb against fingers, height (m)",
            max(abs(g.height_error) for g in sweep.grasps),
            1e-6,
        ),
        _at_most(
            f"{label}: joint outside its range (rad)", max(g.range_violation for g in sweep.grasps), 1e-9
        ),
        TestLine(f"{label}: base above the grasp (m)", float(base), "> 0", bool(base > 0)),
    ]
    lines.append(_at_most(f"{label}: largest step of a control (rad)", sweep.largest_jump, 0.15))
    steepest = float(np.degrees(sweep.largest_tilt_jump))
    lines.append(_at_most(f"{label}: largest step of the tilt (degrees)", steepest, 10.0))
    lines.append(_at_most(f"{label}: control slope (rad/mm)", sweep.largest_slope / 1e3, 0.02))
    if kind == "cylinder":
        return lines
    lines.append(_at_most(f"{label}: smallest width (mm)", 1e3 * float(sweep.widths[0]), 6.0))
    if kind == "line" and hand.revision == "spec":
        lines += _line_tilt(label, sweep)
    if kind == "plane":
        lines += _level(label, planner, sweep)
    return lines


def _level(label: str, planner: GraspPlanner, sweep: Sweep) -> list[TestLine]:
    """All tips level except at the fold, where what remains is told."""
    fold = planner.branch(sweep.grasps[0].opposition).fold or (np.inf, -np.inf)
    inside = [g.height_spread for g in sweep.grasps if fold[0] < g.width < fold[1]]
    outside = [g.height_spread for g in sweep.grasps if not fold[0] < g.width < fold[1]]
    lines = [_at_most(f"{label}: height spread of all tips (m)", max(outside), 1e-6)]
    if inside:
        where = f"{1e3 * fold[0]:.1f} to {1e3 * fold[1]:.1f} mm"
        lines.append(
            TestLine(f"{label}: the same at the fold, {where} (m)", max(inside), "told, no bound", True)
        )
    return lines


def _line_tilt(label: str, sweep: Sweep) -> list[TestLine]:
    at = float(np.interp(0.0087, sweep.widths, sweep.tilt))
    return [
        _at_most(f"{label}: largest tilt (degrees)", float(np.degrees(np.abs(sweep.tilt).max())), 55.0),
        _at_most(f"{label}: tilt at 8.7 mm (degrees)", float(np.degrees(abs(at))), 30.0),
    ]
