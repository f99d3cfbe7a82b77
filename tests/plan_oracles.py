"""The judge of planned motions: Pinocchio moves the robot, Coal collides it, all along the way; it takes nobody's word.

Judged are the collision geometries of the description: every pair of links but those that are adjacent in the file,
disabled by its SRDF, or ignored because their meshes touch at rest or always; every link and held object against every
obstacle. Limits of joints are those of the file. A path, a `Curve` or a `Motion` is looked at so often that no point of
the robot moves more than a millimetre in between; looks are left out only where Coal's own distances rule contact out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

import numpy as np

import elbowroom as er
from benchmarks.truth import judged_pairs
from elbowroom.plan import Curve
from elbowroom.world import HalfSpace, Obstacle, World

from .crossing import SPARE, _ways
from .ik_oracles import LIMIT_SLACK, file_limits
from .oracles import CHUNK, CoalOracle, LinkPair, PinocchioCoal, oracle_of, pin
from .world_oracles import CoalWorld, _local_box, coal_obstacle

STEP = 0.001
"""Metres that any point of the robot moves at most between two looks."""
COARSE = 0.03
"""Joint motion (rad, m) of the pieces on which speeds of points are measured; between their ends a point may be faster
by `SPARE`."""

ROUNDING = 1e-12
"""Of a joint that is held, on a curve whose control points are all the same."""

At = Callable[[np.ndarray], np.ndarray]
"""Configurations (n, dof) at places (n,) of a path."""


@dataclass(frozen=True)
class Held:
    """An object that a link carries, as a shape of a world whose own pose and name do not count."""

    name: str
    link: str
    shape: Obstacle
    pose: np.ndarray = field(default_factory=lambda: np.eye(4))
    touch_links: tuple[str, ...] = ()


@dataclass(frozen=True)
class Touch:
    """The first place of a path at which two things overlap."""

    place: float
    """Waypoint and share of the way to the next; parameter of a curve; seconds of a motion."""
    a: str
    b: str
    distance: float
    """Coal's, zero or below; its size means nothing where meshes overlap."""
    cfg: np.ndarray

    def __str__(self) -> str:
        return f"{self.a} and {self.b} touch at {self.place:.6g} ({self.distance:.3g} m)"


class Carrying(CoalOracle):
    """A robot's judge with held objects as links more."""

    def __init__(self, bare: PinocchioCoal, held: Sequence[Held]) -> None:
        self.bare, self.joint_names = bare, bare.joint_names
        model = bare.kinematics.model
        frames = [model.frames[model.getFrameId(item.link, pin.FrameType.BODY)] for item in held]
        super().__init__(
            [*bare.shape_links, *(item.name for item in held)],
            [*bare.shapes, *(coal_obstacle(item.shape) for item in held)],
            [*bare._frames, *(frame.parentJoint for frame in frames)],
            [
                *bare._T_frame_shape,
                *(frame.placement.homogeneous @ item.pose for frame, item in zip(frames, held, strict=True)),
            ],
        )

    def frame_poses(self, cfgs: np.ndarray) -> np.ndarray:
        return self.bare.frame_poses(cfgs)


class PathJudge:
    """One robot, what it holds and what is around it."""

    def __init__(
        self,
        model: er.CollisionModel,
        world: World | None = None,
        held: Sequence[Held] = (),
        *,
        oracle: CoalOracle | None = None,
        pairs: Iterable[LinkPair] | None = None,
    ) -> None:
        """Takes from the model which pairs of links touch at rest or always, and `allow`; nothing else.

        Args:
            model: of the bare robot, with or without a world.
            world: obstacles; None takes those of the model.
            held: objects in its hands.
            oracle: of the bare robot, if there is one already.
            pairs: of links of the bare robot that count; None works them out.
        """
        assert not model.attachments, "the judge attaches objects itself"
        self.robot = model.robot
        bare = oracle_of(model.robot) if oracle is None else oracle
        self.bare = bare
        self.own_pairs = tuple(judged_pairs(model, bare) if pairs is None else pairs)
        self.oracle = Carrying(bare, held) if held else bare
        of_objects = [
            (item.name, link) for item in held for link in self.oracle.links if self._may_clash(item, link)
        ]
        self.pairs = (*self.own_pairs, *dict.fromkeys(tuple(sorted(pair)) for pair in of_objects))
        world = model.world if world is None else world
        self.world = None if world is None or not len(world) else CoalWorld(self.oracle, world, model.allow)
        self.lower, self.upper = file_limits(model.robot)
        self._measures: dict[tuple[int, int], Any] = {}

    def _may_clash(self, item: Held, link: str) -> bool:
        return link != item.name and link not in item.touch_links and link not in self._fixed_to(item.link)

    def _fixed_to(self, link: str) -> set[str]:
        """Links of the rigid body of a link, by the file."""
        assert self.robot.path is not None
        joints = ElementTree.parse(self.robot.path).getroot().findall("joint")
        ends = [
            (joint.find("parent").get("link"), joint.find("child").get("link"))
            for joint in joints
            if joint.get("type") == "fixed"
        ]
        found, before = {link}, 0
        while len(found) > before:
            before = len(found)
            found |= {b for a, b in ends if a in found} | {a for a, b in ends if b in found}
        return found

    # Verdicts -----------------------------------------------------------------------------------

    def faults(
        self, path: Any, moving: Sequence[str] | None = None, ends: tuple[Any, Any] | None = None
    ) -> list[str]:
        """What is wrong with a path (n, dof), `Curve` or `Motion`, in words; empty: nothing.

        Args:
            path: what was planned.
            moving: joints that may move; the others must stay where they are at the start. None: all may.
            ends: start and goal that it must have, to the last bit.
        """
        at, marks = walk_of(path)
        rows = at(fine_marks(at, marks))
        if not np.isfinite(rows).all() or rows.shape[1] != self.robot.dof:
            return [f"not a path: shape {rows.shape}, finite {bool(np.isfinite(rows).all())}"]
        found = list[str]()
        names = self.robot.joint_names
        for k, name in enumerate(names):
            low, high = rows[:, k].min(), rows[:, k].max()
            if moving is not None and name not in moving:
                if high - low > ROUNDING:
                    found.append(f"{name} is held and moves from {low:.9g} to {high:.9g}")
            elif low < self.lower[k] - LIMIT_SLACK or high > self.upper[k] + LIMIT_SLACK:
                limits = f"{self.lower[k]:.9g} to {self.upper[k]:.9g}"
                found.append(f"{name} goes from {low:.9g} to {high:.9g}, limits {limits}")
        if ends is not None:
            for word, row, wanted in zip(("begins", "ends"), (rows[0], rows[-1]), ends, strict=True):
                off = float(np.abs(row - np.asarray(wanted)).max())
                if off > LIMIT_SLACK:
                    found.append(f"{word} {off:.3g} from where it should")
        touch = self.first_touch(path)
        return found if touch is None else [*found, str(touch)]

    def free(self, path: Any) -> bool:
        return self.first_touch(path) is None

    def first_touch(self, path: Any, step: float = STEP) -> Touch | None:
        """The first look at which anything overlaps, or None."""
        at, marks = walk_of(path)
        places = self._looks(at, marks, step)
        rows = at(places)
        Ts = np.concatenate(
            [self.oracle.shape_poses(rows[k : k + CHUNK]) for k in range(0, len(rows), CHUNK)]
        )
        ways = np.zeros((len(rows), len(self.oracle.shapes)))
        if len(rows) > 1:
            ways[1:] = np.cumsum(SPARE * _ways(self.oracle, Ts), axis=0)
        centers = np.einsum("nsij,sj->nsi", Ts[..., :3, :3], self.oracle._centers) + Ts[..., :3, 3]
        first: tuple[int, str, str, float] | None = None

        def look(measure: Callable[[int], float], apart: np.ndarray, way: np.ndarray, a: str, b: str) -> None:
            """Walks one pair up to the first place known."""
            nonlocal first
            end = len(rows) if first is None else first[0]
            candidates = np.flatnonzero(apart[:end] <= 0.0)
            k = 0
            while k < len(candidates):
                row = int(candidates[k])
                gap = measure(row)
                if gap <= 0.0:
                    first = (row, a, b, gap)
                    return
                beyond = max(row + 1, int(np.searchsorted(way, way[row] + gap)))
                k = int(np.searchsorted(candidates, beyond))

        radii, links = self.oracle._radii, self.oracle.shape_links
        for i, j in self.oracle.shape_pairs(self.pairs):
            apart = np.linalg.norm(centers[:, i] - centers[:, j], axis=-1) - radii[i] - radii[j]
            look(
                lambda row, i=i, j=j: self.oracle.decided_distance(Ts[row], i, j),
                apart, ways[:, i] + ways[:, j], links[i], links[j],
            )  # fmt: skip
        world = self.world
        if world is not None:
            for k, obstacle in enumerate(world.obstacles):
                far = _from_box(centers, obstacle)
                for i in np.flatnonzero(world._asked[:, k]):
                    look(
                        lambda row, i=i, k=k: world.decided_distance(Ts[row], i, k),
                        far[:, i] - radii[i], ways[:, i], links[i], obstacle.name,
                    )  # fmt: skip
            first = self._contained(Ts, len(rows), first)
        if first is None:
            return None
        row, a, b, gap = first
        return Touch(float(places[row]), a, b, gap, rows[row])

    def _contained(self, Ts: np.ndarray, count: int, first: Any) -> Any:
        """What is wholly inside something at the ends (or would have touched it on the way in), if anything."""
        assert self.world is not None
        for row in (0, count - 1):
            for i, k in np.argwhere(self.world._near(Ts[row : row + 1])[0]):
                if (first is None or row < first[0]) and self.world._inside(Ts[row], i, k):
                    return (row, self.oracle.shape_links[i], self.world.obstacles[k].name, 0.0)
        return first

    def _looks(self, at: At, marks: np.ndarray, step: float) -> np.ndarray:
        """Places so close together that no point of a shape moves farther than `step` from one to the next."""
        places = fine_marks(at, marks)
        rows = at(places)
        far = np.concatenate(
            [
                _ways(self.oracle, self.oracle.shape_poses(rows[k : k + CHUNK + 1])).max(axis=1)
                for k in range(0, len(rows) - 1, CHUNK)
            ]
        )
        return _cut(places, np.maximum(1, np.ceil(SPARE * far / step).astype(int)))


# Ways along a path ------------------------------------------------------------------------------


def walk_of(path: Any) -> tuple[At, np.ndarray]:
    """Configurations by place, and places (n,) between which a path is smooth.

    Of waypoints (n, dof) the place is the waypoint and the share of the straight way to the next.
    """
    if isinstance(path, Curve):
        return path.at, np.asarray(path.knots)
    if hasattr(path, "duration"):  # a Motion: seconds
        return path.at, np.linspace(0.0, path.duration, max(2, int(np.ceil(100.0 * path.duration)) + 1))
    rows = np.asarray(path, dtype=np.float64)

    def at(places: np.ndarray) -> np.ndarray:
        k = np.clip(places.astype(int), 0, len(rows) - 1)
        share, after = (places - k)[:, None], rows[np.minimum(k + 1, len(rows) - 1)]
        return rows[k] + share * (after - rows[k])

    return at, np.arange(len(rows), dtype=np.float64) if len(rows) > 1 else np.zeros(2)


def fine_marks(at: At, marks: np.ndarray) -> np.ndarray:
    """The marks and more between them, so that joints move little from one to the next."""
    places = _cut(marks, np.full(len(marks) - 1, 4))
    moved = np.abs(np.diff(at(places), axis=0)).max(axis=1)
    if not np.isfinite(moved).all():
        return places
    return _cut(places, np.maximum(1, np.ceil(moved / COARSE).astype(int)))


def _cut(places: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Places with each interval cut evenly into so many."""
    k = np.repeat(np.arange(len(counts)), counts)
    share = np.concatenate([np.arange(n) / n for n in counts])
    return np.append(places[k] + share * (places[k + 1] - places[k]), places[-1])


def _from_box(centers: np.ndarray, obstacle: Obstacle) -> np.ndarray:
    """Distances (n, shapes) of points from the box around an obstacle."""
    local = (centers - obstacle.pose[:3, 3]) @ obstacle.pose[:3, :3]
    if isinstance(obstacle, HalfSpace):
        return local @ np.array(obstacle.normal) - obstacle.offset
    low, high = _local_box(obstacle)
    return np.linalg.norm(np.maximum(np.maximum(low - local, local - high), 0.0), axis=-1)
