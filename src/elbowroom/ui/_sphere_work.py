"""What the Spheres and Pairs panels have computed, apart from viser; `fit` and `decide` run in another process."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .state import LinkProof

if TYPE_CHECKING:
    from ..pairs import PairMatrix, PairOptions
    from ..robot import Robot
    from ..spheres import FitOptions, SphereModel
    from ._child import Progress

LONGEST = 0.1
"""Seconds after which a round of proofs ends with the link that it is at."""


def fit(robot: Robot, options: FitOptions, progress: Progress) -> SphereModel:
    """`fit_spheres`, told how far it is."""
    from ..spheres import fit_spheres

    progress.say(f"fitting spheres to {robot.name}")
    return fit_spheres(robot, options, progress=progress)


def decide(
    robot: Robot, spheres: SphereModel | None, options: PairOptions, progress: Progress
) -> tuple[PairMatrix, tuple[str, ...]]:
    """Pairs decided for the spheres that a model would take of these, and the links that those do not cover.

    Args:
        robot: the robot.
        spheres: any; None for the default fit. A link that they do not cover gets one ball, as in the model.
        options: how. progress: told how far it is.
    """
    from ..collision.doors import cached_pairs, covering
    from ..spheres import fit_spheres

    if spheres is None:
        progress.say(f"fitting spheres to {robot.name}")
        spheres = fit_spheres(robot, progress=progress)
    covered, uncovered = covering(robot, spheres)
    progress.say(f"deciding which pairs of links can meet on {robot.name}")
    return cached_pairs(robot, covered, options, progress=progress), uncovered


def prove_links(robot: Robot, spheres: SphereModel, links: Sequence[str]) -> dict[str, LinkProof]:
    """Coverage and tightness of the first of some links: as many as take no longer than `LONGEST`, at least one."""
    from ..spheres.doors import prove_mesh_coverage

    found: dict[str, LinkProof] = {}
    start = time.monotonic()
    for link in links:
        centers, radii = spheres.link(link, attached=False)
        result = prove_mesh_coverage(robot.link_mesh(link), centers, radii, name=link)
        found[link] = LinkProof(centers, radii, result)
        if time.monotonic() - start > LONGEST:
            break
    return found


def mirrored(robot: Robot, link: str, rows: np.ndarray, axis: int) -> np.ndarray:
    """Spheres (n, 4) of a link on the other side of the plane through the middle of its mesh, across an axis."""
    mesh = robot.link_mesh(link)
    out = np.array(rows, dtype=np.float64)
    if mesh is not None:
        out[:, axis] = np.asarray(mesh.bounds)[:, axis].sum() - out[:, axis]
    return out


def file_bytes(name: str, **parts: Any) -> bytes:
    """What `formats.write` writes to a file of that name.

    Args:
        name: its ending says the format. parts: `robot`, `spheres`, `pairs`.
    """
    from .. import formats

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        formats.write(path, **parts)
        return path.read_bytes()
