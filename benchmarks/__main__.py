"""All suites side by side with their peers, in one table.

Suites run one after the other in their quick form, each in a process of its own. What was measured is written even when
a suite fails or the run is interrupted; the exit code is then 1. What a suite measures at length: see the end of the
table, and `python -m benchmarks.SUITE --help`.
"""

from __future__ import annotations

import argparse
import ast
import json
import pkgutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import benchmarks
from benchmarks import _gate
from benchmarks._machine import machine, versions
from benchmarks._suite import PEER_MISSING
from benchmarks._table import Report, Row, SuiteRun, markdown, write

FOLDER = Path(__file__).parent
DOCS = FOLDER.parent / "docs" / "reference" / "benchmarks-table.md"
LENGTHS = {
    "python -m benchmarks.collision": "proofs of 2,000 segments a robot, walked by Coal",
    "python -m benchmarks.guard": "1,000 motions a robot against the guard, judged by Pinocchio and Coal",
    "python -m benchmarks.ik": "up to 1,000 targets a robot, also where spheres overlap and among obstacles",
    "python -m benchmarks.mesh": "every pair of meshes and sweep of poses, first calls of a fresh process",
    "python -m benchmarks.plan --judge": "all problems of the sample and 200 generated ones a robot, every path judged",
    "python -m benchmarks.selfcollision --evidence": "100,000 configurations of five robots against Coal, ten million "
    "samples on pairs proved never to meet",
    "python -m benchmarks.spheres": "seven robots at several budgets",
    "python -m benchmarks.track --seconds 30": "6,000 ticks a robot",
    "python -m benchmarks.world": "also clouds of up to a million points, by brute force",
}
"""What quick suites do at length."""


def docstrings() -> dict[str, tuple[str, bool]]:
    """Suite -> first line of its docstring, and whether it has rows for the table; nothing is imported."""
    found: dict[str, tuple[str, bool]] = {}
    for module in pkgutil.iter_modules(benchmarks.__path__):
        if not module.name.startswith("_"):
            tree = ast.parse((FOLDER / f"{module.name}.py").read_text(encoding="utf-8"))
            first = (ast.get_docstring(tree) or "").splitlines()[0]
            found[module.name] = (
                first,
                any(isinstance(n, ast.FunctionDef) and n.name == "rows" for n in tree.body),
            )
    return found


def long_checks() -> dict[str, str]:
    """Commands that are not part of the table -> what they check."""
    alone = {
        f"python -m benchmarks.{name}": text for name, (text, quick) in docstrings().items() if not quick
    }
    return {**alone, **LENGTHS}


def run_suite(name: str) -> tuple[SuiteRun, list[Row]]:
    """Runs a suite in its own process; its rows, however it ended."""
    print(f"\n=== {name} ===", flush=True)
    begun, failure = time.perf_counter(), ""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.jsonl"
        words = [sys.executable, "-m", "benchmarks._suite", name, str(file)]
        process = subprocess.Popen(words, cwd=FOLDER.parent)
        try:
            code = process.wait()
        except KeyboardInterrupt:  # reaches the suite too
            process.wait()
            code, failure = 0, "interrupted"
        whole = (
            file.read_text(encoding="utf-8").split("\n")[:-1] if file.is_file() else []
        )  # a last half is left out
    lines = [json.loads(line) for line in whole]
    missing = next((line["missing"] for line in lines if "missing" in line), "")
    if code == PEER_MISSING and missing:
        failure = missing
    elif code:
        failure = f"failed with exit code {code} after {sum('missing' not in line for line in lines)} rows"
    rows = [Row.from_dict(line) for line in lines if "missing" not in line]
    return SuiteRun(name, round(time.perf_counter() - begun, 1), failure, bool(missing)), rows


def run(names: Sequence[str]) -> Report:
    """All rows of the suites, up to an interruption."""
    rows, runs = list[Row](), list[SuiteRun]()
    for name in names:
        ended, found = run_suite(name)
        rows += found
        runs.append(ended)
        if ended.failure == "interrupted":
            break
    return Report(tuple(rows), tuple(runs), machine(), versions(), long_checks())


def several(names: Sequence[str], count: int) -> Iterator[Report]:
    """Runs for a baseline; ends early when one has failed."""
    for k in range(count):
        print(f"\n##### run {k + 1} of {count}", flush=True)
        report = run(names)
        yield report
        if report.broken:
            return


def make_baseline(names: Sequence[str]) -> Report:
    """Runs everything several times and writes the baseline; the rows in the middle, with their noise."""
    reports = list(several(names, _gate.RUNS))
    whole = len(reports) == _gate.RUNS and not reports[-1].broken
    known = _gate.standards([report.rows for report in reports])
    rows = _gate.middle_rows([report.rows for report in reports])
    if not whole:
        print("\nno baseline is written: a suite failed", file=sys.stderr)
        return replace(reports[-1], rows=rows)
    if _gate.BASELINE.is_file():  # rows of suites that were not run now stay as they were
        kept = {key: value for key, value in _gate.read_baseline().items() if key[0] not in names}
        known = {**kept, **known}
    _gate.write_baseline(reports[-1], known)
    print(f"\nwritten: {_gate.BASELINE.name}, {len(known)} ratios, noise {_span(known)}")
    return replace(reports[-1], rows=_gate.with_noise(rows, known))


def _span(known: dict[_gate.Key, _gate.Standard]) -> str:
    noises = [standard.noise for standard in known.values()]
    return f"{min(noises):.0%} to {max(noises):.0%}" if noises else "-"


def gate(report: Report, names: Sequence[str]) -> bool:
    """Compares with the baseline, says what is found, and whether nothing fell."""
    known = _gate.read_baseline()
    here, there = report.machine.get("processor", ""), _gate.baseline_processor()
    if here != there:
        print(
            f"the baseline is of another processor ({there}; this is {here}): ratios may be {_gate.ELSEWHERE:.0%} lower"
        )
        known = _gate.elsewhere(known)
    verdict = _gate.compare(report.rows, known, names)
    for word, lines in (("missing", verdict.missing), ("new", verdict.new), ("FELL", verdict.fallen)):
        for line in lines:
            print(f"{word}: {line}")
    print(
        f"{verdict.compared} ratios compared with the baseline, {len(verdict.fallen)} fell below their noise"
    )
    return verdict.passed


def main(argv: Sequence[str] | None = None) -> int:
    described = docstrings()
    known = [name for name, (_, quick) in described.items() if quick]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"{', '.join(known)}; all by default")
    parser.add_argument(
        "--out", type=Path, default=Path("bench-report"), help="folder of bench.md and bench.json"
    )
    parser.add_argument(
        "--gate", action="store_true", help="leave with 1 where a ratio fell below the baseline's"
    )
    parser.add_argument(
        "--baseline", action="store_true", help=f"run {_gate.RUNS} times and write baseline.json"
    )
    parser.add_argument(
        "--docs", action="store_true", help=f"write the table as docs/reference/{DOCS.name} too"
    )
    parser.add_argument("--list", action="store_true", help="say what there is, and run nothing")
    options = parser.parse_args(argv)
    if options.list:
        for name in known:
            print(f"{name:16} {described[name][0]}")
        print("\nLong checks, by themselves:")
        for command, text in long_checks().items():
            print(f"{command}\n    {text}")
        return 0
    for name in options.suites:
        if name not in known:
            alone = f"; it is a long check: python -m benchmarks.{name}" if name in described else ""
            print(
                f"no suite {name!r} with rows for the table{alone}; there are: {', '.join(known)}",
                file=sys.stderr,
            )
            return 2
    if options.docs and options.suites:
        print("--docs writes the whole table: name no suites", file=sys.stderr)
        return 2
    if options.gate and not _gate.BASELINE.is_file():
        print(
            f"no {_gate.BASELINE.name} to compare with; make one: python -m benchmarks --baseline",
            file=sys.stderr,
        )
        return 2
    names = options.suites or known
    report = make_baseline(names) if options.baseline else run(names)
    if not options.baseline and _gate.BASELINE.is_file():
        report = replace(report, rows=_gate.with_noise(report.rows, _gate.read_baseline()))
    page, data = write(report, options.out)
    print(f"\nwritten: {page}, {data}; {sum(run.seconds for run in report.runs):.0f} s")
    if options.docs and report.broken:
        print(f"docs/reference/{DOCS.name} is left as it was: the table is not whole", file=sys.stderr)
    elif options.docs:
        DOCS.parent.mkdir(parents=True, exist_ok=True)
        DOCS.write_text("\n".join(markdown(report)) + "\n", encoding="utf-8")
        print(f"written: docs/reference/{DOCS.name}")
    for ended in report.failures:
        print(f"{ended.name}: {ended.failure}", file=sys.stderr)
    passed = gate(report, names) if options.gate else True
    return 0 if passed and not report.broken else 1


if __name__ == "__main__":
    sys.exit(main())
