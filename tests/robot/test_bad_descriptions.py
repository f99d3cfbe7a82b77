"""Broken, hostile and odd descriptions: one clear ElbowroomError each, and no traceback on the command line."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.cli import main
from elbowroom.errors import ElbowroomError, UnsafeFileError

from .builders import collision, joint, link, robot_xml, write

TWO = (link("a"), link("b"))
BOMB = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">'
    + "".join(f'<!ENTITY l{i} "{("&l" + str(i - 1) + ";") * 10 if i else "&lol;" * 10}">' for i in range(10))
    + ']><robot name="&l9;"><link name="a"/></robot>'
)


def mesh_case(filename="box.stl", scale=""):
    return robot_xml(link("a", collision(f'<mesh filename="{filename}" {scale}/>')))


CASES: dict[str, tuple[str | bytes, str]] = {
    "empty file": ("", "is empty"),
    "blank file": ("  \n", "is empty"),
    "binary file": (b"\x7fELF\0\0\0\0\1\2\3", "binary data"),
    "not xml": ("name: robot\nlinks: []\n", "not well-formed"),
    "cut off": (robot_xml(*TWO)[:-20], "line"),
    "wrong encoding": (
        b'<?xml version="1.0" encoding="utf-8"?><robot name="\xff\xfe\xfa"/>',
        "not well-formed|decoded",
    ),
    "unknown encoding": (
        b'<?xml version="1.0" encoding="klingon"?><robot name="a"/>',
        "not well-formed|decoded",
    ),
    "other root": ("<sdf><model/></sdf>", "found <sdf>"),
    "xacro": (
        '<robot xmlns:xacro="http://ros.org/wiki/xacro" name="x"><xacro:include filename="a"/><link name="a"/></robot>',
        "expand it first",
    ),
    "entity bomb": (BOMB, "not allowed"),
    "external entity": (
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="r"><link name="&x;"/></robot>',
        "not allowed",
    ),
    "network dtd": (
        '<!DOCTYPE r SYSTEM "http://example.org/r.dtd"><robot name="r"><link name="a"/></robot>',
        "not allowed",
    ),
    "undeclared entity": ('<robot name="r"><link name="&who;"/></robot>', "entities"),
    "no links": (robot_xml(), "no link"),
    "two links of one name": (
        robot_xml(link("a"), link("a", collision('<sphere radius="1"/>'))),
        "two links are named 'a'",
    ),
    "link without name": (robot_xml("<link/>"), "'name' is missing"),
    "two joints of one name": (
        robot_xml(*TWO, link("c"), joint("j", "a", "b"), joint("j", "b", "c")),
        "two joints are named 'j'",
    ),
    "unknown parent": (robot_xml(*TWO, joint("j", "base", "b")), "no link 'base'"),
    "unknown child": (robot_xml(*TWO, joint("j", "a", "bb")), "did you mean 'b'|there are: a, b"),
    "missing child": (
        robot_xml(*TWO, '<joint name="j" type="fixed"><parent link="a"/></joint>'),
        "<child> is missing",
    ),
    "two roots": (robot_xml(*TWO, link("c"), joint("j", "a", "b")), "2 root links"),
    "two parents": (robot_xml(*TWO, link("c"), joint("j", "a", "c"), joint("k", "b", "c")), "two parents"),
    "a loop": (robot_xml(*TWO, joint("j", "a", "b"), joint("k", "b", "a")), "loop"),
    "a loop beside the tree": (
        robot_xml(
            *TWO, link("c"), link("d"), joint("j", "a", "b"), joint("k", "c", "d"), joint("l", "d", "c")
        ),
        "loop",
    ),
    "joined to itself": (robot_xml(*TWO, joint("j", "a", "a")), "to itself"),
    "unknown joint type": (robot_xml(*TWO, joint("j", "a", "b", "screw")), "'screw'; allowed are revolute"),
    "nan origin": (robot_xml(*TWO, joint("j", "a", "b", xyz="0 nan 0")), "NaN"),
    "infinite origin": (robot_xml(*TWO, joint("j", "a", "b", xyz="0 inf 0")), "infinity"),
    "short origin": (robot_xml(*TWO, joint("j", "a", "b", xyz="0 0")), "expected 3 numbers, found 2"),
    "words for numbers": (robot_xml(*TWO, joint("j", "a", "b", xyz="0 zero 0")), "line .*expected 3 numbers"),
    "missing mesh": (mesh_case("ghost.stl"), "was not found"),
    "mesh over the network": (mesh_case("https://example.org/a.stl"), "never https"),
    "mesh elsewhere": (mesh_case("../../../../../../etc/passwd"), "outside the description's own folder"),
    "mesh with a hostile name": (mesh_case("a" * 5000 + ".stl"), "not found"),
    "mesh of zero scale": (mesh_case(scale='scale="0 1 1"'), "must not be flat"),
    "unknown shape": (robot_xml(link("a", collision('<torus radius="1"/>'))), "no shape is called so"),
    "negative radius": (robot_xml(link("a", collision('<sphere radius="-1"/>'))), "negative"),
    "box without size": (robot_xml(link("a", collision("<box/>"))), "'size' is missing"),
    "broken mjcf": ("<mujoco><worldbody><body><geom type='blob'/></body></worldbody></mujoco>", "MuJoCo"),
    "mjcf without bodies": ("<mujoco><worldbody/></mujoco>", "no body"),
    "mjcf turned without end": (
        "<mujoco><worldbody><body euler='0 0 inf'><geom size='1'/></body></worldbody></mujoco>",
        "body_quat has NaN or infinite numbers",
    ),
    "mjcf that includes itself": ("<mujoco><include file='made.urdf'/></mujoco>", "more than once"),
    "mjcf include elsewhere": ("<mujoco><include file='../../../../../etc/passwd'/></mujoco>", "outside"),
    "mjcf mesh elsewhere": (
        "<mujoco><asset><mesh name='m' file='/etc/hostname.stl'/></asset><worldbody><body><geom type='mesh' mesh='m'/>"
        "</body></worldbody></mujoco>",
        "outside",
    ),
}

MESHES: dict[str, tuple[str, bytes, str]] = {
    "empty stl": ("box.stl", b"", "cannot be read as a mesh|no triangle"),
    "cut stl": ("box.stl", b"\0" * 80 + b"\xff\xff\0\0" + b"\0" * 60, "cannot be read as a mesh|no triangle"),
    "text stl without triangles": (
        "box.stl",
        b"solid a\nendsolid a\n",
        "cannot be read as a mesh|no triangle",
    ),
    "obj with nan": ("box.obj", b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "NaN"),
    "obj with bad index": ("box.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "cannot be read|do not exist"),
    "dae bomb": ("box.dae", b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "y">]><COLLADA/>', "not allowed"),
    "unknown kind": ("box.xyz", b"0 0 0\n", "meshes of this kind"),
}


@pytest.mark.parametrize("case", CASES)
def test_broken_descriptions_give_one_clear_error(tmp_path, capsys, case):
    text, expected = CASES[case]
    path = write(tmp_path / "pkg", text)
    if "scale" in case:
        write(tmp_path / "pkg", b"x", "box.stl")
    with pytest.raises(ElbowroomError, match=expected) as caught:
        er.load_robot(path)
    assert path.name in str(caught.value)
    assert main(["info", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("elbowroom info: ")
    assert "Traceback" not in captured.err
    assert len(captured.err.splitlines()) == 1


@pytest.mark.parametrize("case", MESHES)
def test_broken_meshes_give_one_clear_error(tmp_path, capsys, case):
    name, data, expected = MESHES[case]
    write(tmp_path, data, name)
    path = write(tmp_path, mesh_case(name))
    with pytest.raises(ElbowroomError, match=expected):
        er.load_robot(path).link_mesh("a")
    assert main(["info", str(path)]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_file_of_100_mb_is_refused_unread(tmp_path):
    path = tmp_path / "huge.urdf"
    with path.open("wb") as file:
        file.truncate(100 * 2**20)
    with pytest.raises(ElbowroomError, match="100 MB; at most 32 MB"):
        er.load_robot(path)


@pytest.mark.parametrize("source", ["ghost_robot", "", "no/such/file.urdf", "a\0b", "x" * 5000])
def test_names_and_paths_that_do_not_exist(source, capsys):
    with pytest.raises(ElbowroomError):
        er.load_robot(source)
    if source:
        assert main(["info", source]) == 2
        assert "Traceback" not in capsys.readouterr().err


def test_a_folder_or_another_object_is_not_a_description(tmp_path):
    with pytest.raises(ElbowroomError, match="folder"):
        er.load_robot(tmp_path)
    with pytest.raises(ElbowroomError, match="cannot load a robot from a dict"):
        er.load_robot({})


def test_entities_are_refused_as_unsafe(tmp_path):
    with pytest.raises(UnsafeFileError):
        er.load_robot(write(tmp_path, BOMB))


@pytest.mark.parametrize(
    ("cfg", "expected"),
    [
        (np.zeros(3), r"shape \(16,\) or \(n, 16\), found shape \(3,\)"),
        (np.zeros((2, 2, 16)), "found shape"),
        (np.full(16, np.nan), "NaN"),
        ("abc", "must be numbers"),
    ],
)
def test_wrong_configurations(load, cfg, expected):
    with pytest.raises(ElbowroomError, match=expected):
        load("teaarm").link_poses(cfg)
    if not isinstance(cfg, str):
        if cfg.shape[-1] != 16:
            with pytest.raises(ElbowroomError, match="must have shape"):
                load("teaarm").forward_kinematics(cfg)
        with pytest.raises(ElbowroomError, match=expected):
            load("teaarm").jacobian(cfg, "left_arm_l7")
