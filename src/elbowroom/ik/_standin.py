"""Stand-in for the packed problem: plain numpy, slow; replaced by `_problem` and `_seeds`."""
# pyright: basic
from __future__ import annotations
from dataclasses import dataclass
import numpy as np
from .._poses import matrix_from_wxyz_xyz
from ._targets import *
from ._targets import AxisTarget, JointTarget, LookAt, PoseTarget, PositionTarget

KINDS = {PoseTarget: "pose", PositionTarget: "position", AxisTarget: "axis", LookAt: "look", JointTarget: "joint"}

def shape_of(targets):
    return tuple((KINDS[type(t)], t.joint if type(t) is JointTarget else t.link) for t in targets)

def moving(robot, name, kind):
    if kind == "joint":
        return {name}
    J = robot.jacobian(robot.random_cfgs(3, seed=1), name)
    return {robot.joint_names[k] for k in np.flatnonzero(np.abs(J).max(axis=(0, 1)) > 1e-9)}

def groups(robot, shape, joints):
    out = []
    for k, (kind, name) in enumerate(shape):
        used = moving(robot, name, kind) & set(joints)
        at = [k]
        rest = []
        for pos, js in out:
            if js & used:
                at, used = pos + at, used | js
            else:
                rest.append((pos, js))
        out = [*rest, (sorted(at), used)]
    out.sort(key=lambda g: g[0])
    return [(tuple(p), tuple(j for j in robot.joint_names if j in js)) for p, js in out]

@dataclass
class Lanes:
    cfgs: np.ndarray
    reached: np.ndarray
    position_error: np.ndarray
    orientation_error: np.ndarray
    iterations: np.ndarray

def rotvec(R):
    from scipy.spatial.transform import Rotation
    return Rotation.from_matrix(R).as_rotvec()

class Problem:
    @classmethod
    def of(cls, robot, shape, joints):
        self = cls()
        self.robot, self.shape, self.joints = robot, shape, tuple(joints)
        self.idx = np.array([robot.joint_names.index(j) for j in joints], dtype=int)
        return self

    def targets_row(self, targets):
        return list(targets)

    def _at(self, values, cfgs):
        n = len(cfgs)
        Ts = matrix_from_wxyz_xyz(self.robot.link_poses(cfgs))
        rows, jacs = [], []
        for t in values:
            if isinstance(t, JointTarget):
                k = self.robot.joint_names.index(t.joint)
                rows.append(t.weight * (t.value - cfgs[:, k:k + 1]))
                J = np.zeros((n, 1, self.robot.dof)); J[:, 0, k] = -t.weight
                jacs.append(J); continue
            T = Ts[:, self.robot.link_index(t.link)]
            J = self.robot.jacobian(cfgs, t.link)
            Jv, Jw = J[:, :3], J[:, 3:]
            R, p = T[:, :3, :3], T[:, :3, 3]
            if isinstance(t, PoseTarget):
                G = matrix_from_wxyz_xyz(t.pose)
                rows.append(t.position_weight * (G[:3, 3] - p)); jacs.append(-t.position_weight * Jv)
                rows.append(t.orientation_weight * rotvec(G[:3, :3] @ np.swapaxes(R, 1, 2)))
                jacs.append(-t.orientation_weight * Jw)
            elif isinstance(t, PositionTarget):
                a = R @ t.point
                rows.append(t.position_weight * (t.position - a - p))
                jacs.append(-t.position_weight * (Jv + np.cross(Jw, a[:, :, None], axis=1)))
            else:
                a = R @ t.axis
                if isinstance(t, AxisTarget):
                    d = np.broadcast_to(t.direction, a.shape)
                else:
                    d = t.point - p; d = d / np.maximum(np.linalg.norm(d, axis=1, keepdims=True), 1e-12)
                c = np.cross(a, d); s = np.linalg.norm(c, axis=1, keepdims=True)
                ang = np.arctan2(s, (a * d).sum(1, keepdims=True))
                rows.append(t.orientation_weight * ang * c / np.maximum(s, 1e-12))
                jacs.append(-t.orientation_weight * Jw)
        return np.concatenate(rows, 1), np.concatenate(jacs, 1)

    def residuals(self, values, cfgs):
        return self._at(values, cfgs)[0]

    def jacobians(self, values, cfgs):
        return self._at(values, cfgs)[1]

    def errors(self, values, cfgs):
        r = self.residuals(values, cfgs)
        pos, ori = np.zeros((len(cfgs), len(values))), np.zeros((len(cfgs), len(values)))
        at = 0
        for k, t in enumerate(values):
            if isinstance(t, JointTarget):
                ori[:, k] = np.abs(r[:, at]) / t.weight; at += 1; continue
            if isinstance(t, (PoseTarget, PositionTarget)):
                pos[:, k] = np.linalg.norm(r[:, at:at + 3], axis=1) / t.position_weight; at += 3
            if not isinstance(t, PositionTarget):
                ori[:, k] = np.linalg.norm(r[:, at:at + 3], axis=1) / t.orientation_weight; at += 3
        return pos, ori

    def solve(self, values, starts, *, iterations, position_tolerance, orientation_tolerance, stop_at=0):
        q = np.array(starts)
        lo, hi = self.robot.lower, self.robot.upper
        q[:, self.idx] = np.clip(q[:, self.idx], lo[self.idx], hi[self.idx])
        lam = np.full(len(q), 1e-2)
        r, J = self._at(values, q)
        cost = (r * r).sum(1)
        for it in range(iterations):
            A = J[:, :, self.idx]
            H = A @ np.swapaxes(A, 1, 2) + lam[:, None, None] * np.eye(A.shape[1])
            dq = -np.einsum("nij,ni->nj", A, np.linalg.solve(H, r[:, :, None])[:, :, 0])
            trial = q.copy()
            trial[:, self.idx] = np.clip(q[:, self.idx] + np.clip(dq, -0.6, 0.6), lo[self.idx], hi[self.idx])
            r2, J2 = self._at(values, trial)
            c2 = (r2 * r2).sum(1)
            ok = c2 < cost
            q[ok], r[ok], J[ok], cost[ok] = trial[ok], r2[ok], J2[ok], c2[ok]
            lam = np.where(ok, np.maximum(lam * 0.2, 1e-9), np.minimum(lam * 4, 1e3))
        pos, ori = self.errors(values, q)
        reached = (pos.max(1) <= position_tolerance) & (ori.max(1) <= orientation_tolerance)
        return Lanes(q, reached, pos, ori, np.full(len(q), iterations))

class SeedTable:
    def __init__(self, model, problem, base, n, seed):
        robot = problem.robot
        rows = np.tile(base, (n, 1))
        rows[:, problem.idx] = np.random.default_rng(seed).uniform(robot.lower, robot.upper, (n, robot.dof))[:, problem.idx]
        if model is not None:
            ok = model.free(rows)
            rows = rows[ok] if ok.sum() >= 16 else rows
        self.rows, self.problem = rows, problem

    def nearest(self, values, k, seed_cfg=None):
        r = self.problem.residuals(values, self.rows)
        return self.rows[np.argsort((r * r).sum(1), kind="stable")[:k]]
