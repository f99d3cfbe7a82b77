"""Code fits: a block that is wider than a page of 1280 pixels shows is cut off there."""

from __future__ import annotations

import pytest

from .pages import ROOT, blocks, name, pages

WIDTH = 88
"""Columns; `docs/_static/site.css` gives code this much room, and `tools/write_example_pages.py` wraps output to it."""


@pytest.mark.parametrize("page", pages(), ids=name)
def test_lines_of_code_blocks_fit(page):
    wide = [
        f"{name(page)}:{block.line + number}: {len(line)} columns"
        for block in blocks(page)
        for number, line in enumerate(block.text.splitlines(), 1)
        if len(line) > WIDTH
    ]
    assert wide == []


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=name)
def test_lines_of_examples_fit(path):
    """The pages of the examples show them whole."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [number for number, line in enumerate(lines, 1) if len(line) > WIDTH] == []
