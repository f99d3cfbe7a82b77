"""The reference is complete: every public name is on the page of its folder, every verb and option on that of the command line."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path

import pytest

import elbowroom

from .pages import DOCS, ROOT

API = DOCS / "reference" / "api"
DIRECTIVE = re.compile(r"^\.\. auto(?:class|function|data|exception):: (\w+)$", re.M)
FOLDERS = sorted(path.stem for path in API.glob("*.md") if path.stem not in ("errors", "typing"))


def described(page: Path) -> dict[str, list[str]]:
    """Module -> names that a page describes, in its order."""
    parts = re.split(r"^\.\. currentmodule:: ([\w.]+)$", page.read_text(encoding="utf-8"), flags=re.M)
    found: dict[str, list[str]] = {}
    for module, text in zip(parts[1::2], parts[2::2], strict=True):
        found.setdefault(module, []).extend(DIRECTIVE.findall(text))
    return found


def test_every_folder_has_a_page():
    package = Path(elbowroom.__file__).parent
    listed = {path.parent.name for path in package.glob("*/__init__.py") if "\n__all__" in path.read_text()}
    assert listed == set(FOLDERS)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_page_describes_all_public_names_of_its_folder(folder):
    found = described(API / f"{folder}.md")
    assert f"elbowroom.{folder}" in found
    for module, names in found.items():
        assert sorted(names) == sorted(importlib.import_module(module).__all__), module


def test_the_index_names_what_the_package_exports():
    text = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(\w+)\]\(api/\1\.md\) \|[^|]*\|([^|]*)\|$", text, re.M)
    assert {folder for folder, _ in rows} == {path.stem for path in API.glob("*.md")}
    named = {name: folder for folder, cell in rows for name in re.findall(r"`(\w+)`", cell)}
    assert set(named) == set(elbowroom.__all__) - {"__version__"}
    for name, folder in named.items():
        module = importlib.import_module(f"elbowroom.{folder}")
        assert getattr(module, name) is getattr(elbowroom, name), name


def test_the_page_of_the_command_line_is_up_to_date():
    spec = importlib.util.spec_from_file_location("write_cli_page", ROOT / "tools" / "write_cli_page.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    page = tool.PAGE.read_text(encoding="utf-8")
    assert page == tool.cli_page(), "python tools/write_cli_page.py writes it anew"
