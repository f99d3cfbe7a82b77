"""`elbowroom ik --serve`: a robot that follows messages at a fixed rate."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..ik import Tracker
from ..remote import ServeReport, Session, serve_lines, serve_socket
from ..remote.doors import Mailbox, steered_links
from ._common import print_json, waiting
from ._interrupt import last_words
from ._progress import say

if TYPE_CHECKING:
    from ..collision import CollisionModel
    from ._ik import Options

STDIN = 0
XR_PATH = "/xr"
"""Where a headset finds its page on the port of the WebSocket."""


def serve(
    model: CollisionModel, options: Options, start: np.ndarray | None, held: Mapping[str, float | None]
) -> int:
    """Serves until the input ends, somebody sends `end`, or an interrupt; the robot has stopped then."""
    robot = model.robot
    links, xr = steered_links(robot, options.link, options.xr)
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
