"""What decisions on pairs rest on: a robot's spheres and meshes, at poses and over samples.

Nothing is decided here. Pairs that spheres cannot decide are gathered with the sentence that says why: spheres that
overlap at a pose, or always, or miss collisions of the meshes, or are not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations

import numpy as np
from jaxtyping import Float

from ..distance import SelfCollisionChecker
from ..distance.internal import PairSpheres, Spheres, link_values, sphere_arrays
from ..errors import InputError
from ..robot import Robot
from ..robot.internal import Chains
from ..typing import LinkPair
from ._can_meet import MeshTask
from ._meshes import MeshJudge
from ._options import PairOptions
from ._sample import SampleTask, count_meetings, sample_chunk, samples_of
from ._sentences import mm

FIRST_LOOK = 256
"""Samples in which meshes are asked about every pair, and after which a pair that was once apart is no longer a
candidate for "always"."""


class Ground:
    """A robot, its sphere model and its meshes."""

    def __init__(self, robot: Robot, spheres: Spheres, options: PairOptions) -> None:
        self.robot, self.spheres, self.options = robot, spheres, options
        self.arrays = sphere_arrays(robot.link_names, spheres, who=robot.name)
        self.round_links = frozenset(robot.link_names[k] for k in np.unique(self.arrays[2]))
        """Links with spheres."""
        self.links = tuple(n for n in robot.link_names if n in self.round_links or n in robot.shapes)
        """Links with spheres or meshes."""
        each = link_values(robot.link_names, options.buffer, "buffer")
        share = 1.0 if isinstance(options.buffer, Mapping) else 0.5
        self.pads = {
            (a, b): share * float(each[robot.link_index(a)] + each[robot.link_index(b)])
            for a, b in combinations(sorted(self.links), 2)
        }
        """Padding of every pair of these links, in metres."""
        self.first_look = min(FIRST_LOOK, options.samples)
        """Samples in which meshes are asked; 0 when nothing depends on them."""
        self.for_meshes: dict[LinkPair, str] = {}
        """Pairs that spheres cannot decide; with a sentence."""
        self.uncovered: set[LinkPair] = set()
        """Of them, those whose meshes collide where their spheres do not."""

    @cached_property
    def judge(self) -> MeshJudge:
        """The meshes of all pairs."""
        return MeshJudge(self.robot, self.pads, self.samples(self.first_look))

    @cached_property
    def checker(self) -> SelfCollisionChecker:
        """The spheres of all pairs that have them."""
        return SelfCollisionChecker(self.robot, self.spheres, self.round(self.pads), threads=1)

    @cached_property
    def _chains(self) -> Chains:
        return Chains(self.robot.tree)

    def round(self, pairs: Iterable[LinkPair]) -> list[LinkPair]:
        """Those pairs of which both links have spheres."""
        return [pair for pair in pairs if set(pair) <= self.round_links]

    def joints_between(self, pair: LinkPair) -> set[str]:
        """Actuated joints that move the two links relative to each other."""
        chain = self._chains.between(*(self.robot.link_index(name) for name in pair))
        return {self.robot.joint_names[k] for k in chain.cfg_idx}

    def samples(self, count: int) -> Float[np.ndarray, "n dof"]:
        """The first so many samples within the limits.

        Raises:
            InputError: a joint has no finite limits.
        """
        for joint in self.robot.tree.actuated:
            if count and not np.isfinite(joint.upper - joint.lower):
                raise InputError(
                    f"{self.robot.name}: joint {joint.name!r} has no finite limits to sample within; give it limits"
                )
        return samples_of(self.options.seed, count, np.array(self.robot.lower), np.array(self.robot.upper))

    def task(self, pairs: Sequence[LinkPair], pads: Float[np.ndarray, "pairs"]) -> SampleTask:
        """Counting how often the spheres of pairs come closer than their padding."""
        index = [(self.robot.link_index(a), self.robot.link_index(b)) for a, b in pairs]
        model = PairSpheres.of(self.robot.tree, *self.arrays, index)
        lower, upper = np.array(self.robot.lower), np.array(self.robot.upper)
        return SampleTask(model, pads + model.margin, lower, upper, self.options.seed, 0, 0)

    def padding(self, pair: LinkPair) -> float:
        """Metres that the sphere model pads the two links by against each other."""
        padding: Mapping[str, float] = getattr(self.spheres, "self_padding", {})
        return sum(padding.get(name, 0.0) for name in pair)

    def mesh_task(self, pair: LinkPair) -> MeshTask:
        """Deciding by meshes whether a pair can collide."""
        a, b = pair
        chain = self._chains.between(self.robot.link_index(a), self.robot.link_index(b))
        options = self.options
        return MeshTask.of(
            *(chain, self.judge.mesh(a), self.judge.mesh(b)),
            pad=self.pads[pair],
            boxes=options.proof_boxes,
            starts=options.search_starts,
            seed=options.seed,
        )

    # What spheres do, and pairs for meshes ----------------------------------------------------

    def note_bare(self, pairs: Iterable[LinkPair]) -> None:
        """Pairs of which a link has no spheres.

        Raises:
            InputError: the other link has no mesh.
        """
        for pair in pairs:
            if not self.judge.knows(pair):
                a, b = sorted(pair, key=lambda name: name not in self.round_links)
                raise InputError(
                    f"{a} has spheres and no mesh, {b} a mesh and no spheres: nothing can decide whether they "
                    f"collide; give {b} spheres, or ignore the pair"
                )
            bare = [name for name in pair if name not in self.round_links]
            self.for_meshes[pair] = f"{' and '.join(bare)} {'have' if len(bare) > 1 else 'has'} no spheres"

    def note_gaps(self) -> None:
        """Pairs whose meshes collide in a sample in which their spheres do not: the spheres do not cover."""
        rows, pairs = self.judge.samples, self.checker.pairs
        missed = (self.judge.touching(rows, pairs) & ~self.checker.pair_hits(rows)).sum(axis=0)
        for pair, count in zip(pairs, missed.tolist(), strict=True):
            if count:
                self.uncovered.add(pair)
                text = f"its spheres do not cover it: they miss {count} of {len(rows)} samples"
                self.for_meshes[pair] = text

    def overlaps(self, where: str, cfg: Float[np.ndarray, "dof"]) -> dict[LinkPair, str]:
        """Pairs whose spheres overlap at a pose, as conservative as `SelfCollisionChecker.free`; with sentences."""
        hits, distances = self.checker.pair_hits(cfg), self.checker.pair_distances(cfg)
        return {
            pair: f"its spheres overlap by {mm(max(0.0, -distance))} {where}"
            for pair, hit, distance in zip(self.checker.pairs, hits.tolist(), distances.tolist(), strict=True)
            if hit
        }

    def always(self, pairs: list[LinkPair], jobs: int | None) -> dict[LinkPair, int]:
        """Of the pairs, those that overlap always, and in how many samples.

        Pairs whose spheres do, without padding, are gathered for the meshes, which then decide; where a link has no
        mesh, the spheres do.
        """
        share, samples = self.options.always_share, self.options.samples
        spheres = self._spheres_always(self.round(pairs), jobs)
        for pair, count in spheres.items():
            self.for_meshes.setdefault(pair, f"its spheres overlap in {count} of {samples} samples")
        floor = _first_floor(share, len(self.judge.samples))
        candidates = [pair for pair in pairs if pair in spheres or not set(pair) <= self.round_links]
        solid = [pair for pair in candidates if self.judge.knows(pair) and self.judge.hits(pair) >= floor]
        found = {pair: spheres[pair] for pair in candidates if not self.judge.knows(pair)}
        if solid:
            found |= self.judge.overlaps(solid, self.samples(samples))
        return {pair: count for pair, count in found.items() if count >= share * samples}

    def _spheres_always(self, pairs: list[LinkPair], jobs: int | None) -> dict[LinkPair, int]:
        share, samples = self.options.always_share, self.options.samples
        if pairs:
            task = replace(self.task(pairs, np.zeros(len(pairs))), count=self.first_look)
            found, floor = sample_chunk(task), _first_floor(share, self.first_look)
            pairs = [pair for pair, count in zip(pairs, found.tolist(), strict=True) if count >= floor]
        if not pairs:
            return {}
        task = self.task(pairs, np.zeros(len(pairs)))
        found = count_meetings(task, samples, workers=jobs, progress=None, checkpoint=None)
        return {p: n for p, n in zip(pairs, found.tolist(), strict=True) if n >= share * samples}


def _first_floor(share: float, count: int) -> float:
    """Overlaps in a first look below which a pair is no candidate for "always"."""
    return count if share == 1.0 else 0.9 * share * count
