"""Pair matrices from lists of ignored pairs, as other formats hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from ..robot import DefaultPose, Robot, as_robot
from ..robot.internal import adjacent_pairs
from ..typing import LinkPair, RobotLike
from ._evidence import PairEvidence, PairReason
from ._matrix import PairMatrix

SRDF_REASONS = {
    "adjacent": PairReason.ADJACENT,
    "default": PairReason.DEFAULT,
    "always": PairReason.ALWAYS,
    "never": PairReason.NEVER_SAMPLED,
}
"""SRDF reason (lower case) -> ours; anything else is the user's word."""
BY_MESHES = "by meshes"
"""Word of a pair that a file for spheres ignores although it is checked, for only meshes can decide it."""


def matrix_from_ignored(
    robot: Robot,
    known: Mapping[LinkPair, PairEvidence],
    source: str,
    notes: Sequence[str] = (),
    more_links: Iterable[str] = (),
    otherwise: PairEvidence | None = None,
    pose: DefaultPose | None = None,
) -> PairMatrix:
    """A matrix in which the given pairs have their evidence and all others are checked.

    Args:
        robot: the robot.
        known: evidence by pair; pairs of links without geometry are left out with a note.
        source: name of the format, for the sentences.
        notes: what was lost.
        more_links: links that take part although they have no geometry in the description.
        otherwise: evidence of all other pairs.
        pose: the default pose.
    """
    solid = {*robot.mesh_links, *more_links}
    links = tuple(name for name in robot.link_names if name in solid)
    said = list(notes)
    bare = {pair for pair in known if not set(pair) <= solid}
    if bare:
        said.append(f"{len(bare)} pairs of links without geometry are not listed; they never collide")
    text = f"checked because the {source} does not disable it"
    open_pair = otherwise or PairEvidence(PairReason.CHECKED, text, source=source)
    entries = {pair: known.get(pair, open_pair) for pair in combinations(sorted(links), 2)}
    rest = tuple(name for name in robot.link_names if name not in solid)
    return PairMatrix(robot.name, links, entries, rest, tuple(said), pose)


def pairs_from_ignored(robot: RobotLike, ignored: Mapping[LinkPair, str], source: str) -> PairMatrix:
    """The matrix of a file that only lists ignored pairs, with a word for the reason where it gives one.

    Args:
        robot: the robot.
        ignored: pairs and reasons (names of PairReason or SRDF's words); `BY_MESHES` is a pair to check by meshes,
            anything else is the user's word.
        source: name of the format.
    """
    robot = as_robot(robot)
    words = {**SRDF_REASONS, **{reason.name.lower(): reason for reason in PairReason}}
    adjacent = adjacent_pairs(robot)
    known: dict[LinkPair, PairEvidence] = {}
    for pair, word in ignored.items():
        if word == BY_MESHES:
            text = f"checked by meshes alone because its spheres overlap at rest, as the {source} file says"
            known[pair] = PairEvidence(PairReason.CHECKED, text, decided_by="meshes", source=source)
            continue
        guess = PairReason.ADJACENT if pair in adjacent else PairReason.USER
        reason = words.get(word.lower(), guess)
        known[pair] = PairEvidence(reason, f"ignored because the {source} file lists it", source=source)
    return matrix_from_ignored(robot, known, f"{source} file")
