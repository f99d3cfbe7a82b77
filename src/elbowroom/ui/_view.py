"""View: what a page shows at a moment: its state, and what follows from it at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from .state import PageState

if TYPE_CHECKING:
    from ..collision import CollisionModel, Verdict
    from ..robot import Robot


@dataclass(frozen=True)
class Busy:
    """A long job under way."""

    key: str
    title: str
    """What is being done, in words."""
    share: float | None
    """Of the work that is done, 0 to 1; None when unknown."""


@dataclass(frozen=True, eq=False)
class View:
    """What panels and the scene are given to show."""

    state: PageState
    robot: Robot | None = None
    """The robot of `state.robot.key`, without attached objects; None while it loads."""
    poses: Float[np.ndarray, "links 7"] | None = None
    """Of its links in the world, wxyz_xyz."""
    model: CollisionModel | None = None
    """The latest model of this robot; None while the first is made."""
    current: bool = False
    """Whether `model` is of the state's spheres, pairs and obstacles; if not, a newer one is being made."""
    free: bool | None = None
    """The exact verdict of `model` at the configuration; None where there is no model."""
    busy: tuple[Busy, ...] = ()
    """Long jobs."""
    can_undo: bool = False
    can_redo: bool = False
    command: str = ""
    """The command line that repeats the last action; "" for none."""
    settled: bool = True
    """Whether no event waits: input widgets follow the state only then, or they would pull at the user's hand."""

    @property
    def default_cfg(self) -> Float[np.ndarray, "dof"] | None:
        """The default pose: the model's as soon as it is there; None while the robot loads."""
        known = self.robot if self.model is None else self.model
        return None if known is None else known.default_cfg

    @property
    def verdict(self) -> Verdict | None:
        """The latest full verdict of this robot; while joints move it may be of a moment ago."""
        found = self.state.live.found
        return (
            None
            if found is None or self.model is None or found.model.robot is not self.model.robot
            else found.verdict
        )

    @property
    def measured(self) -> bool:
        """Whether `verdict` is of this configuration and this model."""
        found = self.state.live.found
        return found is not None and found.model is self.model and found.cfg == self.state.robot.cfg
