"""Rigid bodies of a tree, the laws of its coupled joints, and the chains of joints between two links.

Links joined by fixed joints form one body. Every joint axis is turned to z, so code that moves bodies knows one kind of
rotation. A coupled joint follows an actuated one through a polynomial, however many joints are between them.

A `Chain` is the joints between two links, as arrays that any worker can be sent. How two links move relative to each
other depends only on the joints on the path between them. The compiled core places the chain and bounds how far its
points move; proofs that a pair never meets and proofs along a path both rest on that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from .. import _core
from .._frozen import Frozen
from .._poses import matrix_from_wxyz_xyz
from ..typing import Matrix4
from ._tree import KinematicTree


@dataclass(frozen=True)
class Bodies:
    """Rigid groups of frames, each moved by one joint whose axis is z; body 0 is the root and stays."""

    parent: list[int]
    kind: list[int]
    """1 for a turning joint, 2 for a sliding one, as in `KinematicTree.kind`; 0 for the root."""
    q_idx: list[int]
    """Entry of `q_full` that moves the body; -1 for the root."""
    T_parent_body: list[Matrix4]
    """Pose of the body in its parent at q = 0."""
    of_frame: list[int]
    """Body of every frame of the tree."""
    T_body_frame: list[Matrix4]

    def balls(
        self, frame: int, centers: Float[np.ndarray, "n 3"], radii: Float[np.ndarray, "n"]
    ) -> Float[np.ndarray, "n 4"]:
        """Spheres given in a frame as balls (x, y, z, radius) in the frame of its body."""
        T = self.T_body_frame[frame]
        return np.column_stack([centers @ T[:3, :3].T + T[:3, 3], radii])

    def ancestors(self, body: int) -> list[int]:
        """A body and all that carry it, root last."""
        found = [body]
        while body > 0:
            body = self.parent[body]
            found.append(body)
        return found


def find_bodies(tree: KinematicTree) -> Bodies:
    """Merges fixed frames into the bodies that carry them."""
    poses = matrix_from_wxyz_xyz(np.concatenate([tree.quat_cos, tree.shift], axis=1))
    bodies = Bodies([-1], [0], [-1], [np.eye(4)], [], [])
    for frame, up in enumerate(tree.parent.tolist()):
        if up < 0:
            bodies.of_frame.append(0)
            bodies.T_body_frame.append(np.eye(4))
            continue
        T_body_frame = bodies.T_body_frame[up] @ poses[frame]
        if tree.kind[frame] == 0:
            bodies.of_frame.append(bodies.of_frame[up])
            bodies.T_body_frame.append(T_body_frame)
            continue
        turn = np.eye(4)
        turn[:3, :3] = _rotation_to_z(tree.axis[frame])
        bodies.parent.append(bodies.of_frame[up])
        bodies.kind.append(int(tree.kind[frame]))
        bodies.q_idx.append(int(tree.q_idx[frame]))
        bodies.T_parent_body.append(T_body_frame @ turn)
        bodies.of_frame.append(len(bodies.parent) - 1)
        bodies.T_body_frame.append(turn.T)
    return bodies


def coupling_law(tree: KinematicTree, i: int) -> tuple[int, list[float]]:
    """What moves joint i of `q_full` in the end: an actuated joint (place in a cfg) and a polynomial of it.

    Coefficients are from the constant term up; an actuated joint follows itself by [0, 1].
    """
    law = np.array([0.0, 1.0])
    while tree.is_coupled[i]:
        inner = tree.polycoef[i]
        if len(law) > 2:
            law = np.polynomial.Polynomial(law)(np.polynomial.Polynomial(inner)).coef
        else:  # a law of degree one, without the rounding of a general substitution
            law = np.concatenate([[law[0] + law[1] * inner[0]], law[1] * inner[1:]])
        i = int(tree.driver[i])
    return int(tree.driver[i]), np.trim_zeros(law, "b").tolist() or [0.0]


def _rotation_to_z(axis: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3 3"]:
    """A rotation whose third column is the axis."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(np.eye(3)[int(np.abs(z).argmin())], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


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
