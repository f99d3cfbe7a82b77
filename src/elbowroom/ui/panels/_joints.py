"""A slider per joint, in degrees and millimetres, and where the joints that follow others are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._escape import escape
from ..state import Move
from ._widgets import Bound, Shown

if TYPE_CHECKING:
    from ...robot import Joint, Robot
    from .._view import View
    from ._desk import Desk

WIDEST = 10.0
"""Metres or radians either way that a slider offers where a joint has no limits."""
ROUNDING = 1e-6
"""Of a step, by which a limit may miss a full one."""
STEPS = 1000
"""Of a slider, at least."""


class Joints:
    """The sliders of the robot that is shown; another robot, other sliders."""

    def __init__(self, gui: Any, desk: Desk) -> None:
        self._gui, self._desk = gui, desk
        self._folder = gui.add_folder("Joints")
        self._sliders: list[tuple[Bound[float], float]] = []
        self._own: list[Any] = []
        self._robot: Robot | None = None
        self._follow: Any = None
        self._followed = Shown[str](self._show_followers)

    def show(self, view: View) -> None:
        """Follows the state."""
        if view.robot is not self._robot:
            self._build(view)
        for (slider, unit), value in zip(self._sliders, view.state.robot.cfg, strict=False):
            step = slider.handle.step
            slider.show(round(round(value * unit / step) * step, 6), view)
        if view.robot is not None and self._follow is not None:
            self._followed(followers(view.robot, view.state.robot.cfg))

    def _show_followers(self, text: str) -> None:
        self._follow.content = text

    def _build(self, view: View) -> None:
        for handle in self._own:
            handle.remove()
        self._robot, self._sliders, self._own, self._follow = view.robot, [], [], None
        self._followed = Shown[str](self._show_followers)
        if view.robot is None:
            return
        with self._folder:
            for idx, joint in enumerate(view.robot.tree.actuated):
                self._add(idx, joint, view)
            if followers(view.robot, view.state.robot.cfg):
                self._follow = self._gui.add_markdown("")
                self._own.append(self._follow)

    def _add(self, idx: int, joint: Joint, view: View) -> None:
        unit, name = unit_of(joint)
        low, high = (float(np.clip(limit, -WIDEST, WIDEST)) * unit for limit in (joint.lower, joint.upper))
        step = _step(high - low)
        low = round(float(np.floor(low / step + ROUNDING)) * step, 6)
        high = round(float(np.ceil(high / step - ROUNDING)) * step, 6)
        value = float(np.clip(view.state.robot.cfg[idx] * unit, low, high))
        slider = self._gui.add_slider(
            f"{joint.name} {name}", low, high, step, round(value, 6), hint=f"{joint.type} joint {joint.name}"
        )
        self._own.append(slider)
        self._sliders.append((Bound(slider, self._desk, lambda value, i=idx: Move(i, value / unit)), unit))


def unit_of(joint: Joint) -> tuple[float, str]:
    """What a joint's value is multiplied by to be shown, and the unit's name."""
    return (1000.0, "mm") if joint.type == "prismatic" else (180.0 / np.pi, "°")


def _step(width: float) -> float:
    """1, 0.1, 0.01, ...: the largest that gives enough steps."""
    return float(10.0 ** min(np.floor(np.log10(max(width, 1e-6) / STEPS)), 0.0))


def followers(robot: Robot, cfg: tuple[float, ...]) -> str:
    """Joints that follow others and where they are, as Markdown; "" where there are none."""
    from ...robot.doors import coupling_law

    lines: list[str] = []
    joints = [joint for joint in robot.tree.joints if joint.type != "fixed"]
    for joint in joints:
        if joint.coupling is None:
            continue
        driver, law = coupling_law(robot.tree, joints.index(joint))
        value = np.polynomial.Polynomial(law)(cfg[driver])
        unit, name = unit_of(joint)
        lines.append(
            f"- {escape(joint.name)}: {unit * value:.1f} {name}, follows {escape(robot.joint_names[driver])}"
        )
    return "\n".join(lines)
