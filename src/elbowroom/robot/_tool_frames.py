"""Which links of a robot are its tools: the ends of its longest chains, not every fingertip.

Links that are fixed to each other are one body. A chain ends in a body behind which nothing moves, or where everything
behind is a hand: it forks into chains with fewer joints than lead to it, or carries one jaw, as its name says. Of these
ends those count whose chain, since the last fork, has at least half the joints of the longest: arms and legs, but no
heads, wheels or tilting lasers. A robot that is only a hand has its fingertips.

Of the links of such a body, the tool frame is the first of: a last frame without shapes whose name says that it is one,
the link that carries the fingers, the last link.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..typing import RobotLike
from ._load import as_robot
from ._robot import Robot

TOOL_WORDS = ("tcp", "ee", "eef", "effector", "tool", "tool0", "gripper", "hand", "sole")
"""Words of names that people give to tool frames, the most telling first."""
JAW = re.compile("gripper|jaw", re.IGNORECASE)
NOT_TOOLS = frozenset(
    ("camera", "cam", "laser", "imu", "led", "accelerometer", "range", "optical", "itb", "box")
)
"""Words of names of sensors and covers that sit beside tools."""


@dataclass
class _Body:
    """Links that are fixed to each other, the first one nearest to the root."""

    links: list[str]
    run: int
    """Moving joints since the last fork or the root."""
    depth: int
    """Moving joints since the root."""
    children: list[_Body] = field(default_factory=list["_Body"])
    carriers: list[str] = field(default_factory=list[str])
    """Links that carry moving joints."""
    height: int = 0
    """Most moving joints on a way to an end."""


def default_tool_frames(robot: RobotLike) -> tuple[str, ...]:
    """Names of the links that a user would want to place, those with most joints before them first; see the module.

    A robot without joints has none.
    """
    robot = as_robot(robot)
    ends = _ends(_tree_of_bodies(robot))
    longest = max(body.run for body in ends)
    long_enough = [body for body in ends if body.depth and 2 * body.run >= longest]
    in_order = sorted(long_enough, key=lambda body: (-body.depth, robot.link_names.index(body.links[0])))
    return tuple(_frame(robot, body) for body in in_order)


def _tree_of_bodies(robot: Robot) -> _Body:
    """The root of the tree of rigid bodies."""
    moved = {joint.child for joint in robot.tree.moving}
    carried: dict[str, list[str]] = {}
    for joint in robot.tree.joints:
        if joint.child not in carried.setdefault(joint.parent, []):  # MJCF bodies may have several joints
            carried[joint.parent].append(joint.child)
    bodies = [_Body([robot.tree.root], 0, 0)]
    for body in bodies:  # both lists grow while they are walked
        moving: list[str] = []
        for link in body.links:
            behind = [child for child in carried.get(link, ()) if child in moved]
            body.links += [child for child in carried.get(link, ()) if child not in moved]
            body.carriers += [link] if behind else []
            moving += behind
        run = body.run + 1 if len(moving) == 1 else 1
        body.children = [_Body([link], run, body.depth + 1) for link in moving]
        bodies += body.children
    for body in reversed(bodies):
        body.height = max((1 + child.height for child in body.children), default=0)
    return bodies[0]


def _ends(root: _Body) -> list[_Body]:
    """Bodies at which chains end: nothing moves behind them, or only fingers."""
    found: list[_Body] = []
    waiting = [root]
    while waiting:
        body = waiting.pop()
        if not body.children or _is_hand(body):
            found.append(body)
        else:
            waiting += body.children
    return found


def _is_hand(body: _Body) -> bool:
    """Whether what moves behind a body are its fingers."""
    if len(body.children) > 1:
        return body.height < body.depth
    names = (*body.carriers, body.children[0].links[0])
    return body.depth > 0 and body.height == 1 and any(map(JAW.search, names))


def _frame(robot: Robot, body: _Body) -> str:
    """The link of a body that stands for its tool."""
    carriers = {joint.parent for joint in robot.tree.joints}
    words = {link: set(re.split(r"[^a-z0-9]+", link.lower())) for link in body.links}
    last = [link for link in body.links if link not in carriers]
    last = [link for link in last if not words[link] & NOT_TOOLS] or last
    frames = [link for link in last if link not in robot.shapes]
    named = [link for word in TOOL_WORDS for link in frames if word in words[link]]
    return (named or body.carriers or last[::-1])[0]
