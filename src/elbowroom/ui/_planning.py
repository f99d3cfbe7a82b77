"""The work of the Plan panel: planning with live progress, measuring along the way, playing. No viser in here."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .state import Asked, Event, Evidence, Goes, PlanFound, PlanGoes, PlanMeasured, Planned, Seek

if TYPE_CHECKING:
    from ..collision import CollisionModel, ConstantClearance
    from ..plan import Motion, PlanProgress, PlanResult
    from ..robot import Robot
    from ..world import World
    from ._jobs import Report
    from .panels import Desk
    from .state import PageState

OFTEN = 0.1
"""Seconds between two reports of progress."""
MEASURED = 100
"""Moments of a motion at which the clearance is measured, at most."""
CHUNK = 5
"""Number measured between two checks of whether the result is still wanted."""
ENDS = 4
"""Ends of the robot whose ways are drawn, at most."""
STILL = 1e-6
"""Metres by which an end moves that stays where it is."""
FRAME = 0.04
"""Seconds between two pictures when a motion is played."""


def asked_of(state: PageState) -> Asked:
    """The question that the Plan panel asks of a state with a robot."""
    plan, key = state.plan, state.robot.key
    assert key is not None
    return Asked(
        key, state.model, plan.start.at(state), plan.goal.at(state), plan.method, plan.timeout, plan.seed
    )


def find_plan(desk: Desk, model: CollisionModel, asked: Asked, report: Report) -> Event:
    """Plans, and reports the progress of the search."""
    report.say("planning")
    costs: list[float] = []
    last = 0.0

    def progress(now: PlanProgress) -> None:
        nonlocal last
        if now.cost is not None:
            costs.append(float(now.cost))
        if time.monotonic() - last > OFTEN:
            last = time.monotonic()
            report.say(f"planning: {now.doing}")
            desk.send(PlanGoes(Goes(now.doing, now.seconds, now.nodes, tuple(costs))))

    desk.send(PlanGoes(Goes()))
    result = _planned(model, asked, asked.timeout, progress, report.cancelled)
    report.check()
    return PlanFound(Planned(asked, result))


def _planned(model: CollisionModel, asked: Asked, timeout: float, progress: Any, cancel: Any) -> PlanResult:
    from ..plan import PlanOptions, plan_motion

    options = PlanOptions(timeout=timeout, seed=asked.seed, method=asked.method)  # pyright: ignore[reportArgumentType]
    start, goal = np.array(asked.start), np.array(asked.goal)
    return plan_motion(model, start, goal, None, options, progress=progress, cancel=cancel)


def measure(model: CollisionModel, result: PlanResult, report: Report) -> Event:
    """Proves a motion row by row, for its margins, and measures its clearance now and then."""
    from ..collision.internal import moving_joints

    assert result.path is not None
    assert result.times is not None
    path, times = result.path, result.times
    proved = np.zeros(0)
    if len(path) > 1:
        proofs = model.segments_free(path[:-1], path[1:])
        proved = np.where(proofs.free, proofs.clearance, np.nan)
    rows = np.unique(np.linspace(0, len(path) - 1, min(MEASURED, len(path))).round().astype(int))
    measured: list[np.ndarray] = []
    constant: dict[tuple[str, str], ConstantClearance] = {}
    moving = moving_joints(model.robot, path)
    for first in range(0, len(rows), CHUNK):
        report(first, len(rows))
        found = model.varying_clearance(path[rows[first : first + CHUNK]], moving)
        measured.append(found.clearance)
        constant |= {one.pair: one for one in found.constant}
    ways = ways_of(model.robot, path)
    apart = tuple(sorted(constant.values(), key=lambda one: one.distance))
    return PlanMeasured(Evidence(result, times[rows], np.concatenate(measured), proved, ways, apart))


def ways_of(robot: Robot, path: np.ndarray) -> np.ndarray:
    """(links, n, 3): where the ends of a robot that move are along a path (n, dof)."""
    from ..robot.internal import default_tool_frames

    ends = [robot.link_index(link) for link in default_tool_frames(robot)[:ENDS]]
    ways = np.moveaxis(robot.link_poses(path)[:, ends, 4:], 1, 0)
    return ways[np.ptp(ways, axis=1).max(axis=1) > STILL]


def play(desk: Desk, planned: Planned, begin: float, speed: float, report: Report) -> None:
    """Moves the robot along a motion in time, until its end, or until there is another motion."""
    duration, started = planned.result.motion.duration, time.monotonic()
    while desk.view.state.plan.found is planned:
        now = begin + speed * (time.monotonic() - started)
        desk.send(Seek(now))
        if now >= duration or report.stop.wait(FRAME):
            return


def motion_bytes(motion: Motion, kind: str) -> bytes:
    """The file that `elbowroom plan --out motion.KIND` writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"motion.{kind}"
        motion.write(path)
        return path.read_bytes()


def world_bytes(world: World) -> bytes:
    """Obstacles as the file that the command line reads."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.json"
        world.write(path)
        return path.read_bytes()
