"""Numba kernels of the kinematics, for kernels of other folders that build on them.

Those of lanes work on `LANES` configurations at a time and on the arrays of a `KinematicTree`; those of chains place
the joints between two links (`Chain`) and bound how far they can move a point. Importing this module loads numba;
everything else in `elbowroom.robot` does without until it computes.
"""

from ._kernels import LANES as LANES
from ._kernels import add_rates as add_rates
from ._kernels import expand_lanes as expand_lanes
from ._kernels import frame_lanes as frame_lanes
from ._kernels import sincos as sincos
from ._kernels import turned as turned
from ._kernels_motion import axis_distance as axis_distance
from ._kernels_motion import chain_poses as chain_poses
from ._kernels_motion import chord_of as chord_of
from ._kernels_motion import movement as movement

__all__ = [
    "LANES",
    "add_rates",
    "axis_distance",
    "chain_poses",
    "chord_of",
    "expand_lanes",
    "frame_lanes",
    "movement",
    "sincos",
    "turned",
]
