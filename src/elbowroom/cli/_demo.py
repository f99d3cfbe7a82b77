"""Run the bundled robot through everything that Elbowroom does and write a short report with pictures."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from .. import __version__
from . import _demo_steps as steps
from ._common import console, make_folder, print_json, waiting, write_text

ROBOT = "teaarm"
EXAMPLES = {"elbowroom demo --out demo-report": "write demo-report/report.md with pictures"}


@dataclass(frozen=True)
class Options:
    """Arguments of `elbowroom demo`."""

    out: Annotated[Path, tyro.conf.arg(metavar="DIR")] = Path("demo-report")
    """Folder for the report; made if need be, in a folder that is there."""
    json: bool = False
    """Print JSON instead of text."""


def run(options: Options) -> int:
    """Runs the steps in order, then writes report.md."""
    from ..robot import load_robot

    report = steps.Report(make_folder(options.out))
    start = time.perf_counter()
    with waiting("1 of 5: loading and drawing the robot"):
        robot = load_robot(ROBOT)
        steps.description(report, robot)
    with waiting("2 of 5: forward kinematics by numba and JAX"):
        steps.kinematics(report, robot)
    with waiting("3 of 5: fitting and proving spheres"):
        spheres = steps.spheres(report, robot)
    with waiting("4 of 5: pairs, verdicts and a proof between two poses"):
        steps.self_collision(report, robot, spheres)
    with waiting("5 of 5: planning two grasps"):
        steps.grasp(report)
    seconds = time.perf_counter() - start
    text = f"# Elbowroom {__version__} on {ROBOT}\n\n" + "\n".join(report.sections)
    write_text(report.folder / "report.md", text)
    if options.json:
        print_json({"report": report.folder / "report.md", "seconds": seconds, **report.facts})
        return 0
    out = console()
    for title, facts in report.facts.items():
        out.print(f"{title}: {facts['text']}", markup=False)
    out.print(f"\nreport with pictures: {report.folder / 'report.md'} ({seconds:.1f} s)", markup=False)
    return 0
