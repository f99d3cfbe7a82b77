"""Which link may touch which obstacle: what `allow` holds, and what a world must be to surround a robot."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from .._text import short
from ..errors import InputError, UnknownLinkError, UnknownNameError, unknown
from ..robot import Robot
from ..world import World

Allow = frozenset[tuple[str, str]]
"""Pairs (link, obstacle) that may touch."""


def checked_world(robot: Robot, world: Any) -> World | None:
    """The world, if it can surround a robot.

    Raises:
        InputError: it is not a World, or an obstacle has the name of a link.
    """
    if world is None:
        return None
    if not isinstance(world, World):
        raise InputError(
            f"world: expected a World of obstacles (elbowroom.world.World) or None, found {short(world)}"
        )
    taken = [name for name in robot.link_names if name in world]
    if taken:
        raise InputError(
            f"world: {', '.join(map(repr, taken[:5]))} names an obstacle and a link of {robot.name}; a verdict could "
            "not tell them apart: give the obstacle another name (obstacle.named(...))"
        )
    return world


def as_allow(robot: Robot, world: World | None, allow: Any) -> Allow:
    """The pairs of `allow` as (link, obstacle), whichever is named first.

    Raises:
        InputError: not pairs of names.
        UnknownLinkError, UnknownNameError: no such link, no such obstacle.
    """
    return frozenset(_link_and_obstacle(robot, world, entry) for entry in allow_entries(allow))


def kept_allow(world: World | None, allow: Iterable[tuple[str, str]]) -> Allow:
    """Those pairs whose obstacle is in a world."""
    return frozenset(pair for pair in allow if world is not None and pair[1] in world)


def allow_text(pairs: Iterable[tuple[str, str]]) -> str:
    """What to write so that pairs (link, obstacle) may touch."""
    named = ", ".join(f"({json.dumps(link)}, {json.dumps(obstacle)})" for link, obstacle in pairs)
    return f"allow=[{named}]"


def allow_entries(allow: Any) -> list[Any]:
    """The entries of `allow`, not yet looked at.

    Raises:
        InputError: it has none because it is no collection.
    """
    if isinstance(allow, str) or not isinstance(allow, Iterable):
        raise InputError(f"allow: expected pairs (link, obstacle), found {short(allow)}")
    return list(allow)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _link_and_obstacle(robot: Robot, world: World | None, entry: Any) -> tuple[str, str]:
    names = list(entry) if isinstance(entry, (tuple, list)) else []  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if len(names) != 2 or not all(isinstance(name, str) for name in names):
        raise InputError(f"allow: expected pairs of names (link, obstacle), found {short(entry)}")
    link, obstacle = names
    obstacles = World() if world is None else world
    if link in obstacles:  # no link has the name of an obstacle
        link, obstacle = obstacle, link
    if obstacle not in obstacles:
        if obstacle in robot.link_names:
            raise InputError(
                f"allow: {link!r} and {obstacle!r} are both links; `allow` is for a link and an obstacle, and links "
                "that may touch each other are ignored pairs (PairOptions(ignore=...))"
            )
        raise UnknownNameError(f"allow: {unknown('obstacle', obstacle, obstacles.names)}")
    if link not in robot.link_names:
        raise UnknownLinkError(f"allow: {unknown('link', link, robot.link_names)}")
    return link, obstacle
