"""A box driven at 0.5 m/s through the workspace of a robot whose guard makes way; judged by Pinocchio and Coal.

Each run: a free start, told to stay; a box of 6 to 25 cm on a straight line whose swept volume meets a link that can
move and none that cannot. Coal judges box and links all along, to a millimetre of relative motion. A contact is caused
by the robot's own motion if there would be none at that moment had the robot stood still since the tick began. Where
the box reaches the robot, a way out is looked for in hindsight: straight joint motions within the same limits, begun
when the box starts, to configurations near the start and clear of all that the box sweeps, judged by Coal alike. One
that is found shows that the robot could have made way; none found proves nothing. Steps have time enough (a second):
what is counted does not depend on the load of the machine.

    python -m benchmarks.moving [ROBOT ...] [--runs N] [--seconds S] [--seed K]
"""

from __future__ import annotations

import argparse
import os
import time
import warnings

import numpy as np

import elbowroom as er
from elbowroom.world import Box, World
from tests.crossing import SPARE, _ways
from tests.ik.motions import box as limits_of
from tests.ik.motions import free_between, free_starts
from tests.oracles import coal, coal_pose, oracle_of

DT, SPEED, ACCELERATION = 0.005, 2.0, 15.0
BOX_SPEED, HALF_WAY = 0.5, 0.8
"""m/s; metres before and behind the point that the box is driven at."""
FINE = 1e-3
"""Metres of relative motion between two looks of the judge."""
ESCAPES = 400
"""Configurations drawn as ends of a way out."""


class Drive:
    """A box (3,) in metres on its way: turned by R, centre at `start + t * velocity`."""

    def __init__(self, rng: np.random.Generator, through: np.ndarray) -> None:
        self.size = rng.uniform(0.06, 0.25, 3)
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        self.T = np.eye(4)
        self.T[:3, :3] = turn * np.sign(np.linalg.det(turn))
        along = self.T[:3, 0]
        self.velocity, self.T[:3, 3] = BOX_SPEED * along, through - HALF_WAY * along
        self.ticks = int(2.0 * HALF_WAY / BOX_SPEED / DT)

    def pose(self, t: float) -> np.ndarray:
        T = self.T.copy()
        T[:3, 3] += t * self.velocity
        return T

    def world(self, t: float) -> World:
        return World([Box(tuple(self.size), pose=self.pose(t), name="box")])

    def swept(self) -> World:
        T = self.pose(HALF_WAY / BOX_SPEED)
        return World(
            [Box((float(self.size[0]) + 2.0 * HALF_WAY, *map(float, self.size[1:])), pose=T, name="box")]
        )


class Bench:
    """One robot, its guard and its judge."""

    def __init__(self, name: str, seed: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model = er.CollisionModel(er.load_robot(name), threads=1)
        self.robot, self.rng = self.model.robot, np.random.default_rng(seed)
        self.judge = oracle_of(self.robot)
        poses = self.judge.shape_poses(self.robot.random_cfgs(8, seed=1))
        self.fixed = np.ptp(poses, axis=0).max(axis=(1, 2)) < 1e-9

    def draw(self) -> tuple[np.ndarray, Drive]:
        """A start and a drive that sweeps through it."""
        while True:
            (cfg,) = free_starts(self.model, self.rng, 1)
            poses = self.judge.shape_poses(cfg)[0]
            aim = self.rng.choice(np.flatnonzero(~self.fixed))
            through = (poses[aim] @ np.append(self.judge._centers[aim], 1.0))[:3]
            drive = Drive(self.rng, through + self.rng.normal(size=3) * 0.03)
            swept = drive.swept()["box"]
            hits = self._hits(poses, swept.size, swept.pose)
            if not hits[~self.fixed].any() or hits[self.fixed].any():
                continue
            if not self._hits(poses, drive.size, drive.pose(0.0)).any():
                return cfg, drive

    def _hits(self, poses: np.ndarray, size: np.ndarray, T: np.ndarray) -> np.ndarray:
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        shape, placed, out = coal.Box(*map(float, size)), coal_pose(T), np.zeros(len(poses), dtype=bool)
        for k, mine in enumerate(self.judge.shapes):
            result.clear()
            out[k] = coal.collide(mine, coal_pose(poses[k]), shape, placed, request, result) > 0
        return out

    def contact(self, path: np.ndarray, drive: Drive) -> tuple[int, bool] | None:
        """The tick in which box and robot first touch, and whether the robot's own motion caused it."""
        shape = coal.Box(*map(float, drive.size))
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        Ts, moving = self.judge.shape_poses(path), np.flatnonzero(~self.fixed)
        far = SPARE * _ways(self.judge, Ts) + BOX_SPEED * DT
        wait = np.zeros(len(self.judge.shapes))
        for k in range(len(path) - 1):
            for s in moving:
                wait[s] -= far[k - 1, s] if k else 0.0
                if wait[s] > far[k, s]:
                    continue
                result.clear()
                box_at = coal_pose(drive.pose(k * DT))
                wait[s] = coal.distance(
                    self.judge.shapes[s], coal_pose(Ts[k, s]), shape, box_at, request, result
                )
                if wait[s] > far[k, s]:
                    continue
                parts = int(np.ceil(far[k, s] / FINE))
                for share in np.arange(1, parts + 1) / parts:
                    poses = self.judge.shape_poses(path[k] + share * (path[k + 1] - path[k]))[0]
                    T = drive.pose((k + share) * DT)
                    if self._hits(poses, drive.size, T).any():
                        return k, not self._hits(Ts[k], drive.size, T).any()
        return None

    def guarded(self, cfg: np.ndarray, drive: Drive, seconds: list[float]) -> np.ndarray:
        """Where the robot goes, told to stay at the start."""
        guard = er.Guard(self.model, velocity_limits=SPEED, acceleration_limits=ACCELERATION, budget=1.0)
        path, velocity = [cfg], {"box": drive.velocity}
        for k in range(drive.ticks):
            guard = guard.with_model(self.model.with_world(drive.world(k * DT)))
            begun = time.thread_time()
            path.append(guard.step(path[-1], cfg, DT, world_velocity=velocity).cfg)
            seconds.append(time.thread_time() - begun)
        return np.array(path)

    def way_out(self, cfg: np.ndarray, drive: Drive) -> bool:
        """Whether one of the straight motions tried gets out of the way."""
        low, high = limits_of(self.robot)
        rng = np.random.default_rng(0)
        spread = rng.choice([0.2, 0.5, 1.0, 2.0], (ESCAPES, 1))
        ends = np.clip(cfg + rng.normal(size=(ESCAPES, len(cfg))) * spread, low, high)
        ends = ends[self.model.with_world(drive.swept()).free(ends)]
        for end in ends[np.argsort(np.abs(ends - cfg).max(axis=1))]:
            if not self.model.segment_free(cfg, end).free:
                continue
            path = _from_rest_to_rest(cfg, end, drive.ticks)
            if self.contact(path, drive) is None and free_between(self.model, self.judge, path):
                return True
        return False


def _from_rest_to_rest(start: np.ndarray, end: np.ndarray, ticks: int) -> np.ndarray:
    """Straight, speed a trapezium within the limits, then at rest: (ticks + 1, dof)."""
    far = float(np.abs(end - start).max())
    top = min(SPEED, np.sqrt(ACCELERATION * far))
    ramp, whole = top / ACCELERATION, far / top + top / ACCELERATION
    t = np.minimum(DT * np.arange(ticks + 1), whole)
    late = np.maximum(t - (whole - ramp), 0.0)
    gone = 0.5 * ACCELERATION * np.minimum(t, ramp) ** 2 + top * np.maximum(t - ramp, 0.0)
    gone -= 0.5 * ACCELERATION * late**2
    return start + np.clip(gone / far, 0.0, 1.0)[:, None] * (end - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robots", nargs="*", default=("panda", "teaarm"))
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument(
        "--seconds", type=float, default=np.inf, help="for each robot; begins no run after that"
    )
    parser.add_argument("--seed", type=int, default=0, help="other runs")
    args = parser.parse_args()
    for name in args.robots:
        bench, begun, seconds = Bench(name, args.seed), time.perf_counter(), list[float]()
        runs = own = reached = could = 0
        while runs < args.runs and time.perf_counter() - begun < args.seconds:
            cfg, drive = bench.draw()
            hit = bench.contact(bench.guarded(cfg, drive, seconds), drive)
            runs += 1
            if hit is not None:
                reached, own = reached + 1, own + hit[1]
                way = bench.way_out(cfg, drive)
                could += way
                print(
                    f"    run {runs}: contact in tick {hit[0]}, own motion: {hit[1]}, way out found: {way}",
                    flush=True,
                )
        us = 1e6 * np.percentile(seconds, [50, 99])
        print(
            f"{name}: {runs} runs; contact caused by the robot's own motion in {own}; reached by the box in {reached}, "
            f"in {could} of them a way out was found; step {us[0]:.0f} us median, {us[1]:.0f} at 99 % (processor); "
            f"load {os.getloadavg()[0]:.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
