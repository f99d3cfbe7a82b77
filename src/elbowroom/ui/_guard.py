"""What keeps a page to the people it is for: where it binds, who may connect, what viser may not do.

viser takes the next port when one is taken, waits forever for a host that cannot be bound, accepts pages of any other
site (a WebSocket knows no same-origin rule) and opens a public tunnel when any client asks for one. Built on viser
1.1's inner parts, which `tests/ui/test_server.py` holds to account.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import warnings
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from ..errors import InputError

POLICY_VIOLATION = 1008
"""WebSocket close code."""


def check_bind(host: str, port: int) -> None:
    """Refuses an address that cannot be served on.

    Raises:
        InputError: the port is taken or none, or the host is not of this machine.
    """
    if not 0 <= port <= 65535:
        raise InputError(f"--port: expected a number from 0 to 65535, found {port}")
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise InputError(f"--host {host}: no such host: {error.strerror or error}") from None
    for family, kind, protocol, _, address in places:
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind(address)
                trial.listen(1)
            except OSError as error:
                raise InputError(
                    f"cannot serve on {host} port {port}: {error.strerror or error}; --port 0 takes any free port"
                ) from None


def is_loopback(host: str) -> bool:
    """Whether a host name means this machine only."""
    bare = host.strip("[]").lower()
    if bare == "localhost" or bare.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return False


def refusal(headers: Mapping[str, str], bound: str) -> str:
    """Why a connection is refused; "" when it is not.

    A browser sends where the page came from (Origin) and what it believes to talk to (Host). They must agree; and a
    server of the loopback address is never called by another name, which a page elsewhere could point at us.

    Args:
        headers: of the request. bound: host that is served on.
    """
    host = headers.get("Host", "")
    name = urlsplit(f"//{host}").hostname or ""
    if is_loopback(bound) and not is_loopback(name):
        return f"this server is for this machine only, not for {name!r:.80}"
    origin = headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
        return f"pages of {origin!r:.80} may not connect"
    return ""


def guard(server: Any, host: str) -> None:
    """Refuses foreign connections and share requests of a `viser.ViserServer`."""
    from viser import _messages as messages

    inner = server._websock_server
    for kind in (messages.ShareUrlRequest, messages.ShareUrlDisconnect):
        inner.unregister_handler(kind)

    async def check(connection: Any) -> None:
        await _check(inner, connection.client_id, host)

    inner._client_connect_cb.insert(0, check)
    for client_id in list(inner._live_connections):  # who came before the guard
        asyncio.run_coroutine_threadsafe(_check(inner, client_id, host), server.get_event_loop()).result(5.0)
    logging.getLogger("websockets.server").setLevel(
        logging.CRITICAL
    )  # garbage ends a connection, nothing else
    warnings.filterwarnings("ignore", message="Queued a .* on a closed connection")


async def _check(inner: Any, client_id: int, host: str) -> None:
    connection = inner._live_connections.get(client_id)
    if connection is not None and (why := refusal(connection.request.headers, host)):
        await connection.close(POLICY_VIOLATION, why[:120])


@contextmanager
def no_banner() -> Generator[None]:
    """viser prints by rich's own console whatever it is told; not in this block."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
