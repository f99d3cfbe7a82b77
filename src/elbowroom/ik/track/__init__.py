"""Ticks and steps that are proved: `Tracker` follows targets, `Guard` stands between any controller and the robot."""

from ._filtered import FilteredMotion as FilteredMotion
from ._guard import Guard as Guard
from ._guard import GuardStep as GuardStep
from ._options import TrackOptions as TrackOptions
from ._step import CollisionRows as CollisionRows
from ._tracker import Tracker as Tracker
from ._tracker import TrackStep as TrackStep

__all__ = ["CollisionRows", "FilteredMotion", "Guard", "GuardStep", "TrackOptions", "TrackStep", "Tracker"]
