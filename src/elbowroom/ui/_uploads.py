"""Files that a browser sends: bounded before they are taken in, and read in a process that can be killed.

viser keeps whatever a client sends until all of it is there; here a file that is too large is refused by the size that
it announces, and so is one that does not keep to it. What is read is data: scenes and points, nothing that could run.
"""

from __future__ import annotations

import json
import re
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from ..errors import ElbowroomError, InputError

if TYPE_CHECKING:
    from ..world import World
    from ._jobs import Progress

MAX_UPLOAD = 64 * 2**20
"""Bytes of a file."""
MAX_TRANSFERS = 4
"""Files on their way at a time."""
MAX_PARTS = 10_000
"""Pieces of a file."""
MAX_NAME = 80
"""Characters of a file's name."""
_OTHER = re.compile(r"[^\w.\- ]")


def bound_uploads(gui: Any, refused: Callable[[str], None], most: int = MAX_UPLOAD) -> None:
    """Has a gui refuse files that are too large, before they are there; once per gui.

    Args:
        gui: a `viser.GuiApi`. refused: told why. most: bytes.
    """
    from viser import _messages as messages

    if getattr(gui, "_elbowroom_bounded", False):
        return
    gui._elbowroom_bounded = True
    socket, states = gui._websock_interface, gui._current_file_upload_states
    start, part = gui._handle_file_transfer_start, gui._handle_file_transfer_part

    async def starts(client_id: Any, message: Any) -> None:
        fits = 0 <= message.size_bytes <= most and 0 <= message.part_count <= MAX_PARTS
        if fits and len(states) < MAX_TRANSFERS:
            start(client_id, message)
            return
        socket.queue_message(_done(messages, message, message.size_bytes))
        why = f"has {message.size_bytes / 2**20:.0f} MB; the limit is {most >> 20} MB"
        refused(f"{file_name(message.filename)} {why if not fits else 'must wait for the others'}")

    async def goes_on(client_id: Any, message: Any) -> None:
        state = states.get(message.transfer_uuid)
        if state is not None and state["transferred_bytes"] + len(message.content) > state["total_bytes"]:
            states.pop(message.transfer_uuid, None)
            refused(f"{file_name(state['filename'])} is larger than it said")
        elif state is not None:
            part(client_id, message)

    socket.unregister_handler(messages.FileTransferStartUpload, start)
    socket.register_handler(messages.FileTransferStartUpload, starts)
    socket.unregister_handler(messages.FileTransferPart, part)
    socket.register_handler(messages.FileTransferPart, goes_on)


def _done(messages: Any, message: Any, size: int) -> Any:
    """What ends the browser's own notice of an upload."""
    return messages.FileTransferPartAck(
        source_component_uuid=message.source_component_uuid,
        transfer_uuid=message.transfer_uuid,
        transferred_bytes=size,
        total_bytes=size,
    )


def file_name(given: str) -> str:
    """The last part of a name that a browser says, harmless in messages and on command lines."""
    name = _OTHER.sub("_", PurePath(given.replace("\\", "/")).name)[-MAX_NAME:].lstrip("-. ")
    return name or "file"


def read_scene(name: str, data: bytes, progress: Progress) -> World:
    """In a process of its own: the obstacles of a scene.

    Raises:
        ElbowroomError: it is none, or names files, which were not sent along.
    """
    from ..world import World

    progress.say(f"reading {name}")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are in the notes
        path = Path(folder) / name
        path.write_bytes(data)
        try:
            return World.read(path)
        except ElbowroomError as error:
            raise _without(folder, error) from None


def read_cloud(name: str, data: bytes, radius: float, title: str, progress: Progress) -> World:
    """In a process of its own: a world of one point cloud.

    Args:
        name: of the file, whose ending tells its kind. data: what it holds. radius: around points, metres.
        title: name of the obstacle. progress: told what is done.

    Raises:
        ElbowroomError: it holds no points.
    """
    from ..world import World

    progress.say(f"reading {name}")
    entry = {"kind": "point_cloud", "name": title, "radius": radius, "file": f"cloud{PurePath(name).suffix}"}
    scene = {"format": "elbowroom-world", "version": 1, "obstacles": [entry]}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (Path(folder) / str(entry["file"])).write_bytes(data)
        path = Path(folder) / "scene.json"
        path.write_text(json.dumps(scene))
        try:
            return World.read(path)
        except ElbowroomError as error:
            raise _without(folder, error) from None


def _without(folder: str, error: ElbowroomError) -> ElbowroomError:
    """The error, without the place where the file was put to be read."""
    return InputError(str(error).replace(f"{folder}/", "").replace(folder, ""))
