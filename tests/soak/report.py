"""What a run says: a line while it runs, a table at its end, JSON on request."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .runner import Report

QUIET = 60.0
"""Seconds between lines where the output is no terminal."""


class Progress:
    """One line, written over itself in a terminal."""

    def __init__(self) -> None:
        self.last = 0.0

    def __call__(self, report: Report, seconds: float) -> None:
        terminal = sys.stderr.isatty()
        if not terminal and seconds - self.last < QUIET:
            return
        self.last = seconds
        counts = "  ".join(f"{name} {tally.cases:,}" for name, tally in report.tallies.items())
        line = f"{int(seconds) // 60:3d}:{int(seconds) % 60:02d}  {counts}  failures {len(report.failures)}"
        print(line, end="\r" if terminal else "\n", file=sys.stderr, flush=True)


def print_report(report: Report, failures: Path) -> None:
    """The table, and where failures were kept, those that are alike together."""
    console = Console(width=max(110, Console().width))  # a file has no width
    table = Table(title=f"seed {report.seed}, {report.minutes:.1f} min, {report.workers} processes")
    table.add_column("fuzzer")
    for head in ("cases", "cases/s", "refused clearly", "failures", "slowest"):
        table.add_column(head, justify="right")
    for name, tally in report.tallies.items():
        slowest = f"{tally.slowest:.2f} s ({name}:{tally.slowest_index})" if tally.cases else ""
        rate = f"{tally.cases / tally.seconds:.1f}" if tally.seconds else ""
        table.add_row(
            name, f"{tally.cases:,}", rate, f"{tally.refused:,}", f"{len(tally.failures):,}", slowest
        )
    console.print(table)
    for name, tally in report.tallies.items():
        if tally.kinds:
            console.print(f"{name}: " + ", ".join(f"{kind} {n:,}" for kind, n in tally.kinds.most_common()))
        for note, n in tally.notes.most_common():
            console.print(f"  noted {n:,} times: {note}")
    if len(report.memory) > 1:
        told = [f"{held / 1e9:.2f} GB after {seconds / 60.0:.0f} min" for seconds, held in report.memory]
        step = max(1, len(told) // 8)
        console.print(f"memory of the largest process: {', '.join(told[1:-1:step] + told[-1:])}")
    for why, n in report.replaced.items():
        console.print(f"processes replaced after {why}: {n}")
    if report.ended:
        console.print(f"ended before its time: {report.ended}", markup=False, soft_wrap=True)
    alike = Counter(failure.signature for failure in report.failures)
    for signature, n in alike.most_common():
        first = next(failure for failure in report.failures if failure.signature == signature)
        where = failures / f"{first.fuzzer}-{first.seed}-{first.index}"
        console.print(f"{n} x {signature}\n    {where}", markup=False, soft_wrap=True)


def as_json(report: Report) -> dict[str, Any]:
    """All figures of a run."""
    return {
        "seed": report.seed,
        "minutes": report.minutes,
        "workers": report.workers,
        "replaced": dict(report.replaced),
        "ended": report.ended,
        "memory": [{"seconds": seconds, "bytes": held} for seconds, held in report.memory],
        "fuzzers": {
            name: {
                "cases": tally.cases,
                "seconds": tally.seconds,
                "refused": tally.refused,
                "kinds": dict(tally.kinds),
                "notes": dict(tally.notes),
                "slowest": {"index": tally.slowest_index, "seconds": tally.slowest},
                "failures": [
                    {"index": f.index, "how": f.how, "signature": f.signature} for f in tally.failures
                ],
            }
            for name, tally in report.tallies.items()
        },
    }


def write_json(report: Report, path: Path) -> None:
    path.write_text(json.dumps(as_json(report), indent=1) + "\n")
