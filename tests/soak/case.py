"""One case: its generator, its folder, what came of it, and how a failure is kept."""

from __future__ import annotations

import json
import re
import shutil
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from elbowroom.errors import ElbowroomError


class Wrong(AssertionError):
    """An answer that the oracle refutes, or a law that does not hold."""


@dataclass(frozen=True)
class Told:
    """What a case came to, when it passed."""

    kind: str
    """What was tried, for the counts."""
    refused: bool = False
    """By a clear error."""
    notes: tuple[str, ...] = ()
    """What is no failure and should be counted all the same."""


@dataclass(frozen=True)
class Case:
    """One case of a fuzzer. The same seed, fuzzer and index give the same draws on every machine."""

    fuzzer: str
    seed: int
    index: int
    folder: Path
    """Empty at the start; files that are written here are kept with a failure."""

    @cached_property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng([self.seed, zlib.crc32(self.fuzzer.encode()), self.index])

    def number(self, below: int = 1 << 30) -> int:
        """A seed for whoever takes one number."""
        return int(self.rng.integers(below))

    def __str__(self) -> str:
        return f"{self.fuzzer}:{self.index} --seed {self.seed}"


@dataclass(frozen=True)
class Failure:
    """A case that did not pass."""

    fuzzer: str
    seed: int
    index: int
    how: str
    """wrong, exception, hang, crash or memory."""
    text: str
    """Traceback, or what the process left behind."""

    @property
    def signature(self) -> str:
        """The same for cases that fail alike: kind and last line without numbers, names in quotes and addresses."""
        lines = [line for line in self.text.splitlines() if line.strip()] or [""]
        last = re.sub(r"'[^']*'|\"[^\"]*\"|/\S+", "_", lines[-1])
        last = re.sub(r"\[[\[\]#, ]*\]?", "[]", re.sub(r"-?[0-9][0-9.e+-]*", "#", last))
        return f"{self.fuzzer} {self.how} {last[:120]}"

    def keep(self, scratch: Path, failures: Path) -> Path:
        """Copies what a case wrote into a folder of its own, with what happened and how to see it again."""
        kept = failures / f"{self.fuzzer}-{self.seed}-{self.index}"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(scratch, kept, symlinks=True) if scratch.is_dir() else kept.mkdir(parents=True)
        again = f'make soak ARGS="--case {self.fuzzer}:{self.index} --seed {self.seed}"'
        told = {
            "fuzzer": self.fuzzer,
            "seed": self.seed,
            "index": self.index,
            "how": self.how,
            "again": again,
        }
        (kept / "failure.json").write_text(json.dumps(told, indent=1) + "\n")
        (kept / "failure.txt").write_text(self.text, errors="backslashreplace")
        return kept


MESSAGE = 4000
"""Characters that a message may have: one that quotes half of the input explains nothing."""


def clear(error: ElbowroomError, *named: str) -> None:
    """Demands that an error says something, in bounded length, and names where: one of `named`, if any are given."""
    text = str(error)
    if not text.strip() or len(text) > MESSAGE:
        raise Wrong(f"a message of {len(text)} characters: {text[:200]!r}") from error
    if named and not any(name in text for name in named):
        raise Wrong(f"the message names none of {named}: {text[:500]}") from error


def demand(holds: object, text: str) -> None:
    """Raises `Wrong` with the text unless something holds."""
    if not holds:
        raise Wrong(text)
