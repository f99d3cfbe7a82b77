"""`elbowroom ik --serve`: a robot that follows messages at a fixed rate."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..ik import Mailbox, ServeReport, Session, Tracker, XrOptions, likely_ends, serve_lines, serve_socket
from ._common import print_json, waiting
from ._interrupt import last_words
from ._progress import say

if TYPE_CHECKING:
    from ..collision import CollisionModel
    from ..robot import Robot
    from ._ik import Options

NOT_A_HAND = re.compile(r"leg|ankle|foot|feet|toe|head", re.IGNORECASE)
STDIN = 0
XR_PATH = "/xr"
"""Where a headset finds its page on the port of the WebSocket."""


def serve(
    model: CollisionModel, options: Options, start: np.ndarray | None, held: Mapping[str, float | None]
) -> int:
    """Serves until the input ends, somebody sends `end`, or an interrupt; the robot has stopped then."""
    robot = model.robot
    links, xr = _links(robot, options.link, options.xr)
    place = np.array(model.default_cfg if start is None else start)
    for name, value in held.items():
        if value is not None:
            place[robot.joint_names.index(name)] = value
    joints = [name for name in options.joints or robot.joint_names if name not in held]
    tracker = Tracker(model, links, joints=joints)
    session = Session(tracker, robot, links, place, options.rate, xr)
    with waiting("preparing the first tick"):
        session.prepare()
    mailbox = Mailbox()
    with last_words(mailbox.close):
        if options.port is None:
            report = serve_lines(session, STDIN, _write, mailbox)
        else:
            from ..ui.xr import xr_page

            announce, pages = partial(_announce, session), {XR_PATH: xr_page("/")}
            report = serve_socket(session, options.port, options.origin, announce, mailbox, pages)
        _tell(report, options)
    return 0


def _links(robot: Robot, asked: Sequence[str], xr: XrOptions) -> tuple[tuple[str, ...], XrOptions]:
    """The links to follow, and which of them a headset's hands steer."""
    links = tuple(dict.fromkeys((*asked, *xr.links.values())))
    links = links or tuple(link for link in likely_ends(robot) if not NOT_A_HAND.search(link))
    if not links:
        raise InputError(
            f"--serve: no end-effector of {robot.name} was found; --link LINK names those to follow"
        )
    if not xr.links:
        sides = {side: [link for link in links if side in link.lower()] for side in ("left", "right")}
        found = {side: names[0] for side, names in sides.items() if len(names) == 1}
        xr = replace(xr, **(found or ({"right": links[0]} if len(links) == 1 else {})))
    return links, xr


def _write(text: str) -> bool:
    """One line on standard output; whether anybody still reads it."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
    return getattr(sys.stdout, "stream", sys.stdout) is not None


def _announce(session: Session, address: str) -> None:
    links = ", ".join(session.links)
    say(f"serving {session.robot.name} ({links}) on {address}, {session.rate:g} ticks a second")
    say(f"page for a headset: http://localhost:{address.rpartition(':')[2]}{XR_PATH}")


def _tell(report: ServeReport, options: Options) -> None:
    if options.json and options.port is not None:
        print_json(vars(report))
    elif not options.json:
        say(str(report))
