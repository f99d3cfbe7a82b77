"""Say what is installed, what is missing and how to get it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from dataclasses import dataclass
from typing import Any

from .. import __version__
from .._cache import cache_dir
from ._common import console, print_json, table

REQUIRED = (
    "numpy", "scipy", "jax", "jaxlie", "jax_dataclasses", "jaxtyping", "numba", "mujoco", "yourdfpy", "trimesh",
    "pycollada", "lxml", "ruamel.yaml", "daqp", "websockets", "joblib", "platformdirs", "tyro", "rich", "matplotlib",
    "viser",
)  # fmt: skip
OPTIONAL = {
    "example-robot-data": ("robots", "about fifty real robots by name"),
    "robot_descriptions": ("robots", "two hundred more, fetched at first use"),
    "dask": ("cluster", "long work on a Dask cluster"),
    "distributed": ("cluster", "long work on a Dask cluster"),
    "ray": ("cluster", "long work on a Ray cluster"),
    "coal": ("test", "oracle of the collision tests"),
    "pin": ("test", "oracle of the kinematics tests"),
}

EXAMPLES = {"elbowroom doctor --json": "what is installed, for a bug report"}


@dataclass(frozen=True)
class Options:
    """Arguments of `elbowroom doctor`."""

    json: bool = False
    """Print JSON instead of a table."""


def run(options: Options) -> int:
    """Prints the report; exit code 1 when something required is missing."""
    report = examine()
    if options.json:
        print_json(report)
    else:
        _print(report)
    return 1 if report["missing_required"] else 0


def examine() -> dict[str, Any]:
    """State of the installation as plain values."""
    versions = {name: _version(name) for name in (*REQUIRED, *OPTIONAL)}
    folder = cache_dir()
    return {
        "elbowroom": __version__,
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "cache": str(folder),
        "cache_writable": _writable(folder),
        "versions": versions,
        "missing_required": [name for name in REQUIRED if versions[name] is None],
        "missing_optional": [name for name in OPTIONAL if versions[name] is None],
    }


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _writable(folder: Any) -> bool:
    while not folder.exists() and folder.parent != folder:
        folder = folder.parent
    return os.access(folder, os.W_OK)


def _print(report: dict[str, Any]) -> None:
    out = console()

    def line(text: str, style: str = "") -> None:
        out.print(text, markup=False, style=style)

    line(
        f"elbowroom {report['elbowroom']}, Python {report['python']}, {report['platform']}, {report['cores']} cores",
        "bold",
    )
    state = "writable" if report["cache_writable"] else "NOT writable: results are computed anew every time"
    line(f"cache: {report['cache']} ({state})")
    versions = report["versions"]
    rows = [(name, versions[name] or "missing", "everything", "pip install elbowroom") for name in REQUIRED]
    rows += [
        (name, versions[name] or "-", purpose, f"pip install 'elbowroom[{extra}]'")
        for name, (extra, purpose) in OPTIONAL.items()
    ]
    out.print(table(("package", "version", "needed for", "if missing"), rows))
    missing = report["missing_required"]
    line(
        f"missing: {', '.join(missing)}" if missing else "everything required is here",
        "red" if missing else "",
    )
