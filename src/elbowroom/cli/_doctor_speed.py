"""How fast this machine is at what people wait for, measured in a process of its own within a few seconds.

The process is fresh, so import and first verdict are what a first command pays. It says each figure when it has it;
what it has not said when the time is over was not measured.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

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
from elbowroom.cli._doctor_speed import measure
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
