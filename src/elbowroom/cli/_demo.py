"""Run the bundled robot through everything that Elbowroom does and write a short report with pictures."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from .. import __version__
from . import _demo_steps as steps
from ._common import console, make_folder, print_json, progress_bar, write_text

ROBOT = "teaarm"


@dataclass(frozen=True)
class Options:
    """Arguments of `elbowroom demo`."""

    out: Path = Path("demo-report")
    """Folder for the report; made if need be."""
    json: bool = False
    """Print JSON instead of text."""


def run(options: Options) -> int:
    """Runs the steps in order, then writes report.md."""
    from ..robot import load_robot

    report = steps.Report(make_folder(options.out))
    start = time.perf_counter()
    with progress_bar("demo", quiet=options.json) as progress:

        def done(count: int) -> None:
            if progress is not None:
                progress(count, 5)

        robot = load_robot(ROBOT)
        steps.description(report, robot)
        done(1)
        steps.kinematics(report, robot)
        done(2)
        spheres = steps.spheres(report, robot)
        done(3)
        steps.self_collision(report, robot, spheres)
        done(4)
        steps.grasp(report)
        done(5)
    seconds = time.perf_counter() - start
    text = f"# Elbowroom {__version__} on {ROBOT}\n\n" + "\n".join(report.sections)
    write_text(report.folder / "report.md", text)
    if options.json:
        print_json({"report": report.folder / "report.md", "seconds": seconds, **report.facts})
        return 0
    from rich.markup import escape

    out = console()
    for title, facts in report.facts.items():
        out.print(f"[bold]{title}[/bold]: {escape(facts['text'])}", highlight=False)
    out.print(f"\nreport with pictures: {report.folder / 'report.md'} ({seconds:.1f} s)", highlight=False)
    return 0
