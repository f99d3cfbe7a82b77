"""What changed since the last `elbowroom setup` into a folder: description, choices, spheres, pairs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._files import plain
from .._text import number
from ..errors import ElbowroomError

if TYPE_CHECKING:
    from ._setup import Made

SHOWN = 12
"""Pairs named one by one; beyond, they are counted."""


def changes_since(path: Path, record: Mapping[str, Any], made: Made) -> tuple[str, ...] | None:
    """Sentences on what changed since our own file was written; None when there is none.

    Args:
        path: our own file of the last run.
        record: what the last run noted of its choices.
        made: what this run computed.
    """
    from .. import formats
    from ..robot.doors import description_changes, description_facts

    if not path.is_file():
        return None
    try:
        old = formats.read(path, format="json")
        said = list(description_changes(old.facts, description_facts(made.robot)))
    except (ElbowroomError, KeyError, TypeError, ValueError) as error:
        return (f"the {path.name} of the last run cannot be compared: {error}",)
    before = record.get("choices", {})
    for name, now in plain(made.choices).items():
        if name in before and before[name] != now:
            said.append(f"{name.replace('_', ' ')}: {_shown(before[name])} -> {_shown(now)}")
    said += _spheres(old.spheres.counts if old.spheres is not None else {}, made.spheres.counts)
    return (*said, *(_pairs(old.pairs, made) if old.pairs is not None else ()))


def _shown(value: Any) -> str:
    """A choice in words."""
    if isinstance(value, (list, dict)):
        pairs = value.items() if isinstance(value, dict) else ((None, entry) for entry in value)
        return ", ".join(_shown(v) if k is None else f"{k} {_shown(v)}" for k, v in pairs) or "none"
    return number(value) if isinstance(value, float) else "none" if value is None else str(value)


def _spheres(old: Mapping[str, int], new: Mapping[str, int]) -> list[str]:
    differ = [
        f"{link} {old.get(link, 0)} -> {new.get(link, 0)}"
        for link in dict.fromkeys((*old, *new))
        if old.get(link, 0) != new.get(link, 0)
    ]
    totals = f"{sum(old.values())} -> {sum(new.values())} in all"
    return [f"spheres: {', '.join(differ)} ({totals})"] if differ else []


def _pairs(old: Any, made: Made) -> list[str]:
    """Pairs whose reason changed; those that are no longer checked first."""
    diff = old.diff(made.pairs)
    ignored, checked = diff.newly_ignored, diff.newly_checked
    said = [
        f"pair {a}, {b}: {diff.changed[(a, b)][0]} -> {diff.changed[(a, b)][1]}"
        for a, b in (*ignored, *checked, *sorted(set(diff.changed) - set(ignored) - set(checked)))
    ]
    return said if len(said) <= SHOWN else [*said[:SHOWN], f"... and {len(said) - SHOWN} more pairs"]
