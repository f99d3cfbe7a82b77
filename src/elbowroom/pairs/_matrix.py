"""PairMatrix: every pair of links, whether it is checked, why, and the evidence.

A value: made by `compute_pairs` or read from a file, changed by making another. A pair is never just off; it is
off for a reason with evidence, which prints as a sentence.

`PairDiff` is what changed between two of them, for instance after the description of a robot changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from .._brief import brief
from .._frozen import Frozen, FrozenMap
from ..errors import InputError, UnknownLinkError, unknown
from ..robot import DefaultPose, as_robot
from ..robot.internal import pair_list
from ..typing import LinkPair, RobotLike, sorted_pair
from ._evidence import PairEvidence, PairReason
from ._made_for import MadeFor

MOST_NOTES = 4
"""Notes that a printed matrix shows."""


def ignore_dictionary(pairs: Iterable[LinkPair]) -> dict[str, list[str]]:
    """Pairs as `{link: [links]}`, sorted by name: each pair once, under the name that comes first."""
    found: dict[str, list[str]] = {}
    for a, b in sorted({sorted_pair(*pair) for pair in pairs}):
        found.setdefault(a, []).append(b)
    return found


@dataclass(frozen=True, repr=False)
class PairMatrix(Frozen):
    """All pairs of links with geometry; see the module."""

    robot_name: str
    link_names: tuple[str, ...]
    """Links with geometry, in the robot's order."""
    entries: Mapping[LinkPair, PairEvidence]
    """Evidence of every pair of these links, names sorted."""
    bare_links: tuple[str, ...] = ()
    """The robot's links without geometry: they never collide."""
    notes: tuple[str, ...] = ()
    """What was omitted or could not be represented."""
    default_pose: DefaultPose | None = None
    """The pose to start from: the robot's, moved to the nearest free one found if that was a guess and collided."""
    made_for: MadeFor | None = None
    """What it holds for; None when it was read from a file that cannot hold this."""

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
        object.__setattr__(self, "entries", FrozenMap(ordered))

    @property
    def checked(self) -> tuple[LinkPair, ...]:
        """Pairs to check, sorted by name."""
        return self._checked

    @cached_property
    def _checked(self) -> tuple[LinkPair, ...]:
        return tuple(pair for pair, found in self.entries.items() if found.reason is PairReason.CHECKED)

    @cached_property
    def by_spheres(self) -> tuple[LinkPair, ...]:
        """The checked pairs that spheres can decide: apart at the default pose."""
        return tuple(pair for pair in self.checked if self.entries[pair].decided_by == "spheres")

    @cached_property
    def by_meshes(self) -> tuple[LinkPair, ...]:
        """The other checked pairs: their spheres overlap at rest or always, or a link has none."""
        return tuple(pair for pair in self.checked if self.entries[pair].decided_by == "meshes")

    @property
    def default_cfg(self) -> Float[np.ndarray, "dof"] | None:
        """Joint values of `default_pose`; None when it is not known."""
        return None if self.default_pose is None else self.default_pose.cfg

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
        """The evidence for a pair; the order of the names does not matter.

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

    def ignore_dictionary(self) -> dict[str, list[str]]:
        """cuRobo's `self_collision_ignore`: a link -> the links it is not checked against, each pair once.

        It is what `formats.write` puts into a cuRobo or XRDF file. cuRobo knows spheres alone, so the pairs of
        `by_meshes` are in it as well: their spheres overlap at rest, and checked they would always collide.
        """
        return ignore_dictionary((*self.ignored, *self.by_meshes))

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

    def for_buffer(self, buffer: float) -> PairMatrix:
        """The matrix where links must keep `buffer` metres apart: what is only known to keep less is checked.

        A pair that is proved never to collide may still come close; `CollisionModel` and `Guard` check it when a
        clearance is asked that it is not proved to keep. Returns itself when nothing changes.
        """
        less = [pair for pair in self.ignored if not self.entries[pair].holds_for(buffer)]
        if not less:
            return self
        entries = dict(self.entries)
        for pair in less:
            found = entries[pair]
            asked = f"{1000 * buffer:g} mm are asked of it and it is not known to keep them"
            text = f"checked because {asked} (otherwise: {found.text})"
            entries[pair] = replace(found, reason=PairReason.CHECKED, text=text, clearance=None, bound=None)
        return replace(self, entries=entries)

    @cached_property
    def contradicted(self) -> tuple[LinkPair, ...]:
        """Pairs that a file disables for a reason that samples show to be wrong; `notes` says which and how."""
        return tuple(pair for pair, found in self.entries.items() if found.contradicted)

    def counts(self) -> dict[PairReason, int]:
        """Number of pairs per reason, in the order of PairReason."""
        found = [evidence.reason for evidence in self.entries.values()]
        return {reason: found.count(reason) for reason in PairReason if reason in found}

    def diff(self, newer: PairMatrix) -> PairDiff:
        """What changed from this matrix to a newer one."""

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

    @staticmethod
    def read(path: str | Path, robot: RobotLike | None = None) -> PairMatrix:
        """Reads a matrix: JSON as `write` makes it, or an SRDF file, which needs the robot.

        Raises:
            FormatError: broken JSON. DescriptionError: a broken SRDF. InputError: an SRDF without a robot.
        """
        robot = None if robot is None else as_robot(robot)
        from ._file import read_pairs

        return read_pairs(Path(path), robot)

    def write(self, path: str | Path) -> tuple[str, ...]:
        """Writes the matrix: JSON without loss, or what SRDF can hold if the path ends in `.srdf`.

        An existing SRDF file keeps its comments and everything else.

        Returns:
            What the format cannot hold, as sentences; nothing for JSON.
        """
        from ._file import write_pairs

        return write_pairs(Path(path), self)

    def __str__(self) -> str:
        parts = ", ".join(f"{count} {reason}" for reason, count in self.counts().items())
        meshes = f" ({len(self.by_meshes)} of the checked by meshes)" if self.by_meshes else ""
        return f"{self.robot_name}: {len(self.link_names)} links, {len(self.entries)} pairs: {parts}{meshes}"

    def __repr__(self) -> str:
        lines = [f"PairMatrix({self})"]
        if self.default_pose is not None:
            lines.append(f"  default pose: {self.default_pose}")
        lines += [f"  note: {note}" for note in self.notes[:MOST_NOTES]]
        more = len(self.notes) - MOST_NOTES
        return "\n".join([*lines, *([f"  ... and {more} more notes"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        from html import escape

        counts = "".join(
            f"<tr><td>{escape(str(reason))}</td><td>{count}</td></tr>"
            for reason, count in self.counts().items()
        )
        rows = "".join(
            f"<tr><td>{escape(a)}</td><td>{escape(b)}</td><td>{escape(str(reason))}</td>"
            f"<td>{escape(self.entries[a, b].text)}</td></tr>"
            for (a, b), reason in self.ignored.items()
        )
        return (
            f"<p><b>{escape(str(self))}</b></p><table>{counts}</table>"
            f"<details><summary>{len(self.ignored)} ignored pairs</summary><table>{rows}</table></details>"
        )


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
