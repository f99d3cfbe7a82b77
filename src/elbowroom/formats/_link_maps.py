"""What cuRobo and XRDF both say of links, as YAML mappings: spheres, padding, ignored pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import FormatError
from ..pairs.doors import ignore_dictionary
from ..spheres import SphereModel
from ..typing import LinkPair
from ._contents import name_of, number, pair, short
from ._yaml import flow

Entries = list[tuple[list[float], float]]
"""(centre, radius) of each sphere of a link."""


def read_spheres(value: Any, where: str) -> tuple[dict[str, Entries], list[str]]:
    """Spheres by link from `{link: [{center, radius}]}`; spheres of radius <= 0 are disabled and noted."""
    if not isinstance(value, Mapping):
        raise FormatError(f"{where}: expected a mapping of links to spheres, found {short(value)}")
    found: dict[str, Entries] = {}
    notes: list[str] = []
    for link, entries in value.items():
        link = name_of(link, where)
        at = f"{where}: link {short(link)}"
        if not isinstance(entries, Sequence) or isinstance(entries, str):
            raise FormatError(f"{at}: expected a list of spheres, found {short(entries)}")
        spheres: Entries = []
        for index, entry in enumerate(entries):
            if not isinstance(entry, Mapping) or "center" not in entry or "radius" not in entry:
                raise FormatError(
                    f"{at}, sphere {index}: expected 'center' and 'radius', found {short(entry)}"
                )
            center = entry["center"]
            if not isinstance(center, Sequence) or isinstance(center, str) or len(center) != 3:
                raise FormatError(
                    f"{at}, sphere {index}: expected a center of three numbers, found {short(center)}"
                )
            radius = number(entry["radius"], f"{at}, sphere {index}, radius")
            position = [number(x, f"{at}, sphere {index}, center") for x in center]
            if radius > 0:
                spheres.append((position, radius))
            else:
                notes.append(f"link {link!r}, sphere {index}: radius {radius:g} means disabled; left out")
        found[link] = spheres
    return found, notes


def arrays_of(entries: Entries) -> tuple[list[list[float]], list[float]]:
    """Centres and radii of spheres, apart."""
    return [center for center, _ in entries], [radius for _, radius in entries]


def write_spheres(model: SphereModel) -> dict[str, list[dict[str, Any]]]:
    """Spheres by link as `{link: [{center, radius}]}`; attached objects are included in their link."""
    return {link: entries_of(*model.link(link)) for link in model.counts}


def entries_of(centers: np.ndarray, radii: np.ndarray) -> list[dict[str, Any]]:
    """Spheres as a list of `{center, radius}`."""
    return [
        {"center": flow(center), "radius": radius}
        for center, radius in zip(centers.tolist(), radii.tolist(), strict=True)
    ]


def read_ignore(value: Any, where: str) -> dict[LinkPair, str]:
    """Pairs from `{link: [links]}`; a pair may be given once or from both sides."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise FormatError(f"{where}: expected a mapping of links to lists of links, found {short(value)}")
    found: dict[LinkPair, str] = {}
    for link, others in value.items():
        link = name_of(link, where)
        if others is None:
            continue
        if not isinstance(others, Sequence) or isinstance(others, str):
            raise FormatError(f"{where}: link {link!r}: expected a list of links, found {short(others)}")
        for other in others:
            found[pair(link, name_of(other, f"{where}: link {link!r}"), where)] = ""
    return found


def write_ignore(pairs: Mapping[LinkPair, str]) -> dict[str, Any]:
    """`{link: [links]}` with each pair once, as `PairMatrix.ignore_dictionary` has it."""
    return {link: flow(others) for link, others in ignore_dictionary(pairs).items()}


def read_padding(value: Any, links: Sequence[str], where: str) -> dict[str, float]:
    """Padding by link from a number for all, a mapping, or nothing."""
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return {
            name_of(link, where): number(amount, f"{where}: link {short(link)}")
            for link, amount in value.items()
        }
    amount = number(value, where)
    return dict.fromkeys(links, amount) if amount else {}
