"""PairMatrix: every pair of links, whether it is checked, why, and how one knows.

A value: made by `compute_pairs` or read from a file, changed by making another. A pair is never just off; it is
off for a reason with evidence, which prints as a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..errors import InputError, UnknownLinkError, unknown
from ..robot import pair_list
from ..typing import LinkPair, sorted_pair

if TYPE_CHECKING:
    from ._diff import PairDiff


class PairReason(StrEnum):
    """Why a pair is checked or not."""

    CHECKED = "checked"
    """It can collide, or nobody has shown that it cannot."""
    ADJACENT = "adjacent"
    """The links touch by construction: fixed to each other or joined by a joint."""
    DEFAULT = "default"
    """The spheres overlap at a default pose."""
    ALWAYS = "always"
    """The spheres overlapped in every sample."""
    NEVER_PROVED = "never, proved"
    """The spheres stay apart in the whole range of the joints between the links: exact."""
    NEVER_SAMPLED = "never, sampled"
    """No sample and no search brought the spheres together: evidence, not proof."""
    USER = "user"
    """Somebody said so."""

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class PairEvidence:
    """How one knows."""

    reason: PairReason
    text: str
    """A sentence: checked or ignored because ..."""
    samples: int = 0
    """Configurations sampled for this pair."""
    hits: int = 0
    """Of them, those that met (closer than `buffer`); for ALWAYS, those that overlapped."""
    confidence: float = 0.95
    """Level of `bound`."""
    bound: float | None = None
    """Upper bound, at this confidence, on the probability that a random configuration contradicts the reason:
    for never and checked pairs that it meets, for always that it does not overlap. 0 when proved; None when
    nothing was sampled. It treats samples as independent; they are randomised low-discrepancy points."""
    seed: int | None = None
    buffer: float = 0.0
    """Padding in metres, both links together, that "meet" includes."""
    clearance: float | None = None
    """NEVER_PROVED: proved lower bound of the clearance in metres, `buffer` included; otherwise the smallest seen."""
    boxes: int = 0
    """Boxes of joint values that the proof took or gave up after."""
    witness: tuple[float, ...] | None = None
    """DEFAULT: the pose at which the spheres overlap; CHECKED: a configuration that meets, when a search or a
    proof attempt found one that sampling had not."""
    source: str = "computed"
    """computed, user, or what said so: SRDF, SRDF default, MJCF, cuRobo configuration."""
    srdf_reason: str | None = None
    """What the robot's SRDF says of the pair, whether or not it was followed."""
    seconds: float = field(default=0.0, compare=False)
    """Time spent on search and proof."""


@dataclass(frozen=True)
class PairMatrix:
    """All pairs of links with geometry; see the module."""

    robot_name: str
    link_names: tuple[str, ...]
    """Links with geometry, in the robot's order."""
    entries: Mapping[LinkPair, PairEvidence]
    """Evidence of every pair of these links, names sorted."""
    bare_links: tuple[str, ...] = ()
    """The robot's links without geometry: they never collide."""
    notes: tuple[str, ...] = ()
    """What was left out or could not be represented on the way here."""

    def __post_init__(self) -> None:
        names = sorted(self.link_names)
        wanted = set(combinations(names, 2))
        given = set(self.entries)
        if wanted != given:
            odd = sorted(wanted ^ given)[0]
            raise InputError(
                f"a pair matrix of {len(names)} links needs {len(wanted)} pairs, found {len(given)}; "
                f"{'missing' if odd in wanted else 'not expected'}: {odd}"
            )
        ordered = {pair: self.entries[pair] for pair in sorted(self.entries)}
        object.__setattr__(self, "entries", MappingProxyType(ordered))

    @cached_property
    def checked(self) -> tuple[LinkPair, ...]:
        """Pairs to check, sorted by name."""
        return tuple(pair for pair, found in self.entries.items() if found.reason is PairReason.CHECKED)

    @cached_property
    def ignored(self) -> Mapping[LinkPair, PairReason]:
        """Pairs not to check, with the reason."""
        return {
            pair: found.reason
            for pair, found in self.entries.items()
            if found.reason is not PairReason.CHECKED
        }

    def reason(self, a: str, b: str) -> PairReason:
        """Why a pair is checked or not; the order of the names does not matter.

        Raises:
            UnknownLinkError: no such link. InputError: a link with itself.
        """
        return self.evidence(a, b).reason

    def evidence(self, a: str, b: str) -> PairEvidence:
        """How one knows; the order of the names does not matter.

        Raises:
            UnknownLinkError: no such link. InputError: a link with itself.
        """
        everyone = (*self.link_names, *self.bare_links)
        for name in (a, b):
            if name not in everyone:
                raise UnknownLinkError(unknown("link", str(name), everyone))
        if a == b:
            raise InputError(f"link {a!r} is paired with itself")
        for name in (a, b):
            if name in self.bare_links:
                text = f"ignored because {name} has no collision geometry"
                return PairEvidence(PairReason.NEVER_PROVED, text, bound=0.0)
        return self.entries[sorted_pair(a, b)]

    def with_user(
        self, *, ignore: Iterable[Any] = (), check: Iterable[Any] = (), why: str = ""
    ) -> PairMatrix:
        """A matrix in which the user's word stands for some pairs.

        Args:
            ignore: pairs not to check. check: pairs to check.
            why: recorded with them.
        """
        entries = dict(self.entries)
        tail = f": {why}" if why else ""
        words = ((ignore, PairReason.USER, "ignored"), (check, PairReason.CHECKED, "checked"))
        for given, reason, verb in words:
            for pair in pair_list(self.link_names, given):
                text = f"{verb} because the user said so{tail} (before: {entries[pair].text})"
                entries[pair] = replace(entries[pair], reason=reason, source="user", text=text)
        return replace(self, entries=entries)

    def counts(self) -> dict[PairReason, int]:
        """Number of pairs per reason, in the order of PairReason."""
        found = [evidence.reason for evidence in self.entries.values()]
        return {reason: found.count(reason) for reason in PairReason if reason in found}

    def diff(self, newer: PairMatrix) -> PairDiff:
        """What changed from this matrix to a newer one."""
        from ._diff import diff_pairs

        return diff_pairs(self, newer)

    def table(self, *, checked: bool = True) -> str:
        """One line per pair: the two links, the reason, and the sentence that explains it.

        Args:
            checked: whether pairs that are checked are listed too.
        """
        rows = [
            (a, b, str(found.reason), found.text)
            for (a, b), found in self.entries.items()
            if checked or found.reason is not PairReason.CHECKED
        ]
        widths = [max((len(row[k]) for row in rows), default=0) for k in range(3)]
        lines = [
            f"{a:<{widths[0]}}  {b:<{widths[1]}}  {reason:<{widths[2]}}  {text}"
            for a, b, reason, text in rows
        ]
        return "\n".join([str(self), *lines])

    def __str__(self) -> str:
        parts = ", ".join(f"{count} {reason}" for reason, count in self.counts().items())
        return f"{self.robot_name}: {len(self.link_names)} links, {len(self.entries)} pairs: {parts}"

    def __reduce__(self) -> Any:
        return (
            PairMatrix,
            (self.robot_name, self.link_names, dict(self.entries), self.bare_links, self.notes),
        )
