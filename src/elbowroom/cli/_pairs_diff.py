"""How a computed pair matrix differs from what the robot's SRDF disables: `pairs --diff`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._text import counted, number

if TYPE_CHECKING:
    from ..pairs import PairEvidence, PairMatrix
    from ..robot import Robot
    from ..typing import LinkPair

HEADINGS = {
    "collides": "disabled by the SRDF, and really can collide; checked here",
    "near": "disabled by the SRDF, known to come near only; checked here",
    "not_proved": "disabled by the SRDF, not known to collide or to come near, but not proved; checked here",
    "ignored": "checked by the SRDF; ignored here",
    "within_buffer": "ignored by both, proved never to collide, but within the buffer",
}
"""Kinds of difference, what needs attention first. The last is no difference of the matrices."""


@dataclass(frozen=True)
class Difference:
    """One pair."""

    kind: str
    """A key of HEADINGS."""
    pair: LinkPair
    srdf: str | None
    """The reason that the SRDF gives for disabling it, maybe empty; None when it does not."""
    found: PairEvidence
    text: str
    """A complete sentence."""

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "kind": self.kind,
            "link_a": self.pair[0],
            "link_b": self.pair[1],
            "srdf": self.srdf,
            "found": self.found.text,
            "closest": self.found.closest,
            "witness": self.found.witness,
            "text": self.text,
        }


def differences(robot: Robot, pairs: PairMatrix) -> list[Difference]:
    """Pairs that the SRDF and the matrix treat differently, and those that both ignore and that come close."""
    order = list(HEADINGS)
    found = [
        Difference(kind, pair, given, evidence, _sentence(kind, pair, given, evidence))
        for pair, evidence in pairs.entries.items()
        for given in (robot.disabled_pairs.get(pair),)
        for kind in (_kind(given, evidence),)
        if kind is not None
    ]
    return sorted(found, key=lambda change: order.index(change.kind))


def difference_lines(changes: Sequence[Difference]) -> Iterator[tuple[str, bool]]:
    """Lines to print, and whether each is a heading."""
    count = sum(change.kind != "within_buffer" for change in changes)
    yield f"{counted(count, 'pair')} {'differs' if count == 1 else 'differ'} from the SRDF", True
    for kind, heading in HEADINGS.items():
        mine = [change for change in changes if change.kind == kind]
        if mine:
            yield f"{counted(len(mine), 'pair')} {heading}:", True
            yield from ((f"  {change.text}", False) for change in mine)


def _kind(given: str | None, found: PairEvidence) -> str | None:
    checked = found.reason.name == "CHECKED"
    if given is None:
        return None if checked else "ignored"
    if checked:
        if found.collides:
            return "collides"
        met = found.hits > 0 if found.closest is None else found.closest <= found.buffer
        return "near" if met else "not_proved"
    proved = found.reason.name == "NEVER_PROVED"
    return "within_buffer" if proved and (found.closest or found.buffer + 1.0) <= found.buffer else None


def _sentence(kind: str, pair: LinkPair, given: str | None, found: PairEvidence) -> str:
    a, b = pair
    who = f"{a} and {b}"
    if kind == "ignored":
        return f"{who}: the SRDF leaves the pair checked; it is {found.text}."
    says = (
        f"the SRDF disables the pair as {given!r}" if given else "the SRDF disables the pair without a reason"
    )
    at = "" if found.witness is None else f" at the configuration {_cfg(found.witness)}"
    if kind == "collides":
        often = f" in {found.mesh_hits} of {found.mesh_samples} samples" if found.mesh_hits else ""
        example = ", for example" if often and at else ""
        return f"{who}: {says}, but their meshes collide{often}{example}{at}."
    if kind == "within_buffer":
        return f"{who}: {says}; rightly so, but they come within {1000 * (found.closest or 0.0):.1f} mm{at}."
    if found.closest is None:
        return f"{who}: {says}; it is {found.text}."
    if kind == "not_proved":
        return (
            f"{who}: {says}; the closest that they were found is {1000 * found.closest:.1f} mm{at}, more than the "
            f"buffer of {1000 * found.buffer:g} mm, but nobody has shown that they cannot collide."
        )
    return (
        f"{who}: {says}; no collision is known, but they come within {1000 * found.closest:.1f} mm{at}, and nobody has "
        "shown that they cannot collide."
    )


def _cfg(cfg: Sequence[float]) -> str:
    return f"[{', '.join(number(value, 6) for value in cfg)}]"
