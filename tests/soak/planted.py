"""A fuzzer with planted faults, to test the runner: a wrong answer, an exception, a hang, a crash."""

from __future__ import annotations

import os
import time

from .case import Case, Told, Wrong

WRONG, RAISES, HANGS, DIES, REFUSED = 3, 5, 7, 9, 11


def run(case: Case) -> Told:
    drawn = case.number()
    (case.folder / "input.txt").write_text(f"{drawn}\n")
    match case.index:
        case 3:
            raise Wrong(f"planted {drawn}")
        case 5:
            raise KeyError(f"planted {drawn}")
        case 7:
            time.sleep(600.0)
        case 9:
            os.abort()
        case 11:
            return Told("refused", refused=True)
    return Told("plain", notes=("even",) if case.index % 2 == 0 else ())
