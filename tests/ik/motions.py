"""Motions that try a guard: aimless ones, ones that steer into contact, and harmless ones; and their judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

import elbowroom as er
from elbowroom.ik.internal import CollisionRows
from tests.crossing import SPARE, _ways
from tests.oracles import CoalOracle, LinkPair, coal, coal_mesh, coal_pose

Steer = Callable[[np.ndarray], np.ndarray]
"""From where the robot is to where it is wanted after the next step."""


def box(robot: er.Robot) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper limits, a turn either way where there are none."""
    low = np.where(np.isfinite(robot.lower), robot.lower, -np.pi)
    return low, np.where(np.isfinite(robot.upper), robot.upper, np.pi)


# Motions --------------------------------------------------------------------------------------


def random_walk(robot: er.Robot, rng: np.random.Generator, dt: float, speed: float) -> Steer:
    """Wanders: rates that change a little every step."""
    low, high = box(robot)
    rate = np.zeros(robot.dof)

    def steer(cfg: np.ndarray) -> np.ndarray:
        nonlocal rate
        rate = 0.95 * rate + 0.1 * speed * rng.normal(size=robot.dof)
        return np.clip(cfg + rate * dt, low, high)

    return steer


def into_colliding(
    model: er.CollisionModel, rng: np.random.Generator, dt: float, speed: float, patience: int = 20
) -> Steer:
    """Makes straight for the nearest colliding configuration that it finds; after `patience` steps without headway, for another."""
    low, high = box(model.robot)
    goal, left, best = np.zeros(model.robot.dof), 0, np.inf

    def steer(cfg: np.ndarray) -> np.ndarray:
        nonlocal goal, left, best
        if left == 0:
            goal, left, best = (
                _nearest_colliding(model, cfg, rng.uniform(low, high, (128, len(low)))),
                patience,
                np.inf,
            )
        way = goal - cfg
        off = float(np.abs(way).max())
        left, best = (patience, off) if off < best - 0.1 * speed * dt else (left - 1, best)
        return cfg + way * min(1.0, speed * dt / max(off, 1e-12))

    return steer


def _nearest_colliding(model: er.CollisionModel, cfg: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """A colliding configuration (dof,) on the ways from `cfg` to the drawn ones, near where it begins to collide."""
    shares = np.linspace(0.04, 1.0, 12)
    ways = cfg + shares[:, None, None] * (drawn - cfg)
    hits = ~model.free(ways.reshape(-1, len(cfg))).reshape(ways.shape[:2])
    if not hits.any():
        return drawn[0]
    far = np.where(hits, np.abs(ways - cfg).max(axis=2), np.inf)
    share, way = np.unravel_index(far.argmin(), far.shape)
    return ways[share, way]


def down_the_gradient(
    model: er.CollisionModel,
    rng: np.random.Generator,
    dt: float,
    speed: float,
    rows: CollisionRows | None = None,
) -> Steer:
    """Takes the shortest way into what is closest, with some noise so that it also slides along it."""
    rows = rows or CollisionRows(model)

    def steer(cfg: np.ndarray) -> np.ndarray:
        near = rows.at(cfg, 0.1)
        if not len(near.distance):
            near = rows.at(cfg, 0.5)
        way = rng.normal(size=len(cfg))
        way *= 0.3 / np.linalg.norm(way)
        if len(near.distance):
            steep = np.linalg.norm(near.A, axis=1) + 1e-9
            row = int((near.distance / steep).argmin())  # the closest in joint space
            way -= near.A[row] / steep[row]
        return cfg + way * speed * dt / np.abs(way).max()

    return steer


def harmless_motions(
    model: er.CollisionModel,
    judge: CoalOracle,
    rng: np.random.Generator,
    count: int,
    steps: int,
    dt: float,
    speed: float,
) -> list[np.ndarray]:
    """Recordings (steps + 1, dof) within speed and limits that the judge alone finds free, between the steps too."""
    low, high = box(model.robot)
    pairs, found = model.pairs.checked, list[np.ndarray]()
    while len(found) < count:
        rates = np.cumsum(rng.normal(size=(steps, model.robot.dof)), axis=0)
        path = _fitted(np.tanh(rates / np.sqrt(steps)) * speed * dt, low, high, rng)
        if judge.free(path[::20], pairs).all() and free_between(model, judge, path):
            found.append(path)
    return found


def gentle_motions(
    model: er.CollisionModel,
    judge: CoalOracle,
    rng: np.random.Generator,
    count: int,
    steps: int,
    dt: float,
    speed: float,
    margin: float,
) -> list[np.ndarray]:
    """The same from rest to rest, joints swaying: accelerations below 8 times the speed; `margin` rad or m off the limits.

    A joint narrower than three margins stays in the middle third.
    """
    low, high = box(model.robot)
    margins = np.minimum(margin, (high - low) / 3.0)
    low, high = low + margins, high - margins
    pairs, found, times = model.pairs.checked, list[np.ndarray](), dt * np.arange(steps)
    ramp = np.clip(np.minimum(times, times[::-1]) / 0.3, 0.0, 1.0)[:, None]
    while len(found) < count:
        often, phase = rng.uniform(0.1, 0.7, len(low)), rng.uniform(0.0, 2.0 * np.pi, len(low))
        rates = speed * ramp * np.sin(2.0 * np.pi * often * times[:, None] + phase)
        path = _fitted(rates * dt, low, high, rng)
        if judge.free(path[::20], pairs).all() and free_between(model, judge, path):
            found.append(path)
    return found


def _fitted(moves: np.ndarray, low: np.ndarray, high: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A path (n + 1, dof) of moves (n, dof) somewhere within limits, each joint's scaled down where it has no room."""
    path = np.concatenate([np.zeros((1, len(low))), np.cumsum(moves, axis=0)])
    path *= np.minimum(1.0, 0.95 * (high - low) / np.maximum(np.ptp(path, axis=0), 1e-12))
    return np.clip(path + rng.uniform(low - path.min(axis=0), high - path.max(axis=0)), low, high)


def free_starts(model: er.CollisionModel, rng: np.random.Generator, count: int) -> np.ndarray:
    """Free configurations."""
    low, high = box(model.robot)
    found = np.zeros((0, model.robot.dof))
    while len(found) < count:
        cfgs = rng.uniform(low, high, (4 * count, model.robot.dof))
        found = np.concatenate([found, cfgs[model.free(cfgs)]])
    return found[:count]


def starts_near(model: er.CollisionModel, rng: np.random.Generator, count: int) -> np.ndarray:
    """Free configurations within 0.5 rad (m) of a colliding one: on the way there, at random."""
    found = list[np.ndarray]()
    low, high = box(model.robot)
    for start in free_starts(model, rng, count):
        goal = _nearest_colliding(model, start, rng.uniform(low, high, (64, len(low))))
        back = rng.uniform(0.0, 0.5) / max(float(np.abs(goal - start).max()), 1e-12)
        near = goal + min(1.0, back) * (start - goal)
        found.append(near if model.free(near[None])[0] else start)
    return np.array(found)


def guarded(
    guard: er.Guard, steer: Steer, start: np.ndarray, steps: int, dt: float
) -> tuple[np.ndarray, list]:
    """Where a robot goes whose steps pass a guard, (steps + 1, dof), and the steps."""
    path, made = [start], []
    for _ in range(steps):
        made.append(guard.step(path[-1], steer(path[-1]), dt))
        path.append(made[-1].cfg)
    return np.array(path), made


# The judge ------------------------------------------------------------------------------------

FINE = 1e-3
"""Metres that points of two shapes that may touch move against each other, at most, between two looks at them."""


@dataclass
class Touches:
    """What Coal finds on a path of n configurations."""

    collide: np.ndarray
    """(n - 1,) steps on which Coal's `collide` says that two links touch."""
    overlap: np.ndarray
    """(n - 1,) those of them where Coal's distance of the two links' meshes is zero as well: below a micrometre `collide`
    may say that things touch that do not."""
    looks: int = 0
    """Questions that Coal was asked."""
    where: list[tuple[int, LinkPair, float]] = field(default_factory=list)
    """Steps, links and mesh distances of what `collide` found."""


def touches(
    judge: CoalOracle,
    pairs: Sequence[LinkPair],
    path: np.ndarray,
    robot: er.Robot,
    *,
    fine: float = FINE,
    first: bool = False,
) -> Touches:
    """Asks Coal about a path (n, dof), all of it: no step is left out on anybody else's word.

    Two shapes whose points move less than `way` metres on a step do not touch on it if they are farther apart than half
    of that in the middle of it (steps are short: ways are measured straight, and a twentieth is added). Bounding
    spheres decide that, then Coal's `collide` with that margin; where neither does, the halves of the step are asked,
    down to a `way` of `fine`, where Coal is asked whether they touch; and so it is where the step ends. `first` ends the
    search where the first two meshes overlap.
    """
    middles = 0.5 * (path[1:] + path[:-1])
    ways = SPARE * _ways(judge, judge.shape_poses(path))
    Ts = judge.shape_poses(middles)
    found = Touches(np.zeros(len(middles), dtype=bool), np.zeros(len(middles), dtype=bool))
    shapes = judge.shape_pairs(pairs)
    i, j = np.array(shapes).T
    centers = np.einsum("nsij,sj->nsi", Ts[..., :3, :3], judge._centers) + Ts[..., :3, 3]
    apart = np.linalg.norm(centers[:, i] - centers[:, j], axis=-1) - judge._radii[i] - judge._radii[j]
    both = ways[:, i] + ways[:, j]
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    placed = dict[tuple[int, float], np.ndarray]()
    for step, k in np.argwhere(apart <= 0.5 * both):
        if first and found.overlap.any():
            break
        a, b = shapes[k]
        functor = judge._functor(judge._collide, coal.ComputeCollision, a, b)
        whole = float(both[step, k])
        todo = [(1.0, 0.0), (0.5, whole)]
        while todo:
            t, way = todo.pop()
            small = way <= fine
            cfg = path[step] + t * (path[step + 1] - path[step])
            poses = Ts[step] if t == 0.5 else placed.get((step, t))
            if poses is None:
                poses = placed[step, t] = judge.shape_poses(cfg)[0]
            request.security_margin = 0.0 if small else 0.5 * way
            result.clear()
            found.looks += 1
            if not functor(coal_pose(poses[a]), coal_pose(poses[b]), request, result):
                if way == whole and not small:
                    break
                continue
            if small:
                links = judge.shape_links[a], judge.shape_links[b]
                gap = mesh_distance(robot, judge, links, cfg)
                found.collide[step] = True
                found.overlap[step] |= gap <= 0.0
                found.where.append((int(step), links, gap))
                break
            part = 0.25 * way / whole
            todo += [(t - part, 0.5 * way), (t + part, 0.5 * way)]
    return found


def mesh_distance(robot: er.Robot, judge: CoalOracle, links: LinkPair, cfg: np.ndarray) -> float:
    """Coal's distance of the meshes of two links, metres, zero or below where they touch; placed by the judge."""
    poses, meshes = judge.shape_poses(cfg)[0], list[object]()
    placed = list[object]()
    for link in links:
        k = judge.shape_links.index(link)
        placed.append(coal_pose(poses[k] @ np.linalg.inv(robot.shapes[link][0].T_link_shape)))
        mesh = robot.link_mesh(link)
        meshes.append(coal_mesh(mesh.vertices, mesh.faces))
    return float(
        coal.distance(
            meshes[0], placed[0], meshes[1], placed[1], coal.DistanceRequest(), coal.DistanceResult()
        )
    )


def free_between(model: er.CollisionModel, judge: CoalOracle, path: np.ndarray) -> bool:
    """Whether the judge finds no pair that counts touching anywhere on a path."""
    return not touches(judge, model.pairs.checked, path, model.robot, first=True).overlap.any()
