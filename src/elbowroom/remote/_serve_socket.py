"""The same messages over a WebSocket of the loopback address, for one controller at a time.

Browsers say in the `Origin` header which page opens a socket: pages of other hosts are refused, so that no web page
that happens to be open can move the robot. A second controller is told so and disconnected. When the controller leaves,
the robot brakes, and the next one starts with a `hello`.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from ..errors import ElbowroomError, InputError
from ._messages import MOST_BYTES, Stop, encode, read_message
from ._serve import Mailbox, Outbox, ServeReport, error_message, run_session
from ._session import Session

HOST = "127.0.0.1"
LOCAL = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?")
"""Origins of pages that this machine serves itself."""
GOING_AWAY = 1001
"""Close code when the session ends."""
TRY_AGAIN_LATER = 1013
"""Close code for a second controller."""


def check_port(port: int) -> None:
    """Asks before long work whether a port can be opened.

    Raises:
        InputError: it cannot.
    """
    try:
        socket.create_server((HOST, port)).close()
    except (OSError, OverflowError) as error:
        raise _cannot_listen(port, error) from error


def _cannot_listen(port: int, error: Exception) -> InputError:
    text = getattr(error, "strerror", None) or str(error)
    return InputError(f"cannot listen on port {port} of {HOST}: {text}")


def serve_socket(
    session: Session,
    port: int,
    origins: Sequence[str] = (),
    announce: Callable[[str], None] = lambda _: None,
    mailbox: Mailbox | None = None,
    pages: Mapping[str, str] | None = None,
) -> ServeReport:
    """Steers by messages of one controller after the other, until one of them sends `end`.

    Args:
        session: the robot.
        port: of the loopback address; 0 takes any that is free.
        origins: further pages that may connect, such as "https://10.0.0.5:4443".
        announce: told the address once it can be reached.
        mailbox: closing it from elsewhere ends the session, too; None makes one.
        pages: path -> HTML that a browser gets at the same port, such as the page that a headset opens.

    Raises:
        InputError: the port cannot be opened.
    """
    mailbox = mailbox or Mailbox()
    door = SocketDoor(session, mailbox, port, origins, pages)
    announce(door.address)
    try:
        return run_session(session, mailbox, door)
    finally:
        door.close()


class SocketDoor:
    """A WebSocket server in threads of its own: fills a mailbox, and sends to the connected client."""

    def __init__(
        self,
        session: Session,
        mailbox: Mailbox,
        port: int,
        origins: Sequence[str] = (),
        pages: Mapping[str, str] | None = None,
    ) -> None:
        """Opens the port; arguments as of `serve_socket`."""
        from websockets.sync.server import serve

        self._session, self._mailbox, self._origins = session, mailbox, tuple(origins)
        self._pages = dict(pages or {})
        self._turn = threading.Lock()
        self._outbox: Outbox | None = None
        self._connection: Any = None
        self._gone = 0
        self.broken = False  # without a listener the robot stands, and the door stays open
        try:
            self._server = serve(
                self._handle,
                HOST,
                port,
                process_request=self._admit,
                max_size=MOST_BYTES,
                compression=None,  # a command is small, and must not wait
            )
        except (OSError, OverflowError) as error:
            raise _cannot_listen(port, error) from error
        self.address = "ws://{}:{}".format(*self._server.socket.getsockname()[:2])
        threading.Thread(target=self._server.serve_forever, daemon=True, name="door").start()

    @property
    def dropped(self) -> int:
        """Answers that slow readers did not get."""
        outbox = self._outbox
        return self._gone + (0 if outbox is None else outbox.dropped)

    def send(self, message: Mapping[str, Any]) -> None:
        """To the controller, if there is one."""
        outbox = self._outbox
        if outbox is not None:
            outbox.send(message)

    def close(self) -> None:
        """Sends what waits, lets the controller go and closes the port."""
        outbox, connection = self._outbox, self._connection
        self._server.shutdown()
        if outbox is not None:
            outbox.close()
        if connection is not None:
            connection.close(GOING_AWAY, "the server ends")

    def _admit(self, connection: Any, request: Any) -> Any:
        """Gives out pages, and refuses sockets of pages of other hosts; programs send no origin."""
        page = self._pages.get(request.path.partition("?")[0])
        if page is not None and "Upgrade" not in request.headers:
            answer = connection.respond(HTTPStatus.OK, page)
            del answer.headers["Content-Type"]
            answer.headers["Content-Type"] = "text/html; charset=utf-8"
            answer.headers["Cache-Control"] = "no-store"
            return answer
        origins = request.headers.get_all("Origin")
        if all(LOCAL.fullmatch(origin) or origin in self._origins for origin in origins):
            return None
        return connection.respond(HTTPStatus.FORBIDDEN, "this page may not steer the robot\n")

    def _handle(self, connection: Any) -> None:
        if not self._turn.acquire(blocking=False):
            with suppress(Exception):  # whatever it does with the answer
                connection.send(encode(error_message(InputError("another controller is connected"))))
                connection.close(TRY_AGAIN_LATER, "another controller is connected")
            return
        outbox = Outbox(_writer(connection))
        try:
            outbox.send(self._session.hello())
            self._outbox, self._connection = outbox, connection
            self._listen(connection, outbox)
        finally:
            self._outbox = self._connection = None
            self._gone += outbox.dropped
            outbox.close(0.0)
            self._mailbox.put(Stop())
            self._turn.release()

    def _listen(self, connection: Any, outbox: Outbox) -> None:
        from websockets.exceptions import ConnectionClosed

        with suppress(ConnectionClosed):
            for text in connection:
                try:
                    self._mailbox.put(read_message(text, self._session.robot, self._session.links))
                except ElbowroomError as error:
                    outbox.send(error_message(error))


def _writer(connection: Any) -> Callable[[str], bool]:
    from websockets.exceptions import ConnectionClosed

    def write(text: str) -> bool:
        try:
            connection.send(text)
        except (ConnectionClosed, OSError):
            return False
        return True

    return write
