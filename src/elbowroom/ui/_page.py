"""Page: one connection, from events to what is drawn.

All work on a page's state, widgets and scene happens on its worker's thread, in steps: apply the events that waited,
derive a `View`, let every panel show it in one atomic message. Panels see the page as a `Desk`.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..errors import ElbowroomError
from ._jobs import Job, Jobs, Report
from ._shared import SharedModels
from ._view import View
from ._worker import AnswerQueue, Worker
from .panels import Panels, build_panels
from .state import Event, History, ModelMade, ModelParts, Refresh, RobotKey, RobotOpened

if TYPE_CHECKING:
    from ..collision import CollisionModel
    from ..robot import Robot

MAX_IDLE = 20
"""Sessions kept for tabs that are gone."""
LONGEST_IDLE = 6 * 3600.0
"""Seconds that they are kept."""


class Session:
    """The history of one tab."""

    def __init__(self, id_: str, history: History) -> None:
        self.id = id_
        self.history = history
        self.live = False
        """Whether a connection holds it."""
        self.holder: int | None = None
        """The connection that does, or did last."""
        self.seen = time.monotonic()


class Sessions:
    """All sessions of a server.

    Args:
        start: makes the history that a new session begins with.
    """

    def __init__(self, start: Callable[[], History] = History) -> None:
        self._start = start
        self._sessions: dict[str, Session] = {}
        self._lock = threading.Lock()

    def claim(self, ids: Sequence[str], holder: int | None = None) -> Session:
        """The first of these sessions that is known and not live, or a new one; live from now on."""
        with self._lock:
            self._forget()
            for id_ in ids:
                session = self._sessions.get(id_)
                if session is not None and not session.live:
                    break
            else:
                session = Session(secrets.token_urlsafe(12), self._start())
                self._sessions[session.id] = session
            session.live, session.holder = True, holder
            return session

    def holders(self, ids: Sequence[str]) -> set[int]:
        """The connections that hold any of these sessions."""
        with self._lock:
            found = [self._sessions[id_] for id_ in ids if id_ in self._sessions]
            return {s.holder for s in found if s.live and s.holder is not None}

    def release(self, session: Session) -> None:
        """The connection is gone; the session waits for another."""
        with self._lock:
            session.live, session.seen = False, time.monotonic()
            self._forget()

    def known(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Those of the ids that mean a session."""
        with self._lock:
            return tuple(id_ for id_ in ids if id_ in self._sessions)

    def __len__(self) -> int:
        return len(self._sessions)

    def _forget(self) -> None:
        idle = sorted((s for s in self._sessions.values() if not s.live), key=lambda s: s.seen)
        too_many = max(len(idle) - MAX_IDLE, 0)
        oldest = time.monotonic() - LONGEST_IDLE
        for k, session in enumerate(idle):
            if k < too_many or session.seen < oldest:
                del self._sessions[session.id]


logger = logging.getLogger(__name__)


class Client(Protocol):
    """What a page needs of a `viser.ClientHandle`."""

    gui: Any
    scene: Any
    camera: Any

    def atomic(self) -> Any:
        """Messages of the block arrive together."""
        ...

    def flush(self) -> None:
        """Sends what waits."""
        ...

    def add_notification(self, title: str, body: str, **options: Any) -> Any:
        """Shows a message."""
        ...

    def send_file_download(self, filename: str, content: bytes, **options: Any) -> None:
        """Offers a file."""
        ...


class Page:
    """One tab; see the module. It is the `Desk` of its panels.

    Args:
        client: a `viser.ClientHandle`.
        session: what it resumes.
        shared: what all pages share.
        key: the robot to begin with.
    """

    def __init__(self, client: Client, session: Session, shared: SharedModels, key: RobotKey) -> None:
        self.client, self.session, self.shared = client, session, shared
        self.view = View(session.history.state)
        self._command = ""
        self._poses: tuple[Any, Any, Any] = (None, None, None)
        self._panels: Panels | None = None
        self._worker = Worker(self._step, self._fault, "page worker")
        self._lanes: dict[str, AnswerQueue] = {}
        self._lanes_lock = threading.Lock()
        self._jobs = Jobs(self.send, self._fault, lambda: self.send(Refresh()))
        self.send(Refresh())
        self.open(session.history.state.robot.key or key)

    # What panels may do ---------------------------------------------------------------------------

    @property
    def local(self) -> bool:
        """Whether only this machine can reach the page."""
        return self.shared.local

    def send(self, event: Event) -> None:
        """Something happened; from any thread."""
        self._worker.send(event)

    def ask(self, key: str, question: Callable[[], Event | None], lane: str = "") -> None:
        """Computes something short beside the worker; of questions of one key that wait, only the latest."""
        with self._lanes_lock:
            if self._stopped:
                return
            if lane not in self._lanes:
                self._lanes[lane] = AnswerQueue(self.send, self._fault, f"page lane {lane}".rstrip())
            self._lanes[lane].ask(key, question)

    def run(self, job: Job) -> None:
        """Starts long work."""
        self._jobs.run(job)

    def cancel(self, key: str | None = None) -> None:
        """Cancels long work of a key, or all."""
        self._jobs.cancel(key)

    def say(self, text: str, *, error: bool = False) -> None:
        """Shows a message for some seconds; an error until it is closed."""
        self.client.add_notification(
            "Not done" if error else "Elbowroom",
            text,
            auto_close_seconds=None if error else 6.0,
            color="orange" if error else None,
        )

    def download(self, name: str, data: bytes) -> None:
        """Hands a file to the browser."""
        self.client.send_file_download(name, data, save_immediately=True)

    def open(self, key: RobotKey) -> None:
        """Loads a robot and shows it."""

        def work(report: Report) -> Event:
            robot = self.shared.load(key)
            report.check()
            left_out = [str(note) for note in robot.visual_notes if note.kind == "skipped"]
            if left_out:
                more = f" ... and {len(left_out) - 1} more" if len(left_out) > 1 else ""
                self.say(f"{robot.name}: not everything can be shown. {left_out[0]:.300}{more}", error=True)
            return opened(key, robot)

        self.run(Job("robot", f"loading {key.source}", work))

    # Steps ------------------------------------------------------------------------------------------

    def _step(self, events: Sequence[Event]) -> None:
        if self._panels is None:
            with self.client.atomic():
                self._panels = build_panels(self.client, self)
        done: list[Event] = []
        for event in events:
            try:
                after = self.session.history.after(event, time.monotonic())
            except ElbowroomError as error:
                self._fault(error)
                continue
            if after is not self.session.history and event.repeatable:
                done.append(event)
            self.session.history = after
        self.view = self._derived()
        told = (event.command(self.view) for event in reversed(done))
        command = next((words for words in told if words), self._command)
        if command != self._command:
            self._command, self.view = command, replace(self.view, command=command)
        self._model_wanted(self.view)
        with self.client.atomic():
            for error in self._panels.show(self.view):
                self._fault(error)
        self.client.flush()

    def _derived(self) -> View:
        history, state = self.session.history, self.session.history.state
        robot = self.shared.loaded(state.robot.key)
        made = state.live.made_of
        model = state.live.model if made is not None and made[0] == state.robot.key else None
        return View(
            state=state,
            robot=robot,
            poses=None if robot is None else self._posed(robot, state.robot.cfg),
            model=model,
            current=model is not None and made is not None and made[1] is state.model,
            free=None if model is None else bool(model.free(np.array(state.robot.cfg))),
            busy=self._jobs.busy,
            can_undo=bool(history.past),
            can_redo=bool(history.future),
            command=self._command,
            settled=self._worker.settled,
        )

    def _posed(self, robot: Robot, cfg: tuple[float, ...]) -> np.ndarray:
        if self._poses[0] is not robot or self._poses[1] != cfg:
            self._poses = robot, cfg, robot.link_poses(np.array(cfg))
        return self._poses[2]

    def _model_wanted(self, view: View) -> None:
        """Has a model made where the state has none: at once where only obstacles changed, else as a job."""
        key, parts, live = view.state.robot.key, view.state.model, view.state.live
        if key is not None and view.robot is None and not self._jobs.running("robot"):
            self.open(key)  # back to a robot that has been forgotten
        if key is None or view.robot is None or view.current:
            self._making = None
            return
        if self._made_soon(key, parts):
            return
        self._making = key, parts
        ready = self.shared.made(key, parts)
        if ready is not None:
            self.send(ModelMade(ready, key, parts))
        elif live.model is not None and self._only_obstacles(view) and _knows_obstacles(live.model, parts):
            model, world, allow = live.model, parts.world, parts.allow

            def moved() -> Event:
                return ModelMade(model.with_world(world, allow=allow), key, parts)

            self.ask("model", moved)
        else:
            self.run(Job("model", "making the model", lambda report: self._made(key, parts, report)))

    _making: tuple[RobotKey, ModelParts] | None = None
    """Of what a model was last asked for."""
    _stopped = False

    def _made_soon(self, key: RobotKey, parts: ModelParts) -> bool:
        """Whether the model was asked for, or one that differs in obstacles alone, which are changed in no time."""
        if self._making is None or self._making[0] != key:
            return False
        return self._making[1] is parts or (self._jobs.running("model") and parts.same_robot(self._making[1]))

    def _only_obstacles(self, view: View) -> bool:
        made = view.state.live.made_of
        return made is not None and made[0] == view.state.robot.key and made[1].same_robot(view.state.model)

    def _made(self, key: RobotKey, parts: Any, report: Report) -> Event:
        return ModelMade(self.shared.model(key, parts, report), key, parts)

    def _fault(self, error: Exception) -> None:
        """Says what went wrong, and goes on."""
        if isinstance(error, ElbowroomError):
            self.say(str(error)[:500], error=True)
            return
        logger.error("a fault on the page", exc_info=error)
        self.say(f"This is a bug in elbowroom: {type(error).__name__}: {error!s:.300}", error=True)

    def stop(self) -> None:
        """Ends the page's threads and processes."""
        self._jobs.stop()
        self._worker.stop()
        with self._lanes_lock:
            self._stopped = True
        for lane in self._lanes.values():
            lane.stop()


def _knows_obstacles(model: CollisionModel, parts: ModelParts) -> bool:
    """Whether obstacles are in the model already: the first ones take a moment."""
    return parts.world is None or model.world is not None


def opened(key: RobotKey, robot: Robot) -> RobotOpened:
    """The event that brings a robot to a page."""
    return RobotOpened(
        key,
        robot.joint_names,
        tuple(robot.lower.tolist()),
        tuple(robot.upper.tolist()),
        tuple(robot.default_cfg.tolist()),
    )
