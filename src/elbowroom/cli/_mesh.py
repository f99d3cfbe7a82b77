"""Check two mesh files against each other exactly: do they collide, where, how deep, or how far apart are they."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import tyro

from .._text import number
from ..errors import InputError
from ._common import console, print_json, read_mesh_file
from ._options import NoEffect

if TYPE_CHECKING:
    from ..mesh import TriangleMesh

EXAMPLES = {
    "elbowroom mesh hand.stl cup.obj --pose-b 0 0 0.1": "the second 100 mm above the first",
    "elbowroom mesh hand.stl cup.obj --scale-b 0.001": "the first in metres, the second in millimetres",
}
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
    scale_a: float | None = None
    """Factor for the first alone, where the files have different units."""
    scale_b: float | None = None
    """Factor for the second alone."""
    surfaces: bool = False
    """Treat closed meshes as surfaces, so that one inside the other does not collide."""
    max_points: int = 8
    """Contact points per patch in the manifold."""
    json: bool = False
    """Print JSON instead of text."""


NO_EFFECT = (
    NoEffect(
        ("scale",),
        lambda options: options.scale_a is not None and options.scale_b is not None,
        "--scale-a and --scale-b say both",
    ),
)


def run(options: Options) -> int:
    """Reports contact or distance; exit code 1 when the meshes collide."""
    from .. import mesh

    scale_a = _positive("--scale-a", options.scale_a, _positive("--scale", options.scale, 1.0))
    scale_b = _positive("--scale-b", options.scale_b, options.scale)
    a, b = read_mesh_file(options.a, scale_a), read_mesh_file(options.b, scale_b)
    T_a, T_b = _pose(options.pose_a, "--pose-a"), _pose(options.pose_b, "--pose-b")
    contain = not options.surfaces
    manifold = mesh.contact_manifold(a, T_a, b, T_b, max_points=options.max_points, contain=contain)
    facts: dict[str, Any] = {
        "a": _facts(options.a, scale_a, a),
        "b": _facts(options.b, scale_b, b),
        "collides": manifold is not None,
    }
    if manifold is not None:
        facts |= {
            "how": manifold.deepest.state,
            "depth": manifold.depth,
            "normal": manifold.normal,
            "point_a": manifold.deepest.point_a,
            "point_b": manifold.deepest.point_b,
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


def _positive(flag: str, value: float | None, otherwise: float) -> float:
    """The value of an option, or another if it is not given."""
    if value is not None and not (np.isfinite(value) and value > 0.0):
        raise InputError(f"{flag}: expected a positive number, found {value}")
    return otherwise if value is None else value


def _facts(path: Path, scale: float, mesh: TriangleMesh) -> dict[str, Any]:
    size = np.ptp(mesh.vertices, axis=0)
    return {
        "file": path,
        "scale": scale,
        "size": size,
        "triangles": len(mesh),
        "closed": mesh.closed,
        "dropped": mesh.n_degenerate,
    }


def _pose(numbers: tuple[float, ...], what: str) -> np.ndarray:
    from .._poses import as_matrix

    if len(numbers) not in (0, 3, 7):
        raise InputError(f"{what}: expected 3 or 7 numbers, found {len(numbers)}")
    pose = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    pose[7 - len(numbers) :] = numbers
    return as_matrix(pose, what)


def _print(facts: dict[str, Any]) -> None:
    from ..mesh.internal import STATES

    out = console()

    def line(text: str) -> None:
        out.print(text, highlight=False, markup=False)

    for side in ("a", "b"):
        entry = facts[side]
        kind = "closed" if entry["closed"] else "open: a surface, nothing can be inside it"
        dropped = f", {entry['dropped']} degenerate dropped" if entry["dropped"] else ""
        size = " x ".join(number(1e3 * value) for value in entry["size"])
        line(f"{entry['file']}: {size} mm, {entry['triangles']} triangles, {kind}{dropped}")

    def vector(values: Any) -> str:
        # Below a nanometre beside the sizes of the meshes is rounding, not a coordinate.
        return " ".join(number(value if abs(value) > tiny else 0.0, 6) for value in values)

    tiny = 1e-9 * max(*facts["a"]["size"], *facts["b"]["size"])

    if facts["collides"]:
        depth, normal = facts["depth"], vector(facts["normal"])
        deep = f"depth {number(1e3 * depth)} mm" if depth > tiny else "they touch, depth 0 mm"
        line(f"collide: {deep} along {normal} (from the first to the second)")
        if facts["how"] == STATES[1]:
            line(f"{len(facts['points'])} points on both surfaces, in {facts['patches']} patches (metres):")
        else:
            line(f"{facts['how']}; halfway between the points last to part (metres):")
        for point in facts["points"]:
            line(f"  {vector(point)}")
    else:
        line(f"apart: distance {number(1e3 * facts['distance'], 6)} mm")
        line(f"  nearest on the first:  {vector(facts['point_a'])}")
        line(f"  nearest on the second: {vector(facts['point_b'])}")
