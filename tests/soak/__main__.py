"""Command line of the soak; see the package."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from . import FUZZERS
from .report import Progress, print_report, write_json
from .runner import Soak


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description="Runs the fuzzers.")
    parser.add_argument("--minutes", type=float, default=5.0, help="after which no case is started (5)")
    parser.add_argument("--seed", type=int, default=0, help="of the run (0)")
    parser.add_argument("--only", nargs="+", choices=list(FUZZERS), default=list(FUZZERS), metavar="FUZZER",
                        help=f"some of {', '.join(FUZZERS)}")  # fmt: skip
    parser.add_argument("--case", action="append", default=[], metavar="FUZZER:INDEX",
                        help="runs one case again; may be given several times")  # fmt: skip
    parser.add_argument("--workers", type=int, default=1, help="processes (1)")
    parser.add_argument("--memory", type=float, default=4.0, help="gigabytes that a process may hold (4)")
    parser.add_argument("--failures", type=Path, default=Path("soak-failures"), help="folder that keeps them")
    parser.add_argument("--json", type=Path, help="writes all figures to a file")
    options = parser.parse_args(argv)
    cases: dict[str, list[int]] = {}
    for text in options.case:
        name, _, index = text.partition(":")
        if name not in FUZZERS or not index.isdecimal():
            parser.error(f"--case: expected FUZZER:INDEX, found {text!r}; fuzzers are {', '.join(FUZZERS)}")
        cases.setdefault(name, []).append(int(index))
    names = list(cases) or options.only
    soak = Soak(
        {name: FUZZERS[name] for name in names},
        options.seed,
        options.failures,
        minutes=options.minutes,
        cases=cases or None,
        workers=options.workers,
        memory=options.memory,
        progress=Progress(),
    )
    for way in (signal.SIGINT, signal.SIGTERM):  # either way the run ends with its table
        signal.signal(way, signal.default_int_handler)
    report = soak.run()
    print_report(report, options.failures)
    for failure in report.failures if cases else ():
        print(f"\n{failure.fuzzer}:{failure.index}: {failure.how}\n{failure.text}")
    if options.json:
        write_json(report, options.json)
    return 1 if report.failures or report.ended not in ("", "interrupted") else 0


if __name__ == "__main__":
    sys.exit(main())
