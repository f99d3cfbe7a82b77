"""compute_pairs: which pairs of links need checking, each with its reason and evidence.

In order: what the user and the description state, adjacency, default poses, sampling within the joint limits.
Pairs whose meshes collide in a sample are checked. Spheres cover the links, so what they never do the links never do:
for pairs whose spheres never came within the buffer a proof by branch and bound is tried with them, or a local search
where its budget ends. All others are for the meshes (`_can_meet`): a search for a collision, and where there is
none a proof with the meshes' own clearance. A pair without a proof that comes near stays checked. Where
spheres overlap the links may be apart, so "default" and "always" are for the links' meshes to say; a pair whose spheres
overlap at rest while its meshes do not is decided by meshes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .._frozen import frozen
from .._parallel import Progress, parallel_map
from .._progress import waiting
from .._text import counted
from ..distance import SelfCollisionChecker
from ..distance.internal import Spheres
from ..errors import InputError
from ..robot import DefaultPose, as_robot
from ..robot.internal import adjacent_pairs, named_poses, pair_list
from ..typing import LinkPair, RobotLike
from ._can_meet import SphereTask, decide_by_meshes, decide_by_spheres, share_boxes
from ._chain import PairChains
from ._evidence import PairEvidence, PairReason
from ._given import SRDF_REASONS
from ._ground import Ground
from ._made_for import made_for
from ._matrix import PairMatrix
from ._meshes import MeshJudge
from ._options import PairOptions
from ._pose import Clashes, rest_pose
from ._sample import choose_workers, count_meetings
from ._sentences import (
    Finding,
    always,
    came_near,
    collided,
    contradicted,
    disabled_and_meeting,
    meetings,
    mesh_evidence,
    mm,
    near_facts,
    sphere_evidence,
    touching,
    why_adjacent,
)

LOCAL_WORK = 50_000_000
"""Samples times pairs below which starting worker processes costs more than it saves."""
BOX_WORK = 10
"""A box of a proof costs about as much as so many pairs in a sample."""
MESH_WORK = 100
"""The same of a proof by meshes, for each box of `proof_boxes`."""
LONG_LOOK = 4096
"""Samples in which meshes are asked about pairs that a file says never collide."""
CONTRADICTED = 3
"""Pairs whose reason in a file is wrong that notes speak of one by one."""


def compute_pairs(
    robot: RobotLike,
    spheres: Spheres,
    options: PairOptions | None = None,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    checkpoint: Path | str | None = None,
) -> PairMatrix:
    """Decides for every pair of links with meshes or spheres whether it must be checked, and why.

    Args:
        robot: a Robot, or what `load_robot` takes; a pyroki Robot holds no meshes, so spheres decide everything.
        spheres: the sphere model. Links that have meshes and no spheres here still take part, by meshes.
        options: see PairOptions.
        workers: processes; None decides by the amount of work, or takes joblib's active configuration (a Dask or
            Ray cluster). The answer does not depend on it.
        progress: called with (done, total): samples first, then pairs.
        checkpoint: file that keeps the counts of long runs; interrupted runs continue from it.

    Raises:
        InputError: spheres, pairs or poses that make no sense, a joint without limits to sample from, or a pair of
            which one link has spheres alone and the other a mesh alone, which nothing can decide.
        UnknownLinkError: a link the robot does not have. UnknownNameError: a pose it does not have.
    """
    options = options or PairOptions()
    robot = as_robot(robot)
    poses = named_poses(robot, options.default_cfgs)
    # Who wants to know how far it is tells it in another way.
    with waiting(f"deciding the pairs of {robot.name}") if progress is None else nullcontext():
        work = _Decisions(Ground(robot, spheres, options), options, poses)
        work.by_word()
        work.by_pose()
        work.by_samples(workers, progress, Path(checkpoint) if checkpoint is not None else None)
        return work.matrix()


@dataclass
class _Decisions:
    """Entries of the matrix, filled step by step."""

    ground: Ground
    options: PairOptions
    poses: Sequence[tuple[str, np.ndarray]]
    entries: dict[LinkPair, PairEvidence] = field(default_factory=dict[LinkPair, PairEvidence])
    blamed: dict[LinkPair, str] = field(default_factory=dict[LinkPair, str])
    """Pairs that touch at a guessed pose which is to blame, not they; with a sentence."""

    @cached_property
    def adjacent(self) -> frozenset[LinkPair]:
        """Pairs that touch by construction."""
        return adjacent_pairs(self.ground.robot, self.ground.links)

    @property
    def open(self) -> list[LinkPair]:
        """Pairs not decided yet."""
        return [pair for pair in self.ground.pads if pair not in self.entries]

    @property
    def checked(self) -> list[LinkPair]:
        """Pairs decided to be checked."""
        return [pair for pair, found in self.entries.items() if found.reason is PairReason.CHECKED]

    def put(self, pair: LinkPair, verdict: Finding) -> None:
        """Decides a pair; what the SRDF says of it is recorded."""
        verb = "checked" if verdict.reason is PairReason.CHECKED else "ignored"
        self.entries[pair] = PairEvidence(
            verdict.reason,
            f"{verb} because {verdict.text}",
            confidence=self.options.confidence,
            buffer=self.ground.pads[pair],
            srdf_reason=self.ground.robot.disabled_pairs.get(pair),
            **verdict.facts,
        )

    # Steps ------------------------------------------------------------------------------------

    def by_word(self) -> None:
        """The user's pairs, the description's if wanted, and adjacency."""
        robot, pads = self.ground.robot, self.ground.pads
        words = ((self.options.check, PairReason.CHECKED), (self.options.ignore, PairReason.USER))
        for given, reason in words:
            for pair in pair_list(robot.link_names, given):
                if pair in self.entries:
                    raise InputError(f"the pair {pair} is in both `check` and `ignore`")
                if pair in pads:
                    self.put(pair, Finding(reason, "the user said so", {"source": "user"}))
        if self.options.use_srdf:
            for pair, given in robot.disabled_pairs.items():
                if pair in pads and pair not in self.entries:
                    reason = SRDF_REASONS.get(given.lower(), PairReason.USER)
                    source = "MJCF" if given == "MJCF exclude" else "SRDF"
                    says = "excludes it" if source == "MJCF" else f"says {given!r}" if given else "lists it"
                    self.put(pair, Finding(reason, f"the {source} {says}", {"source": source}))
        for pair in self.open:
            if pair in self.adjacent:
                self.put(pair, Finding(PairReason.ADJACENT, why_adjacent(robot, pair), {}))

    def by_pose(self) -> None:
        """Pairs whose meshes touch at a default pose; without meshes, whose spheres overlap there."""
        ground = self.ground
        if not self.open and not self.checked:
            ground.first_look = 0
        ground.note_gaps()
        for label, cfg in self.poses:
            overlaps = ground.overlaps(f"at the pose {label!r}", cfg)
            pairs = self.open
            for pair, touches in zip(pairs, ground.judge.touching(cfg[None], pairs)[0].tolist(), strict=True):
                if touches:
                    self._touching(pair, label, cfg)
                elif not ground.judge.knows(pair) and pair in overlaps:
                    text = f"{overlaps[pair]}, and there is no mesh to say more"
                    self.put(pair, Finding(PairReason.DEFAULT, text, {"witness": tuple(cfg.tolist())}))

    def _touching(self, pair: LinkPair, label: str, cfg: np.ndarray) -> None:
        """A pair whose meshes touch at a pose: the pair is ignored, unless the pose is a guess and to blame."""
        judge, pose = self.ground.judge, self.ground.robot.default_pose
        hits, asked = judge.hits(pair), len(judge.samples)
        guessed = label == "default" and bool(set(pose.guessed_joints) & self.ground.joints_between(pair))
        if guessed and 2 * hits < asked:
            self.blamed[pair] = (
                f"its meshes touch at the default pose, which is a guess ({pose}), and are apart in {asked - hits} of "
                f"{asked} samples: the pose is wrong, not the pair"
            )
        else:
            measured = self.options.depths
            depths = judge.depth(pair, cfg) if measured else None, self._depth(pair)
            self.put(pair, touching(label, cfg, hits, asked, *depths))

    def by_samples(self, workers: int | None, progress: Progress | None, checkpoint: Path | None) -> None:
        """Counts, then settles the pairs that never met."""
        ground, options, forced = self.ground, self.options, self.checked
        pairs = ground.round(self.open)
        ground.note_bare(set(self.open) - set(pairs))
        jobs = choose_workers(workers, options.samples * len(pairs), LOCAL_WORK)
        meets: dict[LinkPair, int] = {}
        if pairs:
            task = ground.task(pairs, np.array([ground.pads[pair] for pair in pairs]))
            counts = count_meetings(
                task, options.samples, workers=jobs, progress=progress, checkpoint=checkpoint
            )
            meets = dict(zip(pairs, counts.tolist(), strict=True))
        often = options.always_share * options.samples
        ever = ground.always([*forced, *(p for p in self.open if meets.get(p, often) >= often)], jobs)
        never: list[LinkPair] = []
        near: list[LinkPair] = []
        for pair in self.open:
            known = ground.judge.knows(pair)
            if pair in ever:
                self.put(
                    pair, always(ever[pair], options, "meshes" if known else "spheres", self._depth(pair))
                )
            elif known and ground.judge.hits(pair):
                witness = ground.judge.first_hit(pair)
                facts = self._near_facts(pair, meets)
                self.put(pair, collided(ground.judge.hits(pair), len(ground.judge.samples), witness, facts))
            elif pair in meets and not meets[pair]:
                never.append(pair)
            elif known:
                near.append(pair)
            else:  # no mesh, so it has spheres
                self.put(pair, came_near(meets[pair], ground.pads[pair], options))
        self._decide(never, near, meets, workers, progress)

    def _near_facts(self, pair: LinkPair, meets: dict[LinkPair, int]) -> dict[str, Any]:
        return near_facts(meets[pair], self.options) if pair in meets else {}

    def _decide(
        self,
        never: list[LinkPair],
        near: list[LinkPair],
        meets: dict[LinkPair, int],
        workers: int | None,
        progress: Progress | None,
    ) -> None:
        """Pairs that spheres never brought within the buffer, by spheres; what is left and those near, by meshes."""
        options, robot, judge = self.options, self.ground.robot, self.ground.judge
        chains = PairChains(robot.tree, *self.ground.arrays)
        tasks = [
            SphereTask(
                chains.between(robot.link_index(a), robot.link_index(b)),
                self.ground.pads[(a, b)],
                options.proof_boxes,
                options.search_starts,
                options.seed,
            )
            for a, b in never
        ]
        jobs = choose_workers(workers, len(tasks) * options.proof_boxes * BOX_WORK, LOCAL_WORK)
        fallback: dict[LinkPair, Finding] = {}
        for pair, task, found in zip(
            never, tasks, parallel_map(decide_by_spheres, tasks, workers=jobs, progress=progress), strict=True
        ):
            verdict = sphere_evidence(found, task, robot.default_cfg, options)
            if verdict.reason is PairReason.NEVER_PROVED or not judge.knows(pair):
                self.put(pair, verdict)
            else:
                near.append(pair)
                if verdict.reason is PairReason.NEVER_SAMPLED:
                    fallback[pair] = verdict
        tasks = share_boxes([self.ground.mesh_task(pair) for pair in near])
        jobs = choose_workers(workers, len(tasks) * options.proof_boxes * MESH_WORK, LOCAL_WORK)
        for pair, task, found in zip(
            near, tasks, parallel_map(decide_by_meshes, tasks, workers=jobs, progress=progress), strict=True
        ):
            pad, facts = self.ground.pads[pair], self._near_facts(pair, meets)
            verdict = mesh_evidence(found, task, pad, robot.default_cfg, facts)
            if found.proved is None and found.closest > pad and pair in fallback:
                verdict = fallback[pair]
            asked = self.ground.padding(pair)
            if verdict.reason is PairReason.NEVER_PROVED and (found.proved or 0.0) <= asked:
                text = f"the spheres' padding asks {mm(asked)} of it, which it is not proved to keep: {verdict.text}"
                verdict = Finding(
                    PairReason.CHECKED, text, {**verdict.facts, "clearance": None, "bound": None}
                )
            self.put(pair, verdict)

    # The result -------------------------------------------------------------------------------

    def matrix(self) -> PairMatrix:
        """The result."""
        ground = self.ground
        pose, notes = self._rest()
        for label, cfg in self.poses:
            if label != "default":
                ground.for_meshes = ground.overlaps(f"at the pose {label!r}", cfg) | ground.for_meshes
        ground.for_meshes = ground.overlaps("at the default pose", pose.cfg) | ground.for_meshes
        entries = {pair: self._complete(pair, found) for pair, found in self.entries.items()}
        notes += self._wrong(entries)
        plain = [name for name in ground.links if name not in ground.round_links]
        if plain:
            notes.append(f"no spheres, so meshes decide their pairs: {', '.join(plain)}")
        if ground.uncovered:
            notes.append(
                f"spheres do not cover the links of {counted(len(ground.uncovered), 'pair')}; meshes decide there"
            )
        bare = tuple(name for name in ground.robot.link_names if name not in ground.links)
        mark = made_for(ground.robot, ground.spheres, self.options.buffer)
        return PairMatrix(ground.robot.name, ground.links, entries, bare, tuple(notes), pose, mark)

    def _wrong(self, entries: dict[LinkPair, PairEvidence]) -> list[str]:
        """Notes on pairs that the description disables and whose meshes collide."""
        said = [p for p, e in entries.items() if e.source in ("SRDF", "MJCF") and self._met(p, e)]
        wrong = [pair for pair in said if entries[pair].contradicted]
        notes = [contradicted(pair, entries[pair], self._between(pair)) for pair in wrong[:CONTRADICTED]]
        if len(wrong) > CONTRADICTED:
            notes.append(
                f"{counted(len(wrong) - CONTRADICTED, 'more pair')} of which the description is wrong in the same way: "
                + ", ".join(f"{a} and {b}" for a, b in wrong[CONTRADICTED:])
            )
        others = [pair for pair in said if pair not in wrong]
        if others:
            others.sort(
                key=lambda pair: (entries[pair].mesh_depth or 0.0, entries[pair].mesh_hits), reverse=True
            )
            notes.append(disabled_and_meeting(others, entries[others[0]], self._between(others[0])))
        return notes

    def _between(self, pair: LinkPair) -> dict[str, int]:
        """The joints that move two links relative to each other, and their places in a configuration."""
        between = self.ground.joints_between(pair)
        return {name: k for k, name in enumerate(self.ground.robot.joint_names) if name in between}

    def _complete(self, pair: LinkPair, found: PairEvidence) -> PairEvidence:
        """Adds who decides the pair, and what its meshes did in the samples."""
        judge, why = self.ground.judge, self.ground.for_meshes.get(pair)
        if not judge.knows(pair):
            return found
        hits, asked = judge.hits(pair), len(judge.samples)
        text, depth = found.text, found.mesh_depth
        if found.reason is PairReason.CHECKED:
            text += f"; {self.blamed[pair]}" if pair in self.blamed else ""
            text += f"; meshes decide it, for {why}" if why else ""
        elif found.source != "computed" and pair not in self.adjacent:
            hits, asked, witness = self.said_never.get(pair, (hits, asked, None))
            if hits:
                depth = self._depth(pair)
                text += f"; {meetings(hits, asked, depth)}"
                row = judge.first_hit(pair) if witness is None else witness
                found = replace(found, closest=0.0, witness=tuple(row.tolist()))
        return replace(
            found,
            text=text,
            decided_by="meshes" if why else "spheres",
            mesh_samples=asked,
            mesh_hits=hits,
            mesh_depth=depth,
        )

    @cached_property
    def said_never(self) -> dict[LinkPair, tuple[int, int, np.ndarray]]:
        """Pairs of which a file says "Never" and that collide in a longer look: samples that do, samples, one of them.

        MoveIt's assistant does so for pairs that collided in none of its samples; rare collisions need as many samples
        to be seen.
        """
        pairs = [
            pair
            for pair, found in self.entries.items()
            if found.source in ("SRDF", "MJCF")
            and (found.srdf_reason or "").lower() == "never"
            and self.ground.judge.knows(pair)
        ]
        if not pairs:
            return {}
        rows = self.ground.samples(min(LONG_LOOK, self.options.samples))
        return self.ground.judge.collisions(pairs, rows)

    def _met(self, pair: LinkPair, found: PairEvidence) -> bool:
        """Whether the description ignores a pair that is not adjacent and whose meshes met in samples."""
        return found.reason is not PairReason.CHECKED and found.mesh_hits > 0 and pair not in self.adjacent

    def _depth(self, pair: LinkPair) -> float | None:
        """How deep the meshes of a pair meet in samples; None without meshes, or when not requested."""
        judge = self.ground.judge
        if not (self.options.depths and judge.knows(pair)):
            return None
        known = judge.sampled_depth(pair)
        return (
            judge.depth(pair, self.said_never[pair][2])
            if known is None and pair in self.said_never
            else known
        )

    def _rest(self) -> tuple[DefaultPose, list[str]]:
        """The pose to start from: the first that was asked for, moved if it is a guess that collides."""
        ground, checked = self.ground, self.checked
        label, cfg = self.poses[0] if self.poses else ("default", ground.robot.default_cfg)
        if label != "default":
            return DefaultPose(frozen(cfg), f"asked for: {label}"), []
        touches = ground.judge.touching(cfg[None], checked)[0].tolist()
        clashes = [pair for pair, hit in zip(checked, touches, strict=True) if hit]
        joints = {name for pair in clashes for name in ground.joints_between(pair)}
        return rest_pose(ground.robot, clashes, joints, self._tests(clashes, cfg), self.options.seed)

    def _tests(self, clashes: list[LinkPair], cfg: np.ndarray) -> tuple[Clashes, ...]:
        """What counts as a collision near a pose: overlap of spheres where that can be parted, or of meshes alone."""
        if not clashes:
            return ()
        ground, checked = self.ground, self.checked
        hopeless = ground.for_meshes.keys() | (ground.overlaps("", cfg).keys() - set(clashes))
        sighted = [pair for pair in ground.round(checked) if pair not in hopeless]
        parted = [pair for pair in clashes if pair in sighted]
        room = 0.5 * max((ground.pads[pair] for pair in parted), default=0.0)
        clear = SelfCollisionChecker(ground.robot, ground.spheres, sighted, threads=1)
        apart = SelfCollisionChecker(ground.robot, ground.spheres, parted, padding=room, threads=1)
        blind = [pair for pair in checked if pair not in sighted]
        judge = MeshJudge(ground.robot, blind, ground.judge.samples)

        def by_meshes(cfgs: np.ndarray) -> np.ndarray:
            return ground.judge.touching(cfgs, checked).sum(axis=1)

        def with_room(cfgs: np.ndarray) -> np.ndarray:
            hits = (clear.pair_hits(cfgs), apart.pair_hits(cfgs), judge.touching(cfgs, blind))
            return np.concatenate(hits, axis=1).sum(axis=1)

        return with_room, by_meshes
