"""Planning groups, end effectors and named states of a new SRDF, found in the kinematic tree.

Each tool frame ends a chain that begins where its way from the base forks from those of the other tools: an arm, a leg,
a finger of a hand. What moves behind a tool frame is its hand: a group of joints, and an end effector. All other joints
(a torso, a head, wheels) form groups that end where the tree forks, so every joint is in a group and every state can be
told. Several groups are joined in one more, `all`. Names are the words that the joints of a group share; a chain
without such words is `arm` if it can only be that, and else has the name of its tool frame.
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count

import numpy as np

from .._text import nine_digits, shortest
from ..robot import Joint, Robot
from ._options import RobotFacts

ALL = "all"
"""Name of the group of all groups, and of nothing else."""
DEFAULT = "default"
"""Name of the state that is the default pose."""
WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+[0-9.]*|[A-Z]+[0-9.]*|[0-9.]+")
"""A word of a name in snake case or camel case."""
NO_WORDS = re.compile(
    r"joint|link|jnt|motor|actuator|j|(joint|link|jnt|motor|actuator|[a-z])?[0-9.]+", re.IGNORECASE
)
"""Words of joint names that do not tell groups apart."""
LIMBS = {
    "leg": re.compile("hip|knee|ankle|thigh|calf|leg", re.IGNORECASE),
    "arm": re.compile("shoulder|elbow|wrist|arm", re.IGNORECASE),
}
"""Words that tell what a chain is, where the words its joints share do not."""


@dataclass(frozen=True)
class Group:
    """A planning group: a chain, or joints, or other groups."""

    name: str
    joints: tuple[str, ...]
    """Actuated joints in it, which its states give values."""
    chain: tuple[str, str] | None = None
    """Base and tip link."""
    members: tuple[str, ...] = ()
    """Names of the joints it lists, coupled ones included, or of the groups it joins."""
    parent: tuple[str, str] | None = None
    """Of an end effector: the link that carries it, and the group of that link."""

    @property
    def elements(self) -> list[tuple[str, dict[str, str]]]:
        """Tags and attributes of what is inside its element."""
        if self.chain is not None:
            return [("chain", {"base_link": self.chain[0], "tip_link": self.chain[1]})]
        return [("group" if self.name == ALL else "joint", {"name": name}) for name in self.members]


def planning_groups(robot: Robot, facts: RobotFacts) -> list[Group]:
    """The groups of a robot, chains first; see the module."""
    carriers: dict[str, list[Joint]] = {}
    for joint in robot.tree.joints:
        carriers.setdefault(joint.child, []).append(joint)
    ways = {tool: _way(tool, facts.base_link, carriers) for tool in facts.tool_frames}
    names = _Names()
    groups: list[Group] = []
    claimed: set[str] = set()
    chains = {tool: _own_part(tool, ways) for tool in ways}
    chains = {tool: part for tool, part in chains.items() if any(_moves(joint) for joint in part)}
    moved = {tool: [joint for joint in part if _moves(joint)] for tool, part in chains.items()}
    words = {tool: _limb(joints) if len(chains) > 1 else "" for tool, joints in moved.items()}
    nameless = [tool for tool, word in words.items() if not word]
    fallback = (
        "arm" if len(nameless) == 1 and not any("arm" in word.lower() for word in words.values()) else ""
    )
    for tool, moving in moved.items():
        name = names.new(words[tool] or fallback, tool)
        groups.append(Group(name, _actuated(moving), chain=(moving[0].parent, tool)))
        claimed |= {joint.name for joint in moving}
    on_ways = {joint.name for way in ways.values() for joint in way}
    for tool, arm in zip(chains, list(groups), strict=True):
        hand = [joint for joint in _behind(tool, robot, carriers) if joint.name not in on_ways | claimed]
        if not hand:
            continue
        words_of_hand = _shared_words(hand) if len(chains) > 1 else "hand"
        name = names.new(words_of_hand if len(words_of_hand) > 2 else "", f"{arm.name}_hand")
        links = [joint.child for joint in ways[tool]]
        holder = hand[0].parent if hand[0].parent in links else tool
        listed = tuple(joint.name for joint in hand)
        groups.append(Group(name, _actuated(hand), members=listed, parent=(holder, arm.name)))
        claimed |= set(listed)
    for joints in _left(robot, facts, carriers, claimed):
        name = names.new(_shared_words(joints), joints[0].name)
        groups.append(Group(name, _actuated(joints), members=tuple(joint.name for joint in joints)))
    if len(groups) > 1:
        every = tuple(dict.fromkeys(name for group in groups for name in group.joints))
        groups.append(Group(ALL, every, members=tuple(group.name for group in groups)))
    return groups


def states_of(robot: Robot, facts: RobotFacts) -> dict[str, dict[str, str]]:
    """State -> joint -> value of at most nine digits, within the limits: the default pose and the named poses."""
    default = np.array([facts.positions.get(name, 0.0) for name in robot.joint_names])
    named = {name: cfg for name, cfg in robot.named_cfgs.items() if name != DEFAULT}
    return {
        name: {
            joint.name: _value(joint, value)
            for joint, value in zip(robot.tree.actuated, cfg.tolist(), strict=True)
            if joint.name in facts.positions
        }
        for name, cfg in {DEFAULT: default, **named}.items()
    }


def _value(joint: Joint, value: float) -> str:
    rounded = nine_digits(value)
    if joint.lower <= value <= joint.upper and not joint.lower <= rounded <= joint.upper:
        inward = decimal.ROUND_FLOOR if rounded > joint.upper else decimal.ROUND_CEILING
        rounded = nine_digits(value, inward)
    return shortest(rounded)


class _Names:
    """Names of groups, each given once."""

    def __init__(self) -> None:
        self._taken = {ALL, ""}

    def new(self, wanted: str, other: str) -> str:
        """The first free of: the name that is wanted, the other one, the other one with a number."""
        numbered = (f"{other}_{number}" for number in count(2))
        name = next(
            name for names in ((wanted, other), numbered) for name in names if name not in self._taken
        )
        self._taken.add(name)
        return name


def _moves(joint: Joint) -> bool:
    return joint.type != "fixed"


def _actuated(joints: Iterable[Joint]) -> tuple[str, ...]:
    return tuple(joint.name for joint in joints if joint.actuated)


def _way(tool: str, base: str, carriers: Mapping[str, list[Joint]]) -> list[Joint]:
    """Joints from the base to a tool."""
    found: list[Joint] = []
    link = tool
    while link != base:
        found[:0] = carriers[link]
        link = carriers[link][0].parent
    return found


def _own_part(tool: str, ways: Mapping[str, list[Joint]]) -> list[Joint]:
    """The part of a tool's chain that is not part of another tool's chain; a tool on the chain to another one has no
    fork."""
    way = ways[tool]
    shared = 0
    for other, theirs in ways.items():
        common = sum(1 for a, b in zip(way, theirs, strict=False) if a is b)
        if other != tool and common < min(len(way), len(theirs)):
            shared = max(shared, common)
    return way[shared:]


def _behind(tool: str, robot: Robot, carriers: Mapping[str, list[Joint]]) -> list[Joint]:
    """Moving joints that the rigid body of a tool carries, at whatever distance."""
    found = _carried(_first_of_body(tool, carriers), robot)
    for joint in found:  # grows while it is walked
        found += [other for other in _carried(joint.child, robot) if other not in found]
    return found


def _carried(first: str, robot: Robot) -> list[Joint]:
    """Moving joints on the rigid body that begins with a link."""
    found: list[Joint] = []
    links = [first]
    for link in links:  # grows while it is walked
        for joint in robot.tree.joints:
            if joint.parent == link and _moves(joint):
                found.append(joint)
            elif joint.parent == link and joint.child not in {other.child for other in robot.tree.moving}:
                links.append(joint.child)
    return found


def _first_of_body(link: str, carriers: Mapping[str, list[Joint]]) -> str:
    """The link that a rigid body begins with."""
    while link in carriers and not any(map(_moves, carriers[link])):
        link = carriers[link][0].parent
    return link


def _left(
    robot: Robot, facts: RobotFacts, carriers: Mapping[str, list[Joint]], claimed: set[str]
) -> list[list[Joint]]:
    """Moving joints that are in no group yet, those together that carry each other without a fork between."""
    found: list[list[Joint]] = []
    place: dict[str, list[Joint]] = {}
    waiting = [
        joint for joint in robot.tree.moving if joint.name not in claimed and joint.parent in facts.below
    ]
    depth = {joint.name: len(_way(joint.parent, robot.tree.root, carriers)) for joint in waiting}
    for joint in sorted(waiting, key=lambda joint: depth[joint.name]):
        link = _first_of_body(joint.parent, carriers)
        alone = len({other.child for other in _carried(link, robot)}) == 1
        before = [carrier.name for carrier in carriers.get(link, ()) if _moves(carrier) and alone]
        same_body = [other.name for other in carriers[joint.child] if other is not joint]
        group = next((place[name] for name in (*before, *same_body) if name in place), None)
        if group is None:
            group = []
            found.append(group)
        group.append(joint)
        place[joint.name] = group
    return found


def _limb(joints: Iterable[Joint]) -> str:
    """The words that the joints of a chain share, with the kind of limb where their names tell it."""
    joints = list(joints)
    words = _shared_words(joints)
    for limb, pattern in LIMBS.items():
        telling = sum(bool(pattern.search(f"{joint.name} {joint.child}")) for joint in joints)
        if words and 2 * telling > len(joints) and limb not in words.lower():
            return f"{words}_{limb}"
    return words


def _shared_words(joints: Iterable[Joint]) -> str:
    """Words that all names of some joints have, in the order of the first; "" if there are none that tell."""
    words = [WORD.findall(joint.name) for joint in joints]
    shared = dict.fromkeys(word for word in words[0] if all(word in others for others in words))
    return "_".join(word for word in shared if not NO_WORDS.fullmatch(word))
