"""Which links of a robot somebody would want to place: tool frames, palms, the ends of arms."""

from __future__ import annotations

import re

from ..robot import Robot

ARM = 4
"""Moving joints from which on a chain is an arm, and up to which one is a finger."""
GOOD_NAME = re.compile(
    r"(^|[_\-.])(ee|eef|tcp|tool\d*|tip|grasp|hand|palm|gripper|effector)([_\-.]|$)", re.IGNORECASE
)


def likely_ends(robot: Robot) -> tuple[str, ...]:
    """End-effector links by the look of the tree, the longest chains first.

    The end of an arm is the link that carries several fingers, else its last link; of links that are fixed to it, one
    that is called like a tool frame. Chains of less than four moving joints count only where there are no others.
    """
    children: dict[str, list[tuple[str, int]]] = {}
    for link in robot.link_names:
        for joint in robot.child_joints(link):
            children.setdefault(link, []).append((joint.child, int(joint.type != "fixed")))
    deepest: dict[str, int] = {}
    """Link -> most moving joints in a chain below it."""

    def measure(link: str) -> int:
        below = [moves + measure(child) for child, moves in children.get(link, [])]
        deepest[link] = max(below, default=0)
        return deepest[link]

    ends: dict[str, int] = {}

    def walk(link: str, above: int) -> None:
        fingers = [child for child, moves in children.get(link, []) if moves or deepest[child]]
        if not fingers or (above >= ARM and len(fingers) > 1 and deepest[link] <= ARM):
            ends[_best_name(link, children)] = above
            return
        for child, moves in children.get(link, []):
            if child in fingers:
                walk(child, above + moves)

    roots = [link for link in robot.link_names if robot.parent_joint(link) is None]
    for root in roots:
        measure(root)
        walk(root, 0)
    moved = {link: above for link, above in ends.items() if above}
    arms = {link: above for link, above in moved.items() if above >= ARM}
    return tuple(sorted(arms or moved, key=lambda link: -ends[link]))


def _best_name(link: str, children: dict[str, list[tuple[str, int]]]) -> str:
    """Of a link and those fixed to it, the last that is called like a tool frame; else the link itself."""
    fixed, queue = [link], [link]
    while queue:
        here = queue.pop()
        rigid = [child for child, moves in children.get(here, []) if not moves]
        fixed += rigid
        queue += rigid
    named = [name for name in fixed if GOOD_NAME.search(name) and "finger" not in name.lower()]
    return named[-1] if named else link
