"""First trajectories of `Stomp`: as the options say, then through configurations that lead away from both ends.

Ends are often in narrow places, which noise that leaves the ends where they are hardly explores. So a start after the
first withdraws from both ends along straight lines that are free, and passes a free configuration in between. Looks at
some thousand configurations cost no more than a few iterations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from ... import _core

if TYPE_CHECKING:
    from ._stomp import Stomp

DRAWS = 256
"""Configurations around an end, and in the whole range, among which the best are taken."""
NEAREST, FARTHEST = 0.02, 0.3
"""How far around an end they are drawn, as a part of each joint's range: any size between these is as likely."""
STEPS = 12
"""Configurations that are checked on the line from an end."""
WAYS_OUT = 8
"""Of each end."""
CANDIDATES = 128
"""Trajectories from which the one that costs least is taken."""
KEPT = 0.75
"""How likely a candidate takes a way out of an end, and passes a configuration in between."""


def straight(stomp: Stomp) -> Float[np.ndarray, "t m"]:
    """The first trajectory of the moving joints: as `StompOptions.initial` says."""
    start, goal = stomp.group.parts(stomp.start), stomp.group.parts(stomp.goal)
    return first_path(stomp.options.initial, start, goal, stomp.options.timesteps)


def through_vias(stomp: Stomp) -> Iterator[Float[np.ndarray, "t m"]]:
    """Further ones, one after the other without end, drawn by the options' seed."""
    options, group = stomp.options, stomp.group
    start, goal = group.parts(stomp.start), group.parts(stomp.goal)
    rng = np.random.default_rng([options.seed, 1])
    low, high = group.span(stomp.start, stomp.goal)
    while True:
        outs = [_ways_out(stomp, end, low, high, rng) for end in (start, goal)]
        drawn = rng.uniform(low, high, size=(DRAWS, len(low)))
        free = drawn[~stomp.collides(group.whole(drawn))]
        between = free if len(free) else drawn
        paths: list[Float[np.ndarray, "t m"]] = []
        lengths: list[float] = []
        for _ in range(CANDIDATES):
            vias = [ways[rng.integers(len(ways))] for ways in (outs[0], between, outs[1])]
            rows = np.stack([start, *(via for via in vias if rng.random() < KEPT), goal])
            lengths.append(float(np.linalg.norm(np.diff(rows, axis=0), axis=1).sum()))
            paths.append(resampled(rows, options.timesteps))
        tried = np.stack(paths)
        costs = (
            stomp.cost(group.whole(tried)).sum(axis=1) * lengths
        )  # a long one has fewer timesteps in what it crosses
        yield tried[int(costs.argmin())]


def _ways_out(
    stomp: Stomp,
    end: Float[np.ndarray, "m"],
    low: Float[np.ndarray, "m"],
    high: Float[np.ndarray, "m"],
    rng: np.random.Generator,
) -> Float[np.ndarray, "ways m"]:
    """Configurations around an end to which straight lines lead with the fewest collisions, then the farthest."""
    size = np.exp(rng.uniform(np.log(NEAREST), np.log(FARTHEST), size=(DRAWS, 1)))
    drawn = np.clip(end + size * (high - low) * rng.normal(size=(DRAWS, len(end))), low, high)
    along = np.linspace(0.0, 1.0, STEPS + 1)[1:, None]
    lines = end + along * (drawn - end)[:, None]
    collisions = (
        stomp.collides(stomp.group.whole(lines.reshape(-1, len(end)))).reshape(DRAWS, STEPS).sum(axis=1)
    )
    far = np.linalg.norm((drawn - end) / (high - low), axis=1)
    return drawn[np.lexsort((-far, collisions))[:WAYS_OUT]]


def first_path(
    kind: str, start: Float[np.ndarray, "m"], goal: Float[np.ndarray, "m"], timesteps: int
) -> Float[np.ndarray, "t m"]:
    """A trajectory between two configurations.

    Args:
        kind: "linear" at constant speed; "cubic" from rest to rest; "minimum-control": the least sum of squared
            accelerations from rest to rest, the discrete counterpart of the cubic.
        start: the first configuration.
        goal: the last.
        timesteps: of the trajectory.
    """
    along = np.linspace(0.0, 1.0, timesteps)
    if kind == "cubic":
        along = along * along * (3.0 - 2.0 * along)
    elif kind == "minimum-control":
        n = timesteps - 2
        differences = np.zeros(
            (timesteps, n)
        )  # second differences at all timesteps, at rest before and after
        rows = np.arange(n)
        differences[rows, rows] = differences[rows + 2, rows] = 1.0
        differences[rows + 1, rows] = -2.0
        fixed = np.zeros(timesteps)  # those that the goal alone causes
        fixed[-2], fixed[-1] = 1.0, -1.0
        along[1:-1] = np.linalg.lstsq(differences, -fixed, rcond=None)[0]
    path = start + along[:, None] * (goal - start)
    path[-1] = goal  # exactly
    return path


def resampled(path: Float[np.ndarray, "w m"], timesteps: int) -> Float[np.ndarray, "t m"]:
    """A path of straight segments at so many timesteps, equally far apart along it."""
    return _core.resampled(path, timesteps)
