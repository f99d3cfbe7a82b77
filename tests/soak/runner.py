"""Hands out cases to processes, shares the time between fuzzers, and outlives whatever a case does to its process."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing import connection
from pathlib import Path
from typing import Any

from . import Fuzzer, worker
from .case import Failure, Told

BLOCK_SECONDS = 2.0
"""Work that is handed out at once."""
BLOCK_CASES = 500
COLD_CASES, COLD = 5, 10.0
"""The first cases of a fuzzer in a process may take this many times the limit: robots are fitted in them."""
BUSY = 6.0
"""On a busy machine a case may take this many times its limit, as long as it does not work for longer than that."""
STILLBORN = 3
"""Processes in a row that may die before their first case: then it is no fault of a case."""
MEMORY_SECONDS = 30.0
"""Between two notes of how much memory is held."""
POLL = 0.2
"""Seconds between two looks at the processes."""


class ProcessesDie(RuntimeError):
    """Processes die before they run a case, so no case is at fault."""


@dataclass
class Tally:
    """What is known of one fuzzer."""

    cases: int = 0
    refused: int = 0
    seconds: float = 0.0
    failures: list[Failure] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    slowest_index: int = -1

    def add(self, index: int, told: Told | Failure, seconds: float) -> None:
        self.cases += 1
        self.seconds += seconds
        if seconds > self.slowest:
            self.slowest, self.slowest_index = seconds, index
        if isinstance(told, Failure):
            self.failures.append(told)
            return
        self.refused += told.refused
        self.kinds[told.kind] += 1
        self.notes.update(told.notes)


@dataclass
class Report:
    """A run."""

    seed: int
    minutes: float
    workers: int
    tallies: dict[str, Tally]
    replaced: Counter[str] = field(default_factory=Counter)
    """Processes that were replaced, by reason."""
    ended: str = ""
    """What ended the run before its time."""
    memory: list[tuple[float, int]] = field(default_factory=list)
    """Seconds since the start, and bytes that the largest process held then; every half minute."""

    @property
    def failures(self) -> list[Failure]:
        return [failure for tally in self.tallies.values() for failure in tally.failures]

    @property
    def cases(self) -> int:
        return sum(tally.cases for tally in self.tallies.values())


class Worker:
    """A process and what it was given."""

    def __init__(self, number: int, soak: Soak) -> None:
        self.number, self.soak = number, soak
        self.scratch = soak.scratch / f"worker-{number}"
        self.done: Counter[str] = Counter()
        self.fuzzer, self.left = "", list[int]()
        context = multiprocessing.get_context("spawn")
        self.at = context.RawArray("d", [-1.0] * worker.AT_SIZE)
        self.pipe, theirs = context.Pipe()
        modules = {name: fuzzer.module for name, fuzzer in soak.fuzzers.items()}
        self.process = context.Process(
            target=worker.main,
            args=(theirs, self.at, soak.stop, modules, soak.seed, str(self.scratch), str(soak.failures)),
            daemon=True,
        )
        self.process.start()
        theirs.close()

    def give(self, fuzzer: str, indices: list[int]) -> None:
        self.fuzzer, self.left = fuzzer, indices
        self.pipe.send((fuzzer, indices))

    @property
    def idle(self) -> bool:
        return not self.fuzzer

    def overdue(self) -> bool:
        """Whether its case has been running for too long: working so long, or for several times as long not."""
        if self.at[worker.AT_FUZZER] < 0.0:
            return False
        limit = self.soak.fuzzers[self.fuzzer].limit
        if self.done[self.fuzzer] < COLD_CASES:
            limit *= COLD
        waited = time.monotonic() - self.at[worker.AT_START]
        if waited <= limit:
            return False
        work = worker.worked(self.process.pid or 0) - self.at[worker.AT_WORK]
        return waited > BUSY * limit or not work <= limit

    def kill(self) -> str:
        """Ends the process; returns what it printed last."""
        if self.process.is_alive() and hasattr(signal, "SIGUSR1"):
            os.kill(self.process.pid or 0, signal.SIGUSR1)  # writes its stack
            time.sleep(POLL)
        self.process.kill()
        self.process.join()
        self.pipe.close()
        try:
            return Path(f"{self.scratch}.log").read_text(errors="replace")[-20_000:]
        except OSError:
            return ""


class Soak:
    """One run: `Soak(...).run()`."""

    def __init__(
        self,
        fuzzers: Mapping[str, Fuzzer],
        seed: int,
        failures: Path,
        *,
        minutes: float = 1.0,
        cases: Mapping[str, Sequence[int]] | None = None,
        workers: int = 1,
        memory: float = 4.0,
        progress: Callable[[Report, float], None] = lambda report, seconds: None,
    ) -> None:
        """Takes what to run and for how long.

        Args:
            fuzzers: by name.
            seed: of the run.
            failures: folder that failures are kept in, made when there is one.
            minutes: after which no case is started.
            cases: indices by fuzzer, to run just these, without a limit of time.
            workers: processes.
            memory: gigabytes that a process may hold.
            progress: told of the state now and then, with the seconds since the start.
        """
        self.fuzzers, self.seed, self.failures, self.memory = fuzzers, seed, failures.absolute(), memory * 1e9
        self.report = Report(seed, minutes, workers, {name: Tally() for name in fuzzers})
        self.again = {name: list(cases.get(name, ())) for name in fuzzers} if cases else None
        self.next = dict.fromkeys(fuzzers, 0)
        self.returned: dict[str, list[int]] = {name: [] for name in fuzzers}
        self.progress = progress
        self.stillborn = 0
        self.stop = multiprocessing.get_context("spawn").Value("b", 0, lock=False)

    def run(self) -> Report:
        """Runs until the time is up, the cases are done, or the user interrupts."""
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="elbowroom-soak-") as scratch:
            self.scratch = Path(scratch)
            os.environ.setdefault("ELBOWROOM_CACHE", str(self.scratch / "cache"))  # no fit of yesterday's
            workers = [Worker(k, self) for k in range(self.report.workers)]
            try:
                self._serve(workers, start)
            except KeyboardInterrupt:
                self.report.ended = "interrupted"
            except ProcessesDie as error:
                self.report.ended = str(error)
            finally:
                for each in workers:
                    each.kill()
        self.report.minutes = (time.monotonic() - start) / 60.0
        return self.report

    def _serve(self, workers: list[Worker], start: float) -> None:
        end = start + 60.0 * self.report.minutes
        told = start
        while True:
            for k in [k for k, each in enumerate(workers) if each.idle]:
                if worker.resident(workers[k].process.pid or 0) > 0.5 * self.memory:
                    workers[k] = self._replace(workers[k])
                if (block := self._block(end)) is not None:
                    workers[k].give(*block)
            if time.monotonic() > end and self.again is None:
                self.stop.value = 1
            if all(each.idle for each in workers):
                return
            connection.wait([each.pipe for each in workers], POLL)
            for k, each in enumerate(workers):
                if not self._listen(each):
                    workers[k] = self._bury(each, "crash")
                elif each.overdue():
                    workers[k] = self._bury(each, "hang")
                elif not each.idle and worker.resident(each.process.pid or 0) > self.memory:
                    workers[k] = self._bury(each, "memory")
            if time.monotonic() - told > 1.0:
                told = time.monotonic()
                self._note_memory(workers, told - start)
                self.progress(self.report, told - start)

    def _block(self, end: float) -> tuple[str, list[int]] | None:
        """Cases to hand out: of the fuzzer that had the least time."""
        if self.again is not None:
            name = next((name for name, left in self.again.items() if left), None)
            return None if name is None else (name, [self.again[name].pop(0)])
        if time.monotonic() > end:
            return None
        name = min(self.fuzzers, key=lambda name: self.report.tallies[name].seconds)
        tally = self.report.tallies[name]
        mean = tally.seconds / tally.cases if tally.cases else BLOCK_SECONDS
        count = int(min(max(1.0, BLOCK_SECONDS / max(mean, 1e-6)), BLOCK_CASES))
        found, self.returned[name] = self.returned[name][:count], self.returned[name][count:]
        more = count - len(found)
        found += range(self.next[name], self.next[name] + more)
        self.next[name] += more
        return name, found

    def _note_memory(self, workers: list[Worker], seconds: float) -> None:
        if not self.report.memory or seconds - self.report.memory[-1][0] > MEMORY_SECONDS:
            held = max(worker.resident(each.process.pid or 0) for each in workers)
            self.report.memory.append((seconds, held))

    def _listen(self, each: Worker) -> bool:
        """Takes all that a process has to say; False when it is dead."""
        try:
            while each.pipe.poll():
                message = each.pipe.recv()
                if message is None:
                    self.returned[each.fuzzer] += each.left  # of a block cut short
                    each.fuzzer, each.left = "", []
                    continue
                self._count(each, *message)
        except (EOFError, OSError):
            return False
        return each.process.is_alive()

    def _count(self, each: Worker, index: int, told: Told | Failure, seconds: float) -> None:
        each.left.remove(index)
        each.done[each.fuzzer] += 1
        self.report.tallies[each.fuzzer].add(index, told, seconds)

    def _bury(self, each: Worker, how: str) -> Worker:
        """Counts and keeps the case that a process ended with, gives back the rest of its block, starts another."""
        self._drain(each)
        each.process.join(0.0 if how != "crash" else 10.0)
        code = each.process.exitcode
        index, seconds = int(each.at[worker.AT_INDEX]), time.monotonic() - each.at[worker.AT_START]
        running = each.at[worker.AT_FUZZER] >= 0.0 and index in each.left
        text = each.kill()
        if running:
            words = {
                "crash": f"the process died with exit code {code}",
                "hang": f"still running after {seconds:.1f} s",
                "memory": f"more than {self.memory / 1e9:g} GB of memory",
            }
            failure = Failure(each.fuzzer, self.seed, index, how, f"{text}\n{words[how]}")
            failure.keep(each.scratch / "case", self.failures)
            self._count(each, index, failure, seconds)
        self.stillborn = 0 if running or each.done else self.stillborn + 1
        if self.stillborn == STILLBORN:
            raise ProcessesDie(f"{STILLBORN} processes died before they ran a case, exit code {code}: {text}")
        if each.fuzzer:
            self.returned[each.fuzzer] += each.left
        if self.again is not None and each.fuzzer:
            self.again[each.fuzzer] = each.left + self.again[each.fuzzer]
        return self._started(each, how)

    def _drain(self, each: Worker) -> None:
        """Results that were sent before the end."""
        try:
            while each.pipe.poll():
                message: Any = each.pipe.recv()
                if message is not None:
                    self._count(each, *message)
        except (EOFError, OSError):
            pass

    def _replace(self, each: Worker) -> Worker:
        """Another process for an idle one that has grown."""
        each.kill()
        return self._started(each, "growth")

    def _started(self, each: Worker, why: str) -> Worker:
        self.report.replaced[why] += 1
        return Worker(each.number, self)
