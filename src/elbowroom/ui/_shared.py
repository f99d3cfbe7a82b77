"""Robots and models, made once for all pages of a server.

What takes long on a first run, fitting spheres and deciding pairs, is done in another process whose
results both find in the cache on disk; this one stays free to answer.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ._jobs import Progress, Report
from .state import ModelParts, RobotKey

if TYPE_CHECKING:
    from ..collision import CollisionModel
    from ..robot import Robot
    from ..spheres import SphereModel
    from ..world import World

MAX_ROBOTS = 6
MAX_MODELS = 12
"""Kept at a time."""
PAUSE = 0.4
"""Seconds that edited spheres must rest before pairs are decided for them in another process."""


class SharedModels:
    """What pages of a server share; all of it is immutable."""

    def __init__(self, *, local: bool = True) -> None:
        self.local = local
        """Whether only this machine can reach the pages."""
        self._robots: OrderedDict[RobotKey, Robot] = OrderedDict()
        self._models: list[tuple[RobotKey, ModelParts, CollisionModel]] = []
        self._lock = threading.Lock()
        self._loading = threading.Lock()
        self._making = threading.Lock()

    def put(self, key: RobotKey, robot: Robot) -> None:
        """Keeps an existing robot."""
        with self._lock:
            self._robots[key] = robot
            self._robots.move_to_end(key)
            while len(self._robots) > MAX_ROBOTS:
                oldest = next((k for k in self._robots if not k.given and k != key), None)
                if oldest is None:
                    break
                del self._robots[oldest]

    def put_model(self, key: RobotKey, parts: ModelParts, model: CollisionModel) -> None:
        """Keeps a model."""
        with self._lock:
            self._models = [*self._models, (key, parts, model)][-MAX_MODELS:]

    def loaded(self, key: RobotKey | None) -> Robot | None:
        """A robot, if it is there."""
        return None if key is None else self._robots.get(key)

    def load(self, key: RobotKey) -> Robot:
        """A robot, with kinematics and visual meshes ready.

        Raises:
            ElbowroomError: it cannot be loaded.
        """
        with self._loading:  # two tabs ask at once: one loads
            robot = self._robots.get(key)
            if robot is None:
                robot = key.load()
                _prepare(robot)
                self.put(key, robot)
            return robot

    def made(self, key: RobotKey, parts: ModelParts) -> CollisionModel | None:
        """A model, if it is there."""
        with self._lock:
            return next((m for k, p, m in reversed(self._models) if k == key and p is parts), None)

    def model(self, key: RobotKey, parts: ModelParts, report: Report) -> CollisionModel:
        """The model of a robot and parts.

        Raises:
            ElbowroomError: the parts do not go together. Cancelled: it is no longer wanted.
        """
        robot = self.load(key)
        with self._turn(report):
            found = self.made(key, parts)
            if found is not None:
                return found
            bare = self._bare(key, parts) or self._make_bare(key, robot, parts, report)
            model = _overridden(bare, parts)
            for item in parts.attached:
                report.check()
                model = model.attach(
                    item.name, item.link, item.shape, item.pose, touch_links=item.touch_links
                )
            if parts.world is not None:
                model = _among(model, parts.world, parts.allow, report)
            self.put_model(key, parts, model)
            return model

    @contextmanager
    def _turn(self, report: Report) -> Generator[None]:
        """One model at a time; waiting for the turn can be cancelled, too."""
        while not self._making.acquire(timeout=0.1):
            report.check()
        try:
            report.check()
            yield
        finally:
            self._making.release()

    def _bare(self, key: RobotKey, parts: ModelParts) -> CollisionModel | None:
        """A model of the same spheres, pairs and buffer, with nothing held and nothing around."""
        with self._lock:
            for k, p, model in reversed(self._models):
                same = p.spheres is parts.spheres and p.pairs is parts.pairs and p.buffer == parts.buffer
                if k == key and same and not p.overrides and not p.attached and p.world is None:
                    return model
        return None

    def _make_bare(self, key: RobotKey, robot: Robot, parts: ModelParts, report: Report) -> CollisionModel:
        from ..collision import CollisionModel

        known = parts.pairs is not None or (parts.spheres is None and key.source in _bundled())
        if not key.given and not known:
            if parts.spheres is not None and report.stop.wait(PAUSE):
                report.check()  # a sphere is being dragged: the next place is there already
            report.say(f"preparing the model of {robot.name}")
            report.child(prepare_model, key, parts.spheres, parts.buffer)
        report.say(f"making the model of {robot.name}")
        model = CollisionModel(robot, parts.spheres, parts.pairs, buffer=parts.buffer)
        report.check()
        model.explain(robot.default_cfg)  # what it needs is made here, not in the middle of a slider's move
        self.put_model(key, ModelParts(spheres=parts.spheres, pairs=parts.pairs, buffer=parts.buffer), model)
        return model


def _prepare(robot: Robot) -> None:
    """Reads visual meshes here, not on the thread that draws; large meshes on several cores."""
    robot.link_visuals(robot.link_names[0])  # parses the description, once
    with ThreadPoolExecutor() as pool:
        read = pool.map(robot.link_visuals, robot.link_names)
        robot.link_poses(robot.default_cfg)
        for _ in read:
            pass


def _bundled() -> tuple[str, ...]:
    """Robots whose spheres and pairs come with the package."""
    from ..robot import catalogue

    return tuple(entry.name for entry in catalogue() if entry.origin == "bundled")


def _overridden(model: CollisionModel, parts: ModelParts) -> CollisionModel:
    """The model with the user's word on pairs."""
    from ..collision import CollisionModel
    from ..pairs import PairReason

    if not parts.overrides:
        return model
    known = {
        pair: found.reason is PairReason.CHECKED
        for pair, found in model.pairs.entries.items()
        if found.source == "user"
    }  # decided with the user's word: it need not be said again
    said = [(pair, checked) for pair, checked in parts.overrides if known.get(pair) is not checked]
    pairs = model.pairs.with_user(
        ignore=[pair for pair, checked in said if not checked],
        check=[pair for pair, checked in said if checked],
    )
    return CollisionModel(model.robot, model.spheres, pairs, buffer=model.buffer)


def _among(
    model: CollisionModel, world: World, allow: tuple[tuple[str, str], ...], report: Report
) -> CollisionModel:
    """The model among obstacles."""
    report.say("putting obstacles around the robot")
    found = model.with_world(world, allow=allow)
    report.check()
    found.explain(model.robot.default_cfg)
    return found


def prepare_model(key: RobotKey, spheres: SphereModel | None, buffer: float, progress: Progress) -> None:
    """In a process of its own: fits, decides and compiles, so that the cache on disk holds what a model needs."""
    from ..collision import CollisionModel
    from ..collision.internal import cached_pairs, covering
    from ..pairs import PairOptions
    from ..pairs.internal import BUFFER
    from ..spheres import fit_spheres

    robot = key.load()
    if spheres is None:
        progress.say(f"fitting spheres to {robot.name}")
        spheres = fit_spheres(robot, progress=progress)
    covered, _ = covering(robot, spheres)
    progress.say(f"deciding which pairs of links can meet on {robot.name}")
    options = PairOptions(buffer=max(BUFFER, buffer))
    pairs = cached_pairs(robot, covered, options, progress=progress)
    CollisionModel(robot, covered, pairs, buffer=buffer)
