"""CollisionModel: the one owner of the question "is the robot free?".

Spheres accept: they are proved to cover the links, so spheres that are apart show links that are apart. Meshes decide
what spheres refuse, for just those pairs at just those configurations, in the same compiled call (`_engine`). Every
pair of links is either checked or ignored for a reason, and the reasons rest on meshes.

Curved primitives are judged by triangles that enclose them (at most 1 % of the radius outside): a false alarm within
that distance is possible, a miss is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from .._clash import Clash
from ..distance import SelfCollisionChecker
from ..errors import InputError
from ..mesh import ExactCollision
from ..pairs import PairEvidence, PairMatrix, made_for
from ..robot import Robot, as_robot, require_geometry
from ..spheres import SphereModel
from ..typing import LinkPair
from ._attach import Attachment, extended
from ._cover import covering
from ._defaults import default_pairs, default_spheres
from ._engine import Engine
from ._segment import SegmentProof, SegmentProofs
from ._verdict import By, OutOfLimits, Verdict


class CollisionModel:
    """Robot, spheres and pairs (and obstacles) in one verdict; see the module. Immutable: changes give new models."""

    def __init__(
        self,
        robot: Robot,
        spheres: SphereModel | None = None,
        pairs: PairMatrix | None = None,
        world: None = None,
        buffer: float = 0.0,
        *,
        threads: int | None = None,
    ) -> None:
        """Proves coverage, packs spheres and meshes; kernels compile at the first question and are then cached.

        Args:
            robot: an Elbowroom Robot, with collision geometry.
            spheres: their padding counts where spheres decide. A link that they are not proved to cover gets one ball
                around its mesh instead (`uncovered`). None takes the tight fit, cached.
            pairs: which pairs are checked; None computes them, cached.
            world: None; obstacles are not part of the model yet.
            buffer: clearance in metres that every pair must keep to be free.
            threads: for large batches; None uses all cores this process may run on.

        Raises:
            InputError: pairs that were computed for another description, other spheres or a smaller buffer (the
                message says what differs), spheres with attached objects, a bad buffer, a robot without geometry.
            UnknownLinkError: spheres or pairs of links that the robot does not have.
        """
        if world is not None:
            raise InputError(f"world: obstacles are not supported yet, found a {type(world).__name__}")
        if isinstance(buffer, bool) or not 0.0 <= float(buffer) < np.inf:
            raise InputError(f"buffer must be metres from 0 up, found {buffer!r}")
        self.robot: Robot = as_robot(robot)
        """The robot; of a model with attached objects, with a link for each of them."""
        require_geometry(self.robot)
        self.buffer = float(buffer)
        """Clearance asked of every pair, metres."""
        given = default_spheres(self.robot) if spheres is None else spheres
        if given.objects:
            raise InputError(
                f"the spheres hold attached objects ({', '.join(given.objects)}), which have no meshes to decide with; "
                "detach them from the spheres and use CollisionModel.attach"
            )
        self.spheres, self.uncovered = covering(self.robot, given)
        """Spheres proved to cover the links, and the links whose given spheres did not: one ball around the mesh stands
        in for them."""
        self.pairs: PairMatrix = (
            default_pairs(self.robot, self.spheres, self.buffer) if pairs is None else pairs
        )
        """All pairs of links with geometry, each with its reason."""
        if pairs is not None:
            self._refuse_foreign(pairs)
        self.attachments: Mapping[str, Attachment] = {}
        """Attached objects by name."""
        self._bare: CollisionModel = self
        self._engine = Engine(self.robot, self.spheres, self.pairs, self.buffer, threads)

    def _refuse_foreign(self, pairs: PairMatrix) -> None:
        """Raises unless the pairs are of these links, and made for this robot and these spheres where they say so."""
        differs: list[str] = []
        if pairs.made_for is not None:
            differs += pairs.made_for.differs(made_for(self.robot, self.spheres, self.buffer))
        missing = sorted({*self.robot.mesh_links, *self.spheres.counts} - set(pairs.link_names))
        if missing and not differs:
            differs.append(f"they say nothing of {', '.join(missing[:5])}")
        if not differs:
            return
        anew = (
            "leave `pairs` out, or compute them with compute_pairs(robot, spheres, PairOptions(buffer=...))"
        )
        if self.uncovered:
            anew = (
                f"the given spheres do not cover {', '.join(self.uncovered[:5])}, so a ball stands in for each: leave "
                "`pairs` out, or compute them for CollisionModel(robot, spheres).spheres"
            )
        raise InputError(
            f"{self.robot.name}: the pairs were computed for something else: {'; '.join(differs)}. To mend it: {anew}"
        )

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

    # Answers ------------------------------------------------------------------------------------

    def free(self, cfgs: Any, *, by: By = "meshes") -> Any:
        """Whether no checked pair touches or comes closer than the buffer: bool for (dof,), (n,) bool for (n, dof).

        Args:
            cfgs: (dof,) or (n, dof). Joint limits do not count; `explain` names joints beyond them.
            by: "meshes": the meshes' answer. "spheres": conservative and faster, never True where meshes touch; pairs
                in `by_meshes` are decided by their meshes here too.

        Raises:
            InputError: wrong shape, NaN, or joint values beyond what the error bounds cover.
        """
        return self._engine.free(cfgs, by)

    def clearance(self, cfgs: Any, *, exact: bool = False) -> Any:
        """Clearance of the closest checked pair in metres: float for (dof,), (n,) float64 for (n, dof).

        Args:
            cfgs: (dof,) or (n, dof).
            exact: False gives a proved lower bound of the true clearance: by spheres where they are apart, by meshes
                where not; where links overlap, minus what parts the boxes around them. True measures it: the distance
                of the closest pair, or minus the largest depth (which is itself searched, see `mesh`).

        Returns:
            Positive exactly where no checked pair touches; infinite when no pair is checked.
        """
        rows, single = self.robot.cfg_rows(cfgs)
        rows = self.robot.as_cfgs(rows)
        out, _, touching = self._engine.gaps(rows, exact=exact)
        if exact:
            for k in np.flatnonzero(touching.any(axis=1)):
                depths = [clash.distance for clash in self._checked.contacts(rows[k])]
                # At bare contact, two ways to pose a link may differ: touching it is.
                out[k] = min(out[k], *depths, 0.0)
        return float(out[0]) if single else out

    def clashes(self, cfg: Any) -> tuple[Clash, ...]:
        """Checked pairs that touch at one configuration, or come closer than the buffer, the deepest first."""
        row = self.robot.as_cfg(cfg)
        if self.free(row):
            return ()
        near = self._near(row) if self.buffer or self._round is not None else self._checked.contacts(row)
        near = near or self._near(row)[:1]  # links that touch to rounding only
        return tuple(clash for clash in near if clash.distance <= self.buffer) or near[:1]

    def explain(self, cfg: Any) -> Verdict:
        """What holds at one configuration, and why; see `Verdict`."""
        row = self.robot.as_cfg(cfg)
        near, free = self._near(row), bool(self.free(row))
        clashes = () if free else tuple(clash for clash in near if clash.distance <= self.buffer) or near[:1]
        if free:
            by_spheres = self._engine.by_spheres(row)
        else:  # spheres have the last word where a link has no mesh
            by_spheres = {clash.pair for clash in clashes} <= set(self._checked.unchecked)
        joints = zip(self.robot.joint_names, row, self.robot.lower, self.robot.upper, strict=True)
        touching = np.flatnonzero(self._unchecked.colliding(row))
        return Verdict(
            robot_name=self.robot.name,
            cfg=row,
            free=free,
            by="spheres" if by_spheres else "meshes",
            closest=near[0] if near else None,
            clashes=clashes,
            ignored_touching={
                pair: self.pairs.entries[pair] for pair in (self._unchecked.pairs[k] for k in touching)
            },
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
        return self.segments_free(self.robot.as_cfg(a)[None], self.robot.as_cfg(b)[None])[0]

    def segments_free(self, a: Any, b: Any) -> SegmentProofs:
        """`segment_free` for many segments in one call, on all cores.

        Args:
            a: (n, dof) configurations.
            b: (n, dof); segment k goes from a[k] to b[k].
        """
        begins, ends = self.robot.as_cfgs(a), self.robot.as_cfgs(b)
        if len(begins) != len(ends):
            raise InputError(
                f"segments need as many ends as beginnings, found {len(begins)} and {len(ends)} configurations"
            )
        self.free(np.concatenate([begins, ends]))  # refuses values that no error bound covers
        return self._engine.segments(begins, ends)

    def _near(self, row: Float[np.ndarray, "dof"]) -> tuple[Clash, ...]:
        """Every checked pair, by its meshes, or by its spheres where a link has no mesh; the closest first."""
        found = self._checked.distances(row)
        if self._round is None:
            return found
        return tuple(sorted((*found, *self._round.closest(row)), key=lambda clash: clash.distance))

    @cached_property
    def _checked(self) -> ExactCollision:
        return ExactCollision(self.robot, self.pairs.checked)

    @cached_property
    def _round(self) -> SelfCollisionChecker | None:
        """The spheres of checked pairs in which a link has no mesh; None when there are none."""
        pairs = self._checked.unchecked
        return SelfCollisionChecker(self.robot, self.spheres, pairs, threads=1) if pairs else None

    @cached_property
    def _unchecked(self) -> ExactCollision:
        return ExactCollision(self.robot, tuple(self.pairs.ignored))

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

        Raises:
            UnknownLinkError: no such link. InputError: the name is taken, or the shape or pose makes no sense.
        """
        item = Attachment.of(name, link, shape, pose, touch_links)
        return self._with(item)

    def _with(self, item: Attachment) -> CollisionModel:
        robot, spheres, pairs = extended(self.robot, self.spheres, self.pairs, item)
        model = CollisionModel(robot, spheres, pairs, None, self.buffer, threads=self._engine.threads)
        model.attachments, model._bare = {**self.attachments, item.name: item}, self._bare
        return model

    def detach(self, name: str) -> CollisionModel:
        """A model without an attached object.

        Raises:
            InputError: no object of that name is attached, or another object hangs on it.
        """
        if name not in self.attachments:
            held = ", ".join(self.attachments) or "none"
            raise InputError(f"no object {name!r} is attached; there are: {held}")
        others = [item for item in self.attachments.values() if item.name != name]
        hanging = [item.name for item in others if item.link == name]
        if hanging:
            raise InputError(f"object {name!r} carries {', '.join(hanging)}; detach these first")
        model = self._bare
        for item in others:
            may = tuple(link for link in item.touch_links if link != name)
            model = model._with(replace(item, touch_links=may))
        return model

    def with_world(self, world: None) -> CollisionModel:
        """A model among obstacles; None, no obstacles, is all that is supported yet."""
        if world is not None:
            raise InputError(f"world: obstacles are not supported yet, found a {type(world).__name__}")
        return self

    def __repr__(self) -> str:
        held = f", holding {', '.join(self.attachments)}" if self.attachments else ""
        return (
            f"CollisionModel({self.robot.name!r}: {len(self.spheres)} spheres, {len(self.pairs.by_spheres)} pairs by "
            f"spheres, {len(self.pairs.by_meshes)} by meshes, {len(self.pairs.ignored)} ignored{held})"
        )
