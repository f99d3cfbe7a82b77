"""The steps of the demo: each takes the report and the robot, does one thing, and adds a section."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import number

if TYPE_CHECKING:
    from ..robot import Robot
    from ..spheres import SphereModel

SPHERES = 120
"""Budget of the demo's sphere model: seven a link."""


@dataclass
class Report:
    """Text, pictures and figures gathered by the steps."""

    folder: Path
    sections: list[str] = field(default_factory=list[str])
    facts: dict[str, Any] = field(default_factory=dict[str, Any])

    def add(self, title: str, text: str, pictures: tuple[str, ...] = (), **facts: Any) -> None:
        """Adds a section, its pictures (files in the folder) and its figures."""
        images = "".join(f"\n\n![{name}]({name})" for name in pictures)
        self.sections.append(f"## {title}\n\n{text}{images}\n")
        self.facts[title] = {"text": text, "pictures": list(pictures), **facts}


def description(report: Report, robot: Robot) -> None:
    """What was loaded, with a picture."""
    from ..ui.draw import Camera, robot_picture, save_png
    from ._info import describe

    facts = describe(robot)
    closed = all(link["closed"] for link in facts["links"] if link["triangles"])
    pictures = ("default.png", "arms_forward.png")
    for name in pictures:
        picture = robot_picture(robot, robot.named_cfgs[name.removesuffix(".png")])
        save_png(report.folder / name, picture.draw(Camera(azimuth_deg=60.0, width=640, height=640)))
    report.add(
        "Description",
        f"{robot.name} has {len(robot.link_names)} links, {robot.dof} actuated joints and {facts['triangles']} "
        f"collision triangles on {len(robot.mesh_links)} links, {'all closed' if closed else 'some open'}; "
        f"named configurations: {', '.join(robot.named_cfgs)}.",
        pictures,
    )


def kinematics(report: Report, robot: Robot) -> None:
    """Forward kinematics by numba and by JAX."""
    cfgs = robot.random_cfgs(10_000)
    robot.link_poses(cfgs[:1])  # compile
    start = time.perf_counter()
    poses = robot.link_poses(cfgs)
    seconds = time.perf_counter() - start
    error = float(
        np.abs(np.asarray(robot.forward_kinematics(cfgs[:100].astype(np.float32))) - poses[:100]).max()
    )
    report.add(
        "Forward kinematics",
        f"{len(cfgs)} configurations in {seconds * 1e3:.1f} ms by numba in float64; JAX in float32 agrees to "
        f"{number(error, 1)} on the first 100.",
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
    plot(robot, model, report.folder / "spheres.png")
    report.add(
        "Spheres",
        f"{len(model)} spheres in {seconds:.1f} s; coverage proved for every triangle of every link: {proof.proved}; "
        f"their union has {quality.volume_ratio:.2f} times the volume of the meshes.",
        ("spheres.png",),
        proved=proof.proved,
        volume_ratio=quality.volume_ratio,
    )
    return model


def self_collision(report: Report, robot: Robot, spheres: SphereModel) -> None:
    """One verdict: pairs with reasons, spheres that accept, meshes that decide, a proof between two poses."""
    from ..collision import CollisionModel
    from ..mesh import ExactCollision
    from ..ui.draw import plot_pairs, save_figure

    model = CollisionModel(robot, spheres)
    save_figure(plot_pairs(model.pairs), report.folder / "pairs.png", dpi=90, bbox_inches="tight")
    cfgs = robot.random_cfgs(2_000)
    free, by_spheres = model.free(cfgs), model.free(cfgs, by="spheres")
    differ = int((free != ExactCollision(robot, model.pairs).free(cfgs)).sum())
    verdict = model.explain(robot.named_cfgs["self_collision"])
    proof = model.segment_free(robot.named_cfgs["arms_forward"], robot.named_cfgs["arms_up"])
    counts = ", ".join(f"{count} {reason}" for reason, count in model.pairs.counts().items())
    report.add(
        "Self-collision",
        f"{len(model.pairs.entries)} pairs of links: {counts}; {len(model.by_meshes)} of the checked are for meshes "
        f"alone, because their spheres overlap at rest. Of {len(cfgs)} random configurations {int(free.sum())} are "
        f"free; spheres alone would accept {int(by_spheres.sum())}; the meshes, asked about every pair, differ in "
        f"{differ}. At the pose named self_collision: {verdict.clashes[0]}. From arms_forward to arms_up: {proof}.",
        ("pairs.png",),
        pairs=counts,
        differ=differ,
        proved=proof.free,
    )


def grasp(report: Report) -> None:
    """Two grasps of the bundled hand."""
    from ..grasp import GraspPlanner, contacts_on_cylinder, grasp_quality, load_hand
    from ..ui.draw import plot_grasp, save_figure

    planner = GraspPlanner(load_hand("rh56"))
    planned, around = planner.line(0.04), planner.cylinder(0.06)
    for name, found in (("grasp.png", planned), ("cylinder.png", around)):
        save_figure(plot_grasp(found), report.folder / name, dpi=90)
    quality = grasp_quality(contacts_on_cylinder(around))
    report.add(
        "Grasp",
        f"The RH56 hand takes an object of 40 mm between thumb and index finger at a tilt of "
        f"{np.degrees(planned.tilt_y):.1f} degrees, controls {np.round(planned.ctrl, 3).tolist()}. "
        f"It closes around a cylinder of 60 mm until all five fingers touch, with a Ferrari-Canny quality of "
        f"{quality.epsilon:.2f}.",
        ("grasp.png", "cylinder.png"),
    )
