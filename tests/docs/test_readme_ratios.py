"""Every ratio that the README states is a row of the table that `make bench` wrote."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "docs" / "reference" / "benchmarks-table.md"


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def stated(text: str) -> list[tuple[str, str, str]]:
    """(peer, ratio, suite) of the README's rows that end with the suite that measured them."""
    rows = [cells(line) for line in text.splitlines() if line.startswith("|")]
    return [(row[1], row[2].strip("*"), row[3].strip("`")) for row in rows if re.fullmatch(r"`\w+`", row[-1])]


def measured(text: str) -> set[tuple[str, str, str]]:
    """(peer with its version, ratio, suite) of the table."""
    found, suite = set(), ""
    for line in text.splitlines():
        if heading := re.match(r"\*\*(\w+)\*\* \(`python -m benchmarks", line):
            suite = heading[1]
        elif line.startswith("|") and len(row := cells(line)) == 7:
            found.add((row[3], row[5], suite))
    return found


def missing(readme: str, table: str) -> list[tuple[str, str, str]]:
    rows = measured(table)
    return [
        (peer, ratio, suite)
        for peer, ratio, suite in stated(readme)
        if not any(
            there == suite and ratio == theirs and known.startswith(peer) for known, theirs, there in rows
        )
    ]


def test_ratios_of_the_readme_were_measured():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(stated(readme)) >= 6
    assert missing(readme, TABLE.read_text(encoding="utf-8")) == []


def test_another_ratio_is_found_out():
    table = (
        "**mesh** (`python -m benchmarks mesh`)\n| links | boolean | 1 us | Coal 3.0 | 7 us | 7.31 | 15 % |\n"
    )
    assert missing("| meshes | Coal | **7.31** | `mesh` |", table) == []
    assert missing("| meshes | Coal | **7.32** | `mesh` |", table) == [("Coal", "7.32", "mesh")]
    assert missing("| meshes | FCL | **7.31** | `mesh` |", table) == [("FCL", "7.31", "mesh")]
    assert missing("| meshes | Coal | **7.31** | `world` |", table) == [("Coal", "7.31", "world")]
