"""What a table says of the machine: processor, cores, Python and libraries; nothing that would name it."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path

LIBRARIES = {
    "elbowroom": "elbowroom", "NumPy": "numpy", "JAX": "jax", "MuJoCo": "mujoco", "Pinocchio": "pin",
    "Coal": "coal", "python-fcl": "python-fcl", "mink": "mink", "pink": "pin-pink", "daqp": "daqp", "OMPL": "ompl",
    "toppra": "toppra", "VAMP": "vamp-planner", "RoboPlan": "roboplan",
}  # fmt: skip
"""Name -> distribution."""


def version(name: str) -> str:
    """Of a library of `LIBRARIES`, or of several joined by ` + `; `not installed` where it is not."""
    return " + ".join(_version(LIBRARIES[part]) for part in name.split(" + "))


def versions() -> dict[str, str]:
    return {name: version(name) for name in LIBRARIES}


def _version(distribution: str) -> str:
    if distribution == "elbowroom":
        import elbowroom

        return elbowroom.__version__
    try:
        return installed(distribution)
    except PackageNotFoundError:
        return "not installed"


def machine() -> dict[str, str]:
    return {
        "processor": _processor(),
        "cores": f"{os.cpu_count()} cores",
        "system": platform.system(),
        "Python": platform.python_version(),
    }


def _processor() -> str:
    """Its model, where the system tells it."""
    file = Path("/proc/cpuinfo")
    if file.is_file():
        for line in file.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
