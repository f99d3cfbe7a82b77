"""YAML files, read safely: bounded in size, depth and in what aliases stand for (ruamel.yaml)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from ._text import read_text
from .errors import FormatError

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
"""What ruamel.yaml lets through on broken files besides its own errors, from dates that do not exist to comments that
it cannot place; the tests have a file for each."""


def load_yaml(path: Path) -> tuple[Any, list[str]]:
    """Reads a YAML mapping with its comments, and notes on what is odd about it.

    Raises:
        FormatError: not YAML, or not a mapping; names file and line.
    """
    data, notes = parse_yaml(read_text(path), path)
    if not isinstance(data, Mapping):
        raise FormatError(f"{path}: expected a YAML mapping, found a {type(data).__name__}")
    return data, notes


def parse_yaml(text: str, path: Path, kind: Literal["rt", "safe"] = "rt") -> tuple[Any, list[str]]:
    """Values of a YAML text, and notes on what is odd about it.

    Args:
        text: of the file.
        path: of the file, for messages.
        kind: ruamel's word for values that keep comments ("rt") or plain ones ("safe").

    Raises:
        FormatError: not YAML; names file and line.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import DuplicateKeyError
    from ruamel.yaml.error import YAMLError

    def parser() -> Any:
        return YAML(typ=kind, pure=True)  # the same answers whether or not its C parts are installed

    notes: list[str] = []
    _check_depth(text, path)
    try:
        if "*" in text:  # may hold aliases, which can stand for far more than the file's own size
            _check_aliases(YAML().compose(text), path)
        try:
            data = parser().load(text)
        except DuplicateKeyError as error:
            # Published cuRobo files have such keys; ruamel keeps the first value.
            lenient = parser()
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
