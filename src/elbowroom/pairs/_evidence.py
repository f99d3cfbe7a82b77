"""Why a pair is checked or not, and how one knows."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal


class PairReason(StrEnum):
    """Why a pair is checked or not."""

    CHECKED = "checked"
    """It can collide, or nobody has shown that it cannot; `PairEvidence.decided_by` says by spheres or by meshes."""
    ADJACENT = "adjacent"
    """The links touch by construction: fixed to each other or joined by a joint."""
    DEFAULT = "default"
    """The links' meshes touch at a default pose; evidence says how often and how deep they meet elsewhere."""
    ALWAYS = "always"
    """The links' meshes overlapped in every sample; evidence says how deep."""
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
    """Of them, those in which the spheres met (closer than `buffer`); for ALWAYS, those that overlapped."""
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
    """DEFAULT: the pose at which the links touch; CHECKED: a configuration that meets, when a search or a proof
    attempt found one that sampling had not."""
    decided_by: Literal["spheres", "meshes"] = "spheres"
    """What can tell whether the pair collides: its spheres, or only its meshes, because the spheres overlap at a
    default pose or in every sample, or a link has none."""
    mesh_samples: int = 0
    """Of the samples, those in which the links' meshes were asked; 0 when a link has no mesh."""
    mesh_hits: int = 0
    """Of them, those in which the meshes collide."""
    mesh_depth: float | None = None
    """Metres: the deepest of a few of those, measured; None when none was."""
    source: str = "computed"
    """computed, user, or what said so: SRDF, SRDF default, MJCF."""
    srdf_reason: str | None = None
    """What the robot's SRDF says of the pair, whether or not it was followed."""
    seconds: float = field(default=0.0, compare=False)
    """Time spent on search and proof."""
