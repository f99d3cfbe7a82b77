"""Why there is no motion, in sentences that a person can act on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from .._text import number
from ..collision import Clash, CollisionModel
from ..ik import IkResult
from ._group import Group
from ._result import Reason

SHELLS = (0.01, 0.03, 0.1, 0.3, 1.0)
"""How far from a blocked configuration a free one is looked for: joints up to so much (rad, m), near ones first."""
TRIES = 256
"""Configurations of a shell."""
HALVINGS = 8
"""Steps that bring a free configuration nearer to the blocked one."""
NAMED = 3
"""Clashes or pairs that a sentence names."""
ROUNDING = 1e-6
"""A joint beyond its limit by no more (rad, m) is at it: limits that went through 32 bits."""


def nothing() -> Float[np.ndarray, "0"]:
    """No iterations."""
    return frozen(np.zeros(0))


@dataclass(frozen=True, eq=False)
class NoMotion:
    """Why a question has no answer; fields as of `PlanResult`."""

    reason: Reason
    why: str
    clashes: tuple[Any, ...] = ()
    nearest_free: Float[np.ndarray, "dof"] | None = None
    nodes: int = 0
    cost_history: Float[np.ndarray, "iterations"] = field(default_factory=nothing)


def beyond_limits(group: Group, what: str, cfg: Float[np.ndarray, "dof"]) -> NoMotion | None:
    """A failure when a joint that moves is beyond its limits; None when all are within."""
    parts = cfg[group.moving]
    outside = (parts < group.lower - ROUNDING) | (parts > group.upper + ROUNDING)
    if not outside.any():
        return None
    out = np.flatnonzero(outside)
    named = "; ".join(
        f"{group.joints[k]} is at {number(float(parts[k]), 6)}, outside [{number(float(group.lower[k]), 6)}, "
        f"{number(float(group.upper[k]), 6)}]"
        for k in out[:NAMED].tolist()
    )
    more = f" (and {len(out) - NAMED} more)" if len(out) > NAMED else ""
    hold = "clip it to the limits, or leave the joint out of `joints`: one that is held may be beyond them"
    return NoMotion("limits", f"{what} is beyond limits: {named}{more}; {hold}")


def blocked(model: CollisionModel, group: Group, what: str, cfg: Float[np.ndarray, "dof"]) -> NoMotion:
    """What a start or goal that is not free touches, how deep, and the nearest free configuration found."""
    clashes = model.clashes(cfg)
    near = nearest_free(model, group, cfg)
    if near is None:
        then = "no free configuration was found near it: these pairs touch whatever the joints that move do"
    else:
        moved = np.abs(near - cfg)[group.moving]
        most = int(moved.argmax())
        then = (
            f"the nearest free configuration found (`nearest_free`) moves {group.joints[most]} by "
            f"{number(float((near - cfg)[group.moving[most]]))}"
            + (" and others by less" if (moved > 1e-9).sum() > 1 else "")
        )
    text = f"{what} is not free: {named_clashes(clashes, model.buffer)}; {then}"
    return NoMotion(
        "start" if what == "the start" else "goal", f"{text}. {_allow(model, clashes)}", clashes, near
    )


def unreachable(found: IkResult) -> NoMotion:
    """A failure when no configuration takes the links to their poses."""
    if found.reason == "collision":
        near = found.nearest_free
        clashes = () if found.verdict is None else found.verdict.clashes
        return NoMotion("goal", f"goal: {found.why}", clashes, None if near is None else near.cfg)
    reason: Reason = "limits" if found.reason == "limits" else "unreachable"
    return NoMotion(reason, f"goal: {found.why}")


def no_path(
    ended: str, seconds: float, nodes: int, max_nodes: int, blockers: Sequence[tuple[tuple[str, str], int]]
) -> NoMotion:
    """A failure of the search: why it ended, and who stopped the trees."""
    pairs = tuple(pair for pair, _ in blockers)
    if ended == "cancelled":
        return NoMotion(
            "cancelled", f"cancelled after {number(seconds, 3)} s, without a path so far", pairs, None, nodes
        )
    trees = f"{nodes} configurations in the trees" if nodes else "before the search began"
    if ended == "timeout":
        text = f"time was up after {number(seconds, 3)} s, {trees}"
        advice = "a longer timeout, another seed or a roadmap may find a path"
        reason: Reason = "timeout"
    else:
        text = f"no path with {max_nodes} configurations (max_nodes) in the trees"
        advice = "start and goal may be parted: move what is named, or let more joints move"
        reason = "blocked"
    return NoMotion(reason, f"{text}; {_stopped_by(blockers)}{advice}", pairs, None, nodes)


def nearest_free(
    model: CollisionModel, group: Group, cfg: Float[np.ndarray, "dof"], seed: int = 0
) -> Float[np.ndarray, "dof"] | None:
    """A free configuration near one that is not, within limits; found by sampling, so a nearer one may exist."""
    rng = np.random.default_rng(seed)
    base = np.clip(cfg[group.moving], group.lower, group.upper)
    for shell in SHELLS:
        steps = shell * rng.uniform(-1.0, 1.0, (TRIES, len(base)))
        alone = np.arange(0, TRIES, 2)  # half of the tries move one joint only: easier to follow for a person
        mask = np.zeros_like(steps)
        mask[alone, rng.integers(len(base), size=len(alone))] = 1.0
        steps[alone] *= mask[alone]
        rows = group.whole(np.clip(base + steps, group.lower, group.upper))
        free = rows[model.free(rows)]
        if len(free):
            best = free[np.abs(free - cfg).max(axis=1).argmin()]
            return _nearer(model, group, cfg, best)
    return None


def _nearer(
    model: CollisionModel, group: Group, cfg: Float[np.ndarray, "dof"], best: Float[np.ndarray, "dof"]
) -> Float[np.ndarray, "dof"]:
    """The free end of a bisection between a blocked configuration and a free one."""
    blocked_end = group.whole(np.clip(cfg[group.moving], group.lower, group.upper))
    if model.free(blocked_end):
        return blocked_end
    for _ in range(HALVINGS):
        middle = 0.5 * (blocked_end + best)
        if model.free(middle):
            best = middle
        else:
            blocked_end = middle
    return best


def named_clashes(clashes: Sequence[Clash], buffer: float) -> str:
    """What touches, in words."""
    if not clashes:
        return "something touches to rounding"
    more = f" (and {len(clashes) - NAMED} more pairs)" if len(clashes) > NAMED else ""
    asked = f", closer than the buffer of {number(1e3 * buffer)} mm" if clashes[0].distance > 0.0 else ""
    return "; ".join(map(str, clashes[:NAMED])) + asked + more


def _allow(model: CollisionModel, clashes: Sequence[Clash]) -> str:
    """What to do where the contact is meant."""
    world = () if model.world is None else model.world.names
    touching = [clash.pair for clash in clashes if clash.b in world]
    if touching:
        return f"If they are meant to touch: model.with_world(model.world, allow={touching!r})"
    return "If they are meant to touch: PairOptions(ignore=...), see `model.explain`"


def _stopped_by(blockers: Sequence[tuple[tuple[str, str], int]]) -> str:
    total = sum(count for _, count in blockers)
    if not total:
        return ""
    named = ", ".join(
        f"{a} against {b} ({100.0 * count / total:.0f} %)" for (a, b), count in list(blockers)[:NAMED]
    )
    return f"most often stopped by {named}; "
