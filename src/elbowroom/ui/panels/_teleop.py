"""The Teleoperation panel: a robot that follows hands, from a headset or a recording of one."""

from __future__ import annotations

import secrets
import time
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from .._commands import command, file_name, model_words, robot_words
from .._escape import escape
from .._jobs import Job, Report
from .._teleop import MAX_BYTES, XR_PATH, Recording, Steering, read_recording
from .._uploads import bound_uploads
from .._uploads import file_name as plain_name
from ..scene import TeleopNodes
from ..state import Event, RecordingRead, SetTeleop
from ._widgets import Bound, Shown, on_click

if TYPE_CHECKING:
    from .._view import View
    from ._widgets import Desk

CLUTCHES = ("squeeze", "trigger", "none")
REMEMBERED = 1000
"""Pictures whose lag is shown."""
PAUSE = 0.25
"""Seconds between two changes of the text: poses must not wait for words."""
KEY = "teleop"
"""Of the job."""


class TeleopPanel:
    """See the module."""

    title = "Teleop"

    def __init__(self, gui: Any, scene: Any, desk: Desk) -> None:
        self._gui, self._desk = gui, desk
        self._nodes = TeleopNodes(scene)
        self.steering: Steering | None = None
        """The latest run."""
        self.lags: deque[float] = deque(maxlen=REMEMBERED)
        """Seconds from the arrival of a message to the picture that answers it; the latest last."""
        self._drawn = self._told = 0.0
        bound_uploads(gui, lambda why: desk.say(why, error=True))
        self._acts = gui.add_button_group("Follow", ("Headset", "Recording", "Stop"))
        on_click(self._acts, lambda: self._press(self._acts.value))
        self._status = gui.add_markdown("")
        self._add_settings(gui)
        upload = gui.add_upload_button(
            "Upload recording", hint="Lines of xr_state messages, as a headset sends them"
        )
        _on_upload(upload, self._read)
        self._recorded = gui.add_markdown("")
        on_click(gui.add_button("Download motion", hint="What the robot did, as CSV"), self._download)
        self._say = Shown[str](lambda text: _fill(self._status, text))
        self._name = Shown[Recording | None](lambda found: _fill(self._recorded, about(found)))

    def _add_settings(self, gui: Any) -> None:
        desk = self._desk
        with gui.add_folder("Settings", expand_by_default=False):
            clutch = gui.add_dropdown(
                "Clutch", CLUTCHES, hint="Button to hold while the robot follows a hand"
            )
            scale = gui.add_slider(
                "Scale", 0.1, 3.0, 0.1, 1.0, hint="Metres the robot moves per metre of the hand"
            )
            port = gui.add_number(
                "Port", 8765, min=0, max=65535, step=1, hint="On this machine; 0 picks a free one"
            )
        handles = (clutch, scale, port)

        def event(_: Any) -> Event:
            return SetTeleop(clutch.value, float(scale.value), int(port.value))

        self._settings = [Bound[Any](handle, desk, event) for handle in handles]

    # What people do -----------------------------------------------------------------------------

    def _press(self, act: str) -> None:
        view, desk = self._desk.view, self._desk
        if act == "Stop":
            desk.cancel(KEY)
            return
        recording = view.state.teleop.recording if act == "Recording" else None
        if view.model is None or not view.current:
            desk.say("The model is still being built; try again in a moment.", error=True)
        elif act == "Recording" and recording is None:
            desk.say("Upload a recording first: lines of xr_state messages.", error=True)
        elif act == "Headset" and not desk.local:
            desk.say("Other machines can reach this page, so it opens no ports.", error=True)
        else:
            run = secrets.token_hex(4)
            start = Steering(run, view.model, view.state.robot.cfg, view.state.teleop, desk.send, recording)
            self.steering, self._drawn = start, 0.0
            self.lags.clear()
            desk.run(Job(KEY, "teleoperation", start.work))

    def _read(self, name: str, data: bytes) -> None:
        robot = self._desk.view.robot
        if robot is None or not data:
            self._desk.say("There is nothing to read yet.", error=True)
            return

        def work(report: Report) -> Event:
            return RecordingRead(read_recording(plain_name(name), data, robot, report))

        self._desk.run(Job("recording", f"reading {plain_name(name)}", work))

    def _download(self) -> None:
        if self.steering is None or not self.steering.log:
            self._desk.say("No motion has been recorded yet.", error=True)
            return
        view = self._desk.view
        name = file_name(view, "_motion.csv")
        self._desk.download(name, self.steering.motion())
        robot, words = robot_words(view), model_words(view)
        if robot is not None and words is not None:
            self._desk.say(f"Check it with: {command('check', *robot, '--trajectory', name, *words)}")

    # What is shown ------------------------------------------------------------------------------

    def show(self, view: View) -> None:
        """Brings panel and scene up to date."""
        teleop, steering = view.state.teleop, self.steering
        running = steering is not None and teleop.run == steering.run
        if steering is not None and running:
            self._tell(steering, view)
            self._measure(teleop.seen.arrived)
        self._nodes.show(view)
        values = (teleop.clutch, teleop.scale, teleop.port)
        for bound, value in zip(self._settings, values, strict=True):
            bound.show(value, view)
        self._name(teleop.recording)
        now = time.perf_counter()
        if not running or now - self._told > PAUSE:
            self._told = now
            self._say(status(view, list(self.lags)) if running else IDLE)

    def _tell(self, steering: Steering, view: View) -> None:
        """What the page has changed since, for the run to take over."""
        if view.robot is None or view.robot.joint_names != steering.model.robot.joint_names:
            self._desk.cancel(KEY)
            return
        if view.model is not None and view.current:
            steering.use(view.model)
        if view.settled and view.state.robot.cfg != view.state.teleop.cfg:
            steering.put(view.state.robot.cfg)

    def _measure(self, arrived: float) -> None:
        if arrived > self._drawn:
            self._drawn = arrived
            self.lags.append(time.perf_counter() - arrived)


IDLE = "Not following any hands. Headset opens a port on this machine; Recording plays an uploaded file."


def status(view: View, lags: list[float]) -> str:
    """What the run does, as Markdown."""
    teleop, seen = view.state.teleop, view.state.teleop.seen
    lines: list[str] = []
    if teleop.address:
        page = f"http{teleop.address.removeprefix('ws')}{XR_PATH}"
        lines.append(f"Messages at **{escape(teleop.address)}**; page for a headset: [{page}]({page})")
    parts = [hand for hand in seen.hands if hand.part != "head" or hand.followed]
    hands = [f"{hand.part} {'**followed**' if hand.followed else 'released'}" for hand in parts]
    clutch = f"Clutch ({teleop.clutch}): {', '.join(hands)}." if hands else "No hands have been seen yet."
    lines += [f"**{escape(seen.state or 'waiting')}**. {clutch}"]
    if lags:
        median, late, most = np.quantile(lags, (0.5, 0.99, 1.0)) * 1000
        lines.append(
            f"Lag {median:.0f} ms (99 %: {late:.0f}, most {most:.0f}); {seen.messages} messages; "
            f"hands {1000 * seen.error:.0f} mm ahead."
        )
    if seen.why:
        lines.append(escape(seen.why, 200))
    if seen.limited_by:
        lines.append("Held back by " + escape(", ".join(seen.limited_by[:3]), 200))
    return "\n\n".join(lines)


def about(recording: Recording | None) -> str:
    """A recording, as Markdown."""
    if recording is None:
        return f"No recording. Files of up to {MAX_BYTES >> 20} MB can be uploaded."
    notes = "".join(f"\n\n{escape(note, 200)}" for note in recording.notes)
    count = f"{len(recording.states)} states, {recording.seconds:.1f} s"
    return f"**{escape(recording.name)}**: {count}{notes}"


def _fill(handle: Any, text: str) -> None:
    handle.content = text


def _on_upload(handle: Any, act: Any) -> None:
    """Calls `act(name, bytes)` when a person has uploaded a file."""

    async def uploaded(happened: Any) -> None:
        if happened.client_id is not None:
            act(handle.value.name, handle.value.content)

    handle.on_upload(uploaded)
