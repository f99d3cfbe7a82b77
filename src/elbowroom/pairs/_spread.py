"""How many processes work on pairs: one when there is little to do, else what joblib is configured for."""

from __future__ import annotations


def choose_workers(workers: int | None, work: int, limit: int) -> int | None:
    """One for work below a limit, unless the caller or joblib's active configuration asks for more."""
    import joblib

    if workers is not None:
        return workers
    backend = joblib.parallel.get_active_backend()[0]
    return None if type(backend).__name__ != "LokyBackend" or work > limit else 1
