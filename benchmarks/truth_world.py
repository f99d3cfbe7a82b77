"""Is "free" true among obstacles? CollisionModel with a world against Pinocchio and Coal, in generated scenes.

The judge collides every link of the description with every obstacle as an exact shape, and all pairs of links as
`benchmarks.truth` does. A miss is a configuration called free in which it finds a collision. Coal calls what is up to
about a micrometre apart an overlap; what a shift of 3 um parts is counted apart. False alarms are parted: those of the
robot itself (see `benchmarks.truth`), those in which Coal measures at most the tolerance between link and obstacle,
those in which the link is a curved primitive, which our triangles enclose within 1 % of its radius, others.

    python -m benchmarks.truth_world [ROBOT ...] [--scenes N] [--random N] [--each]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

import elbowroom as er
from benchmarks.truth import OUTSIDE, confirmed, judged_pairs, largest_radius, load
from elbowroom.world import SCENES, World, scene_for
from tests.oracles import CoalOracle, oracle_of
from tests.world_oracles import CoalWorld

ROBOTS = ("panda", "ur5", "baxter", "teaarm")
TOLERANCE = 1e-4
"""Metres between link and obstacle up to which a false alarm is within what is stated."""


@dataclass
class Tally:
    """Configurations counted."""

    asked: int = 0
    free: int = 0
    misses: int = 0
    less_than_coal_tells: int = 0
    """Called free, touching by Coal's boolean, and apart by its distance or after a shift of 3 um."""
    alarms_of_itself: int = 0
    """Refused for a pair of links, with obstacles or without."""
    alarms_within_tolerance: int = 0
    alarms_of_primitives: int = 0
    alarms_unexplained: int = 0
    misses_by_spheres: int = 0
    alarms_by_spheres: int = 0

    def __iadd__(self, other: Tally) -> Tally:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))
        return self


def scenes(robot: er.Robot, count: int) -> Iterator[tuple[str, World]]:
    """The first scenes of all kinds in turn."""
    for k in range(count):
        kind, seed = SCENES[k % len(SCENES)], k // len(SCENES)
        yield f"{kind} {seed}", scene_for(robot, kind, seed)


def tally(
    bare: er.CollisionModel, oracle: CoalOracle, world: World, cfgs: np.ndarray, itself: np.ndarray
) -> Tally:
    """Counts one scene; `itself` is what the judge says of the robot alone."""
    model, judge = bare.with_world(world), CoalWorld(oracle, world)
    ours, spheres = model.free(cfgs), model.free(cfgs, by="spheres")
    truth = itself.copy()
    truth[itself] = judge.free(cfgs[itself])
    found = Tally(len(cfgs), int(ours.sum()))
    for cfg in cfgs[ours & ~truth]:
        real = touches(bare, oracle, judge, cfg)
        found.misses += real
        found.less_than_coal_tells += not real
    missed = spheres & ~truth
    found.misses_by_spheres = sum(touches(bare, oracle, judge, cfg) for cfg in cfgs[missed])
    found.alarms_by_spheres = int((~spheres & truth).sum())
    alarms = ~ours & truth
    of_itself = alarms & ~bare.free(cfgs)
    found.alarms_of_itself = int(of_itself.sum())
    for cfg in cfgs[alarms & ~of_itself]:
        if judge.clearance(cfg, TOLERANCE) <= TOLERANCE:
            found.alarms_within_tolerance += 1
        elif any(gap <= OUTSIDE * largest_radius(bare.robot, link) for link, gap in near_links(judge, cfg)):
            found.alarms_of_primitives += 1
        else:
            found.alarms_unexplained += 1
    return found


def at_contact(
    bare: er.CollisionModel, model: er.CollisionModel, cfgs: np.ndarray, step: float = 1e-5
) -> tuple[np.ndarray, np.ndarray]:
    """Configurations where the verdict changes: those just refused for the world, and free ones `step` rad before.

    Found by halving between free configurations and others that only the world forbids.
    """
    ours, itself = model.free(cfgs), bare.free(cfgs)
    free, hit = cfgs[ours], cfgs[itself & ~ours]
    count = min(len(free), len(hit))
    free, hit = free[:count].copy(), hit[:count].copy()
    for _ in range(40):
        middle = 0.5 * (free + hit)
        yes = model.free(middle)
        free[yes], hit[~yes] = middle[yes], middle[~yes]
    hit, before = hit[bare.free(hit)], cfgs[ours][:count][bare.free(hit)]
    back = before - hit
    before = hit + step * back / np.maximum(np.abs(back).max(axis=1, keepdims=True), step)
    return hit, before[model.free(before)]


def touches(bare: er.CollisionModel, oracle: CoalOracle, judge: CoalWorld, cfg: np.ndarray) -> bool:
    """Whether Coal's distances confirm that something touches, deeper than Coal is sure of (see `decided`)."""
    poses, near = judge._at(cfg)
    for i, k in np.argwhere(near):
        if judge._inside(poses, i, k) or judge.decided_distance(poses, i, k) <= 0.0:
            return True
    return confirmed(oracle, judged_pairs(bare, oracle), cfg[None]) > 0


def near_links(judge: CoalWorld, cfg: np.ndarray, within: float = 0.01) -> list[tuple[str, float]]:
    """Links nearer to an obstacle than a centimetre, and their distances."""
    poses, near = judge._at(cfg, within)
    return [(judge.oracle.shape_links[i], judge._distance(poses, i, k)) for i, k in np.argwhere(near)]


def row(name: str, count: Tally, seconds: float) -> str:
    alarms = (
        count.alarms_of_itself, count.alarms_within_tolerance, count.alarms_of_primitives, count.alarms_unexplained,
    )  # fmt: skip
    missed = f"{count.misses}"
    if count.less_than_coal_tells:
        missed += f" (and {count.less_than_coal_tells} within 3 um of touching by Coal)"
    cells = (
        name, count.asked, f"{count.free / count.asked:.0%}", missed, *alarms, count.misses_by_spheres,
        f"{count.alarms_by_spheres / count.asked:.1%}", f"{seconds:.0f} s",
    )  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robots", nargs="*", default=ROBOTS)
    parser.add_argument("--scenes", type=int, default=20)
    parser.add_argument("--random", type=int, default=5_000)
    parser.add_argument("--each", action="store_true", help="a row for every scene")
    options = parser.parse_args()
    head = (
        "robot", "configurations", "free", "misses", "false alarms of itself",
        f"of the world within {1e3 * TOLERANCE:g} mm", "of curved links", "others", "misses by spheres",
        "false alarms by spheres", "time",
    )  # fmt: skip
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for name in options.robots:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            robot = load(name)
        start = time.perf_counter()
        bare, oracle, total = er.CollisionModel(robot), oracle_of(robot), Tally()
        pairs = judged_pairs(bare, oracle)
        for k, (label, world) in enumerate(scenes(robot, options.scenes)):
            cfgs = robot.random_cfgs(options.random, seed=100 + k)
            begin = time.perf_counter()
            found = tally(bare, oracle, world, cfgs, oracle.free(cfgs, pairs))
            total += found
            if options.each:
                print(row(f"{name}, {label}", found, time.perf_counter() - begin), flush=True)
        print(row(name, total, time.perf_counter() - start), flush=True)


if __name__ == "__main__":
    main()
