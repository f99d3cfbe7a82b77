"""Scenes for any robot: tables, shelves, cages, boxes, clutter and a workshop, made to its reach from a seed.

Furniture is put as near to the robot as leaves a fair share of its configurations free (some 20 to 60 %), with the
robot's front towards x and up towards z; the default pose and the base stay untouched. The same robot, kind and seed
give the same scene.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..errors import InputError, unknown
from ..robot import as_robot
from ..typing import Matrix4, RobotLike
from ._obstacles import Box, Cylinder, HalfSpace, Obstacle
from ._scene_parts import THINGS, Rng, cage, panel, pipe, shelf, table, thing, things_on, tumbled, upright
from ._scene_room import Room
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


def scene_for(robot: RobotLike, kind: str, seed: int = 0) -> World:
    """A generated scene around a robot.

    Args:
        robot: with collision geometry; its base is where the description puts it.
        kind: one of `SCENES`.
        seed: another seed gives another scene of the kind.

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


_MAKERS: dict[str, Callable[[Room, Rng], None]] = {
    "table": _table,
    "shelf": _shelf,
    "cage": _cage,
    "boxes": _boxes,
    "clutter": _clutter,
    "workshop": _workshop,
}
SCENES: tuple[str, ...] = tuple(_MAKERS)
"""Kinds of scenes: a table with things on it, a shelf with things in it, a cage of bars, tumbled boxes, tumbled things
of every shape, and a workshop (floor, wall, bench, machine, pipes, column, open screen)."""


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
