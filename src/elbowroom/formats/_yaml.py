"""YAML files written with comments, order and quoting kept (ruamel.yaml); `elbowroom._yaml` reads them.

And what cuRobo and XRDF both say of links, as YAML mappings: spheres, padding, ignored pairs.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._yaml import load_yaml as load_yaml
from .._yaml import parse_yaml
from ..errors import FormatError
from ..pairs.internal import ignore_dictionary
from ..spheres import SphereModel
from ..typing import LinkPair, sorted_pair
from ._contents import name_of, number, pair, read_text, short, write_bytes

MARK = re.compile(r"^# elbowroom by_meshes: (.*)\n", re.MULTILINE)
SURE_DIGITS = 15
"""Significant digits that every number of float64 keeps."""
OLD_WORDS = re.compile(r"(?i)y|n|yes|no|on|off|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")
"""What YAML 1.1, which PyYAML and so cuRobo read, takes for booleans and numbers and 1.2 does not."""


def read_mark(path: Path) -> set[LinkPair]:
    """Pairs that our comment names as decided by meshes, though the file ignores them; see `dump_yaml`."""
    found = MARK.search(read_text(path))
    try:
        return {sorted_pair(a, b) for a, b in json.loads(found.group(1))} if found else set()
    except (ValueError, TypeError, AttributeError, RecursionError):  # a comment, after all
        return set()


def dump_yaml(path: Path, data: Any, by_meshes: Sequence[LinkPair] | None = None) -> None:
    """Writes a YAML mapping, all or nothing, that readers of YAML 1.1 and 1.2 understand alike.

    Args:
        path: the file.
        data: the mapping.
        by_meshes: pairs that the file ignores because it is about spheres, and that meshes decide: noted in a
            comment, which other readers ignore. None keeps an existing comment.

    Raises:
        FormatError: what the file held already cannot be written so that it is read again; the file stays as it is.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.representer import RoundTripRepresenter
    from ruamel.yaml.scalarfloat import ScalarFloat

    class Representer(RoundTripRepresenter):
        """Writes numbers with a point and quotes words that only YAML 1.2 takes for text."""

    def represent_float(representer: Any, value: float) -> Any:
        text = repr(value)
        text = text if "." in text or "e" not in text else text.replace("e", ".0e")
        return representer.represent_scalar("tag:yaml.org,2002:float", text)

    def represent_read_float(representer: Any, value: Any) -> Any:
        """As the file had it; but of all digits before an exponent, ruamel.yaml gets the last ones wrong."""
        node = representer.represent_scalar_float(value)
        mantissa, exponent, _ = node.value.lower().partition("e")
        whole = exponent and sum(map(str.isdigit, mantissa)) > SURE_DIGITS
        return represent_float(representer, float(value)) if whole else node

    def represent_text(representer: Any, value: str) -> Any:
        style = '"' if OLD_WORDS.fullmatch(value) else ""
        return representer.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Representer.add_representer(float, represent_float)
    Representer.add_representer(ScalarFloat, represent_read_float)
    Representer.add_representer(str, represent_text)
    yaml = YAML()
    yaml.Representer = Representer
    yaml.width = 110
    yaml.indent(mapping=2, sequence=4, offset=2)
    buffer = io.BytesIO()
    yaml.dump(data, buffer)
    text = buffer.getvalue().decode()
    if by_meshes is not None:
        text = MARK.sub("", text)
        text = f"# elbowroom by_meshes: {json.dumps(by_meshes)}\n{text}" if by_meshes else text
    try:
        parse_yaml(text, path, "safe")
    except (
        FormatError
    ) as error:  # ruamel.yaml writes some keys that are no text, such as {}, as what is no YAML
        raise FormatError(f"{path}: it cannot be written again as it is: {error}") from error
    write_bytes(path, text.encode())


def flow(values: Sequence[Any]) -> Any:
    """A list that is written on one line."""
    from ruamel.yaml.comments import CommentedSeq

    sequence = CommentedSeq(values)
    sequence.fa.set_flow_style()
    return sequence


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
