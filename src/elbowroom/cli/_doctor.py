"""Report what a bug report needs and what is slow on this machine: versions, what is missing and how to get it,
caches, robots and browsers found, environment variables, and measured speeds compared with a reference machine.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from .._cache import cache_dir
from .._parallel import cores
from .._text import number
from ._common import console, print_json, waiting

REQUIRED = (
    "numpy", "scipy", "jax", "jaxlie", "jax_dataclasses", "jaxtyping", "mujoco", "yourdfpy", "trimesh",
    "pycollada", "lxml", "ruamel.yaml", "websockets", "joblib", "platformdirs", "tyro", "rich", "matplotlib",
    "viser",
)  # fmt: skip
OPTIONAL = {
    "example-robot-data": ("robots", "about fifty real robots by name"),
    "robot_descriptions": ("robots", "two hundred more, fetched at first use"),
    "dask": ("cluster", "long work on a Dask cluster"),
    "distributed": ("cluster", "long work on a Dask cluster"),
    "ray": ("cluster", "long work on a Ray cluster"),
    "pymodbus": ("hand", "angle commands to a real RH56"),
    "coal": ("test", "oracle of the collision tests"),
    "pin": ("test", "oracle of the kinematics tests"),
}
"""Package -> extra that brings it, and what it is for."""
OTHERS = ("xacro", "jaxlib", "uv", "pip")
"""Versions worth knowing of indirect dependencies."""
VARIABLES = (
    "ELBOWROOM_CACHE", "ELBOWROOM_DEBUG", "ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "OMP_NUM_THREADS",
    "JAX_PLATFORMS", "JAX_ENABLE_X64", "XLA_FLAGS", "MUJOCO_GL", "DISPLAY", "WAYLAND_DISPLAY", "PYTHONPATH",
)  # fmt: skip
"""Environment variables that change what Elbowroom or its dependencies do."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "firefox", "msedge")

EXAMPLES = {
    "elbowroom doctor": "is everything installed, and as fast as it should be",
    "elbowroom doctor --json": "the same for a bug report, with every version",
    "elbowroom doctor --no-speed": "without measuring, at once",
}


@dataclass(frozen=True)
class Options:
    """Arguments of `elbowroom doctor`."""

    speed: bool = True
    """Measure how fast this machine is; takes a few seconds, at most twenty."""
    json: bool = False
    """Print JSON instead of text."""


def run(options: Options) -> int:
    """Prints the report; exit code 1 when something required is missing."""
    report = examine()
    if options.speed and not report["missing_required"]:
        with waiting("measuring"):
            report["speed"] = speeds()
        report["slow"] = _slow(report)
    if options.json:
        print_json(report)
    else:
        _print(report)
    return 1 if report["missing_required"] else 0


def examine() -> dict[str, Any]:
    """State of the installation as plain values."""
    versions = {name: _version(name) for name in (*REQUIRED, *OPTIONAL, *OTHERS)}
    folder = cache_dir()
    missing = [name for name in REQUIRED if versions[name] is None]
    return {
        "elbowroom": __version__,
        "installed_at": str(Path(__file__).parents[1]),
        "python": sys.version.split()[0],
        "executable": sys.executable,
        "platform": platform.platform(),
        "cpu": _cpu(),
        "cores": cores(),
        "load": _load(),
        "cache": str(folder),
        "cache_mb": _megabytes(folder),
        "cache_writable": _writable(folder),
        "core": _core_variant(),
        "robots": _robots() if not missing else {},
        "browser": next((path for name in BROWSERS if (path := shutil.which(name))), None),
        "variables": {name: os.environ[name] for name in VARIABLES if name in os.environ},
        "versions": versions,
        "missing_required": missing,
        "missing_optional": [name for name in OPTIONAL if versions[name] is None],
    }


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _cpu() -> str:
    """What the processor calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _load() -> float | None:
    """Processes that want a core, on average over the last minute; None where the system does not say."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def _megabytes(folder: Path) -> float:
    try:
        return round(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6, 1)
    except OSError:
        return 0.0


def _writable(folder: Path) -> bool:
    while not folder.exists() and folder.parent != folder:
        folder = folder.parent
    return os.access(folder, os.W_OK)


def _core_variant() -> str:
    """The variant of the compiled core that runs here: v2 or v3 on x86-64, else generic."""
    from .. import _core

    return _core.VARIANT


def _robots() -> dict[str, int]:
    """How many robots are found by name, by where they come from."""
    from ..robot import catalogue

    origins = [entry.origin for entry in catalogue()]
    return {origin: origins.count(origin) for origin in dict.fromkeys(origins)}


def _slow(report: dict[str, Any]) -> list[str]:
    """Sentences on what is slow here and what may be the reason."""
    figures = report["speed"]["figures"]
    found = [
        f"{FIGURES[name][0]}: takes {slower_by(name, value):.1f} times as long as on the reference machine"
        for name, value in figures.items()
        if slower_by(name, value) >= SLOW
    ]
    if report["load"] is not None and report["load"] > report["cores"]:
        found.append(
            f"the machine is busy (load {report['load']:g} on {report['cores']} cores): measured times are longer"
        )
    if report["cores"] < 2:
        found.append("one core: batches run on one thread")
    if report["core"] == "v2":
        found.append("the compiled core runs as x86-64-v2: without AVX2 its vectors are half as wide")
    if not report["cache_writable"]:
        found.append(f"{report['cache']} cannot be written: fits and pairs are computed again every time")
    return found


def _print(report: dict[str, Any]) -> None:
    out = console()

    def line(text: str, style: str = "") -> None:
        out.print(text, markup=False, highlight=False, style=style)

    versions = report["versions"]
    line(f"elbowroom {report['elbowroom']}, Python {report['python']}, {report['platform']}", "bold")
    line(f"cpu: {report['cpu']}, {report['cores']} cores; load {report['load']}")
    state = "" if report["cache_writable"] else ", NOT writable: results are computed again every time"
    line(f"cache: {report['cache']} ({report['cache_mb']:g} MB{state})")
    line(f"compiled core: {report['core']}")
    if report["robots"]:
        line(
            "robots by name: " + ", ".join(f"{count} {origin}" for origin, count in report["robots"].items())
        )
    line(f"browser: {report['browser'] or 'none found; elbowroom view prints an address to open elsewhere'}")
    if report["variables"]:
        line("set: " + ", ".join(f"{name}={value}" for name, value in report["variables"].items()))
    line("needed: " + ", ".join(f"{name} {versions[name] or 'MISSING'}" for name in REQUIRED))
    missing = report["missing_required"]
    if missing:
        line(f"missing: {', '.join(missing)}; pip install elbowroom brings them", "red")
    else:
        line("all required packages are installed")
    for extra in dict.fromkeys(extra for extra, _ in OPTIONAL.values()):
        names = [name for name, (of, _) in OPTIONAL.items() if of == extra]
        here = ", ".join(f"{name} {versions[name]}" for name in names if versions[name])
        gone = [f"no {name} ({OPTIONAL[name][1]})" for name in names if not versions[name]]
        how = f"; pip install 'elbowroom[{extra}]'" if gone else ""
        line(f"extra {extra}: {', '.join(filter(None, (here, *gone)))}{how}")
    if "speed" in report:
        _print_speed(report, line)


def _print_speed(report: dict[str, Any], line: Any) -> None:
    speed = report["speed"]
    line(f"{'speed':<50} {'here':>14}   {'reference':>14}", "bold")
    for name, (text, unit, reference) in FIGURES.items():
        value = speed["figures"].get(name)
        shown = "-" if value is None else _amount(value, unit)
        line(f"  {text:<48} {shown:>14}   {_amount(reference, unit):>14}")
    line(f"  reference: {speed['reference_machine']}; {speed['reference_how']}")
    if speed["ended"]:
        line(f"  {speed['ended']}")
    for sentence in report["slow"]:
        line(f"  slow: {sentence}", "yellow")


def _amount(value: float, unit: str) -> str:
    return f"{value:,.0f} {unit}" if value >= 1000 else f"{number(value, 3)} {unit}"


# Speed of this machine, measured in a process of its own within a few seconds ---------------------
# The process is fresh, so import and first verdict are what a first command pays. It says each figure
# when it has it; what it has not said when the time is over was not measured.

LIMIT = 20.0
"""Seconds after which the measurement ends."""
REFERENCE_MACHINE = "2 cores of an AMD EPYC, Linux, Python 3.11"
REFERENCE_HOW = "best of a few runs while it was busy; model, first verdict and first plan in CPU seconds"
"""How the reference was measured; here, all figures are wall time."""
FIGURES: dict[str, tuple[str, str, float]] = {
    "import": ("import elbowroom", "s", 0.02),
    "model": ("CollisionModel('teaarm'), kept spheres and pairs", "s", 2.2),
    "first_verdict": ("its first verdict", "s", 0.04),
    "verdict": ("a verdict, one configuration", "us", 5.6),
    "verdicts_per_second": ("verdicts a second, 20,000 random ones", "/s", 430_000.0),
    "first_plan": ("first plan, arms_forward to arms_up", "s", 0.6),
    "plan": ("the same plan again", "ms", 0.66),
}
"""Figure -> what it is, its unit, and what the reference machine took; see `REFERENCE_HOW`."""
SLOW = 2.5
"""From this ratio to the reference on a figure is called slow."""
CODE = """
import time
began = time.perf_counter()
import elbowroom
print('import', time.perf_counter() - began, flush=True)
from elbowroom.cli._doctor import measure
measure()
"""


def speeds(limit: float = LIMIT) -> dict[str, Any]:
    """Figures of this machine by the names of `FIGURES`; what took too long, or failed, is left out.

    Returns:
        "figures", "seconds" that it took, "ended": "" or why figures are missing, and the reference.
    """
    began = time.perf_counter()
    command = [sys.executable, "-c", CODE]
    ended = ""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit, check=False
        )
        said = done.stdout
        if done.returncode:
            ended = (done.stderr.strip().splitlines() or ["it failed"])[-1]
    except subprocess.TimeoutExpired as late:
        said = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
        ended = (
            f"not everything was measured within {limit:g} s: the machine is busy, or spheres and pairs are being "
            "computed for the first time"
        )
    found = [line.split() for line in said.splitlines()]
    figures = {words[0]: float(words[1]) for words in found if len(words) == 2 and words[0] in FIGURES}
    return {
        "figures": figures,
        "units": {name: unit for name, (_, unit, _) in FIGURES.items()},
        "reference": {name: value for name, (_, _, value) in FIGURES.items()},
        "reference_machine": REFERENCE_MACHINE,
        "reference_how": REFERENCE_HOW,
        "slower_by": {name: slower_by(name, value) for name, value in figures.items()},
        "ended": ended,
        "seconds": time.perf_counter() - began,
    }


def slower_by(name: str, value: float) -> float:
    """How many times slower than the reference a figure is; below 1 it is faster."""
    _, unit, reference = FIGURES[name]
    return reference / value if unit == "/s" else value / reference


def measure() -> None:
    """Prints a line for each figure but the first; runs in the process of its own."""
    import warnings

    from .. import CollisionModel, plan_motion
    from ..plan import PlanOptions

    warnings.simplefilter("ignore")
    began = time.perf_counter()
    model = CollisionModel("teaarm")
    _say("model", time.perf_counter() - began)
    cfg = model.robot.named_cfgs["arms_forward"]
    _say("first_verdict", _seconds(lambda: model.free(cfg)))
    _say(
        "verdict", 1e6 * min(_seconds(lambda: [model.free(cfg) for _ in range(200)]) for _ in range(20)) / 200
    )
    cfgs = model.robot.random_cfgs(20_000)
    model.free(cfgs)
    _say("verdicts_per_second", len(cfgs) / min(_seconds(lambda: model.free(cfgs)) for _ in range(3)))
    goal = model.robot.named_cfgs["arms_up"]

    def plan() -> object:
        return plan_motion(model, cfg, goal, options=PlanOptions(seed=0))

    _say("first_plan", _seconds(plan))
    _say("plan", 1e3 * min(_seconds(plan) for _ in range(3)))


def _seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def _say(name: str, value: float) -> None:
    print(name, json.dumps(value), flush=True)
