"""Whether following targets can begin at once, or kernels must be compiled first."""

from __future__ import annotations


def is_warm(*, world: bool = False) -> bool:
    """Whether the kernels of a tick are compiled already.

    Args:
        world: whether those of obstacles count, too.
    """
    from ._kernels_brake import begin_tick
    from ._kernels_rows import own_rows
    from ._kernels_track import objective

    kept = all(kernel.is_kept() for kernel in (begin_tick, objective, own_rows))
    if world:
        from ._kernels_rows_world import world_rows

        kept = kept and world_rows.is_kept()
    return kept
