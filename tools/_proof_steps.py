"""Steps of proofs one by one, with the kernels that the library proves with: what `picture_concepts` draws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import elbowroom as er
from elbowroom._numba.collision import _kernels_segment as segment_kernels
from elbowroom._numba.pairs import _kernels as pair_kernels
from elbowroom._numba.robot import chain_poses, chord_of
from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.mesh import TriangleMesh, distance
from elbowroom.pairs import _chain
from elbowroom.spheres import _kernels_proof as proof_kernels


def cells(
    triangle: np.ndarray, centers: np.ndarray, radii: np.ndarray
) -> tuple[list[tuple[int, np.ndarray]], float]:
    """The pieces of a triangle in the cells of balls, each with its ball, and the largest gap at any corner."""
    n = len(radii)
    close, near = np.arange(n), np.empty(n, np.int64)
    n_near = proof_kernels._touching(triangle, centers, radii, close, n, near)
    middle = triangle.mean(axis=0)
    local = centers - middle
    weights = (local**2).sum(axis=1) - radii**2
    reach = np.linalg.norm(local, axis=1) + radii
    scale = max(np.linalg.norm(triangle - middle, axis=1).max(), reach[near[:n_near]].max())
    found, worst = [], -np.inf
    for ball in near[:n_near]:
        poly, work = (
            np.zeros((proof_kernels.MAX_CORNERS + 4, 3)),
            np.zeros((proof_kernels.MAX_CORNERS + 4, 3)),
        )
        poly[:3] = triangle - middle
        corners = proof_kernels._cell(ball, near, n_near, local, weights, scale, poly, 3, work)
        if corners >= 3:
            piece = poly[:corners] + middle
            found.append((int(ball), piece))
            worst = max(worst, (np.linalg.norm(piece - centers[ball], axis=1) - radii[ball]).max())
    return found, worst


class PairProof:
    """A pair of links whose bounds can be asked box by box."""

    def __init__(self, model: er.CollisionModel, a: str, b: str) -> None:
        robot, spheres = model.robot, model.spheres
        link_idx = np.array(
            [robot.link_index(name) for name in np.array(spheres.link_names)[spheres.link_idx]]
        )
        chains = _chain.PairChains(robot.tree, spheres.centers, spheres.radii, link_idx)
        self.chain = chains.between(robot.link_index(a), robot.link_index(b))
        self.joints = self.chain.joints
        m = len(self.joints.kind)
        self.order = np.array([self.joints.n_a - 1 - k if k < self.joints.n_a else k for k in range(m)])
        self.pose, self.ends, self.parts = np.empty((m, 3, 4)), np.empty((2, 3, 4)), np.zeros(m)
        self.at = [np.empty((len(balls), 3)) for balls in (self.chain.balls_a, self.chain.balls_b)]
        self.moves = [np.empty(len(balls)) for balls in (self.chain.balls_a, self.chain.balls_b)]

    def bound(self, centre: np.ndarray, half: np.ndarray, pad: float) -> tuple[float, float, np.ndarray]:
        """Lower bound of the padded clearance in a box, the clearance at its centre, and each joint's share."""
        chain, joints = self.chain, self.joints
        widths = joints.slope * half[joints.var]
        chord = np.array([chord_of(k, w) for k, w in zip(joints.kind, widths, strict=True)])
        chain_poses(centre, *joints.motion, self.pose, *self.ends)
        low, middle, i, j = pair_kernels.box_bounds(
            pad, chain.side, joints.kind, self.pose, chord, self.order, self.parts, self.ends[0], chain.balls_a,
            chain.spans_a, self.at[0], self.moves[0], self.ends[1], chain.balls_b, chain.spans_b, self.at[1],
            self.moves[1],
        )  # fmt: skip
        parts, m = np.zeros(len(chord)), len(chord)
        arrays = joints.kind, self.pose, chord, self.order
        pair_kernels.movement(*arrays, 0, chain.side, 1, *self.at[0][i], 0.0, parts)
        pair_kernels.movement(*arrays, m - 1, chain.side - 1, -1, *self.at[1][j], 0.0, parts)
        return low, middle, np.bincount(joints.var, parts, len(half))

    def clearance(self, cfg: np.ndarray) -> float:
        """Distance of the spheres at one configuration of the joints between the links."""
        return float(self.chain.core.clearances(np.atleast_2d(cfg))[0])

    def boxes(self, pad: float) -> list[tuple[np.ndarray, np.ndarray, float]]:
        """The boxes of the proof, as `prove` halves them: centre, half-widths, lower bound."""
        lower, upper = self.joints.lower, self.joints.upper
        waiting, done = [(0.5 * (lower + upper), 0.5 * (upper - lower))], []
        while waiting:
            centre, half = waiting.pop()
            low, middle, shares = self.bound(centre, half, pad)
            assert middle > 0.0, "the pair meets"
            if low > pair_kernels.SLACK:
                done.append((centre, half, low))
                continue
            v = int(np.argmax(shares))
            half = np.where(np.arange(len(half)) == v, 0.5 * half, half)
            step = np.where(np.arange(len(half)) == v, half, 0.0)
            waiting += [(centre - step, half), (centre + step, half)]
        return done


def pieces_of(
    proof: PairProof,
    meshes: list[TriangleMesh],
    poses: Callable[[float], np.ndarray],
    begin: np.ndarray,
    end: np.ndarray,
) -> list[tuple[float, float, float, bool]]:
    """The pieces of a segment's proof for one pair, as `prove_pair` halves them: middle, half, bound, by meshes."""
    chain, joints = proof.chain, proof.joints
    rows = begin[joints.cfg_idx], end[joints.cfg_idx]
    waiting, done = [(0.5, 0.5)], []
    while waiting:
        t, half = waiting.pop()
        centre, width = rows[0] + t * (rows[1] - rows[0]), half * np.abs(rows[1] - rows[0])
        low, middle, _ = proof.bound(centre, width, 0.0)
        if low > pair_kernels.SLACK:
            done.append((t, half, low, False))
            continue
        if middle <= 0.0 or half < 0.5**segment_kernels.MESH_DEPTH:
            chord = np.array([chord_of(k, w) for k, w in zip(joints.kind, width[joints.var], strict=True)])
            arrays = joints.kind, proof.pose, chord, proof.order
            ways = (0, chain.side, 1), (len(chord) - 1, chain.side - 1, -1)
            balls = (chain.balls_a, len(chain.spans_a)), (chain.balls_b, len(chain.spans_b))
            move = sum(
                segment_kernels._farthest(*balls[k], proof.at[k], *arrays, *ways[k], proof.parts)
                for k in range(2)
            )
            gap = distance(meshes[0], poses(t)[0], meshes[1], poses(t)[1]).distance
            assert gap > 0.0, "the pair touches"
            low = min(gap, move + segment_kernels.ENOUGH) - move
            if low > pair_kernels.SLACK:
                done.append((t, half, low, True))
                continue
        waiting += [(t + 0.5 * half, 0.5 * half), (t - 0.5 * half, 0.5 * half)]
    return sorted(done)


def posed(mesh: TriangleMesh, pose: np.ndarray) -> np.ndarray:
    """Vertices of a mesh at a pose (7,) wxyz_xyz."""
    T = matrix_from_wxyz_xyz(pose)
    return mesh.vertices @ T[:3, :3].T + T[:3, 3]


def section(mesh: TriangleMesh, pose: np.ndarray, origin: np.ndarray, axes3: np.ndarray) -> np.ndarray:
    """(n, 2, 2) where the triangles of a posed mesh meet a plane through a point; millimetres in the plane."""
    local = (posed(mesh, pose)[mesh.faces] - origin) @ axes3.T
    lines = []
    for triangle in local:
        ends = []
        for k in range(3):
            p, q = triangle[k], triangle[(k + 1) % 3]
            if (p[2] > 0) != (q[2] > 0):
                ends.append((p + p[2] / (p[2] - q[2]) * (q - p))[:2])
        if len(ends) == 2:
            lines.append(ends)
    return 1000.0 * np.array(lines)
