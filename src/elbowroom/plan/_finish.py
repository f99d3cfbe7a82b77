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

from .. import _core
from .._frozen import frozen
from ..collision import CollisionModel
from ._curve import Curve
from ._first_path import Found, Question, shorter
from ._limits import limits_of
from ._motion import Motion
from ._path_proof import PathProof
from ._prove import PieceEvidence, prove_path, prove_rest
from ._smooth import roughness, smoothed
from ._timing import motion_of

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
    most = roughness(first) if found.method == "seed" else np.inf
    blamed: list[str] = []
    for what, waypoints, smooth in _candidates(question, first, shortcuts, found.method == "seed"):
        made = (_timed if question.options.timed else _plain)(question, waypoints, smooth)
        if made is not None and most < np.inf and waypoints is not first and roughness(made.curve) > most:
            continue  # a path that was given is never made rougher: shorter corners may be sharper ones
        if made is not None and (question.kept is None or question.kept.on_path(made.path)):
            return replace(made, notes=(*blamed, *made.notes)) if blamed else made
        why = "could not be proved free as a whole" if made is None else "does not keep its constraints"
        blamed.append(f"{what} {why} and was left out")
    if question.options.timed:  # better without speeds than not at all
        made = _plain(question, first, False)
        if made is not None:
            return replace(made, notes=(*blamed, "speeds were left out: the path is given as waypoints"))
    return None


def _candidates(
    question: Question, first: Float[np.ndarray, "w dof"], shortcuts: int, given: bool
) -> Iterator[tuple[str, Float[np.ndarray, "w dof"], bool]]:
    """What may be returned, the best first: waypoints, and whether their corners are rounded.

    Later ones are only made where those before fail.
    """
    options, watch = question.options, question.watch
    short = first
    if shortcuts and len(first) > 2 and not watch.over():
        watch.tell("shorten")
        short = shorter(question, first, shortcuts)
    watch.lap("shorten")
    for guide in (short,) if short is first or not given else (short, first):
        if options.smooth and len(guide) > 2 and not watch.over():
            yield "the rounded path", guide, True
    if short is not first:
        yield "the shortened path", short, False
    yield "the path as it was found", first, False


def _plain(question: Question, waypoints: Float[np.ndarray, "w dof"], smooth: bool) -> Finished | None:
    """The path without times: rows where its pieces meet; their chords are part of the curve's proof."""
    watch, group, model = question.watch, question.group, question.model
    if smooth:
        watch.tell("smooth")
        curve, evidence = smoothed(model, group, waypoints)
        watch.lap("smooth")
    else:
        curve, evidence = Curve.polyline(waypoints), None
    watch.tell("proof")
    slack = frozen(np.zeros(model.robot.dof))
    if smooth or question.options.timed or question.options.smooth:
        proof = prove_rest(model, curve, slack, evidence)
    else:  # edges are proved one by one already: that is the proof, of no more clearance than was asked for
        proof = PathProof.of_free(model.buffer, slack, len(curve.pieces), 0.0)
    watch.lap("proof")
    return Finished(curve.waypoints, None, waypoints, curve, None, proof, ()) if proof.free else None


def _timed(question: Question, waypoints: Float[np.ndarray, "w dof"], smooth: bool) -> Finished | None:
    """The path with times, proved as rows with straight lines between them."""
    options, watch, model, group = question.options, question.watch, question.model, question.group
    if smooth:
        watch.tell("smooth")
    limits, scene = limits_of(model.robot, options), question.sampler.scene
    if not scene.decides(waypoints):  # waypoints that were given may be anywhere
        scene = model.scene_within(waypoints)
    shape, rounded, timed, (times, rows), (proved, slack, clearance, segments), took = _core.finish_path(
        scene, waypoints, group.moves, limits.rows, options.rate, smooth
    )
    pieces, knots, stops, spares, clearances = shape
    curve = Curve(pieces, knots, stops)
    motion = motion_of(curve, limits.limits, timed, model.robot.joint_names)
    watch.tell("timing")
    watch.tell("proof")
    watch.laps(("smooth", "timing", "proof"), took)
    if proved:
        proof = PathProof.of_free(clearance + model.buffer, frozen(slack), segments, took[2])
        return Finished(rows, times, waypoints, curve, motion, proof, ())
    evidence = PieceEvidence(group.moves, spares, clearances + model.buffer, len(spares)) if rounded else None
    for finer in FINER:
        rate = options.rate * finer
        times, rows = motion.resampled(rate)
        rows = group.whole(group.parts(rows))  # held joints to the last bit
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
    evidence: PieceEvidence | None,
) -> PathProof:
    """Of the curve and the rows at once, or of the rows alone: where their distance from the curve is too much for a
    proof, and under limits of jerk, where it is not bound."""
    if motion.limits.jerk is None:
        proof = prove_rest(model, motion.curve, motion.chord_error(rate), evidence)
        if proof.free:
            return proof
    return prove_path(model, rows, times=times)
