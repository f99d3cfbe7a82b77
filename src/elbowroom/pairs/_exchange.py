"""Pair matrices as cuRobo's `self_collision_ignore` and as MuJoCo's `<exclude>`; pure functions on plain values.

Both formats hold only which pairs are ignored, not why. What is lost is returned as sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..distance._inputs import pair_list
from ..errors import FormatError
from ..robot import Robot
from ..typing import LinkPair, sorted_pair
from ._given import ignored_by, matrix_from_ignored
from ._matrix import PairMatrix, PairReason

REASONS_LOST = "the reasons and evidence of {count} ignored pairs are not held by {format}"


def curobo_ignore_from_pairs(pairs: PairMatrix) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """cuRobo's `self_collision_ignore`, each pair once, and what it cannot hold."""
    ignore: dict[str, list[str]] = {}
    for a, b in pairs.ignored:
        ignore.setdefault(a, []).append(b)
    return ignore, _lost(pairs, "cuRobo")


def pairs_from_curobo_ignore(ignore: Any, robot: Robot) -> PairMatrix:
    """The matrix of a `self_collision_ignore` map; pairs may be listed from either side.

    Raises:
        FormatError: not a map from links to lists of links.
        UnknownLinkError: a link the robot does not have. InputError: a link with itself.
    """
    if not isinstance(ignore, Mapping):
        raise FormatError(
            f"self_collision_ignore must map links to lists of links, found {type(ignore).__name__}"
        )
    listed: list[LinkPair] = []
    for link, others in ignore.items():
        if isinstance(others, str) or not isinstance(others, Iterable):
            raise FormatError(
                f"self_collision_ignore[{link!r}] must be a list of links, found {others!r:.60}"
            )
        listed += [(str(link), str(other)) for other in others]
    found = pair_list(robot.link_names, listed)
    notes: tuple[str, ...] = ()
    if len(found) < len(listed):
        notes = (f"{len(listed) - len(found)} pairs were listed more than once",)
    return matrix_from_ignored(
        robot, ignored_by(robot, found, "cuRobo configuration"), "cuRobo configuration", notes
    )


def mjcf_excludes_from_pairs(pairs: PairMatrix, robot: Robot) -> tuple[tuple[LinkPair, ...], tuple[str, ...]]:
    """Pairs of bodies for `<contact><exclude body1 body2/>`, and what MJCF cannot hold.

    MuJoCo never collides a body with its parent, so those pairs are left out, and such a pair that is to be
    checked is reported.
    """
    parents = {sorted_pair(joint.parent, joint.child) for joint in robot.tree.joints}
    excludes = tuple(pair for pair in pairs.ignored if pair not in parents)
    lost = list(_lost(pairs, "MJCF"))
    for pair in pairs.checked:
        if pair in parents:
            lost.append(f"MuJoCo does not check {pair[0]} against {pair[1]}: one carries the other")
    return excludes, tuple(lost)


def pairs_from_mjcf_excludes(excludes: Sequence[tuple[str, str]], robot: Robot) -> PairMatrix:
    """The matrix of a model's excluded body pairs; a body and its parent are ignored as MuJoCo does.

    Raises:
        UnknownLinkError: a body the robot does not have. InputError: a body with itself.
    """
    found = set(pair_list(robot.link_names, excludes))
    found |= {sorted_pair(joint.parent, joint.child) for joint in robot.tree.joints}
    return matrix_from_ignored(robot, ignored_by(robot, sorted(found), "MJCF"), "MJCF")


def _lost(pairs: PairMatrix, name: str) -> tuple[str, ...]:
    count = sum(1 for reason in pairs.ignored.values() if reason is not PairReason.ADJACENT)
    return (REASONS_LOST.format(count=count, format=name),) if count else ()
