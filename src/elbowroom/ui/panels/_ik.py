"""The IK panel: targets of end effectors are dragged, and the robot follows without touching anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._text import at_least
from .._escape import escape
from .._follow import Ask, Follower, prepare
from .._jobs import Job, Report
from ..scene import TargetNodes
from ..state import (
    DropTargets,
    Event,
    IkFound,
    IkReady,
    LockJoint,
    ReleaseTarget,
    SetTarget,
    SetTurned,
    ShowTargets,
)
from ._widgets import Bound, Shown, on_click

if TYPE_CHECKING:
    from ...collision import CollisionModel
    from ...robot import Robot
    from .._view import View
    from ._widgets import Desk

MOST = 8
"""End effectors with a target."""
LANE = "ik"


class IkPanel:
    """See the module."""

    title = "IK"

    def __init__(self, gui: Any, scene: Any, desk: Desk) -> None:
        self._desk = desk
        self._nodes = TargetNodes(scene, self._dragged)
        self._follower = Follower()
        self._held_here = False
        self._ends: tuple[Robot | None, tuple[str, ...]] = (None, ())
        self._asked: tuple[str, Any, Any] = ("", None, None)
        on = gui.add_checkbox("Targets", False, hint="Handles at the end effectors; the robot follows them")
        turned = gui.add_checkbox(
            "Orientation", True, hint="Targets fix the orientation, too, not only the position"
        )
        self._on = Bound[bool](on, desk, ShowTargets)
        self._turned = Bound[bool](turned, desk, SetTurned)
        self._text = gui.add_markdown("")
        drop = gui.add_button("Release targets", hint="Moves the targets back to the links")
        on_click(drop, lambda: desk.send(DropTargets()))
        self._places = _Places(gui, desk)
        self._locks = _Locks(gui, desk)
        self._shown = Shown[str](self._show_text)

    def _dragged(self, link: str, pose: tuple[float, ...], phase: str) -> None:
        self._held_here = phase != "end"
        if phase == "end":
            self._desk.send(ReleaseTarget())
        else:
            self._desk.send(SetTarget(link, pose, begins=phase == "start"))

    def show(self, view: View) -> None:
        """Brings widgets and scene up to date, and has the robot go on."""
        ik = view.state.ik
        if ik.held and not self._held_here:  # by the hand of a connection that is gone
            self._desk.send(ReleaseTarget())
        ends = self._ends_of(view.robot)
        ready = ik.on and ik.ready and view.model is not None
        self._nodes.show(view, ends if ready else ())
        self._places.show(view, ends if ready else ())
        self._on.show(ik.on, view)
        self._turned.show(ik.turned, view)
        self._locks.show(view)
        self._shown(text(view, ends))
        if ik.on and not ik.ready and view.model is not None:
            self._prepare(view.model)
        if ready:
            self._go_on(view)

    def _ends_of(self, robot: Robot | None) -> tuple[str, ...]:
        if robot is not self._ends[0]:
            from ...robot.internal import default_tool_frames

            self._ends = robot, () if robot is None else default_tool_frames(robot)[:MOST]
        return self._ends[1]

    def _prepare(self, model: CollisionModel) -> None:
        """Has the tables of the solver made, once."""
        if self._asked[:2] == ("prepare", model):
            return
        self._asked = "prepare", model, None

        def work(report: Report) -> Event:
            report.say("preparing inverse kinematics")
            prepare(model, report)
            return IkReady()

        self._desk.run(Job("ik", "preparing inverse kinematics", work))

    def _go_on(self, view: View) -> None:
        """Asks for the next piece of the way, or at its end for the solution, or why there is none."""
        ik, state, model = view.state.ik, view.state, view.model
        targets = ik.of(state)
        if not targets or model is None or not view.current:
            return
        locked = ik.locked_of(state.robot.joint_names)
        ask = Ask(model, targets, ik.turned, locked, state.robot.cfg, ik.drag)
        found = ik.found
        step = "move" if ik.moving else "solve" if not ik.held and (found is None or not found.solved) else ""
        if not step and found is not None and found.solved and found.why is None:
            step = "why"
        if not step or (self._asked[0] == step and self._asked[1] is model and self._asked[2] is ik):
            return
        self._asked = step, model, ik
        question = {"move": self._follower.move, "solve": self._follower.solve, "why": self._follower.why}[
            step
        ]
        self._desk.ask(f"ik {step}", lambda: question(ask), "why" if step == "why" else LANE)

    def _show_text(self, text: str) -> None:
        self._text.content = text


def text(view: View, ends: tuple[str, ...]) -> str:
    """How it stands, as Markdown."""
    ik = view.state.ik
    if view.robot is None:
        return ""
    if not ends:
        return "This robot has no end effector to place."
    if not ik.on:
        return f"End effectors: {', '.join(map(escape, ends))}."
    if not ik.ready or view.model is None:
        return "Targets appear when the solver is ready."
    targets = ik.of(view.state)
    if not targets:
        return "Drag a handle, or type a position below."
    return "\n\n".join([f"Targets: {', '.join(escape(link) for link, _ in targets)}.", *_found(ik.found)])


def _found(found: IkFound | None) -> list[str]:
    if found is None:
        return ["### Following"]
    off = f"{1000.0 * found.position_error:.2f} mm and {np.degrees(found.orientation_error):.2f}° off"
    if not found.solved:
        lines = ["### Following", f"{off}; {1000.0 * found.seconds:.1f} ms a tick."]
        if found.clearance is not None:
            lines.append(f"Clearance at least {at_least(1e3 * found.clearance, 1)} mm.")
        if found.limited_by and not found.reached:
            lines.append(f"Held back by {', '.join(map(escape, found.limited_by))}.")
        return lines
    if not found.reached:
        why = "Finding out why ..." if found.why is None else escape(found.why, 600)
        return [f"### ⚠ Not reached\n{off}; solved in {1000.0 * found.seconds:.1f} ms.", why]
    lines = [f"### Reached\n{off}; solved in {1000.0 * found.seconds:.1f} ms."]
    if found.clearance is not None:
        lines.append(f"Clearance {1000.0 * found.clearance:.1f} mm.")
    if found.jumped:
        lines.append("The robot jumped to the solution; it could not get there step by step.")
    return lines


class _Places:
    """Where a target is, as numbers: for those who do not drag."""

    def __init__(self, gui: Any, desk: Desk) -> None:
        self._desk = desk
        self._folder = gui.add_folder("Target", visible=False)
        with self._folder:
            self._link = gui.add_dropdown("Link", ("-",))
            place = gui.add_vector3("Target mm", (0.0, 0.0, 0.0), step=1.0)
        self._place = Bound[tuple[float, ...]](place, desk, self._typed)
        self._ends: tuple[str, ...] = ()
        Bound[str](self._link, desk, lambda _: self._chosen())

    def _chosen(self) -> None:
        self._show_place(self._desk.view)

    def _typed(self, place: tuple[float, ...]) -> Event | None:
        view, link = self._desk.view, self._link.value
        pose = self._pose(view, link)
        if pose is None:
            return None
        metres = tuple(float(value) / 1000.0 for value in place)
        return SetTarget(link, (*pose[:4], *metres), begins=True, held=False)

    def _pose(self, view: View, link: str) -> tuple[float, ...] | None:
        """Of a link's target, or of the link where it has none."""
        if view.robot is None or view.poses is None or link not in self._ends:
            return None
        here = tuple(view.poses[view.robot.link_index(link)].tolist())
        return dict(view.state.ik.of(view.state)).get(link, here)

    def show(self, view: View, ends: tuple[str, ...]) -> None:
        """Follows the state."""
        if ends != self._ends:
            self._ends = ends
            self._link.options = ends or ("-",)
            self._folder.visible = bool(ends)
        self._show_place(view)

    def _show_place(self, view: View) -> None:
        pose = self._pose(view, self._link.value)
        if pose is None:
            return
        x, y, z = (round(1000.0 * float(value), 1) + 0.0 for value in pose[4:])
        self._place.show((x, y, z), view)


class _Locks:
    """A box per joint: those that stay where they are."""

    def __init__(self, gui: Any, desk: Desk) -> None:
        self._gui, self._desk = gui, desk
        self._folder = gui.add_folder("Locked joints", expand_by_default=False)
        self._boxes: dict[str, Bound[bool]] = {}
        self._robot: Robot | None = None

    def show(self, view: View) -> None:
        """Follows the state; another robot, other boxes."""
        if view.robot is not self._robot:
            for box in self._boxes.values():
                box.handle.remove()
            self._robot, self._boxes = view.robot, {}
            with self._folder:
                for name in () if view.robot is None else view.robot.joint_names:
                    box = self._gui.add_checkbox(f"Lock {name}", False)
                    self._boxes[name] = Bound(
                        box, self._desk, lambda locked, joint=name: LockJoint(joint, locked)
                    )
        for name, box in self._boxes.items():
            box.show(name in view.state.ik.locked, view)
