"""Options of `compute_pairs`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InputError

BUFFER = 0.02
"""Metres within which a pair counts as near, unless asked otherwise. cuRobo's documentation speaks of 2 cm as well, but
adds them to each sphere, which is 4 cm for a pair."""


MOST = 10**9
"""Samples, boxes of a proof or starts of a search beyond which a number is treated as a mistake."""


@dataclass(frozen=True)
class PairOptions:
    """How `compute_pairs` decides."""

    samples: int = 10_000
    """Configurations to sample within the limits."""
    seed: int = 0
    """Seed of the samples; the same seed gives the same matrix for any number of workers."""
    buffer: float | Mapping[str, float] = BUFFER
    """Metres within which a pair counts as near: a number counts once per pair (cuRobo pads each sphere: its 2 cm are
    0.04 here), a map gives padding by link and a pair gets the sum of its two. A pair without a proof that it never
    collides is ignored only if it never came near. A pair with a proof is ignored even if it comes near; its evidence
    states how near, and models with a clearance check it (`PairMatrix.for_buffer`)."""
    default_cfgs: Sequence[Any] = ("default",)
    """Poses at which links may touch: pairs whose meshes touch there are ignored. "default" (the robot's default_pose;
    if that pose is a guess, pairs that are mostly apart elsewhere stay checked), "zero", names of `robot.named_cfgs`,
    or configurations. The first becomes the default pose of the matrix."""
    ignore: Sequence[tuple[str, str]] = ()
    """Pairs to ignore, whatever else is found."""
    check: Sequence[tuple[str, str]] = ()
    """Pairs to check, whatever else is found."""
    use_srdf: bool = True
    """Whether pairs that the robot's SRDF disables or its MJCF excludes are ignored, with the reasons given there."""
    always_share: float = 1.0
    """Share of samples in which meshes must overlap for "always"; MoveIt's 0.95 can hide free configurations."""
    proof_boxes: int = 20_000
    """Joint-space boxes that one proof by spheres may use, about 20 ms. A proof by meshes, for a pair that comes near,
    may use a sixteenth of them, which takes some seconds."""
    search_starts: int = 8
    """Starts of the local search for a collision, for pairs that samples do not settle; half as many by meshes."""
    confidence: float = 0.95
    """Level of the bounds on probabilities."""
    depths: bool = True
    """Whether it is measured how deep ignored pairs overlap; no decision depends on it."""

    def __post_init__(self) -> None:
        for name, low in (("samples", 1), ("seed", 0), ("proof_boxes", 0), ("search_starts", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < low:
                raise InputError(f"{name} must be a whole number from {low} up, found {value!r}")
            if value > MOST and name != "seed":
                raise InputError(f"{name} must be at most {MOST}, which takes hours; found {value}")
        paddings = self.buffer.values() if isinstance(self.buffer, Mapping) else (self.buffer,)
        for value in paddings:
            if isinstance(value, bool) or not 0.0 <= value < math.inf:
                raise InputError(f"buffer must be metres from 0 up, found {value!r}")
        if not 0.5 < self.always_share <= 1.0:
            raise InputError(f"always_share must be above 0.5 and at most 1, found {self.always_share!r}")
        if not 0.0 < self.confidence < 1.0:
            raise InputError(f"confidence must be between 0 and 1, found {self.confidence!r}")
        if isinstance(self.default_cfgs, str):
            raise InputError(
                f"default_cfgs must be a sequence of poses, found the text {self.default_cfgs!r}"
            )
