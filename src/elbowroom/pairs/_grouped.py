"""Many pairs in few lines: each reason once, with how many pairs it has and the first of them."""

from __future__ import annotations

from collections.abc import Mapping

from ..typing import LinkPair
from ._evidence import PairEvidence, PairReason

LISTED = 6
"""Pairs of a reason that are named."""


def some_pairs(pairs: list[str], joint: str = ", ") -> str:
    """Texts of pairs one after the other; of many, the first and how many more there are.

    >>> some_pairs(["a and b", "b and c"])
    'a and b, b and c'
    """
    more = len(pairs) - LISTED
    rest = f"{joint}and {more} more {'pair' if more == 1 else 'pairs'}" if more > 0 else ""
    return joint.join(pairs[:LISTED]) + rest


def grouped_by_reason(entries: Mapping[LinkPair, PairEvidence]) -> dict[PairReason, str]:
    """For each reason in `entries` a line on its pairs: one with its sentence, or their number, why, and the first.

    Args:
        entries: the pairs to speak of, with their evidence.
    """
    groups: dict[PairReason, list[LinkPair]] = {}
    for pair, found in entries.items():
        groups.setdefault(found.reason, []).append(pair)
    return {reason: _line(pairs, entries) for reason, pairs in groups.items()}


def _line(pairs: list[LinkPair], entries: Mapping[LinkPair, PairEvidence]) -> str:
    names, texts = [" and ".join(pair) for pair in pairs], [entries[pair].text for pair in pairs]
    if len(pairs) == 1:
        return f"{names[0]}, {texts[0]}"
    why = texts[0] if len(set(texts)) == 1 else texts[0].split("; ")[0]  # what follows is of one pair
    if all(text.split("; ")[0] == why for text in texts) or len(set(texts)) == 1:
        return f"{len(pairs)} pairs, each {why}: {some_pairs(names)}"
    return f"{len(pairs)} pairs: {some_pairs([f'{names[0]} ({texts[0]})', *names[1:]])}"
