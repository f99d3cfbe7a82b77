"""Motions that try a guard: aimless ones, ones that steer into contact, and harmless ones; and their judge."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import elbowroom as er
from elbowroom.ik import CollisionRows
from tests.oracles import CoalOracle

Steer = Callable[[np.ndarray], np.ndarray]
"""From where the robot is to where it is wanted after the next step."""


def box(robot: er.Robot) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper limits, a turn either way where there are none."""
    low = np.where(np.isfinite(robot.lower), robot.lower, -np.pi)
    return low, np.where(np.isfinite(robot.upper), robot.upper, np.pi)


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
    model: er.CollisionModel, rng: np.random.Generator, dt: float, speed: float, patience: int = 100
) -> Steer:
    """Makes for one colliding configuration after the other, straight: of those found, the nearest."""
    low, high = box(model.robot)
    goal, left = np.zeros(model.robot.dof), 0

    def steer(cfg: np.ndarray) -> np.ndarray:
        nonlocal goal, left
        if left == 0:
            cfgs = rng.uniform(low, high, (256, model.robot.dof))
            cfgs = cfg + rng.uniform(0.05, 1.0, (256, 1)) * (cfgs - cfg)
            colliding = cfgs[~model.free(cfgs)]
            colliding = colliding if len(colliding) else cfgs
            goal, left = colliding[np.abs(colliding - cfg).max(axis=1).argmin()], patience
        left -= 1
        way = goal - cfg
        return cfg + way * min(1.0, speed * dt / max(float(np.abs(way).max()), 1e-12))

    return steer


def down_the_gradient(model: er.CollisionModel, rng: np.random.Generator, dt: float, speed: float) -> Steer:
    """Takes the shortest way into what is closest, with some noise so that it also slides along it."""
    rows = CollisionRows(model)

    def steer(cfg: np.ndarray) -> np.ndarray:
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
    """Recordings (steps + 1, dof) within speed and limits that the judge finds free, between the steps too."""
    low, high = box(model.robot)
    found: list[np.ndarray] = []
    while len(found) < count:
        start = rng.uniform(low, high)
        rates = np.cumsum(rng.normal(size=(steps, model.robot.dof)), axis=0)
        rates = np.tanh(rates / np.sqrt(steps)) * speed
        path = np.clip(
            start + np.concatenate([np.zeros((1, len(start))), np.cumsum(rates * dt, axis=0)]), low, high
        )
        if model.free(path[::10]).all() and free_between(model, judge, path):
            found.append(path)
    return found


def free_between(model: er.CollisionModel, judge: CoalOracle, path: np.ndarray, pieces: int = 2) -> bool:
    """Whether the judge finds a path free for all pairs that count, at its configurations and `pieces` a step."""
    t = np.arange(pieces) / pieces
    between = path[:-1, None] + t[:, None] * (path[1:] - path[:-1])[:, None]
    cfgs = np.concatenate([between.reshape(-1, path.shape[1]), path[-1:]])
    return bool(judge.free(cfgs, model.pairs.checked).all())


def guarded(
    guard: er.Guard, steer: Steer, start: np.ndarray, steps: int, dt: float
) -> tuple[np.ndarray, list]:
    """Where a robot goes whose steps pass a guard, (steps + 1, dof), and the steps."""
    path, made = [start], []
    for _ in range(steps):
        made.append(guard.step(path[-1], steer(path[-1]), dt))
        path.append(made[-1].cfg)
    return np.array(path), made


def free_starts(model: er.CollisionModel, rng: np.random.Generator, count: int) -> np.ndarray:
    """Free configurations."""
    low, high = box(model.robot)
    found = np.zeros((0, model.robot.dof))
    while len(found) < count:
        cfgs = rng.uniform(low, high, (4 * count, model.robot.dof))
        found = np.concatenate([found, cfgs[model.free(cfgs)]])
    return found[:count]
