"""Arguments of the verbs that need spheres: from a file, or fitted."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..spheres import FitOptions, fit_spheres
from ._common import RobotOptions, progress_bar, spheres_from_file
from ._options import NoEffect, Shared

if TYPE_CHECKING:
    from ..robot import Robot
    from ..spheres import SphereModel


@dataclass(frozen=True)
class SphereOptions(RobotOptions):
    """Arguments of every verb that needs the robot's spheres."""

    spheres: Path | None = None
    """File with the spheres, as elbowroom spheres writes it; fitted anew if not given."""
    fit: Annotated[FitOptions, Shared("method", "n_spheres")] = field(default_factory=FitOptions)
    """How they are fitted otherwise."""

    def model(self, robot: Robot) -> SphereModel:
        """The spheres that the arguments name."""
        if self.spheres is not None:
            return spheres_from_file(self.spheres, robot)
        with progress_bar(f"fitting spheres to {robot.name}") as progress:
            return fit_spheres(robot, self.fit, progress=progress)


FROM_FILE = "the spheres are those of the file given with --spheres, nothing is fitted"
NO_BUDGET = "the centerline method has no budget for the whole robot; elbowroom spheres has --per-link"
NO_EFFECT = (
    NoEffect(("method", "n_spheres"), lambda options: options.spheres is not None, FROM_FILE),
    NoEffect(("n_spheres",), lambda options: options.fit.method == "centerline", NO_BUDGET),
)
"""For verbs with `SphereOptions`."""
