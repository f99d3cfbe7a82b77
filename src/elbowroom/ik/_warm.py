"""Whether following targets can begin at once, or kernels must be compiled first."""

from __future__ import annotations


def is_warm(*, world: bool = True, search: bool = True) -> bool:
    """Whether the kernels of a tick are compiled already.

    Args:
        world: whether those of obstacles count, too.
        search: whether those of the search for an answer count, too.
    """
    from ._kernels_brake import begin_tick
    from ._kernels_rows import own_rows
    from ._kernels_track import follow_motion, objective

    needed = [begin_tick, objective, own_rows, follow_motion]
    if world:
        from ._kernels_rows_world import world_rows

        needed.append(world_rows)
    if search:
        from ._kernels_lm import solve

        needed.append(solve)
    return all(kernel.is_kept() for kernel in needed)
