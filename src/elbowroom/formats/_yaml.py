"""YAML with comments, order and quoting kept (ruamel.yaml), and the sphere lists that its formats share."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FormatError
from ..spheres import SphereModel
from ..typing import LinkPair
from ._contents import name_of, number, pair, read_text, short, write_bytes

Spheres = dict[str, list[tuple[list[float], float]]]
"""Link -> (centre, radius) of each sphere."""
BRACKET = re.compile(r"[\[\]{}]")
MAX_DEPTH = 250
"""Open brackets at one place; the formats here need five, the parser ends at some 300."""
MAX_NODES = 300_000
"""Values of a file once its aliases are written out; the largest files in use have some 20,000."""


PARSER_FAULTS = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    NotImplementedError,
    AssertionError,
)
"""What the YAML parser lets through on broken files besides its own errors (dates, long integers, mappings as keys)."""


def load_yaml(path: Path) -> tuple[Any, list[str]]:
    """Reads a YAML mapping and notes on what is odd about it.

    Raises:
        FormatError: not YAML, or not a mapping; names file and line.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import DuplicateKeyError
    from ruamel.yaml.error import YAMLError

    text, notes = read_text(path), list[str]()
    _check_depth(text, path)
    try:
        if "*" in text:  # may hold aliases, which can stand for far more than the file's own size
            _check_aliases(YAML().compose(text), path)
        try:
            data = YAML().load(text)
        except DuplicateKeyError as error:
            # Published cuRobo files have such keys; ruamel keeps the first value.
            lenient = YAML()
            lenient.allow_duplicate_keys = True
            data = lenient.load(text)
            notes.append(
                f"a key is given twice, the first value counts: {' '.join(str(error.problem).split())[:200]}"
            )
    except FormatError:
        raise
    except RecursionError as error:
        raise FormatError(f"{path}: the YAML is nested too deeply") from error
    except (YAMLError, *PARSER_FAULTS) as error:
        raise FormatError(f"{path}: not readable as YAML: {' '.join(str(error).split())[:300]}") from error
    if not isinstance(data, Mapping):
        raise FormatError(f"{path}: expected a YAML mapping, found a {type(data).__name__}")
    return data, notes


def _check_depth(text: str, path: Path) -> None:
    """Refuses what the parser would run out of stack on, for it needs time in the square of the depth to do so."""
    depth = 0
    for found in BRACKET.finditer(text):
        depth = depth + 1 if found.group() in "[{" else max(depth - 1, 0)
        if depth > MAX_DEPTH:
            line = text.count("\n", 0, found.start()) + 1
            raise FormatError(
                f"{path}: line {line}: the YAML is nested too deeply, more than {MAX_DEPTH} brackets"
            )


def _check_aliases(root: Any, path: Path) -> None:
    """Refuses aliases that lead to themselves or stand for very many values.

    Sizes are counted once per node of the parsed graph, so the check takes time in the size of the file.
    """
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        node, done = stack.pop()
        if node is None or id(node) in sizes:
            continue
        value = node.value
        children = [part for entry in value for part in _parts(entry)] if isinstance(value, list) else []
        if done:
            open_nodes.discard(id(node))
            sizes[id(node)] = 1 + sum(sizes[id(child)] for child in children)
            if sizes[id(node)] > MAX_NODES:
                raise FormatError(
                    f"{path}: line {node.start_mark.line + 1}: with its aliases written out the file has more than"
                    f" {MAX_NODES} values"
                )
            continue
        if id(node) in open_nodes:
            raise FormatError(
                f"{path}: line {node.start_mark.line + 1}: an alias refers to what it is part of"
            )
        open_nodes.add(id(node))
        stack.append((node, True))
        stack += [(child, False) for child in children]


def _parts(entry: Any) -> tuple[Any, ...]:
    """Nodes of an entry: key and value in a mapping, one node in a sequence."""
    return entry if isinstance(entry, tuple) else (entry,)


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
        raise FormatError(f"{where}: expected a mapping of links to spheres, found {short(value)}")
    found: Spheres = {}
    notes: list[str] = []
    for link, entries in value.items():
        link = name_of(link, where)
        at = f"{where}: link {short(link)}"
        if not isinstance(entries, Sequence) or isinstance(entries, str):
            raise FormatError(f"{at}: expected a list of spheres, found {short(entries)}")
        spheres: list[tuple[list[float], float]] = []
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
        return {
            name_of(link, where): number(amount, f"{where}: link {short(link)}")
            for link, amount in value.items()
        }
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
