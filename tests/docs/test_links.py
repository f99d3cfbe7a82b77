"""Links of the README and of the docs lead somewhere: files, headings, pictures; addresses elsewhere are well formed.

There is no network in the tests; `make linkcheck` asks the addresses themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import matplotlib.image
import pytest
from markdown_it.token import Token

from .pages import DOCS, ROOT, name, pages, tokens

PICTURES = {".png", ".gif", ".svg", ".jpg"}
INCLUDES = {DOCS / "contributing.md": ROOT / "CONTRIBUTING.md", DOCS / "changelog.md": ROOT / "CHANGELOG.md"}
"""Pages of the site that show a file beside it."""


def inner(page: Path) -> Iterator[Token]:
    for token in tokens(page.read_text(encoding="utf-8")):
        yield from token.children or ()


@cache
def links(page: Path) -> tuple[str, ...]:
    """Addresses of the links and pictures of a page."""
    found = [token.attrs.get("href") or token.attrs.get("src") for token in inner(page)]
    return tuple(str(address) for address in found if address)


def slug(heading: str) -> str:
    """The anchor of a heading, as code hosts and MyST make it: lower case, words and hyphens."""
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


@cache
def anchors(page: Path) -> frozenset[str]:
    """Anchors of the headings of a page; the second of two that are alike has a number."""
    found: dict[str, int] = {}
    source = INCLUDES.get(page, page)
    parsed = tokens(source.read_text(encoding="utf-8"))
    for token, after in pairwise(parsed):
        if token.type == "heading_open":
            text = "".join(
                child.content for child in after.children or () if child.type in ("text", "code_inline")
            )
            base = slug(text)
            count = found.get(base, 0)
            found[base] = count + 1
            if count:
                found[f"{base}-{count}"] = 1
    return frozenset(found)


def fault(page: Path, address: str) -> str | None:
    """What is wrong with a link of a page, if anything."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        well_formed = parts.scheme == "https" and re.fullmatch(r"[a-z0-9.-]+\.[a-z]{2,}", parts.netloc)
        return None if well_formed else "addresses elsewhere are https://HOST/..."
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_relative_to(ROOT):
        return "leads out of the repository"
    if not target.exists():
        return "no such file"
    if parts.fragment and parts.fragment not in anchors(target):
        return f"no such heading; there are {', '.join(sorted(anchors(target)))}"
    return None


def test_links_lead_somewhere():
    faults = [
        f"{name(page)}: {address}: {why}"
        for page in pages()
        for address in links(page)
        if (why := fault(page, address)) is not None
    ]
    assert faults == []


def test_pictures_show_something():
    shown = {
        (page.parent / address).resolve()
        for page in pages()
        for address in links(page)
        if Path(urlsplit(address).path).suffix in PICTURES and not urlsplit(address).scheme
    }
    assert shown
    for path in shown:
        if path.suffix == ".png":
            picture = matplotlib.image.imread(path)
            assert min(picture.shape[:2]) > 100, path
            assert picture.std() > 0.01, f"{path} is of one colour"
        else:
            assert path.stat().st_size > 1000, path


def test_every_picture_is_shown():
    """A picture that no page shows is out of date sooner or later, and nobody sees it."""
    texts = "".join(page.read_text(encoding="utf-8") for page in pages())
    assert [path.name for path in sorted((DOCS / "images").iterdir()) if path.name not in texts] == []


OTHERS = {DOCS / "howto" / "curobo.md"}
"""Pages that name files of other projects."""
FILE = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|hpp|cpp|toml|md))`")


@pytest.mark.parametrize(
    "page", [page for page in pages() if page not in OTHERS | {ROOT / "CHANGELOG.md"}], ids=name
)
def test_files_that_pages_name_exist(page):
    """Words in capitals stand for names: `ui/panels/_NAME.py`."""
    named = {
        file for file in FILE.findall(page.read_text(encoding="utf-8")) if not re.search("[A-Z]{4}", file)
    }
    homes = [ROOT / home for home in ("", "src/elbowroom", "core", "tests", "benchmarks", "docs")]
    assert {file for file in named if not any((home / file).exists() for home in homes)} == set()


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("docs/no_such_page.md", "no such file"),
        ("docs/index.md#no-such-heading", "no such heading"),
        ("../other", "leads out"),
        ("http://example.org", "https"),
        ("https://nowhere", "https"),
    ],
)
def test_the_check_finds(address, why):
    found = fault(ROOT / "README.md", address)
    assert found is not None
    assert why in found
    assert fault(ROOT / "README.md", "docs/index.md#where-to-go") is None
    assert fault(ROOT / "README.md", "https://example.org/a#b") is None
