"""Numba kernels of the kinematics, for kernels of other folders that inline them.

They work on `LANES` configurations at a time and on the arrays of a `KinematicTree`. Importing this module loads numba;
everything else in `elbowroom.robot` does without until it computes.
"""

from ._kernels import LANES as LANES
from ._kernels import add_rates as add_rates
from ._kernels import expand_lanes as expand_lanes
from ._kernels import frame_lanes as frame_lanes
from ._kernels import turned as turned

__all__ = ["LANES", "add_rates", "expand_lanes", "frame_lanes", "turned"]
