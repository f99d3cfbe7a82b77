"""The page without a browser: a robot, a desk that writes down what panels do, and a WebSocket client."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import viser
import zstandard
from websockets import ConnectionClosed
from websockets.sync.client import connect

from elbowroom import CollisionModel, load_robot
from elbowroom.collision.internal import one_ball_a_link
from elbowroom.pairs import pairs_from_ignored
from elbowroom.ui._jobs import Job, Report
from elbowroom.ui._page import opened
from elbowroom.ui._view import View
from elbowroom.ui.state import Event, History, ModelMade, RobotKey

HOSTILE = "<img src=x onerror=alert(1)>/**{x}"
_BOX = '<link name="{0}"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>'
_LIMIT = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'
URDF = f"""<robot name="rails">{_BOX.format("base")}<link name="arm"/>{_BOX.format("tip")}
{_BOX.format(HOSTILE.replace("<", "&lt;").replace(">", "&gt;"))}
<joint name="slide" type="prismatic"><parent link="base"/><child link="arm"/><axis xyz="1 0 0"/>{_LIMIT}</joint>
<joint name="turn" type="revolute"><parent link="arm"/><child link="tip"/><origin xyz="0.5 0 0"/><axis xyz="0 0 1"/>
{_LIMIT}</joint>
<joint name="follow" type="revolute"><parent link="base"/><child link="{HOSTILE.replace("<", "&lt;").replace(">", "&gt;")}"/>
<origin xyz="0 2 0"/><axis xyz="0 0 1"/>{_LIMIT}<mimic joint="turn" multiplier="-2" offset="0.1"/></joint></robot>"""
"""Two boxes that meet when the slide goes back, and a third that follows the turn, with a name to be careful with."""
TOUCHING, APART = (-0.4, 0.1), (0.4, 0.1)


def rails_file(folder: Path) -> Path:
    """The description as a file."""
    path = folder / "rails.urdf"
    path.write_text(URDF)
    return path


def rails_model(folder: Path) -> CollisionModel:
    """The boxes and their verdict, made in no time."""
    robot = load_robot(rails_file(folder))
    return CollisionModel(robot, one_ball_a_link(robot), pairs_from_ignored(robot, {}, "none"))


class TestDesk:
    """A desk without threads: events are applied at once, questions and jobs are done when told."""

    __test__ = False
    local = True

    def __init__(self, model: CollisionModel, key: RobotKey | None = None) -> None:
        self.model = model
        self.key = key or RobotKey("rails", given=True)
        self.history = History()
        self.sent: list[Event] = []
        self.questions: dict[str, Callable[[], Event | None]] = {}
        self.jobs: list[Job] = []
        self.said: list[str] = []
        self.files: dict[str, bytes] = {}
        self.opened: list[RobotKey] = []
        self.panels: list[Any] = []
        self.send(opened(self.key, model.robot))
        self.send(ModelMade(model, self.key, self.history.state.model))
        self.sent.clear()

    @property
    def view(self) -> View:
        state = self.history.state
        cfg = np.array(state.robot.cfg)
        return View(
            state,
            self.model.robot,
            self.model.robot.link_poses(cfg),
            state.live.model,
            current=True,
            free=bool(self.model.free(cfg)),
            can_undo=bool(self.history.past),
        )

    def send(self, event: Event) -> None:
        self.sent.append(event)
        self.history = self.history.after(event, float(len(self.sent)) * 10.0)
        for panel in self.panels:
            panel.show(self.view)

    def ask(self, key: str, question: Callable[[], Event | None], lane: str = "") -> None:
        self.questions[key] = question

    def run(self, job: Job) -> None:
        self.jobs.append(job)

    def cancel(self, key: str | None = None) -> None:
        self.jobs.clear()

    def say(self, text: str, *, error: bool = False) -> None:
        self.said.append(text)

    def download(self, name: str, data: bytes) -> None:
        self.files[name] = data

    def open(self, key: RobotKey) -> None:
        self.opened.append(key)

    def made(self, model: CollisionModel) -> None:
        """The model of the state has been made."""
        self.model = model
        self.send(ModelMade(model, self.key, self.history.state.model))

    def answer(self) -> None:
        """Answers the questions that wait."""
        asked, self.questions = self.questions, {}
        for question in asked.values():
            if (event := question()) is not None:
                self.send(event)

    def work(self) -> None:
        """Does the jobs that wait."""
        jobs, self.jobs = self.jobs, []
        for job in jobs:
            if (event := job.work(Report(lambda: None))) is not None:
                self.send(event)


def of_file(view: View, path: str) -> View:
    """A view of a robot that a command line can load."""
    robot = replace(view.state.robot, key=RobotKey(path))
    return replace(view, state=replace(view.state, robot=robot))


def act(handle: Any, value: Any = None) -> None:
    """What a person does to a widget: sets its value, or presses it; or clicks a node of the scene."""
    if value is not None:
        handle._impl.value = value
    callbacks = [
        getattr(entry, "callback", entry)
        for entry in getattr(handle._impl, "update_cb", None) or handle._impl.click_cb
    ]
    for callback in callbacks:
        happened = type("Event", (), {"client_id": 0, "client": None, "target": handle})()
        for _ in callback(happened).__await__():
            raise AssertionError("a callback of a widget must not wait")


def widget(gui: Any, label: str) -> Any:
    """The input widget with a label."""
    found = [h for h in gui._gui_input_handle_from_uuid.values() if getattr(h, "label", None) == label]
    assert len(found) == 1, (
        label,
        [getattr(h, "label", None) for h in gui._gui_input_handle_from_uuid.values()],
    )
    return found[0]


class Browser:
    """A client that speaks viser's protocol: keeps nodes and widgets, remembers its storage."""

    def __init__(self, url: str, storage: dict[str, str] | None = None, **options: Any) -> None:
        self.storage = {} if storage is None else storage
        self.nodes: dict[str, dict[str, Any]] = {}
        self.widgets: dict[str, dict[str, Any]] = {}
        self.notes: list[str] = []
        self.poses = 0
        """Messages that move a node."""
        self._changed = threading.Condition()
        self._socket = connect(
            url.replace("http", "ws"), subprotocols=[f"viser-v{viser.__version__}"], max_size=None, **options
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        with suppress(ConnectionClosed):  # a server may refuse at once
            self._arrive()

    def _arrive(self) -> None:
        self.send(
            "ViewerCameraMessage",
            wxyz=(1, 0, 0, 0), position=(1, 1, 1), fov=1.0, near=0.1, far=100.0,
            image_height=800, image_width=1280, look_at=(0, 0, 0), up_direction=(0, 0, 1),
        )  # fmt: skip

    def send(self, type_: str, **fields: Any) -> None:
        """Sends a message."""
        self._socket.send(msgspec.msgpack.encode({"type": type_, **fields}))

    def send_raw(self, data: bytes | str) -> None:
        """Sends anything."""
        self._socket.send(data)

    def set(self, label: str, value: Any) -> None:
        """Sets a widget."""
        uuid = next(uuid for uuid, entry in self.widgets.items() if entry["props"].get("label") == label)
        self.widgets[uuid]["value"] = value
        self.send("GuiUpdateMessage", uuid=uuid, updates={"value": value})

    def value(self, label: str) -> Any:
        """What a widget shows; None where there is none."""
        found = [entry for entry in self.widgets.values() if entry["props"].get("label") == label]
        return found[0]["value"] if found else None

    def wait(self, condition: Callable[[], Any], seconds: float = 60.0) -> Any:
        """Waits until something holds."""
        with self._changed:
            assert self._changed.wait_for(condition, seconds), "it did not come true"

    def close(self) -> None:
        """Leaves."""
        self._socket.close()
        self._reader.join()

    @property
    def close_code(self) -> int | None:
        """Why the server closed, once it has."""
        self._reader.join(10.0)
        return self._socket.protocol.close_code

    def _read(self) -> None:
        with suppress(ConnectionClosed):
            self._take_frames()

    def _take_frames(self) -> None:
        for frame in self._socket:
            size = int.from_bytes(frame[8:16], "little")
            inner = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(frame[16 : 16 + size]))
            with self._changed:
                for message in inner["messages"]:
                    self._take(message)
                self._changed.notify_all()

    def _take(self, message: dict[str, Any]) -> None:
        kind = message["type"]
        if kind == "LocalStorageGetItemRequestMessage":
            found = self.storage.get(message["key"])
            self.send(
                "LocalStorageGetItemResponseMessage",
                value=found,
                error=None,
                request_uuid=message["request_uuid"],
            )
        elif kind == "LocalStorageSetItemMessage":
            self.storage[message["key"]] = message["value"]
        elif kind == "GuiUpdateMessage":
            entry = self.widgets[message["uuid"]]
            for name, value in message["updates"].items():
                if name == "value":
                    entry["value"] = value
                else:
                    entry["props"][name] = value
        elif kind == "GuiRemoveMessage":
            self.widgets.pop(message["uuid"], None)
        elif kind == "NotificationShowMessage" or kind == "NotificationMessage":
            self.notes.append(message["props"]["body"])
        elif kind in ("SetPositionMessage", "SetOrientationMessage"):
            self.poses += 1
            self.nodes.setdefault(message["name"], {})[kind] = message.get("position") or message.get("wxyz")
        elif kind == "RemoveSceneNodeMessage":
            gone = message["name"]
            self.nodes = {n: v for n, v in self.nodes.items() if n != gone and not n.startswith(gone + "/")}
        elif kind.startswith("Gui") and "props" in message:
            self.widgets[message["uuid"]] = {
                "value": message.get("value"),
                "props": message["props"],
                "type": kind,
            }
        elif "name" in message and "props" in message:
            self.nodes.setdefault(message["name"], {})["type"] = kind


def until(condition: Callable[[], Any], seconds: float = 20.0) -> None:
    """Waits until something holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.02)
