"""Targets of links, which the robot follows, and what came of it.

A target holds while the robot is where it was brought by it: moving the robot otherwise (a slider, undo) lets
the targets go. So undo has nothing to say here, and the part is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, ClassVar

from ...errors import InputError
from .._commands import cfg_words, command, model_words, robot_words
from ._event import Event, Part
from ._robot import Cfg, RobotKey

if TYPE_CHECKING:
    from .._view import View
    from ._page import PageState

Pose = tuple[float, ...]
"""wxyz_xyz in the world."""
Targets = tuple[tuple[str, Pose], ...]
"""Links and where they are to be."""
FAR = 1e3
"""Metres within which targets are."""


@dataclass(frozen=True)
class IkFound:
    """How far the robot has come."""

    reached: bool
    position_error: float
    """The largest, metres."""
    orientation_error: float
    """The largest, rad; 0 where orientations do not count."""
    seconds: float
    """That the last answer took: a tick of the motion, or the solution, without tables that are made once."""
    clearance: float | None
    """Metres; None where it was not measured."""
    solved: bool = False
    """Whether a solver has decided; else the robot is on its way."""
    jumped: bool = False
    """Whether the solution is elsewhere than where the motion ended."""
    limited_by: tuple[str, ...] = ()
    """What holds the motion back."""
    why: str | None = ""
    """Why the targets are not reached; None while that is being found out."""


@dataclass(frozen=True)
class IkState(Part):
    """See the module."""

    kept: ClassVar[bool] = True
    on: bool = True
    """Whether targets are shown."""
    ready: bool = False
    """Whether the tables of the solver are there."""
    turned: bool = True
    """Whether orientations count."""
    locked: tuple[str, ...] = ()
    """Joints that stay."""
    key: RobotKey | None = None
    """The robot that `targets` and `cfg` are of."""
    targets: Targets = ()
    cfg: Cfg = ()
    """Where the targets have brought the robot."""
    held: bool = False
    """Whether a hand is dragging a target."""
    moving: bool = False
    """Whether the robot is on its way."""
    drag: int = 0
    """How many drags there were: each is a step of undo."""
    seed: Cfg = ()
    """Where the last solution was sought from."""
    found: IkFound | None = None

    def of(self, state: PageState) -> Targets:
        """The targets that hold."""
        return self.targets if self.key == state.robot.key and self.cfg == state.robot.cfg else ()

    def locked_of(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Those of a robot's joints that are locked."""
        return tuple(name for name in names if name in self.locked)


def _with(state: PageState, ik: IkState) -> PageState:
    return replace(state, ik=ik)


@dataclass(frozen=True)
class ShowTargets(Event):
    """Targets are shown or hidden."""

    undoable: ClassVar[bool] = False
    on: bool

    def apply(self, state: PageState) -> PageState:
        """Hidden ones are released."""
        return _with(state, replace(state.ik, on=self.on, targets=(), held=False, moving=False, found=None))


@dataclass(frozen=True)
class IkReady(Event):
    """The tables of the solver are there."""

    undoable: ClassVar[bool] = False

    def apply(self, state: PageState) -> PageState:
        """For good."""
        return _with(state, replace(state.ik, ready=True))


@dataclass(frozen=True)
class SetTurned(Event):
    """Whether orientations count."""

    undoable: ClassVar[bool] = False
    turned: bool

    def apply(self, state: PageState) -> PageState:
        """The robot goes on from where it is."""
        return _with(state, _again(replace(state.ik, turned=self.turned)))


@dataclass(frozen=True)
class LockJoint(Event):
    """A joint is held still, or released."""

    undoable: ClassVar[bool] = False
    joint: str
    locked: bool

    def apply(self, state: PageState) -> PageState:
        """The others stay as they are."""
        if self.joint not in state.robot.joint_names:
            raise InputError(f"the robot has no joint {self.joint!r}")
        others = tuple(name for name in state.ik.locked if name != self.joint)
        return _with(
            state, _again(replace(state.ik, locked=(*others, self.joint) if self.locked else others))
        )


def _again(ik: IkState) -> IkState:
    return replace(ik, moving=bool(ik.targets), found=None)


@dataclass(frozen=True)
class SetTarget(Event):
    """A target is dragged."""

    undoable: ClassVar[bool] = False
    link: str
    pose: Pose
    begins: bool = False
    """Whether a drag begins."""
    held: bool = True

    @property
    def gesture(self) -> str:
        """Of a drag, only the latest counts."""
        return "" if self.begins or not self.held else f"target {self.link}"

    def apply(self, state: PageState) -> PageState:
        """Other targets stay as far as they hold."""
        near = all(map(isfinite, self.pose)) and max(map(abs, self.pose)) < FAR
        if len(self.pose) != 7 or not near or not any(self.pose[:4]):
            raise InputError(f"a target is a pose within {FAR:g} m, found {self.pose}")
        others = tuple(entry for entry in state.ik.of(state) if entry[0] != self.link)
        ik = replace(
            state.ik,
            key=state.robot.key,
            targets=(*others, (self.link, self.pose)),
            cfg=state.robot.cfg,
            held=self.held,
            drag=state.ik.drag + int(self.begins),
        )
        return _with(state, _again(ik))


@dataclass(frozen=True)
class ReleaseTarget(Event):
    """The hand lets go of a target; the robot goes on to it."""

    undoable: ClassVar[bool] = False

    def apply(self, state: PageState) -> PageState:
        """A target that has not moved is none."""
        return _with(state, replace(state.ik, held=False))


@dataclass(frozen=True)
class DropTargets(Event):
    """No link has a target any more."""

    undoable: ClassVar[bool] = False

    def apply(self, state: PageState) -> PageState:
        """The robot stays where it is."""
        return _with(state, replace(state.ik, targets=(), held=False, moving=False, found=None))


@dataclass(frozen=True)
class _Answer(Event):
    """What came of targets."""

    targets: Targets
    start: Cfg
    """Where the robot was when it was asked."""
    drag: int

    @property
    def gesture(self) -> str:
        """One drag is one step of undo."""
        return f"ik {self.drag}"

    def holds(self, state: PageState) -> bool:
        """Whether it still answers the question: nothing but the targets of a drag has changed since."""
        return bool(state.ik.of(state)) and state.robot.cfg == self.start


@dataclass(frozen=True)
class IkMoved(_Answer):
    """The robot has moved on towards the targets."""

    cfg: Cfg
    found: IkFound
    still: bool
    """Whether it has come to rest."""

    def apply(self, state: PageState) -> PageState:
        """The path so far counts even while the hand moves on."""
        if not self.holds(state):
            return state
        still = self.still and state.ik.targets == self.targets
        ik = replace(state.ik, cfg=self.cfg, moving=not still, found=self.found)
        return replace(state, robot=replace(state.robot, cfg=self.cfg), ik=ik)


@dataclass(frozen=True)
class IkSolved(_Answer):
    """The solver has found a configuration that meets the targets."""

    cfg: Cfg
    found: IkFound

    def apply(self, state: PageState) -> PageState:
        """The robot is there."""
        if not self.holds(state) or state.ik.targets != self.targets:
            return state
        ik = replace(state.ik, cfg=self.cfg, moving=False, seed=self.start, found=self.found)
        return replace(state, robot=replace(state.robot, cfg=self.cfg), ik=ik)

    def command(self, view: View) -> str:
        """The same question."""
        return ik_command(view)


@dataclass(frozen=True)
class IkNotReached(_Answer):
    """The solver has found none; the robot stays where its motion ended."""

    undoable: ClassVar[bool] = False
    found: IkFound

    def apply(self, state: PageState) -> PageState:
        """Why is found out later."""
        if not self.holds(state) or state.ik.targets != self.targets:
            return state
        return _with(state, replace(state.ik, moving=False, seed=self.start, found=self.found))

    def command(self, view: View) -> str:
        """The same question."""
        return ik_command(view)


@dataclass(frozen=True)
class IkWhy(_Answer):
    """Why the targets are not reached."""

    undoable: ClassVar[bool] = False
    why: str

    def apply(self, state: PageState) -> PageState:
        """As a sentence."""
        found = state.ik.found
        if found is None or not self.holds(state) or state.ik.targets != self.targets:
            return state
        return _with(state, replace(state.ik, found=replace(found, why=self.why)))


def ik_command(view: View) -> str:
    """`elbowroom ik` for the last solution; "" where a command line cannot have the same model."""
    ik, words, more = view.state.ik, robot_words(view), model_words(view)
    targets = ik.of(view.state)
    if words is None or more is None or not targets or not ik.seed:
        return ""
    asked: list[str] = []
    for link, pose in targets:
        asked += [link, *cfg_words(pose[4:]), *(cfg_words(pose[:4]) if ik.turned else ())]
    locked = ik.locked_of(view.state.robot.joint_names)
    held = ["--lock", *locked] if locked else []
    return command("ik", *words, "--target", *asked, "--cfg", *cfg_words(ik.seed), *held, *more)
