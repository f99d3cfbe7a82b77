"""The baseline, and whether a run fell behind it.

Ratios alone are compared: both figures of a ratio come from one run, so the machine cancels out, or most of it. Each
row's noise is measured: the spread of its ratio over the runs of the baseline, at least `FLOOR`. Another processor is
more than noise: there `ELSEWHERE` counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from benchmarks._table import Key, Report, Row, by_key

BASELINE = Path(__file__).with_name("baseline.json")
RUNS = 3
"""Of every suite, for a baseline."""
FLOOR = 0.25
"""Least noise: three runs in a row do not show what another machine, or other work on this one, does to a ratio. The
same code, run once more beside other work, gave ratios 18 % below the middle of three that differed by under 15 %."""
ELSEWHERE = 0.65
"""Least noise on another processor than the baseline's. The same code on an AMD EPYC gave ratios up to 62 % below those
of the baseline on an Intel Xeon, where our own spheres are compared with our own meshes; up to 36 % below beside
others. One run on one other processor: the bound is set just below what it showed."""


@dataclass(frozen=True)
class Standard:
    """What a ratio was, and how well that is known."""

    ratio: float
    noise: float

    @property
    def least(self) -> float:
        """Below this a ratio has fallen."""
        return self.ratio * (1.0 - self.noise)


@dataclass(frozen=True)
class Verdict:
    """What a run is beside the baseline; each a line of text."""

    fallen: tuple[str, ...]
    missing: tuple[str, ...]
    new: tuple[str, ...]
    compared: int

    @property
    def passed(self) -> bool:
        return not self.fallen


def standards(runs: Sequence[Iterable[Row]]) -> dict[Key, Standard]:
    """Median ratio and noise of every row that counts in all of the runs."""
    tables = [by_key(row for row in run if row.counts) for run in runs]
    found: dict[Key, Standard] = {}
    for key in tables[0]:
        ratios = [
            row.ratio for table in tables if (row := table.get(key)) is not None and row.ratio is not None
        ]
        if len(ratios) == len(tables):
            middle = median(ratios)
            found[key] = Standard(middle, max(FLOOR, (max(ratios) - min(ratios)) / middle))
    return found


def middle_rows(runs: Sequence[Iterable[Row]]) -> tuple[Row, ...]:
    """Of every row the one with the median ratio (the lower one of two in the middle), or the first without one."""
    tables = [by_key(run) for run in runs]
    keys = dict.fromkeys(key for table in tables for key in table)
    found: list[Row] = []
    for key in keys:
        same = [table[key] for table in tables if key in table]
        ranked = sorted((row for row in same if row.ratio is not None), key=lambda row: row.ratio or 0.0)
        found.append(ranked[(len(ranked) - 1) // 2] if ranked else same[0])
    return tuple(found)


def with_noise(rows: Iterable[Row], known: Mapping[Key, Standard]) -> tuple[Row, ...]:
    return tuple(replace(row, noise=known[row.key].noise if row.key in known else None) for row in rows)


def write_baseline(report: Report, known: Mapping[Key, Standard], path: Path | None = None) -> None:
    """Ratios and their noise, and what they were measured with; no figure that means nothing elsewhere."""
    content = {
        "machine": dict(report.machine),
        "versions": dict(report.versions),
        "runs": RUNS,
        "rows": [
            {
                "suite": key[0], "case": key[1], "what": key[2], "peer": key[3],
                "ratio": float(f"{standard.ratio:.4g}"), "noise": float(f"{standard.noise:.3g}"),
            }
            for key, standard in known.items()
        ],
    }  # fmt: skip
    (path or BASELINE).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def read_baseline(path: Path | None = None) -> dict[Key, Standard]:
    """Standards by row; FileNotFoundError where there is no baseline."""
    rows = json.loads((path or BASELINE).read_text(encoding="utf-8"))["rows"]
    return {
        (row["suite"], row["case"], row["what"], row["peer"]): Standard(row["ratio"], row["noise"])
        for row in rows
    }


def elsewhere(known: Mapping[Key, Standard]) -> dict[Key, Standard]:
    """What ratios must be on another processor than the baseline's."""
    return {key: Standard(one.ratio, max(one.noise, ELSEWHERE)) for key, one in known.items()}


def baseline_processor(path: Path | None = None) -> str:
    """Of the machine that the baseline was measured on."""
    return json.loads((path or BASELINE).read_text(encoding="utf-8"))["machine"].get("processor", "")


def compare(rows: Iterable[Row], known: Mapping[Key, Standard], suites: Iterable[str]) -> Verdict:
    """Rows that count against the baseline's rows of the suites that were run."""
    found, asked = by_key(row for row in rows if row.counts), set(suites)
    wanted = {key: standard for key, standard in known.items() if key[0] in asked}
    fallen: list[str] = []
    for key in wanted.keys() & found.keys():
        ratio, standard = found[key].ratio, wanted[key]
        if ratio is not None and ratio < standard.least:
            fallen.append(
                f"{_words(key)}: {ratio:.3g}, was {standard.ratio:.3g} with {standard.noise:.0%} noise "
                f"(at least {standard.least:.3g})"
            )
    return Verdict(
        tuple(sorted(fallen)),
        tuple(_words(key) for key in wanted if key not in found),
        tuple(_words(key) for key in found if key not in known),
        len(wanted.keys() & found.keys()),
    )


def _words(key: Key) -> str:
    suite, case, what, peer = key
    return f"{suite}: {case}, {what}, beside {peer}"
