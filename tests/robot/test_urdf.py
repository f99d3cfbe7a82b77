"""URDF features: joint types, mimic chains, shapes, mesh addresses, held bases."""

from __future__ import annotations

import numpy as np
import pytest
import yourdfpy

import elbowroom as er
from elbowroom.errors import ApproximationWarning, InputError, MeshError, UnknownLinkError, UnsafeFileError

from .builders import LIMIT, collision, extents, joint, link, robot_xml, write, write_box_mesh


def test_joint_types_limits_and_order(tmp_path):
    path = write(
        tmp_path,
        robot_xml(
            *(link(name) for name in "abcde"),
            joint("last", "d", "e", "fixed"),
            joint("slide", "c", "d", "prismatic", '<limit lower="0" upper="0.3" velocity="1" effort="1"/>'),
            joint("spin", "b", "c", "continuous", ""),
            joint("turn", "a", "b"),
        ),
    )
    robot = er.load_robot(path)
    assert robot.link_names == tuple("abcde")
    assert robot.joint_names == ("slide", "spin", "turn")  # the order of the file, not of the tree
    assert robot.tree.root == "a"
    np.testing.assert_allclose(robot.lower, [0, -np.pi, -1])
    np.testing.assert_allclose(robot.upper, [0.3, np.pi, 1])
    np.testing.assert_allclose(robot.velocity_limits, [1, np.inf, 2])
    assert robot.joint("last").type == "fixed"
    assert robot.parent_joint("a") is None
    assert [j.name for j in robot.child_joints("b")] == ["spin"]
    with pytest.raises(ValueError, match="read-only"):
        robot.lower[0] = 1.0


def test_origins_and_axes_are_those_of_yourdfpy_to_the_last_bit(tmp_path):
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(40, 3)) * rng.choice([0.01, 1.0, 3.0], (40, 1))
    texts = ["0 0 1", "1.5707963267948966 0 -1.5707963267948966", "-0.0 3.141592653589793 -0"]
    texts += [" ".join(map(str, row.tolist())) for row in rows]
    names = [f"l{k}" for k in range(len(texts))]
    box = '<box size="0.1 0.2 0.3"/>'
    path = write(
        tmp_path,
        robot_xml(
            *(link(name, collision(box, text, text)) for name, text in zip(names, texts, strict=True)),
            *(joint(f"j{k}", names[k], names[k + 1], axis=texts[k]) for k in range(len(texts) - 1)),
        ),
    )
    ours, theirs = er.load_robot(path), er.load_robot(yourdfpy.URDF.load(str(path)))
    for mine, other in zip(ours.tree.joints, theirs.tree.joints, strict=True):
        assert mine.T_parent_joint.tobytes() == other.T_parent_joint.tobytes()
        assert mine.axis.tobytes() == other.axis.tobytes()
    for name in names:
        assert ours.shapes[name][0].T_link_shape.tobytes() == theirs.shapes[name][0].T_link_shape.tobytes()


def test_mimic_of_a_mimic_follows_the_first_driver(tmp_path):
    path = write(
        tmp_path,
        robot_xml(
            *(link(name) for name in "abcd"),
            joint("second", "b", "c", inner=LIMIT + '<mimic joint="third" multiplier="2" offset="0.1"/>'),
            joint("third", "c", "d", inner=LIMIT + '<mimic joint="first" multiplier="-0.5" offset="0.2"/>'),
            joint("first", "a", "b"),
        ),
    )
    robot = er.load_robot(path)
    assert robot.joint_names == ("first",)
    q = dict(zip([j.name for j in robot.tree.moving], robot.tree.expand(np.array([0.4])), strict=True))
    assert q["third"] == pytest.approx(-0.5 * 0.4 + 0.2)
    assert q["second"] == pytest.approx(2 * q["third"] + 0.1)
    free = er.load_robot(write(tmp_path, path.read_text().replace("<mimic", "<ignored"), "free.urdf"))
    cfg = np.array([q[name] for name in free.joint_names])
    np.testing.assert_allclose(robot.link_poses(np.array([0.4])), free.link_poses(cfg), atol=1e-15)


def test_shapes_are_joined_in_the_link_frame(tmp_path):
    write_box_mesh(tmp_path / "meshes/box.stl")
    path = write(
        tmp_path,
        robot_xml(
            link(
                "a",
                collision(
                    '<mesh filename="meshes/box.stl" scale="1 2 0.5"/>',
                    xyz="1 0 0",
                    rpy="0 0 1.5707963267948966",
                )
                + collision('<box size="0.1 0.1 0.1"/>', xyz="-1 0 0"),
            ),
            link("bare", '<visual><geometry><box size="1 1 1"/></geometry></visual>'),
            joint("j", "a", "bare"),
        ),
    )
    robot = er.load_robot(path)
    mesh = robot.link_mesh("a")
    assert [shape.kind for shape in robot.shapes["a"]] == ["mesh", "box"]
    np.testing.assert_allclose(mesh.bounds, [[-1.05, -0.1, -0.1], [1.3, 0.1, 0.1]], atol=1e-7)
    assert mesh.is_watertight
    assert len(mesh.vertices) == 16  # the corners that STL repeats are merged
    assert robot.link_mesh("bare") is None
    mesh.vertices[:] = 0  # a copy: the robot keeps its own
    assert robot.link_mesh("a").bounds[1, 0] > 1
    with pytest.raises(UnknownLinkError, match="did you mean 'bare'"):
        robot.link_mesh("bear")


def test_mirrored_scale_keeps_the_winding_outward(tmp_path):
    write_box_mesh(tmp_path / "box.stl")
    text = robot_xml(link("a", collision('<mesh filename="box.stl" scale="-1 1 1"/>')))
    assert er.load_robot(write(tmp_path, text)).link_mesh("a").volume == pytest.approx(
        0.2 * 0.3 * 0.4, rel=1e-6
    )


@pytest.mark.parametrize(
    ("geometry", "volume", "size"),
    [
        ('<box size="0.1 0.2 0.3"/>', 0.006, (0.1, 0.2, 0.3)),
        ('<cylinder radius="0.1" length="0.3"/>', np.pi * 0.01 * 0.3, (0.2, 0.2, 0.3)),
        ('<sphere radius="0.1"/>', 4 / 3 * np.pi * 0.001, (0.2, 0.2, 0.2)),
        ('<capsule radius="0.1" length="0.3"/>', np.pi * 0.01 * (0.3 + 0.4 / 3), (0.2, 0.2, 0.5)),
    ],
)
def test_primitives_become_closed_meshes_that_enclose_them(tmp_path, geometry, volume, size):
    robot = er.load_robot(write(tmp_path, robot_xml(link("a", collision(geometry)))))
    mesh = robot.link_mesh("a")
    assert mesh.is_watertight
    assert volume * (1 - 1e-12) <= mesh.volume <= volume * 1.025
    assert np.all(extents(robot, "a") >= np.array(size) * (1 - 1e-12))
    assert np.all(extents(robot, "a") <= np.array(size) * 1.011)
    if "box" not in geometry:
        assert [note.kind for note in robot.notes] == ["meshed"]


def test_visual_geometry_only_when_asked_for(tmp_path):
    text = robot_xml(link("a", '<visual><geometry><box size="1 2 3"/></geometry></visual>'))
    path = write(tmp_path, text)
    assert er.load_robot(path).shapes == {}
    with pytest.warns(ApproximationWarning, match="visual"):
        robot = er.load_robot(path, use_visual=True)
    np.testing.assert_allclose(extents(robot, "a"), [1, 2, 3])


def test_floating_base_is_held_at_the_given_pose_and_said_so(tmp_path):
    text = robot_xml(
        *(link(name) for name in ("world", "base", "tip")),
        joint("free", "world", "base", "floating", "", xyz="1 2 3"),
        joint("turn", "base", "tip"),
    )
    path = write(tmp_path, text)
    with pytest.warns(ApproximationWarning, match="floating joint, held"):
        robot = er.load_robot(path)
    assert robot.joint_names == ("turn",)
    np.testing.assert_allclose(robot.link_poses(np.zeros(1))[1, 4:], [1, 2, 3])
    with pytest.warns(ApproximationWarning):
        moved = er.load_robot(path, base_pose=[1, 0, 0, 0, 0.5, 0, 0])
    np.testing.assert_allclose(moved.link_poses(np.zeros(1))[1], [1, 0, 0, 0, 0.5, 0, 0], atol=1e-15)


def test_base_pose_places_the_root_of_a_fixed_robot(load):
    T = np.eye(4)
    T[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    T[:3, 3] = [0.3, 0.2, 0.1]
    still, moved = load("teaarm"), er.load_robot("teaarm", base_pose=T)
    cfg = still.random_cfgs(1)[0]
    np.testing.assert_allclose(
        moved.link_poses(cfg)[:, 4:], still.link_poses(cfg)[:, 4:] @ T[:3, :3].T + T[:3, 3], atol=1e-12
    )
    with pytest.raises(InputError, match="not a rotation"):
        er.load_robot("teaarm", base_pose=2 * np.eye(4))


def test_a_yourdfpy_object_loads_like_its_file(load):
    from elbowroom.robot.descriptions._catalogue import find_robot

    path = find_robot("teaarm").description
    robot, cfg = er.load_robot(yourdfpy.URDF.load(str(path), load_meshes=False)), np.full(16, 0.1)
    np.testing.assert_array_equal(robot.link_poses(cfg), load("teaarm").link_poses(cfg))
    assert robot.link_mesh("torso_link").volume == load("teaarm").link_mesh("torso_link").volume


def mesh_robot(folder, address, **options):
    path = write(
        folder, robot_xml(link("a", collision(f'<mesh filename="{address}"/>'))), "pkg/urdf/made.urdf"
    )
    return er.load_robot(path, **options)


class TestMeshAddresses:
    def test_package_found_above_in_package_dirs_and_in_ros_package_path(self, tmp_path, monkeypatch):
        write_box_mesh(tmp_path / "pkg/meshes/box.stl")
        assert mesh_robot(tmp_path, "package://pkg/meshes/box.stl").link_mesh("a") is not None
        assert mesh_robot(tmp_path, "package:///pkg/meshes/box.stl").link_mesh("a") is not None
        write_box_mesh(tmp_path / "elsewhere/other/box.stl")
        with pytest.raises(MeshError, match="package 'other' was not found; looked in .*--package-dirs"):
            mesh_robot(tmp_path, "package://other/box.stl")
        for folder in ("elsewhere", "elsewhere/other"):
            robot = mesh_robot(tmp_path, "package://other/box.stl", package_dirs=[tmp_path / folder])
            assert robot.link_mesh("a") is not None
        monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "elsewhere"))
        assert mesh_robot(tmp_path, "package://other/box.stl").link_mesh("a") is not None

    def test_relative_paths_and_file_addresses(self, tmp_path):
        write_box_mesh(tmp_path / "pkg/meshes/box.stl")
        assert mesh_robot(tmp_path, "../meshes/box.stl").link_mesh("a") is not None
        outside = write_box_mesh(tmp_path / "outside/box.stl")
        assert mesh_robot(tmp_path, f"file://{outside}").link_mesh("a") is not None
        spaced = write_box_mesh(tmp_path / "outside/with space.stl")
        assert mesh_robot(tmp_path, "file://" + str(spaced).replace(" ", "%20")).link_mesh("a") is not None

    def test_files_elsewhere_are_refused_unless_allowed(self, tmp_path):
        outside = write_box_mesh(tmp_path / "outside/box.stl")
        for address in ("../../outside/box.stl", str(outside)):
            with pytest.raises(UnsafeFileError, match="package_dirs"):
                mesh_robot(tmp_path, address)
            robot = mesh_robot(tmp_path, address, package_dirs=[tmp_path / "outside"])
            assert robot.link_mesh("a") is not None
        with pytest.raises(UnsafeFileError, match="leaves its package"):
            mesh_robot(tmp_path, "package://pkg/../outside/box.stl")
        with pytest.raises(UnsafeFileError, match="never http"):
            mesh_robot(tmp_path, "http://example.org/box.stl")

    def test_a_link_that_points_outside_is_refused(self, tmp_path):
        outside = write_box_mesh(tmp_path / "outside/box.stl")
        (tmp_path / "pkg/meshes").mkdir(parents=True)
        (tmp_path / "pkg/meshes/box.stl").symlink_to(outside)
        with pytest.raises(UnsafeFileError):
            mesh_robot(tmp_path, "../meshes/box.stl")

    def test_package_dirs_must_exist(self, tmp_path):
        with pytest.raises(InputError, match="is not a folder"):
            mesh_robot(tmp_path, "x.stl", package_dirs=[tmp_path / "nowhere"])


def test_collada_units_are_metres(tmp_path):
    import collada
    import trimesh

    source = tmp_path / "box.dae"
    trimesh.creation.box(extents=(20, 30, 40)).export(source)
    document = collada.Collada(str(source))
    document.assetInfo.unitname, document.assetInfo.unitmeter = "centimeter", 0.01
    document.write(str(source))
    robot = er.load_robot(write(tmp_path, robot_xml(link("a", collision('<mesh filename="box.dae"/>')))))
    np.testing.assert_allclose(extents(robot, "a"), [0.2, 0.3, 0.4], rtol=1e-6)
