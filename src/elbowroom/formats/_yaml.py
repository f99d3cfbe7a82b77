"""YAML files, read safely and written with comments, order and quoting kept (ruamel.yaml)."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import FormatError
from ..typing import LinkPair, sorted_pair
from ._contents import read_text, write_bytes

BRACKET = re.compile(r"[\[\]{}]")
MARK = re.compile(r"^# elbowroom by_meshes: (.*)\n", re.MULTILINE)
MAX_DEPTH = 250
"""Open brackets at one place; the formats here need five, the parser ends at some 300."""
MAX_NODES = 300_000
"""Values of a file once its aliases are written out; the largest files in use have some 20,000."""
OLD_WORDS = re.compile(r"(?i)y|n|yes|no|on|off|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")
"""What YAML 1.1, which PyYAML and so cuRobo read, takes for booleans and numbers and 1.2 does not."""
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
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.representer import RoundTripRepresenter

    class Representer(RoundTripRepresenter):
        """Writes numbers with a point and quotes words that only YAML 1.2 takes for text."""

    def represent_float(representer: Any, value: float) -> Any:
        text = repr(value)
        text = text if "." in text or "e" not in text else text.replace("e", ".0e")
        return representer.represent_scalar("tag:yaml.org,2002:float", text)

    def represent_text(representer: Any, value: str) -> Any:
        style = '"' if OLD_WORDS.fullmatch(value) else ""
        return representer.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Representer.add_representer(float, represent_float)
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
    write_bytes(path, text.encode())


def flow(values: Sequence[Any]) -> Any:
    """A list that is written on one line."""
    from ruamel.yaml.comments import CommentedSeq

    sequence = CommentedSeq(values)
    sequence.fa.set_flow_style()
    return sequence
