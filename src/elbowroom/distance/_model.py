"""The spheres of link pairs in the compiled core, and the joint values for which its error bound holds.

Bounding volumes of links and of groups of their spheres are balls around balls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from .. import _core
from .._brief import brief
from .._frozen import Frozen, freeze
from ..errors import InputError
from ..robot.internal import KinematicTree, coupling_law

MAX_ANGLE = 1e5
"""Largest angle, rad, for which the reduction of angles keeps its accuracy."""
MAX_SLIDE = 10.0
"""Travel, m, assumed for a prismatic joint without limits."""


@brief
@dataclass(frozen=True)
class PairSpheres(Frozen):
    """A robot's spheres and the link pairs to check: arrays, which can be sent to any worker."""

    tree: KinematicTree
    centers: Float[np.ndarray, "spheres 3"]
    """In link frames, metres."""
    radii: Float[np.ndarray, "spheres"]
    link_idx: Int[np.ndarray, "spheres"]
    """Links of the spheres, as positions in `tree.link_names`."""
    pairs: Int[np.ndarray, "pairs 2"]
    """Links to check against each other; each has spheres."""

    @staticmethod
    def of(
        tree: KinematicTree,
        centers: Float[np.ndarray, "spheres 3"],
        radii: Float[np.ndarray, "spheres"],
        link_idx: Int[np.ndarray, "spheres"],
        pairs: Sequence[tuple[int, int]],
    ) -> PairSpheres:
        """The same from a list of pairs."""
        table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        freeze(centers, radii, link_idx, table)
        return PairSpheres(tree, centers, radii, link_idx, table)

    @cached_property
    def core(self) -> _core.SelfCollision:
        """The same in the compiled core."""
        balls = np.column_stack([self.centers, self.radii])
        return _core.SelfCollision(
            self.tree.core, balls, self.link_idx, self.pairs, largest_values(self.tree)
        )

    @property
    def data(self) -> tuple[np.ndarray, ...]:
        """Arrays that decide every answer, for keys of caches."""
        tree = self.tree
        kinematics = (
            tree.parent,
            tree.kind,
            tree.quat_cos,
            tree.shift,
            tree.axis,
            tree.q_idx,
            tree.link_frame,
        )
        laws = (tree.driver, tree.is_coupled, tree.polycoef, largest_values(tree))
        return (*kinematics, *laws, self.centers, self.radii, self.link_idx, self.pairs)

    @property
    def margin(self) -> float:
        """Bound on the float32 error of a distance, m."""
        return self.core.margin


def largest_values(tree: KinematicTree) -> Float[np.ndarray, "moving"]:
    """Largest size of each joint value that the error bound covers: twice the limits for prismatic joints.

    A coupled joint goes where its driver sends it, whatever limits of its own the description gives.
    """
    sizes: list[float] = []
    for i, joint in enumerate(tree.moving):
        if joint.type == "prismatic":
            driver, law = coupling_law(tree, i)
            reach = max(abs(tree.actuated[driver].lower), abs(tree.actuated[driver].upper))
            largest = sum(abs(c) * reach**k for k, c in enumerate(law) if c)
            sizes.append(2.0 * largest if 0.0 < largest < np.inf else MAX_SLIDE)
        else:
            sizes.append(MAX_ANGLE)
    return np.array(sizes, dtype=np.float64)


def bad_row(name: str, rows: np.ndarray, start: int, count: int = 16) -> InputError:
    """Error for the first row refused, or a block of rows one of which was."""
    block = rows[start : start + count]
    if not np.isfinite(block).all():
        row = start + int(np.flatnonzero(~np.isfinite(block).all(axis=1))[0])
        return InputError(f"{name}: configuration {row} has NaN or infinite entries")
    last = start + len(block) - 1
    which = f"of configuration {start}" if last == start else f"among configurations {start} to {last}"
    return InputError(
        f"{name}: a joint value {which} is beyond 1e5 rad, or a slide beyond twice its limits, where rounding errors "
        "are no longer bounded"
    )


def enclosing_ball(balls: Float[np.ndarray, "n 4"]) -> Float[np.ndarray, "4"]:
    """A ball (x, y, z, radius) that holds all given balls; near the smallest (Badoiu and Clarkson's iteration)."""
    return _core.enclosing_ball(balls)


def split_balls(balls: Float[np.ndarray, "n 4"]) -> list[Int[np.ndarray, "members"]]:
    """Up to four groups of neighbouring balls, as index arrays: the widest group is halved until there are enough."""
    return [np.array(group, dtype=np.int64) for group in _core.group_balls(balls)]
