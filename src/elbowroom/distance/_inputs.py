"""Spheres and values by link as the functions of this folder take them: checked, by name, in one order."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from jaxtyping import Float, Int

from ..errors import InputError, UnknownLinkError, shape_text, unknown
from ..robot import Robot
from ..robot.internal import adjacent_pairs, pair_list
from ..typing import LinkPair

logger = logging.getLogger(__name__)


class Spheres(Protocol):
    """What this folder needs of a sphere model; `elbowroom.spheres.SphereModel` has it."""

    @property
    def link_names(self) -> tuple[str, ...]:
        """Links that `link_idx` points into."""
        ...

    @property
    def centers(self) -> np.ndarray:
        """(spheres, 3) in link frames."""
        ...

    @property
    def radii(self) -> np.ndarray:
        """(spheres,) metres."""
        ...

    @property
    def link_idx(self) -> np.ndarray:
        """(spheres,) link of each sphere."""
        ...


def sphere_arrays(
    link_names: tuple[str, ...], spheres: Spheres, *, who: str = "robot"
) -> tuple[Float[np.ndarray, "n 3"], Float[np.ndarray, "n"], Int[np.ndarray, "n"]]:
    """Centres, radii with self-collision padding, and link positions in `link_names` order, links ascending.

    Raises:
        InputError: not a sphere model, shapes that do not fit, NaN, radii that are not positive.
        UnknownLinkError: a link with spheres that the robot does not have.
    """
    try:
        names = tuple(spheres.link_names)
        centers = np.array(spheres.centers, dtype=np.float64)
        radii = np.array(spheres.radii, dtype=np.float64)
        index = np.array(spheres.link_idx, dtype=np.int64)
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(f"expected a sphere model, found {shape_text(spheres)}") from error
    if centers.shape != (len(radii), 3) or radii.shape != index.shape:
        raise InputError(
            f"a sphere model needs centers (n, 3), radii (n,) and link_idx (n,), found {centers.shape}, "
            f"{radii.shape} and {index.shape}"
        )
    if not (np.isfinite(centers).all() and np.isfinite(radii).all()):
        raise InputError("the sphere model has NaN or infinite entries")
    if len(radii) == 0:
        raise InputError("the sphere model has no sphere")
    if radii.min() <= 0.0:
        raise InputError(f"radii must be positive, found {radii.min():g}")
    if index.min() < 0 or index.max() >= len(names):
        raise InputError(f"link_idx must be within 0..{len(names) - 1}, found {index.min()}..{index.max()}")
    position = {name: k for k, name in enumerate(link_names)}
    for k in sorted(set(index.tolist())):
        if names[k] not in position:
            text = unknown("link", names[k], link_names)
            raise UnknownLinkError(f"the sphere model is for another robot than {who}: {text}")
    links = np.array([position.get(name, -1) for name in names], dtype=np.int64)[index]
    padding: Mapping[str, float] = getattr(spheres, "self_padding", {})
    for link, extra in padding.items():
        radii[links == position.get(link, -1)] += extra
    order = np.argsort(links, kind="stable")
    return centers[order], radii[order], links[order]


def pairs_for_spheres(
    link_names: Iterable[str], pairs: Any, who: str
) -> tuple[tuple[LinkPair, ...], tuple[LinkPair, ...]]:
    """Pairs that a sphere engine checks, and those that it leaves to meshes.

    Args:
        link_names: the robot's links.
        pairs: a PairMatrix, whose `by_spheres` are checked and whose `by_meshes` are left, or (link, link) tuples,
            which are all checked.
        who: the engine, for the log.
    """
    names = tuple(link_names)
    left = pair_list(names, getattr(pairs, "by_meshes", ()))
    if left:
        logger.info("%s leaves %d pairs to meshes, which alone can decide them: %s", who, len(left), left)
    return pair_list(names, getattr(pairs, "by_spheres", pairs)), left


def default_pairs(
    robot: Robot, with_geometry: Iterable[str], ignore: Iterable[LinkPair] = ()
) -> tuple[LinkPair, ...]:
    """All pairs of links with geometry except adjacent and ignored ones, sorted by name."""
    names = sorted(set(with_geometry))
    skip = adjacent_pairs(robot, names) | set(ignore)
    return tuple(pair for pair in combinations(names, 2) if pair not in skip)


def link_values(
    link_names: tuple[str, ...], values: float | Mapping[str, float], what: str
) -> Float[np.ndarray, "links"]:
    """One number per link from a number for all or a map of some; others get zero.

    Raises:
        InputError: a value that is not a finite number.
        UnknownLinkError: a link that the robot does not have.
    """
    out = np.zeros(len(link_names))
    try:
        if isinstance(values, Mapping):
            for name, value in values.items():
                if name not in link_names:
                    raise UnknownLinkError(f"{what}: {unknown('link', str(name), link_names)}")
                out[link_names.index(name)] = float(value)
        else:
            out[:] = float(values)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be metres, for all links or by link, found {values!r:.60}") from error
    if not np.isfinite(out).all():
        raise InputError(f"{what} must be finite")
    return out
