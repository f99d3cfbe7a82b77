"""What a CollisionModel answers: free or not, how close to touching, why, and whether the motion between configurations
is free."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import numpy as np
from jaxtyping import Bool, Float, Int

from .. import _core
from .._clash import Clash
from .._frozen import frozen
from .._parallel import over_rows
from ..distance.internal import MAX_ANGLE, bad_row, largest_values
from ..errors import InputError, UnknownJointError, unknown
from ..pairs import PairEvidence, PairMatrix
from ..robot import Robot
from ..typing import LinkPair
from ..world import World
from ._allow import Allow
from ._constant import ConstantClearance, Constants, VaryingClearance
from ._links import Links, NearLinks
from ._segment import BUDGET, SegmentProof, SegmentProofs, as_proofs, as_slacks
from ._surroundings import Surroundings
from ._verdict import By, Verdict, out_of_limits

if TYPE_CHECKING:
    from ._model import CollisionModel
    from ._outside import Outside

ROUNDING = 1e-9
"""Radians or metres beyond a limit that do not count."""
NO_SLACK = frozen(np.zeros((1, 1)))
BY_MESHES = {"meshes": True, "spheres": False}
ASK_AGAIN = 2
"""What the core answers for a configuration beyond the limits of the joints."""
THREAD_ROWS = 2048
"""Batches from this size on are shared by the cores; below, starting threads costs more than it saves."""
MEASURE_ROWS = 32
"""The same for clearances, which cost far more."""
THREAD_PIECES = 8
"""The same for pieces of motions to prove."""
BY_ALL = 2
"""How closely the core looks at a motion: by spheres, and by meshes where they refuse."""
FAR_ENOUGH = 0.05
"""Metres above the buffer: more clearance than this is not looked for on segments."""
WORTH_STATING = 0.001
"""The same on curves: a margin worth stating."""
MADE = ("_scene", "_constants", "_fewer", "_whole", "_wide", "_wide_robots")
"""What is made on demand and does not travel."""


class Judge(NamedTuple):
    """A scene in the compiled core, and the names of what it numbers."""

    scene: _core.Scene
    pairs: Sequence[LinkPair]
    """Checked pairs of links."""
    links: tuple[str, ...]
    """Links as obstacles number them; none without a world."""
    obstacles: tuple[str, ...]


class Answers:
    """The questions; `CollisionModel` makes what they need."""

    robot: Robot
    pairs: PairMatrix
    buffer: float
    allow: Allow
    world: World | None
    _own: Links
    """Links against each other, in the compiled core."""
    _links: NearLinks
    """Links measured."""
    _around: Surroundings | None
    """Obstacles, in compiled calls and measured; None where there are none."""
    _whole: tuple[Surroundings | None, CollisionModel] | None = None
    """The same with all pairs checked, for configurations beyond the joint limits."""
    _wide_robots: dict[bytes, tuple[_core.Scene, _core.LinkSpheres | None]]
    """By the values that are covered: robots whose error bounds cover them; shared by all worlds."""
    _wide: tuple[Surroundings | None, _core.Scene] | None = None
    """A scene whose error bounds cover a gripper held far open, and among what."""
    _constants: tuple[Surroundings | None, Constants] | None = None
    """Which pairs a motion cannot change, and among what."""
    _constant_links: dict[LinkPair, ConstantClearance | None]
    """What is decided of pairs of links, whatever is around them."""
    _fewer: tuple[Surroundings, frozenset[LinkPair], Surroundings] | None = None
    """The obstacles without some pairs."""

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

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in MADE}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _wide_robots={})

    def __copy__(self) -> Self:
        """Without what was made for its obstacles; what was made of the robot is shared."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__getstate__(), _wide_robots=self._wide_robots)
        return other

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
        if isinstance(cfgs, np.ndarray) and cfgs.ndim == 1:
            try:  # the way of planners and controllers: as few Python operations as possible
                answer = self._scene.is_free(cfgs, BY_MESHES[by])
            except (TypeError, ValueError, KeyError):
                answer = ASK_AGAIN  # below it is said what is wrong
            if answer < ASK_AGAIN:
                return answer == 1
        if by not in BY_MESHES:
            raise InputError(f"by must be 'meshes' or 'spheres', found {by!r:.40}")
        rows, single = self.robot.cfg_rows(cfgs)
        if (whole := self._beyond_limits(rows, NO_SLACK)) is not None:
            return whole.free(cfgs, by=by)
        out = np.empty(len(rows), dtype=np.bool_)
        by_meshes = BY_MESHES[by]
        self._over_rows(lambda scene, part: scene.free(rows[part], by_meshes, out[part]), rows, THREAD_ROWS)
        return bool(out[0]) if single else out

    def _over_rows(
        self,
        ask: Callable[[_core.Scene, slice], int],
        rows: Float[np.ndarray, "n dof"],
        at_least: int,
        align: int = 16,
        around: Surroundings | None = None,
    ) -> None:
        """Asks the core about parts of a batch, in threads from `at_least` rows on.

        Args:
            ask: what the core is asked; it returns the first row that is beyond what its error bound covers, or -1.
            rows: configurations.
            at_least: rows above which threads share them.
            align: parts start at multiples of it.
            around: obstacles, if not those of the model.

        Raises:
            InputError: a row with values that no error bound covers.
        """
        scene = self._scene if around is None else self._own.core.among(around.outside.core)

        def piece(start: int, stop: int) -> int:
            bad = ask(scene, slice(start, stop))
            return bad + start if bad >= 0 else -1

        def refused() -> int:
            found = over_rows(piece, len(rows), threads=self._own.threads, at_least=at_least, align=align)
            return next((row for row in found if row >= 0), -1)

        bad = refused()
        if bad >= 0:  # slides beyond twice their limits: a gripper held open, say
            scene = self._covering(rows) if around is None else self._wide_scene(rows, bad, around)
            bad = refused()
            assert bad < 0  # the bound covers just these values

    def _wide_scene(
        self, rows: Float[np.ndarray, "n dof"], bad: int, around: Surroundings | None
    ) -> _core.Scene:
        """The scene with errors bounded for the values that occur in rows, of which one was refused.

        Raises:
            InputError: values that are not finite or too large for any bound.
        """
        usual = largest_values(self.robot.tree)
        if not np.isfinite(rows).all() or np.abs(values := self.robot.tree.expand(rows)).max() > MAX_ANGLE:
            raise bad_row(self.robot.name, rows, bad, 1)
        largest = np.maximum(usual, np.abs(values).max(axis=0))
        key, known = largest.tobytes(), self._wide_robots  # of the robot, for all worlds
        made = known.get(key)
        own, outside = made or (self._own.scene(self._own.spheres_for(largest)), None)
        if around is not None and outside is None:
            outside = around.outside.core_spheres(largest)
        if made != (own, outside):
            known.clear()
            known[key] = own, outside
        return own if around is None or outside is None else own.among(around.outside.surroundings(outside))

    @cached_property
    def _scene(self) -> _core.Scene:
        """Links and obstacles in the compiled core."""
        own = self._own.core
        return own if self._around is None else own.among(self._around.outside.core)

    def scene_at(self, cfg: Float[np.ndarray, "dof"] | None) -> _core.Scene:
        """The scene of the compiled core that judges configurations with some joints held, for searches in the core.

        Args:
            cfg: (dof,) where those joints are held; the others stay within their limits. None: all are within limits.

        Raises:
            InputError: joints held too far beyond their limits for a verdict.
        """
        if cfg is None:
            return self._scene
        rows = cfg[None]
        if (whole := self._beyond_limits(rows, NO_SLACK)) is not None:
            return whole.scene_at(cfg)
        bad = self._scene.free(rows, True, np.empty(1, dtype=np.bool_))
        return self._scene if bad < 0 else self._wide_scene(rows, bad, self._around)

    def _gaps(
        self, rows: Float[np.ndarray, "n dof"], *, exact: bool, without: Collection[LinkPair] = ()
    ) -> tuple[Float[np.ndarray, "n"], Int[np.ndarray, "n 3"], Bool[np.ndarray, "n pairs"]]:
        """Clearances, what they are of and which pairs of links were found to touch: see `_core.Scene.clearances`.

        With `exact` those of pairs of links apart, measured, `without` some pairs.
        """
        n, pairs = len(rows), self._own.pairs
        out, closest = np.empty(n), np.empty((n, 3), np.int64)
        touching = np.zeros((n, len(pairs)), dtype=np.bool_)
        left_out = np.array([pair in without for pair in pairs], dtype=np.bool_)
        self._over_rows(
            lambda scene, part: scene.clearances(
                rows[part], left_out, out[part], closest[part], touching[part], exact
            ),
            rows,
            MEASURE_ROWS,
            1,
        )
        return out, closest, touching

    def clearance(self, cfgs: Any, *, exact: bool = False) -> Any:
        """Clearance of the closest checked pair in metres, positive apart, negative overlapping: float or (n,) float64.

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
        if (whole := self._beyond_limits(rows, NO_SLACK)) is not None:
            return whole.clearance(cfgs, exact=exact)
        if exact:
            out, _ = self._measured(rows)
        else:
            out, _, _ = self._gaps(rows, exact=False)
        return float(out[0]) if single else out

    def varying_clearance(self, cfgs: Any, joints: Sequence[str] | None = None) -> VaryingClearance:
        """Measured clearance, positive apart, negative overlapping, of the closest pair that a motion can change.

        Pairs whose clearance no motion changes are listed apart.

        A base over its table, or two links between which only a round flange turns, have one clearance wherever the
        robot goes; where it is the smallest, `clearance` says nothing else.

        Args:
            cfgs: (dof,) or (n, dof).
            joints: names of those that move; None for all. What they cannot change counts as constant.

        Raises:
            UnknownJointError: the robot does not have such a joint.
        """
        rows = self.robot.as_cfgs(self.robot.cfg_rows(cfgs)[0])
        for name in joints or ():
            if name not in self.robot.joint_names:
                raise UnknownJointError(unknown("actuated joint", name, self.robot.joint_names))
        return self._varying_of(rows, *self._measured(rows), None if joints is None else frozenset(joints))

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

    def obstacle_distances(self, cfg: Any) -> tuple[Clash, ...]:
        """Distances of every link (`a`) to every obstacle (`b`): metres, positive apart, negative overlapping.

        Measured at one configuration, the closest or deepest first. Pairs that are allowed to touch are measured too.
        """
        row = self.robot.as_cfg(cfg)
        return () if self._around is None else _closest_first(self._around.all_measured(row))

    def explain(self, cfg: Any) -> Verdict:
        """What holds at one configuration, and why; see `Verdict`."""
        row = self.robot.as_cfg(cfg)
        if (whole := self._beyond_limits(row, NO_SLACK)) is not None:
            return whole.explain(row)
        links, obstacles, free = self._links.near(row), self._near_obstacles(row), bool(self.free(row))
        near = _closest_first(links, obstacles)
        clashes = () if free else self._clashing(row, links, obstacles)
        names = frozenset(clash.b for clash in obstacles)
        if free:
            by_spheres = self._scene.by_spheres(row)
        else:  # spheres have the last word where a link has no mesh
            by_spheres = all(
                clash.a not in self.robot.mesh_links
                if clash.b in names
                else self._links.by_spheres(clash.pair)
                for clash in clashes
            )
        varying, constant = self._varying(row, links, obstacles) if free else (near[0] if near else None, ())
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
            closest_varying=varying,
            buffer=self.buffer,
            constant=constant,
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
                direction; None for not at all. Only the line itself is ever reported as blocked.
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
        slacks = as_slacks(slack, len(begins), self.robot.dof)
        if (whole := self._beyond_limits(np.concatenate([begins, ends]), slacks)) is not None:
            return whole.segments_free(begins, ends, slack)
        return self._proved(np.stack([begins, ends], axis=1), slacks, FAR_ENOUGH)

    def _proved(
        self, control: Float[np.ndarray, "n points dof"], slacks: Float[np.ndarray, "#n dof"], margin: float
    ) -> SegmentProofs:
        """Proves pieces of motions in the core, on all cores when there are many; see `_core.Scene.prove`."""
        start, n = time.perf_counter(), len(control)
        scene = self._covering(control.reshape(-1, control.shape[2]))
        found, counts = np.empty((n, 2)), np.empty((n, 6), np.int64)

        def piece(first: int, last: int) -> None:
            rows = slice(first, last)
            off = slacks if len(slacks) == 1 else slacks[rows]
            found[rows], counts[rows] = scene.prove(control[rows], off, BY_ALL, margin, BUDGET)

        over_rows(piece, n, threads=self._own.threads, at_least=THREAD_PIECES, align=1)
        obstacles = () if self.world is None else tuple(self.world.names)
        return as_proofs(
            found, counts, self._own.pairs, self.robot.link_names, obstacles, bool(slacks.any()), self.buffer,
            time.perf_counter() - start,
        )  # fmt: skip

    def curves_free(self, pieces: Any, slack: Any = None) -> SegmentProofs:
        """`segments_free` for cubic curves in joint space, straight ones too.

        Clearances are not looked for beyond a millimetre above the buffer.

        Args:
            pieces: (n, 4, dof) control configurations of Bezier cubics, which begin at the first and end at the last.
            slack: (n, dof), or (dof,) or a number for all of them: how far joints may be off the curves.
        """
        dof = self.robot.dof
        given = np.asarray(pieces, dtype=np.float64)
        if given.ndim != 3 or given.shape[1:] != (4, dof):
            raise InputError(f"pieces must be (n, 4, {dof}), found the shape {given.shape}")
        rows = self.robot.as_cfgs(given.reshape(-1, dof)).reshape(given.shape)
        slacks = as_slacks(slack, len(rows), dof)
        if (whole := self._beyond_limits(rows.reshape(-1, dof), slacks)) is not None:
            return whole.curves_free(rows, slack)
        return self._proved(rows, slacks, WORTH_STATING)

    @cached_property
    def _proved_range(self) -> tuple[Float[np.ndarray, "dof"], Float[np.ndarray, "dof"]]:
        """Joint values between which pairs are shown never to collide."""
        return self.robot.lower - ROUNDING, self.robot.upper + ROUNDING

    @property
    def own_links(self) -> Links:
        """The links against each other."""
        return self._own

    @property
    def outside(self) -> Outside | None:
        """The links among obstacles; None without a world."""
        return None if self._around is None else self._around.outside

    def scene_within(self, rows: Float[np.ndarray, "n dof"]) -> _core.Scene:
        """The scene in the core that decides on motions within the limits and among rows: see `covering`."""
        if self._scene.decides(rows):
            return self._scene
        whole = self._beyond_limits(rows, NO_SLACK)
        return self._covering(rows) if whole is None else whole.scene_within(rows)

    def covering(self, rows: Float[np.ndarray, "n dof"]) -> Judge:
        """Who decides on motions within the limits and among rows: on all pairs where some row leaves the limits, with
        error bounds that cover the values that occur."""
        whole = self._beyond_limits(rows, NO_SLACK)
        if whole is not None:
            return whole.covering(rows)
        outside = None if self._around is None else self._around.outside
        return Judge(
            self._covering(rows),
            self._own.pairs,
            () if outside is None else outside.links,
            () if outside is None else outside.world.names,
        )

    def _covering(self, rows: Float[np.ndarray, "n dof"]) -> _core.Scene:
        """The scene, with wider error bounds where a slide is beyond twice its limits."""
        bad = self._scene.covers(rows)
        if bad < 0:
            return self._scene
        if self._wide is None or self._wide[0] is not self._around or self._wide[1].covers(rows) >= 0:
            self._wide = self._around, self._wide_scene(rows, bad, self._around)
        return self._wide[1]

    def _beyond_limits(
        self, rows: Float[np.ndarray, "*n dof"], slacks: Float[np.ndarray, "k dof"]
    ) -> CollisionModel | None:
        """A model that checks "never" pairs too, where rows or their slack leave the limits; None within them.

        Pairs are proved never to collide within the joint limits. Beyond them, all pairs are checked.
        """
        lower, upper = self._proved_range
        if slacks is not NO_SLACK:
            most = slacks.max(axis=0, initial=0.0)
            lower, upper = lower + most, upper - most
        if not ((rows < lower) | (rows > upper)).any():
            return None
        from ._model import checked_for

        if self._whole is None or self._whole[0] is not self._around:
            self._whole = self._around, checked_for(cast("CollisionModel", self), np.inf)
        found = self._whole[1]
        return None if found is self else found

    def _measured(
        self, rows: Float[np.ndarray, "n dof"], without: Collection[LinkPair] = ()
    ) -> tuple[Float[np.ndarray, "n"], list[LinkPair | None]]:
        """Measured clearances and whose they are, pairs left out; None when nothing is checked."""
        out, closest, touching = self._gaps(rows, exact=True, without=without)
        pairs = [self._own.pairs[k] if k >= 0 else None for k in closest[:, 0].tolist()]
        for k in np.flatnonzero(touching.any(axis=1)).tolist():
            found = [clash for clash in self._links.contacts(rows[k]) if clash.pair not in without]
            # At bare contact, two ways to pose a link may differ: touching it is.
            pairs[k] = found[0].pair if found else self._own.pairs[int(touching[k].argmax())]
            out[k] = min(out[k], *(clash.distance for clash in found), 0.0)
        if self._around is not None:
            around = self._with_fewer(self._around, without)
            bounds = np.empty(len(rows))
            self._over_rows(
                lambda scene, part: scene.obstacle_clearances(rows[part], bounds[part]),
                rows,
                MEASURE_ROWS,
                1,
                around,
            )
            for k, near in around.nearer(rows, out, bounds):
                out[k], pairs[k] = near.distance, near.pair
        return out, pairs

    def _varying_of(
        self,
        rows: Float[np.ndarray, "n dof"],
        known: Float[np.ndarray, "n"],
        pairs: Sequence[LinkPair | None],
        moving: frozenset[str] | None,
    ) -> VaryingClearance:
        """`varying_clearance` of rows whose clearances and closest pairs are known; `moving` joints, or all."""
        constants, out, closest = self._known_constants(), np.array(known), list(pairs)
        apart: dict[LinkPair, ConstantClearance] = {
            one.pair: one for one in constants.found() if not one.joints
        }
        varying: set[LinkPair] = set()
        todo = list(range(len(rows)))
        while todo:
            for k in todo:
                pair = closest[k]
                if pair is not None and pair not in varying:
                    found = constants.of(pair, float(out[k]), moving)
                    if found is not None:
                        apart[pair] = found
                    else:
                        varying.add(pair)
            for one in [one for pair, one in apart.items() if one.samples and pair not in varying]:
                hidden = [k for k in todo if closest[k] != one.pair and out[k] < one.distance]
                if self._closer_than_sampled(rows[hidden], one):
                    varying.add(one.pair)
            for pair in varying & apart.keys():  # rows that left it out are asked again
                del apart[pair]
                todo, out, closest = list(range(len(rows))), np.array(known), list(pairs)
            todo = [k for k in todo if closest[k] in apart]
            if todo:
                out[todo], again = self._measured(rows[todo], apart)
                for k, pair in zip(todo, again, strict=True):
                    closest[k] = pair
        return VaryingClearance(
            frozen(out), tuple(closest), _closer(apart.values(), float(out.max(initial=-np.inf)))
        )

    def _closer_than_sampled(self, rows: Float[np.ndarray, "n dof"], one: ConstantClearance) -> bool:
        """Whether a pair that was constant at all samples is closer at one of the rows."""
        constants = self._known_constants()
        return any(constants.of(one.pair, constants.measured(row, one.pair).distance) is None for row in rows)

    def _with_fewer(self, around: Surroundings, pairs: Collection[LinkPair]) -> Surroundings:
        """The same obstacles, without some pairs of links and obstacles."""
        left_out = frozenset(pair for pair in pairs if pair[1] in around.world)
        if not left_out:
            return around
        if self._fewer is None or self._fewer[0] is not around or self._fewer[1] != left_out:
            self._fewer = around, left_out, around.among(around.world, self.allow | left_out)
        return self._fewer[2]

    def _known_constants(self) -> Constants:
        """Which pairs a motion cannot change, as far as was asked."""
        if self._constants is None or self._constants[0] is not self._around:
            found = Constants(self._links, self._around, self.buffer, self._constant_links)
            self._constants = self._around, found
        return self._constants[1]

    def _varying(
        self, row: Float[np.ndarray, "dof"], links: Sequence[Clash], obstacles: Sequence[Clash]
    ) -> tuple[Clash | None, tuple[ConstantClearance, ...]]:
        """The closest of what joints can change at a free configuration, and the constants that are closer."""
        constants = self._known_constants()

        def varies(clash: Clash) -> bool:
            return constants.of(clash.pair, clash.distance) is None

        own = next(filter(varies, links), None)
        left_out = [one.pair for one in constants.found() if not one.joints]
        while obstacles and not varies(obstacles[0]):  # then the closest of the others
            assert self._around is not None
            left_out.append(obstacles[0].pair)
            obstacles = self._with_fewer(self._around, left_out).near(row)
        near = _closest_first([clash for clash in (own, *obstacles[:1]) if clash is not None])
        return (near[0] if near else None), _closer(constants.found(), near[0].distance if near else np.inf)

    def _clashing(
        self, row: Float[np.ndarray, "dof"], links: Sequence[Clash], obstacles: Sequence[Clash]
    ) -> tuple[Clash, ...]:
        """What clashes of what is near at a configuration that is not free, the deepest first."""
        found = tuple(c for c in _closest_first(links, obstacles) if c.distance <= self.buffer)
        if found:
            return found
        # Something touches to rounding only, or a field keeps its distance: the closest of those who are refused.
        alone = bool(self._own.core.is_free(row, True) == 1)
        return tuple(obstacles[:1] if obstacles and alone else links[:1])

    def _near_obstacles(self, row: Float[np.ndarray, "dof"]) -> tuple[Clash, ...]:
        """Links and obstacles that clash, and the closest pair, the closest first."""
        return () if self._around is None else self._around.near(row)


def _closest_first(*found: Sequence[Clash]) -> tuple[Clash, ...]:
    return tuple(sorted((clash for part in found for clash in part), key=lambda clash: clash.distance))


def _closer(found: Iterable[ConstantClearance], than: float) -> tuple[ConstantClearance, ...]:
    """Those closer than so many metres, the closest first."""
    return tuple(
        sorted((one for one in found if one.distance < than), key=lambda one: (one.distance, one.pair))
    )
