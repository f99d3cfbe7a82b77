"""Whether a robot has the collision geometry that spheres, proofs and verdicts speak of, in metres."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

import numpy as np

from .._text import number, some_names
from ..errors import InputError
from ..typing import Points
from ._robot import Robot
from ._types import Shape

LONGEST = 20.0
"""Metres. A link may be longer (a crane, a gantry), but a file in millimetres is likelier: a finger is 30 mm then."""
ADVICE = "use_visual=True (--use-visual) takes it"


def require_geometry(robot: Robot) -> None:
    """Refuses a robot without collision geometry: no verdict on it would mean anything.

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
    which = "1 link has" if count == 1 else f"{count} links have"
    return (
        f"{which} visual geometry only and no check sees {'it' if count == 1 else 'them'} "
        f"({some_names(robot.visual_only)}); {ADVICE}"
    )


def units_question(link: str, shapes: Sequence[Shape], vertices: Points) -> str | None:
    """A question about a link that is longer than `LONGEST`, with what would scale it; None for others.

    Args:
        link: its name.
        shapes: its collision shapes.
        vertices: of all of them, in the link frame.
    """
    size = float(np.ptp(vertices, axis=0).max())
    if size <= LONGEST:
        return None
    small = number(size / 1000, 4)
    mesh = next((shape for shape in shapes if shape.kind == "mesh"), None)
    if mesh is None:
        what = "Are the lengths of the description in millimetres?"
        fix = f"They are read as metres; divided by 1000 they make it {small} m"
    else:
        what = f"Is its mesh {PurePath(mesh.source).name!r} in millimetres?"
        fix = f'It is read as metres; scale="0.001 0.001 0.001" on its <mesh> element makes it {small} m'
    return f"link {link!r} is {number(size, 4)} m long. {what} {fix}"
