"""Spheres with proof: cover every triangle of a robot with spheres and write files for
planners.

Fits spheres to a robot, proves that they contain every link, measures how much larger
they are than the robot, and shrinks one sphere slightly to show the proof failing.
Prints what is proved, how tight the spheres are, and what a cuRobo file cannot store.
With `--out`, writes that file (`.yml`), or XRDF, SRDF, URDF, MJCF or JSON depending on
the extension; `--picture` draws the spheres.

    python examples/02_spheres_with_proof.py --out teaarm.yml --picture spheres.png
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

import elbowroom as er
from elbowroom.spheres import CoverageProof, sphere_quality
from elbowroom.ui.draw import Camera, robot_picture, save_png

LESS = 0.001
"""Metres by which one sphere is shrunk."""


def shrunk(spheres: er.SphereModel) -> er.SphereModel:
    """Returns the same spheres with the largest one shrunk by a millimetre."""
    radii = spheres.radii.copy()
    radii[radii.argmax()] -= LESS
    return replace(spheres, radii=radii)


def written_and_read(
    path: Path, robot: er.Robot, spheres: er.SphereModel
) -> er.SphereModel:
    """Writes spheres and pairs, prints what the format cannot store, reads them "
    "back."""
    notes = er.formats.write(
        path, robot=robot, spheres=spheres, pairs=er.compute_pairs(robot, spheres)
    )
    print(f"{path.name}: {path.stat().st_size / 1024:.0f} KiB")
    for note in notes:
        print(f"  {note}")
    return er.formats.read(path, robot=robot).spheres


def draw(robot: er.Robot, spheres: er.SphereModel, path: str) -> None:
    """Draws the robot, and the robot in its spheres."""
    rows = {name: np.column_stack(spheres.link(name)) for name in spheres.counts}
    camera = Camera(azimuth_deg=60, elevation_deg=18, width=420, height=520)
    cfg = robot.named_cfgs.get("arms_forward", robot.default_cfg)
    views = [
        robot_picture(robot, cfg).draw(camera),
        robot_picture(robot, cfg, rows).draw(camera),
    ]
    save_png(path, np.concatenate(views, axis=1))


def main(
    argv: list[str] | None = None,
) -> tuple[
    er.SphereModel, CoverageProof, er.SphereModel, CoverageProof, er.SphereModel
]:
    """Fits, proves, measures, writes; returns both sphere models, proofs and the "
    "file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "robot",
        nargs="?",
        default="teaarm",
        help="name, or path of a URDF or MJCF file",
    )
    parser.add_argument(
        "--spheres", type=int, default=100, help="how many, shared between the links"
    )
    parser.add_argument("--out", help="file to write; the extension says the format")
    parser.add_argument("--picture", help="picture of the spheres, PNG")
    args = parser.parse_args(argv)

    robot = er.load_robot(args.robot)
    spheres = er.fit_spheres(robot, er.FitOptions(n_spheres=args.spheres, effort=0.0))
    proof = er.prove_coverage(robot, spheres)
    inside = sum(link.n_triangles for link in proof.links.values() if link.proved)
    print(
        f"{robot.name}: {len(spheres)} spheres on {len(proof.links)} links, {inside} "
        "triangles proved to be inside"
    )
    print(f"links without a proof: {', '.join(proof.uncovered) or 'none'}")

    quality = sphere_quality(robot, spheres)
    farthest = max(quality.links, key=lambda name: quality.links[name].max_protrusion)
    print(f"the spheres have {quality.volume_ratio:.2f} times the volume of the meshes")
    print(
        f"and stand out by {1e3 * quality.max_protrusion:.0f} mm at most, on {farthest}"
    )

    smaller = shrunk(spheres)
    refuted = er.prove_coverage(robot, smaller, measure=False)
    for name in refuted.uncovered:
        link = refuted.links[name]
        print(
            f"one sphere {1e3 * LESS:.0f} mm smaller: {name} stands out by "
            f"{1e3 * link.worst_gap:.2f} mm"
        )

    if args.out:
        read = written_and_read(Path(args.out), robot, spheres)
    else:
        with tempfile.TemporaryDirectory() as folder:
            read = written_and_read(Path(folder) / f"{robot.name}.yml", robot, spheres)
    if args.picture:
        draw(robot, spheres, args.picture)
    return spheres, proof, smaller, refuted, read


if __name__ == "__main__":
    main()
