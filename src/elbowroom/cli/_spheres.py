"""Cover a robot's links with spheres, prove that they contain it, and write them to a file."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import tyro

from ..errors import InputError
from ._common import RobotOptions, console, print_json, progress_bar, spheres_from_file

if TYPE_CHECKING:
    from ..robot import Robot
    from ..spheres import CoverageProof, QualityReport, SphereModel

EXIT_NOT_PROVED = 1


@dataclass(frozen=True)
class Options(RobotOptions):
    """Arguments of `elbowroom spheres`."""

    method: Literal["tight", "centerline"] = "tight"
    """tight: least volume for a budget; centerline: along the lines between joints, no search."""
    n_spheres: Annotated[int | None, tyro.conf.arg(aliases=("-n",))] = None
    """Budget in all, for the tight method; if not given, as few as make the union 1.45 times the meshes."""
    effort: float = 1.0
    """Scales the search of the tight method, and its time; 0 is a quick first fit, as well proved."""
    apart_at_rest: bool = False
    """Spend more spheres on links whose spheres overlap at the default pose while their meshes are apart."""
    margin: float = 0.0
    """Added to every radius, metres."""
    seed: int = 0
    """The same seed gives the same spheres."""
    spheres: Path | None = None
    """Examine the spheres of this file instead of fitting new ones."""
    out: Path | None = None
    """File to write: .json, .yml (cuRobo), .xrdf, .srdf, .urdf (spherized) or .xml (MJCF)."""
    format: str | None = None
    """Name of the format, if the extension of --out does not tell."""
    plot: Path | None = None
    """PNG of mesh and spheres."""
    occupancy: bool = False
    """Sample surface and volume and print the share inside the spheres, per link."""
    workers: int | None = None
    """Links fitted at once; all cores if not given. Does not change the answer."""


def run(options: Options) -> int:
    """Fits or reads spheres, proves coverage, reports; exit code 1 when coverage is not proved."""
    from ..spheres import prove_coverage, sphere_quality

    _check_outputs(options)
    robot = options.load()
    start = time.perf_counter()
    model = _model(robot, options)
    seconds = time.perf_counter() - start
    proof = prove_coverage(robot, model)
    report: dict[str, Any] = {
        "robot": robot.name,
        "n_spheres": len(model),
        "seconds": seconds,
        "proved": proof.proved,
        "links": {name: asdict(link) for name, link in proof.links.items()},
    }
    quality = sphere_quality(robot, model, seed=options.seed) if options.occupancy else None
    if quality is not None:
        report["occupancy"] = {name: asdict(link) for name, link in quality.links.items()}
        report["volume_ratio"] = quality.volume_ratio
        report["volume_ratio_error"] = quality.volume_ratio_error
    notes = _write(robot, model, options)
    report["notes"] = notes
    if options.json:
        print_json(report)
    else:
        _print(proof, quality, seconds, notes, options)
    return 0 if proof.proved else EXIT_NOT_PROVED


def _check_outputs(options: Options) -> None:
    """Refuses files that cannot be written before the long work begins.

    Raises:
        FormatError: the format of --out is not known. InputError: a folder is missing, or --plot is not a PNG.
    """
    if options.out is not None:
        from ..formats import format_of

        format_of(options.out, options.format)
    if options.plot is not None and options.plot.suffix.lower() != ".png":
        raise InputError(f"--plot {options.plot}: pictures are PNG, expected a name ending in .png")
    for path in (options.out, options.plot):
        if path is not None and not path.parent.is_dir():
            raise InputError(f"cannot write {path}: there is no folder {path.parent}")


def _model(robot: Robot, options: Options) -> SphereModel:
    from ..spheres import FitOptions, fit_spheres

    if options.spheres is not None:
        return spheres_from_file(options.spheres, robot)
    fit = FitOptions(
        method=options.method,
        n_spheres=options.n_spheres,
        margin=options.margin,
        seed=options.seed,
        effort=options.effort,
        apart_at_rest=options.apart_at_rest,
        workers=options.workers,
    )
    with progress_bar(f"fitting spheres to {robot.name}", quiet=options.json) as progress:
        return fit_spheres(robot, fit, progress=progress)


def _write(robot: Robot, model: SphereModel, options: Options) -> list[str]:
    notes: list[str] = []
    if options.out is not None:
        from .. import formats

        notes += formats.write(options.out, robot=robot, spheres=model, format=options.format)
    if options.plot is not None:
        plot(robot, model, options.plot)
    return notes


def plot(robot: Robot, model: SphereModel, path: Path) -> None:
    """Writes a PNG: the robot alone, and with its spheres."""
    from ..ui.draw import Camera, robot_picture, save_png

    spheres = {link: np.column_stack(model.link(link)) for link in model.counts}
    camera = Camera(azimuth_deg=40.0)
    save_png(
        path, np.concatenate([robot_picture(robot, spheres=s).draw(camera) for s in (None, spheres)], axis=1)
    )


def _print(
    proof: CoverageProof, quality: QualityReport | None, seconds: float, notes: list[str], options: Options
) -> None:
    out = console()
    out.print(str(proof), highlight=False, markup=False)
    if quality is not None:
        out.print(f"\n{quality}", highlight=False, markup=False)
    total = sum(link.n_spheres for link in proof.links.values())
    verdict = "proved to cover every link" if proof.proved else f"NOT covering: {', '.join(proof.uncovered)}"
    out.print(f"\n{total} spheres in {seconds:.1f} s, {verdict}", highlight=False, markup=False)
    for path in (options.out, options.plot):
        if path is not None:
            out.print(f"wrote {path}", highlight=False, markup=False)
    for note in notes:
        out.print(f"  not in the file: {note}", highlight=False, markup=False)
