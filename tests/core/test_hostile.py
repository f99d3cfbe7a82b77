"""Hostile arguments give Python errors, never a crash: every bound function of the core, in a process of its own.

Each argument of a sound call (`samples.py`) is replaced in turn by what a careless or unlucky caller may pass: other
shapes and types, no rows, NaN, infinities, huge and tiny numbers, indices out of range, views with strides, read-only
and transposed arrays; then several at once, at random. A call may return or raise; it may not crash or hang.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from . import samples

SECONDS = 60
"""A call that takes longer hangs: the samples take milliseconds."""
MEMORY = 12 << 30
"""Bytes of address space that the process may take."""
ROUNDS = 60
"""Calls with several spoiled arguments, for every function."""


def spoiled(value: Any) -> list[Any]:
    """What may stand in place of an argument."""
    if isinstance(value, np.ndarray):
        return spoiled_arrays(value)
    if isinstance(value, dict):
        whole = [{}, dict.fromkeys(value)]
        return whole + [{**value, name: other} for name, old in value.items() for other in spoiled(old)]
    if isinstance(value, bool):
        return [None, "yes", 2]
    if isinstance(value, int):
        return [None, "one", -1, 0, 2**31, 2**40, 2**63, -(2**63), 10**30, 1.5, np.nan]
    if isinstance(value, float):
        return [None, "one", np.nan, np.inf, -np.inf, 0.0, -1.0, 1e300, 5e-324]
    if isinstance(value, (list, tuple)):
        return [None, [], [None], [*value, None], value[:1]] + [
            [*value[:i], other, *value[i + 1 :]]
            for i in range(min(2, len(value)))
            for other in spoiled(value[i])[:6]
        ]
    return [None, 3, "text", object()]


def spoiled_arrays(array: np.ndarray) -> list[Any]:
    found: list[Any] = [
        None,
        "text",
        3.0,
        array.tolist(),
        array[..., None],
        array.ravel(),
        array[:0],
        array[:1],
    ]
    found += [array.astype(np.float32), array.astype(np.int32), array.astype(object), array.astype(complex)]
    found += [
        np.asfortranarray(array),
        array[::-1],
        np.repeat(array, 2, axis=0)[::2],
        np.concatenate([array, array]),
    ]
    read_only = array.copy()
    read_only.setflags(write=False)
    found.append(read_only)
    if array.ndim > 1:
        found += [np.swapaxes(array, 0, 1), array[:, :0], array[:, :1], np.repeat(array, 2, axis=1)]
    numbers: tuple[Any, ...] = (-1, 2**62, -(2**62), 0) if array.dtype.kind in "iu" else NUMBERS
    for number in numbers:
        if array.size and array.dtype.kind in "iuf":
            one, all_of_it = array.copy(), np.full_like(array, 0)
            with np.errstate(all="ignore"):
                one.flat[array.size // 2] = number if array.dtype.kind != "u" else abs(int(number)) % 256
                all_of_it[...] = one.flat[array.size // 2]
            found += [one, all_of_it]
    return found


NUMBERS = (np.nan, np.inf, -np.inf, 1e300, -1e300, 1e18, 5e-324, 0.0)


def attack() -> None:
    """Runs in the child; what is written last is what crashed."""
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # whose own tables take terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    faulthandler.enable()
    rng = np.random.default_rng(0)
    for name, (function, arguments) in samples.calls().items():
        function(*arguments)
        choices = [spoiled(value) for value in arguments]
        attempts = [
            (*arguments[:i], other, *arguments[i + 1 :])
            for i, others in enumerate(choices)
            for other in others
        ]
        for _ in range(ROUNDS if len(choices) > 1 else 0):
            picked = [others[rng.integers(len(others))] if rng.random() < 0.6 else value
                      for value, others in zip(arguments, choices, strict=True)]  # fmt: skip
            attempts.append(tuple(picked))
        for k, attempt in enumerate(attempts):
            print(name, k, flush=True)
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            try:
                function(*attempt)
            except Exception as error:
                if not str(error) and not isinstance(error, MemoryError):
                    raise AssertionError(f"{name} {k}: an error without words") from error
            faulthandler.cancel_dump_traceback_later()
    print("survived", flush=True)


def test_every_bound_function_has_a_sample():
    assert set(samples.calls()) == samples.bound_names()


@pytest.mark.long
def test_nothing_crashes_the_interpreter():
    code = "from tests.core.test_hostile import attack; attack()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=900)
    last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else "nothing"
    assert last == "survived", f"{last}: exit code {done.returncode}\n{done.stderr[-2000:]}"
