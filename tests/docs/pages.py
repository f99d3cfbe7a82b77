"""The pages of the project and what is in them: fenced blocks, headings, links, read by a Markdown parser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_PARSER = MarkdownIt("commonmark").enable("table")
_BLOCKS_ALONE = MarkdownIt("commonmark").disable("inline")


@dataclass(frozen=True)
class Block:
    """A fenced block: where it is, the first word after the fence, and its text. Indented code has no such word."""

    page: Path
    line: int
    tag: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Every Markdown page that a reader may meet, by name from the root."""
    found = [path for path in DOCS.rglob("*.md") if "_build" not in path.parts]
    return sorted([*ROOT.glob("*.md"), *found])


def name(page: Path) -> str:
    """A page's name in reports, such as `docs/guide/ik.md`."""
    return page.relative_to(ROOT).as_posix()


def tokens(text: str) -> list[Token]:
    """The page as Markdown understands it, inline content within its tokens."""
    return _PARSER.parse(text)


@cache
def blocks(page: Path) -> tuple[Block, ...]:
    """The fenced blocks of a page in order, with those inside of directives."""
    return tuple(_blocks(page, page.read_text(encoding="utf-8"), 0))


def _blocks(page: Path, text: str, offset: int) -> Iterator[Block]:
    for token in _BLOCKS_ALONE.parse(text):
        if token.type not in ("fence", "code_block") or token.map is None:
            continue
        tag, line = token.info.split(" ")[0].strip(), offset + token.map[0] + 1
        yield Block(page, line, tag, token.content)
        if tag.startswith("{"):
            yield from _blocks(page, token.content, line)
