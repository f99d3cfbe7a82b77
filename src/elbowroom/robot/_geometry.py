"""Whether a robot has the collision geometry that spheres, proofs and verdicts speak of."""

from __future__ import annotations

from ..errors import InputError
from ._robot import Robot

SHOWN = 8
"""Names listed before the rest is counted."""
ADVICE = "use_visual=True (--use-visual) takes it"


def require_geometry(robot: Robot) -> None:
    """Refuses a robot without collision geometry: whatever is said of it would be said of nothing.

    Raises:
        InputError: no link has any; says whether there is visual geometry to take instead.
    """
    if robot.shapes:
        return
    instead = (
        f"{len(robot.visual_only)} of {len(robot.link_names)} links have visual geometry: {ADVICE}"
        if robot.visual_only
        else "it has no visual geometry to take instead either"
    )
    raise InputError(f"{robot.name}: no link has collision geometry, so there is nothing to check; {instead}")


def unseen_links(robot: Robot) -> str | None:
    """A sentence on the links that have visual geometry alone and that no check sees; None if there are none."""
    count = len(robot.visual_only)
    if not count:
        return None
    names = ", ".join(robot.visual_only[:SHOWN]) + (f" and {count - SHOWN} more" if count > SHOWN else "")
    which = "1 link has" if count == 1 else f"{count} links have"
    return (
        f"{which} visual geometry only and no check sees {'it' if count == 1 else 'them'} ({names}); {ADVICE}"
    )
