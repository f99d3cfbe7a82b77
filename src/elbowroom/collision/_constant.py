"""Clearances that a motion cannot change: a base over its table, two links between which only a round flange turns.

They are correct but hide how close the motion comes. There are three cases, each reported as such:
no joint is between two things, so that their distance is always the same; the joints between them were
put in random positions and the distance stayed the same at all of these; or these joints do not move in a motion.
Pairs that touch, or come closer than the buffer, are clashes and never counted as constant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from .._clash import Clash
from .._frozen import Frozen
from .._text import counted
from ..robot import Robot
from ..robot.internal import coupling_law, find_bodies
from ..typing import LinkPair
from ._allow import allow_text
from ._links import NearLinks
from ._surroundings import Surroundings

SAMPLES = 64
"""Random positions of the joints between two things at which their distance is measured; one that differs ends it."""
SAME = 1e-4
"""Metres within which distances are the same: the last digit that is printed, and less than triangles of a round link
that turns are off it."""
NAMED = 3
"""Joints that a sentence names."""


@dataclass(frozen=True)
class ConstantClearance(Frozen):
    """A clearance that a motion cannot change, or was not seen to change."""

    a: str
    """A link."""
    b: str
    """Another, or an obstacle."""
    distance: float
    """Metres: the smallest measured."""
    joints: tuple[str, ...] = ()
    """Joints between the two; none: they are parts of one rigid body, and the distance is always the same."""
    samples: int = 0
    """Random positions of `joints` at which the distance was the same to 0.1 mm; 0 where it was not sampled."""
    obstacle: bool = False
    """Whether `b` is an obstacle."""

    @property
    def pair(self) -> LinkPair:
        """Both names."""
        return self.a, self.b

    def __str__(self) -> str:
        far = f"{1e3 * self.distance:.1f} mm"
        joints = ", ".join(self.joints[:NAMED])
        if len(self.joints) > NAMED:
            joints = f"{counted(len(self.joints), 'joint')} between them"
        if not self.joints:
            how = f"always {far}"
        elif self.samples:
            how = f"{far} at all {self.samples} sampled positions of {joints}"
        else:
            how = f"{far} throughout, without {joints} moving"
        return f"{how}: {self.a} and {self.b}"


def how_to_leave_out(found: Sequence[ConstantClearance]) -> str:
    """What to write so that constant pairs are not checked, in Python and on the command line; "" for none.

    Only pairs with no joint between them are: another motion may change the others, and samples are no proof.
    """
    lasting = [one for one in found if not one.joints]
    touch = [one.pair for one in lasting if one.obstacle]
    ignored = [one.pair for one in lasting if not one.obstacle]
    python, options = [allow_text(touch)] if touch else [], [_option("--allow", touch)] if touch else []
    if ignored:
        python.append(f"PairOptions(ignore={ignored!r})")
        options.append(_option("--ignore", ignored))
    return f"{' and '.join(python)}; on the command line {' '.join(options)}" if lasting else ""


def constant_lines(found: Sequence[ConstantClearance]) -> Iterator[str]:
    """Constants for a report, a line each, and how to leave them out."""
    yield from map(str, found)
    how = how_to_leave_out(found)
    if how:
        yield f"to leave {'this pair' if len(found) == 1 else 'such pairs'} out: {how}"


def _option(name: str, pairs: Sequence[LinkPair]) -> str:
    return " ".join([name, *(quote(part) for pair in pairs for part in pair)])


class VaryingClearance(NamedTuple):
    """The closest of what a motion can change, at each of n configurations."""

    clearance: Float[np.ndarray, "n"]
    """Metres, measured; minus the depth where things overlap; infinite where nothing varies."""
    pairs: tuple[LinkPair | None, ...]
    """Whose it is: two links, or a link and an obstacle."""
    constant: tuple[ConstantClearance, ...]
    """What was left out and is closer at some of the configurations, the closest first."""


def moving_joints(robot: Robot, rows: Float[np.ndarray, "n dof"]) -> tuple[str, ...] | None:
    """Joints that are not the same at all rows of a motion; None, for all, where none moves."""
    moved = np.flatnonzero(np.ptp(rows, axis=0) > 0.0)
    return tuple(robot.joint_names[k] for k in moved.tolist()) or None


class Constants:
    """What is known of pairs of one model; each is decided when it is first found to be closest."""

    def __init__(
        self,
        links: NearLinks,
        around: Surroundings | None,
        buffer: float,
        known: dict[LinkPair, ConstantClearance | None],
    ) -> None:
        """Nothing is decided yet of obstacles.

        Args:
            links: the checked pairs of links.
            around: links and obstacles; None where there are none.
            buffer: metres; what is not farther apart is a clash.
            known: decisions of pairs of links so far, to which is added.
        """
        self._links, self._around, self._buffer = links, around, buffer
        self._robot = links.robot
        self._known: dict[bool, dict[LinkPair, ConstantClearance | None]] = {False: known, True: {}}

    def of(
        self, pair: LinkPair, distance: float, moving: frozenset[str] | None = None
    ) -> ConstantClearance | None:
        """Why a pair is constant; None where it varies, as far as is known, or clashes.

        Args:
            pair: two links, or a link and an obstacle.
            distance: measured at a configuration of the motion, metres.
            moving: joints that move; None for all.
        """
        if not distance > self._buffer:
            return None
        known = self._known[self._is_obstacle(pair)]
        if pair not in known:
            known[pair] = self._decided(pair)
        found = known[pair]
        if found is not None and found.joints and distance < found.distance - SAME:
            known[pair] = found = None  # between the samples it is closer: it varies after all
        if found is not None or moving is None:
            return found
        joints = joints_between(self._robot, pair)
        if moving.intersection(joints):
            return None
        return ConstantClearance(*pair, distance, joints, 0, self._is_obstacle(pair))

    def found(self) -> tuple[ConstantClearance, ...]:
        """Those decided so far that are constant whatever moves, or were so at all samples."""
        parts = [list(part.values()) for part in self._known.values()]  # other threads may add to them
        return tuple(one for part in parts for one in part if one is not None)

    def _decided(self, pair: LinkPair) -> ConstantClearance | None:
        joints = joints_between(self._robot, pair)
        rows = np.tile(self._robot.default_cfg, (SAMPLES if joints else 1, 1))
        columns = [self._robot.joint_names.index(name) for name in joints]
        low, high = (
            np.where(np.isfinite(limit), limit, other)[columns]
            for limit, other in ((self._robot.lower, -np.pi), (self._robot.upper, np.pi))
        )
        rows[:, columns] = np.random.default_rng(0).uniform(low, high, (len(rows), len(columns)))
        least, most = np.inf, -np.inf
        for row in rows:
            distance = self.measured(row, pair).distance
            least, most = min(least, distance), max(most, distance)
            if not self._buffer < least <= most <= least + SAME:
                return None
        samples = len(rows) if joints else 0
        return ConstantClearance(*pair, float(least), joints, samples, self._is_obstacle(pair))

    def measured(self, row: Float[np.ndarray, "dof"], pair: LinkPair) -> Clash:
        """One checked pair at a configuration: two links, or a link and an obstacle."""
        if not self._is_obstacle(pair):
            return self._links.measured(row, pair)
        assert self._around is not None
        return self._around.measured(row, pair)

    def _is_obstacle(self, pair: LinkPair) -> bool:
        return pair[1] not in self._robot.link_names


def joints_between(robot: Robot, pair: LinkPair) -> tuple[str, ...]:
    """Actuated joints that move one of two links and not the other; an obstacle stands with the root.

    Where there are none, the two are parts of one rigid body: nothing changes their distance.
    """
    bodies, tree = find_bodies(robot.tree), robot.tree
    ways: list[set[int]] = []
    for name in pair:
        at = int(tree.link_frame[robot.link_index(name)]) if name in robot.link_names else 0
        ways.append(set(bodies.ancestors(bodies.of_frame[at])))
    laws = [coupling_law(tree, bodies.q_idx[body]) for body in (ways[0] ^ ways[1]) - {0}]
    return tuple(robot.joint_names[k] for k in sorted({k for k, law in laws if len(law) > 1}))
