"""What a CollisionModel answers: free or not, how far from touching, why, and all the way between configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from .._clash import Clash
from ..errors import InputError
from ..pairs import PairEvidence, PairMatrix
from ..robot import Robot
from ..typing import LinkPair
from ._engine import Engine
from ._near_links import NearLinks
from ._parts import Parts, parts_of
from ._pieces import Pieces
from ._segment import SegmentProof, SegmentProofs
from ._slack import as_slacks
from ._surroundings import Surroundings
from ._verdict import By, Verdict, out_of_limits


class Answers:
    """The questions; `CollisionModel` makes what they need."""

    robot: Robot
    pairs: PairMatrix
    buffer: float
    _engine: Engine
    """Links in compiled calls."""
    _links: NearLinks
    """Links measured."""
    _around: Surroundings | None
    """Obstacles, in compiled calls and measured; None where there are none."""
    _parts: tuple[Surroundings | None, Parts] | None = None
    """What was packed for others, and among what."""
    _pieces: tuple[Surroundings | None, Pieces] | None = None
    """The same for proofs by spheres first."""

    # The parts ----------------------------------------------------------------------------------

    @property
    def by_spheres(self) -> Mapping[LinkPair, PairEvidence]:
        """Checked pairs whose spheres can show that they are apart, at rest at least."""
        return {pair: self.pairs.entries[pair] for pair in self.pairs.by_spheres}

    @property
    def by_meshes(self) -> Mapping[LinkPair, PairEvidence]:
        """Checked pairs that only meshes can decide: their spheres overlap at rest or always."""
        return {pair: self.pairs.entries[pair] for pair in self.pairs.by_meshes}

    @property
    def ignored(self) -> Mapping[LinkPair, PairEvidence]:
        """Pairs that are not looked at, with the reason."""
        return {pair: self.pairs.entries[pair] for pair in self.pairs.ignored}

    @property
    def default_cfg(self) -> Float[np.ndarray, "dof"]:
        """The default pose: the robot's, or the nearest free one found where that is a guess that collides."""
        found = self.pairs.default_cfg
        return self.robot.default_cfg if found is None else found

    @property
    def parts(self) -> Parts:
        """The arrays behind the answers, for kernels of other folders that build on `collision.kernels`."""
        if self._parts is None or self._parts[0] is not self._around:
            self._parts = self._around, parts_of(self._engine, self._around)
        return self._parts[1]

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_parts", "_pieces")}

    # Answers ------------------------------------------------------------------------------------

    def free(self, cfgs: Any, *, by: By = "meshes") -> Any:
        """Whether nothing checked touches or comes closer than the buffer: bool for (dof,), (n,) bool for (n, dof).

        Checked are the checked pairs of links, and every link with every obstacle that it is not allowed to touch.

        Args:
            cfgs: (dof,) or (n, dof). Joint limits do not count; `explain` names joints beyond them.
            by: "meshes": the meshes' answer. "spheres": conservative and faster, never True where meshes touch; pairs
                in `by_meshes` are decided by their meshes here too.

        Raises:
            InputError: wrong shape, NaN, or joint values beyond what the error bounds cover.
        """
        alone = self._engine.free(cfgs, by)
        if self._around is None:
            return alone
        rows, single = self.robot.cfg_rows(cfgs)
        if single:
            return alone and bool(self._around.engine.free(rows, by)[0])
        return self._around.engine.free(rows, by, alone)

    def clearance(self, cfgs: Any, *, exact: bool = False) -> Any:
        """Clearance of the closest checked pair in metres: float for (dof,), (n,) float64 for (n, dof).

        Args:
            cfgs: (dof,) or (n, dof).
            exact: False gives a proved lower bound of the true clearance: by spheres where they are apart, by meshes
                where not; where things overlap, minus what parts the boxes around them. True measures it: the distance
                of the closest pair, or minus the largest depth (which is itself searched, see `mesh`).

        Returns:
            Positive exactly where nothing checked touches; infinite when nothing is checked.
        """
        rows, single = self.robot.cfg_rows(cfgs)
        rows = self.robot.as_cfgs(rows)
        out, _, touching = self._engine.gaps(rows, exact=exact)
        if exact:
            for k in np.flatnonzero(touching.any(axis=1)):
                depths = [clash.distance for clash in self._links.contacts(rows[k])]
                # At bare contact, two ways to pose a link may differ: touching it is.
                out[k] = min(out[k], *depths, 0.0)
        if self._around is not None and exact:
            for k, near in self._around.nearer(rows, out):
                out[k] = near.distance
        elif self._around is not None:
            np.minimum(out, self._around.engine.gaps(rows)[0], out=out)
        return float(out[0]) if single else out

    def clashes(self, cfg: Any) -> tuple[Clash, ...]:
        """What touches at one configuration, or comes closer than the buffer, the deepest first.

        Two links, or a link (`a`) and an obstacle (`b`).
        """
        row = self.robot.as_cfg(cfg)
        if self.free(row):
            return ()
        links = self._links.near(row) if self.buffer else self._links.contacts(row)
        return self._clashing(row, links, self._near_obstacles(row)) or self._links.near(row)[:1]

    def near(self, cfg: Any) -> tuple[Clash, ...]:
        """What is near at one configuration, measured, the closest or deepest first.

        Every checked pair of links; of links (`a`) and obstacles (`b`) those that clash, and the closest.
        """
        row = self.robot.as_cfg(cfg)
        return _closest_first(self._links.near(row), self._near_obstacles(row))

    def explain(self, cfg: Any) -> Verdict:
        """What holds at one configuration, and why; see `Verdict`."""
        row = self.robot.as_cfg(cfg)
        links, obstacles, free = self._links.near(row), self._near_obstacles(row), bool(self.free(row))
        near = _closest_first(links, obstacles)
        clashes = () if free else self._clashing(row, links, obstacles)
        names = frozenset(clash.b for clash in obstacles)
        if free:
            by_spheres = self._engine.by_spheres(row) and (
                self._around is None or self._around.engine.by_spheres(row)
            )
        else:  # spheres have the last word where a link has no mesh
            by_spheres = all(
                clash.a not in self.robot.mesh_links
                if clash.b in names
                else self._links.by_spheres(clash.pair)
                for clash in clashes
            )
        return Verdict(
            robot_name=self.robot.name,
            cfg=row,
            free=free,
            by="spheres" if by_spheres else "meshes",
            closest=near[0] if near else None,
            clashes=clashes,
            ignored_touching=self._links.ignored_touching(row),
            out_of_limits=out_of_limits(self.robot, row),
            obstacles=names,
            allowed_touching=() if self._around is None else self._around.allowed_touching(row),
        )

    def in_contact(self, cfg: Any = None) -> tuple[tuple[str, str], ...]:
        """Pairs (link, obstacle) that touch, or come closer than the buffer, and are not allowed to; sorted.

        What to allow where a start is meant to be in contact: `model.with_world(world, allow=model.in_contact())`.

        Args:
            cfg: (dof,) configuration; `default_cfg` when omitted.
        """
        row = self.robot.as_cfg(self.default_cfg if cfg is None else cfg)
        return () if self._around is None else self._around.within(row, self.buffer)

    def segment_free(self, a: Any, b: Any, slack: Any = None) -> SegmentProof:
        """Proves that the straight line in joint space from `a` to `b` is free, or says where it is not.

        Args:
            a: (dof,) configuration.
            b: (dof,) another; all joints move together at constant rates, none wraps around.
            slack: (dof,) or a number: how far every joint may besides be off the line, rad or m, at any time in either
                direction; None for not at all. Blocked is said only of the line itself.
        """
        return self.segments_free(self.robot.as_cfg(a)[None], self.robot.as_cfg(b)[None], slack)[0]

    def segments_free(self, a: Any, b: Any, slack: Any = None) -> SegmentProofs:
        """`segment_free` for many segments in one call, on all cores.

        Args:
            a: (n, dof) configurations.
            b: (n, dof); segment k goes from a[k] to b[k].
            slack: (n, dof), or (dof,) or a number for all of them.
        """
        begins, ends = self.robot.as_cfgs(a), self.robot.as_cfgs(b)
        if len(begins) != len(ends):
            raise InputError(
                f"segments need as many ends as beginnings, found {len(begins)} and {len(ends)} configurations"
            )
        # Refuses values that no error bound covers; segments that follow each other share their ends.
        chained = len(begins) > 1 and bool((begins[1:] == ends[:-1]).all())
        self._engine.free(np.concatenate([begins, ends[-1:] if chained else ends]), "meshes")
        slacks = as_slacks(slack, len(begins), self.robot.dof)
        among = None if self._around is None else self._around.engine
        return self._engine.segments(begins, ends, slacks, among)

    def curves_free(self, pieces: Any, slack: Any = None) -> SegmentProofs:
        """`segments_free` for cubic curves in joint space, straight ones too: spheres first, all of them together.

        Several times faster where most is free; clearances are not looked for beyond a millimetre above the buffer.
        Blocked is said where the chord of a short part of the curve is.

        Args:
            pieces: (n, 4, dof) control configurations of Bezier cubics, which begin at the first and end at the last.
            slack: (n, dof), or (dof,) or a number for all of them: how far joints may be off the curves.
        """
        dof = self.robot.dof
        given = np.asarray(pieces, dtype=np.float64)
        if given.ndim != 3 or given.shape[1:] != (4, dof):
            raise InputError(f"pieces must be (n, 4, {dof}), found the shape {given.shape}")
        rows = self.robot.as_cfgs(given.reshape(-1, dof)).reshape(given.shape)
        among = None if self._around is None else self._around.engine
        slacks = as_slacks(slack, len(rows), dof)
        return self._engine.curves(rows, slacks, among, self._quick())

    def _quick(self) -> Pieces:
        """Proofs by spheres first, for robot and obstacles as they are."""
        if self._pieces is None or self._pieces[0] is not self._around:
            among = None if self._around is None else self._around.engine
            self._pieces = self._around, Pieces(self._engine.lanes, among, self._engine.pairs, self.buffer)
        return self._pieces[1]

    def _closest_pairs(
        self, rows: Float[np.ndarray, "n dof"]
    ) -> tuple[Float[np.ndarray, "n"], list[LinkPair | None]]:
        """Measured clearances of free configurations, and whose they are; None when nothing is checked."""
        out, closest, _ = self._engine.gaps(rows, exact=True)
        pairs = [self._engine.pairs[k] if k >= 0 else None for k in closest.tolist()]
        if self._around is not None:
            for k, near in self._around.nearer(rows, out):
                out[k], pairs[k] = near.distance, near.pair
        return out, pairs

    def _clashing(
        self, row: Float[np.ndarray, "dof"], links: Sequence[Clash], obstacles: Sequence[Clash]
    ) -> tuple[Clash, ...]:
        """What clashes of what is near at a configuration that is not free, the deepest first."""
        found = tuple(c for c in _closest_first(links, obstacles) if c.distance <= self.buffer)
        if found:
            return found
        # Something touches to rounding only, or a field keeps its distance: the closest of those who are refused.
        return tuple(obstacles[:1] if obstacles and self._engine.free(row, "meshes") else links[:1])

    def _near_obstacles(self, row: Float[np.ndarray, "dof"]) -> tuple[Clash, ...]:
        """Links and obstacles that clash, and the closest pair, the closest first."""
        return () if self._around is None else self._around.near(row)


def _closest_first(*found: Sequence[Clash]) -> tuple[Clash, ...]:
    return tuple(sorted((clash for part in found for clash in part), key=lambda clash: clash.distance))
