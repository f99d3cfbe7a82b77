"""RobotKey: what a robot is loaded from, so that another process can load the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...robot import Robot


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
