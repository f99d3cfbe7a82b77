"""What changed between two pair matrices, for instance after the description of a robot changed."""

from __future__ import annotations

from dataclasses import dataclass

from .._brief import brief
from ..typing import LinkPair
from ._evidence import PairReason
from ._matrix import PairMatrix


@brief
@dataclass(frozen=True)
class PairDiff:
    """Differences from an older to a newer matrix."""

    changed: dict[LinkPair, tuple[PairReason, PairReason]]
    """Pairs of links that both have, whose reason differs: (old, new)."""
    added_links: tuple[str, ...]
    removed_links: tuple[str, ...]

    @property
    def newly_checked(self) -> tuple[LinkPair, ...]:
        """Pairs that were ignored and are checked now."""
        return tuple(pair for pair, (_, new) in self.changed.items() if new is PairReason.CHECKED)

    @property
    def newly_ignored(self) -> tuple[LinkPair, ...]:
        """Pairs that were checked and are ignored now: look at these first."""
        return tuple(pair for pair, (old, _) in self.changed.items() if old is PairReason.CHECKED)

    def __bool__(self) -> bool:
        return bool(self.changed or self.added_links or self.removed_links)

    def __str__(self) -> str:
        lines = [f"link {name} is new" for name in self.added_links]
        lines += [f"link {name} is gone" for name in self.removed_links]
        lines += [f"{a}, {b}: {old} -> {new}" for (a, b), (old, new) in self.changed.items()]
        return "\n".join(lines) or "no difference"


def diff_pairs(old: PairMatrix, new: PairMatrix) -> PairDiff:
    """What changed from one matrix to another."""
    changed = {
        pair: (found.reason, new.entries[pair].reason)
        for pair, found in old.entries.items()
        if pair in new.entries and new.entries[pair].reason is not found.reason
    }
    before, after = set(old.link_names), set(new.link_names)
    return PairDiff(changed, tuple(sorted(after - before)), tuple(sorted(before - after)))
