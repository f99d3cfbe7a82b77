"""Collision checks of a grasp: the hand against a table, an object and itself (`CollisionModel`), on exact meshes.

Distances are signed (negative is penetration). The links that carry active fingertips, and those fixed to them,
are meant to touch the object; they may overlap it by an allowance, because a hand's collision shapes enclose its
fingers and so reach beyond the fingertip points. A hand wrapped around a cylinder may touch it with all links of
the fingers that wrap it, which may overlap it only by what a mesh differs from a round object. Links that
touch at rest, or that a joint joins, may touch each other. The table is a half-space and exact for
meshes: their lowest vertex decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from .._poses import as_matrix, matrix_from_wxyz_xyz
from ..errors import InputError
from ..typing import LinkPair
from ._execute import GraspMotion
from ._grasp import Grasp, as_number
from ._hand import Hand

if TYPE_CHECKING:
    import trimesh

    from ..collision import CollisionModel
    from ..mesh import TriangleMesh

TIP_ALLOWANCE = 0.008
"""m; overlap with the object granted to links that carry active fingertips: about the radius of a finger."""
WRAP_ALLOWANCE = 0.0005
"""m; overlap granted to links that wrap a cylinder: a mesh of it has flat sides."""


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
    tip_allowance: float

    @property
    def blocked(self) -> tuple[str, ...]:
        """Links that are in the object further than they may be."""
        return tuple(
            link
            for link, distance in self.object_distances.items()
            if distance < (-self.tip_allowance if link in self.tip_links else 0.0)
        )

    @property
    def clearance(self) -> float:
        """Smallest distance to table and object of what should not touch, m."""
        others = [d for link, d in self.object_distances.items() if link not in self.tip_links]
        return min([self.table_clearance, *others])

    @property
    def free(self) -> bool:
        """Nothing touches that should not."""
        return self.table_clearance >= 0.0 and not self.blocked and not self.self_collisions

    @property
    def why(self) -> str:
        """What is wrong, in words; empty when free."""
        reasons: list[str] = []
        if self.table_clearance < 0.0:
            reasons.append(f"{self.table_link} is {-1e3 * self.table_clearance:.1f} mm inside the table")
        for link in self.blocked:
            reasons.append(f"{link} is {-1e3 * self.object_distances[link]:.1f} mm inside the object")
        reasons += [f"{a} meets {b}" for a, b in self.self_collisions]
        return "; ".join(reasons)


class GraspChecker:
    """Checks grasps of one hand.

    Args:
        hand: the hand.
        tip_allowance: m, see `TIP_ALLOWANCE`.
        wrap_allowance: m, see `WRAP_ALLOWANCE`.
    """

    def __init__(
        self, hand: Hand, *, tip_allowance: float = TIP_ALLOWANCE, wrap_allowance: float = WRAP_ALLOWANCE
    ) -> None:
        self.hand = hand
        self.tip_allowance = as_number(tip_allowance, "tip_allowance")
        self.wrap_allowance = as_number(wrap_allowance, "wrap_allowance")
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

    @cached_property
    def _meshes(self) -> dict[str, TriangleMesh]:
        from ..mesh import TriangleMesh

        robot = self.hand.robot
        return {link: TriangleMesh.from_trimesh(robot.link_mesh(link)) for link in self._links}

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
        links, allowance = self._meant_to_touch(grasp)
        return self._check(
            grasp.ctrl,
            grasp.to_world(height).T_world_base,
            links,
            allowance,
            table_height=table_height,
            object_mesh=object_mesh,
            T_world_object=T_world_object,
        )

    def _meant_to_touch(self, grasp: Grasp) -> tuple[tuple[str, ...], float]:
        tips = (self.hand.thumb, *grasp.fingers)
        if grasp.touching:
            wrapping = [link for link in self._links if self.hand.link_fingers.get(link) in tips]
            return tuple(dict.fromkeys((*grasp.touching, *wrapping))), self.wrap_allowance
        return tuple(link for link in self.hand.tip_links(tips) if link in self._links), self.tip_allowance

    def check_posture(
        self,
        ctrl: ArrayLike,
        T_world_base: ArrayLike,
        *,
        tips: tuple[str, ...] = (),
        table_height: float | None = 0.0,
        object_mesh: TriangleMesh | trimesh.Trimesh | None = None,
        T_world_object: ArrayLike | None = None,
    ) -> GraspCheck:
        """Checks any control at any base pose; `tips` are the fingers that may touch the object."""
        return self._check(
            ctrl,
            T_world_base,
            self.hand.tip_links(tips),
            self.tip_allowance,
            table_height=table_height,
            object_mesh=object_mesh,
            T_world_object=T_world_object,
        )

    def _check(
        self,
        ctrl: ArrayLike,
        T_world_base: ArrayLike,
        tip_links: tuple[str, ...],
        allowance: float,
        *,
        table_height: float | None,
        object_mesh: TriangleMesh | trimesh.Trimesh | None,
        T_world_object: ArrayLike | None,
    ) -> GraspCheck:
        poses = self._poses(self.hand.as_ctrl(ctrl), as_matrix(T_world_base, "T_world_base"))
        clearance, lowest = np.inf, ""
        if table_height is not None:
            level = as_number(table_height, "table_height")
            heights = {
                link: float((mesh.vertices @ poses[link][2, :3]).min() + poses[link][2, 3]) - level
                for link, mesh in self._meshes.items()
            }
            lowest = min(heights, key=lambda link: heights[link])
            clearance = heights[lowest]
        return GraspCheck(
            table_clearance=clearance,
            table_link=lowest,
            object_distances=self._object_distances(poses, object_mesh, T_world_object),
            tip_links=tip_links,
            self_collisions=tuple(clash.pair for clash in self.model.clashes(self.hand.cfg(ctrl))),
            tip_allowance=allowance,
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
        """The first row of a motion that is not free, with its check; None when all looked at are.

        Rows between those looked at are not checked, and neither is the way from row to row.

        Args:
            motion: from `plan_approach`.
            every: rows from one check to the next; the last row is always checked.
            table_height: world height of the table, m; None for none.
            object_mesh: a `mesh.TriangleMesh` or `trimesh.Trimesh`.
            T_world_object: its pose.
        """
        links, allowance = self._meant_to_touch(motion.grasp)
        for row in sorted({*range(0, len(motion.times), max(1, every)), len(motion.times) - 1}):
            found = self._check(
                motion.ctrl[row],
                motion.Ts_world_base[row],
                links,
                allowance,
                table_height=table_height,
                object_mesh=object_mesh,
                T_world_object=T_world_object,
            )
            if not found.free:
                return row, found
        return None

    def _object_distances(
        self,
        poses: dict[str, np.ndarray],
        object_mesh: TriangleMesh | trimesh.Trimesh | None,
        T_world_object: ArrayLike | None,
    ) -> dict[str, float]:
        from ..mesh import TriangleMesh, distance

        if object_mesh is None:
            return {}
        mesh = (
            object_mesh if isinstance(object_mesh, TriangleMesh) else TriangleMesh.from_trimesh(object_mesh)
        )
        T = np.eye(4) if T_world_object is None else as_matrix(T_world_object, "T_world_object")
        return {
            link: float(distance(own, poses[link], mesh, T).distance) for link, own in self._meshes.items()
        }

    def _poses(self, ctrl: Float[np.ndarray, "actuators"], T_world_base: np.ndarray) -> dict[str, np.ndarray]:
        robot = self.hand.robot
        links = matrix_from_wxyz_xyz(robot.link_poses(self.hand.cfg(ctrl)))
        return {link: T_world_base @ links[robot.link_index(link)] for link in self._links}
