"""Pairs of links: named by the caller, or adjacent by construction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import InputError, UnknownLinkError, unknown
from ..typing import LinkPair, sorted_pair
from ._robot import Robot
from ._tree import KinematicTree


def pair_list(link_names: Iterable[str], pairs: Any) -> tuple[LinkPair, ...]:
    """Link pairs, names and pairs sorted, each once; takes a PairMatrix (its `checked`) or names two by two.

    Raises:
        InputError: something that is not two names, or a link paired with itself.
        UnknownLinkError: a link that the robot does not have.
    """
    given: Iterable[Any] = getattr(pairs, "checked", pairs)
    names = tuple(link_names)
    known = set(names)
    found: set[LinkPair] = set()
    if isinstance(given, str):
        raise InputError(f"pairs must be (link, link) tuples, found {given!r:.60}")
    try:
        rows = [(pair,) if isinstance(pair, str) else tuple(pair) for pair in given]
    except TypeError as error:
        raise InputError(f"pairs must be (link, link) tuples, found {given!r:.60}") from error
    for pair in rows:
        if len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            raise InputError(f"a pair must be two link names, found {pair!r:.80}")
        a, b = pair
        for name in pair:
            if name not in known:
                raise UnknownLinkError(unknown("link", name, names))
        if a == b:
            raise InputError(f"link {a!r} is paired with itself")
        found.add(sorted_pair(a, b))
    return tuple(sorted(found))


def adjacent_pairs(robot: Robot, with_geometry: Iterable[str] | None = None) -> frozenset[LinkPair]:
    """Pairs of links that touch by construction.

    Two links are adjacent when they belong to one rigid body (only fixed joints between them), or when one
    moving joint is between them and every link in between is a mere frame, without geometry.

    Args:
        robot: the robot.
        with_geometry: links that have geometry; all with collision shapes if None.
    """
    return _adjacent(robot.tree, set(robot.mesh_links if with_geometry is None else with_geometry))


def _adjacent(tree: KinematicTree, solid: set[str]) -> frozenset[LinkPair]:
    steps: dict[str, list[tuple[str, int]]] = {name: [] for name in tree.link_names}
    moves: dict[tuple[str, str], int] = {}
    for joint in tree.joints:
        moves[(joint.parent, joint.child)] = moves.get((joint.parent, joint.child), 0) or int(
            joint.type != "fixed"
        )
    for (parent, child), count in moves.items():
        steps[parent].append((child, count))
        steps[child].append((parent, count))
    found: set[LinkPair] = set()
    for start in tree.link_names:
        stack = [(start, "", 0, False)]
        while stack:
            link, came_from, moved, passed_solid = stack.pop()
            if link != start and (moved == 0 or not passed_solid):
                found.add(sorted_pair(start, link))
            through = passed_solid or (link != start and link in solid)
            for neighbour, count in steps[link]:
                if neighbour != came_from and moved + count <= 1:
                    stack.append((neighbour, link, moved + count, through))
    return frozenset(found)
