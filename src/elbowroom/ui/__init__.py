"""What people look at: the page in a browser (`serve`), and pictures for reports (`draw/`).

The page, from the browser to the screen and back:

- `_server.py` `serve(...)` binds and guards (`_guard.py`) a viser server and makes a `Page` per connection, resuming
  the `Session` (of `_page.py`) that the browser remembers.
- `_page.py` `Page`: one worker thread (`_worker.py`) takes events in order, latest wins; updates the state; derives a
  `View` (`_view.py`: state, robot, link poses, model, exact verdict); and lets every panel show it in one atomic
  message. Answers of some milliseconds are computed beside it (`AnswerQueue`), long work as jobs with progress and
  cancel (`_jobs.py`), what cannot be interrupted in a child process.
- `state/`: the frozen `PageState`, a part per panel, and events with a pure `apply`. No viser in there.
- `panels/`: a file per panel; `scene/`: nodes of the 3D scene, differences only.
- `elbowroom.show`, for notebooks and scripts, is in `_server.py`. `_exports.py`: files of what a page holds.
  `_teleop.py`: a robot that follows hands, and recordings of them.
- `_follow.py`: the robot on its way to dragged targets. `_uploads.py`: files of the browser, bounded.
- `_shared.py`: robots and models that all pages of a server share. `_commands.py`: command lines. `_escape.py`: names
  from descriptions in HTML and Markdown.

To add a panel X:

1. `state/_x.py`: a frozen `XState(Part)` and its events, each `class E(Event)` with `apply(state) -> state` (pure),
   `gesture` if it comes in bursts, `undoable = False` if it only changes a `kept` part, `command(view)` where a command
   line repeats it. One field `x: XState` in `state/_page.py`; names in `state/__init__.py`.
2. `panels/_x.py`: `class XPanel` with `title`, `__init__(gui, scene, desk)` and `show(view)`; one entry in `PLACES` of
   `panels/__init__.py`. Widgets by `Bound(handle, desk, value -> event)`, buttons by `on_click(handle, act)`, output by
   `Shown(act)`. Names through `escape` wherever Markdown or HTML is made.
3. `scene/_x.py` if it draws: nodes under `/x`, or hung on a link at `frame_name(robot, link)`; colours of links by a
   function in `PAINTERS`.
4. What is computed comes back as an event: `desk.ask(key, question)` for milliseconds, `desk.run(Job(key, title,
   work))` for long work, where `work(report)` hands `report` on as `progress`, or calls `report.child(function,
   *args)`.

Spheres, pairs, obstacles and attached objects of all panels are in `state.model`; events `SetSpheres`, `SetPairs`,
`OverridePair` and `SetWorld` change them, and the page makes the new model.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._server import PageServer as PageServer
    from ._server import serve as serve
    from ._server import show as show
    from .state import RobotKey as RobotKey

_HOME = {"PageServer": "_server", "serve": "_server", "show": "_server", "RobotKey": "state"}
"""Name -> module; pictures must not load viser."""

__all__ = ["PageServer", "RobotKey", "serve", "show"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
