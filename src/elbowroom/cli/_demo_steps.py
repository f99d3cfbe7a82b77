"""The steps of the demo: each takes the report and the robot, does one thing, and adds a section."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import number

if TYPE_CHECKING:
    from ..collision import SegmentProof
    from ..robot import Robot
    from ..spheres import SphereModel
    from ..ui.report import Section

SPHERES = 120
"""Budget of the demo's sphere model: seven a link."""
FORWARD, UP = "arms_forward", "arms_up"
"""Named configurations that a motion is proved between."""
FRAMES = 96
"""Of that motion, there and back."""


@dataclass
class Report:
    """Text, pictures and figures gathered by the steps."""

    folder: Path
    """Where steps put pictures, `NAME.png`; they go into the report from there."""
    sections: list[Section] = field(default_factory=list["Section"])
    facts: dict[str, Any] = field(default_factory=dict[str, Any])

    def picture(self, name: str) -> Path:
        """Where a picture goes."""
        return self.folder / f"{name}.png"

    def add(
        self,
        title: str,
        text: str,
        *,
        numbers: dict[str, str] | None = None,
        notes: tuple[str, ...] = (),
        pictures: dict[str, str] | None = None,
        playback: str = "",
        **facts: Any,
    ) -> None:
        """Adds a section: text, numbers and notes on them, pictures, a motion; and facts for `--json`."""
        from ..ui.report import Figure, Section

        shown = tuple(
            Figure(self.picture(name).read_bytes(), text) for name, text in (pictures or {}).items()
        )
        said = tuple(f"Shapes of {note}." for note in notes)
        self.sections.append(Section(title, text, tuple((numbers or {}).items()), shown, playback, said))
        self.facts[title] = {"text": text, "modelled": notes, **facts}


def description(report: Report, robot: Robot) -> None:
    """What was loaded, with a picture."""
    from ..ui.draw import Camera, robot_picture, save_png
    from ._info import describe

    facts = describe(robot)
    closed = all(link["closed"] for link in facts["links"] if link["triangles"])
    poses = {"default": "At rest, the pose named default", FORWARD: f"The pose named {FORWARD}"}
    for name in poses:
        picture = robot_picture(robot, robot.named_cfgs[name])
        save_png(report.picture(name), picture.draw(Camera(azimuth_deg=60.0, width=640, height=640)))
    report.add(
        "Description",
        f"{robot.name} has {len(robot.link_names)} links, {robot.dof} actuated joints and {facts['triangles']} "
        f"collision triangles on {len(robot.mesh_links)} links, {'all closed' if closed else 'some open'}; "
        f"named configurations: {', '.join(robot.named_cfgs)}.",
        numbers={
            "links": str(len(robot.link_names)),
            "actuated joints": str(robot.dof),
            "collision triangles": str(facts["triangles"]),
        },
        notes=robot.modelled,
        pictures=poses,
    )


def kinematics(report: Report, robot: Robot) -> None:
    """Forward kinematics by the compiled core and by JAX."""
    cfgs = robot.random_cfgs(10_000)
    start = time.perf_counter()
    poses = robot.link_poses(cfgs)
    seconds = time.perf_counter() - start
    error = float(
        np.abs(np.asarray(robot.forward_kinematics(cfgs[:100].astype(np.float32))) - poses[:100]).max()
    )
    report.add(
        "Forward kinematics",
        f"{len(cfgs)} configurations in {seconds * 1e3:.1f} ms by the compiled core in float64; "
        f"JAX in float32 agrees to {number(error, 1)} on the first 100.",
        numbers={
            "configurations a second, compiled core": f"{len(cfgs) / seconds:,.0f}",
            "largest difference to JAX": number(error, 1),
        },
        seconds=seconds,
        jax_error=error,
    )


def spheres(report: Report, robot: Robot) -> SphereModel:
    """Spheres that are proved to contain the robot."""
    from ..spheres import FitOptions, fit_spheres, prove_coverage, sphere_quality
    from ._spheres import plot

    start = time.perf_counter()
    model = fit_spheres(robot, FitOptions(n_spheres=SPHERES))
    seconds = time.perf_counter() - start
    proof, quality = prove_coverage(robot, model), sphere_quality(robot, model)
    plot(robot, model, report.picture("spheres"))
    report.add(
        "Spheres",
        f"{len(model)} spheres in {seconds:.1f} s, {proof.headline}, triangle by triangle; "
        f"their union has {quality.volume_ratio:.2f} times the volume of the meshes.",
        numbers={
            "spheres": str(len(model)),
            "links proved to be covered": f"{len(proof.covered)} of {len(proof.with_geometry)}",
            "union / mesh volume": f"{quality.volume_ratio:.2f}",
        },
        notes=robot.modelled,
        pictures={"spheres": "The robot, and the spheres that contain it"},
        proved=proof.proved,
        volume_ratio=quality.volume_ratio,
    )
    return model


def self_collision(report: Report, robot: Robot, spheres: SphereModel) -> SegmentProof:
    """One verdict: pairs with reasons, spheres that accept, meshes that decide, a proof between two poses."""
    from ..collision import CollisionModel
    from ..mesh import ExactCollision
    from ..ui.draw import plot_pairs, save_figure

    model = CollisionModel(robot, spheres)
    save_figure(plot_pairs(model.pairs), report.picture("pairs"), dpi=90, bbox_inches="tight")
    cfgs = robot.random_cfgs(2_000)
    free, by_spheres = model.free(cfgs), model.free(cfgs, by="spheres")
    differ = int((free != ExactCollision(robot, model.pairs).free(cfgs)).sum())
    verdict = model.explain(robot.named_cfgs["self_collision"])
    proof = model.segment_free(robot.named_cfgs[FORWARD], robot.named_cfgs[UP])
    counts = ", ".join(f"{count} {reason}" for reason, count in model.pairs.counts().items())
    report.add(
        "Self-collision",
        f"{len(model.pairs.entries)} pairs of links: {counts}; {len(model.by_meshes)} of the checked are for meshes "
        f"alone, because their spheres overlap at rest. Of {len(cfgs)} random configurations {int(free.sum())} are "
        f"free; spheres alone would accept {int(by_spheres.sum())}; the meshes, asked about every pair, differ in "
        f"{differ}. At the pose named self_collision: {verdict.clashes[0]}. From {FORWARD} to {UP}: {proof}.",
        numbers={
            "pairs of links": str(len(model.pairs.entries)),
            "checked": str(len(model.pairs.checked)),
            "free of 2,000 at random": str(int(free.sum())),
            "verdicts that meshes refute": str(differ),
        },
        notes=robot.modelled,
        pictures={"pairs": "Every pair of links, and why it is checked or not"},
        pairs=counts,
        differ=differ,
        proved=proof.free,
    )
    return proof


def motion(report: Report, robot: Robot, spheres: SphereModel, proof: SegmentProof) -> None:
    """The motion that was proved, to be played in the report."""
    from ..ui.report import playback_html, there_and_back

    cfgs = there_and_back(robot.named_cfgs[FORWARD], robot.named_cfgs[UP], FRAMES)
    report.add(
        "Motion",
        f"From {FORWARD} to {UP} and back, in joint space, with the spheres around the links. Between the two poses: "
        f"{proof}. Drag to turn it, scroll to come closer; the space bar stops it.",
        notes=robot.modelled,
        playback=playback_html(robot, cfgs, spheres),
        frames=FRAMES,
    )


def grasp(report: Report) -> None:
    """Two grasps of the bundled hand."""
    from ..grasp import GraspPlanner, contacts_on_cylinder, grasp_quality, load_hand
    from ..ui.draw import plot_grasp, save_figure

    planner = GraspPlanner(load_hand("rh56"))
    planned, around = planner.line(0.04), planner.cylinder(0.06)
    for name, found in (("grasp", planned), ("cylinder", around)):
        save_figure(plot_grasp(found), report.picture(name), dpi=90)
    quality = grasp_quality(contacts_on_cylinder(around))
    report.add(
        "Grasp",
        f"The RH56 hand takes an object of 40 mm between thumb and index finger at a tilt of "
        f"{np.degrees(planned.tilt_y):.1f} degrees, controls {np.round(planned.ctrl, 3).tolist()}. "
        f"It closes around a cylinder of 60 mm until all five fingers touch, with a Ferrari-Canny quality of "
        f"{quality.epsilon:.2f}.",
        numbers={
            "width": "40 mm",
            "tilt": f"{np.degrees(planned.tilt_y):.1f}°",
            "quality around 60 mm": f"{quality.epsilon:.2f}",
        },
        notes=planner.hand.robot.modelled,
        pictures={"grasp": "Thumb and index finger on 40 mm", "cylinder": "All five fingers around 60 mm"},
    )
