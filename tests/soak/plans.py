"""Plans, inverse kinematics and the guard: what they return is judged by Pinocchio and Coal, or they say why there is none.

The judge is `tests.plan_oracles.PathJudge`: every millimetre of a path, of the curve it is of and of the motion in time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import elbowroom as er
from benchmarks._plan_problems import object_in_hand
from benchmarks.truth import confirmed
from elbowroom.errors import ElbowroomError
from elbowroom.plan import PlanOptions, PlanResult, plan_motion
from elbowroom.world import World
from tests.ik_oracles import IkJudge, draw_targets
from tests.motion_limits import beyond_limits
from tests.plan_oracles import PathJudge

from .case import Case, Told, clear, demand
from .models import Judged, random_judged, real
from .random_robots import TAME
from .verdicts import random_world

ROBOTS = ("teaarm", "panda", "ur5")
HOLDING = ("teaarm", "panda")
TIMEOUT = 3.0
"""Seconds that a plan may take."""
STEPS, DT = 60, 0.02
"""Of the guard."""


def run(case: Case) -> Told:
    judged = _judged(case)
    if judged is None or not judged.robot.dof:
        return Told("robot", refused=True)
    world = random_world(judged, case, in_the_way=0.05)
    world.write(case.folder / "scene.json")
    kinds: tuple[tuple[str, Callable[[Case, Judged, World], Told], float], ...] = (
        ("plan", _plan, 0.5),
        ("ik", _ik, 0.3),
        ("guard", _guard, 0.2),
    )
    _, check, _ = kinds[int(case.rng.choice(len(kinds), p=[share for _, _, share in kinds]))]
    return check(case, judged, world)


def _judged(case: Case) -> Judged | None:
    names = [name for name in ROBOTS if name in {entry.name for entry in er.catalogue()}]
    if case.rng.uniform() < 0.7:
        return real(str(case.rng.choice(names)))
    try:
        return random_judged(case.rng, case.folder, TAME)
    except ElbowroomError as error:
        clear(error)
        return None


def _ends(case: Case, judged: Judged, model: er.CollisionModel) -> np.ndarray:
    """Two configurations, free ones if draws find them."""
    rows = judged.cfgs(case.rng, 128)
    free = rows[model.free(rows)]
    return free[:2] if len(free) >= 2 and case.rng.uniform() < 0.95 else rows[:2]


# Plans ------------------------------------------------------------------------------------------


def _plan(case: Case, judged: Judged, world: World) -> Told:
    rng, items = case.rng, ()
    model = judged.model
    if judged.robot.name in HOLDING and rng.uniform() < 0.25:
        items = (object_in_hand(judged.robot.name),)
        model = _holding(judged.robot.name)
    model = model.with_world(world)
    start, goal = _ends(case, judged, model)
    joints: tuple[str, ...] | None = None
    if rng.uniform() < 0.2:
        joints = tuple(name for name in judged.robot.joint_names if rng.uniform() < 0.7) or None
        if joints is not None:
            held = ~np.isin(judged.robot.joint_names, joints)
            goal[held] = start[held]
    options = PlanOptions(
        timeout=TIMEOUT,
        seed=case.number(),
        method=str(rng.choice(["auto", "sampler", "stomp"], p=[0.7, 0.2, 0.1])),
        shortcuts=int(rng.choice([0, 10, 60])),
        smooth=bool(rng.uniform() < 0.8),
        timed=bool(rng.uniform() < 0.8),
        rate=float(rng.choice([20.0, 100.0, 250.0])),
        jerk_limits=float(rng.uniform(20.0, 500.0)) if rng.uniform() < 0.2 else None,
    )
    np.savez(case.folder / "ends.npz", start=start, goal=goal)
    result = plan_motion(model, start, goal, joints, options)
    text = f"{options}, joints {joints}, from {start.tolist()} to {goal.tolist()}"
    if not result.success:
        _why(result, model, start, goal, text)
        return Told(f"no plan: {result.reason}", refused=True)
    judge = PathJudge(judged.model, world, items, oracle=judged.oracle, pairs=judged.pairs)
    demand(result.proof is not None and result.proof.free, f"success without a proof: {text}")
    for what in (result.path, result.curve):
        faults = judge.faults(what, joints, (start, goal)) if what is not None else []
        demand(not faults, f"{faults}: {text}")
    if result.motion is not None:
        limits = result.motion.limits
        faults = beyond_limits(result.motion, limits.velocity, limits.acceleration, limits.jerk)
        demand(not faults, f"{faults}: {text}")
        off = np.abs(result.path - result.motion.at(np.asarray(result.times))).max()
        demand(off <= 1e-9, f"path and motion are {off:.3g} apart: {text}")
    if rng.uniform() < 0.2:
        _same_again(result, plan_motion(model, start, goal, joints, options), text)
    return Told(f"plan by {result.method}" + (", holding" if items else ""))


@cache
def _holding(name: str) -> er.CollisionModel:
    """A real robot with a box in its hand."""
    item = object_in_hand(name)
    bare = real(name).model
    return bare.attach(item.name, item.link, item.shape, item.pose, touch_links=item.touch_links)


def _why(
    result: PlanResult, model: er.CollisionModel, start: np.ndarray, goal: np.ndarray, text: str
) -> None:
    """A failure has a reason that holds."""
    demand(result.why and result.reason, f"no word of why: {text}")
    demand(
        result.path is None or result.proof is None or not result.proof.free,
        f"a proved path and no success: {text}",
    )
    for word, cfg in (("start", start), ("goal", goal)):
        if result.reason == word:
            demand(not model.free(cfg), f"{word} is said to be blocked and is free: {result.why}: {text}")
    if result.reason not in ("start", "goal", "limits"):
        demand(
            model.free(start) and model.free(goal),
            f"an end is blocked, and {result.reason!r} is said: {text}",
        )


def _same_again(first: PlanResult, second: PlanResult, text: str) -> None:
    """The same seed gives the same path, unless time ran out."""
    if max(first.seconds.get("total", 0.0), second.seconds.get("total", 0.0)) > 0.5 * TIMEOUT:
        return
    demand(second.success, f"found once, not twice ({second.why}): {text}")
    same = first.path.shape == second.path.shape and np.array_equal(first.path, second.path)
    demand(same, f"one seed, two paths: {text}")


# Inverse kinematics -----------------------------------------------------------------------------


def _ik(case: Case, judged: Judged, world: World) -> Told:
    """Poses of free configurations: each has an answer."""
    rng, robot = case.rng, judged.robot
    judge = IkJudge(robot, judged.pairs, world, oracle=judged.oracle)
    moved = np.ptp(robot.link_poses(judged.cfgs(rng, 16)), axis=0).max(axis=1) > 1e-3
    links = [link for link, yes in zip(robot.link_names, moved, strict=True) if yes]
    if not links:
        return Told("robot that stands still")
    chosen = [
        str(link) for link in rng.choice(links, min(len(links), int(rng.integers(1, 3))), replace=False)
    ]
    drawn = draw_targets(judge, chosen, 2, seed=case.number(), at_most=512)
    model = judged.model.with_world(world)
    try:
        solver = er.IkSolver(model, chosen)
    except ElbowroomError as error:  # links of one rigid body, say
        clear(error)
        return Told("ik", refused=True)
    notes: list[str] = []
    for targets in drawn:
        found = solver.solve(targets)
        text = f"{ {link: pose.tolist() for link, pose in targets.items()} } gave {np.asarray(found.cfg).tolist()}"
        if not found.success:
            demand(found.why, f"no word of why: {text}")
            notes.append("no answer where there is one")
            continue
        faults = [fault for fault in judge.faults(found.cfg, targets) if not fault.endswith("touch")]
        demand(not faults, f"{faults}: {text}")
        _not_touching(judge, judged, found.cfg, text)
        again = er.IkSolver(model, chosen).solve(targets)
        demand(np.array_equal(again.cfg, found.cfg), f"two answers: {text} and {again.cfg.tolist()}")
    return Told("ik", notes=tuple(notes))


def _not_touching(judge: IkJudge, judged: Judged, cfg: np.ndarray, text: str) -> None:
    """By Coal's distances; its booleans count a micrometre."""
    hit = not judge.oracle.free(cfg[None], judged.pairs)[0]
    touching = hit and confirmed(judge.oracle, list(judged.pairs), cfg[None])
    demand(not touching, f"links touch: {text}")
    if judge.world is not None:
        demand(judge.world.clearance(cfg, 1e-3) > 0.0, f"an obstacle is touched: {text}")


# The guard --------------------------------------------------------------------------------------


def _guard(case: Case, judged: Judged, world: World) -> Told:
    """A controller that wants anything at all; where each step is proved, nothing is touched."""
    rng = case.rng
    model = judged.model.with_world(world)
    rows = judged.cfgs(rng, 64)
    free = rows[model.free(rows)]
    if not len(free):
        return Told("guard: no free start", refused=True)
    accelerations = float(rng.uniform(2.0, 30.0)) if rng.uniform() < 0.5 else None
    guard = er.Guard(model, velocity_limits=2.0, acceleration_limits=accelerations)
    path, wanted = [free[0]], judged.cfgs(rng, 4)
    for k in range(STEPS):
        step = guard.step(path[-1], _towards(path[-1], wanted[k * len(wanted) // STEPS]), DT)
        demand(step.proved, f"a step from a free place is not proved: {step.why}, from {path[-1].tolist()}")
        path.append(step.cfg)
    rates = np.abs(np.diff(path, axis=0)) / DT
    demand(rates.max() <= 2.0 * (1.0 + 1e-9), f"{rates.max():.6g} rad/s, 2 allowed")
    judge = PathJudge(judged.model, world, oracle=judged.oracle, pairs=judged.pairs)
    faults = judge.faults(np.array(path))
    demand(not faults, f"{faults} by the guard from {path[0].tolist()}")
    return Told("guard")


def _towards(cfg: Any, wanted: np.ndarray) -> np.ndarray:
    """A step to a configuration, twice as fast as allowed."""
    far = np.abs(wanted - cfg).max()
    return wanted if far <= 4.0 * DT else cfg + 4.0 * DT / far * (wanted - cfg)
