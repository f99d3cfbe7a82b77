"""Teleoperation: how hands are followed, and what is seen of it. Undo leaves all of it alone but the robot's place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, ClassVar, Literal

from ...errors import InputError
from .._commands import cfg_words, command, model_words, robot_words
from ._event import Event, Part
from ._robot import Cfg

if TYPE_CHECKING:
    from .._teleop import Recording
    from .._view import View
    from ._page import PageState

ClutchName = Literal["squeeze", "trigger", "none"]
MOST_SCALE = 5.0
"""Metres of the robot per metre of the operator."""


@dataclass(frozen=True)
class Hand:
    """A part of the operator as it is drawn."""

    part: str
    """left, right or head."""
    pose: tuple[float, ...]
    """In the world, wxyz_xyz: turned and moved to where the robot's hands are."""
    followed: bool
    """Whether a link follows it just now."""


@dataclass(frozen=True)
class Seen:
    """One tick."""

    hands: tuple[Hand, ...] = ()
    targets: tuple[tuple[str, tuple[float, ...]], ...] = ()
    """Link -> pose that it is to reach, wxyz_xyz."""
    state: str = ""
    """As of `TrackStep`."""
    why: str = ""
    limited_by: tuple[str, ...] = ()
    error: float = 0.0
    """Metres between the farthest link and its target."""
    arrived: float = 0.0
    """When the message came that the hands are of, seconds of `time.perf_counter`."""
    messages: int = 0
    """Up to now."""


@dataclass(frozen=True, eq=False)
class TeleopState(Part):
    """Settings, and the latest tick."""

    kept: ClassVar[bool] = True
    clutch: ClutchName = "squeeze"
    scale: float = 1.0
    port: int = 8765
    recording: Recording | None = None
    run: str = ""
    """Of the run under way; "" for none."""
    address: str = ""
    """Where messages are taken; "" for a recording."""
    cfg: Cfg = ()
    """Where the robot was put last."""
    seen: Seen = Seen()


@dataclass(frozen=True)
class SetTeleop(Event):
    """How hands are followed, from the next start on."""

    undoable: ClassVar[bool] = False
    clutch: ClutchName
    scale: float
    port: int

    def apply(self, state: PageState) -> PageState:
        """All at once."""
        if self.clutch not in ("squeeze", "trigger", "none"):
            raise InputError(f"the clutch is squeeze, trigger or none, found {self.clutch!r:.40}")
        if not (isfinite(self.scale) and 0.0 < self.scale <= MOST_SCALE):
            raise InputError(f"the scale must be above 0 and at most {MOST_SCALE:g}, found {self.scale!r}")
        if not 0 <= self.port <= 65535:
            raise InputError(f"a port is a number from 0 to 65535, found {self.port!r}")
        teleop = replace(state.teleop, clutch=self.clutch, scale=float(self.scale), port=int(self.port))
        return replace(state, teleop=teleop)


@dataclass(frozen=True, eq=False)
class RecordingRead(Event):
    """A recording has been read."""

    undoable: ClassVar[bool] = False
    recording: Recording

    def apply(self, state: PageState) -> PageState:
        """Instead of the one before."""
        return replace(state, teleop=replace(state.teleop, recording=self.recording))


@dataclass(frozen=True)
class TeleopStarted(Event):
    """A run begins."""

    undoable: ClassVar[bool] = False
    run: str
    cfg: Cfg
    """Where the robot is."""
    address: str = ""

    def apply(self, state: PageState) -> PageState:
        """Nothing has been seen yet."""
        teleop = replace(state.teleop, run=self.run, address=self.address, cfg=self.cfg, seen=Seen())
        return replace(state, teleop=teleop)

    def command(self, view: View) -> str:
        """The same robot steered over the same port; a recording has no command."""
        robot, model = robot_words(view), model_words(view)
        if not self.address or robot is None or model is None:
            return ""
        teleop, port = view.state.teleop, self.address.rsplit(":", 1)[-1]
        words = ["--serve", "--port", port, "--cfg", *cfg_words(self.cfg), "--clutch", teleop.clutch]
        return command("ik", *robot, *words, "--scale", repr(teleop.scale), *model)


@dataclass(frozen=True)
class TeleopMoved(Event):
    """One tick of a run."""

    run: str
    cfg: Cfg
    seen: Seen

    @property
    def gesture(self) -> str:
        """A run is one step of undo, and only its latest tick counts."""
        return f"teleop {self.run}"

    def apply(self, state: PageState) -> PageState:
        """Nothing where the run is over, or the robot another."""
        if state.teleop.run != self.run or len(self.cfg) != len(state.robot.cfg):
            return state
        cfg = state.robot.within(self.cfg)
        teleop = replace(state.teleop, cfg=cfg, seen=self.seen)
        return replace(state, robot=replace(state.robot, cfg=cfg), teleop=teleop)


@dataclass(frozen=True)
class TeleopEnded(Event):
    """A run is over."""

    undoable: ClassVar[bool] = False
    run: str

    def apply(self, state: PageState) -> PageState:
        """The robot stays where it is; another run that has begun since goes on."""
        if state.teleop.run != self.run:
            return state
        return replace(state, teleop=replace(state.teleop, run="", address="", seen=Seen()))
