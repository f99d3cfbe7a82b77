"""Links whose spheres stay far larger than their convex hull, and what is said of them.

The measure is the volume of the union of a link's spheres over that of the link's convex hull. It holds for closed and
open meshes alike, and one ball around a cube has 2.7: above 3, a link is worse off than a cube in one ball. A flat
link, whose hull has no volume, has no such ratio.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ._quality import measure_volumes
from ._shape import Float64, LinkShape, union_volume

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
