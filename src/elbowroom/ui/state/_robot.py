"""The robot and where its joints are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING

from ...errors import InputError
from .._commands import check_command
from ._event import Event, Part
from ._model import ModelParts

if TYPE_CHECKING:
    from ...robot import Robot
    from .._view import View
    from ._page import PageState


@dataclass(frozen=True)
class RobotKey:
    """Arguments of `load_robot` as plain values; see there."""

    source: str
    """Name or path."""
    srdf: str | None = None
    package_dirs: tuple[str, ...] = ()
    use_visual: bool = False
    strict: bool = False
    xacro_args: tuple[tuple[str, str], ...] = ()
    given: bool = False
    """Whether the robot was handed over as an object: no process and no command line can load it again."""
    hold: tuple[tuple[str, float], ...] = ()

    def load(self) -> Robot:
        """The robot.

        Raises:
            ElbowroomError: as `load_robot`.
        """
        from ...robot import load_robot

        return load_robot(
            self.source,
            srdf=self.srdf,
            package_dirs=self.package_dirs,
            use_visual=self.use_visual,
            strict=self.strict,
            xacro_args=dict(self.xacro_args),
            hold=dict(self.hold),
        )

    @property
    def words(self) -> tuple[str, ...]:
        """Arguments of a command line that load it."""
        words = [self.source]
        if self.srdf is not None:
            words += ["--srdf", self.srdf]
        if self.package_dirs:
            words += ["--package-dirs", *self.package_dirs]
        if self.use_visual:
            words.append("--use-visual")
        if self.strict:
            words.append("--strict")
        if self.xacro_args:
            words += ["--xacro-args", *(f"{name}:={value}" for name, value in self.xacro_args)]
        if self.hold:
            words += ["--hold", *(f"{name}={value!r}" for name, value in self.hold)]
        return tuple(words)


MAX_POSES = 100
"""Saved poses."""
MAX_NAME = 60
"""Characters of the name of a saved pose."""

Cfg = tuple[float, ...]


@dataclass(frozen=True)
class RobotState(Part):
    """Which robot, and its configuration."""

    key: RobotKey | None = None
    """None until the first robot is there."""
    joint_names: tuple[str, ...] = ()
    lower: Cfg = ()
    upper: Cfg = ()
    """(dof,) rad or m."""
    cfg: Cfg = ()
    """(dof,) rad or m, within the limits."""
    saved: tuple[tuple[str, Cfg], ...] = ()
    """Poses that the user saved, by name."""

    def within(self, cfg: Cfg) -> Cfg:
        """A configuration moved into the limits.

        Raises:
            InputError: wrong length, NaN or infinite.
        """
        if len(cfg) != len(self.cfg):
            raise InputError(f"expected {len(self.cfg)} joint values, found {len(cfg)}")
        if not all(map(isfinite, cfg)):
            raise InputError("joint values must be numbers, found NaN or infinity")
        limits = zip(cfg, self.lower, self.upper, strict=True)
        return tuple(min(max(float(q), low), high) for q, low, high in limits)


@dataclass(frozen=True)
class RobotOpened(Event):
    """A robot has been loaded and takes the place of the one before."""

    key: RobotKey
    joint_names: tuple[str, ...]
    lower: Cfg
    upper: Cfg
    cfg: Cfg
    """Where it starts."""

    def apply(self, state: PageState) -> PageState:
        """Its spheres and pairs are the defaults again; the obstacles stay."""
        if state.robot.key == self.key:  # a page that was reloaded
            return state
        robot = RobotState(self.key, self.joint_names, self.lower, self.upper, self.cfg)
        robot = replace(robot, cfg=robot.within(self.cfg))
        return replace(
            state,
            robot=robot,
            model=ModelParts(world=state.model.world, buffer=state.model.buffer),
            look=replace(state.look, link=None),
        )


@dataclass(frozen=True)
class Move(Event):
    """A joint goes to a value, rad or m; beyond its limits means at them."""

    joint_idx: int
    value: float

    @property
    def gesture(self) -> str:
        """One joint's moves belong together."""
        return f"move {self.joint_idx}"

    def apply(self, state: PageState) -> PageState:
        """The other joints stay."""
        robot = state.robot
        if not 0 <= self.joint_idx < len(robot.cfg):
            raise InputError(f"there is no joint {self.joint_idx}")
        cfg = (*robot.cfg[: self.joint_idx], float(self.value), *robot.cfg[self.joint_idx + 1 :])
        return replace(state, robot=replace(robot, cfg=robot.within(cfg)))

    def command(self, view: View) -> str:
        """The verdict at this configuration."""
        return check_command(view)


@dataclass(frozen=True)
class SetCfg(Event):
    """All joints go to a configuration, (dof,); beyond the limits means at them."""

    cfg: Cfg
    by: str = ""
    """The gesture it is part of, such as dragging a target; "" for none."""

    @property
    def gesture(self) -> str:
        """As given."""
        return self.by

    def apply(self, state: PageState) -> PageState:
        """Any numbers of the right length."""
        return replace(state, robot=replace(state.robot, cfg=state.robot.within(self.cfg)))

    def command(self, view: View) -> str:
        """The verdict at this configuration."""
        return check_command(view)


@dataclass(frozen=True)
class SavePose(Event):
    """The configuration is kept under a name."""

    name: str

    def apply(self, state: PageState) -> PageState:
        """A pose of that name is replaced."""
        name = self.name.strip()[:MAX_NAME]
        if not name:
            raise InputError("a saved pose needs a name")
        others = tuple(pose for pose in state.robot.saved if pose[0] != name)
        if len(others) >= MAX_POSES:
            raise InputError(f"there are {MAX_POSES} saved poses already; remove one first")
        return replace(state, robot=replace(state.robot, saved=(*others, (name, state.robot.cfg))))


@dataclass(frozen=True)
class DropPose(Event):
    """A saved pose is forgotten."""

    name: str

    def apply(self, state: PageState) -> PageState:
        """The others stay."""
        saved = tuple(pose for pose in state.robot.saved if pose[0] != self.name)
        return replace(state, robot=replace(state.robot, saved=saved))
