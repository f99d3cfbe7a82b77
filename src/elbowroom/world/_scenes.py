"""Scenes for any robot: tables, shelves, cages, boxes, clutter, a workshop and a bin, made to its reach from a seed.

Furniture is put as near to the robot as leaves a fair share of its configurations free (some 20 to 60 %), with the
robot's front towards x and up towards z; the default pose and the base stay untouched. The same robot, kind and seed
give the same scene.

`Room` is where a robot can go, and which of its configurations the obstacles put so far leave free, known by points on
the links in sampled configurations: enough to place furniture so that a scene is neither empty nor impassable, not a
proof of anything. Obstacles are replaced by the boxes around them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from jaxtyping import Bool, Float

from .._poses import matrix_from_wxyz_xyz
from ..errors import InputError, unknown
from ..robot import Robot, as_robot
from ..typing import Matrix4, RobotLike
from ._obstacles import Box, Cylinder, HalfSpace, Obstacle
from ._scene_parts import (
    THINGS,
    Rng,
    bin_of_things,
    cage,
    panel,
    pipe,
    shelf,
    table,
    thing,
    things_on,
    tumbled,
    upright,
)
from ._world import World

ROOMY = 0.37
"""Share of configurations that floors leave free; loose things are added while more are. These shares take obstacles
for their boxes: by their shapes up to half as much again is free."""
FURNISHED = 0.27
"""Share that furniture leaves free."""
FULL = 0.16
"""Share that all leave free."""
TRIES = 60
"""Loose things tried at most."""


def scene_for(robot: RobotLike, kind: str, seed: int = 0, *, fill: bool = True) -> World:
    """A generated scene around a robot.

    Args:
        robot: with collision geometry; its base is where the description puts it.
        kind: one of `SCENES`.
        seed: another seed gives another scene of the kind.
        fill: hang loose things in the air until a planner has work to do. Without them a table is a table, and more
            configurations are free.

    Raises:
        InputError: there is no such kind, or the robot has no geometry.
    """
    robot = as_robot(robot)
    if kind not in SCENES:
        raise InputError(unknown("kind of scene", str(kind), SCENES))
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError(f"seed: expected a whole number from 0 up, found {seed!r:.40}")
    rng = np.random.default_rng([SCENES.index(kind), int(seed)])
    room = Room(robot)
    _MAKERS[kind](room, rng)
    if fill:
        _fill(room, rng)
    taken = set(robot.link_names)
    return World(o.named(f"scene_{o.name}") if o.name in taken else o for o in room.obstacles)


# Kinds ----------------------------------------------------------------------------------------


def _table(room: Room, rng: Rng) -> None:
    _put_table(room, rng, _floor(room), rng.uniform(-0.4, 0.4), "table")


def _shelf(room: Room, rng: Rng) -> None:
    ground, unit = _floor(room), room.reach
    size = (unit * rng.uniform(0.25, 0.4), unit * rng.uniform(0.7, 1.1), unit * rng.uniform(0.9, 1.3))
    boards, yaw, state = int(rng.integers(3, 6)), rng.uniform(-0.5, 0.5), rng.integers(2**32)
    foot = max(ground, room.center[2] - 0.55 * size[2])

    def at(distance: float) -> list[Obstacle]:
        x = distance + 0.5 * size[0]
        T = _beside(room, x, foot, yaw)
        return shelf(T, size, boards, unit, np.random.default_rng(state))

    room.put(_further(room, at), FURNISHED)


def _cage(room: Room, rng: Rng) -> None:
    low = _floor(room)
    height = rng.uniform(0.45, 0.8)
    posts, turn = 2 * int(rng.integers(4, 8)), rng.uniform(0.0, np.pi)

    def around(radius: float) -> list[Obstacle]:
        high = room.center[2] + height * max(room.reach, radius)
        return cage(room.center, radius, low, high, posts, room.reach, turn)

    room.put(_further(room, around), FURNISHED)
    _scatter(room, rng, 6, tuple(THINGS), FULL)


def _boxes(room: Room, rng: Rng) -> None:
    for k in range(48):
        size = room.reach * rng.uniform(0.05, 0.3, 3)
        poses = (tumbled(_somewhere(room, rng), rng) for _ in range(4))
        room.put(([Box(tuple(size), pose=pose, name=f"box_{k + 1}")] for pose in poses), FULL)


def _clutter(room: Room, rng: Rng) -> None:
    _put_panel(room, rng, "panel")
    _scatter(room, rng, 36, tuple(THINGS), FULL)


def _workshop(room: Room, rng: Rng) -> None:
    low, unit = _floor(room), room.reach
    side = float(rng.choice([-1.0, 1.0]))
    _put_table(room, rng, low, side * rng.uniform(0.9, 1.4), "bench")
    wall = _beside(room, 0.0, 0.0, -side * rng.uniform(1.2, 1.9))
    room.put(_further(room, lambda d: [HalfSpace((-1, 0, 0), -d, pose=wall, name="wall")]), FURNISHED)
    machine = rng.uniform(0.35, 0.6, 2) * unit
    turn, yaw = rng.uniform(-np.pi, np.pi), rng.uniform(-np.pi, np.pi)

    def corner(distance: float) -> list[Obstacle]:
        body = thing("bracket", float(machine[0]), np.random.default_rng(7), "machine")
        place = _beside(room, distance + 0.5 * unit, low - float(body.bounds[0, 2]), turn)
        return [body.at(place @ upright(0, 0, 0, yaw))]

    room.put(_further(room, corner), FURNISHED)
    height, across = room.center[2] + rng.uniform(0.45, 0.7) * unit, rng.uniform(-0.4, 0.4)
    for k, y in enumerate((-0.3, 0.0, 0.3)):
        a, b = (
            np.array([x, room.center[1] + (y + across) * unit, height]) for x in (-1.2 * unit, 1.2 * unit)
        )
        room.put([[pipe(a, b, 0.03 * unit, f"pipe_{k + 1}")]], FULL)
    tall = 2.0 * unit
    feet = (_somewhere(room, rng) for _ in range(8))
    columns = (
        Cylinder(0.07 * unit, tall, pose=upright(x, y, low + 0.5 * tall), name="column") for x, y, _ in feet
    )
    room.put(([column] for column in columns), FULL)
    _put_panel(room, rng, "screen")
    _scatter(room, rng, 8, ("rock", "ring", "bottle", "ball", "crate"), FULL)


def _bin(room: Room, rng: Rng) -> None:
    ground, unit = _floor(room), room.reach
    size = (unit * rng.uniform(0.45, 0.6), unit * rng.uniform(0.6, 0.9), unit * rng.uniform(0.2, 0.3))
    foot, yaw, state = ground + unit * rng.uniform(0.1, 0.25), rng.uniform(-0.4, 0.4), rng.integers(2**32)

    def at(distance: float) -> list[Obstacle]:
        T = _beside(room, distance + 0.5 * size[0], foot, yaw)
        return bin_of_things(T, size, foot - ground, unit, np.random.default_rng(state))

    room.put(_further(room, at), FURNISHED)


_MAKERS: dict[str, Callable[[Room, Rng], None]] = {
    "table": _table,
    "shelf": _shelf,
    "cage": _cage,
    "boxes": _boxes,
    "clutter": _clutter,
    "workshop": _workshop,
    "bin": _bin,
}
SCENES: tuple[str, ...] = tuple(_MAKERS)
"""Kinds of scenes: a table with things on it, a shelf with things in it, a cage of bars, tumbled boxes, tumbled things
of every shape, a workshop (floor, wall, bench, machine, pipes, column, open screen), and an open bin of things."""


# Helpers --------------------------------------------------------------------------------------


def _floor(room: Room) -> float:
    """Puts a floor below the robot, lower where it would take too much, then with a pedestal; gives its height."""
    low = room.center[2] - room.reach
    for drop in (0.0, 0.15, 0.3, 0.5, 0.8):
        low = room.floor - (0.06 + drop) * room.reach
        group: list[Obstacle] = [HalfSpace(pose=upright(0, 0, low), name="floor")]
        if drop:
            edge, tall = max(1.6 * room.footprint, 0.1 * room.reach), drop * room.reach
            pose = _beside(room, 0.0, low + 0.5 * tall)
            group.append(Box((edge, edge, tall), pose=pose, name="pedestal"))
        if room.put([group], ROOMY):
            room.ground = low
            break
    return low


def _put_table(room: Room, rng: Rng, ground: float, yaw: float, name: str) -> None:
    """A table with things on it, in the direction `yaw` from the robot."""
    unit = room.reach
    size = (unit * rng.uniform(0.45, 0.8), unit * rng.uniform(0.8, 1.3))
    top = max(room.center[2] - unit * rng.uniform(0.1, 0.35), ground + 0.15 * unit)

    def at(distance: float) -> list[Obstacle]:
        T = _beside(room, distance + 0.5 * size[0], top, yaw)
        return table(T, size, top - ground, unit, name)

    if room.put(_further(room, at), FURNISHED):
        T = room.obstacles[-5].pose @ upright(0, 0, 0.015 * unit)
        for item in things_on(T, *size, 9, 0.13 * unit, rng, f"{name}_"):
            room.put([[item]], FULL)


def _put_panel(room: Room, rng: Rng, name: str) -> None:
    """An open sheet that stands in the air."""
    places = ((_somewhere(room, rng), rng.uniform(-np.pi, np.pi)) for _ in range(8))
    size = 0.5 * room.reach
    room.put(([panel(upright(x, y, z, yaw), size, size, name)] for (x, y, z), yaw in places), FURNISHED)


def _beside(room: Room, distance: float, z: float, yaw: float = 0.0) -> Matrix4:
    """A pose at a height, that far from the middle of the base in the direction `yaw`, and turned to it."""
    return upright(float(room.center[0]), float(room.center[1]), z, yaw) @ upright(distance, 0, 0)


def _further(room: Room, at: Callable[[float], list[Obstacle]]) -> Iterator[list[Obstacle]]:
    """A group at growing distances, in metres from the middle of the base."""
    near = max(room.footprint, 0.2 * room.reach)
    return (at(float(d)) for d in np.linspace(near, 1.8 * max(room.reach, near), 32))


def _somewhere(room: Room, rng: Rng) -> tuple[float, float, float]:
    """A place within the reach, not at its middle and not in the ground."""
    direction = rng.normal(size=3)
    distance = room.reach * rng.uniform(0.35, 1.0)
    x, y, z = (room.center + distance * direction / np.linalg.norm(direction)).tolist()
    return x, y, max(z, room.ground + 0.1 * room.reach)


def _scatter(room: Room, rng: Rng, count: int, kinds: tuple[str, ...], keep: float) -> None:
    """Tumbled things in the air around the robot."""
    for k in range(count):
        kind, size = kinds[k % len(kinds)], room.reach * rng.uniform(0.08, 0.25)
        item = thing(kind, size, rng, f"{kind}_{k + 1}")
        room.put(([item.at(tumbled(_somewhere(room, rng), rng))] for _ in range(4)), keep)


def _fill(room: Room, rng: Rng) -> None:
    """Hangs things into a scene that leaves too much free."""
    kinds = tuple(THINGS)
    for k in range(TRIES):
        if room.share <= ROOMY:
            return
        kind = kinds[k % len(kinds)]
        item = thing(kind, room.reach * rng.uniform(0.15, 0.3), rng, f"hanging_{kind}_{k + 1}")
        room.put([[item.at(tumbled(_somewhere(room, rng), rng))]], FURNISHED)


SAMPLES = 160
"""Configurations: the share of free ones is known to four percent."""
POINTS = 32
"""On every link in a sampled configuration."""
POINTS_AT_REST = 500
"""On every link in the default pose."""
GAP = 0.025
"""Obstacles keep this share of the reach from the points: what lies between them counts too."""
UNLIMITED = 3.0
"""Rad or m that joints without limits go either way."""


class Room:
    """The surroundings of a robot while they are being furnished."""

    def __init__(self, robot: Robot) -> None:
        links = robot.mesh_links
        if not links:
            raise InputError(f"{robot.name}: a scene for it needs collision geometry; it has none")
        rng = np.random.default_rng(0)
        points = np.array([_surface_points(robot, link, rng) for link in links])
        lower, upper = np.maximum(robot.lower, -UNLIMITED), np.minimum(robot.upper, UNLIMITED)
        cfgs = np.concatenate([robot.default_cfg[None], rng.uniform(lower, upper, (SAMPLES, robot.dof))])
        T = matrix_from_wxyz_xyz(robot.link_poses(cfgs))[:, [robot.link_index(link) for link in links]]
        at_rest = _moved(points, T[:1]).reshape(-1, 3)
        sampled = _moved(points[:, :POINTS], T[1:])
        still = np.ptp(T, axis=0).max(axis=(1, 2)) < 1e-9
        base = sampled[0][still].reshape(-1, 3) if still.any() else T[0, :1, :3, 3]
        self.points: Float[np.ndarray, "samples points 3"] = sampled.reshape(SAMPLES, -1, 3)
        self.at_rest: Float[np.ndarray, "points 3"] = at_rest
        """Points of the default pose, which no obstacle may touch."""
        self.free: Bool[np.ndarray, "samples"] = np.ones(SAMPLES, dtype=bool)
        self.floor = float(min(base[:, 2].min(), at_rest[:, 2].min()))
        """Height of the lowest point of the base and of the default pose."""
        moving = sampled[:, ~still].reshape(-1, 3) if not still.all() else base
        middle = 0.5 * (base.min(axis=0) + base.max(axis=0))
        self.ground = -np.inf
        """Height of the floor that was put."""
        self.center: Float[np.ndarray, "3"] = np.array([*middle[:2], np.median(moving[:, 2])])
        """Above the middle of the base, in the middle of the heights that the links go to."""
        self.reach = float(np.linalg.norm(moving - self.center, axis=1).max())
        """Of the farthest point of a link from the centre, metres."""
        self.footprint = float(np.linalg.norm((base - middle)[:, :2], axis=1).max())
        """Of the base, metres around its middle."""
        self.obstacles: list[Obstacle] = []

    @property
    def share(self) -> float:
        """Of the sampled configurations that are free."""
        return float(self.free.mean())

    def put(self, choices: Iterable[Sequence[Obstacle]], keep: float) -> bool:
        """Puts the first group of obstacles that leaves at least a share `keep` free and the default pose untouched.

        Returns:
            Whether there was one.
        """
        for group in choices:
            if any(self._hits(obstacle, self.at_rest[None])[0] for obstacle in group):
                continue
            free = self.free.copy()
            for obstacle in group:
                free[free] = ~self._hits(obstacle, self.points[free])
            if free.mean() >= keep:
                self.free = free
                self.obstacles.extend(group)
                return True
        return False

    def _hits(self, obstacle: Obstacle, points: Float[np.ndarray, "n points 3"]) -> Bool[np.ndarray, "n"]:
        """Whether points are nearer to an obstacle's box than the gap."""
        R, t, gap = obstacle.pose[:3, :3], obstacle.pose[:3, 3], GAP * self.reach
        local = (points - t) @ R
        if isinstance(obstacle, HalfSpace):
            return np.any(local @ np.array(obstacle.normal) - obstacle.offset < gap, axis=1)
        low, high = obstacle.at(np.eye(4)).bounds
        return ((local > low - gap) & (local < high + gap)).all(axis=2).any(axis=1)


def _moved(
    points: Float[np.ndarray, "links points 3"], T: Float[np.ndarray, "n links 4 4"]
) -> Float[np.ndarray, "n links points 3"]:
    return np.einsum("nlij,lpj->nlpi", T[..., :3, :3], points) + T[..., None, :3, 3]


def _surface_points(robot: Robot, link: str, rng: np.random.Generator) -> Float[np.ndarray, "points 3"]:
    """Points spread over the surface of a link, in its frame."""
    mesh = robot.link_triangles(link)
    assert mesh is not None
    a, b, c = (np.asarray(mesh.vertices)[np.asarray(mesh.faces)[:, k]] for k in range(3))
    area = np.cumsum(np.linalg.norm(np.cross(b - a, c - a), axis=1))
    picked = np.searchsorted(area, rng.uniform(0.0, area[-1], POINTS_AT_REST)).clip(max=len(area) - 1)
    u, v = rng.uniform(size=(2, POINTS_AT_REST, 1))
    u, v = np.where(u + v > 1.0, 1.0 - u, u), np.where(u + v > 1.0, 1.0 - v, v)
    return a[picked] + u * (b[picked] - a[picked]) + v * (c[picked] - a[picked])
