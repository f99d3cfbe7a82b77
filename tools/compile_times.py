"""Where a cold start goes: every kernel that a command compiles, per signature, in seconds of CPU time.

    python tools/compile_times.py check panda --random 1000

The command runs in this process with empty caches. Times are of this process's CPU, so a busy machine changes them
little; "own" excludes the kernels that a kernel compiles on the way, "all" includes them.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import defaultdict
from typing import Any

folder = tempfile.TemporaryDirectory()
os.environ["NUMBA_CACHE_DIR"] = f"{folder.name}/kernels"  # numba reads it when it is imported
os.environ["ELBOWROOM_CACHE"] = f"{folder.name}/results"
began = time.process_time()

from numba.core import event  # noqa: E402

from elbowroom.cli import main as command  # noqa: E402


class Compiles(event.Listener):
    """Keeps own and total seconds of every compilation, per kernel and signature."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, float, float]] = []
        """Kernel, signature, own seconds, all seconds."""
        self._open: list[list[float]] = []  # when it began, seconds of those compiled within

    def on_start(self, event: Any) -> None:
        """A compilation begins."""
        self._open.append([time.process_time(), 0.0])

    def on_end(self, event: Any) -> None:
        """A compilation ends."""
        start, inner = self._open.pop()
        total = time.process_time() - start
        if self._open:
            self._open[-1][1] += total
        function = event.data["dispatcher"].py_func
        name = f"{function.__module__.removeprefix('elbowroom.')}.{function.__name__}"
        self.rows.append((name, ", ".join(map(str, event.data["args"])), total - inner, total))


def main() -> int:
    """Runs the command line's own entry with the arguments given, then prints the tables on standard error."""
    compiles = Compiles()
    event.register("numba:compile", compiles)
    imported = time.process_time() - began
    code = command(sys.argv[1:])
    total = time.process_time() - began
    kernels: dict[str, list[float]] = defaultdict(list)
    for name, signature, own, whole in sorted(compiles.rows):
        kernels[name].append(own)
        print(f"{own:7.2f} own {whole:7.2f} all  {name}({signature})", file=sys.stderr)
    for name, times in sorted(kernels.items(), key=lambda item: sum(item[1])):
        print(f"{sum(times):7.2f} s  {len(times):3d} x  {name}", file=sys.stderr)
    print(
        f"{len(compiles.rows)} specialisations of {len(kernels)} kernels: "
        f"{sum(row[2] for row in compiles.rows):.1f} s of CPU time; all {total:.1f} s, imports {imported:.1f} s",
        file=sys.stderr,
    )
    return code


if __name__ == "__main__":
    sys.exit(main())
