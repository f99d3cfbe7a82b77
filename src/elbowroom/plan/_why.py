"""Why there is no motion, in sentences that a person can act on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from .._text import beyond, number
from ..collision import Clash, CollisionModel
from ..ik import IkResult
from ._group import Group
from ._result import Reason

SHELLS = (0.01, 0.03, 0.1, 0.3, 1.0)
"""How far from a blocked configuration a free one is searched: joints up to this change (rad, m), near ones first."""
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
        f"{group.joints[k]} is at {beyond(float(parts[k]), float(group.lower[k]), float(group.upper[k]))}"
        for k in out[:NAMED].tolist()
    )
    more = f" (and {len(out) - NAMED} more)" if len(out) > NAMED else ""
    mend = "clip it to the limits"
    if what == "the start":
        mend += ", or leave the joint out of `joints`: one that is held may be beyond them"
    return NoMotion("limits", f"{what} is beyond limits: {named}{more}; {mend}")


def not_kept(reason: Reason, what: str, lost: str) -> NoMotion | None:
    """A failure when a start or goal does not keep what the motion must keep; None when nothing is lost."""
    return NoMotion(reason, f"{what} does not keep the constraints of the motion: {lost}") if lost else None


def blocked(
    model: CollisionModel,
    group: Group,
    what: str,
    cfg: Float[np.ndarray, "dof"],
    known_free: Float[np.ndarray, "dof"] | None = None,
) -> NoMotion:
    """What a start or goal that is not free touches, how deep, and the nearest free configuration found.

    Args:
        model: who judges.
        group: the joints that may move.
        what: "the start", or a goal.
        cfg: the configuration.
        known_free: a configuration of the group that is free, if one is known.
    """
    clashes = model.clashes(cfg)
    fixed = [clash for clash in clashes if not group.changes(clash.pair)]
    near = None if fixed else nearest_free(model, group, cfg, known_free)
    if fixed:
        then = f"no joint that moves changes the distance of {_pairs_text([clash.pair for clash in fixed])}"
    elif near is None:
        then = (
            f"no free configuration was found in {len(SHELLS) * TRIES} samples with joints up to "
            f"{number(SHELLS[-1])} rad (m) away"
        )
    else:
        moved = np.abs(near - cfg)[group.moving]
        most = int(moved.argmax())
        then = (
            f"the nearest free configuration found (`nearest_free`) moves {group.joints[most]} by "
            f"{number(float((near - cfg)[group.moving[most]]))}"
            + (" and others by no more" if (moved > 1e-9).sum() > 1 else "")
        )
    text = f"{what} is not free: {named_clashes(clashes, model.buffer)}; {then}"
    return NoMotion(
        "start" if what == "the start" else "goal", f"{text}. {_allow(model, clashes)}", clashes, near
    )


def _pairs_text(pairs: Sequence[tuple[str, str]]) -> str:
    more = f" (and {len(pairs) - NAMED} more pairs)" if len(pairs) > NAMED else ""
    return "; ".join(f"{a} and {b}" for a, b in pairs[:NAMED]) + more


def unreachable(found: IkResult) -> NoMotion:
    """A failure when no configuration takes the links to their poses."""
    if found.reason == "collision":
        near = found.nearest_free
        clashes = () if found.verdict is None else found.verdict.clashes
        return NoMotion("goal", f"goal: {found.why}", clashes, None if near is None else near.cfg)
    reason: Reason = "limits" if found.reason == "limits" else "unreachable"
    return NoMotion(reason, f"goal: {found.why}")


def no_path(
    ended: str, seconds: float, iterations: int, nodes: int, blockers: Sequence[tuple[tuple[str, str], int]]
) -> NoMotion:
    """A failure of the search: why it ended, and who stopped the trees.

    Args:
        ended: "timeout", "cancelled", or "blocked" where `PlanOptions.max_nodes` ended it.
        seconds: of search.
        iterations: of the sampler.
        nodes: configurations in its trees.
        blockers: pairs that refused extensions, and how often.
    """
    pairs = tuple(pair for pair, _ in blockers)
    trees = f"{nodes} configurations in the trees" if nodes else "before the search began"
    if ended == "cancelled":
        text = f"cancelled after {number(seconds, 3)} s of search, {trees}, without a path so far"
        return NoMotion("cancelled", text, pairs, None, nodes)
    if ended == "timeout":
        text = f"time was up after {number(seconds, 3)} s of search, {trees}"
        advice = "a longer timeout, another seed or a roadmap may find a path"
        reason: Reason = "timeout"
    else:
        text = f"no path after {iterations} iterations, {trees} (max_nodes)"
        advice = "start and goal may be parted: move what is named, or let more joints move"
        reason = "blocked"
    return NoMotion(reason, f"{text}; {_stopped_by(blockers)}{advice}", pairs, None, nodes)


def nearest_free(
    model: CollisionModel,
    group: Group,
    cfg: Float[np.ndarray, "dof"],
    known_free: Float[np.ndarray, "dof"] | None = None,
    seed: int = 0,
) -> Float[np.ndarray, "dof"] | None:
    """A free configuration near one that is not, within limits; found by sampling, so a nearer one may exist.

    Where no sample is free, the way to a configuration that is known to be free leads to one.
    """
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
    return None if known_free is None else _nearer(model, group, cfg, known_free)


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
    more = f" (and {len(clashes) - NAMED} more pairs)" if len(clashes) > NAMED else ""
    return "; ".join(clash.refused(buffer) for clash in clashes[:NAMED]) + more


def _allow(model: CollisionModel, clashes: Sequence[Clash]) -> str:
    """What to do where the contact is meant; pairs that are allowed already are kept."""
    world = () if model.world is None else model.world.names
    obstacles = [*sorted(model.allow), *(clash.pair for clash in clashes if clash.b in world)]
    links = [clash.pair for clash in clashes if clash.b not in world]
    texts = [f"model.with_world(model.world, allow={obstacles!r})"] if len(links) < len(clashes) else []
    texts += [f"PairOptions(ignore={links!r}), see `model.explain`"] if links else []
    return f"If they are meant to touch: {', and '.join(texts)}"


def _stopped_by(blockers: Sequence[tuple[tuple[str, str], int]]) -> str:
    total = sum(count for _, count in blockers)
    if not total:
        return ""
    named = ", ".join(
        f"{a} against {b} ({100.0 * count / total:.0f} %)" for (a, b), count in list(blockers)[:NAMED]
    )
    return f"extensions were most often refused by {named}; "
