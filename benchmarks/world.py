"""The robot among obstacles, timed: spheres and meshes against tens and hundreds of obstacles and against clouds.

Panda with 60 spheres, one thread, times per configuration, the smallest of several runs; "random" configurations are
drawn within the limits, "close" ones are small steps away from free ones, as a planner asks. Our times are those of
the whole verdict by `CollisionModel.free`: kinematics, pairs of links and the world. Beside it, Coal's broad phase
(DynamicAABBTreeCollisionManager) on the same spheres: a manager of the robot's spheres, already placed, against one of
the obstacles, ending at the first hit; only its `update` and `collide` are timed, not kinematics and pairs of links.

Published figures of VAMP, which decides by spheres, on another machine, for scale: RRT-Connect plans for the Panda in
35 us (median, one core of a desktop; https://github.com/KavrakiLab/vamp, arXiv 2309.14545); a sphere against a cloud of
thousands of points (CAPT) in less than 10 ns (arXiv 2406.02807); one configuration of two Pandas in VAMP-MR in 8.6 us,
beside 101 us of FCL (https://vamp-mr.github.io/vamp-mr, table 1).

    python -m benchmarks.world [--clouds N ...] [--clouds-alone] [--plot FILE]
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import elbowroom as er
from benchmarks._machine import version
from benchmarks._table import Row
from benchmarks._timing import cpu_seconds
from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.world import Box, HalfSpace, PointCloud, World, scene_for
from tests.clouds import CloudJudge, cloud_of
from tests.oracles import coal, coal_pose
from tests.world_oracles import coal_obstacle

SPHERES = 60
ROWS = 4_000
CLOSE = 0.05
"""Standard deviation of the steps away from free configurations, rad."""
CLOUDS = (1_000, 10_000, 100_000, 1_000_000)
RADIUS = 0.01
"""Of a cloud's balls, metres."""
JUDGED = 60
"""Configurations that brute force looks at in every cloud; a third of them among a million points."""


def panda() -> er.CollisionModel:
    robot = er.load_robot("panda")
    return er.CollisionModel(robot, er.fit_spheres(robot, er.FitOptions(n_spheres=SPHERES)), threads=1)


def boxes(count: int, seed: int = 0) -> World:
    """Tumbled boxes around the panda, smaller the more they are, none of them at its base or its default pose."""
    rng = np.random.default_rng(seed)
    found: list[Box] = []
    scale = 0.45 * count ** (-1 / 3)
    while len(found) < count:
        at = np.array([0.0, 0.0, 0.4]) + rng.uniform(-1.0, 1.0, 3) * (1.0, 1.0, 0.8)
        size = scale * rng.uniform(0.3, 1.2, 3)
        pose = matrix_from_wxyz_xyz(np.concatenate([rng.normal(size=4), at]))
        if np.hypot(*at[:2]) - 0.5 * np.linalg.norm(size) > 0.3:
            found.append(Box(tuple(size), pose=pose, name=f"box_{len(found) + 1}"))
    return World(found)


def worlds(robot: er.Robot) -> dict[str, World]:
    """By what is in them."""
    mixed = scene_for(robot, "clutter", 0)
    return {
        "10 obstacles of all kinds": World(mixed.obstacles[:9]).add(HalfSpace(offset=-0.1, name="floor")),
        "10 boxes": boxes(10),
        "100 boxes": boxes(100),
        "400 boxes": boxes(400),
        "37 obstacles, half of them meshes": mixed,
    }


def questions(model: er.CollisionModel) -> dict[str, np.ndarray]:
    """Configurations by name."""
    robot = model.robot
    random = robot.random_cfgs(ROWS, seed=1)
    free = random[model.free(random)]
    noise = CLOSE * np.random.default_rng(2).normal(size=(ROWS, robot.dof))
    close = np.clip(free[np.arange(ROWS) % len(free)] + noise, robot.lower, robot.upper)
    return {"random": random, "close": close}


def per_row(model: er.CollisionModel, cfgs: np.ndarray, by: str) -> float:
    """Microseconds a configuration."""
    return 1e6 * cpu_seconds(lambda: model.free(cfgs, by=by)) / len(cfgs)


class CoalSpheres:
    """Spheres of the robot and the obstacles in Coal's broad phase."""

    def __init__(self, model: er.CollisionModel, world: World) -> None:
        self.robot, self.spheres = model.robot, model.spheres
        self.obstacles = [coal.CollisionObject(coal_obstacle(o), coal_pose(o.pose)) for o in world]
        self.balls = [
            coal.CollisionObject(coal.Sphere(float(r))) for r in model.spheres.padded_radii("world")
        ]
        self.world, self.body = (coal.DynamicAABBTreeCollisionManager() for _ in range(2))
        for manager, objects in ((self.world, self.obstacles), (self.body, self.balls)):
            for item in objects:
                manager.registerObject(item)
            manager.setup()
        self.callback = coal.CollisionCallBackDefault()

    def ask(self, cfgs: np.ndarray) -> tuple[float, np.ndarray]:
        """Microseconds a configuration, and which are free."""
        T = matrix_from_wxyz_xyz(self.robot.link_poses(cfgs))[:, self.spheres.link_idx]
        centers = np.einsum("nsij,sj->nsi", T[..., :3, :3], self.spheres.centers) + T[..., :3, 3]
        seconds, free = 0.0, np.ones(len(cfgs), dtype=bool)
        for row, places in enumerate(centers):
            for ball, place in zip(self.balls, places, strict=True):
                ball.setTranslation(place)
                ball.computeAABB()
            self.callback.init()
            start = time.process_time_ns()
            self.body.update()
            self.world.collide(self.body, self.callback)
            seconds += 1e-9 * (time.process_time_ns() - start)
            free[row] = not self.callback.data.result.isCollision()
        return 1e6 * seconds / len(cfgs), free


@dataclass(frozen=True)
class Among:
    """Microseconds a configuration, in one world."""

    name: str
    label: str
    free: float
    alone: float
    """Without the world, by spheres."""
    spheres: float
    meshes: float
    coal: float
    """The tree of Coal on the same spheres."""
    build: float
    """Seconds to make the model and answer once."""
    moved: float
    """Seconds to move an obstacle and ask."""


def among(bare: er.CollisionModel) -> Iterator[Among]:
    """Times in all worlds."""
    for name, world in worlds(bare.robot).items():
        fresh = World(world.obstacles)
        start = time.process_time()
        model = bare.with_world(fresh)
        model.free(bare.robot.default_cfg)
        build = time.process_time() - start
        first = fresh.obstacles[0]
        turned = first.pose.copy()
        turned[:3, 3] += 0.01

        def move(model: er.CollisionModel = model, world: World = fresh, obstacle=first, pose=turned) -> None:
            model.with_world(world.move(obstacle.name, pose)).free(model.robot.default_cfg)

        moved = cpu_seconds(move, 3)
        peer = CoalSpheres(bare, fresh)
        for label, cfgs in questions(model).items():
            alone, spheres, meshes = (
                per_row(bare, cfgs, "spheres"), per_row(model, cfgs, "spheres"), per_row(model, cfgs, "meshes"),
            )  # fmt: skip
            coals, theirs = peer.ask(cfgs[:1000])
            ours = model.free(cfgs[:1000], by="spheres")
            assert not (ours & ~theirs).any()  # what spheres accept, Coal's spheres accept
            share = float(model.free(cfgs).mean())
            yield Among(name, label, share, alone, spheres, meshes, coals, build, moved)


def obstacles(bare: er.CollisionModel) -> None:
    """Prints them."""
    print(f"panda, {len(bare.spheres)} spheres; load of the machine {os.getloadavg()[0]:.1f}\n")
    head = (
        "world", "configurations", "free", "robot alone", "by spheres", "by meshes", "Coal's tree, same spheres",
        "Coal / by spheres", "build and first answer", "move one and ask",
    )  # fmt: skip
    print("| " + " | ".join(head) + " |\n" + "|" + "---|" * len(head))
    for found in among(bare):
        cells = (
            found.name, found.label, f"{found.free:.0%}", f"{found.alone:.2f} us", f"{found.spheres:.2f} us",
            f"{found.meshes:.2f} us", f"{found.coal:.1f} us", f"{found.coal / found.spheres:.0f}x",
            f"{1e3 * found.build:.0f} ms", f"{1e3 * found.moved:.1f} ms",
        )  # fmt: skip
        print("| " + " | ".join(cells) + " |", flush=True)


def ready() -> er.CollisionModel:
    """The robot, and everything compiled."""
    bare = panda()
    scene = scene_for(bare.robot, "workshop")
    for world in (scene, World([PointCloud(cloud_of(scene, 10_000), RADIUS)])):
        bare.with_world(world).free(bare.robot.random_cfgs(50))
    return bare


def rows() -> Iterator[Row]:
    """Of the table: the whole verdict by spheres beside Coal's broad phase on them, and by meshes."""
    note = "Ours is the whole verdict with kinematics and pairs of links; of Coal's tree only update and collide count"
    for found in among(ready()):
        case = f"{found.name}, {found.label}"
        peer = ("us", found.coal, "Coal's tree, same spheres", version("Coal"))
        yield Row("world", case, 'free(by="spheres"), CPU time', found.spheres, *peer, note=note)
        yield Row("world", case, "free, meshes decide, CPU time", found.meshes, "us")


def clouds(bare: er.CollisionModel, counts: tuple[int, ...]) -> list[tuple[int, float, float]]:
    """Times against clouds of a table with things on it: (points, by spheres, by meshes)."""
    scene = scene_for(bare.robot, "table", 0)
    head = (
        "points",
        "build",
        "first answer",
        "free",
        "by spheres",
        "by meshes",
        "wrongly free by brute force",
    )
    print("\n| " + " | ".join(head) + " |\n" + "|" + "---|" * len(head))
    found: list[tuple[int, float, float]] = []
    for count in counts:
        points = cloud_of(scene, count)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = time.process_time()
            cloud = PointCloud(points, RADIUS, name="cloud")
            build = time.process_time() - start
        start = time.process_time()
        model = bare.with_world(World([cloud]))
        model.free(bare.robot.default_cfg)
        first = time.process_time() - start
        random = questions(model)["random"]
        spheres, meshes = (per_row(model, random, by) for by in ("spheres", "meshes"))
        judge = CloudJudge(bare.robot, cloud.points, RADIUS)
        free = random[model.free(random)][: JUDGED if count < 1_000_000 else JUDGED // 3]
        wrong = sum(judge.clearance(cfg) <= 0.0 for cfg in free)
        cells = (
            f"{count:,}", f"{build:.2f} s", f"{first:.2f} s", f"{model.free(random).mean():.0%}", f"{spheres:.2f} us",
            f"{meshes:.2f} us", f"{wrong} of {len(free)}",
        )  # fmt: skip
        print("| " + " | ".join(cells) + " |", flush=True)
        found.append((count, spheres, meshes))
    return found


def plot(rows: list[tuple[int, float, float]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    count, spheres, meshes = map(np.array, zip(*rows, strict=True))
    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    axes.plot(count, meshes, "o-", color="#b2592b", label="free(cfgs): meshes decide")
    axes.plot(count, spheres, "o-", color="#2b6cb2", label='free(cfgs, by="spheres")')
    axes.set(xscale="log", xlabel="points in the cloud", ylabel="µs per configuration", ylim=(0.0, None))
    axes.set_title("Panda, 60 spheres, among the balls of a point cloud; one thread", fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clouds", type=int, nargs="*", default=CLOUDS, help="sizes of clouds")
    parser.add_argument("--clouds-alone", action="store_true", help="no primitives")
    parser.add_argument("--plot", type=Path, help="picture of time against points, PNG")
    options = parser.parse_args()
    bare = ready()
    if not options.clouds_alone:
        obstacles(bare)
    timings = clouds(bare, tuple(options.clouds))
    if options.plot and timings:
        plot(timings, options.plot)


if __name__ == "__main__":
    main()
