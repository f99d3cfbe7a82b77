"""The Plan panel: from where to where, how it goes, and the motion in time with its proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._text import at_least
from .._commands import SCENE
from .._escape import escape
from .._jobs import Job
from .._planning import asked_of, find_plan, measure, motion_bytes, play, world_bytes
from ..scene import PlanNodes
from ..state import (
    HERE,
    PLAN_KINDS,
    PLAN_METHODS,
    TAKEN,
    Event,
    Place,
    Planned,
    Seek,
    SetPlace,
    SetPlan,
    ShowPlan,
)
from ._robot import shapes_lines
from ._widgets import Bound, Plot, Shown, on_click

if TYPE_CHECKING:
    from ...plan import PlanResult
    from .._jobs import Report
    from .._view import View
    from ..state import Evidence, Planned
    from ._widgets import Desk

POINTS = 500
"""Of the curve of costs that are drawn, at most."""


class PlanPanel:
    """See the module."""

    title = "Plan"

    def __init__(self, gui: Any, scene: Any, desk: Desk) -> None:
        self._desk = desk
        self._nodes = PlanNodes(scene)
        self._places = _Places(gui, desk)
        self._settings = _Settings(gui, desk)
        self._plan = gui.add_button("Plan", hint="Finds a motion that touches nothing, and proves it")
        on_click(self._plan, self._ask)
        self._stop = gui.add_button("Stop planning", visible=False)
        on_click(self._stop, lambda: desk.cancel("plan"))
        self._text = gui.add_markdown("")
        self._said = Shown[str](self._say)
        self._cost = Plot(gui, "Cost of STOMP", "iteration")
        self._costs = Shown[tuple[float, ...]](self._show_costs)
        self._player = Player(gui, desk)
        self._clearance = Plot(gui, "Clearance, mm", "time, s")
        self._evidence = Shown[Any](self._show_evidence)
        self._files = _Files(gui, desk)
        self._measured: PlanResult | None = None

    def _ask(self) -> None:
        view = self._desk.view
        model = view.model
        if model is None or view.state.robot.key is None or not view.current:
            self._desk.say("The model is still being built; plan again in a moment.", error=True)
            return
        asked = asked_of(view.state)
        self._desk.cancel("play")
        self._desk.run(Job("plan", "planning", lambda report: find_plan(self._desk, model, asked, report)))

    def show(self, view: View) -> None:
        """Brings widgets and scene up to date."""
        found = found_of(view)
        self._nodes.show(view)
        self._places.show(view)
        self._settings.show(view)
        self._player.show(view)
        self._files.show(view)
        self._measure(view, found)
        busy = any(entry.key == "plan" for entry in view.busy)
        if self._stop.visible != busy:
            self._stop.visible = busy
        goes, evidence = view.state.plan_live.goes, evidence_of(view)
        self._costs(
            goes.costs if busy else () if found is None else tuple(found.result.cost_history.tolist())
        )
        self._evidence(evidence)
        self._said(progress_text(view) if busy else answer_text(view))

    def _measure(self, view: View, found: Planned | None) -> None:
        """Has a motion looked at along its way; the model may have changed, the motion is proved by its own."""
        model = view.model
        if found is None or found.result.motion is None or model is None or evidence_of(view) is not None:
            return
        result = found.result
        if result is self._measured or not view.current or found.asked.parts is not view.state.model:
            return
        self._measured = result
        self._desk.run(
            Job("plan evidence", "measuring clearance", lambda report: measure(model, result, report))
        )

    def _say(self, text: str) -> None:
        self._text.content = text

    def _show_costs(self, costs: tuple[float, ...]) -> None:
        rows = np.unique(np.linspace(0, len(costs) - 1, min(len(costs), POINTS)).astype(int))
        self._cost.show(rows + 1, {"best cost": np.array(costs)[rows]})

    def _show_evidence(self, evidence: Evidence | None) -> None:
        if evidence is None:
            self._clearance.show((), {})
            return
        rows = np.searchsorted(evidence.result.times, evidence.times)  # pyright: ignore
        measured = np.where(np.isfinite(evidence.measured), evidence.measured, np.nan)
        lines = {"measured": 1e3 * measured}
        if len(evidence.proved):
            lines["proved"] = 1e3 * evidence.proved[np.minimum(rows, len(evidence.proved) - 1)]
        for one in evidence.constant:
            lines[str(one)] = np.full(len(rows), 1e3 * one.distance)
        self._clearance.show(evidence.times, lines)


class _Places:
    """Start and goal."""

    def __init__(self, gui: Any, desk: Desk) -> None:
        self._desk = desk
        self._known: dict[str, tuple[float, ...] | None] = {HERE: None}
        start = gui.add_dropdown("Start", (HERE,), initial_value=HERE)
        goal = gui.add_dropdown("Goal", (HERE,), initial_value=HERE)
        self._start = Bound[str](start, desk, lambda name: self._chosen("start", name))
        self._goal = Bound[str](goal, desk, lambda name: self._chosen("goal", name))
        take = gui.add_button_group(
            "Take pose as", ("Start ", "Goal "), hint="Uses the current pose as start or goal"
        )
        on_click(take, lambda: self._take(take.value))
        self._listed = Shown[tuple[str, ...]](self._list)

    def _chosen(self, which: Any, name: str) -> Event | None:
        return SetPlace(which, Place(name, self._known[name])) if name in self._known else None

    def _take(self, which: Any) -> None:
        cfg = self._desk.view.state.robot.cfg
        if cfg:
            self._desk.send(SetPlace(which.strip().lower(), Place(TAKEN, cfg)))

    def show(self, view: View) -> None:
        """Lists the poses that there are."""
        robot, plan = view.robot, view.state.plan
        self._known = {HERE: None}
        if robot is not None:
            named = {"default": view.default_cfg, "zero": np.zeros(robot.dof), **robot.named_cfgs}
            self._known |= {name: tuple(np.asarray(cfg).tolist()) for name, cfg in named.items()}
            self._known |= dict(view.state.robot.saved)
        self._listed(tuple(self._known))
        for bound, place in ((self._start, plan.start), (self._goal, plan.goal)):
            own = place.key == view.state.robot.key and place.cfg is not None
            bound.show(place.name if own and place.name in bound.handle.options else HERE, view)

    def _list(self, names: tuple[str, ...]) -> None:
        for bound in (self._start, self._goal):
            bound.handle.options = (*names, TAKEN)


class _Settings:
    """How it is sought."""

    def __init__(self, gui: Any, desk: Desk) -> None:
        method = gui.add_dropdown(
            "Method", PLAN_METHODS, initial_value="auto",
            hint="auto: the straight line, then a sampler; stomp: optimisation alone",
        )  # fmt: skip
        timeout = gui.add_number("Timeout s", 5.0, min=0.1, max=600.0, step=0.1)
        seed = gui.add_number("Seed", 0, min=0, max=2**32 - 1, step=1)
        self._method = Bound[str](method, desk, lambda value: SetPlan("method", value))
        self._timeout = Bound[float](timeout, desk, lambda value: SetPlan("timeout", value))
        self._seed = Bound[int](seed, desk, lambda value: SetPlan("seed", value))

    def show(self, view: View) -> None:
        """Follows the state."""
        plan = view.state.plan
        self._method.show(plan.method, view)
        self._timeout.show(plan.timeout, view)
        self._seed.show(plan.seed, view)


class _Files:
    """What is drawn, and downloads."""

    def __init__(self, gui: Any, desk: Desk) -> None:
        self._desk = desk
        self._folder = gui.add_folder("Trail and files", visible=False)
        with self._folder:
            line = gui.add_checkbox(
                "Trail by margin", True, hint="Paths of the hands, coloured by proved clearance"
            )
            ghosts = gui.add_checkbox("Ghosts", True, hint="The robot at several moments, blue to orange")
            kind = gui.add_dropdown("Write as", PLAN_KINDS, initial_value="csv")
            download = gui.add_button("Download motion")
            self._scene = gui.add_button(
                "Download scene", hint=f"{SCENE}, which the command reads", visible=False
            )
        self._line = Bound[bool](line, desk, lambda value: ShowPlan("line", value))
        self._ghosts = Bound[bool](ghosts, desk, lambda value: ShowPlan("ghosts", value))
        self._kind = Bound[str](kind, desk, lambda value: SetPlan("kind", value))
        on_click(download, self._download)
        on_click(self._scene, self._download_scene)
        self._offered = Shown[tuple[bool, bool]](self._offer)

    def _download(self) -> None:
        found, kind = found_of(self._desk.view), self._desk.view.state.plan.kind
        if found is not None and found.result.motion is not None:
            self._desk.download(f"motion.{kind}", motion_bytes(found.result.motion, kind))

    def _download_scene(self) -> None:
        found = found_of(self._desk.view)
        if found is not None and found.asked.parts.world is not None:
            self._desk.download(SCENE, world_bytes(found.asked.parts.world))

    def show(self, view: View) -> None:
        """Follows the state."""
        live, found = view.state.plan_live, found_of(view)
        there = found is not None and found.result.motion is not None
        self._offered((there, found is not None and found.asked.parts.world is not None))
        self._line.show(live.line, view)
        self._ghosts.show(live.ghosts, view)
        self._kind.show(view.state.plan.kind, view)

    def _offer(self, there: tuple[bool, bool]) -> None:
        self._folder.visible, self._scene.visible = there


def found_of(view: View) -> Planned | None:
    """The answer for the robot that is shown."""
    found = view.state.plan.found
    return found if found is not None and found.asked.key == view.state.robot.key else None


def evidence_of(view: View) -> Evidence | None:
    """What was measured along the motion that is shown."""
    found, evidence = found_of(view), view.state.plan_live.evidence
    return (
        evidence if found is not None and evidence is not None and evidence.result is found.result else None
    )


def motion_words(found: Planned, evidence: Evidence | None) -> str:
    """How long a motion takes, how long it was sought, and what is proved of it, in one sentence."""
    result = found.result
    length = "Motion" if result.motion is None else f"Motion takes {result.motion.duration:.2f} s"
    words = f"{length}, found in {1e3 * result.seconds.get('total', 0.0):.0f} ms"
    if result.proof is None or not result.proof.free:
        return f"{words}, not proved"
    words += ", proved free"
    if evidence is not None and np.isfinite(evidence.proved).any():
        words += f" with at least {at_least(1e3 * float(np.nanmin(evidence.proved)), 1)} mm clearance"
    return words


def progress_text(view: View) -> str:
    """How the search goes, as Markdown."""
    goes = view.state.plan_live.goes
    parts = [(goes.doing or "planning").capitalize()]
    if goes.nodes:
        parts.append(f"{goes.nodes:,} nodes")
    if goes.costs:
        parts.append(f"best cost {goes.costs[-1]:.4g}")
    return f"{', '.join(parts)} ({goes.seconds:.1f} s) ..."


def answer_text(view: View) -> str:
    """What was found, or why nothing, as Markdown."""
    found = found_of(view)
    if found is None:
        return "Choose a start and a goal. _Take pose as_ saves the current pose."
    result = found.result
    lines = [f"### {motion_words(found, evidence_of(view))}" if result.success else "### ⚠ No motion"]
    if not result.success:
        lines.append(escape(result.why, 400))
    elif evidence_of(view) is not None:
        lines.append(
            "The trail shows the proved clearance: vermillion near 0, yellow at 5, blue from 20 mm on."
        )
    if result.proof is not None:
        if not result.success:
            lines.append(f"Proof: {escape(result.proof.why, 300)}.")
        lines += [] if view.robot is None else shapes_lines(view.robot)
    lines += [escape(note, 300) for note in result.notes]
    if found.asked.parts is not view.state.model:
        lines.append("**⚠ Spheres, pairs or obstacles have changed since: plan again.**")
    return "\n\n".join(lines)


STEP = 0.01
"""Seconds, of the slider."""
SPEEDS = {"1/4": 0.25, "1/2": 0.5, "1": 1.0, "2": 2.0, "4": 4.0}


class Player:
    """Shown where there is a motion."""

    def __init__(self, gui: Any, desk: Desk) -> None:
        self._desk = desk
        self._folder = gui.add_folder("Motion", visible=False)
        with self._folder:
            slider = gui.add_slider("Time s", 0.0, 1.0, STEP, 0.0)
            self._acts = gui.add_button_group("Playback", ("Play", "Pause", "Rewind"))
            speed = gui.add_dropdown("Speed", tuple(SPEEDS), initial_value="1", hint="Times real time")
            self._now = gui.add_markdown("")
        self._slider = Bound[float](slider, desk, self._dragged)
        self._speed = Bound[str](speed, desk, lambda name: ShowPlan("speed", SPEEDS[name]))
        on_click(self._acts, lambda: self._press(self._acts.value))
        self._motion = Shown[Any](self._show_motion)
        self._where = Shown[str](self._say)

    def _dragged(self, value: float) -> Event:
        self._desk.cancel("play")
        return Seek(value)

    def _press(self, act: str) -> None:
        state = self._desk.view.state
        found = state.plan.found
        if found is None or found.result.motion is None:
            return
        if act == "Play":
            over = state.plan.time >= found.result.motion.duration - STEP
            begin, speed = 0.0 if over else state.plan.time, state.plan_live.speed

            def work(report: Report) -> None:
                play(self._desk, found, begin, speed, report)

            self._desk.run(Job("play", "playing the motion", work))
            return
        self._desk.cancel("play")
        if act == "Rewind":
            self._desk.send(Seek(0.0))

    def show(self, view: View) -> None:
        """Follows the state."""
        plan = view.state.plan
        found = (
            plan.found if plan.found is not None and plan.found.asked.key == view.state.robot.key else None
        )
        motion = None if found is None else found.result.motion
        self._motion(motion)
        if found is None or motion is None:
            return
        self._slider.show(round(round(plan.time / STEP) * STEP, 6), view)
        speed = view.state.plan_live.speed
        self._speed.show(next(name for name, value in SPEEDS.items() if value == speed), view)
        self._where(where_text(view, found))

    def _show_motion(self, motion: Any) -> None:
        if motion is not None:
            self._slider.handle.value = 0.0  # before the end comes nearer
            self._slider.handle.max = max(round(float(np.ceil(motion.duration / STEP)) * STEP, 6), STEP)
        self._folder.visible = motion is not None

    def _say(self, text: str) -> None:
        self._now.content = text


def where_text(view: View, found: Planned) -> str:
    """When this is, and what is known there, as Markdown."""
    plan, evidence = view.state.plan, view.state.plan_live.evidence
    text = f"{plan.time:.2f} of {found.result.motion.duration:.2f} s"
    times = found.result.times
    if evidence is None or evidence.result is not found.result or times is None or not len(evidence.proved):
        return text
    k = int(np.clip(np.searchsorted(times, plan.time, "right") - 1, 0, len(evidence.proved) - 1))
    margin = 1e3 * evidence.proved[k]
    piece = f"piece {k + 1} of {len(evidence.proved)}"
    proved = f"**at least {margin:.1f} mm proved**" if np.isfinite(margin) else "proved as a whole only"
    return f"{text}, {piece}: {proved}"
