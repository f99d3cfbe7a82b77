"""Proofs of paths, judged by Coal at steps of a millimetre: none may be called free that the judge refutes.

Paths and curves in generated scenes, every second one spoiled on purpose: an obstacle put into what the robot sweeps,
by a twentieth of a millimetre up to centimetres, a waypoint moved, a spike hidden between waypoints. Every path that is
called free is walked by the judge, and where an obstacle was put into a link, it looks there too, however short the
contact is; every place that is called blocked is checked by it; paths that the judge finds free are counted, and
those of them that were proved.

    python -m benchmarks.proof_paths [ROBOT ...] [--paths N] [--seed N]
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

import elbowroom as er
from elbowroom.plan import prove_path
from elbowroom.world import SCENES, scene_for
from tests.oracles import oracle_of
from tests.plan_oracles import PathJudge, walk_of
from tests.spoiled_paths import cases

ROBOTS = ("panda", "teaarm", "baxter")
NEAR = 1e-5
"""Metres: places called blocked where the judge measures no more than this count as seen."""


def suite(name: str, count: int, seed: int) -> int:
    """Runs paths of one robot; returns how many were wrongly called free."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bare = er.CollisionModel(er.load_robot(name), threads=1)
    oracle = oracle_of(bare.robot)
    pairs = PathJudge(bare, oracle=oracle).own_pairs
    worlds = [scene_for(bare.robot, kind, number) for number in range(4) for kind in SCENES]
    found = dict.fromkeys(
        (
            "paths",
            "spoiled",
            "free",
            "refuted",
            "blocked",
            "unseen",
            "undecided",
            "judged free",
            "not proved",
        ),
        0,
    )
    seconds: list[float] = []
    for case in cases(bare, worlds, count, seed):
        prove_path(case.model, case.path)  # packed and compiled
        start = time.thread_time()
        proof = prove_path(case.model, case.path)
        seconds.append(time.thread_time() - start)
        judge = PathJudge(case.model, oracle=oracle, pairs=pairs)
        found["paths"] += 1
        found["spoiled"] += bool(case.spoiled)
        if proof.free or not proof.decided:
            touch = judge.first_touch(case.path)
            if touch is None and case.touching is not None:  # however short the contact is
                touch = judge.first_touch(case.touching[None])
            found["free"] += proof.free
            found["undecided"] += not proof.free
            found["judged free"] += touch is None
            found["not proved"] += touch is None and not proof.free
            if proof.free and touch is not None:
                found["refuted"] += 1
                print(f"REFUTED {name} {found['paths']} {case.spoiled}: {proof}; judge: {touch}", flush=True)
        else:
            found["blocked"] += 1
            at, marks = walk_of(case.path)
            place = np.interp(proof.blocked_at, np.arange(len(marks)), marks)
            row = at(np.array([place]))
            seen = judge.first_touch(row) is not None or bool(
                (judge.oracle.distances(row, pairs) <= NEAR).any()
            )
            seen = seen or (judge.world is not None and judge.world.clearance(row[0], 1.0) <= NEAR)
            found["unseen"] += not seen
            if not seen:
                print(f"unseen {name} {found['paths']} {case.spoiled}: {proof}", flush=True)
        if found["paths"] % 25 == 0:
            print(f"{name}: {found}", flush=True)
    print(
        f"{name}: {found['paths']} paths, {found['spoiled']} spoiled: {found['free']} called free, of them "
        f"{found['refuted']} refuted; {found['blocked']} blocked, {found['unseen']} of them without contact; "
        f"{found['judged free'] - found['not proved']} of {found['judged free']} proved that the judge finds free; "
        f"{1e3 * np.median(seconds):.2f} ms a path (median), {1e3 * np.percentile(seconds, 95):.1f} at 95 %",
        flush=True,
    )
    return found["refuted"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robots", nargs="*", default=ROBOTS)
    parser.add_argument("--paths", type=int, default=10_000, help="in all")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    each = -(-options.paths // len(options.robots))
    raise SystemExit(1 if sum([suite(name, each, options.seed) for name in options.robots]) else 0)


if __name__ == "__main__":
    main()
