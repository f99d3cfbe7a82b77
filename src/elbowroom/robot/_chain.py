"""The joints between two links, as arrays that can be sent to any worker.

How two links move relative to each other depends only on the joints on the path between them; coupled joints follow
their drivers through a polynomial, so the variables are actuated joints. The compiled core places the chain and bounds
how far its points move; proofs that a pair never meets and proofs along a path both rest on that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from .. import _core
from .._frozen import Frozen
from ..typing import Matrix4
from ._bodies import coupling_law, find_bodies
from ._tree import KinematicTree


@dataclass(frozen=True)
class Chain(Frozen):
    """The joints from the body where two links' branches meet down to link a, then down to link b."""

    lower: Float[np.ndarray, "vars"]
    upper: Float[np.ndarray, "vars"]
    """Limits of the actuated joints that move the pair."""
    cfg_idx: Int[np.ndarray, "vars"]
    """Their entries in a configuration."""
    n_a: int
    """Joints from the meeting body down to link a; they come first."""
    kind: Int[np.ndarray, "joints"]
    """1 turns about z, 2 slides along z."""
    local: Float[np.ndarray, "joints 3 4"]
    """Pose of each joint's body in the one before at zero; the first of either side in the meeting body."""
    poly: Float[np.ndarray, "joints terms"]
    """Joint value as a polynomial of its variable, constant term first."""
    var: Int[np.ndarray, "joints"]
    """Variable that each joint follows."""
    slope: Float[np.ndarray, "joints"]
    """Bound on the polynomial's derivative within the limits."""
    T_body_a: Matrix4
    T_body_b: Matrix4
    """Link frames in the bodies at the two ends, which is where `chain_poses` ends."""

    @cached_property
    def core(self) -> _core.Chain:
        """The same in the compiled core."""
        return _core.Chain(self.kind, self.local, self.poly, self.var, self.slope, self.n_a)

    def best_side(self, point_a: Float[np.ndarray, "3"], point_b: Float[np.ndarray, "3"]) -> int:
        """Number of joints on the path from a that should count as moving a; the others move b.

        Seen from a body in between, each end moves by the joints on its side; the body is chosen such that both
        move least, on average over the limits. Any choice is right, a good one makes proofs short.

        Args:
            point_a: a point that stands for link a, in the frame of its body.
            point_b: one that stands for link b.
        """
        return self.core.best_side(self.lower, self.upper, point_a, point_b)


class Chains:
    """Makes the chains of one tree; what pairs share is computed once."""

    def __init__(self, tree: KinematicTree) -> None:
        self._tree = tree
        self._laws = [coupling_law(tree, i) for i in range(len(tree.moving))]
        self.bodies = find_bodies(tree)
        """The rigid bodies of the tree."""

    def between(self, a: int, b: int) -> Chain:
        """The chain between the links at positions a and b of `tree.link_names`."""
        tree, bodies = self._tree, self.bodies
        frame_a, frame_b = (int(tree.link_frame[link]) for link in (a, b))
        up_a, up_b = (bodies.ancestors(bodies.of_frame[frame]) for frame in (frame_a, frame_b))
        shared = set(up_a) & set(up_b)
        chain_a, chain_b = ([body for body in up if body not in shared][::-1] for up in (up_a, up_b))
        joints = chain_a + chain_b
        drivers = [self._laws[bodies.q_idx[body]][0] for body in joints]
        variables = sorted(set(drivers))
        lower = np.array([tree.actuated[k].lower for k in variables], dtype=np.float64)
        upper = np.array([tree.actuated[k].upper for k in variables], dtype=np.float64)
        laws = [self._laws[bodies.q_idx[body]][1] for body in joints]
        poly = np.zeros((len(joints), max((len(law) for law in laws), default=1)))
        for row, law in zip(poly, laws, strict=True):
            row[: len(law)] = law
        var = np.array([variables.index(driver) for driver in drivers], dtype=np.int64)
        reach = np.maximum(np.abs(lower), np.abs(upper))
        slope = np.array(
            [
                sum(k * abs(c) * reach[v] ** (k - 1) for k, c in enumerate(law) if k)
                for law, v in zip(laws, var, strict=True)
            ]
        )
        return Chain(
            lower=lower,
            upper=upper,
            cfg_idx=np.array(variables, dtype=np.int64),
            n_a=len(chain_a),
            kind=np.array([bodies.kind[body] for body in joints], dtype=np.int64),
            local=np.array([bodies.T_parent_body[body][:3] for body in joints]).reshape(-1, 3, 4),
            poly=poly,
            var=var,
            slope=slope,
            T_body_a=bodies.T_body_frame[frame_a],
            T_body_b=bodies.T_body_frame[frame_b],
        )
