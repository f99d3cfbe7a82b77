"""The process that runs cases. What it is at is in shared memory before it starts, so that its death names the case."""

from __future__ import annotations

import faulthandler
import importlib
import os
import shutil
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .case import Case, Failure, Told

ALIKE = 10
"""Failures of one signature that a process keeps; more are counted only."""
PAGE, TICKS = (
    (os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")) if hasattr(os, "sysconf") else (4096, 100)
)

AT_FUZZER, AT_INDEX, AT_START, AT_WORK, AT_SIZE = 0, 1, 2, 3, 4
"""Places in the shared array: number of the fuzzer (-1: idle), index, `time.monotonic` of its start, seconds that the
process had worked by then; length."""


def resident(pid: int | str = "self") -> int:
    """Bytes of memory that a process holds; 0 where the system has no /proc."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def worked(pid: int | str = "self") -> float:
    """Seconds of processor time of a process; infinite where the system has no /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS
    except (OSError, IndexError):
        return float("inf")


def run_case(module: Any, case: Case) -> Told | Failure:
    """Runs one case in its emptied folder; what it raises is a failure."""
    shutil.rmtree(case.folder, ignore_errors=True)
    case.folder.mkdir(parents=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return module.run(case)
    except Exception as error:
        how = "wrong" if isinstance(error, AssertionError) else "exception"
        return Failure(case.fuzzer, case.seed, case.index, how, traceback.format_exc())


def main(
    connection: Any, at: Any, stop: Any, fuzzers: Mapping[str, str], seed: int, scratch: str, failures: str
) -> None:
    """Takes blocks (fuzzer, indices), answers (index, Told | Failure, seconds) a case, None a block."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the run
    folder, log = Path(scratch), _log_to(Path(scratch + ".log"))
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)  # MuJoCo writes its log where it stands
    modules: dict[str, Any] = {}
    kept: Counter[str] = Counter()
    names = list(fuzzers)
    while (block := connection.recv()) is not None:
        name, indices = block
        for index in indices:
            if stop.value:
                break
            at[AT_INDEX], at[AT_START], at[AT_WORK] = index, time.monotonic(), worked()
            at[AT_FUZZER] = names.index(name)
            os.ftruncate(log, 0)
            start = time.perf_counter()
            if name not in modules:
                modules[name] = importlib.import_module(fuzzers[name])
            case = Case(name, seed, index, folder / "case")
            told = run_case(modules[name], case)
            seconds = time.perf_counter() - start
            at[AT_FUZZER] = -1
            if isinstance(told, Failure):
                kept[told.signature] += 1
                if kept[told.signature] <= ALIKE:
                    told.keep(case.folder, Path(failures))
            connection.send((index, told, seconds))
        connection.send(None)


def _log_to(path: Path) -> int:
    """Sends all that this process and its libraries print to a file; returns its descriptor."""
    path.parent.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush()
    log = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    faulthandler.enable(2, all_threads=False)
    if hasattr(faulthandler, "register"):
        faulthandler.register(signal.SIGUSR1, 2, all_threads=False)  # where a hang hangs
    return log
