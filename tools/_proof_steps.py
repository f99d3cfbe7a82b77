"""Steps of proofs one by one, in plain numpy by the formulas of the core: what `picture_concepts` draws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import elbowroom as er
from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.mesh import TriangleMesh, distance
from elbowroom.pairs import _chain

SLACK = 1e-9
"""Metres that a bound must exceed: more than float64 rounds over a few metres."""
SHORT = 0.5**12
"""Half-width of a piece, as a fraction of the segment, below which meshes are checked too."""
ENOUGH = 0.01
"""Metres of clearance beyond the motion that are worth stating."""


def cells(
    triangle: np.ndarray, centers: np.ndarray, radii: np.ndarray
) -> tuple[list[tuple[int, np.ndarray]], float]:
    """The pieces of a triangle in the cells of balls, each with its ball, and the largest gap at any corner.

    A point belongs to the ball of smallest power, |x - c|^2 - r^2, so cells are cut by planes.
    """
    weights = (centers**2).sum(axis=1) - radii**2
    found, worst = [], -np.inf
    for ball in range(len(radii)):
        piece = triangle
        for other in range(len(radii)):
            if other != ball and len(piece):
                piece = _cut(piece, 2.0 * (centers[other] - centers[ball]), weights[other] - weights[ball])
        if len(piece) >= 3:
            found.append((ball, piece))
            worst = max(worst, (np.linalg.norm(piece - centers[ball], axis=1) - radii[ball]).max())
    return found, worst


def _cut(polygon: np.ndarray, normal: np.ndarray, offset: float) -> np.ndarray:
    """The part of a convex polygon (n, 3) where `normal . x <= offset`."""
    height = polygon @ normal - offset
    kept = []
    for k in range(len(polygon)):
        after = (k + 1) % len(polygon)
        if height[k] <= 0.0:
            kept.append(polygon[k])
        if (height[k] <= 0.0) != (height[after] <= 0.0):
            share = height[k] / (height[k] - height[after])
            kept.append(polygon[k] + share * (polygon[after] - polygon[k]))
    return np.array(kept).reshape(-1, 3)


class PairProof:
    """A pair of links whose bounds can be asked box by box; frames are those of the body where their branches meet."""

    def __init__(self, model: er.CollisionModel, a: str, b: str) -> None:
        robot, spheres = model.robot, model.spheres
        link_idx = np.array(
            [robot.link_index(name) for name in np.array(spheres.link_names)[spheres.link_idx]]
        )
        chains = _chain.PairChains(robot.tree, spheres.centers, spheres.radii, link_idx)
        self.chain = chains.between(robot.link_index(a), robot.link_index(b))
        self.joints = self.chain.joints
        n_a, m = self.joints.n_a, len(self.joints.kind)
        path = [*range(n_a - 1, -1, -1), *range(n_a, m)]  # from a to b
        self.moving = (
            path[: self.chain.side],
            path[: self.chain.side - 1 : -1] if self.chain.side else path[::-1],
        )
        """Joints that move link a, and link b, outermost first."""
        self.balls = (
            self.chain.balls_a[len(self.chain.spans_a) :],
            self.chain.balls_b[len(self.chain.spans_b) :],
        )

    def place(self, centre: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Poses (4, 4) of the joints, and centres (n, 3) of the spheres of either link."""
        joints, poses = self.joints, []
        for k in range(len(joints.kind)):
            value = np.polynomial.polynomial.polyval(centre[joints.var[k]], joints.poly[k])
            local, motion = np.eye(4), np.eye(4)
            local[:3] = joints.local[k]
            if joints.kind[k] == 1:
                c, s = np.cos(value), np.sin(value)
                motion[:2, :2] = [[c, -s], [s, c]]
            else:
                motion[2, 3] = value
            before = np.eye(4) if k in (0, joints.n_a) else poses[-1]
            poses.append(before @ local @ motion)
        ends = (
            poses[joints.n_a - 1] if joints.n_a else np.eye(4),
            poses[-1] if len(poses) > joints.n_a else np.eye(4),
        )
        return poses, [
            balls[:, :3] @ T[:3, :3].T + T[:3, 3] for balls, T in zip(self.balls, ends, strict=True)
        ]

    def motion(self, poses: list[np.ndarray], half: np.ndarray, points: np.ndarray, end: int) -> np.ndarray:
        """(n, joints) what each joint adds to the bound on how far points (n, 3) of a link move in a box."""
        shares, total = np.zeros((len(points), len(poses))), np.zeros(len(points))
        for k in self.moving[end]:
            width = self.joints.slope[k] * half[self.joints.var[k]]
            if self.joints.kind[k] == 1:
                apart = np.cross(points - poses[k][:3, 3], poses[k][:3, 2])
                reach = np.linalg.norm(apart, axis=1) + total
                shares[:, k] = 2.0 * np.sin(0.5 * min(width, np.pi)) * reach
            else:
                shares[:, k] = width
            total = total + shares[:, k]
        return shares

    def bound(self, centre: np.ndarray, half: np.ndarray, pad: float) -> tuple[float, float, np.ndarray]:
        """Lower bound of the padded clearance in a box, the clearance at its centre, and each variable's share."""
        poses, at = self.place(centre)
        shares = [self.motion(poses, half, at[end], end) for end in (0, 1)]
        gaps = np.linalg.norm(at[0][:, None] - at[1], axis=-1) - pad
        gaps -= self.balls[0][:, 3][:, None] + self.balls[1][:, 3]
        low = gaps - shares[0].sum(axis=1)[:, None] - shares[1].sum(axis=1)
        i, j = np.unravel_index(int(low.argmin()), low.shape)
        by_variable = np.bincount(self.joints.var, shares[0][i] + shares[1][j], len(half))
        return float(low.min()), float(gaps.min()), by_variable

    def farthest(self, centre: np.ndarray, half: np.ndarray) -> float:
        """How far the links together can move relative to each other in a box: all that their spheres contain."""
        poses, at = self.place(centre)
        total = 0.0
        for end in (0, 1):
            centers, radii = at[end], self.balls[end][:, 3]
            middle = centers.mean(axis=0)
            reach = (np.linalg.norm(centers - middle, axis=1) + radii).max()
            moved = 0.0
            for k in self.moving[end]:
                width = self.joints.slope[k] * half[self.joints.var[k]]
                if self.joints.kind[k] == 1:
                    off = np.linalg.norm(np.cross(middle - poses[k][:3, 3], poses[k][:3, 2]))
                    moved += 2.0 * np.sin(0.5 * min(width, np.pi)) * (off + reach + moved)
                else:
                    moved += width
            total += moved
        return total

    def clearance(self, cfg: np.ndarray) -> float:
        """Distance of the spheres at one configuration of the joints between the links."""
        return float(self.chain.core.clearances(np.atleast_2d(cfg))[0])

    def boxes(self, pad: float) -> list[tuple[np.ndarray, np.ndarray, float]]:
        """The boxes of the proof, as the core halves them: centre, half-widths, lower bound."""
        lower, upper = self.joints.lower, self.joints.upper
        waiting, done = [(0.5 * (lower + upper), 0.5 * (upper - lower))], []
        while waiting:
            centre, half = waiting.pop()
            low, middle, shares = self.bound(centre, half, pad)
            assert middle > 0.0, "the pair meets"
            if low > SLACK:
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
    """The pieces of a segment's proof for one pair: middle, half, bound, whether meshes proved it."""
    joints = proof.joints
    rows = begin[joints.cfg_idx], end[joints.cfg_idx]
    waiting, done = [(0.5, 0.5)], []
    while waiting:
        t, half = waiting.pop()
        centre, width = rows[0] + t * (rows[1] - rows[0]), half * np.abs(rows[1] - rows[0])
        low, middle, _ = proof.bound(centre, width, 0.0)
        if low > SLACK:
            done.append((t, half, low, False))
            continue
        if middle <= 0.0 or half < SHORT:
            move = proof.farthest(centre, width)
            gap = distance(meshes[0], poses(t)[0], meshes[1], poses(t)[1]).distance
            assert gap > 0.0, "the pair touches"
            low = min(gap, move + ENOUGH) - move
            if low > SLACK:
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
