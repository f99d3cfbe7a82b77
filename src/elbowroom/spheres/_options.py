"""Options of `fit_spheres`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .._parallel import check_workers
from ..errors import InputError


@dataclass(frozen=True)
class ClipPlane:
    """A plane that spheres of a link should not reach beyond, e.g. the table a base stands on.

    Coverage comes first: a flat face on the plane can only be covered by spheres that dip below it. Volume beyond
    the plane costs much more than other outside volume, and the depth that remains is in the model's evidence.
    """

    link: str
    """The link it holds for."""
    normal: tuple[float, float, float]
    """Direction of the allowed side, link frame; any length."""
    offset: float
    """Points with unit normal . x >= offset (metres) are on the allowed side."""

    def __post_init__(self) -> None:
        length = math.hypot(*self.normal) if len(self.normal) == 3 else math.nan
        if not (length > 0.0 and math.isfinite(length) and math.isfinite(self.offset)):
            raise InputError(
                f"clip plane of link {self.link!r}: expected a finite normal of three numbers, not all zero, and a "
                f"finite offset, found {self.normal} and {self.offset}"
            )

    def row(self) -> np.ndarray:
        """(4,) unit normal and offset."""
        return np.append(np.asarray(self.normal, dtype=float) / math.hypot(*self.normal), self.offset)


@dataclass(frozen=True)
class FitOptions:
    """How `fit_spheres` makes a sphere model."""

    method: Literal["tight", "centerline"] = "tight"
    """`tight`: the least volume for a budget. `centerline`: spheres along the lines between joints, no search."""
    n_spheres: int | None = None
    """`tight`: total number of spheres. None uses about the fewest that reach `target_ratio` and `ratio_cap`, at most
    48 per link, and skips spheres that save less than a thousandth of the volume of all links."""
    per_link: Mapping[str, int] | None = None
    """Spheres per link: for `tight` the maximum (spheres that contain nothing are omitted), for `centerline` the number
    along each centerline before gaps are closed."""
    margin: float = 0.0
    """Added to every radius after the proof, metres."""
    seed: int = 0
    """Seed of all random choices; the same seed gives the same spheres for any number of workers."""
    default_n_spheres: int = 3
    """`centerline`: spheres along a centerline where neither `per_link` nor the name of the link says more."""
    min_radius: float = 0.005
    """`centerline`: smallest radius, metres."""
    ratio_cap: float = 3.0
    """`tight`: volume of the union over that of the convex hull that no link exceeds while the budget allows; if it
    does not, `SphereModel.notes` names the budget that would. After that, the same over mesh volume for closed
    links that move, unless they are hollow."""
    target_ratio: float = 1.45
    """`tight` without `n_spheres`: union over mesh volume of all links together that decides how many spheres there
    are; which links get them is decided by what limits motion."""
    clip_planes: tuple[ClipPlane, ...] = ()
    """`tight`: planes that spheres should not reach beyond."""
    apart_at_rest: bool = False
    """`tight`: adds spheres beyond `n_spheres` to links whose spheres overlap at the default pose although their meshes
    are apart, so that fewer pairs are left to the meshes. Takes a few times as long."""
    share_mirrored: bool = True
    """`tight`: links of the same or mirrored shape get the same or mirrored spheres."""
    effort: float = 1.0
    """`tight`: scales the number of starts and moves, and with them the time; 0 is a first fit without search, which
    takes a second or two for most robots and is proved just as well."""
    workers: int | None = None
    """`tight`: links fitted at once, in threads or by joblib's active configuration; None uses all cores. Does not
    change the result."""
    cache: bool = True
    """Whether results are kept in the user's cache folder and taken from there."""

    @property
    def fitted_alone(self) -> frozenset[str]:
        """Links with a count or a clip plane of their own: they share no spheres and are not covered again."""
        return frozenset({*(self.per_link or {}), *(plane.link for plane in self.clip_planes)})

    def __post_init__(self) -> None:
        if self.method not in ("tight", "centerline"):
            raise InputError(f"method must be 'tight' or 'centerline', found {self.method!r}")
        if self.n_spheres is not None and not _is_count(self.n_spheres):
            raise InputError(f"n_spheres must be a positive whole number or None, found {self.n_spheres!r}")
        for link, count in (self.per_link or {}).items():
            if not _is_count(count):
                raise InputError(f"per_link[{link!r}] must be a positive whole number, found {count!r}")
        for name, low in (
            ("margin", 0.0),
            ("min_radius", 0.0),
            ("ratio_cap", 1.0),
            ("target_ratio", 1.0),
            ("effort", 0.0),
        ):
            value = getattr(self, name)
            if isinstance(value, str) or not (math.isfinite(value) and value >= low):
                raise InputError(f"{name} must be finite and at least {low:g}, found {value!r}")
        if not _is_count(self.default_n_spheres):
            raise InputError(
                f"default_n_spheres must be a positive whole number, found {self.default_n_spheres!r}"
            )
        for count in (self.n_spheres or 0, self.default_n_spheres, *(self.per_link or {}).values()):
            if count > MOST_SPHERES:
                raise InputError(f"a robot gets at most {MOST_SPHERES} spheres, found {count}")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise InputError(f"seed must be a whole number from 0 up, found {self.seed!r}")
        check_workers(self.workers)


MOST_SPHERES = 100_000
"""A budget beyond this is treated as a mistake; thousands serve the finest models."""


def _is_count(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(value >= 1)
