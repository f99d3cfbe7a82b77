"""compute_pairs: which pairs of links need checking, each with its reason and evidence.

In order: the user's word, adjacency, overlap at default poses, sampling within the joint limits, and for pairs
that never met in a sample a proof by branch and bound or, where its budget ends, a local search. Spheres cover
the links, so "never" of the spheres is "never" of the meshes; "always" and "default" speak of the spheres.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from .._parallel import Progress, parallel_map
from ..distance import SelfCollisionChecker, Spheres, link_values, pack_model, sphere_arrays
from ..errors import InputError
from ..robot import Robot, adjacent_pairs, as_robot, find_bodies, named_poses, pair_list
from ..typing import LinkPair
from ._chain import PairChains
from ._given import SRDF_REASONS
from ._matrix import PairEvidence, PairMatrix, PairReason
from ._options import PairOptions
from ._sample import SampleTask, count_meetings, sample_chunk
from ._settle import Settled, SettleTask, settle
from ._spread import choose_workers

logger = logging.getLogger(__name__)

FIRST_LOOK = 256
"""Samples after which a pair that was once apart is no longer a candidate for "always"."""
LOCAL_WORK = 50_000_000
"""Samples times pairs below which starting worker processes costs more than it saves."""
BOX_WORK = 10
"""A box of a proof costs about as much as so many pairs in a sample."""


def compute_pairs(
    robot: Any,
    spheres: Spheres,
    options: PairOptions | None = None,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    checkpoint: Path | str | None = None,
) -> PairMatrix:
    """Decides for every pair of links with spheres whether it must be checked, and why.

    Args:
        robot: an Elbowroom or pyroki Robot.
        spheres: the sphere model.
        options: see PairOptions.
        workers: processes; None decides by the amount of work, or takes joblib's active configuration (a Dask or
            Ray cluster). The answer does not depend on it.
        progress: called with (done, total): samples first, then pairs.
        checkpoint: file that keeps the counts of long runs; interrupted runs continue from it.

    Raises:
        InputError: spheres, pairs or poses that make no sense, or a joint without limits to sample from.
        UnknownLinkError: a link the robot does not have. UnknownNameError: a pose it does not have.
    """
    work = _Work.start(as_robot(robot), spheres, options or PairOptions())
    work.decide_by_word()
    work.decide_by_pose()
    work.decide_by_samples(workers, progress, Path(checkpoint) if checkpoint is not None else None)
    return work.matrix()


@dataclass
class _Work:
    """State of one computation; entries are filled step by step."""

    robot: Robot
    options: PairOptions
    arrays: tuple[np.ndarray, np.ndarray, np.ndarray]
    spheres: Spheres
    solid: tuple[str, ...]
    pads: Mapping[LinkPair, float]
    entries: dict[LinkPair, PairEvidence]

    @staticmethod
    def start(robot: Robot, spheres: Spheres, options: PairOptions) -> _Work:
        arrays = sphere_arrays(robot.link_names, spheres, who=robot.name)
        present = set(arrays[2].tolist())
        solid = tuple(name for k, name in enumerate(robot.link_names) if k in present)
        each = link_values(robot.link_names, options.buffer, "buffer")
        share = 1.0 if isinstance(options.buffer, Mapping) else 0.5
        pads = {
            (a, b): share * float(each[robot.link_index(a)] + each[robot.link_index(b)])
            for a, b in combinations(sorted(solid), 2)
        }
        return _Work(robot, options, arrays, spheres, solid, pads, {})

    @property
    def open(self) -> list[LinkPair]:
        """Pairs not decided yet."""
        return [pair for pair in self.pads if pair not in self.entries]

    def put(self, pair: LinkPair, reason: PairReason, text: str, **facts: Any) -> None:
        """Decides a pair; what the SRDF says of it is recorded."""
        verb = "checked" if reason is PairReason.CHECKED else "ignored"
        self.entries[pair] = PairEvidence(
            reason,
            f"{verb} because {text}",
            confidence=self.options.confidence,
            buffer=self.pads[pair],
            srdf_reason=self.robot.disabled_pairs.get(pair),
            **facts,
        )

    # Steps ------------------------------------------------------------------------------------

    def decide_by_word(self) -> None:
        """The user's pairs, the SRDF's if wanted, and adjacency."""
        names = self.robot.link_names
        for pair in pair_list(names, self.options.check):
            if pair in self.pads:
                self.put(pair, PairReason.CHECKED, "the user said so", source="user")
        for pair in pair_list(names, self.options.ignore):
            if pair in self.pads:
                if pair in self.entries:
                    raise InputError(f"the pair {pair} is in both `check` and `ignore`")
                self.put(pair, PairReason.USER, "the user said so", source="user")
        if self.options.use_srdf:
            for pair, given in self.robot.disabled_pairs.items():
                if pair in self.pads and pair not in self.entries:
                    reason = SRDF_REASONS.get(given.lower(), PairReason.USER)
                    self.put(pair, reason, f"the SRDF says {given or 'so'!r}", source="SRDF")
        adjacent = adjacent_pairs(self.robot, self.solid)
        for pair in self.open:
            if pair in adjacent:
                self.put(pair, PairReason.ADJACENT, _why_adjacent(self.robot, pair))

    def decide_by_pose(self) -> None:
        """Pairs that overlap at a default pose."""
        for label, cfg in named_poses(self.robot, self.options.default_cfgs):
            pairs = self.open
            if not pairs:
                return
            checker = SelfCollisionChecker(self.robot, self.spheres, pairs, threads=1)
            for pair, distance in zip(checker.pairs, checker.pair_distances(cfg).tolist(), strict=True):
                if distance < 0.0:
                    text = (
                        f"the spheres overlap by {-1000 * distance:.1f} mm at the pose {label!r}; whether the links "
                        "themselves touch there is not known"
                    )
                    self.put(pair, PairReason.DEFAULT, text, clearance=distance, witness=tuple(cfg.tolist()))

    def decide_by_samples(
        self, workers: int | None, progress: Progress | None, checkpoint: Path | None
    ) -> None:
        """Counts, then settles the pairs that never met."""
        pairs, options = self.open, self.options
        if not pairs:
            return
        for joint in self.robot.tree.actuated:
            if not np.isfinite(joint.upper - joint.lower):
                raise InputError(
                    f"{self.robot.name}: joint {joint.name!r} has no finite limits to sample within; give it limits"
                )
        jobs = choose_workers(workers, options.samples * len(pairs), LOCAL_WORK)
        task = self._task(pairs, np.array([self.pads[pair] for pair in pairs]))
        meets = count_meetings(task, options.samples, workers=jobs, progress=progress, checkpoint=checkpoint)
        overlaps = self._always(pairs, meets, jobs)
        never: list[LinkPair] = []
        for pair, count in zip(pairs, meets.tolist(), strict=True):
            if overlaps.get(pair, -1) >= options.always_share * options.samples:
                self._put_always(pair, overlaps[pair])
            elif count:
                self._put_checked(pair, count)
            else:
                never.append(pair)
        self._settle(never, workers, progress)

    def _task(self, pairs: Sequence[LinkPair], pads: Float[np.ndarray, "pairs"]) -> SampleTask:
        index = [(self.robot.link_index(a), self.robot.link_index(b)) for a, b in pairs]
        model = pack_model(self.robot.tree, *self.arrays, index)
        lower, upper = np.array(self.robot.lower), np.array(self.robot.upper)
        return SampleTask(model, pads + model.margin, lower, upper, self.options.seed, 0, 0)

    def _always(self, pairs: list[LinkPair], meets: np.ndarray, jobs: int | None) -> dict[LinkPair, int]:
        """Samples in which candidates for "always" overlap, without padding."""
        share, samples = self.options.always_share, self.options.samples
        candidates = [
            pair for pair, count in zip(pairs, meets.tolist(), strict=True) if count >= share * samples
        ]
        if not candidates:
            return {}
        task = self._task(candidates, np.zeros(len(candidates)))
        look = min(FIRST_LOOK, samples)
        first = sample_chunk(replace(task, count=look))
        floor = 0.9 * share * look if share < 1.0 else look
        candidates = [pair for pair, count in zip(candidates, first.tolist(), strict=True) if count >= floor]
        if not candidates:
            return {}
        task = self._task(candidates, np.zeros(len(candidates)))
        counts = count_meetings(task, samples, workers=jobs, progress=None, checkpoint=None)
        return dict(zip(candidates, counts.tolist(), strict=True))

    def _settle(self, never: list[LinkPair], workers: int | None, progress: Progress | None) -> None:
        options = self.options
        chains = PairChains(self.robot.tree, *self.arrays)
        tasks = [
            SettleTask(
                chains.between(self.robot.link_index(a), self.robot.link_index(b)),
                self.pads[(a, b)],
                options.proof_boxes,
                options.search_starts,
                options.seed,
            )
            for a, b in never
        ]
        jobs = choose_workers(workers, len(tasks) * options.proof_boxes * BOX_WORK, LOCAL_WORK)
        for pair, task, found in zip(
            never, tasks, parallel_map(settle, tasks, workers=jobs, progress=progress), strict=True
        ):
            self._put_settled(pair, task, found)

    # Sentences --------------------------------------------------------------------------------

    def _put_always(self, pair: LinkPair, count: int) -> None:
        options = self.options
        bound = upper_bound(options.samples - count, options.samples, options.confidence)
        text = (
            f"the spheres overlapped in {count} of {options.samples} samples; a random configuration is free with "
            f"probability below {bound:.2g} ({options.confidence:.0%})"
        )
        facts = {"samples": options.samples, "hits": count, "bound": bound, "seed": options.seed}
        self.put(pair, PairReason.ALWAYS, text, **facts)

    def _put_checked(self, pair: LinkPair, count: int) -> None:
        options = self.options
        bound = upper_bound(count, options.samples, options.confidence)
        text = f"it came within {1000 * self.pads[pair]:.0f} mm in {count} of {options.samples} samples"
        facts = {"samples": options.samples, "hits": count, "bound": bound, "seed": options.seed}
        self.put(pair, PairReason.CHECKED, text, **facts)

    def _put_settled(self, pair: LinkPair, task: SettleTask, found: Settled) -> None:
        options = self.options
        bound = upper_bound(0, options.samples, options.confidence)
        facts: dict[str, Any] = {
            "samples": options.samples,
            "seed": options.seed,
            "clearance": found.clearance,
            "boxes": found.boxes,
            "seconds": found.seconds,
        }
        joints = len(task.chain.joints.lower)
        if found.proved:
            text = (
                f"it is proved: at least {1000 * found.clearance:.1f} mm apart in the whole range of the {joints} "
                f"joints between them ({found.boxes} boxes)"
            )
            self.put(pair, PairReason.NEVER_PROVED, text, bound=0.0, **facts)
        elif found.meets:
            cfg = np.array(self.robot.default_cfg)
            cfg[task.chain.joints.cfg_idx] = found.cfg
            text = (
                f"a {found.how} found a configuration within {1000 * found.clearance:.1f} mm, which "
                f"{options.samples} samples had not"
            )
            self.put(pair, PairReason.CHECKED, text, bound=bound, witness=tuple(cfg.tolist()), **facts)
        else:
            text = (
                f"{options.samples} samples and a local search never brought it within "
                f"{1000 * self.pads[pair]:.0f} mm (closest {1000 * found.clearance:.1f} mm); a random configuration "
                f"meets with probability below {bound:.2g} ({options.confidence:.0%}); no proof within "
                f"{found.boxes} boxes"
            )
            self.put(pair, PairReason.NEVER_SAMPLED, text, bound=bound, **facts)

    def matrix(self) -> PairMatrix:
        """The result."""
        bare = tuple(name for name in self.robot.link_names if name not in self.solid)
        return PairMatrix(self.robot.name, self.solid, self.entries, bare)


def upper_bound(hits: int, samples: int, confidence: float) -> float:
    """Upper confidence bound on a probability after `hits` of `samples` (Clopper and Pearson, one-sided)."""
    if hits >= samples:
        return 1.0
    from scipy.stats import beta

    return float(beta.ppf(confidence, hits + 1, samples - hits))


def _why_adjacent(robot: Robot, pair: LinkPair) -> str:
    links = set(pair)
    for joint in robot.tree.joints:
        if {joint.parent, joint.child} == links:
            return f"joint {joint.name} joins them"
    bodies = find_bodies(robot.tree)
    a, b = (bodies.of_frame[int(robot.tree.link_frame[robot.link_index(name)])] for name in pair)
    if a == b:
        return "fixed joints hold them together"
    return "one joint and links without geometry are between them"
