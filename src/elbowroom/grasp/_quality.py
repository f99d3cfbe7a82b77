"""Contacts, force closure and Ferrari-Canny quality.

Contacts press along the object's inward normal with Coulomb friction and, by default, torsional friction (soft
fingers, as MuJoCo's condim 4). Cones become EDGES generators inscribed in them, so quality is never
overstated. The grasp wrench space is the convex hull of all contacts' unit generators (Ferrari & Canny, ICRA
1992, the L1 metric); quality is the radius of the largest ball around the origin inside it, torques divided by
the object's size. The hull is qhull's; where it is flat, the origin is no interior point and quality is zero.
Quality says what the contacts can hold, not whether the fingers are strong enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError

from .._brief import brief
from .._frozen import frozen
from .._poses import as_matrix
from ..errors import InputError, shape_text
from ._checks import GraspCheck, GraspChecker
from ._grasp import Grasp, as_number

if TYPE_CHECKING:
    import trimesh

    from ..mesh import TriangleMesh

FRICTION = 1.0
TORSION = 0.005
"""Sliding friction, and torsional friction in metres: the bundled hand's values."""
EDGES = 16
"""Generators of a friction cone: inscribed, its smallest radius is cos(pi / 16) = 0.981 of the cone's."""
FLAT = 1e-9
"""Quality below this is zero."""


@brief
@dataclass(frozen=True, eq=False)
class GraspContact:
    """A fingertip, or a link of a wrapping hand, on the object."""

    finger: str
    """Name of the finger or link."""
    point: Float[np.ndarray, "3"]
    """On the object's surface, world frame, m."""
    normal: Float[np.ndarray, "3"]
    """Unit, into the object."""
    gap: float
    """From the fingertip to the surface, m; negative inside."""


@brief
@dataclass(frozen=True, eq=False)
class GraspQuality:
    """What a set of contacts can hold."""

    contacts: tuple[GraspContact, ...]
    force_closure: bool
    """Every wrench can be resisted."""
    epsilon: float
    """Ferrari-Canny quality: largest wrench resisted in every direction with contact forces that sum to one."""
    volume: float
    """Volume of the grasp wrench space."""
    weakest: Float[np.ndarray, "6"]
    """Direction of the wrench that is resisted least (force, torque over `scale`); zero without force closure."""
    friction: float
    torsion: float
    scale: float
    """m; torques are divided by it."""
    largest_gap: float
    """m; a large one means that the contacts are only the points nearest to the fingertips."""


def contacts_on_mesh(
    tips: Mapping[str, Float[np.ndarray, "3"]],
    vertices: ArrayLike,
    faces: ArrayLike,
    radii: Mapping[str, float] | None = None,
) -> tuple[GraspContact, ...]:
    """Contacts where fingertips are nearest to a mesh.

    Args:
        tips: finger -> fingertip, world frame.
        vertices: (verts, 3) of the object, world frame.
        faces: (tris, 3) wound outward.
        radii: finger -> radius of the ball around its tip, m; 0 when not named.
    """
    from trimesh.triangles import closest_point

    corners = np.asarray(vertices, dtype=np.float64)[np.asarray(faces)]
    if corners.ndim != 3 or corners.shape[1:] != (3, 3) or not len(corners):
        raise InputError(f"object: expected triangles, found {shape_text(corners)}")
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1)
    corners, normals = corners[length > 0], normals[length > 0] / length[length > 0, None]
    contacts: list[GraspContact] = []
    for name, tip in tips.items():
        nearest = closest_point(
            corners, np.broadcast_to(np.asarray(tip, dtype=np.float64), (len(corners), 3))
        )
        distance = np.linalg.norm(nearest - tip, axis=1)
        ties = distance <= distance.min() + 1e-9  # an edge or corner: the face that looks at the tip most
        side = np.einsum("ij,ij->i", tip - nearest, normals)
        k = int(np.argmax(np.where(ties, np.abs(side), -1.0)))
        sign = 1.0 if side[k] >= 0.0 else -1.0
        gap = float(sign * distance[k]) - (radii or {}).get(name, 0.0)
        contacts.append(GraspContact(name, frozen(nearest[k].copy()), frozen(-normals[k]), gap))
    return tuple(contacts)


def contacts_on_sides(grasp: Grasp, height: float = 0.1) -> tuple[GraspContact, ...]:
    """Contacts on two parallel vertical sides (the object a line or plane grasp is planned for).

    Raises:
        InputError: the grasp is of a cylinder.
    """
    fingers, thumb = grasp.sides(height)
    contacts: list[GraspContact] = []
    for name, tip in grasp.to_world(height).tips_world.items():
        at_thumb = name == grasp.hand.thumb
        point = np.array([thumb if at_thumb else fingers, tip[1], tip[2]])
        normal = np.array([-1.0 if at_thumb else 1.0, 0.0, 0.0])
        gap = float(-normal @ (tip - point)) - grasp.hand.finger(name).tip_radius
        contacts.append(GraspContact(name, frozen(point), frozen(normal), gap))
    return tuple(contacts)


def contacts_on_cylinder(grasp: Grasp, height: float = 0.1) -> tuple[GraspContact, ...]:
    """Contacts of a wrapped cylinder (the object a smooth cylinder grasp is planned for), named by their links.

    Raises:
        InputError: the grasp wraps nothing.
    """
    if not grasp.touching:
        raise InputError(f"{grasp!r} wraps no cylinder; its contacts are at the fingertips")
    level = as_number(height, "height")
    T = grasp.to_world(level).T_world_base
    contacts: list[GraspContact] = []
    for link, point in grasp.touching.items():
        place = T[:3, :3] @ point + T[:3, 3]
        inward = np.array([-place[0], 0.0, level - place[2]])  # the axis is along Y at that height
        distance = float(np.linalg.norm(inward))
        gap = distance - 0.5 * grasp.width
        contacts.append(GraspContact(link, frozen(place), frozen(inward / distance), gap))
    return tuple(contacts)


def grasp_quality(
    contacts: tuple[GraspContact, ...],
    *,
    center: ArrayLike | None = None,
    scale: float | None = None,
    friction: float = FRICTION,
    torsion: float = TORSION,
    edges: int = EDGES,
) -> GraspQuality:
    """Force closure and Ferrari-Canny quality of contacts.

    Args:
        contacts: at least one.
        center: point about which torques are taken; the contacts' mean by default.
        scale: m, divides torques; the largest distance of a contact from `center` by default.
        friction: Coulomb coefficient.
        torsion: torsional friction coefficient, m; 0 for hard fingers.
        edges: generators per cone, at least 3.
    """
    if not contacts:
        raise InputError("quality needs at least one contact")
    for name, value in (("friction", friction), ("torsion", torsion)):
        if as_number(value, name) < 0:
            raise InputError(f"{name} must not be negative, found {value}")
    if edges < 3:
        raise InputError(f"a friction cone needs at least 3 edges, found {edges}")
    points = np.array([contact.point for contact in contacts])
    middle = points.mean(axis=0) if center is None else np.asarray(center, dtype=np.float64)
    reach = float(np.linalg.norm(points - middle, axis=1).max())
    size = as_number(scale, "scale") if scale is not None else (reach or 1.0)
    wrenches = np.concatenate(
        [generators(contact, middle, size, friction, torsion, edges) for contact in contacts]
    )
    epsilon, volume, weakest = wrench_space(wrenches)
    return GraspQuality(
        contacts=contacts,
        force_closure=epsilon > 0.0,
        epsilon=epsilon,
        volume=volume,
        weakest=frozen(weakest),
        friction=friction,
        torsion=torsion,
        scale=size,
        largest_gap=max(abs(contact.gap) for contact in contacts),
    )


def generators(
    contact: GraspContact, center: np.ndarray, scale: float, friction: float, torsion: float, edges: int
) -> Float[np.ndarray, "n 6"]:
    """Wrenches of one contact for unit normal force: cone edges, and the two torsional extremes."""
    n = contact.normal
    first = np.cross(n, np.eye(3)[int(np.argmin(np.abs(n)))])
    first /= np.linalg.norm(first)
    second = np.cross(n, first)
    angle = 2.0 * np.pi * np.arange(edges) / edges
    forces = n + friction * (np.cos(angle)[:, None] * first + np.sin(angle)[:, None] * second)
    wrenches = np.concatenate([forces, np.cross(contact.point - center, forces) / scale], axis=1)
    if torsion > 0:
        turn = np.cross(contact.point - center, n) / scale
        twist = torsion * n / scale
        extremes = np.array([np.concatenate([n, turn + twist]), np.concatenate([n, turn - twist])])
        wrenches = np.concatenate([wrenches, extremes])
    return wrenches


def wrench_space(wrenches: Float[np.ndarray, "n 6"]) -> tuple[float, float, Float[np.ndarray, "6"]]:
    """Radius of the largest origin-centred ball in the hull, the hull's volume, and the weakest direction."""
    none = np.zeros(wrenches.shape[1])
    spread = wrenches - wrenches.mean(axis=0)
    if (
        np.linalg.matrix_rank(spread, tol=1e-9) < wrenches.shape[1]
    ):  # fewer contacts or directions than space has
        return 0.0, 0.0, none
    try:
        hull = ConvexHull(wrenches)
    except QhullError:  # many generators on one facet: qhull moves them by its own rounding and goes on
        hull = ConvexHull(wrenches, qhull_options="QJ Pp")
    offsets = -hull.equations[:, -1]  # distance of the origin below each facet
    k = int(np.argmin(offsets))
    if offsets[k] <= FLAT:
        return 0.0, float(hull.volume), none
    return float(offsets[k]), float(hull.volume), hull.equations[k, :-1].copy()


# The best of several grasps -----------------------------------------------------------------------

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
