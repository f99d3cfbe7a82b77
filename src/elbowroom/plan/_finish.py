"""From a first path to the motion that is returned: shorter, rounded, timed, and proved as it is returned.

Every stage is taken only where it can be proved. Where the proof of what it makes fails, the stage before counts, down
to the path that was found; a good path is never lost to its improvement.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from ..collision import CollisionModel
from ._curve import Curve
from ._first import Found, Question, shorter
from ._limits import limits_of
from ._motion import Motion
from ._path_proof import PathProof
from ._piece_proofs import Evidence
from ._prove import prove_path, prove_rest
from ._roughness import roughness
from ._smooth import smoothed
from ._timing import time_curve

FINER = (1.0, 4.0, 16.0)
"""Factors of the rate that are tried: straight lines between rows that are closer together leave the curve by less."""


@dataclass(frozen=True, eq=False)
class Finished:
    """The motion that is returned."""

    path: Float[np.ndarray, "n dof"]
    times: Float[np.ndarray, "n"] | None
    waypoints: Float[np.ndarray, "w dof"]
    curve: Curve
    motion: Any
    proof: PathProof
    notes: tuple[str, ...]


def finished(question: Question, found: Found) -> Finished | None:
    """What is made of a first path, as far as it can be proved and time allows; None where nothing can be proved.

    Args:
        question: what was asked.
        found: a path whose edges are proved. Corners of one by STOMP are not cut: it was chosen by its costs.
    """
    first = found.path
    shortcuts = 0 if found.method == "stomp" else question.options.shortcuts
    blamed: list[str] = []
    for what, waypoints, curve, evidence in _candidates(question, first, shortcuts, found.method == "seed"):
        made = (_timed if question.options.timed else _plain)(question, waypoints, curve, evidence)
        if made is not None and (question.kept is None or question.kept.on_path(made.path)):
            return replace(made, notes=(*blamed, *made.notes))
        why = "could not be proved free as a whole" if made is None else "does not keep what is asked of it"
        blamed.append(f"{what} {why} and was left out")
    if question.options.timed:  # better without speeds than not at all
        made = _plain(question, first, Curve.polyline(first), None)
        if made is not None:
            return replace(made, notes=(*blamed, "speeds were left out: the path is given as waypoints"))
    return None


def _candidates(
    question: Question, first: Float[np.ndarray, "w dof"], shortcuts: int, given: bool
) -> Iterator[tuple[str, Float[np.ndarray, "w dof"], Curve, Evidence | None]]:
    """What may be returned, the best first, and what is proved of it already.

    Later ones are only made where those before fail. A path that was given is never made rougher: shorter corners
    may be sharper ones.
    """
    options, watch = question.options, question.watch
    short = first
    most = roughness(first) if given else np.inf
    if shortcuts and len(first) > 2 and not watch.over():
        watch.tell("shorten")
        short = shorter(question, first, shortcuts)
    watch.lap("shorten")
    for guide in (short,) if short is first or not given else (short, first):
        if options.smooth and len(guide) > 2 and not watch.over():
            watch.tell("smooth")
            curve, evidence = smoothed(question.model, question.group, guide)
            watch.lap("smooth")
            if not given or roughness(curve) <= most:
                yield "the rounded path", guide, curve, evidence
    # Edges are proved one by one already: where neither curve nor speeds are wanted, that is the proof. It knows of no
    # more clearance than was asked for.
    quick = not (options.timed or options.smooth)
    if short is not first and (not given or roughness(short) <= most):
        yield "the shortened path", short, *_straight(question, short, quick)
    yield "the path as it was found", first, *_straight(question, first, quick)


def _straight(
    question: Question, path: Float[np.ndarray, "w dof"], proved: bool
) -> tuple[Curve, Evidence | None]:
    """A path as it is, and that its edges are proved."""
    curve = Curve.polyline(path)
    known = Evidence.of_edges(question.group, len(curve.pieces), question.model.buffer)
    return curve, known if proved else None


def _plain(
    question: Question, waypoints: Float[np.ndarray, "w dof"], curve: Curve, evidence: Evidence | None
) -> Finished | None:
    """The path without times: rows where its pieces meet; their chords are part of the curve's proof."""
    question.watch.tell("proof")
    proof = prove_rest(question.model, curve, np.zeros(question.model.robot.dof), evidence)
    question.watch.lap("proof")
    return Finished(curve.waypoints, None, waypoints, curve, None, proof, ()) if proof.free else None


def _timed(
    question: Question, waypoints: Float[np.ndarray, "w dof"], curve: Curve, evidence: Evidence | None
) -> Finished | None:
    """The path with times, proved as rows with straight lines between them."""
    options, watch, model = question.options, question.watch, question.model
    watch.tell("timing")
    limits = limits_of(model.robot, options)
    motion = time_curve(curve, *limits, joint_names=model.robot.joint_names)
    for finer in FINER:
        rate = options.rate * finer
        times, rows = motion.resampled(rate)
        rows = question.group.whole(question.group.parts(rows))  # held joints to the last bit
        watch.lap("timing")
        watch.tell("proof")
        proof = _proof(model, motion, rate, times, rows, evidence)
        watch.lap("proof")
        if proof.free:
            notes = (
                ()
                if finer == 1.0
                else (f"rows are {rate:g} a second: farther apart they could not be proved",)
            )
            return Finished(rows, times, waypoints, curve, motion, proof, notes)
    return None


def _proof(
    model: CollisionModel,
    motion: Motion,
    rate: float,
    times: Float[np.ndarray, "n"],
    rows: Float[np.ndarray, "n dof"],
    evidence: Evidence | None,
) -> PathProof:
    """Of the curve and the rows at once, or of the rows alone: where their distance from the curve is too much for a
    proof, and under limits of jerk, where it is not bound."""
    if motion.limits.jerk is None:
        proof = prove_rest(model, motion.curve, motion.chord_error(rate), evidence)
        if proof.free:
            return proof
    return prove_path(model, rows, times=times)
