"""Sphere models: quality and time of both methods, with one cylinder per link as the baseline.

The tight fit comes by default options, as a quick first fit (effort 0) and at given budgets.

Every row is proved, or marked as not proved. The ratio is the volume of the union over that of the collision meshes (of
the hull where a mesh is open), summed over links; `of hulls` divides by the volume of the convex hulls instead.
Cylinders are the smallest ones trimesh finds around each link, compared in the same way; they cover by construction.
Seconds are CPU time in one process, nothing cached.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace

import elbowroom as er
from benchmarks._table import Row
from elbowroom.errors import ApproximationWarning
from elbowroom.spheres import FitOptions, fit_spheres, prove_coverage, sphere_quality
from elbowroom.spheres._shape import LinkShape

BUDGETS: dict[str, tuple[int, ...]] = {
    "panda": (60, 200),
    "ur5": (40, 120),
    "baxter": (150, 300),
    "talos": (150, 300),
    "g1_with_hands": (200,),
    "allegro_right_hand": (60, 150),
    "teaarm": (60, 150),
}
HEAD = (
    "robot",
    "method",
    "spheres",
    "ratio",
    "of hulls",
    "max, mm",
    "closed > 3",
    "proved",
    "fit, s",
    "proof, s",
)


def load(name: str) -> er.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        robot = er.load_robot(name)
    for link in robot.mesh_links:
        robot.link_mesh(link)
    return robot


def cylinder_row(name: str, robot: er.Robot) -> tuple[str, ...]:
    volume = reference = hulls = 0.0
    start = time.process_time()
    for link in robot.mesh_links:
        mesh = robot.link_mesh(link)
        assert mesh is not None
        shape = LinkShape.from_mesh(mesh, link)
        cylinder = mesh.bounding_cylinder
        volume += float(cylinder.volume)
        reference += shape.reference_volume
        hulls += shape.hull_volume
    seconds = time.process_time() - start
    ratio, of_hulls = f"{volume / reference:.3f}", f"{volume / hulls:.3f}"
    return (name, "cylinders", str(len(robot.mesh_links)), ratio, of_hulls, "", "", "", f"{seconds:.2f}", "")


def sphere_row(name: str, robot: er.Robot, options: FitOptions, label: str = "") -> tuple[str, ...]:
    start = time.process_time()
    model = fit_spheres(robot, options)
    fit_seconds = time.process_time() - start
    start = time.process_time()
    proof = prove_coverage(robot, model)
    proof_seconds = time.process_time() - start
    quality = sphere_quality(robot, model)
    meshes = ((link, robot.link_mesh(link)) for link in robot.mesh_links)
    hulls = sum(LinkShape.from_mesh(mesh, link).hull_volume for link, mesh in meshes)
    union = sum(q.volumes.union for q in quality.links.values())
    over = sum(link.closed and link.volume_ratio > 3.0 for link in proof.links.values())
    return (
        name, label or options.method, str(len(model)), f"{quality.volume_ratio:.3f}", f"{union / hulls:.3f}",
        f"{1e3 * quality.max_protrusion:.1f}", str(over), "yes" if proof.proved else "NO", f"{fit_seconds:.2f}",
        f"{proof_seconds:.3f}",
    )  # fmt: skip


CYLINDERS = "one cylinder per link, our rendering of pyroki's one capsule per link"
QUICK = ("panda", "ur5", "teaarm")


def rows() -> Iterator[Row]:
    """Of the table: volume of the models, and what a fit takes."""
    warm_up()
    what = "volume of the model over that of the meshes"
    for name in QUICK:
        robot = load(name)
        cylinders = float(cylinder_row(name, robot)[3])
        plain = FitOptions(workers=1, cache=False)
        for label, options in (("default fit", plain), ("quick fit, effort 0", replace(plain, effort=0.0))):
            found = sphere_row(name, robot, options, label)
            note = (
                "Less is tighter; spheres are proved to contain the meshes"
                if found[7] == "yes"
                else "NOT PROVED"
            )
            case = f"{name}, {label}"
            yield Row("spheres", case, what, float(found[3]), "", cylinders, CYLINDERS, note=note)
            yield Row("spheres", case, f"fit of {found[2]} spheres, CPU time", float(found[8]), "s")


def warm_up() -> None:
    """Loads what is loaded once, so that the first row does not pay for it."""
    robot = load("teaarm")
    model = fit_spheres(
        robot, FitOptions(n_spheres=2 * len(robot.mesh_links), effort=0.1, workers=1, cache=False)
    )
    prove_coverage(robot, model)
    fit_spheres(robot, FitOptions(method="centerline", cache=False))


def show(row: tuple[str, ...]) -> None:
    widths = (20, 11, 8, 8, 9, 8, 11, 7, 8, 9)
    cells = [
        text.ljust(w) if k < 2 else text.rjust(w) for k, (text, w) in enumerate(zip(row, widths, strict=True))
    ]
    print("".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", help="robots to measure; all by default")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warm_up()
    show(HEAD)
    for name in arguments.robots or BUDGETS:
        robot = load(name)
        show(cylinder_row(name, robot))
        show(sphere_row(name, robot, FitOptions(method="centerline", cache=False)))
        plain = FitOptions(seed=arguments.seed, workers=1, cache=False)
        show(sphere_row(name, robot, replace(plain, effort=0.0), "quick"))
        show(sphere_row(name, robot, plain, "default"))
        for budget in BUDGETS.get(name, ()):
            show(sphere_row(name, robot, replace(plain, n_spheres=budget)))


if __name__ == "__main__":
    main()
