"""Run the bundled robot through everything that Elbowroom does and write a report with pictures."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import tyro

from .. import __version__
from . import _demo_steps as steps
from ._common import console, make_folder, print_json, waiting, write_text

ROBOT, REPORT = "teaarm", "report.html"
EXAMPLES = {"elbowroom demo --out demo-report": "write demo-report/report.html, pictures and a motion in 3D"}


@dataclass(frozen=True)
class Options:
    """Arguments of `elbowroom demo`."""

    out: Annotated[Path, tyro.conf.arg(metavar="DIR")] = Path("demo-report")
    """Folder for the report; made if need be, in a folder that is there."""
    json: bool = False
    """Print JSON instead of text."""


def run(options: Options) -> int:
    """Runs the steps in order, then writes report.html."""
    from ..robot import load_robot
    from ..ui.report import document

    folder = make_folder(options.out)
    start = time.perf_counter()
    with TemporaryDirectory() as pictures:
        report = steps.Report(Path(pictures))
        with waiting("1 of 6: loading and drawing the robot"):
            robot = load_robot(ROBOT)
            steps.description(report, robot)
        with waiting("2 of 6: forward kinematics by the compiled core and JAX"):
            steps.kinematics(report, robot)
        with waiting("3 of 6: fitting and proving spheres"):
            spheres = steps.spheres(report, robot)
        with waiting("4 of 6: pairs, verdicts and a proof between two poses"):
            proof = steps.self_collision(report, robot, spheres)
        with waiting("5 of 6: writing the proved motion down"):
            steps.motion(report, robot, spheres, proof)
        with waiting("6 of 6: planning two grasps"):
            steps.grasp(report)
    seconds = time.perf_counter() - start
    lead = f"Written by elbowroom demo, version {__version__}, in {seconds:.1f} s. All of it is in this file."
    write_text(folder / REPORT, document(f"Elbowroom on {ROBOT}", lead, report.sections))
    if options.json:
        print_json({"report": folder / REPORT, "seconds": seconds, **report.facts})
        return 0
    out = console()
    for title, facts in report.facts.items():
        out.print(f"{title}: {facts['text']}", markup=False)
    for note in dict.fromkeys(note for facts in report.facts.values() for note in facts["modelled"]):
        out.print(f"Shapes of {note}.", markup=False)
    out.print(f"\nreport with pictures: {folder / REPORT} ({seconds:.1f} s)", markup=False)
    return 0
