"""Scenes of MoveIt and MotionBenchMaker as YAML.

Looks inside: `is_scene` decides before a file is read whether it is a scene.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
import trimesh
from ruamel.yaml import YAML

from elbowroom.errors import ApproximationWarning, FormatError
from elbowroom.world import Box, Capsule, Cylinder, HalfSpace, MeshObstacle, Sphere, World
from elbowroom.world.internal import is_scene

from .scene_files import SHELF, everything, poses, put

TURN = {"x": 0.0, "y": 0.0, "z": 0.5**0.5, "w": 0.5**0.5}
"""A quarter turn about z, as ROS writes quaternions."""


def read(folder, data, name="scene.yaml"):
    """The world of values, written as ruamel writes them."""
    path = folder / name
    with open(path, "w", encoding="utf-8") as file:
        YAML().dump(data, file)
    return World.read(path)


def thing(name="a", **others):
    """An object: a box unless told otherwise."""
    shape = {"primitives": [{"type": 1, "dimensions": [1.0, 2.0, 3.0]}], "primitive_poses": [{}]}
    return {"id": name, **(others or shape)}


def objects(*entries, **others):
    return {"world": {"collision_objects": list(entries)}, **others}


def test_a_scene_of_motion_bench_maker(tmp_path):
    world = World.read(put(tmp_path, "scene.yaml", SHELF))
    can, side = world.obstacles
    assert isinstance(can, Cylinder)
    assert (can.name, can.radius, can.length) == ("Can1", 0.03, 0.14)
    assert can.pose[:3, 3].tolist() == [0.9, 0.0, 1.08]
    assert isinstance(side, Box)
    assert side.size == (1.2, 0.04, 0.34)
    assert np.allclose(side.pose[:3, :3], [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
    assert world.notes == ("the frame 'base_link' of 2 objects is treated as the world frame",)
    assert is_scene(tmp_path / "scene.yaml")


@pytest.mark.parametrize("wrap", ["world", "top", "list", "scene", "planning_scene", "json", "json_list"])
def test_where_the_objects_are(tmp_path, wrap):
    entry = thing()
    data = {
        "world": objects(entry),
        "top": {"collision_objects": [entry]},
        "list": [entry],
        "scene": {"scene": objects(entry)},
        "planning_scene": {"planning_scene": objects(entry)},
        "json": objects(entry),
        "json_list": [entry],
    }[wrap]
    as_json = put(tmp_path, "a.json", json.dumps(data))
    assert (World.read(as_json) if wrap.startswith("json") else read(tmp_path, data)).names == ("a",)


def test_types_as_words_and_numbers_and_vectors_as_mappings(tmp_path):
    shapes = [("BOX", [1, 2, 3]), (1, [1, 2, 3]), ("2", [0.5]), ("Sphere", [0.5, 0, 0]), (3, [0.7, 0.2])]
    entry = {
        "id": 17,
        "primitives": [{"type": kind, "dimensions": sizes} for kind, sizes in shapes],
        "primitive_poses": [{"position": {"x": k, "y": 0.0, "z": -1}, "orientation": TURN} for k in range(5)],
    }
    world = read(tmp_path, objects(entry))
    assert world.names == ("17", "17#2", "17#3", "17#4", "17#5")
    assert [type(o) for o in world] == [Box, Box, Sphere, Sphere, Cylinder]
    assert (world["17#5"].length, world["17#5"].radius) == (0.7, 0.2)
    assert world["17#4"].pose[:3, 3].tolist() == [3.0, 0.0, -1.0]
    assert world.notes == ("shapes of one object are obstacles of their own (17, 17#2, ...): 17 (5)",)


def test_poses_of_objects_and_shapes_are_joined(tmp_path):
    """MoveIt since 1.1.6: shapes are relative to the object, objects to the frame."""
    frames = [
        {"child_frame_id": "cell", "transform": {"translation": [0, 0, 1], "rotation": TURN}},
        {
            "header": {"frame_id": "cell"},
            "child_frame_id": "/table",
            "transform": {"translation": {"x": 1, "y": 0, "z": 0}},
        },
    ]
    entry = {
        **thing(),
        "header": {"frame_id": "table"},
        "pose": {"position": [0, 1, 0], "orientation": TURN},
        "primitive_poses": [{"position": [0, 0, 5]}],
    }
    world = read(tmp_path, objects(entry, fixed_frame_transforms=frames))
    assert np.allclose(world["a"].pose[:3, 3], [-1, 1, 6], atol=1e-15)
    assert np.allclose(world["a"].pose[:3, :3], [[-1, 0, 0], [0, -1, 0], [0, 0, 1]], atol=1e-15)
    assert world.notes == ()


def test_frames_that_place_themselves(tmp_path):
    frames = [
        {"child_frame_id": "a", "header": {"frame_id": "b"}},
        {"child_frame_id": "b", "header": {"frame_id": "a"}},
    ]
    with pytest.raises(FormatError, match="frame 'a' is placed by itself"):
        read(tmp_path, objects(thing(), fixed_frame_transforms=frames))


def test_meshes_inline_and_by_resource(tmp_path):
    cube = trimesh.creation.box((2, 2, 2))
    cube.export(put(tmp_path, "meshes/cube.stl", ""))
    rows = [{"x": x, "y": y, "z": z} for x, y, z in cube.vertices.tolist()]
    inline = {"vertices": rows, "triangles": [{"vertex_indices": f} for f in cube.faces.tolist()]}
    lists = {"vertices": cube.vertices.tolist(), "triangles": cube.faces.tolist()}
    named = {"resource": "package://motion_bench_maker/meshes/cube.stl", "dimensions": [0.5, 1, 1]}
    entry = {"id": "m", "meshes": [inline, lists, named], "mesh_poses": [{"position": [0, 0, 3]}] * 3}
    world = read(tmp_path, objects(entry))
    assert [o.mesh.closed for o in world] == [True] * 3
    assert np.allclose([o.bounds[0] for o in world], [[-1, -1, 2], [-1, -1, 2], [-0.5, -1, 2]])
    assert any("package 'motion_bench_maker'" in note for note in world.notes)


def test_planes_are_half_spaces(tmp_path):
    entry = {"id": "p", "planes": [{"coef": [0, 0, 2, -1]}], "plane_poses": [{"position": [0, 0, 1]}]}
    world = read(tmp_path, objects(entry))
    floor = world["p"]
    assert isinstance(floor, HalfSpace)
    assert (floor.normal, floor.offset, floor.pose[2, 3]) == ((0.0, 0.0, 1.0), 0.5, 1.0)
    assert "half-space" in world.notes[0]


def test_a_cone_is_the_cylinder_around_it_and_said(tmp_path):
    entry = thing(primitives=[{"type": "cone", "dimensions": [0.4, 0.1]}], primitive_poses=[{}])
    with pytest.warns(ApproximationWarning, match="cone"):
        world = read(tmp_path, objects(entry))
    assert (world["a"].length, world["a"].radius) == (0.4, 0.1)
    assert "cylinder around it" in world.notes[0]


def test_quaternions_of_messages_that_nobody_filled_in(tmp_path):
    entry = thing()
    entry["primitive_poses"] = [{"position": [1, 2, 3], "orientation": {"x": 0, "y": 0, "z": 0, "w": 0}}]
    world = read(tmp_path, objects(entry))
    assert np.array_equal(world["a"].pose[:3, :3], np.eye(3))
    assert "quaternion is zero" in world.notes[0]
    entry["primitive_poses"][0]["orientation"] = [0.707, 0, 0, 0.707]  # as in the kitchen of MotionBenchMaker
    with pytest.warns(ApproximationWarning, match="length 0.9998 and was normalised"):
        world = read(tmp_path, objects(entry))
    assert np.abs(world["a"].pose[:3, :3].T @ world["a"].pose[:3, :3] - np.eye(3)).max() < 1e-15


def test_what_holds_for_many_objects_is_said_once(tmp_path):
    entries = [thing(f"o{k}") for k in range(100)]
    for entry in entries:
        entry["primitive_poses"] = [{"orientation": [0, 0, 0, 2]}]
        entry["subframe_names"] = ["tip"]
    with pytest.warns(ApproximationWarning) as caught:
        world = read(tmp_path, objects(*entries))
    assert len(caught) == 1
    assert world.notes == (
        "objects 'o0', 'o1', 'o2', 'o3', 'o4', 'o5' and 94 more: a quaternion has length 2 and was normalised",
        "objects 'o0', 'o1', 'o2', 'o3', 'o4', 'o5' and 94 more: subframe_names is not kept",
    )


def test_shapes_without_poses_are_at_the_object(tmp_path):
    entry = {**thing(), "pose": {"position": [1, 2, 3]}}
    del entry["primitive_poses"]
    world = read(tmp_path, objects(entry))
    assert world["a"].pose[:3, 3].tolist() == [1, 2, 3]
    assert world.notes == ()
    del entry["pose"]
    assert "have no pose and are at its origin" in read(tmp_path, objects(entry)).notes[0]


def test_what_is_no_obstacle_is_noted(tmp_path):
    state = {
        "joint_state": {"name": ["j"], "position": [0.5]},
        "attached_collision_objects": [{"link_name": "hand", "object": thing()}],
    }
    matrix = {"entry_names": ["a", "link"], "entry_values": [{"enabled": [True, False]}] * 2}
    data = objects(
        {**thing(), "type": {"key": "mug", "db": ""}, "subframe_names": ["tip"]},
        {"id": "empty"},
        name="scene",
        robot_model_name="panda",
        robot_state=state,
        allowed_collision_matrix=matrix,
        link_padding=[{"link_name": "hand", "padding": 0.01}],
        link_scale=[],
        is_diff=False,
    )
    data["world"]["octomap"] = {"octomap": {"data": [1, 2, 3]}}
    with pytest.warns(ApproximationWarning) as caught:
        world = read(tmp_path, data)
    assert world.names == ("a",)
    text = "\n".join(world.notes)
    for words in (
        "object 'a': type is not kept",
        "object 'a': subframe_names is not kept",
        "object 'empty': it has no shape and is left out",
        "the octomap is not read",
        "attached_collision_objects are not read",
        "not kept: robot_state, link_padding",
        "allowed_collision_matrix of 2 names is not kept",
    ):
        assert words in text
    assert len(caught) == 2  # what is left out and could be hit


def test_a_message_with_nothing_in_it_has_no_notes(tmp_path):
    """As `rostopic echo` prints it: all fields, most of them empty."""
    header = {"seq": 0, "stamp": {"secs": 0, "nsecs": 0}, "frame_id": ""}
    octomap = {"header": header, "binary": False, "id": "", "resolution": 0.0, "data": []}
    state = {
        "joint_state": {"header": header, "name": [], "position": []},
        "attached_collision_objects": [],
        "is_diff": False,
    }
    data = objects(
        {
            **thing(),
            "header": header,
            "operation": 0,
            "type": {"key": "", "db": ""},
            "meshes": [],
            "planes": [],
        },
        name="",
        robot_state=state,
        fixed_frame_transforms=[],
        allowed_collision_matrix={"entry_names": [], "entry_values": []},
        link_padding=[],
        object_colors=[],
    )
    data["world"]["octomap"] = {"header": header, "octomap": octomap}
    assert read(tmp_path, data).notes == ()


def test_a_message_as_ros_prints_it(tmp_path):
    """`rostopic echo`: dashes on lines of their own, spaces behind colons, a line that ends it."""
    text = """name: "(noname)"
robot_state: \n  joint_state: \n    name: [j]
    position: [0.5]
world: \n  collision_objects: \n    - \n      header: \n        seq: 0
        stamp: \n          secs: 0
        frame_id: "world"
      id: "table"
      type: \n        key: ''
      primitives: \n        - \n          type: 1
          dimensions: [1.0, 2.0, 3.0]
      primitive_poses: \n        - \n          position: \n            x: 0.5
            y: 0.0
            z: -0.1
          orientation: \n            x: 0.0
            y: 0.0
            z: 0.0
            w: 1.0
      meshes: []
      operation: 0
---
"""
    world = World.read(put(tmp_path, "scene.yaml", text))
    assert world["table"].size == (1.0, 2.0, 3.0)
    assert world["table"].pose[:3, 3].tolist() == [0.5, 0.0, -0.1]
    assert world.notes == ("not kept: robot_state",)


def test_appended_shapes_belong_to_their_object(tmp_path):
    more = {**thing(), "operation": "append"}
    world = read(tmp_path, objects(thing(), thing("a#2"), more))
    assert world.names == ("a", "a#2", "a#3")  # a#2 is an id of its own


# Writing ----------------------------------------------------------------------------------------


def test_what_a_scene_can_hold_comes_back(tmp_path):
    world = everything()
    lost = world.write(tmp_path / "a.yaml")
    found = World.read(tmp_path / "a.yaml")
    for name in ("table", "sphere", "a 'can' of \"ø\"\n", "floor", "small mesh", "mesh"):
        a, b = world[name], found[name]
        assert type(a) is type(b)
        assert np.abs(a.pose - b.pose).max() < 1e-14
        for what in ("size", "radius", "length", "offset"):
            assert getattr(a, what, None) == getattr(b, what, None)
        if isinstance(a, MeshObstacle):
            assert np.array_equal(a.mesh.vertices, b.mesh.vertices)
            assert np.array_equal(a.mesh.faces, b.mesh.faces)
    assert np.allclose(found["floor"].normal, (0.6, 0.0, 0.8), rtol=0, atol=1e-15)
    text = "\n".join(lost)
    for words in (
        "capsule 'capsule' is written as a cylinder and two spheres",
        "half_space 'floor' is written as a plane",
        "point_cloud 'few points' is left out",
        "point_cloud 'points' is left out",
        "sdf_grid 'field' is left out",
    ):
        assert words in text
    assert len(lost) == 5


def test_the_three_shapes_of_a_capsule_are_the_same_solid(tmp_path):
    capsule = Capsule(0.1, 0.5, pose=poses(1)[0], name="c")
    World([capsule]).write(tmp_path / "a.yaml")
    found = World.read(tmp_path / "a.yaml")
    assert found.names == ("c", "c#2", "c#3")
    points = np.random.default_rng(0).uniform(-0.5, 0.5, (4000, 3)) + capsule.pose[:3, 3]
    whole, parts = World([capsule]).distance(points), found.distance(points)
    assert np.abs(whole - parts)[whole > 0].max() < 1e-14  # outside, distances to a union are exact
    assert np.array_equal(whole <= 0, parts <= 0)


def test_objects_of_several_shapes_are_one_again(tmp_path):
    entry = thing(
        "shelf",
        primitives=[{"type": "box", "dimensions": [1, 1, 1]}, {"type": "sphere", "dimensions": [1]}],
        primitive_poses=[{}, {}],
        planes=[{"coef": [0, 0, 1, 0]}],
        plane_poses=[{}],
    )
    read(tmp_path, objects(entry, thing("box_2"), thing("box"))).write(tmp_path / "b.yaml")
    data = YAML(typ="safe").load((tmp_path / "b.yaml").read_text())
    found = {entry["id"]: entry for entry in data["world"]["collision_objects"]}
    assert list(found) == ["shelf", "box_2", "box"]
    assert len(found["shelf"]["primitives"]) == 2
    assert len(found["shelf"]["planes"]) == 1
    assert World.read(tmp_path / "b.yaml").names == ("shelf", "shelf#2", "shelf#3", "box_2", "box")


@pytest.mark.parametrize(
    "kinds",
    [
        [
            ("a", Sphere),
            ("a#2", Box),
            ("a#3", MeshObstacle),
            ("a#4", Sphere),
        ],  # would be read in another order
        [("a", Capsule), ("a#2", Box)],  # a capsule has three shapes itself
        [("a#2", Box), ("a", Box)],
        [("a#2", Box), ("a#3", Box)],
        [("a", Box), ("a#3", Box)],
    ],
)
def test_names_stay_where_they_would_not_come_back_as_one(tmp_path, kinds):
    make = {
        Sphere: lambda name: Sphere(1.0, name=name),
        Box: lambda name: Box((1, 1, 1), name=name),
        Capsule: lambda name: Capsule(1.0, 1.0, name=name),
        MeshObstacle: lambda name: MeshObstacle(trimesh.creation.box(), name=name),
    }
    world = World([make[kind](name) for name, kind in kinds])
    world.write(tmp_path / "a.yaml")
    found = World.read(tmp_path / "a.yaml")
    assert set(world.names) <= set(found.names)
    for name, kind in kinds:
        assert isinstance(found[name], Cylinder if kind is Capsule else kind)


NAMES = (
    "no",
    "1:30",
    "null",
    "a: b",
    "0x10",
    "1e3",
    "ø\x7f\u2028\U0001f600",
    'back\\slash "quote"\n\ttab',
    " ",
    "#",
)


@pytest.mark.parametrize("version", [(1, 1), (1, 2)])
def test_every_version_of_yaml_reads_the_same(tmp_path, version):
    """ROS reads YAML 1.1, in which 1e-07 and no are not what they seem."""
    world = World([Box((1e-7, 1.0, 1e5), name=name) for name in NAMES])
    world.write(tmp_path / "a.yaml")
    parser = YAML(typ="safe", pure=True)
    parser.version = version
    data = parser.load((tmp_path / "a.yaml").read_text())["world"]["collision_objects"]
    assert [entry["id"] for entry in data] == list(world.names)
    assert [entry["primitives"][0]["dimensions"] for entry in data] == [[1e-7, 1.0, 1e5]] * len(NAMES)
    assert World.read(tmp_path / "a.yaml").names == world.names


def test_doubts_about_a_file_show_the_line_that_read_it(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(
        "collision_objects:\n- id: a\n  primitives:\n  - {type: cone, dimensions: [1, 1]}\n"
        "  primitive_poses:\n  - {position: [0, 0, 0], orientation: [0, 0, 0, 1]}\n"
    )
    with pytest.warns(ApproximationWarning, match="a cone is read as") as found:
        World.read(path)
    assert {warning.filename for warning in found} == {__file__}
