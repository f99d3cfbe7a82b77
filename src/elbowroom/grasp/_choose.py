"""The best of several grasps: free of collisions first, then quality and clearance together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._brief import brief
from .._poses import as_matrix
from ..errors import InputError
from ._checks import GraspCheck, GraspChecker
from ._grasp import Grasp
from ._quality import FRICTION, TORSION, GraspQuality, contacts_on_mesh, grasp_quality

if TYPE_CHECKING:
    import trimesh

    from ..mesh import TriangleMesh

ENOUGH_CLEARANCE = 0.010
"""m; clearance beyond this adds nothing to a grasp's score."""
REACH = 0.010
"""m; a fingertip farther from the object than this does not count as a contact."""


@brief
@dataclass(frozen=True, eq=False)
class RatedGrasp:
    """A grasp with its check and quality."""

    grasp: Grasp
    check: GraspCheck
    quality: GraspQuality
    score: float
    """Quality times how much of `ENOUGH_CLEARANCE` there is; negative infinity when not free."""


def rate_grasp(
    grasp: Grasp,
    checker: GraspChecker,
    object_mesh: TriangleMesh | trimesh.Trimesh,
    *,
    T_world_object: ArrayLike | None = None,
    height: float = 0.1,
    table_height: float | None = 0.0,
    friction: float = FRICTION,
    torsion: float = TORSION,
) -> RatedGrasp:
    """Checks and rates one grasp of an object given as a mesh in the world."""
    T = np.eye(4) if T_world_object is None else as_matrix(T_world_object, "T_world_object")
    check = checker.check(
        grasp, height=height, table_height=table_height, object_mesh=object_mesh, T_world_object=T
    )
    vertices = np.asarray(object_mesh.vertices) @ T[:3, :3].T + T[:3, 3]
    T_base, points = grasp.to_world(height)
    radii = {finger.name: finger.tip_radius for finger in grasp.hand.fingers}
    if grasp.touching:
        points = {link: T_base[:3, :3] @ point + T_base[:3, 3] for link, point in grasp.touching.items()}
        radii = {}
    contacts = contacts_on_mesh(points, vertices, object_mesh.faces, radii)
    touching = tuple(contact for contact in contacts if contact.gap <= REACH)
    quality = grasp_quality(
        touching or contacts, center=vertices.mean(axis=0), friction=friction, torsion=torsion
    )
    if not touching:
        quality = replace(quality, force_closure=False, epsilon=0.0, volume=0.0)
    share = float(np.clip(check.clearance / ENOUGH_CLEARANCE, 0.0, 1.0))
    return RatedGrasp(grasp, check, quality, quality.epsilon * share if check.free else -np.inf)


def best_grasp(
    grasps: Iterable[Grasp],
    checker: GraspChecker,
    object_mesh: TriangleMesh | trimesh.Trimesh,
    **options: Any,
) -> tuple[RatedGrasp, tuple[RatedGrasp, ...]]:
    """Rates grasps and chooses the best.

    Args:
        grasps: candidates, all of the checker's hand.
        checker: of the hand.
        object_mesh: the object, with outward triangles.
        **options: of `rate_grasp`.

    Returns:
        The best, and all in falling order.

    Raises:
        InputError: no candidate, or none that is free; the message says what is in the way of each.
    """
    rated = sorted(
        (rate_grasp(grasp, checker, object_mesh, **options) for grasp in grasps),
        key=lambda entry: (entry.score, entry.check.clearance),
        reverse=True,
    )
    if not rated:
        raise InputError("best_grasp needs at least one grasp")
    if rated[0].score == -np.inf:
        reasons = "; ".join(
            f"{r.grasp.opposition} {1e3 * r.grasp.width:.1f} mm: {r.check.why}" for r in rated[:4]
        )
        raise InputError(f"none of {len(rated)} grasps is free: {reasons}")
    return rated[0], tuple(rated)
