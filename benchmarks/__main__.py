"""`python -m benchmarks [SUITE ...]`: runs the named suites, or all of them."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks


def suites() -> list[str]:
    """Modules of this folder that are suites: public, with a `main`."""
    return sorted(
        module.name for module in pkgutil.iter_modules(benchmarks.__path__) if not module.name.startswith("_")
    )


def run(names: list[str]) -> int:
    known = suites()
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no suite {unknown[0]!r}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    for name in names or known:
        print(f"\n=== {name} ===", flush=True)
        sys.argv = [name]
        importlib.import_module(f"benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
