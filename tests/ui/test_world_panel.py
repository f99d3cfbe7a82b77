"""The World panel with a gui and a scene that nobody looks at."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from viser import UploadedFile
from viser import _messages as messages

from elbowroom.errors import ElbowroomError
from elbowroom.ui._commands import check_command, needed_files
from elbowroom.ui._uploads import bound_uploads, file_name, read_cloud, read_scene
from elbowroom.ui.panels import LivePanel, WorldPanel
from elbowroom.ui.scene import COLLIDING
from elbowroom.ui.state import (
    History,
    MoveObstacle,
    OpenScene,
    PickObstacle,
    RobotKey,
    SetCfg,
    SetWorld,
    Undo,
    size_of,
)
from elbowroom.world import Box, Capsule, HalfSpace, MeshObstacle, PointCloud, Sphere, World
from elbowroom.world.internal import scene_bytes
from tests.ui.page_tools import APART, HOSTILE, act, widget


def nodes(scene):
    return {name: node for name, node in scene._handle_from_node_name.items() if name.startswith("/world/")}


def world_of(desk):
    return desk.history.state.model.world


def drag(scene, name, pose, phases=("start", "update", "end")):
    """What a hand does to a gizmo."""
    gizmo = scene._handle_from_node_name[name]
    for phase in phases:
        if phase == "update":
            gizmo._impl.wxyz, gizmo._impl.position = np.array(pose[:4]), np.array(pose[4:])
        for callback in gizmo._impl_aux.update_cb:
            asyncio.run(callback(SimpleNamespace(phase=phase, target=gizmo, client_id=0)))


def quiet(*_):
    """Progress that nobody hears."""


quiet.say = quiet


@pytest.mark.parametrize("kind", ["Box", "Sphere", "Cylinder", "Capsule"])
def test_an_obstacle_is_added_resized_renamed_and_removed(stage, desk, kind):
    panel, gui, scene = stage(WorldPanel)
    act(widget(gui, "Add"), kind)
    (obstacle,) = world_of(desk)
    assert (obstacle.kind, obstacle.name) == (kind.lower(), kind.lower())
    (first,) = nodes(scene)
    shown = [label for label, bound in panel._chosen._lengths.items() if bound.handle.visible]
    act(widget(gui, shown[-1]), 300.0)
    assert size_of(world_of(desk)[obstacle.name])[-1] == 0.3
    assert [*nodes(scene)] != [first]  # a new shape, a new node
    widget(gui, "Name").value = "mine"
    act(widget(gui, "Change"), "Rename")
    assert world_of(desk).names == ("mine",)
    act(widget(gui, "Change"), "Remove")
    assert world_of(desk) is None
    assert nodes(scene) == {}
    desk.send(Undo())
    assert world_of(desk).names == ("mine",)
    assert len(nodes(scene)) == 1


def test_names_of_links_are_never_taken(stage, desk):
    _, gui, _ = stage(WorldPanel)
    act(widget(gui, "Add"), "Box")
    widget(gui, "Name").value = "tip"
    act(widget(gui, "Change"), "Rename")
    assert world_of(desk).names == ("box",)
    assert "'tip'" in desk.said[0]
    act(widget(gui, "Add"), "Box")
    assert world_of(desk).names == ("box", "box_2")


def test_an_obstacle_is_picked_dragged_and_typed_elsewhere(stage, desk, viser_server, monkeypatch):
    _, gui, scene = stage(WorldPanel)
    desk.send(OpenScene(World([Box((0.1, 0.1, 0.1), name="a"), Sphere(0.1, name="b")])))
    act(nodes(scene)["/world/1"])
    assert desk.history.state.world.picked == "a"
    sent = []
    monkeypatch.setattr(viser_server._websock_server, "queue_message", sent.append)
    before = len(desk.history.past)
    drag(scene, "/world_gizmo", (0.999999, 0.0, 0.0, 0.0, 0.5, 0.25, 0.0))
    np.testing.assert_allclose(world_of(desk)["a"].pose[:3, 3], (0.5, 0.25, 0.0))
    assert world_of(desk).notes == ()
    moved = {message.name for message in sent if hasattr(message, "name")}
    assert moved == {"/world/1"}  # the gizmo is in the hand, and the other stays
    assert len(desk.history.past) == before + 1
    assert widget(gui, "Position mm").value == (500.0, 250.0, 0.0)
    act(widget(gui, "Rotation °"), (0.0, 0.0, 90.0))
    act(widget(gui, "Position mm"), (100.0, 0.0, 0.0))
    T = world_of(desk)["a"].pose
    np.testing.assert_allclose(T[:3, :2], [[0, -1], [1, 0], [0, 0]], atol=1e-12)
    np.testing.assert_allclose(T[:3, 3], (0.1, 0.0, 0.0), atol=1e-12)
    assert widget(gui, "Rotation °").value == (0.0, 0.0, 90.0)


@pytest.mark.parametrize("pose", [(np.nan,) * 7, (1.0, 0, 0, 0, 1e9, 0, 0), (0.0,) * 7])
def test_poses_that_make_no_sense_are_refused(stage, desk, pose):
    stage(WorldPanel)
    desk.send(OpenScene(World([Sphere(0.1, name="b")])))
    with pytest.raises(ElbowroomError):
        desk.send(MoveObstacle("b", pose))
    np.testing.assert_array_equal(world_of(desk)["b"].pose, np.eye(4))


def test_every_kind_is_drawn_and_clouds_are_decimated(stage, desk):
    _, _, scene = stage(WorldPanel)
    points = np.random.default_rng(0).random((50_001, 3))
    pyramid = MeshObstacle(
        SimpleNamespace(
            vertices=np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]),
            faces=np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]),
        ),
        name="m",
    )
    cloud = PointCloud(points, 0.05, name=HOSTILE)
    desk.send(SetWorld(World([Capsule(0.1, 0.2), HalfSpace(), pyramid, cloud])))
    drawn = nodes(scene)
    assert len(drawn) == 4
    assert len(drawn["/world/4"].points) <= 20_000
    assert len(drawn["/world/3"].faces) == 4
    desk.send(PickObstacle("m"))
    before = drawn["/world/3"].color
    desk.send(PickObstacle("m"))
    assert drawn["/world/3"].color != before


def test_the_live_verdict_names_and_paints_obstacles(stage, desk):
    stage(WorldPanel)
    live, _, scene = stage(LivePanel)
    desk.send(SetCfg(APART))
    world = World([Box((0.1, 0.1, 0.1), name=HOSTILE + "x", pose=[1, 0, 0, 0, APART[0] + 0.5, 0, 0])])
    desk.send(SetWorld(world))
    desk.made(desk.model.with_world(world))
    desk.answer()
    assert "x" in live._body.content
    assert "<" not in live._body.content
    assert "depth" in live._body.content
    assert tuple(nodes(scene)["/world/1"].color) == COLLIDING


def test_scenes_are_generated_saved_and_read_again(stage, desk):
    _, gui, _ = stage(WorldPanel)
    widget(gui, "Scene").value = "shelf"
    act(widget(gui, "Generate"))
    desk.work()
    made = world_of(desk)
    assert len(made) > 5
    act(widget(gui, "Save"), "JSON")
    desk.work()
    data = desk.files["scene.json"]
    assert desk.history.state.world.file_of(made) == "scene.json"
    again = read_scene("scene.json", data, quiet)
    assert scene_bytes(again, "json")[0] == data
    act(widget(gui, "Save"), "MoveIt YAML")
    desk.work()
    assert len(read_scene("scene.yaml", desk.files["scene.yaml"], quiet)) > 5
    act(widget(gui, "Clear"))
    assert world_of(desk) is None


def test_commands_name_the_file_that_holds_the_obstacles(stage, desk):
    stage(WorldPanel)
    state = desk.history.state
    key = RobotKey("rails.urdf")
    desk.history = History(replace(state, robot=replace(state.robot, key=key)))
    scene = World([Sphere(0.1, name="a ball")])
    desk.send(OpenScene(scene, "my scene.yaml"))
    assert "--scene 'my scene.yaml'" in desk.sent[-1].command(desk.view)
    desk.send(MoveObstacle("a ball", (1.0, 0, 0, 0, 0, 0, 1.0)))
    assert "--scene rails_scene.json" in check_command(desk.view)  # as the Export panel offers it
    assert needed_files(desk.view) == ("rails_scene.json",)


@pytest.mark.parametrize("name", ["cloud.xyz", "cloud.npy", "cloud.ply"])
def test_point_clouds_of_files(tmp_path, name):
    points = np.random.default_rng(0).random((20, 3))
    path = tmp_path / name
    if name.endswith("npy"):
        np.save(path, points)
    elif name.endswith("xyz"):
        np.savetxt(path, points)
    else:
        head = "ply\nformat ascii 1.0\nelement vertex 20\n" + "".join(f"property float {c}\n" for c in "xyz")
        path.write_text(
            head + "end_header\n" + "\n".join(" ".join(map(repr, row)) for row in points.tolist())
        )
    (cloud,) = read_cloud(name, path.read_bytes(), 0.01, "c", quiet)
    assert cloud.name == "c"
    assert cloud.radius == 0.01
    np.testing.assert_allclose(np.sort(cloud.points, axis=0), np.sort(points, axis=0), atol=1e-6)


@pytest.mark.parametrize(
    "data", [b"", b"\x80\x04pickle", b"{", b'{"format": "elbowroom-world", "version": 1}']
)
def test_files_that_are_no_scenes_are_refused_without_our_paths(data):
    with pytest.raises(ElbowroomError) as error:
        read_scene("s.json", data, quiet)
    assert "/tmp" not in str(error.value)
    with pytest.raises(ElbowroomError) as error:
        read_cloud("s.npy", data, 0.01, "c", quiet)
    assert "/tmp" not in str(error.value)


def test_an_upload_becomes_obstacles_in_another_process(stage, desk):
    _, gui, _ = stage(WorldPanel)
    data = scene_bytes(World([Sphere(0.1, name="tip"), Sphere(0.1, name="b")]), "json")[0]
    act(widget(gui, "Open scene"), UploadedFile("../../<b>.json", data))
    with pytest.raises(ElbowroomError, match="'tip' names an obstacle and a link"):
        desk.work()
    act(widget(gui, "Open scene"), UploadedFile("ok.json", data.replace(b'"tip"', b'"a"')))
    desk.work()
    assert world_of(desk).names == ("a", "b")
    act(widget(gui, "Add point cloud"), UploadedFile("x.exe", b""))
    assert "x.exe" in desk.said[-1]
    assert desk.jobs == []


def test_uploads_are_bounded_before_they_are_taken_in(viser_server, monkeypatch):
    gui, said = viser_server.gui, []
    gui.reset()
    sent = {messages.FileTransferStartUpload: gui._handle_file_transfer_start,
            messages.FileTransferPart: gui._handle_file_transfer_part}  # fmt: skip
    for kind, handler in sent.items():
        monkeypatch.setitem(gui._websock_interface._incoming_handlers, kind, [handler])
    monkeypatch.setattr(gui, "_elbowroom_bounded", False, raising=False)
    bound_uploads(gui, said.append, most=100)
    button = gui.add_upload_button("x")
    handlers = gui._websock_interface._incoming_handlers

    def send(message):
        for handler in handlers[type(message)]:
            asyncio.run(handler(0, message))

    def start(size, parts, uuid):
        send(messages.FileTransferStartUpload(button._impl.uuid, uuid, "../a<b", "", parts, size))

    def part(content, uuid, index=0):
        send(messages.FileTransferPart(button._impl.uuid, uuid, index, content))

    start(101, 1, "large")
    part(b"x" * 101, "large")
    start(10, 1, "liar")
    part(b"x" * 50, "liar")
    start(3, 1, "fits")
    part(b"abc", "fits")
    assert button.value.content == b"abc"
    assert len(said) == 2
    assert said[0].startswith("a_b has")
    assert gui._current_file_upload_states == {}


def test_names_of_files_are_harmless():
    assert file_name("C:\\x\\scene 1.json") == "scene 1.json"
    assert file_name("/etc/passwd") == "passwd"
    assert file_name("--help") == "help"
    assert file_name("..") == "file"
