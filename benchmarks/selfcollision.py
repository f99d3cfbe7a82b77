"""Self-collision, side by side in one run: CPU time on one thread, spheres against each other and against meshes.

    python -m benchmarks.selfcollision              the table of speeds
    python -m benchmarks.selfcollision --evidence   the long checks: 100,000 configurations of five robots against
                                                    Coal, and ten million samples on pairs that are proved never to meet

Times are the smallest of several runs of `time.process_time`. Random configurations are the worst case for the
checker: neighbouring lanes have nothing in common, unlike along a path.
"""

from __future__ import annotations

import os

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import elbowroom as er
from benchmarks._machine import version
from benchmarks._table import Row
from elbowroom.distance import SelfCollisionChecker
from elbowroom.pairs import PairMatrix, PairOptions, PairReason, compute_pairs
from elbowroom.spheres import FitOptions, SphereModel, fit_spheres
from tests.oracles import oracle_of

MEASURE = 0.1
"""Seconds of one measurement: CPU clocks of threads tick coarsely."""
EVIDENCE_ROBOTS = ("panda", "teaarm", "baxter", "talos", "g1")


def load(name: str) -> er.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return er.load_robot(name)


def cpu(function: Callable[[], Any], repeats: int = 5) -> float:
    """Smallest CPU time per call, after one that warms up; each measurement takes a tenth of a second or more."""
    function()
    start = time.perf_counter()
    function()
    inner = max(1, round(MEASURE / max(time.perf_counter() - start, 1e-9)))
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(inner):
            function()
        best = min(best, (time.process_time() - start) / inner)
    return best


def clustered_spheres(robot: er.Robot, total: int) -> SphereModel:
    """Covering spheres in any number at once: triangles are clustered, each cluster gets an enclosing ball.

    A quick stand-in for `fit_spheres` at a thousand spheres: it covers, but not tightly.
    """
    from scipy.cluster.vq import kmeans2

    meshes = {link: robot.link_mesh(link).triangles for link in robot.mesh_links}
    share = total / len(meshes)
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for link, triangles in meshes.items():
        count = min(round(share), len(triangles))
        labels = kmeans2(triangles.mean(axis=1), count, seed=1, minit="++")[1]
        centers, radii = [], []
        for k in np.unique(labels):
            points = triangles[labels == k].reshape(-1, 3)
            center = 0.5 * (points.min(axis=0) + points.max(axis=0))
            for step in range(1, 200):
                far = points[np.linalg.norm(points - center, axis=1).argmax()]
                center = center + (far - center) / (step + 1)
            centers.append(center)
            radii.append(np.linalg.norm(points - center, axis=1).max() * (1 + 1e-9) + 1e-9)
        found[link] = (np.array(centers), np.array(radii))
    return SphereModel.from_links(robot.link_names, found)


def plain_gather(robot: er.Robot, coll: Any) -> Callable[[Any], Any]:
    """The usual way in JAX: gather both centres of every pair, subtract, take the norm."""
    import jax
    import jax.numpy as jnp

    def distances(cfg: Any) -> Any:
        centers, radii = coll.at_config(robot, cfg)
        apart = jnp.linalg.norm(centers[..., coll.pair_i, :] - centers[..., coll.pair_j, :], axis=-1)
        return apart - (radii[coll.pair_i] + radii[coll.pair_j])

    return jax.jit(distances)


def speeds(thousand: bool = True) -> list[dict[str, Any]]:
    """What is timed; with or without the humanoid of a thousand spheres."""
    rows: list[dict[str, Any]] = []

    def row(what: str, microseconds: float, note: str = "") -> None:
        rows.append({"what": what, "us": microseconds, "note": note})

    robot = load("panda")
    spheres = fit_spheres(robot, FitOptions(n_spheres=60))
    start = time.perf_counter()
    pairs = compute_pairs(robot, spheres)
    row(
        "panda compute_pairs, 10,000 samples, first call",
        1e6 * (time.perf_counter() - start),
        "compile or cache load",
    )
    wall = cpu(lambda: compute_pairs(robot, spheres, PairOptions(samples=100_000)), 2)
    row("panda compute_pairs, 100,000 samples", 1e6 * wall, str(pairs))
    checker = SelfCollisionChecker(robot, spheres, pairs, threads=1)
    cfgs = robot.random_cfgs(100_000, seed=1)
    free = checker.free(cfgs)
    note = f"{len(spheres)} spheres, {len(pairs.checked)} link pairs, {free.mean():.0%} free"
    row("panda free, batch", 1e6 * cpu(lambda: checker.free(cfgs), 9) / len(cfgs), note)
    apart = np.ascontiguousarray(cfgs[free])
    row("panda free, batch of free ones", 1e6 * cpu(lambda: checker.free(apart), 9) / len(apart))
    path = np.concatenate([np.linspace(a, b, 64) for a, b in zip(apart[:200], apart[200:400], strict=True)])
    row("panda free, along straight edges", 1e6 * cpu(lambda: checker.free(path), 9) / len(path))
    row("panda min_distance, batch", 1e6 * cpu(lambda: checker.min_distance(cfgs)) / len(cfgs))
    row("panda pair_distances, batch", 1e6 * cpu(lambda: checker.pair_distances(cfgs[:20000])) / 20000)
    one = apart[0]
    row("panda free, single call", 1e6 * cpu(lambda: [checker.free(one) for _ in range(20000)]) / 20000)
    rows += _jax_rows(robot, spheres, pairs)
    meshes = oracle_of(robot).peer(pairs.checked)
    q = meshes.q(cfgs[:5000])
    row(
        "panda Pinocchio + Coal, its own URDF",
        1e6 * cpu(lambda: [meshes.collides(x) for x in q], 2) / len(q),
        "first hit ends",
    )
    return rows + _thousand_rows() if thousand else rows


GATHER = "the usual gather in JAX, written by us"
CONTAIN = "Coal decides by meshes; spheres contain them, so that free is free and a hit may be none"
BESIDE = {
    "panda free, batch": "panda Pinocchio + Coal, its own URDF",
    "panda free, single call": "panda Pinocchio + Coal, its own URDF",
    "panda JAX compute_self_collision_distance, batch": "panda JAX plain gather, batch",
    "panda JAX max_penetration, batch": "panda JAX plain gather then min, batch",
}
"""Our timing -> the peer's."""


def rows() -> Iterator[Row]:
    """Of the table: spheres beside Pinocchio with Coal and, in JAX, beside the plain way."""
    found = {timing["what"]: timing for timing in speeds(thousand=False)}
    coal = "Pinocchio + Coal"
    for ours, theirs in BESIDE.items():
        peer = (GATHER, version("JAX")) if "JAX" in ours else (coal, version(coal))
        note = "" if "JAX" in ours else CONTAIN
        what = ours.removeprefix("panda ") + ", CPU time"
        yield Row(
            "selfcollision", "panda", what, found[ours]["us"], "us", found[theirs]["us"], *peer, note=note
        )
    for ours in ("panda min_distance, batch", "panda compute_pairs, 100,000 samples"):
        yield Row(
            "selfcollision", "panda", ours.removeprefix("panda ") + ", CPU time", found[ours]["us"], "us"
        )


def _jax_thousand(robot: er.Robot, spheres: Any) -> list[dict[str, Any]]:
    """`max_penetration` of one configuration and of 256, beside all distances and then their minimum."""
    import jax
    import jax.numpy as jnp

    from elbowroom.distance import MultiSphereCollision

    coll = MultiSphereCollision.from_models(robot, spheres)
    cfgs = jnp.asarray(robot.random_cfgs(256, seed=2), dtype=jnp.float32)
    gather = plain_gather(robot, coll)
    usual = jax.jit(lambda cfg: -gather(cfg).min(axis=-1))
    ours = jax.jit(lambda cfg: coll.max_penetration(robot, cfg))
    slopes = jax.jit(jax.vmap(jax.value_and_grad(lambda cfg: coll.max_penetration(robot, cfg))))
    note = f"{coll.num_primitives} spheres, {coll.num_pairs} pairs"
    rows = [
        ("g1 JAX plain gather then min, one configuration", usual, cfgs[0], 1),
        ("g1 JAX max_penetration, one configuration", ours, cfgs[0], 1),
        ("g1 JAX max_penetration, 256 configurations", ours, cfgs, 256),
        ("g1 JAX max_penetration with gradient, vmap over 256", slopes, cfgs, 256),
    ]
    found: list[dict[str, Any]] = []
    for what, function, given, count in rows:
        memory = function.lower(given).compile().memory_analysis().temp_size_in_bytes / 1e6
        us = 1e6 * cpu(lambda f=function, given=given: jax.block_until_ready(f(given)), 5) / count
        found.append({"what": what, "us": us, "note": f"{note}, {memory:.1f} MB of scratch memory"})
    return found


def _jax_rows(robot: er.Robot, spheres: Any, pairs: PairMatrix) -> list[dict[str, Any]]:
    import jax
    import jax.numpy as jnp

    from elbowroom.distance import MultiSphereCollision

    coll = MultiSphereCollision.from_models(robot, spheres, pairs)
    batch = jnp.asarray(robot.random_cfgs(1024, seed=2), dtype=jnp.float32)
    gather = plain_gather(robot, coll)
    ours = jax.jit(lambda cfg: coll.compute_self_collision_distance(robot, cfg))
    deepest = jax.jit(lambda cfg: coll.max_penetration(robot, cfg))
    usual = jax.jit(lambda cfg: -gather(cfg).min(axis=-1))
    cases = {
        "panda JAX plain gather, batch": gather,
        "panda JAX compute_self_collision_distance, batch": ours,
        "panda JAX plain gather then min, batch": usual,
        "panda JAX max_penetration, batch": deepest,
    }
    return [
        {
            "what": name,
            "us": 1e6 * cpu(lambda f=f: jax.block_until_ready(f(batch)), 9) / 1024,
            "note": f"{coll.num_pairs} pairs",
        }
        for name, f in cases.items()
    ]


def _thousand_rows() -> list[dict[str, Any]]:
    robot = load("g1")
    spheres = clustered_spheres(robot, 1020)
    pairs = compute_pairs(robot, spheres, PairOptions(default_cfgs=("default", "zero")))
    checker = SelfCollisionChecker(robot, spheres, pairs, threads=1)
    cfgs = robot.random_cfgs(400_000, seed=3)
    apart = np.ascontiguousarray(cfgs[checker.free(cfgs)])
    n_pairs = sum(
        int((spheres.link_idx == robot.link_index(a)).sum())
        * int((spheres.link_idx == robot.link_index(b)).sum())
        for a, b in checker.pairs
    )
    note = f"{len(spheres)} spheres, {n_pairs} sphere pairs, {len(apart)} of {len(cfgs)} free"
    rows = _jax_thousand(robot, spheres)
    if len(apart):
        rows.append(
            {
                "what": "g1 free, batch of free ones",
                "us": 1e6 * cpu(lambda: checker.free(apart)) / len(apart),
                "note": note,
            }
        )
    rows.append(
        {"what": "g1 free, batch", "us": 1e6 * cpu(lambda: checker.free(cfgs[:20000])) / 20000, "note": note}
    )
    near = np.clip(
        robot.default_cfg + np.random.default_rng(0).normal(0, 0.15, (20_000, robot.dof)),
        robot.lower,
        robot.upper,
    )
    near = np.ascontiguousarray(near[checker.free(near)])
    if len(near):
        us = 1e6 * cpu(lambda: checker.free(near)) / len(near)
        rows.append(
            {
                "what": "g1 free, free ones near the default pose",
                "us": us,
                "note": f"{len(near)} configurations",
            }
        )
    return rows


def evidence_spheres(robot: er.Robot, name: str) -> SphereModel:
    """Tight for panda, centerline for teaarm, a thousand clustered for the rest: coarser ones leave few free."""
    if name == "panda":
        return fit_spheres(robot, FitOptions(n_spheres=60))
    if name == "teaarm":
        return fit_spheres(robot, FitOptions(method="centerline"))
    return clustered_spheres(robot, 1000)


def no_misses(name: str, samples: int) -> dict[str, Any]:
    """Configurations where meshes of a checked pair collide and spheres say free; and the false alarms."""
    robot = load(name)
    spheres = evidence_spheres(robot, name)
    pairs = compute_pairs(robot, spheres)
    checker = SelfCollisionChecker(robot, spheres, pairs)
    meshes = oracle_of(robot).peer(pairs.checked)
    cfgs = robot.random_cfgs(samples, seed=4)
    free = checker.free(cfgs)
    misses = sum(meshes.collides(q) for q in meshes.q(cfgs[free]))
    spread = np.random.default_rng(5).normal(0.0, 0.2, (samples // 5, robot.dof))
    near = np.clip(robot.default_cfg + spread, robot.lower, robot.upper)
    near_free = near[checker.free(near)]  # random configurations of humanoids are hardly ever free
    near_misses = sum(meshes.collides(q) for q in meshes.q(near_free))
    hit = cfgs[~free]
    tried = hit[: min(len(hit), samples // 20)]
    false = sum(not meshes.collides(q) for q in meshes.q(tried))
    really_free = int(free.sum()) - misses + (false / max(len(tried), 1)) * len(hit)
    return {
        "robot": name,
        "spheres": len(spheres),
        "samples": samples,
        "free by spheres": int(free.sum()),
        "near the default pose, free by spheres": len(near_free),
        "misses": int(misses) + int(near_misses),
        "alarms judged": len(tried),
        "of them false": int(false),
        "false alarm rate among free": (false / max(len(tried), 1)) * len(hit) / max(really_free, 1.0),
        "pairs": {str(reason): count for reason, count in pairs.counts().items()},
    }


def least_by_descent(
    robot: er.Robot, spheres: SphereModel, pair: tuple[str, str], seed: int, rounds: int = 40
) -> float:
    """Smallest clearance of one pair that a random descent finds: the best of many steps, shrinking round by round.

    It asks the checker alone, not the proof.
    """
    checker, rng = SelfCollisionChecker(robot, spheres, [pair]), np.random.default_rng(seed)
    cfgs = robot.random_cfgs(512, seed=seed)
    distances = checker.pair_distances(cfgs)[:, 0]
    keep = np.argsort(distances)[:8]
    best, values = cfgs[keep], distances[keep]
    for step in np.geomspace(0.3, 1e-3, rounds):
        moved = best[:, None] + step * (robot.upper - robot.lower) * rng.normal(
            size=(len(best), 32, robot.dof)
        )
        moved = np.clip(moved, robot.lower, robot.upper)
        found = checker.pair_distances(moved.reshape(-1, robot.dof))[:, 0].reshape(len(best), -1)
        place = found.argmin(axis=1)
        better = found[np.arange(len(best)), place] < values
        best[better] = moved[np.arange(len(best)), place][better]
        values = np.minimum(values, found.min(axis=1))
    return float(values.min())


def proofs_hold(name: str, samples: int) -> dict[str, Any]:
    """Hits among random samples on pairs that are proved never to meet; and what the proofs took."""
    robot = load(name)
    spheres = evidence_spheres(robot, name)
    start = time.perf_counter()
    pairs = compute_pairs(robot, spheres)
    seconds = time.perf_counter() - start
    proved = [pair for pair, found in pairs.entries.items() if found.reason is PairReason.NEVER_PROVED]
    sampled = [pair for pair, found in pairs.entries.items() if found.reason is PairReason.NEVER_SAMPLED]
    checker = SelfCollisionChecker(robot, spheres, proved)
    hits = 0
    closest = float("inf")
    for chunk in range(-(-samples // 500_000)):
        cfgs = robot.random_cfgs(min(500_000, samples), seed=100 + chunk)
        hits += int((~checker.free(cfgs)).sum())
        closest = min(closest, float(checker.min_distance(cfgs[:50_000]).min()))
    claimed = [pairs.evidence(*pair).clearance or 0.0 for pair in checker.pairs]
    searched = [least_by_descent(robot, spheres, pair, seed) for seed, pair in enumerate(checker.pairs)]
    return {
        "robot": name,
        "proved": len(proved),
        "sampled only": len(sampled),
        "compute_pairs seconds": seconds,
        "samples": samples,
        "hits on proved pairs": hits,
        "closest seen, m": closest,
        "closest by local search, m": min(searched, default=float("inf")),
        "proved clearances that the search undercuts": sum(
            int(found < bound - checker.float_margin) for found, bound in zip(searched, claimed, strict=True)
        ),
    }


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--evidence", action="store_true", help="run the long checks instead")
    parser.add_argument("--samples", type=int, default=100_000, help="configurations per robot against Coal")
    parser.add_argument("--proof-samples", type=int, default=10_000_000)
    parser.add_argument("--robots", nargs="*", default=list(EVIDENCE_ROBOTS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    if options.evidence:
        results: list[dict[str, Any]] = []
        for name in options.robots:
            results += [no_misses(name, options.samples), proofs_hold(name, options.proof_samples)]
            print(json.dumps(results[-2:], indent=None if options.json else 2), flush=True)
        return 1 if any(found.get("misses") or found.get("hits on proved pairs") for found in results) else 0
    timings = speeds()
    if options.json:
        print(json.dumps(timings, indent=2))
    else:
        for found in timings:
            print(f"{found['what']:<52} {found['us']:>12.3f} us  {found['note']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
