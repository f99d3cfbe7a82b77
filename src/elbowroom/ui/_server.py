"""The server of the page: `serve` binds, guards and stops it."""

from __future__ import annotations

import atexit
import json
import sys
import threading
import time
import webbrowser
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ElbowroomError, InputError
from ._guard import check_bind, guard, is_loopback, no_banner
from ._page import Page, Session, Sessions, opened
from ._shared import SharedModels
from .state import History, ModelMade, ModelParts, PageState, RobotKey, WorldState

if TYPE_CHECKING:
    from ..collision import CollisionModel
    from ..robot import Robot
    from ..world import World

STORED = "elbowroom-sessions"
"""Key of the browser's local storage."""
MAX_IDS = 8
"""Sessions that a browser remembers."""
MAX_STORED = 2000
"""Characters that are read of what a browser remembers."""
PATIENCE = 3.0
"""Seconds that a browser may take to say what it remembers."""


class PageServer:
    """A page that is being served; `stop` it, or use it in a `with` block.

    Args:
        host: address to bind. port: 0 for any free one.
        key: the robot to begin with. shared: what is loaded already. start: what sessions begin with.
    """

    def __init__(self, host: str, port: int, key: RobotKey, shared: SharedModels, start: PageState) -> None:
        check_bind(host, port)
        import viser

        with no_banner():
            self._viser: Any = viser.ViserServer(host=host, port=port, label="Elbowroom", verbose=False)
        self.host, self.port = host, self._viser.get_port()
        if port not in (0, self.port):  # taken since it was tried
            self._end()
            raise InputError(f"cannot serve on {host} port {port}: it was taken just now")
        guard(self._viser, host)
        self._key, self.shared = key, shared
        self.sessions = Sessions(lambda: History(start))
        self._pages: dict[int, tuple[Page, Session]] = {}
        self._lock = threading.Lock()
        self._preloading: threading.Thread | None = None
        self._stopped = threading.Event()
        self._viser.on_client_connect(self._connect)
        self._viser.on_client_disconnect(self._disconnect)

    @property
    def url(self) -> str:
        """Where a browser finds the page."""
        shown = "localhost" if self.host in ("0.0.0.0", "::", "") else self.host
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{self.port}"

    def __repr__(self) -> str:
        return f"PageServer at {self.url}{' (stopped)' if self._stopped.is_set() else ''}"

    @property
    def local(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    @property
    def pages(self) -> tuple[Page, ...]:
        """Those that are open."""
        with self._lock:
            return tuple(page for page, _ in self._pages.values())

    def preload(self) -> None:
        """Loads the robot before the first page asks; errors are told to the page that does."""

        def load() -> None:
            with suppress(ElbowroomError):
                self.shared.load(self._key)

        if self.shared.loaded(self._key) is None:
            self._preloading = threading.Thread(target=load, name="preload", daemon=True)
            self._preloading.start()

    def wait(self) -> None:
        """Returns when the server is stopped."""
        self._stopped.wait()

    def stop(self) -> None:
        """Ends everything: pages, jobs, processes, threads."""
        if self._stopped.is_set():
            return
        with self._lock:
            left, self._pages = list(self._pages.values()), {}
            self._stopped.set()
        for page, _ in left:
            page.stop()
        if self._preloading is not None:
            self._preloading.join()
        self._end()

    def _end(self) -> None:
        with no_banner():
            self._viser.stop()
            self._viser._thread_executor.shutdown(wait=True)

    def __enter__(self) -> PageServer:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    # Connections ------------------------------------------------------------------------------------

    def _connect(self, client: Any) -> None:
        """On a thread of viser's: resumes or begins a session."""
        try:
            ids = _stored_ids(client.local_storage.get_item(STORED, timeout=PATIENCE))
        except TimeoutError:
            ids = ()
        except RuntimeError:  # gone again, or a browser without storage
            if client.client_id not in self._viser.get_clients():
                return
            ids = ()
        self._let_leave(ids)
        session = self.sessions.claim(ids, client.client_id)
        if not ids:  # a browser that has never been here
            session.history = replace(session.history, state=_with_hints(session.history.state))
        known = self.sessions.known(ids)
        kept = known if session.id in known else (*known, session.id)[-MAX_IDS:]
        client.local_storage.set_item(STORED, json.dumps(kept))
        page = Page(client, session, self.shared, self._key)
        with self._lock:
            self._pages[client.client_id] = page, session
            stopped = self._stopped.is_set()
        if stopped or client.client_id not in self._viser.get_clients():
            self._disconnect(client)

    def _let_leave(self, ids: tuple[str, ...]) -> None:
        """Waits for pages that are closing: a reload may come before the old page has released its session."""
        end = time.monotonic() + PATIENCE
        while self.sessions.holders(ids) - set(self._viser.get_clients()) and time.monotonic() < end:
            time.sleep(0.01)

    def _disconnect(self, client: Any) -> None:
        with self._lock:
            found = self._pages.pop(client.client_id, None)
        if found is not None:
            found[0].stop()
            self.sessions.release(found[1])


def _with_hints(state: PageState) -> PageState:
    return replace(state, look=replace(state.look, hint=1))


def _stored_ids(text: str | None) -> tuple[str, ...]:
    """Session ids that a browser remembers; whatever else it says is ignored."""
    try:
        found: Any = json.loads((text or "[]")[:MAX_STORED])
    except ValueError:
        return ()
    return tuple(str(id_)[:40] for id_ in found[:MAX_IDS]) if isinstance(found, list) else ()


def serve(
    robot: str | Path | RobotKey | Robot | CollisionModel = "teaarm",
    *,
    world: World | None = None,
    scene: str = "",
    host: str = "127.0.0.1",
    port: int = 8080,
) -> PageServer:
    """Serves the page; returns at once, while the robot is still being loaded.

    Args:
        robot: a name or path as of `load_robot`, a RobotKey with more arguments, a Robot, or a CollisionModel with its
            spheres, pairs and obstacles.
        world: obstacles.
        scene: name of the file that holds them, for command lines; "" for none.
        host: address to bind; the default can be reached from this machine only.
        port: 0 for any free one.

    Raises:
        InputError: the address cannot be served on.
    """
    shared = SharedModels(local=is_loopback(host))
    key, state = _start(robot, world, shared)
    if world is not None and scene:
        state = replace(state, world=WorldState(file=scene, saved=world))
    server = PageServer(host, port, key, shared, state)
    server.preload()
    return server


def _start(robot: Any, world: World | None, shared: SharedModels) -> tuple[RobotKey, PageState]:
    """The robot's key and the state that sessions begin with; keeps in the shared what was handed over."""
    parts = ModelParts(world=world)
    if isinstance(robot, RobotKey):
        return robot, PageState(model=parts)
    if isinstance(robot, (str, Path)):
        return RobotKey(str(robot)), PageState(model=parts)
    from ..collision import CollisionModel
    from ..robot import as_robot

    if not isinstance(robot, CollisionModel):
        body = as_robot(robot)
        key = RobotKey(body.source or body.name, given=True)
        shared.put(key, body)
        return key, PageState(model=parts)
    if robot.attachments:
        raise InputError("a model with attached objects cannot be shown yet; show the one without them")
    key = RobotKey(robot.robot.source or robot.robot.name, given=True)
    shared.put(key, robot.robot)
    model = robot if world is None else robot.with_world(world)
    parts = ModelParts(
        robot.spheres, robot.pairs, world=model.world, allow=tuple(model.allow), buffer=robot.buffer
    )
    shared.put_model(key, parts, model)
    start = opened(key, robot.robot).apply(PageState(model=parts))
    state = PageState(robot=start.robot, model=parts)
    return key, ModelMade(model, key, parts).apply(state)


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
