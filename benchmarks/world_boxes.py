"""Oriented boxes against a scene, side by side with Coal's DynamicAABBTree on the same boxes and obstacles.

One thread. Times are CPU time per box, the smallest of several runs. Coal is called from Python once per box; what such
a call costs with an empty scene is given beside it.

    python -m benchmarks.world_boxes [OBSTACLES ...]
"""

from __future__ import annotations

import argparse

import numpy as np

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


def compare(label: str, count: int, kinds: tuple[str, ...]) -> None:
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
    differ = int((found != judge.meets(center, half, axes)).sum())
    print(
        f"{count:5d} {label:12} {ours:6.2f} us, Coal {theirs:7.2f} us ({call:.2f} a call) = {theirs / ours:.0f}x; "
        f"{found.mean():.0%} meet; {differ} of {BOXES} answers differ",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("obstacles", nargs="*", type=int, default=[10, 50, 200, 400, 2000])
    for count in parser.parse_args().obstacles:
        compare("primitives", count, PRIMITIVES)
        compare("of all kinds", count, KINDS)


if __name__ == "__main__":
    main()
