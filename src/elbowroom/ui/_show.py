"""`elbowroom.show`: the page from Python, inside a notebook or beside a script."""

from __future__ import annotations

import atexit
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ._server import PageServer, serve

if TYPE_CHECKING:
    from ..collision import CollisionModel
    from ..robot import Robot
    from ..world import World

HEIGHT = 700
"""Pixels of the frame in a notebook."""


def show(
    model: CollisionModel | Robot | str | Path = "teaarm",
    *,
    world: World | None = None,
    port: int = 0,
    height: int = HEIGHT,
    open_browser: bool = False,
) -> PageServer:
    """Shows a robot on the page: embedded where this runs in a notebook, else at the `url` of what is returned.

    The page is served on the loopback address by this process until it ends, or until `stop()` of what is returned.

    Args:
        model: a CollisionModel with its spheres, pairs and obstacles, a Robot, or a name or path as of `load_robot`.
        world: obstacles, instead of those of the model.
        port: 0 takes any free one.
        height: of the frame in a notebook, pixels.
        open_browser: whether a browser is opened at the page.

    Raises:
        InputError: the port cannot be served on, or the height makes no sense.
    """
    if not 100 <= height <= 10_000:
        raise InputError(f"show: height must be between 100 and 10000 pixels, found {height!r:.40}")
    server = serve(model, world=world, port=port)
    atexit.register(server.stop)
    display = _notebook()
    if display is not None:
        display.display(display.IFrame(server.url, width="100%", height=height))
    if open_browser:
        webbrowser.open(server.url)
    return server


def _notebook() -> Any:
    """`IPython.display` where a notebook shows what this process displays; None elsewhere."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is None:  # a terminal, IPython's own too, shows no frames
        return None
    from IPython import display  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

    return display  # pyright: ignore[reportUnknownVariableType]
