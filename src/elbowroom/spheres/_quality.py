"""How good a sphere model is: volumes, protrusion, occupancy, per link and for the robot.

Volumes are measured along shifted lattices of rays, whose spread gives the standard error. Protrusion is the
distance from points of the union's outer surface to the mesh; its largest value is searched from evenly spread
points on every sphere and refined about the best of them: a close lower bound of the true maximum, not a proof.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._brief import brief
from ..robot import as_robot
from ..typing import RobotLike
from ._model import SphereModel, table
from ._problem import surface_points
from ._shape import Float64, LinkShape, ball_rows, link_shapes


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
