"""The tables of docs/reference/formats.md name every field that is written, and promise none that is not."""

from __future__ import annotations

import re

import pytest

from elbowroom import _cache

from .pages import DOCS
from .test_blocks import SHIPPED
from .written_files import make, written

PAGE = DOCS / "reference" / "formats.md"
TABLES = {"Sphere JSON: collision": "Sphere JSON", "Grasp motion: CSV": "Grasp motion"}
"""Second tables of a section -> the section."""
WAYS = re.compile(r"\| (r|w|rw) \|$", re.M)
ROW = re.compile(r"^\| `([^`]+)`((?:, `[^`]+`)*[^|]*) \|.*\| (r|w|rw) \|$")


def tables() -> dict[str, dict[str, str]]:
    """Section -> field -> "r", "w" or "rw"; a table whose head says more than `field` or `column` is one of its own."""
    found: dict[str, dict[str, str]] = {}
    section = title = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = title = line[3:]
        elif line.startswith(("| field of style", "| column of the CSV")):
            title = next(name for name, of in TABLES.items() if of == section)
        elif row := ROW.match(line):
            found.setdefault(title, {})[row[1]] = row[3]
    return found


def fits(field: str, pattern: str) -> bool:
    """Whether a field is one that the table means: capitals within it stand for any name, `.*` for anything below."""
    if pattern.isupper():
        return field == pattern
    parts = re.split(r"(\.|\[\])", pattern)
    text = "".join(r"[^.\[\]]+" if part.isupper() else re.escape(part) for part in parts).removesuffix(
        r"\.\*"
    )
    return re.fullmatch(text + (r"(\..*|\[\].*)?" if pattern.endswith(".*") else ""), field) is not None


@pytest.fixture(scope="module")
def fields(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_cache, "SHIPPED", SHIPPED)
        return written(make(tmp_path_factory.mktemp("written")))


@pytest.mark.filterwarnings("ignore::elbowroom.errors.ApproximationWarning")
def test_every_field_that_is_written_is_in_its_table(fields):
    known = tables()
    for title, found in fields.items():
        promised = [pattern for pattern, way in known[title].items() if "w" in way]
        assert [field for field in sorted(found) if not any(fits(field, p) for p in promised)] == [], title


@pytest.mark.filterwarnings("ignore::elbowroom.errors.ApproximationWarning")
def test_every_field_that_is_promised_is_written(fields):
    known = tables()
    assert set(fields) == {
        title for title, table in known.items() if any("w" in way for way in table.values())
    }
    for title, found in fields.items():
        for pattern, way in known[title].items():
            assert way == "r" or any(fits(field, pattern) for field in found), f"{title}: {pattern}"


def test_every_section_says_what_the_format_cannot_hold():
    sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.M)[1:]
    silent = [text.splitlines()[0] for text in sections if WAYS.search(text) and "annot hold**" not in text]
    assert silent == []


@pytest.mark.parametrize(
    ("field", "pattern", "fit"),
    [
        ("spheres.hand[].center", "spheres.LINK[].center", True),
        ("spheres.hand[].radius", "spheres.LINK[].center", False),
        ("evidence.method", "evidence.*", True),
        ("evidence", "evidence.*", True),
        ("evidences", "evidence.*", False),
        ("a.b.c", "a.LINK", False),
    ],
)
def test_patterns_mean_what_they_say(field, pattern, fit):
    assert fits(field, pattern) is fit
