"""Why a pair is checked or not, and the evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from .._brief import brief


class PairReason(StrEnum):
    """Why a pair is checked or not."""

    CHECKED = "checked"
    """It can collide, or has not been shown not to; `PairEvidence.decided_by` says by spheres or by meshes."""
    ADJACENT = "adjacent"
    """The links touch by construction: fixed to each other or joined by a joint."""
    DEFAULT = "default"
    """The links' meshes touch at a default pose; evidence says how often and how deep they meet elsewhere."""
    ALWAYS = "always"
    """The links' meshes overlapped in every sample; evidence says how deep."""
    NEVER_PROVED = "never, proved"
    """The links stay apart in the whole range of the joints between them, proved by spheres or meshes: exact.
    `PairEvidence.clearance` is what they keep; it may be less than the buffer."""
    NEVER_SAMPLED = "never, sampled"
    """No sample and no search brought the spheres together: evidence, not proof."""
    USER = "user"
    """Given by the user or a file."""

    def __str__(self) -> str:
        return self.value


@brief
@dataclass(frozen=True)
class PairEvidence:
    """The evidence in words."""

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
    """Metres within which the pair counts as near; a pair that is never nearer in samples and searches, and is not
    proved, is NEVER_SAMPLED."""
    clearance: float | None = None
    """NEVER_PROVED: proved lower bound of the clearance in metres; NEVER_SAMPLED: the smallest of the spheres seen."""
    closest: float | None = None
    """Metres: the smallest distance of the meshes that was found, 0 when they collide; None when none was measured."""
    boxes: int = 0
    """Boxes of joint values that the proof took or gave up after."""
    witness: tuple[float, ...] | None = None
    """DEFAULT: the pose at which the links touch. CHECKED: a configuration in which the meshes collide or, where none
    is known, in which they are `closest`; without meshes, one that meets by spheres. NEVER_PROVED: the closest one,
    when that is within `buffer`. A pair that a file disables: one in which the meshes collide."""
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

    @property
    def collides(self) -> bool:
        """Whether a configuration is known in which the links' meshes collide; `witness` is one where it was kept."""
        return self.mesh_hits > 0 or self.closest == 0.0

    @property
    def contradicted(self) -> bool:
        """Whether a file gives a reason for ignoring the pair that samples show to be wrong: it says "Never" and the
        meshes collide, or "Adjacent" of links that no joint joins and that collide in some samples only."""
        said = (self.srdf_reason or "").lower()
        if self.source not in ("SRDF", "MJCF") or self.witness is None or not self.mesh_hits:
            return False
        return said == "never" or (said == "adjacent" and self.mesh_hits < self.mesh_samples)

    def holds_for(self, buffer: float) -> bool:
        """Whether the reason holds where links must keep `buffer` metres apart.

        "Never" does so up to the clearance that was proved, or that samples and searches asked for; other reasons, and
        a file's statement without a figure, are not about a clearance.
        """
        if self.reason is PairReason.NEVER_PROVED and self.clearance is not None:
            return self.clearance > buffer
        if self.reason is PairReason.NEVER_SAMPLED and self.source == "computed" and self.samples:
            return buffer <= self.buffer
        return True
