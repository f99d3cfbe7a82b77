"""One suite in a process of its own: `python -m benchmarks._suite NAME FILE` adds its rows to the file, one per line.

A process for each, because suites set the threads of libraries before these load, and one that dies takes no other with
it. Rows are written as they are found: what was measured before a failure is kept.
"""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from pathlib import Path

PEER_MISSING = 3
"""Exit code: something that the suite needs is not installed; the last line of the file says what."""

OWN = ("benchmarks", "elbowroom", "tests")
"""One of our modules that is not found is an error."""


def run(name: str, file: Path) -> int:
    import pytest

    warnings.simplefilter("ignore")
    with file.open("a", encoding="utf-8") as out:
        try:
            for row in importlib.import_module(f"benchmarks.{name}").rows():
                out.write(json.dumps(row.as_dict()) + "\n")
                out.flush()
                print(f"  {row}", flush=True)
        except pytest.skip.Exception as error:  # the judges of the tests skip where what they need is missing
            why = str(error)
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] in OWN:
                raise
            why = f"{error.name} is not installed"
        else:
            return 0
        out.write(json.dumps({"missing": why}) + "\n")
        return PEER_MISSING


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], Path(sys.argv[2])))
