"""The page that a headset opens: it sends head, controllers and hands as `xr_state` messages over a WebSocket.

One file, nothing else is requested. Browsers grant WebXR to secure contexts only: https, or http of the machine the
browser runs on. It is tested with a stand-in for the headset; no headset is claimed.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from ...errors import InputError

PAGE = Path(__file__).parent / "page.html"
ADDRESS = re.compile(r"(wss?://[^\s/]+)?(/\S*)?")
"""A WebSocket address, or a path of the server that the page comes from."""


def xr_page(socket: str = "/") -> str:
    """HTML of the page that sends what a headset tracks.

    Args:
        socket: where it sends to, such as what `elbowroom ik --serve --port 8765` opens: an address,
            "ws://127.0.0.1:8765", or a path, "/", of the server that serves the page. The page lets its user change it.

    Raises:
        InputError: not an address of a WebSocket.
    """
    if not socket or not ADDRESS.fullmatch(socket):
        raise InputError(f"socket: expected ws://host:port, wss://host:port or a path, found {socket!r:.80}")
    literal = json.dumps(socket).replace("<", "\\u003c")  # nothing in it can close the script
    return PAGE.read_text(encoding="utf-8").replace('"SOCKET"', literal)
