"""Whether the kernels of a tick are compiled already."""

from __future__ import annotations


def is_warm() -> bool:
    """Whether the kernels of a first tick among obstacles, and of the search for an answer, are compiled already."""
    from ._kernels_lm import solve
    from ._kernels_rows_world import world_rows
    from ._kernels_track import follow_motion

    return solve.is_kept() and world_rows.is_kept() and follow_motion.is_kept()
