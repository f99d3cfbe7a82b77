"""Where links are to each other in sampled configurations, and whether their meshes are apart there.

The configurations are the default one and some drawn at random within the limits, seeded. Distances between meshes are
estimated from points of their surfaces: good enough to say where spheres are in the way, no proof of anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from .._poses import matrix_from_wxyz_xyz
from ..robot import Robot
from ..robot.internal import adjacent_pairs
from ..typing import LinkPair
from ._problem import surface_points
from ._shape import Float64, LinkShape

Fits = Mapping[str, tuple[Float64, Float64]]
"""Centres (n, 3) and radii (n,) by link, link frame, metres."""

LEAST_GAP = 2e-3
"""Meshes closer than this are left to meshes: it would take too many spheres to part them, metres."""
POSES = 96
"""Configurations besides the default one."""
POSE_GAP = 3e-3
"""Configurations count in which the meshes are at least this far apart, metres."""
GAP_SAMPLES = 3000
"""Surface samples, and vertices at most, that estimate the distance of two meshes."""
LOOKS, FEW_LOOKS = 12, 4
"""Most overlaps of a pair whose meshes are checked to tell how many of them are needless; no more than a few
where none of these is."""
RARE = 0.02
"""Needless overlaps in a smaller share of the configurations are chance."""
SLIGHT = 1e-3
"""Overlap that one sphere more may part, metres."""
STILL = 1e-6
"""Largest change of a pose's entries that counts as standing still: link poses are of single precision."""


class Meetings:
    """Links of a robot in sampled configurations; index 0 is the default one."""

    def __init__(self, robot: Robot, shapes: Mapping[str, LinkShape], seed: int) -> None:
        # continuous joints: any turn
        low, high = (np.where(np.isfinite(v), v, s * np.pi) for v, s in ((robot.lower, -1), (robot.upper, 1)))
        drawn = np.random.default_rng([seed, 67]).uniform(low, high, (POSES, robot.dof))
        poses = link_matrices(robot, np.concatenate([robot.default_cfg[None], drawn]))
        self._at = {name: poses[:, robot.link_names.index(name)] for name in shapes}
        self._shapes = shapes
        self._points: dict[str, Float64] = {}
        self._known: dict[LinkPair, Float64] = {}
        self.adjacent = adjacent_pairs(robot)
        """Pairs that touch by construction, names sorted."""

    @cached_property
    def still(self) -> frozenset[str]:
        """Links that no joint moves relative to the base."""
        return frozenset(name for name, at in self._at.items() if np.abs(at - at[0]).max() < STILL)

    def clearances(self, fits: Fits) -> tuple[list[str], Float64]:
        """Links with spheres, and how far their spheres are from each other, negative where they overlap.

        Args:
            fits: spheres by link.

        Returns:
            The names, and (poses, links, links) metres.
        """
        names = [name for name in self._at if name in fits and len(fits[name][1])]
        starts = np.cumsum([0, *(len(fits[name][1]) for name in names)])[:-1]
        radii = np.concatenate([fits[name][1] for name in names])
        out = np.empty((POSES + 1, len(names), len(names)))
        for k in range(POSES + 1):
            centers = np.concatenate(
                [fits[name][0] @ self._at[name][k, :3, :3].T + self._at[name][k, :3, 3] for name in names]
            )
            squares = (centers**2).sum(axis=1)
            apart = np.sqrt(np.maximum(squares[:, None] + squares - 2.0 * centers @ centers.T, 0.0))
            apart -= radii[:, None] + radii
            out[k] = np.minimum.reduceat(np.minimum.reduceat(apart, starts, axis=0), starts, axis=1)
        return names, out

    def needless_overlaps(self, fits: Fits) -> dict[LinkPair, float]:
        """How often spheres of a pair overlap while its meshes are apart, a share of the configurations, unless RARE.

        Each overlap counts by how near it is to being parted: fully where spheres just touch, a quarter where they
        overlap as deep as the meshes are apart, and less the deeper they do. Adjacent pairs are not counted. The
        default configuration does not count. Meshes are checked in LOOKS of the overlaps, spread evenly.
        """
        names, clearance = self.clearances(fits)
        out: dict[LinkPair, float] = {}
        for j, b in enumerate(names):
            for i, a in enumerate(names[:j]):
                overlaps = 1 + np.flatnonzero(clearance[1:, i, j] <= 0.0)
                if len(overlaps) < RARE * POSES or {(a, b), (b, a)} & self.adjacent:
                    continue
                looks = overlaps[np.unique(np.linspace(0, len(overlaps) - 1, LOOKS).astype(int))]
                if all(self.gap(a, b, int(k)) <= POSE_GAP for k in looks[:: max(len(looks) // FEW_LOOKS, 1)]):
                    continue  # meshes that touch whenever spheres do
                gaps = np.array([self.gap(a, b, int(k)) for k in looks])
                taken = np.maximum(gaps, POSE_GAP) - clearance[looks, i, j]  # by the spheres of both
                nearness = np.where(gaps > POSE_GAP, (gaps / taken) ** 2, 0.0)
                often = float(nearness.mean()) * len(overlaps) / POSES
                if often >= RARE:
                    out[a, b] = often
        return out

    def touching_at_rest(self, fits: Fits) -> set[LinkPair]:
        """Pairs whose spheres overlap by less than SLIGHT at the default configuration while their meshes are apart."""
        names, clearance = self.clearances(fits)
        return {
            (a, b)
            for j, b in enumerate(names)
            for i, a in enumerate(names[:j])
            if -SLIGHT < clearance[0, i, j] <= 0.0
            and not {(a, b), (b, a)} & self.adjacent
            and self.apart_at_rest(a, b)
        }

    def overlaps(
        self, a: str, fit_a: tuple[Float64, Float64], b: str, fit_b: tuple[Float64, Float64], margin: float
    ) -> Any:
        """(poses,) whether spheres of two links, with a margin added to their radii, overlap."""
        return np.array(
            [
                _overlap(fit_a, at_a, fit_b, at_b, margin) > 0.0
                for at_a, at_b in zip(self._at[a], self._at[b], strict=True)
            ]
        )

    def apart_at_rest(self, a: str, b: str) -> bool:
        """Whether the meshes are more than LEAST_GAP apart at the default configuration."""
        return self.gap(a, b, 0) > LEAST_GAP

    def poses(self, a: str, b: str) -> Float64:
        """(n, 4, 4) from the frame of a to that of b, in configurations in which their meshes are apart."""
        b_from_a: Any = np.linalg.inv(self._at[b]) @ self._at[a]
        return b_from_a[self.gaps(a, b) > POSE_GAP]

    def gaps(self, a: str, b: str) -> Float64:
        """(poses,) distances of the two surfaces, metres."""
        return np.array([self.gap(a, b, k) for k in range(POSES + 1)])

    def gap(self, a: str, b: str, k: int) -> float:
        """Distance of the two surfaces in one configuration, metres."""
        known = self._known.setdefault((a, b), np.full(POSES + 1, np.nan))
        if np.isnan(known[k]):
            b_from_a: Any = np.linalg.inv(self._at[b][k]) @ self._at[a][k]
            nearest = self._nearest(a, b, b_from_a, np.inf)
            known[k] = self._nearest(b, a, np.linalg.inv(b_from_a), nearest)
        return float(known[k])

    def _nearest(self, a: str, b: str, b_from_a: Float64, bound: float) -> float:
        """Least distance of points of a to the surface of b, or a bound on it if that is less."""
        points = self._surface(a) @ b_from_a[:3, :3].T + b_from_a[:3, 3]
        return self._shapes[b].core.least_distance(points, bound)

    def _surface(self, name: str) -> Float64:
        """(n, 3) points of the surface of a link."""
        if name not in self._points:
            rng, shape = np.random.default_rng(0), self._shapes[name]
            corners = shape.vertices[rng.permutation(len(shape.vertices))[:GAP_SAMPLES]]
            self._points[name] = np.concatenate([corners, surface_points(shape, GAP_SAMPLES, rng)])
        return self._points[name]


def link_matrices(robot: Robot, cfgs: Float64) -> Float64:
    """(n, links, 4, 4) poses of the links in configurations (n, dof)."""
    return matrix_from_wxyz_xyz(np.asarray(robot.link_poses(cfgs), dtype=np.float64))


def _overlap(
    a: tuple[Float64, Float64], at_a: Any, b: tuple[Float64, Float64], at_b: Any, margin: float
) -> float:
    """How deep two sets of spheres overlap, metres; negative where they are apart."""
    ca, cb = a[0] @ at_a[:3, :3].T + at_a[:3, 3], b[0] @ at_b[:3, :3].T + at_b[:3, 3]
    away = np.linalg.norm(ca[:, None] - cb, axis=2) - a[1][:, None] - b[1]
    return 2.0 * margin - float(away.min(initial=np.inf))
