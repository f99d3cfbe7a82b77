"""The site: MyST Markdown, furo, the API read from the docstrings; built by `make docs` with warnings as errors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import elbowroom

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "Elbowroom"
author = "The Elbowroom authors"
copyright = author
version = release = elbowroom.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "mathml",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build", "reference/benchmarks-table.md"]  # the second is included by a page

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3  # links to headings, as on a code host
nb_execution_mode = "off"  # blocks are run by tests/docs/test_blocks.py, in the folder that a page describes

default_role = "code"  # docstrings write names in single backticks
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
napoleon_google_docstring = True
napoleon_numpy_docstring = False

html_math_renderer = "mathml"
html_theme = "furo"
html_title = "Elbowroom"
html_static_path = ["_static"]
html_css_files = ["site.css"]

linkcheck_timeout = 20
linkcheck_workers = 4


def keep_sentences(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Keeps napoleon from taking an attribute's `spheres: they are apart` for a type: it looks at its first line."""
    if what in ("attribute", "property", "data"):
        lines[:0] = ["..", ""]  # an empty comment


def setup(app: Any) -> None:
    """Docstrings are seen before napoleon sees them."""
    app.connect("autodoc-process-docstring", keep_sentences, priority=400)
