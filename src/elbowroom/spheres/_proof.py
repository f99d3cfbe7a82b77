"""Proof that spheres cover the links they stand for.

Exact, not sampled. On a triangle, min over spheres of |x - c|^2 - r^2 can peak only at the corners of the pieces
that the power diagram of the spheres cuts it into (the core's `coverage.hpp`); inside a closed mesh whose surface is
covered, it can peak only at vertices of the power diagram. Finitely many points decide. Every cut is made a little
outwards of its place, so rounding can make a covered link look uncovered, by about 1e-14 of its size, and never the
other way round. Open pieces are covered as surfaces; closed ones with what they enclose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._frozen import frozen
from .._text import fixed, some_names
from ..errors import InputError
from ..robot import Robot, as_robot
from ..robot.internal import require_geometry
from ..typing import RobotLike
from ._model import SphereModel, table
from ._quality import measure_volumes, protrusion
from ._shape import Float64, LinkShape, check, link_shapes

THIN = 3.0
"""Spheres over mesh volume, and hull over mesh volume, above which a closed link is called a thin shell."""


@dataclass(frozen=True)
class LinkCoverage:
    """What is proved of one link."""

    name: str
    """The link."""
    proved: bool
    """Whether all triangles, and the inside of closed pieces, are proved to be inside the spheres."""
    worst_gap: float
    """Largest distance from the link to its spheres, metres: an upper bound, not positive, when proved; otherwise
    that of the worst witness found."""
    witness: Float64 | None
    """(3,) a point of the link outside every sphere, link frame; None when proved or when only rounding is in doubt."""
    n_spheres: int
    """Spheres of the link, attached objects apart."""
    n_triangles: int
    """Triangles decided."""
    closed: bool
    """Whether the mesh is closed, so that its inside is part of the proof."""
    cavities: int
    """Uncovered places found inside, off the surface."""
    volume_ratio: float
    """Union of the spheres over mesh volume (over hull volume for an open mesh)."""
    max_protrusion: float
    """Largest distance found from the union's surface to the mesh, metres."""
    hull_ratio: float = np.nan
    """Union of the spheres over the volume of the convex hull."""
    wall: float = np.nan
    """Mean thickness of a closed mesh, metres: twice its volume over its area."""

    @property
    def thin_shell(self) -> bool:
        """Whether the mesh is a closed shell so thin that spheres, which follow what it encloses, are far larger."""
        # Spheres may be too large for a solid link as well: only what has a large hull is hollow.
        return self.closed and self.volume_ratio > THIN * max(1.0, self.hull_ratio)


@dataclass(frozen=True, repr=False)
class CoverageProof:
    """Outcome of `prove_coverage`."""

    robot_name: str
    """The robot."""
    links: dict[str, LinkCoverage]
    """By link, those with collision geometry."""
    tolerance: float
    """How far outside the spheres a point may be and still count as covered, metres."""
    visual_only: tuple[str, ...] = ()
    """Links that can be seen but have no collision geometry: there is nothing to prove, and no check sees them."""
    left_out: tuple[str, ...] = ()
    """Links with collision geometry of which a part could not be taken; what is proved is about the rest."""
    frames: tuple[str, ...] = ()
    """Links without any geometry: nothing to cover."""

    @property
    def proved(self) -> bool:
        """True when every triangle of every link is inside its spheres; see `complete` for links without triangles."""
        return all(link.proved for link in self.links.values())

    @property
    def complete(self) -> bool:
        """True when it is proved, and of every link that has any geometry."""
        return self.proved and not self.visual_only and not self.left_out

    @property
    def covered(self) -> tuple[str, ...]:
        """Links that are proved as a whole."""
        return tuple(name for name, link in self.links.items() if link.proved and name not in self.left_out)

    @property
    def with_geometry(self) -> tuple[str, ...]:
        """Links that have any geometry, visual or to collide: those that a full cover would be about."""
        return tuple(dict.fromkeys((*self.links, *self.visual_only, *self.left_out)))

    @property
    def headline(self) -> str:
        """The outcome in one sentence without a subject: "proved to cover every link", or which links it leaves."""
        parts: list[str] = []
        if self.uncovered:
            parts.append(f"NOT covering: {some_names(self.uncovered)}")
        if self.complete:
            parts.append("proved to cover every link")
        else:
            total = len(self.with_geometry)
            parts.append(
                f"proved to cover {len(self.covered)} of {total} {'link' if total == 1 else 'links'}"
            )
        return "; ".join([*parts, *self._gaps()])

    def _gaps(self) -> list[str]:
        """Which links the proof says nothing of, or not all."""
        gaps = ((self.visual_only, "no collision geometry"), (self.left_out, "geometry that was left out"))
        return [
            f"{len(names)} {'has' if len(names) == 1 else 'have'} {what}: {some_names(names)}"
            for names, what in gaps
            if names
        ]

    def counts(self) -> dict[str, Any]:
        """How many links are proved and of how many, and the names of the others, as plain values."""
        return {
            "links_proved": len(self.covered),
            "links_with_geometry": len(self.with_geometry),
            "not_covered": list(self.uncovered),
            "without_collision_geometry": list(self.visual_only),
            "left_out": list(self.left_out),
            "frames": list(self.frames),
        }

    @property
    def worst_gap(self) -> float:
        """Largest gap of any link, metres: positive where triangles stick out, zero or negative when proved."""
        return max((link.worst_gap for link in self.links.values()), default=-np.inf)

    @property
    def uncovered(self) -> tuple[str, ...]:
        """Links that are not proved."""
        return tuple(name for name, link in self.links.items() if not link.proved)

    def __repr__(self) -> str:
        total = sum(link.n_spheres for link in self.links.values())
        return f"CoverageProof({self.robot_name!r}: {total} spheres, {self.headline})"

    def __str__(self) -> str:
        rows = [("link", "proved", "gap, mm", "spheres", "triangles", "volume ratio", "max protrusion, mm")]
        for name, link in self.links.items():
            rows.append((
                name, "yes" if link.proved else "NO", fixed(1e3 * link.worst_gap, 4), str(link.n_spheres),
                str(link.n_triangles), f"{link.volume_ratio:.3f}", f"{1e3 * link.max_protrusion:.1f}",
            ))  # fmt: skip
        shells = [
            f"{name}: thin shell, walls of about {1e3 * link.wall:.1f} mm; its spheres have {link.hull_ratio:.2f} "
            "times the volume of its convex hull"
            for name, link in self.links.items()
            if link.thin_shell
        ]
        return "\n".join([table(rows), *shells, *self._gaps()])


def prove_coverage(
    robot: RobotLike, spheres: SphereModel, *, tolerance: float = 0.0, measure: bool = True
) -> CoverageProof:
    """Decides for every link with collision geometry whether its spheres contain it.

    Args:
        robot: a Robot. spheres: its model; padding and attached objects do not count.
        tolerance: distance outside the spheres that is let pass, metres; 0 asks for full coverage.
        measure: whether volume ratio and protrusion are measured too (NaN otherwise).

    Raises:
        UnknownLinkError: the spheres are of another robot.
        InputError: the robot has no collision geometry, so that there is nothing to prove.
    """
    robot = as_robot(robot)
    if not (np.isfinite(tolerance) and tolerance >= 0.0):
        raise InputError(f"tolerance must be finite and not negative, found {tolerance!r}")
    model = spheres.for_links(robot.link_names, robot.name)
    links = {
        name: prove_mesh_coverage(
            shape, *model.link(name, attached=False), name=name, tolerance=tolerance, measure=measure
        )
        for name, shape in link_shapes(robot)
    }
    if not links:
        require_geometry(robot)
    return coverage_of(robot, links, tolerance)


def coverage_of(robot: Robot, links: dict[str, LinkCoverage], tolerance: float = 0.0) -> CoverageProof:
    """What was decided of single links, with the links of the robot that it says nothing of."""
    bare = {*links, *robot.visual_only, *robot.left_out}
    frames = tuple(name for name in robot.link_names if name not in bare)
    return CoverageProof(robot.name, links, tolerance, robot.visual_only, robot.left_out, frames)


def prove_mesh_coverage(
    mesh: Any, centers: Any, radii: Any, *, name: str = "mesh", tolerance: float = 0.0, measure: bool = True
) -> LinkCoverage:
    """The same for one mesh.

    Args:
        mesh: a trimesh.Trimesh, or anything with `vertices` and `faces`, or a LinkShape.
        centers: (spheres, 3) and radii: (spheres,) in the frame of the mesh, metres.
        name: used in messages. tolerance, measure: see `prove_coverage`.
    """
    shape = mesh if isinstance(mesh, LinkShape) else LinkShape.from_mesh(mesh, name)
    c = np.array(centers, dtype=np.float64).reshape(-1, 3)
    r = np.array(radii, dtype=np.float64).reshape(-1)
    if len(c) != len(r) or not np.isfinite(c).all() or not np.isfinite(r).all() or (r < 0.0).any():
        raise InputError(
            f"{name}: expected finite centers (n, 3) and radii (n,), none negative, found {len(c)} centers and "
            f"{len(r)} radii, the smallest {r.min(initial=np.inf)!r}"
        )
    result = check(shape, c, r, tolerance)
    gap, witness = result.surface_bound, None
    if not result.covered and (result.gaps > 0.0).any():
        worst = int(np.argmax(result.gaps))
        gap, witness = float(result.gaps[worst]), frozen(result.witnesses[worst].copy())
    ratio, hull_ratio, largest, wall = np.nan, np.nan, np.nan, np.nan
    if measure:
        volumes = measure_volumes(shape, c, r)
        ratio, largest, wall = volumes.ratio, protrusion(shape, c, r)[1], shape.wall
        hull_ratio = volumes.union / shape.hull_volume if shape.hull_volume > 0.0 else np.inf
    return LinkCoverage(
        name=name,
        proved=result.covered,
        worst_gap=gap,
        witness=witness,
        n_spheres=len(r),
        n_triangles=len(shape.faces),
        closed=shape.closed,
        cavities=result.cavities,
        volume_ratio=ratio,
        max_protrusion=largest,
        hull_ratio=hull_ratio,
        wall=wall,
    )
