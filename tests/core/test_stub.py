"""The stub of the core, which type checkers read, is what the core has."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

nanobind = pytest.importorskip("nanobind", minversion="3.1")  # earlier ones write other stubs

ROOT = Path(__file__).parents[2]


def without_variant(text: str) -> str:
    """The stub parsed: spaces do not count, nor which variant wrote it."""
    tree = ast.parse(text)
    tree.body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "VARIANT")
    ]
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and ast.get_docstring(node) is not None:
            body[0] = ast.Expr(ast.Constant(ast.get_docstring(node, clean=True)))
    return ast.dump(tree)


def test_the_stub_is_what_the_core_has():
    spec = importlib.util.spec_from_file_location("stub_tool", ROOT / "tools" / "write_core_stub.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    kept = (ROOT / "src" / "elbowroom" / "_core" / "__init__.pyi").read_text(encoding="utf-8")
    assert without_variant(tool.text()) == without_variant(kept), "make stubs writes it anew"
