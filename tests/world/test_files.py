"""Scenes as JSON: nothing is lost, files that it names are found and shared.

Looks inside: `is_scene` decides before a file is read whether it is a scene.
"""

from __future__ import annotations

import json
import os
import pickle

import numpy as np
import pytest
import trimesh

from elbowroom.errors import ApproximationWarning, FormatError, InputError, MeshError, UnsafeFileError
from elbowroom.world import Box, HalfSpace, MeshObstacle, PointCloud, World
from elbowroom.world.internal import is_scene

from .scene_files import assert_same, everything, poses, put, sorted_rows


def test_everything_comes_back_to_the_last_bit(tmp_path):
    world = everything()
    said = world.write(tmp_path / "scene.json")
    found = World.read(tmp_path / "scene.json")
    assert found.names == world.names
    for a, b in zip(world, found, strict=True):
        assert_same(a, b)
    assert found.notes == world.notes
    assert len(said) == 1
    assert "scene.npz" in said[0]
    assert is_scene(tmp_path / "scene.json")


def test_normals_come_back_to_the_last_bit(tmp_path):
    normals = np.random.default_rng(0).normal(size=(200, 3))
    world = World(HalfSpace(tuple(normal / np.linalg.norm(normal))) for normal in normals)
    world.write(tmp_path / "scene.json")
    for ours, theirs in zip(world, World.read(tmp_path / "scene.json"), strict=True):
        assert_same(ours, theirs)


def test_small_scenes_are_one_file(tmp_path):
    world = World([Box((1, 2, 3), name="a"), PointCloud(np.ones((5, 3)), 0.1)])
    assert world.write(tmp_path / "a.json") == ()
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert World.read(tmp_path / "a.json").names == ("a", "point_cloud")


def test_writing_again_replaces_both_files(tmp_path):
    path = tmp_path / "a.json"
    everything().write(path)
    cloud = PointCloud(np.random.default_rng(1).normal(size=(3000, 3)), 1.0, name="c")
    World([cloud]).write(path)
    assert_same(cloud, World.read(path)["c"])


def test_arrays_of_another_scene_are_not_taken(tmp_path):
    rng = np.random.default_rng(0)
    for name in ("a", "b"):
        World([PointCloud(rng.normal(size=(2000, 3)), 1.0)]).write(tmp_path / f"{name}.json")
    os.replace(tmp_path / "b.npz", tmp_path / "a.npz")
    with pytest.raises(FormatError, match=r"obstacle 1 'point_cloud': 'points': .*a\.npz has no array"):
        World.read(tmp_path / "a.json")


def test_equal_meshes_are_stored_once_and_shared(tmp_path):
    ball = trimesh.creation.icosphere(4, 0.3)
    world = World([MeshObstacle(ball, pose=pose) for pose in poses(4)])
    world.write(tmp_path / "a.json")
    assert len(np.load(tmp_path / "a.npz").files) == 3  # vertices, faces, the mark
    assert len({id(obstacle.mesh) for obstacle in World.read(tmp_path / "a.json")}) == 1


def test_standard_output_gets_all_in_one(tmp_path):
    """A pipe cannot have a file beside it."""
    read, write = os.pipe()
    world = World([PointCloud(np.random.default_rng(0).normal(size=(1200, 3)), 1.0, name="c")])
    from threading import Thread

    text: list[bytes] = []
    reader = Thread(target=lambda: text.append(os.fdopen(read, "rb").read()))
    reader.start()
    assert world.write(f"/dev/fd/{write}", "json") == ()
    os.close(write)
    reader.join()
    assert_same(world["c"], World.read(put(tmp_path, "a.json", text[0]))["c"])


def test_poses_are_seven_numbers_or_a_matrix(tmp_path):
    T = np.eye(4)
    T[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    T[:3, 3] = 1, 2, 3
    listed = [
        {"kind": "sphere", "radius": 1, "pose": pose}
        for pose in ([0.5**0.5, 0, 0, 0.5**0.5, 1, 2, 3], T.tolist())
    ]
    listed.append({"kind": "sphere", "radius": 1})
    text = {"format": "elbowroom-world", "version": 1, "obstacles": listed}
    found = World.read(put(tmp_path, "a.json", json.dumps(text)))
    assert np.abs(found.obstacles[0].pose - T).max() < 1e-15
    assert np.array_equal(found.obstacles[1].pose, T)
    assert np.array_equal(found.obstacles[2].pose, np.eye(4))
    assert found.names == ("sphere", "sphere_2", "sphere_3")


def test_quaternions_that_are_not_unit_are_normalised_and_said(tmp_path):
    text = (
        '{"format": "elbowroom-world", "version": 1, "obstacles":'
        ' [{"kind": "box", "name": "b", "size": [1, 1, 1], "pose": [2, 0, 0, 0, 0, 0, 0]}]}'
    )
    with pytest.warns(ApproximationWarning, match="length 2 and was normalised"):
        world = World.read(put(tmp_path, "a.json", text))
    assert world.notes == ("box 'b': its pose: the quaternion has length 2 and was normalised",)
    world.write(tmp_path / "b.json")
    assert World.read(tmp_path / "b.json").notes == world.notes
    assert pickle.loads(pickle.dumps(world)).notes == world.notes


def test_keys_that_are_not_known_are_said(tmp_path):
    text = (
        '{"format": "elbowroom-world", "version": 1, "author": "me", "obstacles":'
        ' [{"kind": "box", "name": "b", "size": [1, 1, 1], "color": "red"}]}'
    )
    notes = World.read(put(tmp_path, "a.json", text)).notes
    assert notes == (
        "the scene: 'author' is not known and not kept",
        "box 'b': 'color' is not known and not kept",
    )


def scene(folder, **fields):
    """A scene of one obstacle, as a file in a folder."""
    text = {"format": "elbowroom-world", "version": 1, "obstacles": [{"name": "it", **fields}]}
    return put(folder, "scene.json", json.dumps(text))


@pytest.mark.parametrize("extension", ["stl", "obj", "ply", "off", "glb"])
def test_meshes_by_file(tmp_path, extension):
    cube = trimesh.creation.box((0.2, 0.4, 0.6))
    cube.export(tmp_path / f"cube.{extension}")
    found = World.read(scene(tmp_path, kind="mesh", file=f"cube.{extension}", scale=[1, 2, -1]))["it"]
    assert found.mesh.closed
    assert np.allclose(found.mesh.half_extents, [0.1, 0.4, 0.3])


def pcd(points, data):
    """A PCD file with fields between the coordinates, as PCL pads them."""
    header = (
        "# .PCD v0.7\nVERSION 0.7\nFIELDS rgb x y _ z\nSIZE 4 4 4 1 4\nTYPE U F F U F\nCOUNT 1 1 1 3 1\n"
        f"WIDTH {len(points)}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {len(points)}\nDATA {data}\n"
    ).encode()
    if data == "ascii":
        rows = "".join(f"9 {x!r} {y!r} 1 2 3 {z!r}\n" for x, y, z in points.tolist())
        return header + rows.encode()
    kind = np.dtype([("c", "<u4"), ("x", "<f4"), ("y", "<f4"), ("_", "u1", 3), ("z", "<f4")])
    rows = np.zeros(len(points), kind)
    rows["x"], rows["y"], rows["z"] = points.T
    return header + rows.tobytes()


@pytest.mark.parametrize(
    "kind",
    [
        "npy",
        "npz",
        "ply",
        "xyz",
        "csv",
        "ascii.pcd",
        "binary.pcd",
    ],
)
def test_clouds_by_file(tmp_path, kind):
    points = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32).astype(np.float64)
    path = tmp_path / f"cloud.{kind}"
    if kind == "npy":
        np.save(path, points.astype(np.float32))
    elif kind == "npz":
        np.savez(path, xyz=points)
    elif kind == "ply":
        trimesh.PointCloud(points).export(path)
    elif kind == "xyz":
        path.write_text(
            "# a comment\n" + "".join(f"{x!r} {y!r} {z!r} 255 0 0\n" for x, y, z in points.tolist())
        )
    elif kind == "csv":
        path.write_text("x,y,z\n" + "".join(f"{x!r},{y!r},{z!r}\n" for x, y, z in points.tolist()))
    else:
        path.write_bytes(pcd(points, kind.removesuffix(".pcd")))
    found = World.read(scene(tmp_path, kind="point_cloud", file=path.name, radius=1.0))["it"]
    assert np.array_equal(sorted_rows(found.points), sorted_rows(points))


def test_fields_by_file(tmp_path):
    values = np.random.default_rng(0).normal(size=(3, 4, 5)).astype(np.float32) * 1e-3
    np.savez(tmp_path / "f.npz", sdf=values, other=np.zeros(3))
    given = {"kind": "sdf_grid", "file": "f.npz", "array": "sdf", "spacing": 0.1}
    assert np.array_equal(World.read(scene(tmp_path, **given))["it"].values, values)
    with pytest.raises(FormatError, match="no array None; say 'array', one of: sdf, other"):
        World.read(scene(tmp_path, **{**given, "array": None}))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (pcd(np.zeros((9, 3)), "binary")[:-20], "cannot be read as points"),
        (pcd(np.zeros((9, 3)), "binary").replace(b"DATA binary", b"DATA binary_compressed"), "save it as ascii or binary"),
        (b"FIELDS a b\nDATA ascii\n1 2\n", "expected the fields x, y and z"),
        (b"FIELDS x y z\n", "ends with DATA"),
        (b"\0" * 100, "ends with DATA"),
    ],
)  # fmt: skip
def test_broken_clouds(tmp_path, data, expected):
    put(tmp_path, "a.pcd", data)
    with pytest.raises(FormatError, match=expected):
        World.read(scene(tmp_path, kind="point_cloud", file="a.pcd", radius=0.1))


def test_pickled_arrays_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{"x": 1}]), allow_pickle=True)
    with pytest.raises(FormatError, match="pickled objects are not read"):
        World.read(scene(tmp_path, kind="point_cloud", file="a.npy", radius=0.1))


@pytest.mark.parametrize(
    ("address", "error", "expected"),
    [
        ("ghost.stl", MeshError, "was not found"),
        ("../../../secret.stl", UnsafeFileError, "outside"),
        ("/etc/passwd", UnsafeFileError, "outside"),
        ("http://example.org/a.stl", UnsafeFileError, "never http:// addresses"),
        ("package://../a.stl", UnsafeFileError, "not the name of a package"),
        ("package://nobody/a.stl", MeshError, "package 'nobody' was not found"),
        ("a\0b.stl", MeshError, "not a usable path"),
        ("scene.json", MeshError, "meshes of this kind are not read"),
        (7, FormatError, "name of a file"),
        ("", FormatError, "name of a file"),
    ],
)
def test_files_that_are_not_there_or_not_to_be_read(tmp_path, address, error, expected):
    (tmp_path / "package.xml").write_text("<package/>")
    put(tmp_path.parent, "secret.stl", "solid a\nendsolid a\n")
    for kind in ({"kind": "mesh"}, {"kind": "point_cloud", "radius": 0.1}):
        if kind["kind"] == "point_cloud" and address == "scene.json":
            error, expected = FormatError, "clouds of this kind are not read"
        with pytest.raises(error, match=expected) as caught:
            World.read(scene(tmp_path, **kind, file=address))
        assert "scene.json: obstacle 1 'it'" in str(caught.value)


def test_package_dirs_allow_other_folders(tmp_path):
    trimesh.creation.box((1, 1, 1)).export(put(tmp_path, "shapes/meshes/cube.stl", ""))
    path = put(tmp_path, "scenes/deep/here/package.xml", "<package/>").parent
    text = scene(path, kind="mesh", file="package://shapes/meshes/cube.stl")
    with pytest.raises(MeshError, match="package 'shapes' was not found"):
        World.read(text)
    assert World.read(text, package_dirs=[tmp_path / "shapes"])["it"].mesh.closed


@pytest.mark.parametrize(
    ("there", "what"),
    [
        ('<robot name="a"><link name="b"/></robot>', "a URDF"),
        ('{"a": [{"center": [0, 0, 0], "radius": 1}]}', "spheres as JSON"),
        ("robot_cfg:\n  kinematics: {}\n", "a cuRobo YAML"),
        ("world:\n  collision_objects: []\n", "a scene of obstacles as YAML"),
        ("buy milk", "text that starts with"),
    ],
)
def test_files_of_another_kind_stay(tmp_path, there, what):
    path = put(tmp_path, "a.json", there)
    with pytest.raises(InputError, match=what):
        World([Box((1, 1, 1))]).write(path)
    assert path.read_text() == there
    np.savez(tmp_path / "b.npz", cfgs=np.zeros(3))
    with pytest.raises(InputError, match="arrays of a scene of obstacles would replace it"):
        everything().write(tmp_path / "b.json")
    assert not (tmp_path / "b.json").exists()


def test_places_and_formats_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match=r"known are \.json \(json\), \.yaml \(moveit\)"):
        World().write(tmp_path / "a.txt")
    with pytest.raises(InputError, match="no folder"):
        World().write(tmp_path / "none" / "a.json")
    with pytest.raises(InputError, match="format 'pdf'"):
        World().write(tmp_path / "a.json", "pdf")


@pytest.mark.parametrize("extension", ["json", "yaml"])
def test_an_empty_world(tmp_path, extension):
    assert World().write(tmp_path / f"a.{extension}") == ()
    assert len(World.read(tmp_path / f"a.{extension}")) == 0
