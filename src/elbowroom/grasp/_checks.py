"""Collision checks of a grasp: the hand against a table, an object and itself (`CollisionModel`), on exact meshes.

Distances are signed (negative is penetration). The links that carry active fingertips, and those fixed to them,
are meant to touch the object. A grasp puts fingertip points on its surface, and collision shapes enclose these points,
so a shape may be inside the object by the tip tolerance, and by no more: a finger that is deeper stands where the
object is. A hand wrapped around a cylinder may touch it with all links of
the fingers that wrap it, which may overlap it only by what a mesh differs from a round object. Links that
touch at rest, or that a joint joins, may touch each other. The table is a half-space: the lowest vertex decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .._brief import brief
from .._poses import as_matrix
from ..errors import InputError
from ..typing import LinkPair
from ._execute import GraspMotion
from ._grasp import Grasp, as_number
from ._hand import Hand

if TYPE_CHECKING:
    import trimesh

    from ..collision import CollisionModel
    from ..mesh import TriangleMesh

TIP_TOLERANCE = 0.003
"""m; how far a link that carries an active fingertip may be inside the object. The shapes of the bundled hand reach 1.6
to 2.6 mm beyond fingertip points that are on the surface (two fingers, 10 to 60 mm), balls as fingertips 0.1 mm."""
WRAP_TOLERANCE = 0.0005
"""m; the same for links that wrap a cylinder: a mesh of it has flat sides."""
TABLE, OBJECT = "the table", "the object"
"""Names of the two obstacles."""


@dataclass(frozen=True)
class Overlap:
    """A link that is inside the object."""

    link: str
    finger: str
    """The finger it moves with; empty for the palm."""
    depth: float
    """m, positive."""
    tolerance: float
    """m: how deep it may be; 0 for links that are not meant to touch."""

    @property
    def exceeds(self) -> bool:
        """Whether it is deeper than it may be."""
        return self.depth > self.tolerance

    def __str__(self) -> str:
        allowed = f", {1e3 * self.tolerance:.1f} mm are allowed" if self.tolerance else ""
        return f"{self.link} is {1e3 * self.depth:.1f} mm inside the object{allowed}"


@brief
@dataclass(frozen=True)
class GraspCheck:
    """What a grasp touches."""

    table_clearance: float
    """Lowest point of the hand over the table, m; infinite without a table."""
    table_link: str
    """The link that has it."""
    object_distances: Mapping[str, float]
    """Signed distance of each link to the object, m; empty without an object."""
    tip_links: tuple[str, ...]
    """Links that are meant to touch: they carry active fingertips, or belong to a hand wrapped around a cylinder."""
    self_collisions: tuple[LinkPair, ...]
    """Link pairs that collide and should not."""
    tip_tolerance: float
    """How far `tip_links` may be inside the object, m."""
    link_fingers: Mapping[str, str]
    """The finger of each link that moves with one."""

    @property
    def overlaps(self) -> tuple[Overlap, ...]:
        """Links that are inside the object, the deepest first."""
        found = [
            Overlap(
                link,
                self.link_fingers.get(link, ""),
                -distance,
                self.tip_tolerance if link in self.tip_links else 0.0,
            )
            for link, distance in self.object_distances.items()
            if distance < 0.0
        ]
        return tuple(sorted(found, key=lambda overlap: -overlap.depth))

    @property
    def blocked(self) -> tuple[str, ...]:
        """Links that are in the object further than they may be."""
        return tuple(overlap.link for overlap in self.overlaps if overlap.exceeds)

    @property
    def clearance(self) -> float:
        """Smallest distance to table and object of what should not touch, m: positive apart, negative overlapping."""
        others = [d for link, d in self.object_distances.items() if link not in self.tip_links]
        return min([self.table_clearance, *others])

    @property
    def free(self) -> bool:
        """Nothing touches that should not, and fingertips are no deeper in the object than the tolerance."""
        return self.table_clearance >= 0.0 and not self.blocked and not self.self_collisions

    @property
    def why(self) -> str:
        """What is wrong, in words; empty when free."""
        reasons: list[str] = []
        if self.table_clearance < 0.0:
            reasons.append(f"{self.table_link} is {-1e3 * self.table_clearance:.1f} mm inside the table")
        reasons += [str(overlap) for overlap in self.overlaps if overlap.exceeds]
        reasons += [f"{a} meets {b}" for a, b in self.self_collisions]
        return "; ".join(reasons)


class GraspChecker:
    """Checks grasps of one hand.

    Args:
        hand: the hand.
        tip_tolerance: m, see `TIP_TOLERANCE`.
        wrap_tolerance: m, see `WRAP_TOLERANCE`.
    """

    def __init__(
        self, hand: Hand, *, tip_tolerance: float = TIP_TOLERANCE, wrap_tolerance: float = WRAP_TOLERANCE
    ) -> None:
        self.hand = hand
        self.tip_tolerance = as_number(tip_tolerance, "tip_tolerance")
        self.wrap_tolerance = as_number(wrap_tolerance, "wrap_tolerance")
        self._links = hand.robot.mesh_links
        if not self._links:
            raise InputError(f"{hand.name}: it has no collision geometry to check")

    @cached_property
    def model(self) -> CollisionModel:
        """The hand against itself: links that touch at rest may always touch, whatever the description disables."""
        from ..collision import CollisionModel
        from ..pairs import PairOptions, compute_pairs
        from ..spheres import FitOptions, fit_spheres

        robot = self.hand.robot
        spheres = fit_spheres(robot, FitOptions(method="centerline"))
        rest = self.hand.cfg(self.hand.ctrl_rest)
        pairs = compute_pairs(robot, spheres, PairOptions(default_cfgs=(rest,), use_srdf=False))
        return CollisionModel(robot, spheres, pairs)

    @property
    def pairs(self) -> tuple[LinkPair, ...]:
        """Link pairs that are checked against each other."""
        return self.model.pairs.checked

    def check(
        self,
        grasp: Grasp,
        *,
        height: float = 0.1,
        table_height: float | None = 0.0,
        object_mesh: TriangleMesh | trimesh.Trimesh | None = None,
        T_world_object: ArrayLike | None = None,
    ) -> GraspCheck:
        """Checks one grasp.

        Args:
            grasp: of this checker's hand.
            height: world height of the grasp, m.
            table_height: world height of the table, m; None for none.
            object_mesh: a `mesh.TriangleMesh` or `trimesh.Trimesh`.
            T_world_object: its pose, (7,) or (4, 4); identity by default.
        """
        if grasp.hand is not self.hand:
            raise InputError(f"the grasp is of another hand than the checker's, {self.hand.name!r}")
        links, tolerance = self._meant_to_touch(grasp)
        return self._check(
            grasp.ctrl,
            grasp.to_world(height).T_world_base,
            links,
            tolerance,
            table_height=table_height,
            object_mesh=object_mesh,
            T_world_object=T_world_object,
        )

    def _meant_to_touch(self, grasp: Grasp) -> tuple[tuple[str, ...], float]:
        tips = (self.hand.thumb, *grasp.fingers)
        if grasp.touching:
            wrapping = [link for link in self._links if self.hand.link_fingers.get(link) in tips]
            return tuple(dict.fromkeys((*grasp.touching, *wrapping))), self.wrap_tolerance
        return tuple(link for link in self.hand.tip_links(tips) if link in self._links), self.tip_tolerance

    def _check(
        self,
        ctrl: ArrayLike,
        T_world_base: ArrayLike,
        tip_links: tuple[str, ...],
        tolerance: float,
        *,
        table_height: float | None,
        object_mesh: TriangleMesh | trimesh.Trimesh | None,
        T_world_object: ArrayLike | None,
    ) -> GraspCheck:
        from ..mesh import TriangleMesh
        from ..world import HalfSpace, MeshObstacle, World

        cfg, T_base_world = self.hand.cfg(ctrl), np.linalg.inv(as_matrix(T_world_base, "T_world_base"))
        obstacles: list[HalfSpace | MeshObstacle] = []
        if table_height is not None:
            level = as_number(table_height, "table_height")
            obstacles.append(HalfSpace(name=TABLE, offset=level, pose=T_base_world))
        if object_mesh is not None:
            T = np.eye(4) if T_world_object is None else as_matrix(T_world_object, "T_world_object")
            mesh = (
                object_mesh
                if isinstance(object_mesh, TriangleMesh)
                else TriangleMesh.from_trimesh(object_mesh)
            )
            obstacles.append(MeshObstacle(name=OBJECT, mesh=mesh, pose=T_base_world @ T))
        any_touch = [(link, obstacle.name) for link in self._links for obstacle in obstacles]
        near = self.model.with_world(World(obstacles), allow=any_touch).obstacle_distances(cfg)
        lowest = next((clash for clash in near if clash.b == TABLE), None)
        return GraspCheck(
            table_clearance=np.inf if lowest is None else lowest.distance,
            table_link="" if lowest is None else lowest.a,
            object_distances={clash.a: clash.distance for clash in near if clash.b == OBJECT},
            tip_links=tip_links,
            self_collisions=tuple(clash.pair for clash in self.model.clashes(cfg)),
            tip_tolerance=tolerance,
            link_fingers=self.hand.link_fingers,
        )

    def check_motion(
        self,
        motion: GraspMotion,
        *,
        every: int = 5,
        table_height: float | None = 0.0,
        object_mesh: TriangleMesh | trimesh.Trimesh | None = None,
        T_world_object: ArrayLike | None = None,
    ) -> tuple[int, GraspCheck] | None:
        """The first row of a motion that is not free, with its check; None when all checked rows are.

        Rows in between are not checked, nor is the motion from row to row.

        Args:
            motion: from `plan_approach`.
            every: rows from one check to the next; the last row is always checked.
            table_height: world height of the table, m; None for none.
            object_mesh: a `mesh.TriangleMesh` or `trimesh.Trimesh`.
            T_world_object: its pose.
        """
        links, tolerance = self._meant_to_touch(motion.grasp)
        for row in sorted({*range(0, len(motion.times), max(1, every)), len(motion.times) - 1}):
            found = self._check(
                motion.ctrl[row],
                motion.Ts_world_base[row],
                links,
                tolerance,
                table_height=table_height,
                object_mesh=object_mesh,
                T_world_object=T_world_object,
            )
            if not found.free:
                return row, found
        return None
