"""One robot that is steered by messages: what it should follow, and one tick after the other.

A session has no clock, no thread and no stream of its own: `take` is told a message and the time, `tick` gives the
next joint command. `_serve` runs it at a fixed rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from jaxtyping import Float

from ..ik import PoseTarget, Target
from ..robot import as_robot
from ..typing import RobotLike
from ._messages import Clutch, End, Follow, Message, Reset, Stop
from ._xr import XrFollower, XrOptions, XrState, facing

PROTOCOL = 1
"""Version of the messages."""
AT_REST = 1e-3
"""rad/s or m/s: slower is standing still."""


class Ticks(Protocol):
    """What a session asks of a `Tracker`."""

    def tick(
        self, targets: Any, cfg: Any, dt: float, *, clutch: bool = True, stamp: float | None = None
    ) -> Any:
        """One step from `cfg`: a `TrackStep`."""
        ...

    def reset(self) -> None:
        """Forgets motion and targets."""
        ...


class Session:
    """Follows targets of `links` with a tracker, from a configuration, in steps of `1 / rate` seconds."""

    def __init__(
        self,
        tracker: Ticks,
        robot: RobotLike,
        links: tuple[str, ...],
        cfg: Float[np.ndarray, "dof"],
        rate: float,
        xr: XrOptions | None = None,
    ) -> None:
        robot = as_robot(robot)
        self.robot, self.links, self.rate = robot, links, rate
        self.cfg = robot.as_cfg(cfg)
        self.still = True
        """Whether the robot stood at the last tick."""
        self.ticks = 0
        self._tracker = tracker
        self._follower = XrFollower(facing(xr or XrOptions(), robot))
        self._link_idx = [robot.link_index(link) for link in links]
        self._targets: dict[str, Target] = {}
        self._stamp: float | None = None
        self._sender_stamp = -np.inf
        self._clutch, self._stopped = True, False

    def hello(self) -> dict[str, Any]:
        """The first message to a controller: who is here and what the numbers mean."""
        links = {link: pose.tolist() for link, pose in self._poses().items()}
        return {
            "type": "hello",
            "protocol": PROTOCOL,
            "robot": self.robot.name,
            "rate": self.rate,
            "joint_names": list(self.robot.joint_names),
            "cfg": self.cfg.tolist(),
            "links": links,
            "xr": {**self._follower.options.links, "yaw": self._follower.options.yaw},
        }

    @property
    def xr(self) -> XrOptions:
        """Which link follows which part of an operator, and how the two frames lie to each other."""
        return self._follower.options

    @property
    def targets(self) -> Mapping[str, Target]:
        """Link -> what it is to follow just now."""
        return dict(self._targets)

    def prepare(self) -> None:
        """Ticks for nothing, for one link and for all, and forgets it: what must be compiled, now is."""
        cfg, aside = self.cfg, np.array([0.0, 0.0, 0.0, 0.0, 0.02, 0.0, 0.02])
        near = {link: PoseTarget(link, pose + aside) for link, pose in self._poses().items()}
        for targets in ({}, dict(list(near.items())[:1]), near, {}):
            self._targets = dict(targets)
            for _ in range(3):
                self.tick(0.0)
        self._forget()
        self._tracker.reset()
        self.cfg, self.ticks, self.still = cfg, 0, True

    def take(self, message: Message, now: float) -> None:
        """Takes a message into account; `now` in seconds on any clock that does not go back."""
        match message:
            case Follow():
                self._follow(message, now)
            case XrState():
                self._follow_xr(message, now)
            case Clutch():
                self._clutch = message.engaged
                self._stopped = self._stopped and not message.engaged
                self._follower.release()
            case Reset():
                place = dict(zip(self.robot.joint_names, self.cfg.tolist(), strict=True))
                self.cfg = self.robot.as_cfg(list({**place, **message.values}.values()))
                self._forget()
                self._tracker.reset()
            case Stop() | End():
                self._forget()
                self._stopped = True

    def tick(self, now: float) -> dict[str, Any]:
        """Moves on by one step; the command to send. `now`: seconds, repeated in the command."""
        followed = tuple(self._targets.values()) or None
        step = self._tracker.tick(
            followed,
            self.cfg,
            1.0 / self.rate,
            clutch=self._clutch and not self._stopped,
            stamp=self._stamp,
        )
        self.cfg = step.cfg
        self.still = float(np.abs(step.velocity).max(initial=0.0)) < AT_REST
        self.ticks += 1
        names = [getattr(target, "link", "") for target in step.targets]
        return {
            "type": "command",
            "tick": self.ticks,
            "time": now,
            "cfg": step.cfg.tolist(),
            "velocity": step.velocity.tolist(),
            "state": step.state,
            "why": step.why,
            "proved": bool(step.proved),
            "limited_by": list(step.limited_by),
            "clearance_bound": step.clearance_bound,
            "position_error": _by_link(names, step.position_error),
            "orientation_error": _by_link(names, step.orientation_error),
            "seconds": step.seconds,
        }

    def _follow(self, message: Follow, now: float) -> None:
        if message.clutch is not None:
            self._clutch = message.clutch
        if message.stamp is not None:
            if message.stamp <= self._sender_stamp:  # the same again, or out of order: no news
                return
            self._sender_stamp = message.stamp
        self._stopped = False
        self._targets.update(message.targets)
        self._stamp = now

    def _follow_xr(self, state: XrState, now: float) -> None:
        if self._stopped:  # after a stop, buttons must be let go before they count again
            if not self._follower.let_go(state):
                return
            self._stopped = False
        found = self._follower.step(state, self._poses(), now)
        self._clutch = bool(found)
        self._targets = {link: PoseTarget(link, pose) for link, pose in found.items()}
        self._stamp = now

    def _forget(self) -> None:
        self._targets.clear()
        self._stamp, self._sender_stamp = None, -np.inf
        self._follower.release()

    def _poses(self) -> dict[str, Float[np.ndarray, "7"]]:
        """Where the links are, T_world_link."""
        poses = self.robot.link_poses(self.cfg)
        return {link: poses[index] for link, index in zip(self.links, self._link_idx, strict=True)}


def _by_link(links: list[str], values: Any) -> dict[str, float]:
    return dict(zip(links, np.asarray(values).tolist(), strict=True))
