"""Files that are no scenes, or broken ones: refused with file, place, what was found and what is allowed."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pytest

from elbowroom import formats
from elbowroom.errors import ElbowroomError, FormatError
from elbowroom.world import Box, World

from ..formats.test_hostile_files import bomb
from .scene_files import SHELF, everything, put

HUGE = "9" * 400
HEAD = '{"format": "elbowroom-world", "version": 1, "obstacles": '


def one(**fields):
    """A scene of one box, with fields replaced or, when None, left out."""
    entry = {"kind": "box", "name": "b", "size": [1, 1, 1], "pose": [1, 0, 0, 0, 0, 0, 0], **fields}
    return HEAD + "[" + json.dumps({key: value for key, value in entry.items() if value is not None}) + "]}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "the file is empty"),
        ("   \n", "the file is empty"),
        (one()[:-9], "not readable as JSON"),
        ("[" * 200_000, "nested too deeply"),
        ('{"a": ' * 200_000, "nested too deeply"),
        (HEAD + "[]}" + "x", "not readable as JSON"),
        ('{"format": "elbowroom-world", "obstacles": []}', "version None of a scene is not known, expected 1"),
        (HEAD.replace("1", "2") + "[]}", "version 2"),
        (HEAD + '{}, "obstacles": []}', "'obstacles' is given twice"),
        (HEAD + "{}}", "'obstacles' must be a list, found {}"),
        ('{"format": "elbowroom-world", "version": 1}', "'obstacles' must be a list, found None"),
        (HEAD + '[], "notes": 3}', "'notes' must be a list of sentences"),
        (HEAD + "[7]}", "obstacle 1: expected an object, found 7"),
        (one(kind="cube"), "'kind' must be one of box, sphere, .* found 'cube'"),
        (one(kind=None), "'kind' must be one of"),
        (one(kind=["box"]), "'kind' must be one of"),
        (one(size=None), "obstacle 1 'b': 'size' is missing; a box has size"),
        (one(kind="mesh"), "'vertices' or 'file' is missing"),
        (one(kind="mesh", vertices=[[0, 0, 0]]), "'faces' or 'file' is missing"),
        (one(kind="mesh", file="a.stl", faces=[]), "'file' and 'faces' cannot both be given"),
        (one(kind="mesh", file="a.stl", scale=[1, 0, 1]), "'scale' must be one or three numbers other than 0"),
        (one(kind="mesh", file="a.stl", scale="big"), "'scale': expected numbers, found 'big'"),
        (one(kind="mesh", vertices=[[0, 0]], faces=[[0, 1, 2]]), "obstacle 1 'b'"),
        (one(kind="mesh", vertices=[[0, 0, 0]] * 3, faces=[[0, 1, 9]]), "obstacle 1 'b'"),
        (one(kind="mesh", vertices=[[0, 0, 0]] * 3, faces=[[0, 1, 2]]), "triangle with area"),
        (one(size="large"), "'size': expected numbers, found 'large'"),
        (one(size=["1", "1", "1"]), "'size': expected numbers"),
        (one(size=[1, 1]), "size must be three"),
        (one(size=[1, [1], 1]), "'size': expected numbers in equal rows"),
        (one(size=[1, 0, 1]), "size must be metres above 0"),
        (one(size=[1, -1, 1]), "size must be metres above 0"),
        (one(size=[1, math.nan, 1]), "three finite numbers"),
        (one(size=[1, 1e9, 1]), "at most 1e\\+06"),
        (one().replace("[1, 1, 1]", f"[1, {HUGE}, 1]"), "'size': expected numbers"),
        (one().replace("[1, 1, 1]", f"[1, {'9' * 9000}, 1]"), "not readable as JSON"),
        (one(pose=[1, 0, 0, 0, math.inf, 0, 0]), "pose of box 'b': has NaN or infinite"),
        (one(pose=[0] * 7), "length zero"),
        (one(pose=[1, 0, 0]), "expected shape"),
        (one(pose=[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]]), "not a rotation"),
        (one(pose="here"), "'pose': expected numbers, found 'here'"),
        (one(pose={"file": "a.npy"}), "was not found"),
        (one(pose={}), "expected the name of a file, found None"),
        (one(name=5), "expected a name, found 5"),
        (one(kind="point_cloud", points=[], radius=0.1), "points must have shape"),
        (one(kind="point_cloud", points=[[math.nan] * 3], radius=0.1), "at least one finite point"),
        (one(kind="point_cloud", points=[[0, 0, 0]], radius=0), "radius must be metres above 0"),
        (one(kind="sdf_grid", values=[[[0.0]]], spacing=0.1), "at least 2 samples along each axis"),
        (HEAD + '[{"kind": "sphere", "name": "a", "radius": 1}, {"kind": "sphere", "name": "a", "radius": 1}]}',
         "two obstacles have the name 'a'"),
        ('{"a": [{"center": [0, 0, 0], "radius": 1}]}', "found spheres as JSON"),
        ('{"name": "mine"}', "found JSON that starts with 'name'"),
        ("[1, 2]", "entry 1: expected a mapping, found 1"),
        ('<robot name="a"><link name="b"/></robot>', "found a URDF"),
        ("<mujoco/>", "found an MJCF"),
        ("robot_cfg:\n  kinematics: {}\n", "found a cuRobo YAML"),
        ("format: xrdf\n", "found an XRDF"),
        ("services:\n  a: b\n", "found text that starts with 'services:'"),
        ("buy milk", "found text that starts with 'buy'"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "found a PNG picture"),
        (b"\x1f\x8b\x08\0\0\0", "found gzip data"),
        (b"abc\0def", "found binary data"),
        ("collision_objects: ä".encode("latin-1"), "expected UTF-8"),
    ],
)  # fmt: skip
def test_they_are_refused(tmp_path, text, expected):
    for name in ("scene.json", "scene.yaml"):
        path = put(tmp_path, name, text)
        with pytest.raises(ElbowroomError, match=expected) as caught:
            World.read(path)
        assert str(path) in str(caught.value)
        assert len(str(caught.value)) < 1500


def shelf(old, new):
    assert old in SHELF
    return SHELF.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (shelf("id: Can1", "id:"), "entry 1: id: expected a name, found None"),
        (shelf("id: Can1", "id: [1]"), "id: expected a name"),
        (shelf("id: side_left", "id: Can1"), "object 'Can1' is given twice"),
        (shelf("type: cylinder", "type: 7"), "'type' must be one of box .1., sphere .2., .* found 7"),
        (shelf("type: cylinder", "type: prism"), "found 'prism'"),
        (shelf("type: cylinder", "kind: cylinder"), "found None"),
        (shelf("type: cylinder", "type: true"), "found True"),
        (shelf("[0.14, 0.03]", "[0.14]"), "primitives, entry 1: dimensions: expected height, radius, found"),
        (shelf("[0.14, 0.03]", "0.14"), "dimensions: expected a list of numbers, found 0.14"),
        (shelf("[0.14, 0.03]", "[0.14, wide]"), "dimensions: expected finite numbers"),
        (shelf("[0.14, 0.03]", "[0.14, 0]"), "object 'Can1': .*radius must be metres above 0"),
        (shelf("[0.14, 0.03]", "[0.14, -1]"), "radius must be metres above 0"),
        (shelf("[0.14, 0.03]", "[0.14, .nan]"), "expected finite numbers"),
        (shelf("[0.14, 0.03]", f"[0.14, {HUGE}]"), "expected finite numbers"),
        (shelf("[0.14, 0.03]", f"[0.14, {'9' * 9000}]"), "scene.yaml"),
        (shelf("dimensions: [0.14, 0.03]", ""), "dimensions: expected a list of numbers, found None"),
        (shelf("[0.9, 0, 1.08]", "[0.9, 0]"), "primitive_poses, entry 1: position: expected 3 numbers .x, y, z."),
        (shelf("[0.9, 0, 1.08]", "{x: 1, y: 2}"), "position: expected finite numbers"),
        (shelf("[0.9, 0, 1.08]", "[1e9, 0, 0]"), "position within"),
        (shelf("[0, 0, 0, 1]", "[0, 0, 1]"), "orientation: expected 4 numbers"),
        (shelf("[0, 0, 0, 1]", "up"), "orientation: expected 4 numbers"),
        (shelf("        frame_id: base_link", "        frame_id: 7"), "frame_id: expected the name of a frame"),
        (shelf("primitives:\n        - type: cylinder\n          dimensions: [0.14, 0.03]", "primitives:"),
         "0 primitives, but 1 primitive_poses"),
        (shelf("primitives:\n        - type: cylinder\n          dimensions: [0.14, 0.03]", "primitives: 3"),
         "primitives: expected a list, found 3"),
        (shelf("id: Can1", "id: Can1\n      operation: remove"), "operation: expected add"),
        (shelf("id: Can1", "id: Can1\n      operation: 3"), "operation: expected add"),
        (shelf("world:", "fixed_frame_transforms: 3\nworld:"), "fixed_frame_transforms: expected a list"),
        (shelf("world:", "fixed_frame_transforms: [{}]\nworld:"), "child_frame_id: expected a name"),
        ("world:\n  collision_objects: {a: 1}\n", "expected a list, found {'a': 1}"),
        ("world:\n  collision_objects: [7]\n", "entry 1: expected a mapping, found 7"),
        ("collision_objects:\n- id: m\n  meshes: [{}]\n", "triangles: expected rows of three vertex numbers"),
        ("collision_objects:\n- id: m\n  meshes: [{vertices: [[0, 0, 0]], triangles: [[0, 1, 0.5]]}]\n",
         "triangles: expected rows of three vertex numbers"),
        ("collision_objects:\n- id: m\n  meshes: [{vertices: [[0, 0, 0]], triangles: [[0, 1, 7]]}]\n", "object 'm'"),
        ("collision_objects:\n- id: m\n  meshes: [{resource: ghost.stl}]\n", "object 'm': meshes, entry 1: .*not found"),
        ("collision_objects:\n- id: m\n  meshes: [{resource: /etc/passwd}]\n", "outside"),
        ("collision_objects:\n- id: m\n  meshes: [{resource: a.stl, dimensions: [1]}]\n", "expected three factors"),
        ("collision_objects:\n- id: m\n  planes: [{coef: [0, 0, 0, 1]}]\n", "normal of a plane must not be zero"),
        ("collision_objects:\n- id: m\n  planes: [{coef: [0, 0, 1]}]\n", "coef: expected 4 numbers"),
        (bomb() + "collision_objects: *x9\n", "aliases written out"),
        (bomb() + "collision_objects: []\nrobot_state: *x9\n", "aliases written out"),
        ("collision_objects: &c [*c]\n", "refers to what it is part of"),
        ("collision_objects: " + "[" * 100_000, "nested too deeply"),
        ("collision_objects: [\n", "not readable as YAML"),
        ("collision_objects:\n\t- id: a\n", "not readable as YAML"),
        ("collision_objects: !!python/object:os.system x\n", "scene.yaml"),
    ],
)  # fmt: skip
def test_broken_scenes_of_moveit_are_refused(tmp_path, text, expected):
    path = put(tmp_path, "scene.yaml", text)
    with pytest.raises(ElbowroomError, match=expected) as caught:
        World.read(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 1500


@pytest.mark.parametrize("path", ["ghost.json", ".", "nul\0nul.json", "x" * 300 + ".json"])
def test_paths_that_are_no_files(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FormatError):
        World.read(path)


def test_a_scene_cut_anywhere_is_refused_or_a_smaller_scene(tmp_path):
    """Never anything but an error of ours."""
    everything().write(tmp_path / "whole.json")
    text = (tmp_path / "whole.json").read_text()
    rng = np.random.default_rng(0)
    for at in rng.integers(1, len(text) - 3, 60).tolist():
        with pytest.raises(FormatError):
            World.read(put(tmp_path, "cut.json", text[:at]))
    whole = set(World.read(put(tmp_path, "cut.yaml", SHELF)).names)
    for at in rng.integers(1, len(SHELF), 60).tolist():
        answer = answer_of(put(tmp_path, "cut.yaml", SHELF[:at]))
        if isinstance(answer, str):
            assert "cut.yaml" in answer
        else:
            assert set(answer.names) <= whole | {SHELF[:at].split()[-1]}  # the last id may be cut


def answer_of(path):
    """The world of a file, or what the refusal says."""
    try:
        return World.read(path)
    except ElbowroomError as error:
        return str(error)


@pytest.mark.filterwarnings("ignore::elbowroom.errors.ApproximationWarning")
def test_values_of_every_wrong_type_are_errors_of_ours(tmp_path):
    wrong = [None, True, 0, -1, 1e300, "x", [], [[]], {}, {"file": 3}, [1, "x"], [[1, 2], [3]], [None]]
    for obstacle in json.loads(_whole(tmp_path))["obstacles"]:
        for key in obstacle:
            for value in wrong:
                scene = {"format": "elbowroom-world", "version": 1, "obstacles": [{**obstacle, key: value}]}
                path = put(tmp_path, "wrong.json", json.dumps(scene))
                answer = answer_of(path)
                assert isinstance(answer, World) or "wrong.json" in answer, answer


def _whole(folder):
    everything().write(folder / "whole.json")
    return (folder / "whole.json").read_text()


@pytest.mark.parametrize(
    "text", [SHELF, one(), "- id: a\n  primitives: []\n", '{"world": {"collision_objects": []}}']
)
def test_a_scene_given_for_spheres_says_what_it_is(tmp_path, text):
    for name in ("a.json", "a.yml"):
        with pytest.raises(FormatError, match=r"found a scene of obstacles; World\.read reads it"):
            formats.read(put(tmp_path, name, text))


@pytest.mark.parametrize("extension", ["json", pytest.param("yaml", marks=pytest.mark.long)])
def test_ten_thousand_obstacles(tmp_path, extension):
    rng = np.random.default_rng(0)
    places = np.concatenate([np.tile([1.0, 0, 0, 0], (10_000, 1)), rng.normal(size=(10_000, 3))], axis=1)
    world = World([Box((0.1, 0.2, 0.3), pose=pose) for pose in places])
    world.write(tmp_path / f"a.{extension}")
    found = World.read(tmp_path / f"a.{extension}")
    assert found.names == world.names
    assert np.array_equal([o.pose for o in found], [o.pose for o in world])


def test_too_many_obstacles_are_refused(tmp_path):
    entry = '{"kind": "sphere", "radius": 1}'
    text = HEAD + "[" + ", ".join([entry] * 100_001) + "]}"
    with pytest.raises(FormatError, match="at most 100000 obstacles"):
        World.read(put(tmp_path, "a.json", text))


def test_too_large_files_are_refused_unread(tmp_path):
    path = tmp_path / "a.json"
    with open(path, "wb") as file:
        file.write(b'{"format": ')
        file.truncate(200 * 2**20)
    with pytest.raises(FormatError, match="has 200 MB; at most 128 MB are read"):
        World.read(path)


def test_factors_are_not_lost_on_vertices(tmp_path):
    path = tmp_path / "a.json"
    mesh = {
        "kind": "mesh",
        "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
        "faces": [[0, 1, 2]],
        "scale": 0.001,
    }
    path.write_text(json.dumps({"format": "elbowroom-world", "version": 1, "obstacles": [mesh]}))
    with pytest.raises(FormatError, match="'scale' is for a mesh of a 'file'"):
        World.read(path)


def test_clouds_without_points_say_so_and_nothing_else(tmp_path):
    path = tmp_path / "a.json"
    for name, text, said in (
        ("a.xyz", "", "expected at least one finite point, found 0 points"),
        (
            "a.ply",
            "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n",
            "have no 'y'",
        ),
    ):
        (tmp_path / name).write_text(text)
        cloud = {"kind": "point_cloud", "file": name, "radius": 0.1}
        path.write_text(json.dumps({"format": "elbowroom-world", "version": 1, "obstacles": [cloud]}))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(FormatError, match=said):
                World.read(path)


@pytest.mark.parametrize("key", ["position", "origin", "rpy"])
def test_a_place_under_another_key_is_not_passed_over(tmp_path, key):
    path = tmp_path / "scene.json"
    box = {"kind": "box", "size": [1, 1, 1], key: [1, 0, 0]}
    path.write_text(json.dumps({"format": "elbowroom-world", "version": 1, "obstacles": [box]}))
    with pytest.raises(FormatError, match=f"its 'pose', w x y z x y z .* {key!r} is no key"):
        World.read(path)
