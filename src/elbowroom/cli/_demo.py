"""See what Elbowroom does on a bundled dual-arm robot: a report to play with, in a few seconds.

A motion around obstacles in 3D, a collision with its name, the model behind the verdict, a guard that stops a careless
policy, and a hand that closes on an object. Everything in the report is computed in this run.
"""

from __future__ import annotations

import io
import os
import sys
import time
import webbrowser
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import tyro

from .. import __version__
from .._text import at_least
from ._common import console, make_folder, print_json, write_text
from ._progress import say

if TYPE_CHECKING:
    from ..collision import CollisionModel
    from ..plan import PlanResult
    from ..robot import Robot
    from ..ui.draw import Picture
    from ..ui.report import Section
    from ..world import World

ROBOT, REPORT = "teaarm", "report.html"
EXAMPLES = {
    "elbowroom demo": "write demo-report/report.html and open it",
    "elbowroom demo --out tour --no-open": "another folder, and no browser",
}


@dataclass(frozen=True)
class Options:
    """Arguments of `elbowroom demo`."""

    out: Annotated[Path, tyro.conf.arg(metavar="DIR")] = Path("demo-report")
    """Folder for the report; created if its parent exists."""
    open: bool = True
    """Open the report in a browser, when run in a terminal on a machine that has one."""
    json: bool = False
    """Print JSON instead of text."""


def run(options: Options) -> int:
    """Runs the steps in order, then writes report.html."""
    from ..collision import CollisionModel
    from ..robot import load_robot
    from ..ui.report import document

    folder = make_folder(options.out)
    start, report = time.perf_counter(), Report()
    say("1 of 5: a motion among obstacles")
    model = CollisionModel(load_robot(ROBOT))
    motion(report, model.with_world(table()))
    say("2 of 5: a collision")
    clash(report, model)
    say("3 of 5: spheres, pairs and verdicts")
    knows(report, model)
    say("4 of 5: the guard")
    guard(report, model)
    say("5 of 5: two grasps")
    grasp(report)
    your_robot(report)
    seconds = time.perf_counter() - start
    lead = (
        f"From a robot description to motion that keeps clear, with proof. Computed by elbowroom {__version__} in "
        f"{seconds:.1f} s; this file needs no network."
    )
    write_text(folder / REPORT, document("What Elbowroom does", lead, report.sections))
    if options.json:
        print_json({"report": folder / REPORT, "seconds": seconds, **report.facts})
        return 0
    out = console()
    for facts in report.facts.values():
        out.print(f"- {facts['text']}", markup=False)
    out.print("  (the shapes of both robots are modelled; proofs hold for these shapes)", markup=False)
    out.print(f"\nReport: {folder / REPORT} ({seconds:.1f} s)", markup=False)
    if options.open and sys.stdout.isatty() and has_browser():
        webbrowser.open((folder / REPORT).resolve().as_uri())
    return 0


def has_browser() -> bool:
    """Whether a browser would open in a window: on a terminal without a display, one that takes the terminal might."""
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


# The steps of the demo ----------------------------------------------------------------------------

FORWARD, CLASH = "arms_forward", "self_collision"
"""Named configurations: where motions start, and one in which the forearms overlap."""
HANDS = {"frame_left_arm_ee": (-0.40, 0.50, 0.50), "frame_right_arm_ee": (0.02, 0.52, 0.72)}
"""Where the hands are sent, metres in the world: beside the bottle, and above the carton."""
RANDOM = 2_000
"""Configurations on which the model is compared with the exact meshes alone."""
RATE, SWING, CLEARANCE = 200, 4.0, 0.005
"""Guard: steps a second, seconds of the careless swing, and metres that are kept."""
PICTURES_A_SECOND = 8
WIDTH = 0.04
"""Metres between the fingertips."""
RED, GREY = (0.86, 0.24, 0.20), (0.70, 0.72, 0.75)


@dataclass
class Report:
    """Sections for people, and the facts behind them for `--json`."""

    sections: list[Section] = field(default_factory=list["Section"])
    facts: dict[str, Any] = field(default_factory=dict[str, Any])

    def add(self, section: Section, line: str, **facts: Any) -> None:
        """Adds a section, the line that the terminal shows of it, and its facts."""
        self.sections.append(section)
        self.facts[section.title] = {"text": line, "modelled": section.notes, **facts}


def table() -> World:
    """A table in front of the robot with a carton, a bottle and a tin on it."""
    from ..world import Box, Cylinder, World

    return World(
        [
            Box((1.3, 0.55, 0.04), pose=_at(0.10, 0.66, 0.36), name="table"),
            Box((0.16, 0.20, 0.26), pose=_at(0.10, 0.58, 0.51), name="carton"),
            Cylinder(0.035, 0.26, pose=_at(-0.24, 0.56, 0.51), name="bottle"),
            Cylinder(0.045, 0.12, pose=_at(0.44, 0.56, 0.44), name="tin"),
        ]
    )


def _at(x: float, y: float, z: float) -> np.ndarray:
    """An upright pose, wxyz_xyz."""
    return np.array([1.0, 0.0, 0.0, 0.0, x, y, z])


def motion(report: Report, model: CollisionModel) -> None:
    """IK for both hands and a proved plan among obstacles, played in 3D."""
    from ..ik import IkSolver
    from ..plan import PlanOptions, plan_motion
    from ..ui.draw import motion_picture
    from ..ui.report import Figure, Section, playback_html

    robot, world = model.robot, model.world
    solver = IkSolver(model)
    solver.solve(HANDS)
    begun = time.perf_counter()
    answer = solver.solve(HANDS)
    ik_ms = 1e3 * (time.perf_counter() - begun)
    start = robot.named_cfgs[FORWARD]
    begun = time.perf_counter()
    plan = plan_motion(model, start, answer.cfg, options=PlanOptions(rate=24.0))
    plan_ms = 1e3 * (time.perf_counter() - begun)
    assert answer.success, answer.why
    assert plan.path is not None, plan.why
    assert plan.times is not None
    assert plan.proof is not None
    seconds, clear = float(plan.times[-1]), _clearance(model, plan)
    frames = np.concatenate([plan.path, plan.path[::-1]])
    drawn = Figure(_png(motion_picture(model, plan.path)), "The motion from two sides, blue to green")
    report.add(
        Section(
            "A dual-arm robot reaches around things",
            f"{robot.name} has a waist and two arms, {robot.dof} joints in all. Its hands are sent beside a bottle and "
            f"above a carton. IK for both hands took {ik_ms:.2f} ms. The motion takes {seconds:.1f} s; it "
            f"was found, smoothed, timed and proved in {plan_ms:.0f} ms. The proof covers every moment of it, not only "
            f"the waypoints; the exact meshes measure at least {clear:.1f} mm at every frame shown.",
            numbers=(
                ("IK for two hands", f"{ik_ms:.2f} ms"),
                ("plan with proof", f"{plan_ms:.0f} ms"),
                ("proved free", "the whole motion"),
                ("least clearance measured", f"{clear:.1f} mm"),
            ),
            playback=playback_html(robot, frames, world=world),
            still=drawn,
            notes=_notes(robot),
        ),
        f"both hands reach around a carton in {seconds:.1f} s; planned and proved free in {plan_ms:.0f} ms",
        ik_ms=ik_ms,
        plan_ms=plan_ms,
        proved=plan.proof.free,
        frames=len(frames),
    )


def clash(report: Report, model: CollisionModel) -> None:
    """What would happen without a model: a collision, named."""
    from ..ui.draw import Camera
    from ..ui.report import Figure, Section

    cfg = model.robot.named_cfgs[CLASH]
    verdict = model.explain(cfg)
    worst = verdict.clashes[0]
    (picture,) = _pictures(model, cfg[None])
    views = [picture.draw(Camera(azimuth_deg=angle, width=480, height=480)) for angle in (60.0, 110.0)]
    report.add(
        Section(
            "What would happen otherwise",
            f"In the pose named {CLASH} the arms run into each other: {worst}. The verdict comes from the exact "
            f"meshes, names every pair that overlaps ({len(verdict.clashes)} here) and says what to write if a pair is "
            "meant to touch.",
            figures=(Figure(_png(np.concatenate(views, axis=1)), "Links that overlap, in red"),),
        ),
        f"{worst} in the pose {CLASH}",
        clashes=[str(one) for one in verdict.clashes],
    )


def knows(report: Report, model: CollisionModel) -> None:
    """Spheres that are proved to cover, pairs with their reasons, and fast verdicts beside exact ones."""
    from ..mesh import ExactCollision
    from ..spheres import prove_coverage
    from ..ui.draw import Camera, plot_pairs, robot_picture
    from ..ui.report import Figure, Section

    robot, spheres, pairs = model.robot, model.spheres, model.pairs
    proof = prove_coverage(robot, spheres)
    cfgs = robot.random_cfgs(RANDOM)
    begun = time.perf_counter()
    free = model.free(cfgs)
    microseconds = 1e6 * (time.perf_counter() - begun) / RANDOM
    differ = int((free != ExactCollision(robot, pairs).free(cfgs)).sum())
    balls = {link: np.column_stack(spheres.link(link)) for link in spheres.counts}
    camera = Camera(azimuth_deg=60.0, width=560, height=560)
    ignored = len(pairs.entries) - len(pairs.checked)
    report.add(
        Section(
            "The model that knows",
            f"{len(spheres)} spheres, {proof.headline}, triangle by triangle: what the spheres call free is free. "
            f"Of {len(pairs.entries)} pairs of links {ignored} never need a check, each with its reason. "
            f"Spheres accept most configurations, and the exact meshes decide the rest, in {microseconds:.1f} µs a "
            f"configuration. On {RANDOM:,} random ones ({int(free.sum()):,} free) the answer differs from the meshes "
            f"alone in {differ}.",
            numbers=(
                ("spheres", str(len(spheres))),
                ("links proved covered", f"{len(proof.covered)} of {len(proof.with_geometry)}"),
                ("pairs to check", f"{len(pairs.checked)} of {len(pairs.entries)}"),
                ("a verdict", f"{microseconds:.1f} µs"),
                ("differences from exact meshes", f"{differ} of {RANDOM:,}"),
            ),
            figures=(
                Figure(
                    _png(robot_picture(robot, spheres=balls).draw(camera)),
                    "The robot in orange, and the spheres that contain it in blue",
                ),
                Figure(
                    _plotted(plot_pairs(pairs)),
                    "Every pair of links: red is checked, everything else is not and says why",
                ),
            ),
        ),
        f"{len(spheres)} spheres, {proof.headline}; {len(pairs.checked)} of {len(pairs.entries)} pairs to check; a "
        f"verdict in {microseconds:.1f} µs",
        proved=proof.proved,
        differ=differ,
        free=int(free.sum()),
    )


def guard(report: Report, model: CollisionModel) -> None:
    """A careless policy, alone and behind the guard."""
    from ..ik import Guard
    from ..ui.report import Figure, Section

    robot = model.robot
    share = 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, int(RATE * SWING), endpoint=False))
    start, end = robot.named_cfgs[FORWARD], robot.named_cfgs[CLASH]
    wanted = start + share[:, None] * (end - start)
    keeper, cfg = Guard(model, acceleration_limits=15.0, clearance=CLEARANCE), wanted[0]
    steps = [(step := keeper.step(cfg, row, 1.0 / RATE), cfg := step.cfg)[0] for row in wanted]
    sent = np.array([step.cfg for step in steps])
    swing = wanted[: len(wanted) // 2 + 1]  # the way back is the same
    depth, kept = (1e3 * model.clearance(rows[:: RATE // 10], exact=True).min() for rows in (swing, sent))
    altered, proved = sum(step.altered for step in steps), sum(step.proved for step in steps)
    microseconds = 1e6 * float(np.median([step.seconds for step in steps]))
    report.add(
        Section(
            "The guard stops a careless policy",
            f"A policy swings the arms into each other, {-depth:.0f} mm deep. Behind `Guard(model).step(...)` the same "
            f"commands are followed as far as they are safe: the robot keeps {at_least(kept)} mm. {altered} of "
            f"{len(steps)} steps were altered, {proved} proved free including the motion to a stop, "
            f"{microseconds:.0f} µs a step.",
            numbers=(
                ("without the guard", f"{-depth:.0f} mm deep"),
                ("with the guard", f"{at_least(kept)} mm clear"),
                ("steps proved", f"{proved} of {len(steps)}"),
                ("a step, median", f"{microseconds:.0f} µs"),
            ),
            figures=(
                Figure(
                    _film(model, wanted, sent),
                    "Left: as commanded. Right: the same commands behind the guard.",
                ),
            ),
        ),
        f"a policy that drives the arms {-depth:.0f} mm into each other keeps {at_least(kept)} mm behind the guard",
        deepest_mm=float(depth),
        kept_mm=float(kept),
        altered=altered,
        proved=proved,
        steps=len(steps),
    )


def grasp(report: Report) -> None:
    """The bundled hand closes on an object."""
    from ..grasp import GraspPlanner, contacts_on_cylinder, grasp_quality, load_hand
    from ..ui.draw import plot_grasp
    from ..ui.report import Figure, Section

    planner = GraspPlanner(load_hand("rh56"))
    pinch, around = planner.line(WIDTH), planner.cylinder(0.06)
    quality, tilt = grasp_quality(contacts_on_cylinder(around)), float(np.degrees(pinch.tilt_y))
    report.add(
        Section(
            "A hand closes on an object",
            f"The Inspire RH56 hand takes a {1e3 * WIDTH:.0f} mm object between thumb and index finger, tilted by "
            f"{tilt:.1f} degrees, and closes around a 60 mm cylinder until all five fingers touch "
            f"(Ferrari-Canny quality {quality.epsilon:.2f}).",
            numbers=(
                ("width", f"{1e3 * pinch.width:.0f} mm"),
                ("tilt", f"{tilt:.1f}°"),
                ("quality around 60 mm", f"{quality.epsilon:.2f}"),
            ),
            figures=(
                Figure(_plotted(plot_grasp(pinch)), f"Thumb and index finger on {1e3 * WIDTH:.0f} mm"),
                Figure(_plotted(plot_grasp(around)), "All five fingers around 60 mm"),
            ),
            notes=_notes(planner.hand.robot),
        ),
        f"the RH56 hand grips {1e3 * pinch.width:.0f} mm at a tilt of {tilt:.1f} degrees",
        width=pinch.width,
        tilt_deg=tilt,
        quality=quality.epsilon,
    )


def your_robot(report: Report) -> None:
    """What to type next."""
    from ..ui.report import Section

    code = (
        "elbowroom view my_robot.urdf                   # look at it: drag, edit, plan\n"
        "elbowroom setup my_robot.urdf --out my_files   # SRDF, cuRobo, XRDF, MJCF, report\n"
        "elbowroom check my_robot.urdf --random 10000   # how often would it collide?\n"
    )
    report.add(
        Section(
            "Your robot",
            "The same for any URDF or MJCF, and for the names that `elbowroom info` lists:",
            code=code,
        ),
        "try your own: elbowroom view my_robot.urdf",
    )


# Pictures -----------------------------------------------------------------------------------------


def _notes(robot: Robot) -> tuple[str, ...]:
    return tuple(f"Shapes of {note}." for note in robot.modelled)


def _clearance(model: CollisionModel, plan: PlanResult) -> float:
    """Millimetres: the least clearance of a planned motion at its rows, by exact meshes."""
    return 1e3 * float(model.clearance(plan.path, exact=True).min())


def _png(picture: np.ndarray) -> bytes:
    """A picture (height, width, 3), values in [0, 1]."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(np.round(255 * picture).astype(np.uint8)).save(file, format="PNG")
    return file.getvalue()


def _plotted(figure: Any) -> bytes:
    """A plot of matplotlib."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=110)
    return file.getvalue()


def _pictures(model: CollisionModel, cfgs: np.ndarray) -> list[Picture]:
    """The robot in grey at each configuration, with the links whose meshes overlap in red."""
    from ..mesh import ExactCollision
    from ..ui.draw import robot_picture

    exact = ExactCollision(model.robot, model.pairs)
    pictures: list[Picture] = []
    for cfg, touching in zip(cfgs, exact.colliding(cfgs), strict=True):
        red = {name for k in np.flatnonzero(touching) for name in exact.pairs[k]}
        colours = {name: RED if name in red else GREY for name in model.robot.link_names}
        pictures.append(robot_picture(model.robot, cfg, colours=colours))
    return pictures


def _film(model: CollisionModel, *runs: np.ndarray) -> bytes:
    """An animated PNG: motions (n, dof) side by side."""
    from PIL import Image

    from ..ui.draw import Camera

    camera = Camera(azimuth_deg=25.0, elevation_deg=30.0, width=330, height=340)
    pictures = [_pictures(model, run[:: RATE // PICTURES_A_SECOND]) for run in runs]
    corners = np.concatenate([picture.corners() for picture in pictures[0][:: len(pictures[0]) // 4]])
    seen = corners @ camera.axes().T
    around = corners[np.concatenate([seen.argmin(axis=0), seen.argmax(axis=0)])]  # what decides the frame
    frames: list[Any] = []
    for together in zip(*pictures, strict=True):
        drawn = np.concatenate([picture.draw(camera, around) for picture in together], axis=1)
        frames.append(
            Image.fromarray(np.round(255 * drawn).astype(np.uint8)).quantize(64, dither=Image.Dither.NONE)
        )
    file, duration = io.BytesIO(), 1000 // PICTURES_A_SECOND
    frames[0].save(file, format="PNG", save_all=True, append_images=frames[1:], duration=duration, loop=0)
    return file.getvalue()
