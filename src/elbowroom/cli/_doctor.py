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
from ._common import console, print_json

REQUIRED = (
    "numpy", "scipy", "jax", "jaxlie", "jax_dataclasses", "jaxtyping", "numba", "mujoco", "yourdfpy", "trimesh",
    "pycollada", "lxml", "ruamel.yaml", "joblib", "platformdirs", "tyro", "rich", "matplotlib", "viser",
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
    from rich.table import Table

    out = console()
    out.print(
        f"[bold]elbowroom {report['elbowroom']}[/bold], Python {report['python']}, "
        f"{report['platform']}, {report['cores']} cores"
    )
    state = "writable" if report["cache_writable"] else "NOT writable: results are computed anew every time"
    out.print(f"cache: {report['cache']} ({state})")
    table = Table("package", "version", "needed for", "if missing", box=None, header_style="bold")
    for name in REQUIRED:
        table.add_row(
            name, report["versions"][name] or "[red]missing[/red]", "everything", "pip install elbowroom"
        )
    for name, (extra, purpose) in OPTIONAL.items():
        table.add_row(name, report["versions"][name] or "-", purpose, f"pip install 'elbowroom\\[{extra}]'")
    out.print(table)
    missing = report["missing_required"]
    out.print(f"[red]missing: {', '.join(missing)}[/red]" if missing else "everything required is here")
