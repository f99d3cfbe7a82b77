"""Spheres and pairs of robots that many tests ask for, kept in `tests/data/results` under their content hashes.

    python -m tests.stored

computes them again, as after a change of the fit or of the pairs. A run of the tests begins with them, and with the results that
ship for the bundled robots, in its cache. Other inputs or another version of an algorithm have another hash and are computed, so a stale
file costs time and never an answer; `tests/test_stored.py` computes all of them again and compares. The tests of fits and of pairs
themselves begin with an empty cache (`tests/spheres`, `tests/pairs`).
"""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from pathlib import Path

import numpy as np

import elbowroom as er
from elbowroom import _cache
from elbowroom.errors import ApproximationWarning

RESULTS = Path(__file__).parent / "data" / "results"
SHIPPED = Path(_cache.__file__).parent / "assets" / "results"
"""Those of the bundled robots, part of the package."""
MODELS = (
    ("panda", "tight"),
    ("ur5", "tight"),
    ("panda", "centerline"),
    ("ur5", "centerline"),
    ("ur10", "centerline"),
    ("xarm7", "centerline"),
    ("kinova", "centerline"),
    ("baxter", "centerline"),
    ("talos", "centerline"),
    ("icub", "centerline"),
    ("allegro_right_hand", "centerline"),
    ("teaarm", "centerline"),
    ("rh56", "centerline"),
)
"""(robot, method of the fit), the pairs with the default options."""


def spheres(name: str, method: str) -> tuple[er.Robot, er.LinkSpheres]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        robot = er.load_robot(name)
        return robot, er.fit_spheres(robot, er.FitOptions(method=method))


def compute(name: str, method: str) -> None:
    """Asks for one model as the tests do."""
    er.CollisionModel(*spheres(name, method))


def files(folder: Path) -> dict[str, Path]:
    """Result files below a folder, by their place in it."""
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.npz"))}


def main() -> None:
    """Fills an empty cache and takes it for the stored results."""
    shutil.rmtree(RESULTS, ignore_errors=True)
    _cache.SHIPPED = RESULTS  # nothing of the package
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ELBOWROOM_CACHE"] = folder
        for name, method in MODELS:
            compute(name, method)
        for place, path in files(Path(folder)).items():
            (RESULTS / place).parent.mkdir(parents=True, exist_ok=True)
            with np.load(path) as arrays:
                np.savez_compressed(RESULTS / place, **arrays)
    size = sum(path.stat().st_size for path in files(RESULTS).values())
    print(f"{len(files(RESULTS))} results, {size / 1e3:.0f} kB in {RESULTS}")


if __name__ == "__main__":
    main()
