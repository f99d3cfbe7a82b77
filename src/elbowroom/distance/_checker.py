"""SelfCollisionChecker: answers at once, for one configuration or for millions.

The compiled core answers in float32, eight configurations at a time or one with its spheres in lanes; an answer is the
same either way. `free` is conservative: rounding is bounded and added to the radii, so spheres that overlap are never
called free; spheres closer than that bound (some micrometres, see `float_margin`) may be called colliding. Distances
carry the rounding as it comes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from .. import _core
from .._clash import Clash
from .._frozen import freeze
from .._parallel import cores, over_rows
from .._poses import matrix_from_wxyz_xyz
from ..errors import InputError
from ..robot import Robot, as_robot
from ..typing import LinkPair, Pairs, RobotLike
from ._inputs import Spheres, default_pairs, link_values, pairs_for_spheres, sphere_arrays
from ._model import PairSpheres, bad_row

THREAD_ROWS = 8192
"""Batches from this size on are shared by the cores; below, starting threads costs more than it saves."""
ORDER_SAMPLES = 1024
"""Random configurations that decide the order of pairs, most often colliding first: it only costs or saves time."""


class SelfCollisionChecker:
    """Self-collision of a robot's spheres over given link pairs; see the module for method and guarantee."""

    def __init__(
        self,
        robot: RobotLike,
        spheres: Spheres,
        pairs: Pairs | None = None,
        *,
        padding: float | Mapping[str, float] = 0.0,
        threads: int | None = None,
    ) -> None:
        """Builds the model.

        Args:
            robot: a Robot, or what `load_robot` takes.
            spheres: the sphere model; its self padding counts.
            pairs: a PairMatrix, of which the pairs are checked that spheres can decide (`by_spheres`; the others
                are in `left_to_meshes`), or (link, link) tuples; None checks all pairs that are not adjacent.
            padding: metres added to the radii of every link, or by link, besides the model's own.
            threads: for large batches; None uses all cores this process may run on.

        Raises:
            InputError: spheres or pairs that make no sense. UnknownLinkError: a link the robot does not have.
        """
        self.robot: Robot = as_robot(robot)
        names = self.robot.link_names
        centers, radii, links = sphere_arrays(names, spheres, who=self.robot.name)
        radii = radii + link_values(names, padding, "padding")[links]
        if radii.min() <= 0.0:
            raise InputError("a negative padding makes a radius zero or less")
        solid = {names[k] for k in np.unique(links)}
        given = default_pairs(self.robot, solid) if pairs is None else pairs
        asked, left = pairs_for_spheres(names, given, "SelfCollisionChecker")
        self.left_to_meshes: tuple[LinkPair, ...] = left
        """Checked pairs of a PairMatrix that only meshes can decide: free here says nothing of them."""
        kept = tuple(pair for pair in asked if pair[0] in solid and pair[1] in solid)
        self.pairs: tuple[LinkPair, ...] = kept
        """Link pairs that are checked, in the order of `pair_distances`; pairs without spheres are left out."""
        self._centers, self._radii, self._links = centers, radii, links
        self._threads = threads or cores()
        self._index = [(self.robot.link_index(a), self.robot.link_index(b)) for a, b in kept]
        self._model = PairSpheres.of(self.robot.tree, centers, radii, links, self._index)

    # Answers ----------------------------------------------------------------------------------

    def free(self, cfgs: Any) -> Any:
        """Whether no checked pair touches: bool for (dof,), (n,) bool for (n, dof).

        Raises:
            InputError: wrong shape, NaN, or joint values beyond what the error bound covers.
        """
        rows, single = self.robot.cfg_rows(cfgs)
        if single:  # the way of planners and controllers: as few Python operations as possible
            answer = self._sorted.is_free(rows[0])
            if answer < 0:
                raise bad_row(self.robot.name, rows, 0)
            return answer == 1
        out = np.empty(len(rows), dtype=np.bool_)
        self._run(self._sorted.free, rows, out)
        return out

    def min_distance(self, cfgs: Any) -> Any:
        """Smallest distance of any checked pair in metres, positive apart, negative overlapping; infinite for no pair.

        Returns:
            float for (dof,), (n,) float32 for (n, dof).
        """
        rows, single = self.robot.cfg_rows(cfgs)
        if single:
            answer = self._nearest_first.min_distance(rows[0])
            if answer is None:
                raise bad_row(self.robot.name, rows, 0)
            return answer
        out = np.empty(len(rows), dtype=np.float32)
        self._run(self._nearest_first.min_distances, rows, out)
        return out

    def pair_distances(self, cfgs: Any) -> Float[np.ndarray, "*n pairs"]:
        """Distance of every checked link pair in metres, positive apart, negative overlapping.

        Returns:
            (pairs,) for (dof,), (n, pairs) float32 for (n, dof), in the order of `pairs`.
        """
        rows, single = self.robot.cfg_rows(cfgs)
        out = np.empty((len(rows), len(self.pairs)), dtype=np.float32)
        self._run(self._model.core.pair_distances, rows, out)
        return out[0] if single else out

    def pair_hits(self, cfgs: Any) -> Bool[np.ndarray, "*n pairs"]:
        """Whether each checked link pair touches, as conservative as `free`: (pairs,) or (n, pairs) bool."""
        rows, single = self.robot.cfg_rows(cfgs)
        out = np.empty((len(rows), len(self.pairs)), dtype=np.bool_)
        self._run(self._model.core.pair_hits, rows, out)
        return out[0] if single else out

    def closest(self, cfg: Any) -> tuple[Clash, ...]:
        """The closest two spheres of every checked pair at one configuration, in float64; the closest pair first."""
        row = self.robot.as_cfg(cfg)
        world = self._world(row)
        found = (self._closest(pair, world) for pair in range(len(self.pairs)))
        return tuple(sorted(found, key=lambda clash: clash.distance))

    def worst(self, cfg: Any) -> Clash | None:
        """The closest two spheres at one configuration, in float64; None when no pair is checked.

        The points are those of the two spheres on the line between their centres.
        """
        row = self.robot.as_cfg(cfg)
        if not self.pairs:
            return None
        near = self.pair_distances(row)
        world = self._world(row)
        best: Clash | None = None
        for p in np.flatnonzero(near <= near.min() + 4.0 * self.float_margin):
            found = self._closest(int(p), world)
            if best is None or found.distance < best.distance:
                best = found
        return best

    @property
    def float_margin(self) -> float:
        """Bound on the error of float32 distances in metres; `free` adds it to every sum of radii."""
        return self._model.margin

    def __repr__(self) -> str:
        return (
            f"SelfCollisionChecker({self.robot.name!r}: {len(self._radii)} spheres, {len(self.pairs)} link pairs, "
            f"float margin {self.float_margin * 1e6:.1f} um)"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {
            key: value for key, value in self.__dict__.items() if key not in ("_sorted", "_nearest_first")
        }

    # Work -------------------------------------------------------------------------------------

    @cached_property
    def _sorted(self) -> _core.SelfCollision:
        """The model with pairs that often collide first, so that configurations are settled early."""
        return self._reordered(lambda distances: -(distances < 0.0).sum(axis=0))

    @cached_property
    def _nearest_first(self) -> _core.SelfCollision:
        """The model with pairs that are near on average first, so that others are soon known to be farther."""
        return self._reordered(lambda distances: distances.mean(axis=0))

    def _reordered(self, key: Callable[[np.ndarray], np.ndarray]) -> _core.SelfCollision:
        """The model with its pairs sorted by a key of their distances (n, pairs) at random configurations."""
        lower, upper = (np.where(np.isfinite(v), v, 0.0) for v in (self.robot.lower, self.robot.upper))
        cfgs = np.random.default_rng(0).uniform(lower, upper, (ORDER_SAMPLES, self.robot.dof))
        return self._model.core.reordered(np.argsort(key(self.pair_distances(cfgs)), kind="stable"))

    def _run(self, ask: Callable[[np.ndarray, np.ndarray], int], rows: np.ndarray, out: np.ndarray) -> None:
        """Fills a row of `out` per configuration, shared by threads when there are many."""

        def piece(start: int, stop: int) -> int:
            bad = ask(rows[start:stop], out[start:stop])
            return bad + start if bad >= 0 else -1

        found = over_rows(piece, len(rows), threads=self._threads, at_least=THREAD_ROWS)
        bad = next((row for row in found if row >= 0), -1)
        if bad >= 0:
            raise bad_row(self.robot.name, rows, bad, 1)

    def _world(self, row: Float[np.ndarray, "dof"]) -> Float[np.ndarray, "spheres 3"]:
        """Centres of the spheres in the world."""
        T = matrix_from_wxyz_xyz(self.robot.link_poses(row))
        return np.einsum("nij,nj->ni", T[self._links, :3, :3], self._centers) + T[self._links, :3, 3]

    def _closest(self, pair: int, world: Float[np.ndarray, "spheres 3"]) -> Clash:
        a, b = self._index[pair]
        mine, yours = np.flatnonzero(self._links == a), np.flatnonzero(self._links == b)
        apart = np.linalg.norm(world[mine, None] - world[None, yours], axis=-1)
        clearance = apart - self._radii[mine, None] - self._radii[None, yours]
        i, j = np.unravel_index(int(clearance.argmin()), clearance.shape)
        sphere_a, sphere_b = int(mine[i]), int(yours[j])
        length = float(apart[i, j])
        normal = (world[sphere_b] - world[sphere_a]) / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
        point_a = world[sphere_a] + normal * self._radii[sphere_a]
        point_b = world[sphere_b] - normal * self._radii[sphere_b]
        freeze(normal, point_a, point_b)
        return Clash(*self.pairs[pair], float(clearance[i, j]), point_a, point_b, normal)
