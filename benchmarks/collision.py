"""The verdict, side by side: spheres and meshes together, meshes alone, Pinocchio with Coal; and proofs of segments.

All on one thread, in one run. Times are per configuration, the smallest of several runs; ratios say how much longer the
other takes.

    python -m benchmarks.collision [ROBOT ...] [--edges N]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import elbowroom as er
from benchmarks._machine import version
from benchmarks._table import Row
from benchmarks._timing import cpu_seconds
from tests.oracles import PinocchioCoal, ShapeCoal, coal, coal_pose, oracle_of

ROBOTS = {"panda": 60, "teaarm": 120, "baxter": 119, "g1": 200}
"""Robot -> spheres."""
SEGMENTS = ("panda", "teaarm", "baxter")
ROWS = 4_000
NEAR = 0.1
"""Standard deviation near the default pose, rad (and m for slides, a tenth of it)."""
STEP = 0.001
"""Metres between two configurations that Coal is asked about, along the path of the point that moves most."""


def load(name: str) -> er.CollisionModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = er.load_robot(name)
    spheres = er.fit_spheres(robot, er.FitOptions(n_spheres=ROBOTS[name]))
    return er.CollisionModel(robot, spheres, threads=1)


def close_by(model: er.CollisionModel, count: int) -> np.ndarray:
    """Configurations near the default pose, as a controller sees them."""
    noise = NEAR * np.random.default_rng(3).normal(size=(count, model.robot.dof))
    return np.clip(model.default_cfg + noise, model.robot.lower, model.robot.upper)


@dataclass(frozen=True)
class Speed:
    """Microseconds a configuration, of one kind of configurations."""

    label: str
    both: float
    """The verdict: spheres, then meshes."""
    one: float
    """The same, asked one at a time."""
    spheres: float
    alone: float
    """Meshes without spheres."""
    peer: float | None
    """Pinocchio and Coal, where they read the description."""
    free: float
    differ: int
    """Verdicts that are not those of the meshes alone."""


def speeds(model: er.CollisionModel) -> Iterator[Speed]:
    robot = model.robot
    exact = er.ExactCollision(robot, model.pairs, threads=1)
    checker = er.SelfCollisionChecker(robot, model.spheres, model.pairs.by_spheres, threads=1)
    oracle = oracle_of(robot)
    for label, cfgs in (("random", robot.random_cfgs(ROWS, seed=1)), ("near default", close_by(model, ROWS))):
        both, alone, spheres = (
            1e6 * cpu_seconds(lambda f=f, c=cfgs: f.free(c)) / ROWS for f in (model, exact, checker)
        )
        one = 1e6 * cpu_seconds(lambda c=cfgs[:500]: [model.free(row) for row in c]) / 500
        differ, theirs = int((model.free(cfgs) != exact.free(cfgs)).sum()), None
        if isinstance(oracle, PinocchioCoal):
            peer = oracle.peer(model.pairs.checked)
            q = peer.q(cfgs[:300])
            theirs = 1e6 * cpu_seconds(lambda q=q, p=peer: [p.collides(row) for row in q], 3) / len(q)
        yield Speed(label, both, one, spheres, alone, theirs, float(model.free(cfgs).mean()), differ)


def tell(name: str) -> None:
    """Prints the speeds of a robot."""
    model = load(name)
    print(f"{name}: {len(model.spheres)} spheres, {len(model.by_spheres)} + {len(model.by_meshes)} pairs")
    for found in speeds(model):
        text = (
            f"  {found.label:12} verdict {found.both:6.2f} us ({found.one:5.1f} us one at a time), spheres alone "
            f"{1000 * found.spheres:5.0f} ns, meshes alone {found.alone:6.2f} us = {found.alone / found.both:4.1f}x"
        )
        if found.peer is not None:
            text += f", Pinocchio + Coal {found.peer:6.1f} us = {found.peer / found.both:5.1f}x"
        print(f"{text}; free {found.free:.0%}; equal to the meshes: {not found.differ}", flush=True)


QUICK = ("panda", "teaarm", "baxter")


def rows() -> Iterator[Row]:
    """Of the table: the verdict beside Pinocchio with Coal, and beside our own meshes alone."""
    coal = "Pinocchio + Coal"
    for name in QUICK:
        for found in speeds(load(name)):
            case = f"{name}, {found.label}"
            if found.peer is not None:
                peer = ("us", found.peer, coal, version(coal))
                yield Row("collision", case, "verdict of the robot alone, batch, CPU time", found.both, *peer)
                yield Row(
                    "collision", case, "verdict of the robot alone, one at a time, CPU time", found.one, *peer
                )
            yield Row(
                "collision", case, f"verdicts of {ROWS} that differ from meshes alone", found.differ, ""
            )
            peer = ("us", found.alone, "our meshes without spheres", "")
            yield Row("collision", case, "verdict with spheres before meshes, CPU time", found.both, *peer)


def segments(name: str, count: int) -> None:
    """Random edges between free configurations, refuted by Coal at small steps where they are not free."""
    model = load(name)
    # Ten thousand steps an edge: Coal judges, moved by our own kinematics, which Pinocchio judges elsewhere.
    robot, oracle = model.robot, ShapeCoal(model.robot)
    cfgs = robot.random_cfgs(20 * count, seed=7)
    ends = cfgs[model.free(cfgs)][: 2 * count]
    ends = np.concatenate([ends, ends])[: 2 * count].reshape(-1, 2, robot.dof)
    free, wrong, proved, undecided = 0, 0, 0, 0
    seconds: list[float] = []
    for begin, end in ends:
        start = time.process_time()
        proof = model.segment_free(begin, end)
        seconds.append(time.process_time() - start)
        undecided += not proof.free and proof.blocked_at is None
        if proof.blocked_at is not None:  # blocked: checked at the place it names
            assert not oracle.free((begin + proof.blocked_at * (end - begin))[None], model.pairs.checked)[
                0
            ] or (not model.free(begin + proof.blocked_at * (end - begin)))
            continue
        steps = int(np.ceil(longest_way(oracle, begin, end) / STEP)) + 1
        path = begin + np.linspace(0.0, 1.0, steps)[:, None] * (end - begin)
        true = free_at_steps(oracle, path, model.pairs.checked)
        free += true
        proved += proof.free and true
        wrong += proof.free and not true
    found = np.array(seconds)
    print(
        f"{name}: {len(ends)} random edges: {proved} proved free, {wrong} of them refuted at {1000 * STEP:g} mm steps, "
        f"{free} free by steps ({100 * proved / max(1, free):.1f} % proved), {undecided} undecided; median "
        f"{1e3 * np.median(found):.2f} ms, 95 % {1e3 * np.quantile(found, 0.95):.2f} ms, "
        f"mean {1e3 * found.mean():.2f} ms",
        flush=True,
    )


def free_at_steps(oracle: ShapeCoal, path: np.ndarray, pairs: tuple[tuple[str, str], ...]) -> bool:
    """Whether Coal finds every step of a path free, skipping only steps that its own distances rule out.

    Between two steps no point moves much farther than STEP, so a pair at distance d cannot touch in the next
    d / 2 STEP of them.
    """
    Ts = oracle.shape_poses(path)
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    for i, j in oracle.shape_pairs(pairs):
        measure = coal.ComputeDistance(oracle.shapes[i], oracle.shapes[j])
        step = 0
        while step < len(path):
            result.clear()
            gap = measure(coal_pose(Ts[step, i]), coal_pose(Ts[step, j]), request, result)
            if gap <= 0.0:
                return False
            step += max(1, int(gap / (2.0 * STEP)))
    return True


def longest_way(oracle: ShapeCoal, begin: np.ndarray, end: np.ndarray) -> float:
    """Length of the longest way that a corner of a shape's box goes on the segment, metres."""
    coarse = begin + np.linspace(0.0, 1.0, 256)[:, None] * (end - begin)
    Ts = oracle.shape_poses(coarse)
    low = np.array([shape.aabb_local.min_ for shape in oracle.shapes])
    high = np.array([shape.aabb_local.max_ for shape in oracle.shapes])
    corners = np.array([np.where(pick, high, low) for pick in np.ndindex(2, 2, 2)])  # (8, shapes, 3)
    at = np.einsum("tsij,csj->tcsi", Ts[..., :3, :3], corners) + Ts[:, None, :, :3, 3]
    return float(np.linalg.norm(np.diff(at, axis=0), axis=-1).sum(axis=0).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robots", nargs="*", default=tuple(ROBOTS))
    parser.add_argument("--edges", type=int, default=2_000)
    options = parser.parse_args()
    for name in options.robots:
        tell(name)
    for name in options.robots:
        if name in SEGMENTS and options.edges:
            segments(name, options.edges)


if __name__ == "__main__":
    main()
