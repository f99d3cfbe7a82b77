"""What users see: lists, imports, lazy tables and types agree; every name has a docstring, a page and a use."""

from __future__ import annotations

import importlib
import inspect
from functools import cache
from pathlib import Path

import pytest

import elbowroom

from .surface import Definition, Surface, definition, is_public, python_blocks, used_names

PACKAGE = Path(elbowroom.__file__).parent
REPOSITORY = Path(__file__).parent.parent
PAGES = REPOSITORY / "docs" / "reference" / "api"
FOLDERS = sorted(
    path.parent.relative_to(PACKAGE).as_posix().replace("/", ".")
    for path in PACKAGE.rglob("__init__.py")
    if "\n__all__" in path.read_text(encoding="utf-8")
)
"""Those with a list of names: "." is the package itself, "ui.draw" a folder in a folder."""


def file_of(folder: str) -> Path:
    return PACKAGE.joinpath(*folder.strip(".").split(".")) / "__init__.py"


@cache
def surface(folder: str) -> Surface:
    return Surface.of(file_of(folder).read_text(encoding="utf-8"))


@cache
def found(folder: str, name: str) -> Definition:
    return definition(file_of(folder), name)


@cache
def uses() -> frozenset[str]:
    """Names that tests, examples and the blocks of the documents use."""
    programs = [p for where in ("tests", "examples") for p in (REPOSITORY / where).rglob("*.py")]
    texts = [path.read_text(encoding="utf-8") for path in programs]
    for page in (REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")):
        texts += python_blocks(page.read_text(encoding="utf-8"))
    return frozenset(name for text in texts for name in used_names(text, FOLDERS))


def is_used(folder: str, name: str) -> bool:
    """Whether a name is used as a name of its folder or of the top, which hands on those of folders."""
    home = surface(".").lazy.get(name, "")
    if folder == ".":
        return name in uses() or f"{home}.{name}" in uses()
    return f"{folder}.{name}" in uses() or (home == folder and name in uses())


@cache
def handed_out_by_used() -> frozenset[tuple[str, str]]:
    """(folder, name) of what public names that are used hand out, and what those values hand out in turn."""
    names = [(folder, name) for folder in FOLDERS for name in surface(folder).listed]
    parts = {at: set[str]().union(*(part.handed_out() for part in found(*at).family())) for at in names}
    reached = {at for at in names if is_used(*at)}
    while True:
        more: set[tuple[str, str]] = set()
        for folder, name in reached:
            for part in parts[folder, name]:  # a type of the same folder, if it has one of that name
                own = (folder, part)
                more |= {own} & parts.keys() or {at for at in names if at[1] == part}
        if more <= reached:
            return frozenset(reached)
        reached |= more


def test_every_folder_of_the_pipeline_is_looked_at():
    pipeline = "robot spheres mesh distance pairs world collision ik plan grasp formats ui ui.draw"
    assert set(FOLDERS) >= {".", *pipeline.split()}


@pytest.mark.parametrize("folder", FOLDERS)
def test_list_imports_and_lazy_table_agree(folder):
    assert surface(folder).faults() == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_is_listed_is_there_and_nothing_else(folder):
    module = importlib.import_module(f"elbowroom.{folder}".rstrip("."))
    for name in surface(folder).listed:
        assert getattr(module, name) is not None, name
    there = {name for name, value in vars(module).items() if not inspect.ismodule(value) and is_public(name)}
    assert there - surface(folder).borrowed <= set(surface(folder).listed)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = module.no_such_name


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_name_and_method_has_a_docstring(folder):
    silent: list[str] = []
    for name in surface(folder).listed:
        silent += [] if found(folder, name).speaks else [name]
        silent += [method for part in found(folder, name).family() for method in part.undocumented()]
    assert silent == []


@pytest.mark.parametrize("folder", [name for name in FOLDERS if "." not in name[1:]])
def test_every_name_is_used_or_handed_out(folder):
    """By a test, an example or a document; types also where something that is used hands them out.

    Folders in `ui` are left out: what they draw is tested by the verbs and panels that show it.
    """
    unused = [name for name in surface(folder).listed if not is_used(folder, name)]
    assert [name for name in unused if (folder, name) not in handed_out_by_used()] == []


@pytest.mark.skipif(not PAGES.is_dir(), reason="no pages for the folders")
@pytest.mark.parametrize("folder", [name for name in FOLDERS if name.isidentifier()])
def test_every_folder_has_a_page_that_names_it(folder):
    page = PAGES / f"{folder}.md"
    assert page.is_file()
    assert f"automodule:: elbowroom.{folder}\n" in page.read_text(encoding="utf-8")


def test_types_are_published():
    assert (PACKAGE / "py.typed").is_file()


GOOD = """
import importlib
from typing import TYPE_CHECKING
from ._a import one as one
if TYPE_CHECKING:
    from ._b import two as two
_LAZY = {"two": "_b"}
__all__ = ["one", "two"]
"""


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('["one", "two"]', '["one", "two", "two"]', "two is listed twice"),
        ('["one", "two"]', '["one", "two", "three"]', "three is listed and not there"),
        ('["one", "two"]', '["two"]', "one is there and not listed"),
        ("_LAZY = ", "three = 3\n_LAZY = ", "three is there and not listed"),
        ('{"two": "_b"}', "{}", "two is for type checkers alone"),
        ("import two as two", "import _two as _two", "two is hidden from type checkers"),
        ('{"two": "_b"}', '{"two": "_c"}', "two is in _c, type checkers look in _b"),
    ],
)
def test_the_check_of_agreement_finds(old, new, fault):
    assert Surface.of(GOOD).faults() == []
    assert old in GOOD
    assert fault in Surface.of(GOOD.replace(old, new)).faults()


def test_the_check_of_docstrings_finds_what_is_silent(tmp_path):
    (tmp_path / "__init__.py").write_text(
        "from ._a import A as A, LOUD as LOUD, QUIET as QUIET, f as f\nfrom .b import g as g\n"
    )
    (tmp_path / "_a.py").write_text(
        'class Base:\n    def n(self): ...\nclass A(Base, dict):\n    """Speaks."""\n    def m(self): ...\n'
        "    def _p(self): ...\n"
        'LOUD = 1\n"""Speaks."""\nQUIET = 2\ndef f(): ...\n'
    )
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "__init__.py").write_text("from ._c import h as g\n")
    (tmp_path / "b" / "_c.py").write_text('def h():\n    """Speaks."""\n')
    parts = {name: definition(tmp_path / "__init__.py", name) for name in ("A", "LOUD", "QUIET", "f", "g")}
    assert [name for name, part in parts.items() if not part.speaks] == ["QUIET", "f"]
    assert [part.undocumented() for part in parts["A"].family()] == [["A.m"], ["Base.n"]]
    with pytest.raises(LookupError):
        definition(tmp_path / "__init__.py", "B")


def test_the_check_of_uses_sees_code_and_nothing_else(tmp_path):
    code = (
        "import elbowroom as er\nfrom elbowroom.ik import Guard\nfrom elbowroom.plan._edges import Edges\n"
        "# er.comment\nprint('er.string', er.audit, er.mesh.collide, mesh.distance, other.thing)\n"
    )
    found = used_names(code, ["ik", "mesh", "plan"])
    assert found == {"ik.Guard", "plan.Edges", "audit", "mesh.collide", "mesh", "mesh.distance"}
    assert python_blocks("```python\nx = 1\n```\n```\ny\n```\n```python\n$ no\n```\n") == ["x = 1\n"]
    (tmp_path / "a.py").write_text(
        "class A:\n    b: B | None\n    _c: C\n    def d(self) -> tuple[D, ...]: ...\n    def _e(self) -> E:\n"
        "        self.h: H = 1\n        self._i: I = 2\n"
        "def f() -> A: ...\nG = A | B\n"
    )
    parts = {name: definition(tmp_path / "a.py", name).handed_out() for name in "AfG"}
    assert {"B", "D", "H"} <= parts["A"]
    assert not {"C", "E", "I"} & parts["A"]
    assert parts["f"] == {"A"}
    assert parts["G"] == {"A", "B"}
    assert not is_used("robot", "no_such_name")
