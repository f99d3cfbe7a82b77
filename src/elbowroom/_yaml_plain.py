"""YAML that is written plainly, read at once: what tools write, a key, a scalar or a list of them on each line.

On a scene of ten thousand objects it is some twenty times as fast as ruamel.yaml. It takes only texts whose meaning is
beyond doubt: indented by spaces, with plain keys, numbers and words, quotes with few escapes, brackets that end on
their line. It answers nothing to everything else (anchors, tags, comments behind values, text over several lines,
keys that are there twice), and then ruamel.yaml is asked. Where it answers, the two agree; the tests compare them.
"""

from __future__ import annotations

import json
import re
from typing import Any

MAX_DEPTH = 40
"""Levels of indentation."""
MAX_DIGITS = 300
"""Of a number; Python refuses to read very long ones."""
NUMBER = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
"""Numbers that all versions of YAML agree on; others, such as 0x10 or 1_000, are for ruamel.yaml to judge."""
WORD = re.compile(r"[A-Za-z_/(][A-Za-z0-9_./#()-]*(?: [A-Za-z0-9_./()-]+)*")
SPECIAL = {"true": True, "false": False, "null": None}
DOUBTFUL = re.compile(r"(?i)y|n|yes|no|on|off|true|false|null")
"""Words that YAML 1.1 takes for something else, and special ones in capitals."""
QUOTED = re.compile(r'"(?:[^"\\]|\\["\\nrt])*"')
"""Text in double quotes with the escapes that YAML and JSON have in common."""
KEY = re.compile(r"([A-Za-z_][A-Za-z0-9_]*):(?: +(.*))?")
PAIR = re.compile(r"([A-Za-z_][A-Za-z0-9_]*): +(.*)")
BLANK = re.compile(r"\s*(?:#.*)?")


class _DoubtError(Exception):
    """The text is not plain."""


def read_plain(text: str) -> Any:
    """Values of a plain YAML text, a mapping or a list; None where the text is not plain."""
    if "\t" in text or "\r" in text:
        return None
    lines: list[tuple[int, str]] = []
    for line in text.split("\n"):
        if not BLANK.fullmatch(line):
            body = line.strip(" ")
            lines.append((len(line) - len(line.lstrip(" ")), body))
    if lines and lines[0] == (0, "---"):
        del lines[0]
    try:
        if not lines or lines[0][0] != 0:
            return None
        value, end = _block(lines, 0, 0)
        return value if end == len(lines) and isinstance(value, (dict, list)) else None
    except _DoubtError:
        return None


def _block(lines: list[tuple[int, str]], at: int, depth: int) -> tuple[Any, int]:
    """The value that starts at a line, and the first line after it."""
    indent, body = lines[at]
    if depth > MAX_DEPTH:
        raise _DoubtError
    if body == "-" or body.startswith("- "):
        value, end = _list(lines, at, indent, depth)
    elif KEY.fullmatch(body):
        value, end = _mapping(lines, at, indent, depth)
    else:
        value, end = _scalar(body), at + 1
    if end < len(lines) and lines[end][0] > indent:
        raise _DoubtError
    return value, end


def _list(lines: list[tuple[int, str]], at: int, indent: int, depth: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    while at < len(lines) and lines[at][0] == indent:
        body = lines[at][1]
        if body == "-":
            at += 1
            if at == len(lines) or lines[at][0] <= indent:
                raise _DoubtError
        elif body.startswith("- "):
            rest = body[1:].lstrip(" ")
            lines[at] = (indent + len(body) - len(rest), rest)  # what follows the dash is a line of its own
        else:
            break
        value, at = _block(lines, at, depth + 1)
        found.append(value)
    return found, at


def _mapping(lines: list[tuple[int, str]], at: int, indent: int, depth: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while at < len(lines) and lines[at][0] == indent:
        match = KEY.fullmatch(lines[at][1])
        if match is None:
            break
        key, text = match.groups()
        if key in found or key.lower() in SPECIAL:
            raise _DoubtError
        at += 1
        if text:
            if at < len(lines) and lines[at][0] > indent:
                raise _DoubtError  # text that goes on, or a fault
            found[key] = _scalar(text)
        elif at < len(lines) and (
            lines[at][0] > indent or (lines[at][0] == indent and lines[at][1][:2] in ("-", "- "))
        ):
            found[key], at = _block(lines, at, depth + 1)
        else:
            found[key] = None
    return found, at


def _scalar(text: str) -> Any:
    """A number, a word, a text in quotes, or a list or mapping of them in brackets."""
    if len(text) <= MAX_DIGITS and NUMBER.fullmatch(text):
        return float(text) if any(mark in text for mark in ".eE") else int(text)
    if WORD.fullmatch(text):
        if text in SPECIAL:
            return SPECIAL[text]
        if DOUBTFUL.fullmatch(text):
            raise _DoubtError
        return text
    inner = text[1:-1]
    if QUOTED.fullmatch(text):
        return json.loads(text)
    if text[0] == text[-1] == "'" and len(text) > 1 and "'" not in inner:
        return inner
    if text[0] == "[" and text[-1] == "]":
        return [_scalar(part) for part in _parts(inner)]
    if text[0] == "{" and text[-1] == "}":
        pairs = [PAIR.fullmatch(part) for part in _parts(inner)]
        found = {pair.group(1): _scalar(pair.group(2)) for pair in pairs if pair}
        if len(found) < len(pairs) or any(key.lower() in SPECIAL for key in found):
            raise _DoubtError
        return found
    raise _DoubtError


def _parts(inner: str) -> list[str]:
    """Entries in brackets, none of which has brackets or quotes itself."""
    if not inner.strip(" "):
        return []
    if set(inner) & set("[]{}\"'#"):
        raise _DoubtError
    parts = [part.strip(" ") for part in inner.split(",")]
    if not all(parts):
        raise _DoubtError
    return parts
