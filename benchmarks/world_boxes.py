"""Oriented boxes against a scene, side by side with Coal's DynamicAABBTree on the same boxes and obstacles.

One thread. Times are CPU time per box, the smallest of several runs. Coal is called from Python once per box; what such
a call costs with an empty scene is given beside it.

    python -m benchmarks.world_boxes [OBSTACLES ...]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks._machine import version
from benchmarks._table import Row
from benchmarks._timing import cpu_seconds
from elbowroom.world import World
from tests.world.coal_world import KINDS, CoalWorld, boxes, coal, obstacle

PRIMITIVES = ("box", "sphere", "cylinder", "capsule")
BOXES = 2_000
"""Few enough for one thread."""
DENSITY = 6.0
"""Obstacles per cubic metre: larger scenes are wider, not fuller."""


def scene(count: int, kinds: tuple[str, ...], seed: int = 1) -> tuple[World, float]:
    """Random obstacles in a cube, and half its edge."""
    rng = np.random.default_rng(seed)
    spread = 0.5 * (count / DENSITY) ** (1 / 3)
    kinds = tuple(kind for kind in kinds if kind != "half_space")
    return World(obstacle(kinds[i % len(kinds)], rng, spread) for i in range(count)), spread


@dataclass(frozen=True)
class Found:
    """Of one scene; microseconds a box."""

    ours: float
    theirs: float
    call: float
    """What a call of Coal from Python costs alone."""
    meet: float
    """Share of the boxes."""
    differ: int
    """Answers, beyond Coal's tolerance of a micrometre."""


def compare(count: int, kinds: tuple[str, ...]) -> Found:
    world, spread = scene(count, kinds)
    center, half, axes = boxes(BOXES, np.random.default_rng(2), spread)
    found = world.box_intersects(center, half, axes)
    ours = 1e6 * cpu_seconds(lambda: world.box_intersects(center, half, axes)) / BOXES
    judge = CoalWorld(world)
    things, callback = judge.boxes(center, half, axes), coal.CollisionCallBackDefault()

    def ask(manager: object) -> None:
        for thing in things:
            callback.init()
            manager.collide(thing, callback)

    empty = coal.DynamicAABBTreeCollisionManager()
    empty.setup()
    theirs, call = (1e6 * cpu_seconds(lambda m=m: ask(m), 3) / BOXES for m in (judge.manager, empty))
    differ = judge.differs(found, center, half, axes)
    return Found(ours, theirs, call, float(found.mean()), len(differ))


SCENES = {"primitives": PRIMITIVES, "of all kinds": KINDS}


def rows() -> Iterator[Row]:
    """Of the table: three sizes."""
    for count in (10, 200, 2000):
        for label, kinds in SCENES.items():
            found, case = compare(count, kinds), f"{count} obstacles, {label}"
            peer = (found.theirs, "Coal", version("Coal"))
            yield Row(
                "world_boxes", case, "an oriented box against the scene, CPU time", found.ours, "us", *peer
            )
            yield Row(
                "world_boxes",
                case,
                f"answers of {BOXES} that differ from Coal's, beyond its tolerance",
                found.differ,
                "",
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("obstacles", nargs="*", type=int, default=[10, 50, 200, 400, 2000])
    for count in parser.parse_args().obstacles:
        for label, kinds in SCENES.items():
            found = compare(count, kinds)
            print(
                f"{count:5d} {label:12} {found.ours:6.2f} us, Coal {found.theirs:7.2f} us ({found.call:.2f} a call) = "
                f"{found.theirs / found.ours:.0f}x; {found.meet:.0%} meet; {found.differ} of {BOXES} answers differ",
                flush=True,
            )


if __name__ == "__main__":
    main()
