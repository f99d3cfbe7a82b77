"""YAML with comments, order and quoting kept (ruamel.yaml), and the sphere lists that its formats share."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import FormatError
from ..spheres import SphereModel
from ..typing import LinkPair
from ._contents import number, pair, read_text, write_bytes

Spheres = dict[str, list[tuple[list[float], float]]]
"""Link -> (centre, radius) of each sphere."""


def load_yaml(path: Path) -> tuple[Any, list[str]]:
    """Reads a YAML mapping and notes on what is odd about it.

    Raises:
        FormatError: not YAML, or not a mapping; names file and line.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import DuplicateKeyError
    from ruamel.yaml.error import YAMLError

    text, notes = read_text(path), list[str]()
    yaml = YAML()
    try:
        try:
            data = yaml.load(text)
        except DuplicateKeyError as error:
            # Published cuRobo files have such keys; ruamel keeps the first value.
            lenient = YAML()
            lenient.allow_duplicate_keys = True
            data = lenient.load(text)
            notes.append(
                f"a key is given twice, the first value counts: {' '.join(str(error.problem).split())}"
            )
    except (YAMLError, ValueError, RecursionError) as error:
        raise FormatError(f"{path}: not readable as YAML: {' '.join(str(error).split())[:300]}") from error
    if not isinstance(data, Mapping):
        raise FormatError(f"{path}: expected a YAML mapping, found a {type(data).__name__}")
    return data, notes


def dump_yaml(path: Path, data: Any) -> None:
    """Writes a YAML mapping, all or nothing."""
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.width = 110
    yaml.indent(mapping=2, sequence=4, offset=2)
    buffer = io.BytesIO()
    yaml.dump(data, buffer)
    write_bytes(path, buffer.getvalue())


def flow(values: Sequence[Any]) -> Any:
    """A list that is written on one line."""
    from ruamel.yaml.comments import CommentedSeq

    sequence = CommentedSeq(values)
    sequence.fa.set_flow_style()
    return sequence


def read_spheres(value: Any, where: str) -> tuple[Spheres, list[str]]:
    """Spheres by link from `{link: [{center, radius}]}`; spheres of radius <= 0 are disabled and noted."""
    if not isinstance(value, Mapping):
        raise FormatError(f"{where}: expected a mapping of links to spheres, found {value!r:.60}")
    found: Spheres = {}
    notes: list[str] = []
    for link, entries in value.items():
        at = f"{where}: link {str(link)!r}"
        if not isinstance(entries, Sequence) or isinstance(entries, str):
            raise FormatError(f"{at}: expected a list of spheres, found {entries!r:.60}")
        spheres: list[tuple[list[float], float]] = []
        for index, entry in enumerate(entries):
            if not isinstance(entry, Mapping) or "center" not in entry or "radius" not in entry:
                raise FormatError(
                    f"{at}, sphere {index}: expected 'center' and 'radius', found {entry!r:.80}"
                )
            center = entry["center"]
            if not isinstance(center, Sequence) or isinstance(center, str) or len(center) != 3:
                raise FormatError(
                    f"{at}, sphere {index}: expected a center of three numbers, found {center!r:.60}"
                )
            radius = number(entry["radius"], f"{at}, sphere {index}, radius")
            position = [number(x, f"{at}, sphere {index}, center") for x in center]
            if radius > 0:
                spheres.append((position, radius))
            else:
                notes.append(
                    f"link {str(link)!r}, sphere {index}: radius {radius:g} means disabled; left out"
                )
        found[str(link)] = spheres
    return found, notes


def write_spheres(model: SphereModel) -> dict[str, list[dict[str, Any]]]:
    """Spheres by link as `{link: [{center, radius}]}`; attached objects are included in their link."""
    found: dict[str, list[dict[str, Any]]] = {}
    for link in model.counts:
        centers, radii = model.link(link)
        found[link] = [
            {"center": flow(center.tolist()), "radius": float(radius)}
            for center, radius in zip(centers, radii, strict=True)
        ]
    return found


def read_ignore(value: Any, where: str) -> dict[LinkPair, str]:
    """Pairs from `{link: [links]}`; a pair may be given once or from both sides."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise FormatError(f"{where}: expected a mapping of links to lists of links, found {value!r:.60}")
    found: dict[LinkPair, str] = {}
    for link, others in value.items():
        if others is None:
            continue
        if not isinstance(others, Sequence) or isinstance(others, str):
            raise FormatError(f"{where}: link {str(link)!r}: expected a list of links, found {others!r:.60}")
        for other in others:
            found[pair(str(link), str(other), where)] = ""
    return found


def write_ignore(pairs: Mapping[LinkPair, str]) -> dict[str, Any]:
    """`{link: [links]}` with each pair once."""
    found: dict[str, list[str]] = {}
    for a, b in sorted(pairs):
        found.setdefault(a, []).append(b)
    return {link: flow(others) for link, others in found.items()}


def read_padding(value: Any, links: Sequence[str], where: str) -> dict[str, float]:
    """Padding by link from a number for all, a mapping, or nothing."""
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return {str(link): number(amount, f"{where}: link {str(link)!r}") for link, amount in value.items()}
    amount = number(value, where)
    return dict.fromkeys(links, amount) if amount else {}


def lost_names(pairs: Mapping[LinkPair, str]) -> list[str]:
    """Note on reasons that a format cannot hold."""
    reasons = sum(bool(reason) for reason in pairs.values())
    return [f"the reasons of {reasons} ignored pairs are not kept by this format"] if reasons else []


def lost_objects(model: SphereModel | None) -> list[str]:
    """Note on names of attached objects that a format cannot hold."""
    if model is None or not model.objects:
        return []
    return [f"attached objects become spheres of their links: {', '.join(model.objects)}"]
