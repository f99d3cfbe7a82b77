"""Spheres as geoms of an MJCF, and the proof that MuJoCo takes them as they were meant.

A geom inherits what its body's default class says of geoms: a mesh, to which MuJoCo fits it, a margin, or end points,
which no sphere may have. Friction and solver settings are welcome, shape and place are not: each sphere says itself
what it would inherit otherwise. End points cannot be taken back, so spheres leave such a class for MuJoCo's `main`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Set
from pathlib import Path
from typing import Any

import numpy as np

from .._files import check_place
from .._text import shortest
from .._xml import add_line
from ..errors import InputError
from ..spheres import SphereModel

SPHERE_PREFIX = "sphere:"
"""Names of our geoms begin so; writing again replaces them."""
MAIN = "main"
"""MuJoCo's class of all that has no other; every other class inherits from it."""
TOLERANCE = 1e-12
"""Largest difference (m) between a sphere as meant and as compiled; numbers are written in full."""


def is_ours(geom: Any) -> bool:
    """Whether an element is a sphere that we wrote."""
    return (geom.get("name") or "").startswith(SPHERE_PREFIX)


def geom_name(link: str, index: int) -> str:
    """Name of a link's sphere."""
    return f"{SPHERE_PREFIX}{link}:{index}"


def link_of(name: str) -> str:
    """The link of a sphere's name."""
    return name.removeprefix(SPHERE_PREFIX).rpartition(":")[0]


def add_spheres(body: Any, link: str, model: SphereModel, attributes: dict[str, str]) -> None:
    """Gives a body's element the spheres of its link (m, in its frame), in front of the bodies that it carries."""
    child = body.find("body")
    for index, (center, radius) in enumerate(zip(*model.link(link), strict=True)):
        place = {"size": shortest(float(radius)), "pos": shortest(center)}
        add_line(body, "geom", {"name": geom_name(link, index), **place, **attributes}, before=child)


def refusals(source: Path, links: Iterable[str], path: Path) -> dict[str, dict[str, str]]:
    """For each link, the attributes by which its spheres refuse what its default class says of shape and place.

    MuJoCo itself tells what a new geom of the body would inherit, included files and frames counted in.

    Args:
        source: the user's file. links: names of its bodies. path: the file to write, for messages.

    Raises:
        InputError: the class of all geoms has end points, which nothing can refuse.
    """
    import mujoco

    spec: Any = mujoco.MjSpec.from_file(str(source))  # pyright: ignore[reportAttributeAccessIssue]
    bodies = {body.name: body for body in spec.bodies}
    found: dict[str, dict[str, str]] = {}
    for link in links:
        heir, said = bodies[link].add_geom(), dict[str, str]()
        if not np.isnan(heir.fromto[0]):
            heir, said = spec.default.geom, {"class": MAIN}
        if not np.isnan(heir.fromto[0]):
            raise InputError(
                f"{path}: the default of all geoms in {source.name} has fromto, which no sphere can have; move it into"
                " a class of its own"
            )
        said |= {name: "" for name in ("mesh", "hfield") if getattr(heir, f"{name}name")}
        found[link] = said | _no_margin(heir)
    return found


def pair_refusals(source: Path | None) -> dict[str, str]:
    """The attributes by which explicit pairs refuse the margin that the defaults of a user's file say of pairs."""
    import mujoco

    if source is None:
        return {}
    spec: Any = mujoco.MjSpec.from_file(str(source))  # pyright: ignore[reportAttributeAccessIssue]
    return _no_margin(spec.default.pair)


def _no_margin(heir: Any) -> dict[str, str]:
    return {name: "0" for name in ("margin", "gap") if getattr(heir, name)}


def prove_compiled(data: bytes, path: Path, beside: bool, model: SphereModel | None, own: Set[str]) -> None:
    """Compiles a document before it is written and compares every sphere with what was meant.

    Args:
        data: the document.
        path: where it is to go.
        beside: whether it names files relative to that place.
        model: the spheres that were meant; None has MuJoCo compile it and no more.
        own: the robot's bodies, which alone have spheres.

    Raises:
        InputError: MuJoCo refuses it, or takes a sphere for something else; the message says which and how.
    """
    import mujoco

    check_place(path)
    with tempfile.NamedTemporaryFile(
        dir=path.parent if beside else None, prefix=".elbowroom-", suffix=".xml"
    ) as file:
        file.write(data)
        file.flush()
        try:
            compiled: Any = mujoco.MjModel.from_xml_path(file.name)  # pyright: ignore[reportAttributeAccessIssue]
        except (ValueError, OSError, RuntimeError) as error:
            text = " ".join(str(error).split())
            raise InputError(f"{path}: MuJoCo rejects the result, so nothing is written: {text}") from error
    if model is None:
        return
    names = {compiled.geom(k).name: k for k in range(compiled.ngeom)}
    sphere = int(mujoco.mjtGeom.mjGEOM_SPHERE)  # pyright: ignore[reportAttributeAccessIssue]
    for link in [link for link in model.counts if link in own]:
        for index, (center, radius) in enumerate(zip(*model.link(link), strict=True)):
            name = geom_name(link, index)
            k = names.get(name)
            if k is None:
                raise InputError(f"{path}: MuJoCo drops {name!r}, so nothing is written")
            values = {
                "type": (float(compiled.geom_type[k]), float(sphere)),
                "size": (compiled.geom_size[k, 0], radius),
                "pos": (compiled.geom_pos[k], center),
                "margin": (compiled.geom_margin[k], 0.0),
                "gap": (compiled.geom_gap[k], 0.0),
            }
            for word, (taken, meant) in values.items():
                if not np.abs(np.subtract(taken, meant)).max() <= TOLERANCE:  # NaN too
                    raise InputError(
                        f"{path}: MuJoCo takes {word} of {name!r} as {taken}, not as {meant}; nothing is written"
                    )
