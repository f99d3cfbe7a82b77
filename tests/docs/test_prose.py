"""Phrases that read like a literal translation stay out: the table in CONTRIBUTING.md lists them with replacements."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from .pages import DOCS, ROOT, blocks, name, pages

GUIDE = ROOT / "CONTRIBUTING.md"
TABLE = re.compile(r"^\| not \| but \|\n\|[-|]+\|\n((?:\|.*\|\n)+)", re.M)
GENERATED = {DOCS / "reference" / page for page in ("benchmarks-table.md", "cli.md")}
"""Written by programs, from words in their sources."""
HISTORY = {ROOT / "CHANGELOG.md", DOCS / "changelog.md"}


def phrases() -> list[str]:
    """What not to write, in lower case."""
    found = TABLE.search(GUIDE.read_text(encoding="utf-8"))
    assert found, "CONTRIBUTING.md has the table of phrases"
    cells = [line.split("|")[1] for line in found[1].splitlines()]
    return [phrase.strip().lower() for cell in cells for phrase in cell.split(";")]


def prose(path: Path) -> str:
    """The text of a page or a program; printed output is that of programs, and the table quotes what it forbids."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        for block in blocks(path):
            if block.tag == "text":
                text = text.replace(block.text, "")
    return TABLE.sub("", text) if path == GUIDE else text


STRINGS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


def strings(path: Path) -> str:
    """Docstrings and messages of a module, without its comments and names."""
    with tokenize.open(path) as lines:
        return "\n".join(
            token.string for token in tokenize.generate_tokens(lines.readline) if token.type in STRINGS
        )


def found_in(text: str, unwanted: list[str]) -> Iterator[str]:
    """Unwanted phrases with what is around them; line breaks do not hide them."""
    flat = " ".join(text.split())
    for phrase in unwanted:
        for match in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", flat, re.I):
            yield f"{phrase!r} in '...{flat[max(0, match.start() - 40) : match.end() + 40]}...'"


SURFACES = {
    "pages": [page for page in pages() if page not in GENERATED | HISTORY],
    "examples": sorted((ROOT / "examples").glob("*.py")),
    "commands": [ROOT / "Makefile"],
}
"""Where users read. Add what has been edited."""


def test_docstrings_and_messages_are_plain():
    """Help texts, errors, notes, the page and the API pages are made of these."""
    unwanted = phrases()
    programs = [
        path for home in ("src", "tools", "benchmarks") for path in sorted((ROOT / home).rglob("*.py"))
    ]
    found = {name(path): list(found_in(strings(path), unwanted)) for path in programs}
    assert len(found) > 300
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize("path", [path for paths in SURFACES.values() for path in paths], ids=name)
def test_prose_is_plain(path):
    assert list(found_in(prose(path), phrases())) == []


def test_the_table_is_read_and_phrases_are_found():
    listed = phrases()
    assert len(listed) > 30
    assert len(set(listed)) == len(listed)
    assert "anew" in listed
    (found,) = found_in("Pairs are decided\nanew, and new ones added.", listed)
    assert "'anew'" in found
    assert list(found_in("A new cup and its marshalling.", listed)) == []
