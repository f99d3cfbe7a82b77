"""Verdicts on pairs: a reason, the sentence that explains it, and the figures behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from .._text import number
from ..robot import Robot
from ..robot.doors import find_bodies
from ..typing import LinkPair
from ._evidence import PairReason
from ._options import PairOptions
from ._settle import Settled, SettleTask


@dataclass(frozen=True)
class Finding:
    """What becomes a `PairEvidence`."""

    reason: PairReason
    text: str
    """What follows "checked because" or "ignored because"."""
    facts: dict[str, Any]
    """Fields of the evidence."""


def mm(metres: float) -> str:
    """A length for a sentence."""
    return f"{1000 * metres:.1f} mm"


def upper_bound(hits: int, samples: int, confidence: float) -> float:
    """Upper confidence bound on a probability after `hits` of `samples` (Clopper and Pearson, one-sided)."""
    if hits >= samples:
        return 1.0
    from scipy.stats import beta

    return float(beta.ppf(confidence, hits + 1, samples - hits))


def meetings(hits: int, samples: int, depth: float | None) -> str:
    """How often and how deep meshes met in samples."""
    deep = "" if depth is None else f", up to {mm(depth)} deep in those measured"
    return f"its meshes collide in {hits} of {samples} samples{deep}"


def why_adjacent(robot: Robot, pair: LinkPair) -> str:
    """What holds two adjacent links together."""
    links = set(pair)
    for joint in robot.tree.joints:
        if {joint.parent, joint.child} == links:
            return f"joint {joint.name} joins them"
    bodies = find_bodies(robot.tree)
    a, b = (bodies.of_frame[int(robot.tree.link_frame[robot.link_index(name)])] for name in pair)
    if a == b:
        return "fixed joints hold them together"
    return "one joint and links without geometry are between them"


def touching(
    label: str,
    cfg: Float[np.ndarray, "dof"],
    hits: int,
    samples: int,
    depth: float | None,
    sampled_depth: float | None,
) -> Finding:
    """Meshes that touch at a default pose; `hits` of `samples` elsewhere. A depth is None when it is not measured."""
    deep = "" if depth is None else f", {mm(depth)} deep"
    text = f"its meshes touch at the pose {label!r}{deep}; elsewhere "
    text += meetings(hits, samples, sampled_depth)
    facts = {
        "clearance": None if depth is None else -depth,
        "witness": tuple(cfg.tolist()),
        "mesh_depth": sampled_depth,
    }
    return Finding(PairReason.DEFAULT, text, facts)


def always(count: int, options: PairOptions, what: str, depth: float | None) -> Finding:
    """Meshes, or spheres where there are none, that overlapped in (nearly) every sample."""
    bound = upper_bound(options.samples - count, options.samples, options.confidence)
    deep = "" if depth is None else f", up to {mm(depth)} deep in those measured"
    text = (
        f"its {what} overlapped in {count} of {options.samples} samples{deep}; a random configuration is free with "
        f"probability below {number(bound, 2)} ({options.confidence:.0%})"
    )
    facts = {"samples": options.samples, "hits": count, "bound": bound, "seed": options.seed}
    return Finding(PairReason.ALWAYS, text, {**facts, "mesh_depth": depth})


def came_near(count: int, pad: float, options: PairOptions) -> Finding:
    """Spheres that came closer than the padding in some samples."""
    text = f"it came within {1000 * pad:.0f} mm in {count} of {options.samples} samples"
    bound = upper_bound(count, options.samples, options.confidence)
    facts = {"samples": options.samples, "hits": count, "bound": bound, "seed": options.seed}
    return Finding(PairReason.CHECKED, text, facts)


def settled(found: Settled, task: SettleTask, cfg: Float[np.ndarray, "dof"], options: PairOptions) -> Finding:
    """A pair that no sample brought together, after proof and search; `cfg` completes a witness."""
    bound = upper_bound(0, options.samples, options.confidence)
    facts: dict[str, Any] = {
        "samples": options.samples,
        "seed": options.seed,
        "clearance": found.clearance,
        "boxes": found.boxes,
        "seconds": found.seconds,
    }
    if found.proved:
        text = (
            f"it is proved: at least {mm(found.clearance)} apart in the whole range of the "
            f"{len(task.chain.joints.lower)} joints between them ({found.boxes} boxes)"
        )
        return Finding(PairReason.NEVER_PROVED, text, {**facts, "bound": 0.0})
    if found.meets:
        witness = np.array(cfg)
        witness[task.chain.joints.cfg_idx] = found.cfg
        text = (
            f"a {found.how} found a configuration within {mm(found.clearance)}, which {options.samples} samples "
            "had not"
        )
        return Finding(
            PairReason.CHECKED, text, {**facts, "bound": bound, "witness": tuple(witness.tolist())}
        )
    text = (
        f"{options.samples} samples and a local search never brought it within {1000 * task.pad:.0f} mm (closest "
        f"{mm(found.clearance)}); a random configuration meets with probability below {number(bound, 2)} "
        f"({options.confidence:.0%}); no proof within {found.boxes} boxes"
    )
    return Finding(PairReason.NEVER_SAMPLED, text, {**facts, "bound": bound})
