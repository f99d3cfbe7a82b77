"""Proofs of segments among obstacles, judged by Coal at steps of a millimetre; and what they cost.

Edges between free configurations in generated scenes: random ones, and short ones such as planners try. Every edge that
is called free is walked by Coal, every edge that is called blocked is checked at the place that it names. One thread.

    python -m benchmarks.segments_world [ROBOT ...] [--edges N] [--scenes N]
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

import elbowroom as er
from elbowroom.world import SCENES, scene_for
from tests.oracles import oracle_of
from tests.segment_oracles import STEP, refuted_by_world, small_steps
from tests.world_oracles import CoalWorld

ROBOTS = {"panda": 60, "ur5": 60}
"""Robot -> spheres."""
SHORT = 0.2
"""Length of short edges, rad."""


def bare_model(name: str) -> er.CollisionModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = er.load_robot(name)
        return er.CollisionModel(
            robot, er.fit_spheres(robot, er.FitOptions(n_spheres=ROBOTS[name])), threads=1
        )


def edges(model: er.CollisionModel, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of free configurations."""
    found: list[np.ndarray] = []
    while sum(map(len, found)) < 2 * count:
        seed += 1
        cfgs = model.robot.random_cfgs(8 * count, seed=seed)
        found.append(cfgs[model.free(cfgs)])
    ends = np.concatenate(found)[: 2 * count]
    return ends[:count], ends[count:]


def judged(model: er.CollisionModel, judge: CoalWorld, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Free edges, those of them proved, proofs that Coal refutes, blocked edges without contact in Coal, undecided."""
    exact = er.ExactCollision(model.robot, model.pairs, threads=1)
    proofs = model.segments_free(begins, ends)
    names = set(model.world.names if model.world is not None else ())
    count = np.zeros(5, dtype=int)
    for k, (a, b) in enumerate(zip(begins, ends, strict=True)):
        proof = proofs[k]
        if proof.blocked_at is not None:
            at = a + proof.blocked_at * (b - a)
            seen = proof.pair in judge.hits(at) if proof.pair[1] in names else not exact.free(at)
            count[3] += not seen
            continue
        path = small_steps(judge, a, b)
        true = not refuted_by_world(judge, path) and bool(exact.free(path).all())
        count += (true, true and proof.free, proof.free and not true, 0, not proof.free)
    return count


def suite(name: str, count: int, scenes: int) -> None:
    bare = bare_model(name)
    oracle = oracle_of(bare.robot)
    totals = {label: np.zeros(5, dtype=int) for label in ("random", "short")}
    costs: dict[str, list[np.ndarray]] = {label: [] for label in totals}
    each = -(-count // scenes)
    for number in range(scenes):
        kind, seed = SCENES[number % len(SCENES)], number // len(SCENES)
        model = bare.with_world(scene_for(bare.robot, kind, seed))
        judge = CoalWorld(oracle, model.world, model.allow)
        begins, ends = edges(model, each, seed=1000 * number)
        ways = ends - begins
        short = begins + SHORT * ways / np.linalg.norm(ways, axis=1, keepdims=True)
        for label, last in (("random", ends), ("short", short)):
            model.segments_free(begins[:1], last[:1])  # packed and compiled
            start = time.process_time()
            proofs = model.segments_free(begins, last)
            seconds = time.process_time() - start
            costs[label].append(
                np.array(
                    [seconds / each, proofs.free.mean(), proofs.by_spheres.mean(), proofs.by_meshes.mean()]
                )
            )
            totals[label] += judged(model, judge, begins, last)
            free, proved, refuted, unseen, undecided = totals[label]
            print(
                f"{name} {kind} {seed}, {len(model.world)} obstacles, {label}: {1e6 * seconds / each:.0f} us an edge, "
                f"{proofs.free.mean():.0%} free, pieces by spheres {proofs.by_spheres.mean():.0f}, by meshes "
                f"{proofs.by_meshes.mean():.1f}; so far {proved} of {free} free edges proved, {refuted} refuted, "
                f"{unseen} blocked edges without contact, {undecided} undecided",
                flush=True,
            )
    for label, (free, proved, refuted, unseen, undecided) in totals.items():
        mean = np.mean(costs[label], axis=0)
        print(
            f"{name}: {each * scenes} {label} edges in {scenes} scenes: {proved} proved free, {refuted} refuted "
            f"by Coal at {1000 * STEP:g} mm steps, {free} free by steps ({100 * proved / max(1, free):.1f} % proved), "
            f"{unseen} blocked edges without contact, {undecided} undecided; mean {1e6 * mean[0]:.0f} us an edge, "
            f"{mean[2]:.0f} pieces by spheres, {mean[3]:.1f} by meshes",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robots", nargs="*", default=tuple(ROBOTS))
    parser.add_argument("--edges", type=int, default=1_000, help="of each kind, per robot")
    parser.add_argument("--scenes", type=int, default=20)
    options = parser.parse_args()
    for name in options.robots:
        suite(name, options.edges, options.scenes)


if __name__ == "__main__":
    main()
