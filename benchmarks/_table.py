"""One table of everything that is measured: rows, their Markdown and their JSON.

A ratio says how many times better ours is than the peer's: above 1 we are better, below 1 they are. It is made of two
figures of one run on one machine, which is why ratios are compared between runs and machines, and figures are not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

Key = tuple[str, str, str, str]
EVEN = 0.005
"""Share of the ratio up to which neither side is called better."""


@dataclass(frozen=True)
class Row:
    """Our figure and, if a peer does the same, its figure from the same run."""

    suite: str
    case: str
    """Robot, scene or problems."""
    what: str
    """What is measured."""
    ours: float | None
    unit: str
    theirs: float | None = None
    peer: str = ""
    """The peer; empty for none."""
    version: str = ""
    """Of the peer; of its parts where it has several."""
    more_is_better: bool = False
    """Else less is, as with times."""
    gated: bool = True
    """Whether a worse ratio is a regression; not where it hangs on few events."""
    note: str = ""
    noise: float | None = None
    """Share by which the ratio fell and rose between runs of the baseline, where it is known."""

    @property
    def key(self) -> Key:
        """What makes it the same row in another run; versions do not."""
        return self.suite, self.case, self.what, self.peer

    @property
    def ratio(self) -> float | None:
        """How many times better ours is than theirs; None where one of both is not there or not positive."""
        if self.ours is None or self.theirs is None or self.ours <= 0.0 or self.theirs <= 0.0:
            return None
        return self.ours / self.theirs if self.more_is_better else self.theirs / self.ours

    @property
    def counts(self) -> bool:
        """Whether the gate looks at it."""
        return self.gated and self.ratio is not None

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": self.ratio}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Row:
        """Takes the fields and leaves the ratio, which follows from them."""
        return cls(**{item.name: data[item.name] for item in fields(cls) if item.name in data})

    def __str__(self) -> str:
        text = f"{self.suite}: {self.case}, {self.what}: {figure(self.ours, self.unit)}"
        if self.peer:
            text += f"; {self.peer} {self.version}".rstrip() + f" {figure(self.theirs, self.unit)}"
        if self.ratio is not None:
            text += f" = {figure(self.ratio, 'x')}"
        return f"{text}  ({self.note})" if self.note and self.peer and self.theirs is None else text


@dataclass(frozen=True)
class SuiteRun:
    """How a suite ended."""

    name: str
    seconds: float
    failure: str = ""
    """Why rows are missing; empty: none are."""
    not_installed: bool = False
    """The reason is a missing library, which is reported and not an error."""


@dataclass(frozen=True)
class Report:
    """Everything of one run."""

    rows: tuple[Row, ...]
    runs: tuple[SuiteRun, ...]
    machine: Mapping[str, str]
    """Processor, cores, Python."""
    versions: Mapping[str, str]
    """Library -> version."""
    long_checks: Mapping[str, str] = field(default_factory=dict)
    """Commands that are not part of this table -> what they check."""

    @property
    def failures(self) -> tuple[SuiteRun, ...]:
        return tuple(run for run in self.runs if run.failure)

    @property
    def broken(self) -> bool:
        """Whether a suite failed or was interrupted."""
        return any(not run.not_installed for run in self.failures)


def write(report: Report, folder: Path) -> tuple[Path, Path]:
    """Writes bench.md and bench.json."""
    folder.mkdir(parents=True, exist_ok=True)
    page, data = folder / "bench.md", folder / "bench.json"
    page.write_text("# Benchmarks\n\n" + "\n".join(markdown(report)) + "\n", encoding="utf-8")
    content = {
        "machine": dict(report.machine),
        "versions": dict(report.versions),
        "suites": [asdict(run) for run in report.runs],
        "rows": [row.as_dict() for row in report.rows],
        "long_checks": dict(report.long_checks),
    }
    data.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return page, data


def read(path: Path) -> Report:
    """Reads a bench.json."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return Report(
        tuple(Row.from_dict(row) for row in data["rows"]),
        tuple(SuiteRun(**run) for run in data["suites"]),
        data["machine"],
        data["versions"],
        data.get("long_checks", {}),
    )


def markdown(report: Report) -> Iterator[str]:
    """Lines of the table with the text above and below it; no heading of the first level."""
    machine = ", ".join(
        f"{name} {value}" if name == "Python" else value for name, value in report.machine.items()
    )
    yield f"{machine}. {', '.join(f'{name} {version}' for name, version in report.versions.items())}."
    yield ""
    yield (
        "*Ratio*: how many times better ours is than the peer's, both from this run; above 1 we are better, below 1 "
        "they are. *Noise*: by how much the ratio differed between runs of the baseline; no noise, not gated."
    )
    for suite in dict.fromkeys(row.suite for row in report.rows):
        yield ""
        yield f"**{suite}** (`python -m benchmarks {suite}`)"
        yield ""
        yield from _grid([row for row in report.rows if row.suite == suite])
    yield ""
    better = [row for row in report.rows if row.ratio is not None and row.ratio < 1.0 - EVEN]
    yield f"**Rows where the peer is better**: {len(better)} of {sum(row.ratio is not None for row in report.rows)}."
    yield ""
    yield from (
        f"- {cell(row.case)}, {cell(row.what)}: {row.peer}, {figure(1.0 / row.ratio, 'times')} ({row.suite})"
        for row in sorted(better, key=lambda row: row.ratio or 0.0)
        if row.ratio
    )
    if report.failures:
        yield ""
        yield "**Not measured, or not to the end**"
        yield ""
        yield from (f"- {run.name}: {cell(run.failure)}" for run in report.failures)
    if report.long_checks:
        yield ""
        yield "**Long checks, by themselves**"
        yield ""
        yield from (f"- `{command}`: {what}" for command, what in report.long_checks.items())


def _grid(rows: Sequence[Row]) -> Iterator[str]:
    yield "| case | what | ours | peer | theirs | ratio | noise |"
    yield "|---|---|---:|---|---:|---:|---:|"
    for row in rows:
        cells = (
            cell(row.case),
            cell(row.what),
            figure(row.ours, row.unit),
            cell(f"{row.peer} {row.version}".strip()),
            (figure(row.theirs, row.unit) if row.peer else "") or cell(row.note),
            "" if row.ratio is None else figure(row.ratio, ""),
            "" if row.noise is None or not row.counts else f"{row.noise:.0%}",
        )
        yield "| " + " | ".join(cells) + " |"
    notes = dict.fromkeys(row.note for row in rows if row.note and (row.theirs is not None or not row.peer))
    if notes:
        yield ""
        yield " ".join(f"{cell(note)}." for note in notes)


def cell(text: str) -> str:
    """Text that does not end a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")


def figure(value: float | None, unit: str) -> str:
    """Three figures and the unit; counts whole; nothing for nothing."""
    if value is None:
        return ""
    number = f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:.3g}"
    return f"{number} {unit}".rstrip()


def by_key(rows: Iterable[Row]) -> dict[Key, Row]:
    """Rows by what makes them the same in another run; two of one key are a mistake of the suite."""
    found: dict[Key, Row] = {}
    for row in rows:
        if row.key in found:
            raise ValueError(f"two rows of {row.suite!r} are called {row.key[1:]}")
        found[row.key] = row
    return found
