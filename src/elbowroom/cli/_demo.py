"""Run the bundled robot through everything that Elbowroom does and write a short report with pictures."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ._common import console, make_folder, print_json, write_text
from ._info import describe

if TYPE_CHECKING:
    from ..robot import Robot

ROBOT = "teaarm"


@dataclass(frozen=True)
class Options:
    """Arguments of `elbowroom demo`."""

    out: Path = Path("demo-report")
    """Folder for the report; made if need be."""
    json: bool = False
    """Print JSON instead of text."""


@dataclass
class Report:
    """Text and figures gathered by the steps of the demo."""

    folder: Path
    sections: list[str] = field(default_factory=list[str])
    facts: dict[str, Any] = field(default_factory=dict[str, Any])

    def add(self, title: str, text: str, **facts: Any) -> None:
        """Adds a section and its figures."""
        self.sections.append(f"## {title}\n\n{text}\n")
        self.facts[title] = {"text": text, **facts}


def run(options: Options) -> int:
    """Runs the steps in order, then writes report.md."""
    report = Report(make_folder(options.out))
    start = time.perf_counter()
    robot = _load_step(report)
    for step in STEPS:
        step(report, robot)
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


def _load_step(report: Report) -> Robot:
    from ..robot import load_robot

    start = time.perf_counter()
    robot = load_robot(ROBOT)
    facts = describe(robot)
    text = (
        f"{robot.name} has {len(robot.link_names)} links, {robot.dof} actuated joints and {facts['triangles']} "
        f"collision triangles on {len(robot.mesh_links)} links, all closed: "
        f"{all(link['closed'] for link in facts['links'] if link['triangles'])}; "
        f"named configurations: {', '.join(robot.named_cfgs)}."
    )
    report.add("Description", text, seconds=time.perf_counter() - start)
    return robot


def _kinematics_step(report: Report, robot: Robot) -> None:
    import numpy as np

    cfgs = robot.random_cfgs(10_000)
    robot.link_poses(cfgs[:1])  # compile
    start = time.perf_counter()
    poses = robot.link_poses(cfgs)
    seconds = time.perf_counter() - start
    error = float(
        np.abs(np.asarray(robot.forward_kinematics(cfgs[:100].astype(np.float32))) - poses[:100]).max()
    )
    text = (
        f"{len(cfgs)} configurations in {seconds * 1e3:.1f} ms by numba in float64; "
        f"JAX in float32 agrees to {error:.1e} on the first 100."
    )
    report.add("Forward kinematics", text, seconds=seconds, jax_error=error)


def _picture_step(report: Report, robot: Robot) -> None:
    from ..ui.draw import Camera, robot_scene, save_png

    images = []
    for name in ("default", "arms_forward"):
        image = robot_scene(robot, robot.named_cfgs[name]).draw(
            Camera(azimuth_deg=60.0, width=640, height=640)
        )
        save_png(report.folder / f"{name}.png", image)
        images.append(f"![{name}]({name}.png)")
    report.add("Pictures", " ".join(images))


STEPS: tuple[Callable[[Report, Robot], None], ...] = (_kinematics_step, _picture_step)
"""What the demo shows after loading, in order; each adds its own section."""
