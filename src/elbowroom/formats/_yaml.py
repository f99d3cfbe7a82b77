"""YAML files written with comments, order and quoting kept (ruamel.yaml); `elbowroom._yaml` reads them."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .._yaml import load_yaml as load_yaml
from .._yaml import parse_yaml
from ..errors import FormatError
from ..typing import LinkPair, sorted_pair
from ._contents import read_text, write_bytes

MARK = re.compile(r"^# elbowroom by_meshes: (.*)\n", re.MULTILINE)
SURE_DIGITS = 15
"""Significant digits that every number of float64 keeps."""
OLD_WORDS = re.compile(r"(?i)y|n|yes|no|on|off|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")
"""What YAML 1.1, which PyYAML and so cuRobo read, takes for booleans and numbers and 1.2 does not."""


def read_mark(path: Path) -> set[LinkPair]:
    """Pairs that a comment of ours names as decided by meshes, though the file ignores them; see `dump_yaml`."""
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
        by_meshes: pairs that the file ignores because it is about spheres, and that meshes decide: a comment, which no
            other reader minds, says so. None leaves the one that is there.

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
