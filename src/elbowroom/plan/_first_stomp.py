"""The first path by STOMP: to the nearest goal first, each with its share of the time that is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from ._first import Found, Question
from ._stomp import Stomp
from ._why import NoMotion


def by_stomp(
    question: Question, initial: Float[np.ndarray, "w dof"] | None, costs: Sequence[Any] | None
) -> Found | NoMotion:
    """A path that STOMP finds and that is proved, or why there is none.

    Args:
        question: what was asked.
        initial: path to begin with, from the start to one of the goals; None for `StompOptions.initial`.
        costs: what to keep low; None for STOMP's own.
    """
    options, watch, goals = question.options, question.watch, question.goals.cfgs
    settings = replace(options.stomp, seed=options.seed)
    order = np.abs(goals - question.start).max(axis=1).argsort(kind="stable").tolist()
    if initial is not None:
        order = [int(np.abs(goals - initial[-1]).max(axis=1).argmin())]
    history: list[Float[np.ndarray, "iterations"]] = []
    found = None

    def hook(_: int, cost: float, *rest: Any) -> None:
        watch.tell("stomp", cost=cost)

    for k, goal in enumerate(order):
        ended = watch.over()
        if ended:
            why = f"{'cancelled' if ended == 'cancelled' else 'time was up'} after {watch.searched():.3g} s of STOMP"
            return NoMotion(ended, why, cost_history=_joined(history))
        with watch.set_up():
            stomp = Stomp(
                question.model, question.start, goals[goal].copy(), question.group.joints, costs, settings
            )
            stomp.set_up()
        share = watch.left() / (len(order) - k)
        found = stomp.run(initial, hook=hook, cancel=watch.cancelled, timeout=share)
        history.append(found.cost_history)
        if found.success:
            return Found(found.path, "stomp", goal, 0, _joined(history), found.notes)
    assert found is not None
    return NoMotion(
        found.reason or "blocked",
        f"STOMP found no path that is proved free{_to(len(order))}: {found.why}",
        cost_history=_joined(history),
    )


def _to(goals: int) -> str:
    return "" if goals == 1 else f" to any of {goals} goals; of the last"


def _joined(history: Sequence[Float[np.ndarray, "iterations"]]) -> Float[np.ndarray, "iterations"]:
    return frozen(np.concatenate([np.zeros(0), *history]))
