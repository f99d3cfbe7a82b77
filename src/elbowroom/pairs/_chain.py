"""The joints between two links and the links' spheres, as arrays that can be sent to any worker.

The joints come from `Chains`; here the spheres are grouped. The compiled core does the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from .. import _core
from .._frozen import Frozen
from ..distance.internal import enclosing_ball, split_balls
from ..robot.internal import Chain, Chains, KinematicTree


@dataclass(frozen=True)
class PairChain(Frozen):
    """Two links, the joints between them and their spheres."""

    joints: Chain
    side: int
    """Joints on the path from a that count as moving a."""
    balls_a: Float[np.ndarray, "balls 4"]
    spans_a: Int[np.ndarray, "groups 2"]
    balls_b: Float[np.ndarray, "balls 4"]
    spans_b: Int[np.ndarray, "groups 2"]
    """Groups, then spheres, in body frames; each group's first sphere and count."""

    @cached_property
    def core(self) -> _core.SpherePair:
        """The same in the compiled core."""
        return _core.SpherePair(
            self.joints.core, self.side, self.balls_a, self.spans_a, self.balls_b, self.spans_b
        )


class PairChains:
    """Makes chains for the pairs of one robot; what pairs share is computed once."""

    def __init__(
        self,
        tree: KinematicTree,
        centers: Float[np.ndarray, "spheres 3"],
        radii: Float[np.ndarray, "spheres"],
        link_idx: Int[np.ndarray, "spheres"],
    ) -> None:
        self._chains = Chains(tree)
        self._balls: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for link in np.unique(link_idx):
            mine = link_idx == link
            frame = int(tree.link_frame[link])
            self._balls[int(link)] = _grouped(self._chains.bodies.balls(frame, centers[mine], radii[mine]))

    def between(self, a: int, b: int) -> PairChain:
        """The chain between links at positions a and b."""
        joints = self._chains.between(a, b)
        (balls_a, spans_a), (balls_b, spans_b) = self._balls[a], self._balls[b]
        middles = (
            balls[: len(spans), :3].mean(axis=0) for balls, spans in ((balls_a, spans_a), (balls_b, spans_b))
        )
        return PairChain(joints, joints.best_side(*middles), balls_a, spans_a, balls_b, spans_b)


def _grouped(spheres: Float[np.ndarray, "n 4"]) -> tuple[np.ndarray, np.ndarray]:
    groups = split_balls(spheres)
    tops = [enclosing_ball(spheres[group]) for group in groups]
    starts = np.cumsum([len(groups), *(len(group) for group in groups)])[:-1]
    spans = np.column_stack([starts, [len(group) for group in groups]]).astype(np.int64)
    return np.concatenate([np.array(tops), spheres[np.concatenate(groups)]]), spans
