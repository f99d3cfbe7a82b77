"""Computes what the bundled robots need by default and stores it in the package, under its content hashes.

    python tools/ship_results.py

Part of `make assets`; to be run after a change of the robots, of the fit, of the pairs or of the grasp tables.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import numpy as np

from elbowroom import CollisionModel, TeaArmRobot, _cache, load_robot
from elbowroom.grasp import GraspPlanner, load_hand

BUNDLED = ("teaarm", "rh56", "rh56_left")


def compute() -> None:
    """Asks for everything that first calls and the demo ask for."""
    for name in BUNDLED:
        CollisionModel(load_robot(name))
    _ = TeaArmRobot().model
    planner = GraspPlanner(load_hand("rh56"))
    planner.line(0.04), planner.plane(0.04), planner.cylinder(0.06)


def main() -> None:
    """Fills an empty cache and takes it for the shipped results."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ELBOWROOM_CACHE"] = folder
        shutil.rmtree(_cache.SHIPPED, ignore_errors=True)
        compute()
        for path in sorted(Path(folder).rglob("*.npz")):
            target = _cache.SHIPPED / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            with np.load(path) as arrays:
                np.savez_compressed(target, **arrays)
    files = sorted(_cache.SHIPPED.rglob("*.npz"))
    size = sum(path.stat().st_size for path in files) / 1e3
    print(f"{len(files)} results, {size:.0f} kB in {_cache.SHIPPED}")


if __name__ == "__main__":
    main()
