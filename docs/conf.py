"""The site: MyST Markdown, furo, the API read from the docstrings; built by `make docs` with warnings as errors."""

from __future__ import annotations

import elbowroom

project = "Elbowroom"
author = "The Elbowroom authors"
copyright = author
version = release = elbowroom.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build", "reference/benchmarks-table.md"]  # the second is included by a page

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3  # links to headings, as on a code host
nb_execution_mode = "off"  # blocks are run by the tests, each in the folder that its page describes

default_role = "code"  # docstrings write names in single backticks
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "undoc-members": False}
python_use_unqualified_type_names = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False

html_theme = "furo"
html_title = "Elbowroom"
