"""Which links an operator steers, and with which hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..errors import InputError
from ..robot import Robot
from ..robot.doors import default_tool_frames
from ._xr import XrOptions

NOT_A_HAND = re.compile(r"leg|ankle|foot|feet|sole|toe|head", re.IGNORECASE)


def steered_links(
    robot: Robot, asked: Sequence[str] = (), xr: XrOptions | None = None
) -> tuple[tuple[str, ...], XrOptions]:
    """The links to follow, and which of them a headset's hands steer.

    Args:
        robot: the robot.
        asked: links; if none are, nor in `xr`, the ends of the arms.
        xr: what the hands steer; where it names no link, those with left and right in their names.

    Raises:
        InputError: nothing is asked for, and no end of an arm was found.
    """
    xr = xr or XrOptions()
    links = tuple(dict.fromkeys((*asked, *xr.links.values())))
    links = links or tuple(link for link in default_tool_frames(robot) if not NOT_A_HAND.search(link))
    if not links:
        raise InputError(f"no end-effector of {robot.name} was found; --link LINK names those to follow")
    if not xr.links:
        sides = {side: [link for link in links if side in link.lower()] for side in ("left", "right")}
        found = {side: names[0] for side, names in sides.items() if len(names) == 1}
        xr = replace(xr, **(found or ({"right": links[0]} if len(links) == 1 else {})))
    return links, xr
