"""Options and result of `reach_for`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from ..collision import CollisionModel, SegmentProof
from ..errors import InputError
from ..ik import IkOptions
from ._checks import TIP_TOLERANCE
from ._contact import Contact
from ._grasp import Grasp, as_number
from ._placements import Placement


@dataclass(frozen=True)
class ReachOptions:
    """How a hand comes to an object."""

    standoff: float = 0.10
    """m that the hand stands off before it comes in."""
    opening: float = 0.03
    """m wider than the object that the hand comes in, as far as it can; around cylinders it is fully open."""
    turns: Sequence[float] | None = None
    """rad about the width, or about a cylinder's axis, that are tried; None for steps of 15 degrees: over the top from
    side to side, all around a cylinder."""
    spins: Sequence[float] = (0.0,)
    """rad about the object's Z that are tried; for what is round about Z, such as an upright bottle."""
    flips: bool = True
    """Whether thumb and fingers may change sides."""
    approach: Sequence[float] | None = None
    """(3,) direction in the world in which the hand should come, such as (0, 0, -1) for from above; None for any."""
    approach_within: float = float(np.radians(35.0))
    """rad that the direction may differ from it."""
    tip_tolerance: float = TIP_TOLERANCE
    """m that a link which is meant to touch may be inside the object, or away from it. 3 mm: shapes of fingertips
    reach up to 2.6 mm beyond their points."""
    ik: IkOptions = field(default_factory=IkOptions)

    def __post_init__(self) -> None:
        for name in ("standoff", "opening", "tip_tolerance", "approach_within"):
            if as_number(getattr(self, name), name) < 0.0:
                raise InputError(f"ReachOptions: {name} must not be negative, found {getattr(self, name)!r}")


@dataclass(frozen=True, eq=False)
class ReachResult:
    """An arm and a hand that grasp an object, or why they do not."""

    success: bool
    """The grasp is free but for the fingers on the object, and the motion to it is proved."""
    grasp: Grasp
    placement: Placement | None
    """How the hand comes; None when no placement got as far as the arm."""
    cfg: Float[np.ndarray, "dof"]
    """Arm and hand at the grasp; the best effort where there is no success."""
    path: Float[np.ndarray, "steps dof"]
    """From the pose that stands off, open, to the grasp; empty without success. The last row is `cfg`; in the row
    before it the hand is there and open."""
    proofs: tuple[SegmentProof, ...]
    """One for each piece of the path."""
    contact: Contact | None
    """The hand's controls, and how far its fingers are from the object, measured."""
    clearance: float
    """m; of what should not touch, at the grasp, measured; NaN without success."""
    tried: Mapping[str, int]
    """How many placements ended how."""
    obstacle: str
    """Name of the object in the model's world."""
    model: CollisionModel
    """Robot and world with the object, which the fingers may touch."""
    seconds: float
    why: str
    """Why there is no success, a sentence; empty when there is."""

    def __bool__(self) -> bool:
        return self.success

    @property
    def pre_cfg(self) -> Float[np.ndarray, "dof"]:
        """Where the motion begins: the hand open and standing off.

        Raises:
            InputError: there is no motion.
        """
        if not len(self.path):
            raise InputError(f"there is no motion: {self.why}")
        return self.path[0]

    @property
    def joints(self) -> dict[str, float]:
        """Positions of the robot's joints at the grasp, by name."""
        return dict(zip(self.model.robot.joint_names, self.cfg.tolist(), strict=True))

    def __repr__(self) -> str:
        if not self.success:
            return f"ReachResult(no grasp of {self.obstacle!r}: {self.why})"
        return (
            f"ReachResult({self.grasp.mode} {1e3 * self.grasp.width:.1f} mm of {self.obstacle!r}, {self.placement}, "
            f"{len(self.path) - 1} pieces proved, {self.seconds:.2f} s)"
        )
