"""Steering: a robot that follows hands, tick by tick, from a WebSocket or a recording.

The tick is that of `elbowroom ik --serve`: a `Session` with a `Tracker`, so the robot keeps its limits and never comes
into contact. It runs as a job of the page, at a fixed rate; the page draws the latest tick.
"""

from __future__ import annotations

import gc
import io
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._poses import as_wxyz_xyz
from ..errors import InputError
from ..remote.internal import Mailbox, XrState
from ._jobs import Report
from .state import Event, Hand, Seen, TeleopEnded, TeleopMoved, TeleopStarted

if TYPE_CHECKING:
    from ..collision import CollisionModel
    from ..ik import TrackStep
    from ..remote import Session
    from ..remote.internal import XrState
    from ..robot import Robot
    from .state import TeleopState

MAX_BYTES = 64 * 2**20
"""Of a recording."""
MAX_STATES = 100_000
"""Messages of a recording: 18 minutes at 90 a second."""
MAX_SECONDS = 3600.0
"""Length of a recording."""
EVERY = 500
"""Lines between two reports of progress."""


@dataclass(frozen=True, eq=False)
class Recording:
    """What a headset said, in order."""

    name: str
    states: tuple[XrState, ...]
    times: tuple[float, ...]
    """Seconds since the first, never going back."""
    notes: tuple[str, ...] = ()
    """What was ignored in the file."""

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.times[-1]


def read_recording(
    name: str, data: bytes, robot: Robot, progress: Callable[[int, int], None] = lambda *_: None
) -> Recording:
    """A recording from the lines of a file; nothing in it is executed or opened.

    Args:
        name: of the file. data: its bytes. robot: for names in other messages, which are ignored.
        progress: told of lines read and of all.

    Raises:
        InputError: it is too large or too long, or holds no `xr_state`.
    """
    from ..remote.internal import XrState, read_message

    if len(data) > MAX_BYTES:
        raise InputError(f"{name}: {len(data) >> 20} MB; at most {MAX_BYTES >> 20} MB are read")
    lines = [line for line in data.split(b"\n") if line.strip()]
    if len(lines) > MAX_STATES:
        raise InputError(f"{name}: {len(lines)} lines; at most {MAX_STATES} are read")
    states: list[XrState] = []
    bad, other, first = 0, 0, ""
    for number, line in enumerate(lines, 1):
        if number % EVERY == 0:
            progress(number, len(lines))
        try:
            message = read_message(line, robot, ())
        except InputError as error:
            bad, first = bad + 1, first or f"line {number}: {error}"
            continue
        if isinstance(message, XrState):
            states.append(message)
        else:
            other += 1
    if not states:
        raise InputError(f"{name}: no xr_state message in {len(lines)} lines{f'; {first}' if first else ''}")
    notes = [f"{bad} lines make no sense; {first}"] if bad else []
    notes += [f"{other} messages that are not xr_state are ignored"] if other else []
    return Recording(name, tuple(states), tuple(_times(name, states)), tuple(notes))


def _times(name: str, states: list[XrState]) -> Iterator[float]:
    """Seconds since the first; a stamp that goes back comes at once."""
    latest = start = states[0].stamp
    for state in states:
        latest = max(latest, state.stamp)
        if latest - start > MAX_SECONDS:
            raise InputError(f"{name}: longer than {MAX_SECONDS:.0f} s")
        yield latest - start


class Inbox(Mailbox):
    """A mailbox that knows when the latest message about hands came."""

    arrived = 0.0
    """Seconds of `time.perf_counter`; 0 when none has come."""

    def put(self, message: Any, when: float | None = None) -> None:
        """Leaves a message.

        Args:
            message: of `elbowroom.ik`.
            when: it was due, for one that is played back; None for now.
        """
        if isinstance(message, XrState):
            self.arrived = time.perf_counter() if when is None else when
        super().put(message)


RATE = 60.0
"""Ticks a second: what a page can draw beside them, with half of a core to spare. `elbowroom ik --serve` has 200."""
SWITCH = 0.001
"""Seconds after which a thread hands over to another that waits; Python's own 0.005 would be a third of a tick."""
LONGEST_LOG = 108_000
"""Ticks that are kept: half an hour."""
XR_PATH = "/xr"
"""Of the page for a headset, as `elbowroom ik --serve` has it."""
PATIENCE = 2.0
"""Seconds that the robot may take to come to rest after a recording."""


class _Prompt:
    """While any run is in the block, threads hand over to each other sooner, and what is there already, tables and
    models, is not searched for garbage, which would take a tenth of a second now and then."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count, self._before = 0, 0.0

    def __enter__(self) -> None:
        with self._lock:
            if self._count == 0:
                self._before = sys.getswitchinterval()
                sys.setswitchinterval(min(self._before, SWITCH))
                gc.freeze()
            self._count += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._count -= 1
            if self._count == 0:
                sys.setswitchinterval(self._before)
                gc.unfreeze()


_prompt = _Prompt()


class Steering:
    """One run.

    Args:
        run: its name.
        model: the robot and what is around it.
        cfg: where it starts.
        how: clutch, scale and port.
        send: takes events.
        recording: what is played; None opens the port.
    """

    def __init__(
        self,
        run: str,
        model: CollisionModel,
        cfg: tuple[float, ...],
        how: TeleopState,
        send: Callable[[Event], None],
        recording: Recording | None = None,
    ) -> None:
        self.run, self.model = run, model
        self._cfg, self._how, self._send, self._recording = cfg, how, send, recording
        self._wanted = model
        self._place: tuple[float, ...] | None = None
        self._shift: np.ndarray | None = None
        self._tracker: Any = None
        self.started = 0.0
        """When the first tick was, seconds of `time.perf_counter`."""
        self.missed = 0
        """Ticks left out because others took too long."""
        self.log: deque[tuple[float, tuple[float, ...]]] = deque(maxlen=LONGEST_LOG)
        """Seconds and configuration of every tick."""

    def use(self, model: CollisionModel) -> None:
        """Other obstacles, from the next tick on; from any thread."""
        self._wanted = model

    def put(self, cfg: tuple[float, ...]) -> None:
        """The robot was moved from elsewhere; from any thread."""
        self._place = cfg

    # The job ------------------------------------------------------------------------------------

    def work(self, report: Report) -> Event:
        """Ticks until the recording is over or the job is cancelled."""
        from ..remote.internal import Pacer, SocketDoor
        from ._teleop import Inbox
        from .xr import xr_page

        report.say("preparing to follow")
        session = self._session()
        inbox, door = Inbox(), None
        try:
            if self._recording is None:
                door = SocketDoor(session, inbox, self._how.port, pages={XR_PATH: xr_page()})
            self._send(TeleopStarted(self.run, self._cfg, "" if door is None else door.address))
            report.say("following hands")
            with _prompt:
                self._follow(session, inbox, door, Pacer(RATE), report)
        finally:
            if door is not None:
                door.close()
            inbox.close()
            self._send(TeleopEnded(self.run))
        return TeleopEnded(self.run)

    def _session(self) -> Session:
        from ..ik import Tracker
        from ..remote import Session, XrOptions
        from ..remote.internal import steered_links

        how = XrOptions(clutch=self._how.clutch, scale=self._how.scale)
        links, xr = steered_links(self.model.robot, (), how)
        self._tracker = Tracker(self.model, links)
        session = Session(self, self.model.robot, links, np.array(self._cfg), RATE, xr)
        session.prepare()
        return session

    def _follow(self, session: Session, inbox: Inbox, door: Any, pacer: Any, report: Report) -> None:
        from ..remote.internal import XrState

        played, hands, self.started = 0, None, pacer.start
        for now in pacer.ticks():
            report.check()
            self._obey(session, now)
            if self._recording is not None:
                played = self._play(inbox, played, now, pacer.start)
            for message in inbox.take():
                session.take(message, now)
                hands = message if isinstance(message, XrState) else hands
            told = session.tick(now)
            if door is not None:
                door.send(told)
            seen = self._seen(session, hands, told, inbox)
            cfg = tuple(told["cfg"])
            self.log.append((now, cfg))
            self.missed = pacer.missed
            self._send(TeleopMoved(self.run, cfg, seen))
            if self._recording is not None and played == len(self._recording.times):
                late = now - self._recording.seconds
                if late > PATIENCE or (late > 0.0 and session.still):
                    return

    def _obey(self, session: Session, now: float) -> None:
        """What the page wants otherwise since the last tick."""
        from ..remote.internal import Reset

        wanted, place = self._wanted, self._place
        if wanted is not self.model:
            self._tracker, self.model = self._tracker.with_model(wanted), wanted
        if place is not None:
            self._place = None
            session.take(Reset(dict(zip(session.robot.joint_names, place, strict=True))), now)

    def _play(self, inbox: Inbox, played: int, now: float, start: float) -> int:
        """Hands over what is due."""
        assert self._recording is not None
        while played < len(self._recording.times) and self._recording.times[played] <= now:
            inbox.put(self._recording.states[played], start + self._recording.times[played])
            played += 1
        return played

    def _seen(self, session: Session, state: XrState | None, told: Mapping[str, Any], inbox: Inbox) -> Seen:
        targets = {link: getattr(target, "pose", None) for link, target in session.targets.items()}
        followed = [part for part, link in session.xr.links.items() if link in targets]
        return Seen(
            () if state is None else self._hands(session, state, followed),
            tuple(
                (link, tuple(np.asarray(pose).tolist())) for link, pose in targets.items() if pose is not None
            ),
            told["state"],
            told["why"],
            tuple(told["limited_by"]),
            max(told["position_error"].values(), default=0.0),
            inbox.arrived,
            inbox.received,
        )

    def _hands(self, session: Session, state: XrState, followed: list[str]) -> tuple[Hand, ...]:
        """The operator in the world: turned as motions are, and moved such that hands begin between the robot's."""
        R, scale = session.xr.R_world_xr, session.xr.scale
        shift = self._shift
        if shift is None:
            hands = [device.T_xr_device[:3, 3] for part, device in state.devices.items() if part != "head"]
            if not hands:
                return ()
            poses = session.robot.link_poses(session.cfg)
            links = [poses[session.robot.link_index(link), 4:] for link in session.links]
            shift = self._shift = np.mean(links, axis=0) - scale * (R @ np.mean(hands, axis=0))
        found: list[Hand] = []
        for part, device in state.devices.items():
            T = np.eye(4)
            T[:3, :3] = R @ device.T_xr_device[:3, :3]
            T[:3, 3] = scale * (R @ device.T_xr_device[:3, 3]) + shift
            found.append(Hand(part, tuple(as_wxyz_xyz(T).tolist()), part in followed))
        return tuple(found)

    # What a session asks of a tracker -----------------------------------------------------------

    def tick(
        self, targets: Any, cfg: Any, dt: float, *, clutch: bool = True, stamp: float | None = None
    ) -> TrackStep:
        """One step, by the tracker of the latest model."""
        return self._tracker.tick(targets, cfg, dt, clutch=clutch, stamp=stamp)

    def reset(self) -> None:
        """Forgets motion and targets."""
        self._tracker.reset()

    def motion(self) -> bytes:
        """What the robot did, as CSV: seconds, and a column a joint."""
        text = io.StringIO()
        text.write(",".join(["time", *self.model.robot.joint_names]) + "\n")
        for now, cfg in list(self.log):
            text.write(",".join([repr(now), *map(repr, cfg)]) + "\n")
        return text.getvalue().encode()
