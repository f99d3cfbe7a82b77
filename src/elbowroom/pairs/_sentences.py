"""Verdicts on pairs: a reason, the sentence that explains it, and the figures behind it.

For many pairs there are few lines: each reason once, with how many pairs it has and the first of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from .._text import at_least, counted, number
from ..robot import Robot
from ..robot.internal import find_bodies
from ..typing import LinkPair
from ._can_meet import MeshAnswer, MeshTask, SphereAnswer, SphereTask
from ._evidence import PairEvidence, PairReason
from ._options import PairOptions


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
    """Spheres that came closer than the padding in some samples, of links without meshes."""
    text = f"its spheres came within {1000 * pad:.0f} mm in {count} of {options.samples} samples"
    return Finding(PairReason.CHECKED, text, near_facts(count, options))


def near_facts(count: int, options: PairOptions) -> dict[str, Any]:
    """Figures of a pair whose spheres came closer than the padding in `count` samples."""
    bound = upper_bound(count, options.samples, options.confidence)
    return {"samples": options.samples, "hits": count, "bound": bound, "seed": options.seed}


def collided(hits: int, asked: int, witness: Float[np.ndarray, "dof"], facts: dict[str, Any]) -> Finding:
    """Meshes that collide in some of the samples in which they were asked; `witness` is one of them."""
    text = meetings(hits, asked, None)
    return Finding(PairReason.CHECKED, text, {**facts, "closest": 0.0, "witness": tuple(witness.tolist())})


def mesh_evidence(
    found: MeshAnswer, task: MeshTask, pad: float, cfg: Float[np.ndarray, "dof"], facts: dict[str, Any]
) -> Finding:
    """A pair whose meshes collided in no sample, after search and proof; `cfg` completes a witness."""
    witness = np.array(cfg)
    witness[task.chain.cfg_idx] = found.cfg
    facts = {**facts, "closest": found.closest, "boxes": found.boxes, "seconds": found.seconds}
    shown = {**facts, "witness": tuple(witness.tolist())}
    if found.closest == 0.0:
        text = "its meshes collide in a configuration that a search found; they did in no sample"
        return Finding(PairReason.CHECKED, text, shown)
    if found.proved is None:
        tried = f"no proof within {_boxes(found.boxes)} was found" if found.boxes else "no proof was tried"
        near = "it comes near" if found.closest <= pad else "its spheres come near"
        text = (
            f"{near} and nothing shows that it cannot collide: the closest configuration found leaves "
            f"{mm(found.closest)} between its meshes, and {tried}"
        )
        return Finding(PairReason.CHECKED, text, shown)
    near = found.closest <= pad
    text = (
        f"it is proved: its meshes stay at least {at_least(1e3 * found.proved, 1)} mm apart in the whole range of the "
        f"{counted(len(task.lower), 'joint')} between them ({_boxes(found.boxes)}); "
        + (f"they come within {mm(found.closest)}" if near else f"the closest found is {mm(found.closest)}")
    )
    facts = {**(shown if near else facts), "clearance": found.proved, "bound": 0.0}
    return Finding(PairReason.NEVER_PROVED, text, facts)


def _boxes(count: int) -> str:
    return f"{count} box" if count == 1 else f"{count} boxes"


def sphere_evidence(
    found: SphereAnswer, task: SphereTask, cfg: Float[np.ndarray, "dof"], options: PairOptions
) -> Finding:
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
            f"it is proved: at least {at_least(1e3 * found.clearance, 1)} mm apart in the whole range of the "
            f"{counted(len(task.chain.joints.lower), 'joint')} between them "
            f"({_boxes(found.boxes)})"
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


def contradicted(pair: LinkPair, found: PairEvidence, joints: Mapping[str, int]) -> str:
    """What is wrong with the reason that a file gives for a pair it disables, and how to check the pair.

    `joints` are those between the two links, with their places in a configuration.
    """
    a, b = pair
    deep = "" if found.mesh_depth is None else f", up to {mm(found.mesh_depth)} deep in those measured"
    said = "never collide" if (found.srdf_reason or "").lower() == "never" else "are adjacent"
    says = f"the {found.source} says that {a} and {b} {said}, but their meshes collide in"
    if found.mesh_hits == found.mesh_samples:
        return (
            f"{says} all of {found.mesh_samples} samples{deep}; the pair stays ignored: were it checked, none of these "
            "samples would be free"
        )
    return (
        f"{says} {found.mesh_hits} of {found.mesh_samples} samples{deep}, for example at {_witness(found, joints)}; "
        f"the pair stays ignored as the file says. {_how_to_check(pair)}"
    )


def disabled_and_meeting(pairs: Sequence[LinkPair], found: PairEvidence, joints: Mapping[str, int]) -> str:
    """The note on pairs that a file disables, without calling them never, and whose meshes collide in samples.

    Args:
        pairs: these pairs, the one to show first. found: its evidence. joints: as of `contradicted`, of this one.
    """
    stay = "it stays" if len(pairs) == 1 else "they stay"
    return (
        f"the description disables {counted(len(pairs), 'pair')} whose meshes collide in samples, for example "
        f"{' and '.join(pairs[0])} at {_witness(found, joints)}; {stay} ignored. {_how_to_check(pairs[0])}"
    )


def _witness(found: PairEvidence, joints: Mapping[str, int]) -> str:
    """Where a pair was seen to collide: values of the joints between its links."""
    assert found.witness is not None
    return (
        ", ".join(f"{name} {number(found.witness[k], 4)}" for name, k in joints.items())
        or "any configuration"
    )


def _how_to_check(pair: LinkPair) -> str:
    a, b = pair
    return f'To check {a} and {b}: PairOptions(check=[("{a}", "{b}")]), or --check {a} {b}'


LISTED = 6
"""Pairs of a reason that are named."""


def some_pairs(pairs: list[str], joint: str = ", ") -> str:
    """Texts of pairs one after the other; of many, the first and how many more there are.

    >>> some_pairs(["a and b", "b and c"])
    'a and b, b and c'
    """
    more = len(pairs) - LISTED
    rest = f"{joint}and {more} more {'pair' if more == 1 else 'pairs'}" if more > 0 else ""
    return joint.join(pairs[:LISTED]) + rest


def grouped_by_reason(entries: Mapping[LinkPair, PairEvidence]) -> dict[PairReason, str]:
    """For each reason in `entries` a line on its pairs: one with its sentence, or their number, why, and the first.

    Args:
        entries: the pairs to speak of, with their evidence.
    """
    groups: dict[PairReason, list[LinkPair]] = {}
    for pair, found in entries.items():
        groups.setdefault(found.reason, []).append(pair)
    return {reason: _line(pairs, entries) for reason, pairs in groups.items()}


def _line(pairs: list[LinkPair], entries: Mapping[LinkPair, PairEvidence]) -> str:
    names, texts = [" and ".join(pair) for pair in pairs], [entries[pair].text for pair in pairs]
    if len(pairs) == 1:
        return f"{names[0]}, {texts[0]}"
    why = texts[0] if len(set(texts)) == 1 else texts[0].split("; ")[0]  # what follows is of one pair
    if all(text.split("; ")[0] == why for text in texts) or len(set(texts)) == 1:
        return f"{len(pairs)} pairs, each {why}: {some_pairs(names)}"
    return f"{len(pairs)} pairs: {some_pairs([f'{names[0]} ({texts[0]})', *names[1:]])}"
