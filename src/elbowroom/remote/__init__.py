"""Remote control: targets come in as JSON lines, WebSocket messages or headset poses; joint commands go out.

A `Session` turns messages into ticks of a `Tracker`; `serve_lines` and `serve_socket` run one at a fixed rate.
"""

from __future__ import annotations

from ._serve import ServeReport as ServeReport
from ._serve import serve_lines as serve_lines
from ._serve_socket import serve_socket as serve_socket
from ._session import Session as Session
from ._xr import XrOptions as XrOptions

__all__ = ["ServeReport", "Session", "XrOptions", "serve_lines", "serve_socket"]
