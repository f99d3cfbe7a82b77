"""Rigid bodies of a tree, and the laws of its coupled joints: what is left of a description when only motion counts.

Links joined by fixed joints form one body. Every joint axis is turned to z, so whoever moves bodies knows one kind of
rotation. A coupled joint follows an actuated one through a polynomial, however many joints are between them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

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

    def with_ancestors(self, wanted: Iterable[int]) -> list[int]:
        """The wanted bodies and all that carry them, ascending: carriers come first."""
        return sorted({0}.union(*(self.ancestors(body) for body in wanted)))


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
    """A law of degree one after another, without the rounding of a general substitution."""
    constant, rate = (*law.coef.tolist(), 0.0)[:2]
    return np.polynomial.Polynomial(np.concatenate([[constant + rate * inner[0]], rate * inner[1:]]))


def _rotation_to_z(axis: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3 3"]:
    """A rotation whose third column is the axis."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(np.eye(3)[int(np.abs(z).argmin())], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
