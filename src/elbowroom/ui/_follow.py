"""Follower: a robot on its way to targets that are being dragged, and the solution where they end.

During the motion a `Tracker` moves it, within its limits and never into contact; where the motion has come to rest,
an `IkSolver` has the last word. It is a new one for each answer, so that `elbowroom ik` gives the same to the last bit.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .state import IkFound, IkMoved, IkNotReached, IkSolved, IkWhy

if TYPE_CHECKING:
    from ..collision import CollisionModel
    from ..ik import IkResult, TrackStep
    from ._jobs import Progress

TICK = 0.02
"""Seconds of motion in one tick."""
MOST_TICKS = 5
"""In one answer, so that answers stay quick; a page that is too slow shows a slower robot."""
PATIENCE = 25
"""Ticks without coming nearer after which the robot has come as far as it will: where something is in the way it may
never stand quite still."""
NEARER = 5e-4
"""Metres by which an error must shrink to count as coming nearer."""
ARM = 0.1
"""Metres that a radian of an orientation counts for."""
NEAR, NEAR_ANGLE = 1e-3, 1e-2
"""Metres and rad within which a target counts as met during the motion; the solver decides to 0.1 mm."""
JUMP = 0.05
"""rad or m of a joint between the end of the motion and the solution above which it is reported."""
MOST_LIMITS = 3
"""Reasons that are told."""


@dataclass(frozen=True, eq=False)
class Ask:
    """A question: where from, and where to."""

    model: CollisionModel
    targets: tuple[tuple[str, tuple[float, ...]], ...]
    turned: bool
    locked: tuple[str, ...]
    cfg: tuple[float, ...]
    drag: int

    @property
    def wanted(self) -> dict[str, np.ndarray]:
        """The targets as the solvers take them: poses (7,), or positions (3,) where orientations do not count."""
        return {link: np.array(pose if self.turned else pose[4:]) for link, pose in self.targets}

    @property
    def about(self) -> dict[str, Any]:
        """What answers repeat of it."""
        return {"targets": self.targets, "start": self.cfg, "drag": self.drag}


class Follower:
    """One robot that follows; for one thread at a time."""

    def __init__(self) -> None:
        self._tracker: Any = None
        self._locked: tuple[str, ...] = ()
        self._last: np.ndarray | None = None
        self._time = 0.0
        self._aim: tuple[Any, ...] = ()
        self._best, self._idle = np.inf, 0
        self._way: IkFound | None = None
        self._result: IkResult | None = None

    def move(self, ask: Ask) -> IkMoved:
        """Moves on for as long as has passed since the last time."""
        tracker = self._ready(ask)
        now = time.monotonic()
        ticks = int(np.clip(round((now - self._time) / TICK), 1, MOST_TICKS))
        self._time = now
        cfg, step = np.array(ask.cfg), None
        for _ in range(ticks):
            step = tracker.tick(ask.wanted, cfg, TICK)
            cfg = step.cfg
            off = float(step.position_error.sum() + ARM * step.orientation_error.sum())
            self._idle = 0 if off < self._best - NEARER else self._idle + 1
            self._best = off if self._idle == 0 else self._best
        assert step is not None
        self._last, self._way = cfg, _on_the_way(step)
        return IkMoved(
            **ask.about,
            cfg=tuple(cfg.tolist()),
            found=self._way,
            still=self._idle >= PATIENCE or _met(step),
        )

    def solve(self, ask: Ask) -> IkSolved | IkNotReached:
        """What the solver says from where the motion has ended."""
        from ..ik import IkSolver

        solver, start = IkSolver(ask.model), np.array(ask.cfg)
        result = solver.solve(ask.wanted, start, ask.locked)
        self._result = result
        if not result.success:
            way = self._way or IkFound(False, float("nan"), float("nan"), 0.0, None)
            found = replace(way, reached=False, seconds=result.seconds, solved=True, limited_by=(), why=None)
            return IkNotReached(**ask.about, found=found)
        again = solver.solve(ask.wanted, start, ask.locked)  # without the tables, which are made once
        moved = float(np.abs(result.cfg - start).max(initial=0.0))
        found = IkFound(
            reached=True,
            position_error=float(result.position_error.max()),
            orientation_error=float(result.orientation_error.max()),
            seconds=again.seconds,
            clearance=None if result.verdict is None else result.verdict.varying_clearance,
            solved=True,
            jumped=moved > JUMP,
        )
        return IkSolved(**ask.about, cfg=tuple(result.cfg.tolist()), found=found)

    def why(self, ask: Ask) -> IkWhy | None:
        """Why the last solution is none; from another thread."""
        result = self._result
        return None if result is None or result.success else IkWhy(**ask.about, why=result.why)

    def _ready(self, ask: Ask) -> Any:
        """A tracker of this model and these joints that stands where the robot is."""
        from ..ik import Tracker, TrackOptions

        known = self._tracker
        if (
            known is None
            or known.model.robot.joint_names != ask.model.robot.joint_names
            or known.model.robot is not ask.model.robot
            or self._locked != ask.locked
        ):
            joints = [name for name in ask.model.robot.joint_names if name not in ask.locked]
            options = TrackOptions(engage_time=0.1, posture_gain=0.0)
            self._tracker, self._locked = Tracker(ask.model, options=options, joints=joints), ask.locked
            self._last = None
        elif known.model is not ask.model:
            self._tracker = known.with_model(ask.model)
        if self._last is None or tuple(self._last.tolist()) != ask.cfg:  # it was moved by others
            self._tracker.reset()
            self._aim, self._time = (), time.monotonic()
        if self._aim != (ask.targets, ask.turned):
            self._aim, self._best, self._idle = (ask.targets, ask.turned), np.inf, 0
        return self._tracker


def _met(step: TrackStep) -> bool:
    near = max(step.position_error.tolist(), default=0.0) < NEAR
    turned = max(step.orientation_error.tolist(), default=0.0) < NEAR_ANGLE
    return near and turned


def _on_the_way(step: TrackStep) -> IkFound:
    return IkFound(
        reached=_met(step),
        position_error=float(step.position_error.max(initial=0.0)),
        orientation_error=float(step.orientation_error.max(initial=0.0)),
        seconds=step.seconds,
        clearance=step.clearance_bound,
        limited_by=step.limited_by[:MOST_LIMITS],
    )


def prepare(model: CollisionModel, progress: Progress) -> None:
    """Asks once for everything, so that tables are there when a hand drags."""
    from ..robot.internal import default_tool_frames

    ends = default_tool_frames(model.robot)[:1]
    if not ends:
        return
    cfg = tuple(np.array(model.default_cfg).tolist())
    pose = model.robot.link_poses(np.array(cfg))[model.robot.link_index(ends[0])]
    steps = [(turned, aside) for turned in (True, False) for aside in (0.01, 0.02, 50.0)]
    follower = Follower()
    for done, (turned, aside) in enumerate(steps):  # near ones that move, and one that is never reached
        moved = pose + np.array([0.0, 0.0, 0.0, 0.0, aside, 0.0, aside])
        ask = Ask(model, ((ends[0], tuple(moved.tolist())),), turned, (), cfg, 0)
        cfg = follower.move(ask).cfg
        follower.solve(ask)
        follower.why(ask)
        progress(done + 1, len(steps))
