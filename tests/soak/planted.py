"""A fuzzer with planted faults, to test the runner."""

from __future__ import annotations

import os
import time

from .case import Case, Told, Wrong

WRONG, RAISES, HANGS, DIES, REFUSED, GROWS = 3, 5, 7, 9, 11, 13
"""Indices of the cases that do so; the others pass."""


def run(case: Case) -> Told:
    drawn = case.number()
    (case.folder / "input.txt").write_text(f"{drawn}\n")
    if case.index == WRONG:
        raise Wrong(f"planted {drawn}")
    if case.index == RAISES:
        raise KeyError(f"planted {drawn}")
    while case.index == HANGS:
        pass
    if case.index == DIES:
        os.abort()
    if case.index == GROWS:
        held = b"x" * 1_000_000_000
        time.sleep(600.0)
        del held
    return Told("plain", refused=case.index == REFUSED)
