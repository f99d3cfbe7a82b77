"""Verdict: the answer to "is this configuration free?" with everything a person asks next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Literal

import numpy as np
from jaxtyping import Float

from .._clash import Clash
from .._text import number
from ..pairs import PairEvidence, PairReason
from ..robot import Robot
from ..typing import LinkPair
from ._allow import allow_text

By = Literal["spheres", "meshes"]


@dataclass(frozen=True, eq=False)
class OutOfLimits:
    """A joint whose value its limits do not allow."""

    joint: str
    value: float
    lower: float
    upper: float
    """rad or m."""

    def __str__(self) -> str:
        limits = f"[{number(self.lower)}, {number(self.upper)}]"
        return f"{self.joint} is at {number(self.value)}, outside its limits {limits}"


def out_of_limits(robot: Robot, row: Float[np.ndarray, "dof"]) -> tuple[OutOfLimits, ...]:
    """Joints that a configuration takes beyond their limits."""
    joints = zip(robot.joint_names, row, robot.lower, robot.upper, strict=True)
    return tuple(
        OutOfLimits(name, float(q), float(low), float(high))
        for name, q, low, high in joints
        if not low <= q <= high
    )


@dataclass(frozen=True, eq=False)
class Verdict:
    """What holds at one configuration."""

    robot_name: str
    cfg: Float[np.ndarray, "dof"]
    free: bool
    """No checked pair of links touches, or comes closer than the model's buffer, and no link touches an obstacle unless
    it is allowed to. Limits do not count: see `out_of_limits`."""
    by: By
    """spheres: they are apart, so the links are, or those of links without meshes overlap; meshes: spheres overlapped
    somewhere and the meshes decided."""
    closest: Clash | None
    """The closest checked pair of links, or link and obstacle, or the deepest; None when nothing is checked."""
    clashes: tuple[Clash, ...]
    """Pairs that touch or come closer than the buffer, the deepest first; `a` is the link where `b` is an obstacle."""
    ignored_touching: Mapping[LinkPair, PairEvidence]
    """Pairs that are not checked although their meshes touch here, and why; adjacent ones included."""
    out_of_limits: tuple[OutOfLimits, ...]
    """Joints beyond their limits."""
    obstacles: frozenset[str] = frozenset()
    """Those names in `clashes` and `closest` that are obstacles."""
    allowed_touching: tuple[tuple[str, str], ...] = ()
    """Pairs (link, obstacle) that are allowed to touch and do touch here."""

    def __bool__(self) -> bool:
        return self.free

    @property
    def clearance(self) -> float:
        """Measured distance of `closest`, metres; minus the depth where it overlaps."""
        return np.inf if self.closest is None else self.closest.distance

    @property
    def link_clashes(self) -> tuple[Clash, ...]:
        """The clashes of two links."""
        return tuple(clash for clash in self.clashes if clash.b not in self.obstacles)

    @property
    def world_clashes(self) -> tuple[Clash, ...]:
        """The clashes of a link with an obstacle."""
        return tuple(clash for clash in self.clashes if clash.b in self.obstacles)

    @property
    def how_to_allow(self) -> str:
        """What to write when the clashing pairs are meant to touch (closed fingers, a base on its table); or ""."""
        texts: list[str] = []
        if self.world_clashes:
            pairs = [clash.pair for clash in self.world_clashes]
            options = " ".join(f"--allow {quote(link)} {quote(obstacle)}" for link, obstacle in pairs)
            texts.append(f"{allow_text(pairs)}, or on the command line {options}")
        if self.link_clashes:
            pairs = [clash.pair for clash in self.link_clashes]
            texts.append(f"PairOptions(ignore={pairs!r}), --ignore on the command line, or in the SRDF:")
            texts += [f'<disable_collisions link1="{a}" link2="{b}" reason="User"/>' for a, b in pairs]
        return "\n".join(texts)

    def __str__(self) -> str:
        if self.free:
            near = f"; closest: {self.closest}" if self.closest is not None else "; no pair is checked"
            text = f"{self.robot_name} is free, by {self.by}{near}"
        else:
            text = f"{self.robot_name} is not free, by {self.by}: " + "; ".join(map(str, self.clashes))
        lines = [text]
        for (a, b), found in self.ignored_touching.items():
            if found.reason is not PairReason.ADJACENT:
                lines.append(f"  touching here, but not checked ({found.reason}): {a} and {b}, {found.text}")
        lines += [f"  touching here, and allowed to: {a} and {b}" for a, b in self.allowed_touching]
        lines += [f"  {entry}" for entry in self.out_of_limits]
        if self.clashes:
            lines.append("  if these are meant to touch: " + self.how_to_allow.replace("\n", "\n    "))
        return "\n".join(lines)
