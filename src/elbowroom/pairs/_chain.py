"""The joints between two links, as arrays that can be sent to any worker.

A pair of links depends only on the joints on the path between them; coupled joints follow their drivers through
a polynomial, so the variables are actuated joints. Here the path is found, the couplings are resolved and the
spheres are grouped; the kernels in `_kernels.py` do the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from ..distance._model import Bodies, enclosing_ball, find_bodies, split_balls
from ..robot import KinematicTree


@dataclass(frozen=True)
class Chain:
    """Two links, the joints between them and their spheres."""

    lower: Float[np.ndarray, "vars"]
    upper: Float[np.ndarray, "vars"]
    """Limits of the actuated joints that move the pair."""
    cfg_idx: Int[np.ndarray, "vars"]
    """Their entries in a configuration."""
    n_a: int
    """Joints from the meeting body down to link a; they come first."""
    side: int
    """Joints on the path from a that count as moving a."""
    kind: Int[np.ndarray, "joints"]
    local: Float[np.ndarray, "joints 3 4"]
    poly: Float[np.ndarray, "joints terms"]
    """Joint value as a polynomial of its variable."""
    var: Int[np.ndarray, "joints"]
    slope: Float[np.ndarray, "joints"]
    """Bound on the polynomial's derivative within the limits."""
    balls_a: Float[np.ndarray, "balls 4"]
    spans_a: Int[np.ndarray, "groups 2"]
    balls_b: Float[np.ndarray, "balls 4"]
    spans_b: Int[np.ndarray, "groups 2"]
    """Groups, then spheres, in body frames; each group's first sphere and count."""

    @property
    def motion(self) -> tuple[Any, ...]:
        """Arguments of the kernels that describe the joints."""
        return self.n_a, self.kind, self.local, self.poly, self.var

    @property
    def balls(self) -> tuple[np.ndarray, ...]:
        """Arguments of the kernels that describe the spheres."""
        return self.balls_a, self.spans_a, self.balls_b, self.spans_b


class Chains:
    """Makes chains for the pairs of one robot; what pairs share is computed once."""

    def __init__(
        self,
        tree: KinematicTree,
        centers: Float[np.ndarray, "spheres 3"],
        radii: Float[np.ndarray, "spheres"],
        link_idx: Int[np.ndarray, "spheres"],
    ) -> None:
        self._tree = tree
        self._bodies: Bodies = find_bodies(tree)
        self._laws = [_law(tree, i) for i in range(len(tree.moving))]
        self._balls: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for link in np.unique(link_idx):
            mine = link_idx == link
            frame = int(tree.link_frame[link])
            self._balls[int(link)] = _grouped(self._bodies.balls(frame, centers[mine], radii[mine]))

    def make(self, a: int, b: int) -> Chain:
        """The chain between links at positions a and b."""
        tree, bodies = self._tree, self._bodies
        up_a, up_b = (self._ancestors(bodies.of_frame[int(tree.link_frame[link])]) for link in (a, b))
        shared = set(up_a) & set(up_b)
        chain_a = [body for body in up_a if body not in shared][::-1]
        chain_b = [body for body in up_b if body not in shared][::-1]
        joints = chain_a + chain_b
        drivers = [self._laws[bodies.q_idx[body]][0] for body in joints]
        variables = sorted(set(drivers))
        limits = [tree.actuated[k] for k in variables]
        lower = np.array([joint.lower for joint in limits], dtype=np.float64)
        upper = np.array([joint.upper for joint in limits], dtype=np.float64)
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
        chain = Chain(
            lower=lower,
            upper=upper,
            cfg_idx=np.array(variables, dtype=np.int64),
            n_a=len(chain_a),
            side=len(chain_a),
            kind=np.array([bodies.kind[body] for body in joints], dtype=np.int64),
            local=np.array([bodies.T_parent_body[body][:3] for body in joints]).reshape(-1, 3, 4),
            poly=poly,
            var=var,
            slope=slope,
            balls_a=self._balls[a][0],
            spans_a=self._balls[a][1],
            balls_b=self._balls[b][0],
            spans_b=self._balls[b][1],
        )
        return _with_best_side(chain)

    def _ancestors(self, body: int) -> list[int]:
        """A body and all that carry it, root last."""
        found = [body]
        while body > 0:
            body = self._bodies.parent[body]
            found.append(body)
        return found


def _law(tree: KinematicTree, i: int) -> tuple[int, list[float]]:
    """Actuated joint that joint i of `q_full` follows in the end, and the polynomial that it follows by."""
    law = np.polynomial.Polynomial([0.0, 1.0])
    while tree.is_coupled[i]:
        law = (
            law(np.polynomial.Polynomial(tree.polycoef[i]))
            if law.degree() > 1
            else _linear(law, tree.polycoef[i])
        )
        i = int(tree.driver[i])
    return int(tree.driver[i]), np.trim_zeros(law.coef, "b").tolist() or [0.0]


def _linear(law: np.polynomial.Polynomial, inner: np.ndarray) -> np.polynomial.Polynomial:
    constant, rate = (*law.coef.tolist(), 0.0)[:2]
    return np.polynomial.Polynomial(np.concatenate([[constant + rate * inner[0]], rate * inner[1:]]))


def _grouped(spheres: Float[np.ndarray, "n 4"]) -> tuple[np.ndarray, np.ndarray]:
    groups = split_balls(spheres)
    tops = [enclosing_ball(spheres[group]) for group in groups]
    starts = np.cumsum([len(groups), *(len(group) for group in groups)])[:-1]
    spans = np.column_stack([starts, [len(group) for group in groups]]).astype(np.int64)
    return np.concatenate([np.array(tops), spheres[np.concatenate(groups)]]), spans


def _with_best_side(chain: Chain) -> Chain:
    """Assigns each joint of the path to the link that it moves less, seen from a body in between."""
    from . import _kernels

    kernels: Any = _kernels
    m = len(chain.kind)
    path = np.array([chain.n_a - 1 - k if k < chain.n_a else k for k in range(m)], dtype=np.int64)
    pose, end_a, end_b = np.empty((m, 3, 4)), np.empty((3, 4)), np.empty((3, 4))
    cost = np.zeros(m + 1)
    span = np.where(np.isfinite(chain.upper - chain.lower), chain.upper - chain.lower, 1.0)
    for fraction in np.linspace(0.05, 0.95, 8):
        cfg = np.where(np.isfinite(chain.lower), chain.lower, -0.5) + fraction * span
        kernels.chain_poses(cfg, *chain.motion, pose, end_a, end_b)
        middle_a, middle_b = (
            end[:, :3] @ balls[: len(spans), :3].mean(axis=0) + end[:, 3]
            for end, balls, spans in (
                (end_a, chain.balls_a, chain.spans_a),
                (end_b, chain.balls_b, chain.spans_b),
            )
        )
        for points, taken in ((middle_a, np.tri(m + 1, m, -1)), (middle_b, 1.0 - np.tri(m + 1, m, -1))):
            arms = np.linalg.norm(np.cross(points - pose[:, :, 3], pose[:, :, 2]), axis=1)
            reach = np.where(chain.kind == 1, arms, 1.0) * chain.slope * span[chain.var]
            cost += taken @ reach[path]
    return replace(chain, side=int(cost.argmin()))
