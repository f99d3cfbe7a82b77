"""Check two mesh files against each other exactly: do they collide, where, how deep, or how far apart are they."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import tyro

from ..errors import InputError
from ._common import console, print_json, read_mesh_file

if TYPE_CHECKING:
    from ..mesh import TriangleMesh

EXIT_COLLIDES = 1


@dataclass(frozen=True)
class Options:
    """Arguments of `elbowroom mesh`."""

    a: Annotated[Path, tyro.conf.Positional]
    """First mesh file (.stl, .obj, .dae, .ply, .glb, .off)."""
    b: Annotated[Path, tyro.conf.Positional]
    """Second mesh file."""
    pose_a: tuple[float, ...] = ()
    """Pose of the first: x y z, or w x y z then x y z (quaternion first); the origin if not given."""
    pose_b: tuple[float, ...] = ()
    """Pose of the second."""
    scale: float = 1.0
    """Factor for both, e.g. 0.001 for files in millimetres."""
    surfaces: bool = False
    """Treat closed meshes as surfaces, so that one inside the other does not collide."""
    max_points: int = 8
    """Contact points per patch in the manifold."""
    json: bool = False
    """Print JSON instead of text."""


def run(options: Options) -> int:
    """Reports contact or distance; exit code 1 when the meshes collide."""
    from .. import mesh

    a, b = _read(options.a, options.scale), _read(options.b, options.scale)
    T_a, T_b = _pose(options.pose_a, "--pose-a"), _pose(options.pose_b, "--pose-b")
    contain = not options.surfaces
    manifold = mesh.contact_manifold(a, T_a, b, T_b, max_points=options.max_points, contain=contain)
    facts: dict[str, Any] = {
        "a": {"file": options.a, "triangles": len(a), "closed": a.closed, "dropped": a.n_degenerate},
        "b": {"file": options.b, "triangles": len(b), "closed": b.closed, "dropped": b.n_degenerate},
        "collides": manifold is not None,
    }
    if manifold is not None:
        facts |= {
            "depth": manifold.depth,
            "normal": manifold.normal,
            "points": manifold.points,
            "patches": manifold.n_patches,
        }
    else:
        apart = mesh.distance(a, T_a, b, T_b, contain=contain)
        facts |= {"distance": apart.distance, "point_a": apart.point_a, "point_b": apart.point_b}
    if options.json:
        print_json(facts)
    else:
        _print(facts)
    return EXIT_COLLIDES if facts["collides"] else 0


def _read(path: Path, scale: float) -> TriangleMesh:
    if not np.isfinite(scale) or scale <= 0:
        raise InputError(f"--scale: expected a positive number, found {scale}")
    return read_mesh_file(path, scale)


def _pose(numbers: tuple[float, ...], what: str) -> np.ndarray:
    from .._poses import as_matrix

    if len(numbers) not in (0, 3, 7):
        raise InputError(f"{what}: expected 3 or 7 numbers, found {len(numbers)}")
    pose = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    pose[7 - len(numbers) :] = numbers
    return as_matrix(pose, what)


def _print(facts: dict[str, Any]) -> None:
    out = console()

    def line(text: str) -> None:
        out.print(text, highlight=False, markup=False)

    for side in ("a", "b"):
        entry = facts[side]
        kind = "closed" if entry["closed"] else "open: a surface, nothing can be inside it"
        dropped = f", {entry['dropped']} degenerate dropped" if entry["dropped"] else ""
        line(f"{entry['file']}: {entry['triangles']} triangles, {kind}{dropped}")

    def vector(values: Any) -> str:
        return " ".join(f"{value:.6g}" for value in values)

    if facts["collides"]:
        depth, normal = facts["depth"] * 1e3, vector(facts["normal"])
        line(f"collide: depth {depth:.4g} mm along {normal} (from the first to the second)")
        line(f"{len(facts['points'])} contact points in {facts['patches']} patches (metres):")
        for point in facts["points"]:
            line(f"  {vector(point)}")
    else:
        line(f"apart: distance {facts['distance'] * 1e3:.6g} mm")
        line(f"  nearest on the first:  {vector(facts['point_a'])}")
        line(f"  nearest on the second: {vector(facts['point_b'])}")
