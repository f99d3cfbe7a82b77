"""CollisionModel: the one owner of the question "is the robot free?".

Spheres accept: they are proved to cover the links, so spheres that are apart show links that are apart. Meshes decide
what spheres refuse, for just those pairs at just those configurations, in the same compiled call. Every pair of links
is either checked or ignored for a reason, and the reasons rest on meshes. A link whose given spheres are not proved to
cover it gets one ball around its mesh instead (`uncovered`), so that a wrong sphere model costs time, not truth.

Curved primitives are judged by triangles that enclose them (at most 1 % of the radius outside): a false alarm within
that distance is possible, a miss is not.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float

from .._clash import Clash
from .._parallel import cores, over_rows
from ..distance import PackedModel, SelfCollisionChecker, bad_row, enclosing_ball, sphere_arrays
from ..errors import InputError
from ..mesh import ExactCollision, TriangleMesh
from ..pairs import PairEvidence, PairMatrix, PairReason, made_for, matrix_of_checked
from ..robot import Robot, as_robot
from ..spheres import SphereModel, prove_coverage
from ..typing import LinkPair
from ._attach import Attachment, extended
from ._defaults import default_pairs_of, default_spheres_of
from ._pack import LINK_ROOT, PackedScene, pack_scene
from ._segment import PackedChains, SegmentProof, pack_chains
from ._verdict import By, OutOfLimits, Verdict

THREAD_ROWS = 2048
"""Batches from this size on are shared by the cores; below, starting threads costs more than it saves."""
ORDER_SAMPLES = 256
"""Random configurations that decide the order of pairs, most often colliding first: it only costs or saves time."""


class CollisionModel:
    """Robot, spheres and pairs (and obstacles) in one verdict; see the module. Immutable: changes give new models."""

    def __init__(
        self,
        robot: Any,
        spheres: SphereModel | None = None,
        pairs: PairMatrix | Sequence[LinkPair] | None = None,
        world: None = None,
        buffer: float = 0.0,
        *,
        threads: int | None = None,
    ) -> None:
        """Proves coverage, packs spheres and meshes; kernels compile at the first question of a process.

        Args:
            robot: a Robot, or whatever `load_robot` takes.
            spheres: their padding counts where spheres decide; None takes the tight fit, cached.
            pairs: a PairMatrix, or the pairs to check; None computes them, cached.
            world: None; obstacles are not part of the model yet.
            buffer: clearance in metres that every pair must keep to be free.
            threads: for large batches; None uses all cores this process may run on.

        Raises:
            InputError: pairs that were computed for another description, other spheres or a smaller buffer (the
                message says what differs), spheres with attached objects, a negative buffer, a robot without geometry.
            UnknownLinkError: spheres or pairs of links that the robot does not have.
        """
        if world is not None:
            raise InputError(f"world: obstacles are not supported yet, found a {type(world).__name__}")
        if isinstance(buffer, bool) or not 0.0 <= float(buffer) < np.inf:
            raise InputError(f"buffer must be metres from 0 up, found {buffer!r}")
        self.robot: Robot = as_robot(robot)
        """The robot; of a model with attached objects, with a link for each of them."""
        self.buffer = float(buffer)
        self.spheres: SphereModel = default_spheres_of(self.robot) if spheres is None else spheres
        if self.spheres.objects:
            raise InputError(
                f"the spheres hold attached objects ({', '.join(self.spheres.objects)}), which have no meshes to "
                "decide with; detach them from the spheres and use CollisionModel.attach"
            )
        self.pairs: PairMatrix = self._checked_pairs(pairs)
        """All pairs of links with geometry, each with its reason."""
        self.attachments: Mapping[str, Attachment] = {}
        """Attached objects by name."""
        self._bare: CollisionModel = self
        self._threads = threads or cores()
        self._local = threading.local()

    def _checked_pairs(self, pairs: PairMatrix | Sequence[LinkPair] | None) -> PairMatrix:
        if pairs is None:
            return default_pairs_of(self.robot, self.spheres, self.buffer)
        if not isinstance(pairs, PairMatrix):
            return matrix_of_checked(self.robot, self.spheres, pairs)
        if pairs.made_for is not None:
            differs = pairs.made_for.differs(made_for(self.robot, self.spheres, self.buffer))
            if differs:
                raise InputError(
                    f"{self.robot.name}: the pairs were computed for something else: {'; '.join(differs)}. Compute "
                    "them anew: compute_pairs(robot, spheres), or leave `pairs` out"
                )
        return pairs

    # The parts ----------------------------------------------------------------------------------

    @property
    def by_spheres(self) -> Mapping[LinkPair, PairEvidence]:
        """Checked pairs whose spheres can show that they are apart at rest."""
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
        """The default pose: the robot's, or the nearest free one where that was a guess that collides."""
        return self.robot.default_cfg if self.pairs.default_cfg is None else self.pairs.default_cfg

    @cached_property
    def uncovered(self) -> tuple[str, ...]:
        """Links whose given spheres are not proved to cover them: one ball around the mesh stands in."""
        own = replace(self.spheres, radii=self.spheres.padded_radii("self"), self_padding={})
        return prove_coverage(self.robot, own, measure=False).uncovered

    # Answers ------------------------------------------------------------------------------------

    def free(self, cfgs: Any, *, by: By = "meshes") -> Any:
        """Whether no checked pair touches (or comes closer than the buffer): bool for (dof,), (n,) bool for (n, dof).

        Args:
            cfgs: (dof,) or (n, dof). Joint limits do not count; `explain` names joints beyond them.
            by: "meshes": the meshes' answer. "spheres": conservative and faster, never True where meshes touch; pairs
                in `by_meshes` are decided by their meshes here too.

        Raises:
            InputError: wrong shape, NaN, or joint values beyond what the error bounds cover.
        """
        packed, scenes = self._packed
        if by not in scenes:
            raise InputError(f"by must be 'meshes' or 'spheres', found {by!r:.40}")
        rows, single = self.robot.cfg_rows(cfgs)
        model = packed.spheres
        arrays = (model.ints, model.floats, model.doubles, packed.pads)
        meshes = (scenes[by], packed.frames, packed.nodes, packed.tris, self.buffer)
        kernels = _kernels()
        if single:  # the way of planners and controllers: as few Python operations as possible
            answer = kernels.decide_one(rows, *arrays, self._workspace(model), *meshes)
            if answer < 0:
                raise bad_row(self.robot.name, rows, 0)
            return answer == 1
        out = np.empty(len(rows), dtype=np.bool_)

        def piece(start: int, stop: int) -> int:
            work = self._workspace(model)
            bad = kernels.decide(rows[start:stop], *arrays, work, *meshes, out[start:stop])
            return bad + start if bad >= 0 else -1

        bad = max(over_rows(piece, len(rows), self._threads, THREAD_ROWS), default=-1)
        if bad >= 0:
            raise bad_row(self.robot.name, rows, bad)
        return out

    def clearance(self, cfgs: Any, *, exact: bool = False) -> Any:
        """Clearance of the closest checked pair in metres: float for (dof,), (n,) float64 for (n, dof).

        Args:
            cfgs: (dof,) or (n, dof).
            exact: False gives a proved lower bound of the true clearance (by spheres where they are apart, by meshes
                where not; where links overlap, minus what parts the boxes around them). True measures it: the
                distance of the closest pair, or minus the largest depth.

        Returns:
            Positive exactly where the configuration is free of contact; infinite when no pair is checked.
        """
        rows, single = self.robot.cfg_rows(cfgs)
        packed, _ = self._packed
        out = np.full(len(rows), np.inf)
        if self._pairs:
            bounds = self._spheres_alone.pair_distances(rows).astype(np.float64) - self._spheres_alone.float_margin
            touching = np.zeros(bounds.shape, dtype=np.uint8)
            q_full = self.robot.tree.expand(rows)
            args = (packed.scene, packed.frames, packed.nodes, packed.tris)

            def piece(start: int, stop: int) -> int:
                part = slice(start, stop)
                _kernels().mesh_gaps(
                    q_full[part], bounds[part], exact, self._numbers, *args, out[part], touching[part]
                )
                return -1

            over_rows(piece, len(rows), self._threads, 16)
            for row in np.flatnonzero(touching.any(axis=1)) if exact else ():
                met = [self._pairs[k] for k in np.flatnonzero(touching[row])]
                out[row] = min(clash.distance for clash in self._meshes.clashes(rows[row], met))
        return float(out[0]) if single else out

    def explain(self, cfg: Any) -> Verdict:
        """What holds at one configuration, and why; see `Verdict`."""
        rows, single = self.robot.cfg_rows(cfg)
        if not single:
            raise InputError(f"explain takes one configuration ({self.robot.dof},), found shape {rows.shape}")
        row = self.robot.as_cfgs(rows)[0]
        near = self._closest(row)
        clashes = tuple(clash for clash in near if clash.distance <= self.buffer)
        joints = zip(self.robot.joint_names, row, self.robot.lower, self.robot.upper, strict=True)
        touching = self._ignored_meshes.touching(row)
        by_spheres = bool((self._spheres_alone.pair_distances(row) > self.buffer).all()) if self._pairs else True
        free = bool(self.free(row))
        return Verdict(
            robot_name=self.robot.name,
            cfg=row,
            free=free,
            by="spheres" if by_spheres else "meshes",
            clearance=near[0].distance if near else np.inf,
            closest=near[0] if near else None,
            clashes=clashes,
            ignored_touching={pair: self.pairs.entries[pair].reason for pair in touching},
            out_of_limits=tuple(
                OutOfLimits(name, float(q), float(low), float(high))
                for name, q, low, high in joints
                if not low <= q <= high
            ),
        )

    def segment_free(self, a: Any, b: Any) -> SegmentProof:
        """Proves that the straight line in joint space from `a` to `b` is free, or says where it is not.

        Args:
            a: (dof,) configuration.
            b: (dof,) another; all joints move together at constant rates, none wraps around.
        """
        begin, end = self.robot.as_cfgs(a)[0], self.robot.as_cfgs(b)[0]
        if np.ndim(a) != 1 or np.ndim(b) != 1:
            raise InputError(f"segment_free takes two configurations ({self.robot.dof},)")
        return self._chains.prove(self._packed[0], begin, end, self.buffer)

    # Changes ------------------------------------------------------------------------------------

    def attach(
        self, name: str, link: str, shape: Any, pose: Any = None, *, touch_links: Sequence[str] = ()
    ) -> CollisionModel:
        """A model with an object fixed to a link, checked against every link but the rigid body that carries it.

        Args:
            name: of the object; it becomes a link of the model's robot and must not be one yet.
            link: what carries it.
            shape: a `trimesh.Trimesh`, a `mesh.TriangleMesh`, or a `mesh.Box`, `Sphere` or `Capsule`.
            pose: of the shape in the link frame, (7,) or (4, 4); None for the identity.
            touch_links: links that may touch it, such as the fingers that hold it.
        """
        item = Attachment(name, link, shape, pose, tuple(touch_links))
        robot, spheres, pairs = extended(self.robot, self.spheres, self.pairs, item)
        model = CollisionModel(robot, spheres, pairs, None, self.buffer, threads=self._threads)
        model.attachments = {**self.attachments, name: item}
        model._bare = self._bare
        return model

    def detach(self, name: str) -> CollisionModel:
        """A model without an attached object.

        Raises:
            InputError: no object of that name is attached.
        """
        if name not in self.attachments:
            raise InputError(
                f"no object {name!r} is attached; there are: {', '.join(self.attachments) or 'none'}"
            )
        model = self._bare
        for item in self.attachments.values():
            if item.name != name:
                model = model.attach(item.name, item.link, item.shape, item.pose, touch_links=item.touch_links)
        return model

    def with_world(self, world: None) -> CollisionModel:
        """A model among obstacles; None is all that is supported yet."""
        model = CollisionModel(self.robot, self.spheres, self.pairs, world, self.buffer, threads=self._threads)
        model.attachments, model._bare = self.attachments, self._bare
        return model

    def __repr__(self) -> str:
        held = f", holding {', '.join(self.attachments)}" if self.attachments else ""
        return (
            f"CollisionModel({self.robot.name!r}: {len(self.spheres)} spheres, {len(self.pairs.by_spheres)} pairs by "
            f"spheres, {len(self.pairs.by_meshes)} by meshes, {len(self.pairs.ignored)} ignored{held})"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_local"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._local = threading.local()

    # Work ---------------------------------------------------------------------------------------

    @cached_property
    def _balls(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Spheres that cover: centres, radii and links; uncovered links get one ball around their mesh."""
        centers, radii, links = sphere_arrays(self.robot.link_names, self.spheres, who=self.robot.name)
        for name in self.uncovered:
            k = self.robot.link_index(name)
            points = self._meshes.meshes[name].vertices
            ball = enclosing_ball(np.column_stack([points, np.zeros(len(points))]))
            other = links != k
            centers = np.concatenate([centers[other], ball[None, :3]])
            radii, links = np.append(radii[other], ball[3]), np.append(links[other], k)
        order = np.argsort(links, kind="stable")
        return centers[order], radii[order], links[order]

    @cached_property
    def _meshes(self) -> ExactCollision:
        """The meshes of the checked pairs."""
        return ExactCollision(self.robot, self.pairs.checked, threads=self._threads)

    @cached_property
    def _ignored_meshes(self) -> ExactCollision:
        """The meshes of the ignored pairs."""
        return ExactCollision(self.robot, tuple(self.pairs.ignored), threads=self._threads)

    @cached_property
    def _pairs(self) -> tuple[LinkPair, ...]:
        """Checked pairs of links with geometry, those that often collide first."""
        solid = {self.robot.link_names[k] for k in np.unique(self._balls[2])}
        pairs = [pair for pair in self.pairs.checked if set(pair) <= solid]
        meshes = self._meshes
        low, high = (np.where(np.isfinite(v), v, 0.0) for v in (self.robot.lower, self.robot.upper))
        cfgs = np.random.default_rng(0).uniform(low, high, (ORDER_SAMPLES, self.robot.dof))
        often = dict(zip(meshes.pairs, meshes.colliding(cfgs).sum(axis=0).tolist(), strict=True))
        return tuple(sorted(pairs, key=lambda pair: -often.get(pair, 0)))

    @cached_property
    def _packed(self) -> tuple[PackedScene, dict[str, np.ndarray]]:
        """Spheres and meshes for the kernels, and who decides each pair for every value of `by`."""
        packed = pack_scene(self.robot, self._balls, self._meshes.meshes, self._pairs, self.buffer)
        only_meshes = set(self.pairs.by_meshes)
        conservative = packed.decided_by([pair in only_meshes for pair in self._pairs])
        return packed, {"meshes": packed.scene, "spheres": conservative}

    @cached_property
    def _numbers(self) -> np.ndarray:
        """(pairs, 2) numbers of the links of `_pairs` in the scene."""
        used = sorted({self.robot.link_index(name) for pair in self._pairs for name in pair})
        place = {link: k for k, link in enumerate(used)}
        return np.array(
            [[place[self.robot.link_index(name)] for name in pair] for pair in self._pairs], dtype=np.int64
        ).reshape(-1, 2)
