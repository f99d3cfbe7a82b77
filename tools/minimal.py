"""A plain `pip install`, tried where none of the extras is (`make minimal`).

    .venv-minimal/bin/python tools/minimal.py

Fails when the environment does have an extra, when the package comes from a checkout, when a module cannot be imported,
when the help of a verb cannot be shown, or when the demo cannot be run.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import pkgutil
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from packaging.requirements import Requirement  # comes with matplotlib
from packaging.utils import canonicalize_name


def main() -> int:
    """Runs every check; says what was seen."""
    extras = extra_names()
    present = sorted(name for name in extras if _installed(name))
    if present:
        raise SystemExit(f"not a minimal environment: {', '.join(present)} of the extras are installed")
    import elbowroom

    if not Path(elbowroom.__file__).is_relative_to(sysconfig.get_path("purelib")):
        raise SystemExit(f"not installed but imported from {elbowroom.__file__}")
    modules = [found.name for found in pkgutil.walk_packages(elbowroom.__path__, "elbowroom.")]
    for name in modules:
        if not name.endswith("__main__"):
            importlib.import_module(name)
    print(f"{len(modules)} modules import without {', '.join(sorted(extras))}")
    with tempfile.TemporaryDirectory() as folder:
        verbs = re.findall(r"^  ([a-z]+)  ", _run(folder, "--help"), re.MULTILINE)
        if "demo" not in verbs:
            raise SystemExit(f"the help names the verbs {verbs}: expected demo among them")
        for verb in verbs:
            _run(folder, verb, "--help")
        print(f"help of {', '.join(verbs)}")
        _run(folder, "demo", "--out", "report")
        print(f"demo: {(Path(folder) / 'report/report.html').stat().st_size / 1e6:.1f} MB of report")
    return 0


def extra_names() -> set[str]:
    """Distributions that the extras ask for and a plain install does not bring."""
    extras = importlib.metadata.metadata("elbowroom").get_all("Provides-Extra") or ()
    return _closure("elbowroom", frozenset(extras), deep=False) - _closure(
        "elbowroom", frozenset(), deep=True
    )


def _closure(name: str, extras: frozenset[str], *, deep: bool) -> set[str]:
    """Distributions that one asks for with some extras, and, if deep, what those that are installed ask for."""
    found, todo = set[str](), [(name, extras)]
    done = set[tuple[str, frozenset[str]]]()
    while todo:
        item = todo.pop()
        if item in done or not _installed(item[0]):
            continue
        done.add(item)
        for requirement in map(Requirement, importlib.metadata.requires(item[0]) or ()):
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in item[1] | {""}):
                found.add(canonicalize_name(requirement.name))
                if deep or requirement.name == name:
                    todo.append((requirement.name, frozenset(requirement.extras)))
    return found - {name}


def _installed(name: str) -> bool:
    try:
        importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _run(folder: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "elbowroom", *words], cwd=folder, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"elbowroom {' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
