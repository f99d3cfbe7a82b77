"""Formulas as MathML, which browsers draw themselves: pages need no script and no network."""

from __future__ import annotations

from typing import Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert


def inline(translator: Any, node: Any) -> None:
    """A formula within a line."""
    translator.body.append(convert(node.astext(), display="inline"))
    raise SkipNode


def block(translator: Any, node: Any) -> None:
    """A formula on lines of its own."""
    translator.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise SkipNode


def setup(app: Any) -> dict[str, Any]:
    """What Sphinx calls."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
