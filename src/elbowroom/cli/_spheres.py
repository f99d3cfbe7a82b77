"""Cover a robot's links with spheres, prove that they contain it, and write them to a file.

Exit code 1 if the spheres are not proved to cover every link that has collision geometry. Links without any are
named.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from .._kinds import SPHERES
from ..spheres import FitOptions
from ._common import aside, check_not_description, check_out, check_plot, console, print_json, waiting
from ._model_options import FROM_FILE, SphereOptions
from ._options import NoEffect, Shared

if TYPE_CHECKING:
    from ..robot import Robot
    from ..spheres import CoverageProof, QualityReport, SphereModel

EXIT_NOT_PROVED = 1
EXAMPLES = {
    "elbowroom spheres teaarm -n 120 --out teaarm.json": "fit 120 spheres, prove them, write them",
    "elbowroom spheres teaarm --method centerline --plot teaarm.png": "a quick fit, and a picture of it",
    "elbowroom spheres teaarm --spheres teaarm.json --occupancy": "examine the spheres of a file",
}


@dataclass(frozen=True)
class Options(SphereOptions):
    """Arguments of `elbowroom spheres`."""

    spheres: Path | None = None
    """Examine the spheres of this file (any format) instead of fitting new ones."""
    fit: Annotated[
        FitOptions,
        Shared(
            "method",
            "n_spheres",
            "per_link",
            "margin",
            "seed",
            "ratio_cap",
            "effort",
            "apart_at_rest",
            "share_mirrored",
            "workers",
        ),
    ] = field(default_factory=FitOptions)
    """How they are fitted."""
    out: Path | None = None
    """File to write: .json, .yml (cuRobo), .xrdf, .srdf, .urdf (spherized) or .xml (MJCF)."""
    format: str | None = None
    """Name of the format, if the extension of --out does not identify it."""
    plot: Path | None = None
    """PNG of mesh and spheres."""
    occupancy: bool = False
    """Sample surface and volume and print the share inside the spheres, per link."""


NO_EFFECT = (
    NoEffect(
        (
            "method",
            "n_spheres",
            "per_link",
            "margin",
            "ratio_cap",
            "effort",
            "apart_at_rest",
            "share_mirrored",
            "workers",
        ),
        lambda options: options.spheres is not None,
        FROM_FILE,
    ),
    NoEffect(
        ("n_spheres", "ratio_cap", "effort", "apart_at_rest", "share_mirrored", "workers"),
        lambda options: options.fit.method == "centerline",
        "the centerline method searches nothing and has no budget in all; --per-link sets its spheres",
    ),
    NoEffect(
        ("seed",),
        lambda options: (
            not options.occupancy and (options.spheres is not None or options.fit.method == "centerline")
        ),
        "nothing is random without a tight fit or --occupancy",
    ),
    NoEffect(("format",), lambda options: options.out is None, "it is the format of --out"),
)


def run(options: Options) -> int:
    """Fits or reads spheres, proves coverage, reports; exit code 1 when coverage is not proved."""
    from ..spheres import prove_coverage, sphere_quality

    check_out(options.out, options.format, as_json=SPHERES)
    check_plot(options.plot, (".png",))
    robot = options.load()
    check_not_description(options.out, robot)
    start = time.perf_counter()
    model = options.model(robot)
    seconds = time.perf_counter() - start
    with waiting("proving that the spheres cover the links"):
        proof = prove_coverage(robot, model)
    report: dict[str, Any] = {
        "robot": robot.name,
        "n_spheres": len(model),
        "seconds": seconds,
        "proved": proof.proved,
        "coverage": proof.counts(),
        "modelled": robot.modelled,
        "loose": model.notes,
        "links": {name: asdict(link) for name, link in proof.links.items()},
        "spheres": model.to_json()["spheres"],
    }
    quality = None
    if options.occupancy:
        with waiting("sampling surfaces and volumes"):
            quality = sphere_quality(robot, model, seed=options.fit.seed)
        report["occupancy"] = {name: asdict(link) for name, link in quality.links.items()}
        report["volume_ratio"] = quality.volume_ratio
        report["volume_ratio_error"] = quality.volume_ratio_error
    notes = _write(robot, model, options)
    report["notes"] = notes
    if options.json:
        print_json(report)
    else:
        _print(robot, model, proof, quality, seconds, notes, options)
    return 0 if proof.proved else EXIT_NOT_PROVED


def _write(robot: Robot, model: SphereModel, options: Options) -> list[str]:
    notes: list[str] = []
    if options.out is not None:
        from .. import formats

        notes += formats.write(options.out, robot=robot, spheres=model, format=options.format)
    if options.plot is not None:
        with waiting("drawing"):
            plot(robot, model, options.plot)
    return notes


def plot(robot: Robot, model: SphereModel, path: Path, cfg: np.ndarray | None = None) -> None:
    """Writes a PNG: the robot alone, and with its spheres, at a configuration (dof,); None is the robot's default."""
    from ..ui.draw import Camera, robot_picture, save_png

    spheres = {link: np.column_stack(model.link(link)) for link in model.counts}
    camera = Camera(azimuth_deg=40.0)
    pictures = [robot_picture(robot, cfg, spheres=shown).draw(camera) for shown in (None, spheres)]
    save_png(path, np.concatenate(pictures, axis=1))


def _print(
    robot: Robot,
    model: SphereModel,
    proof: CoverageProof,
    quality: QualityReport | None,
    seconds: float,
    notes: list[str],
    options: Options,
) -> None:
    out = console(aside=aside(options.out, options.plot))

    def line(text: str) -> None:
        out.print(text, markup=False)

    line(str(proof))
    if quality is not None:
        line(f"\n{quality}")
    total = sum(link.n_spheres for link in proof.links.values())
    line(f"\n{total} spheres in {seconds:.1f} s, {proof.headline}")
    for text in (*robot.modelled, *model.notes):
        line(f"  note: {text}")
    for path in (options.out, options.plot):
        if path is not None:
            line(f"wrote {path}")
    for note in notes:
        line(f"  not in the file: {note}")
