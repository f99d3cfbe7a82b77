"""Pair matrices from lists of ignored pairs, as other formats hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from ..robot import Robot
from ..typing import LinkPair
from ._matrix import PairEvidence, PairMatrix, PairReason

SRDF_REASONS = {
    "adjacent": PairReason.ADJACENT,
    "default": PairReason.DEFAULT,
    "always": PairReason.ALWAYS,
    "never": PairReason.NEVER_SAMPLED,
}
"""SRDF reason (lower case) -> ours; anything else is the user's word."""


def matrix_from_ignored(
    robot: Robot,
    ignored: Mapping[LinkPair, PairEvidence],
    source: str,
    notes: Sequence[str] = (),
) -> PairMatrix:
    """A matrix in which the given pairs are ignored and all others are checked.

    Args:
        robot: the robot.
        ignored: evidence by pair; pairs of links without geometry are left out with a note.
        source: name of the format, for the sentences.
        notes: what was lost on the way.
    """
    links = tuple(name for name in robot.link_names if name in robot.mesh_links)
    said = list(notes)
    bare = {pair for pair in ignored if pair[0] not in links or pair[1] not in links}
    if bare:
        said.append(f"{len(bare)} pairs of links without geometry are not listed; they never collide")
    text = f"checked because the {source} does not disable it"
    open_pair = PairEvidence(PairReason.CHECKED, text, source=source)
    entries = {pair: ignored.get(pair, open_pair) for pair in combinations(sorted(links), 2)}
    rest = tuple(name for name in robot.link_names if name not in links)
    return PairMatrix(robot.name, links, entries, rest, tuple(said))
