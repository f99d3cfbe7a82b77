"""Verdict: the answer to "is this configuration free?" with everything a person asks next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Literal

import numpy as np
from jaxtyping import Float

from .._brief import brief
from .._clash import Clash
from .._text import beyond
from ..pairs import PairEvidence, PairReason
from ..pairs.internal import grouped_by_reason, some_pairs
from ..robot import Robot
from ..typing import LinkPair
from ._allow import allow_text
from ._constant import ConstantClearance, constant_lines

By = Literal["spheres", "meshes"]
MOST_CLASHES = 6
"""Clashes for which a printed verdict writes out how to allow them."""


@dataclass(frozen=True, eq=False)
class OutOfLimits:
    """A joint whose value its limits do not allow."""

    joint: str
    value: float
    lower: float
    upper: float
    """rad or m."""

    def __str__(self) -> str:
        return f"{self.joint} is at {beyond(self.value, self.lower, self.upper)}"


def out_of_limits(robot: Robot, row: Float[np.ndarray, "dof"]) -> tuple[OutOfLimits, ...]:
    """Joints that a configuration takes beyond their limits."""
    joints = zip(robot.joint_names, row, robot.lower, robot.upper, strict=True)
    return tuple(
        OutOfLimits(name, float(q), float(low), float(high))
        for name, q, low, high in joints
        if not low <= q <= high
    )


@brief
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
    closest_varying: Clash | None = None
    """The closest checked pair whose distance joints can change; None when there is none. Where something clashes,
    `closest`."""
    buffer: float = 0.0
    """Clearance that the model asks of every pair, metres."""
    constant: tuple[ConstantClearance, ...] = ()
    """Pairs closer than `closest_varying` whose distance joints cannot change, or were not seen to change."""

    def __bool__(self) -> bool:
        return self.free

    @property
    def clearance(self) -> float:
        """Measured distance of `closest`, metres: positive apart, negative (minus the depth) where it overlaps."""
        return np.inf if self.closest is None else self.closest.distance

    @property
    def varying_clearance(self) -> float:
        """Measured distance of `closest_varying`, metres: positive apart, negative (minus the depth) overlapping."""
        return np.inf if self.closest_varying is None else self.closest_varying.distance

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
            named = " ".join(quote(link) for pair in pairs for link in pair)
            texts.append(
                f"PairOptions(ignore={pairs!r}), --ignore {named} on the command line, or in the SRDF:"
            )
            texts += [f'<disable_collisions link1="{a}" link2="{b}" reason="User"/>' for a, b in pairs]
        return "\n".join(texts)

    def __str__(self) -> str:
        if self.free:
            near = "no pair is checked" if self.closest is None else "nothing else is checked"
            near = near if self.closest_varying is None else f"closest checked pair: {self.closest_varying}"
            text = f"{self.robot_name} is free, by {self.by}; {near}"
        else:
            clashes = some_pairs([clash.refused(self.buffer) for clash in self.clashes], "; ")
            text = f"{self.robot_name} is not free, by {self.by}: {clashes}"
        lines = [text]
        ignored = {p: e for p, e in self.ignored_touching.items() if e.reason is not PairReason.ADJACENT}
        for reason, text in grouped_by_reason(ignored).items():
            lines.append(f"  touching here, but not checked ({reason}): {text}")
        lines += [f"  touching here, and allowed to: {a} and {b}" for a, b in self.allowed_touching]
        lines += [f"  {line}" for line in constant_lines(self.constant)]
        lines += [f"  {entry}" for entry in self.out_of_limits]
        if self.clashes:
            few = len(self.clashes) <= MOST_CLASHES
            how = self.how_to_allow if few else "`how_to_allow` of the verdict lists how to allow it"
            lines.append("  if these are meant to touch: " + how.replace("\n", "\n    "))
        return "\n".join(lines)
