"""How good a sphere model is: volumes, protrusion, occupancy, per link and for the robot.

Volumes are measured along shifted lattices of rays, whose spread gives the standard error. Protrusion is the
distance from points of the union's outer surface to the mesh; its largest value is searched from evenly spread
points on every sphere and refined about the best of them: a close lower bound of the true maximum, not a proof.

Links whose spheres stay far larger than their convex hull get a note. The measure is the volume of the
union of a link's spheres over that of the link's convex hull. It holds for closed and open meshes alike, and one ball
around a cube has 2.7: above 3, a link is worse off than a cube in one ball. A flat link, whose hull has no volume, has
no such ratio.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .._brief import brief
from ..robot import as_robot
from ..typing import RobotLike
from ._model import SphereModel, table
from ._problem import surface_points
from ._shape import Float64, LinkShape, ball_rows, link_shapes, union_volume


@dataclass(frozen=True)
class Volumes:
    """Volumes of one link in cubic metres, with standard errors."""

    union: float
    """Union of the spheres."""
    union_error: float
    """Standard error of the union volume."""
    reference: float
    """Mesh volume where the mesh is closed, otherwise the volume of its convex hull."""
    is_mesh: bool
    """Whether the reference is the mesh itself."""
    covered: float
    """Share of the solid inside the spheres; 1 for a shape without closed piece."""

    @property
    def ratio(self) -> float:
        """Union over reference; infinite for a flat shape."""
        return self.union / self.reference if self.reference > 0.0 else np.inf

    @property
    def ratio_error(self) -> float:
        """Standard error of the ratio."""
        return self.union_error / self.reference if self.reference > 0.0 else np.inf


@dataclass(frozen=True)
class LinkQuality:
    """Quality of one link's spheres."""

    n_spheres: int
    """Number of spheres."""
    volumes: Volumes
    """Union and reference volume."""
    mean_protrusion: float
    """Mean distance of the union's outer surface to the mesh, metres."""
    max_protrusion: float
    """Largest such distance found, metres."""
    surface_occupancy: float
    """Share of surface samples inside the spheres."""
    volume_occupancy: float
    """Share of the solid inside the spheres."""


@brief
@dataclass(frozen=True)
class QualityReport:
    """Quality of a sphere model, link by link."""

    robot_name: str
    """Name of the robot."""
    links: dict[str, LinkQuality]
    """By link, those with geometry."""
    samples: int
    """Surface samples per link."""

    @property
    def n_spheres(self) -> int:
        """Spheres on links with geometry."""
        return sum(q.n_spheres for q in self.links.values())

    @property
    def volume_ratio(self) -> float:
        """Sum of union volumes over sum of reference volumes."""
        reference = sum(q.volumes.reference for q in self.links.values())
        return sum(q.volumes.union for q in self.links.values()) / reference if reference > 0.0 else np.inf

    @property
    def volume_ratio_error(self) -> float:
        """Standard error of `volume_ratio`."""
        reference = sum(q.volumes.reference for q in self.links.values())
        error = np.sqrt(sum(q.volumes.union_error**2 for q in self.links.values()))
        return float(error / reference) if reference > 0.0 else np.inf

    @property
    def max_protrusion(self) -> float:
        """Largest protrusion of any link, metres."""
        return max((q.max_protrusion for q in self.links.values()), default=0.0)

    def __str__(self) -> str:
        rows = [("link", "spheres", "volume ratio", "of", "mean, mm", "max, mm", "surface", "volume")]
        for name, q in self.links.items():
            rows.append((
                name, str(q.n_spheres), f"{q.volumes.ratio:.3f} ± {q.volumes.ratio_error:.3f}",
                "mesh" if q.volumes.is_mesh else "hull", f"{1e3 * q.mean_protrusion:.1f}",
                f"{1e3 * q.max_protrusion:.1f}", f"{100 * q.surface_occupancy:.1f} %",
                f"{100 * q.volume_occupancy:.1f} %",
            ))  # fmt: skip
        rows.append((
            "all", str(self.n_spheres), f"{self.volume_ratio:.3f} ± {self.volume_ratio_error:.3f}", "", "",
            f"{1e3 * self.max_protrusion:.1f}", "", "",
        ))  # fmt: skip
        return table(rows)


def sphere_quality(
    robot: RobotLike, spheres: SphereModel, *, samples: int = 4096, seed: int = 0
) -> QualityReport:
    """Measures a sphere model against the robot's collision meshes.

    Args:
        robot: a Robot. spheres: its model; attached objects do not count. samples: surface samples per link.
        seed: of the samples.
    """
    robot = as_robot(robot)
    model = spheres.for_links(robot.link_names, robot.name)
    links = {
        name: link_quality(shape, *model.link(name, attached=False), samples=samples, seed=seed)
        for name, shape in link_shapes(robot)
    }
    return QualityReport(robot.name, links, samples)


def link_quality(
    shape: LinkShape, centers: Float64, radii: Float64, *, samples: int = 4096, seed: int = 0
) -> LinkQuality:
    """Measures spheres (n, 3), (n,) against one shape."""
    points = surface_points(shape, samples, np.random.default_rng(seed))
    inside = np.zeros(len(points), dtype=bool)
    for center, radius in zip(centers, radii, strict=True):
        inside |= ((points - center) ** 2).sum(axis=1) <= radius**2 * (1.0 + 1e-12)
    volumes = measure_volumes(shape, centers, radii)
    mean, largest = protrusion(shape, centers, radii)
    return LinkQuality(len(radii), volumes, mean, largest, float(inside.mean()), volumes.covered)


def measure_volumes(shape: LinkShape, centers: Float64, radii: Float64) -> Volumes:
    """Volumes of union and solid by shifted lattices of rays."""
    rows = shape.ray_volumes(centers, radii)
    solid, union, both = rows.mean(axis=0)
    error = float(rows[:, 1].std(ddof=1) / np.sqrt(len(rows)))
    covered = float(both / solid) if solid > 0.0 else 1.0
    return Volumes(float(union), error, shape.reference_volume, shape.reference_is_solid, covered)


def protrusion(shape: LinkShape, centers: Float64, radii: Float64) -> tuple[float, float]:
    """Mean and largest distance from the union's outer surface to the mesh, metres."""
    return shape.core.protrusion(ball_rows(centers, radii))


DOUBT = 0.9
"""Links whose quickly measured ratio is below this share of the cap need not be measured well."""

NAMED = 6
"""Links named at most, the worst first."""


@dataclass(frozen=True)
class Loose:
    """A link that stays above the cap."""

    ratio: float
    """Union of its spheres over its hull."""
    count: int
    """Spheres that it has."""
    enough: int
    """Spheres that would bring it below the cap, 0 if none that were tried do."""
    given: bool
    """Whether its count was given."""


def loose_ratio(shape: LinkShape, centers: Float64, radii: Float64, cap: float) -> float:
    """Union over hull volume of spheres (n, 3), (n,) where that is above a cap, otherwise 0."""
    hull = shape.hull_volume
    if hull <= 0.0 or union_volume(centers, radii) < DOUBT * cap * hull:
        return 0.0
    ratio = measure_volumes(shape, centers, radii).union / hull
    return ratio if ratio > cap else 0.0


def loose_note(loose: Mapping[str, Loose], cap: float, budget: int) -> str:
    """One line on links above the cap.

    Args:
        loose: by link, not empty. cap: that they should not exceed. budget: spheres of all links.
    """
    worst = sorted(loose, key=lambda name: -loose[name].ratio)
    names = ", ".join(f"{name} ({loose[name].ratio:.1f})" for name in worst[:NAMED])
    names += f" and {len(loose) - NAMED} more" if len(loose) > NAMED else ""
    what = "1 link stays" if len(loose) == 1 else f"{len(loose)} links stay"
    parts = [f"{what} above {cap:g} times the volume of the convex hull: {names}"]
    given = [name for name, link in loose.items() if link.given]
    beyond = [name for name, link in loose.items() if not link.given and not link.enough]
    mended = [link for link in loose.values() if not link.given and link.enough]
    if mended:
        enough = budget + sum(link.enough - link.count for link in mended)
        which = "it" if len(loose) == 1 else "them" if len(mended) == len(loose) else "the others"
        parts.append(f"n_spheres={enough} would bring {which} below")
    if given:
        parts.append(f"the count of {', '.join(given)} is given")
    if beyond:
        parts.append(f"no count that was tried would bring {', '.join(beyond)} below")
    return "; ".join(parts)
