"""The soak: fuzzers that run for as long as they are given, each against an oracle that nobody here wrote, or a law.

    make soak ARGS="--minutes 20 --seed 0 --only formats"
    python -m tests.soak --case formats:12345 --seed 0        # one case again

A fuzzer is a module with `run(case) -> Told`. Every case has a generator of its own, drawn from the seed of the run, the
name of the fuzzer and the number of the case, so that any one can be run again by itself. A case passes when the answer
agrees with the oracle or the input is refused by an `ElbowroomError` that says what is wrong. Another exception, a wrong
answer, a hang and a crash are failures; each is kept in a folder with its input, to be made into a regression test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Fuzzer:
    """Where a fuzzer is, and how long one of its cases may take."""

    module: str
    limit: float
    """Seconds of work after which a case counts as a hang: several times what the slowest honest one takes."""


FUZZERS: Mapping[str, Fuzzer] = {
    "descriptions": Fuzzer("tests.soak.descriptions", 60.0),
    "formats": Fuzzer("tests.soak.formats", 60.0),
    "meshes": Fuzzer("tests.soak.meshes", 60.0),
    "verdicts": Fuzzer("tests.soak.verdicts", 180.0),
    "plans": Fuzzer("tests.soak.plans", 240.0),
}
