"""What a robot looks like: read late, coloured, and never a reason to fail."""

from __future__ import annotations

import pickle
import warnings

import mujoco
import numpy as np
import pytest
import trimesh
from PIL import Image

import elbowroom as er
from elbowroom.errors import ApproximationWarning, UnknownLinkError
from elbowroom.robot import joined, without_links
from elbowroom.robot._visuals import GREY

from .builders import collision, joint, link, robot_xml, write, write_box_mesh

RED, BLUE = (1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 0.5)


def visual(geometry, material="", attributes="", xyz="0 0 0", rpy="0 0 0"):
    return f'<visual {attributes}><origin xyz="{xyz}" rpy="{rpy}"/><geometry>{geometry}</geometry>{material}</visual>'


def material(name="", rgba=""):
    inner = f'<color rgba="{rgba}"/>' if rgba else ""
    return f'<material name="{name}">{inner}</material>'


def made(folder, *visuals, extra=(), **options):
    """A robot with one link, `a`, that looks so."""
    return er.load_robot(write(folder, robot_xml(*extra, link("a", "".join(visuals)))), **options)


def test_primitives_places_and_names(tmp_path):
    robot = made(
        tmp_path,
        visual(
            '<box size="0.1 0.2 0.3"/>', xyz="1 0 0", rpy="0 0 1.5707963267948966", attributes='name="lid"'
        ),
        visual('<sphere radius="0.5"/>'),
        visual('<cylinder radius="0.1" length="2"/>', attributes='name="lid"'),
        visual('<capsule radius="0.1" length="1"/>'),
    )
    box, ball, rod, pill = robot.link_visuals("a")
    assert [box.name, ball.name, rod.name, pill.name] == ["lid", "visual_1", "lid_2", "visual_3"]
    assert np.allclose(box.mesh.bounds, [[0.9, -0.05, -0.15], [1.1, 0.05, 0.15]])
    assert np.allclose(ball.mesh.bounds, [[-0.5] * 3, [0.5] * 3], atol=0.01)
    assert np.allclose(rod.mesh.extents[2], 2.0)
    assert np.allclose(pill.mesh.extents[2], 1.2, atol=0.005)
    assert not robot.shapes
    assert robot.link_visuals("a") is robot.link_visuals("a")
    with pytest.raises(UnknownLinkError):
        robot.link_visuals("b")


def test_colours_are_found_as_urdfdom_finds_them(tmp_path):
    ball = '<sphere radius="0.5"/>'
    robot = made(
        tmp_path,
        visual(ball, material("paint")),
        visual(ball, material("paint", "0 1 0 1")),
        visual(ball, material("later")),
        visual(ball, material("later", "0 0 1 0.5")),
        visual(ball, material("", "0 0 1 0.5")),
        visual(ball, material("nowhere")),
        visual(ball),
        extra=[material("paint", "1 0 0 1")],
    )
    colors = [piece.color for piece in robot.link_visuals("a")]
    assert colors == [RED, RED, BLUE, BLUE, BLUE, GREY, GREY]
    assert robot.visual_notes == ()


@pytest.mark.parametrize("suffix", ["stl", "obj", "dae", "glb", "ply"])
def test_formats_scale_and_mirror(tmp_path, suffix):
    mesh = trimesh.creation.box(
        extents=(0.2, 0.3, 0.4), transform=trimesh.transformations.translation_matrix([1, 0, 0])
    )
    mesh.visual = trimesh.visual.ColorVisuals()
    mesh.export(tmp_path / f"m.{suffix}")
    robot = made(tmp_path, visual(f'<mesh filename="m.{suffix}" scale="-2 1 1"/>', material("", "1 0 0 1")))
    (found,) = robot.link_visuals("a")
    assert np.allclose(found.mesh.bounds, [[-2.2, -0.15, -0.2], [-1.8, 0.15, 0.2]], atol=1e-6)
    assert found.mesh.volume == pytest.approx(2 * 0.2 * 0.3 * 0.4)  # positive: wound outward
    if suffix in ("stl", "obj", "ply"):  # the others are written with a material, which counts
        assert found.color == RED
    assert not found.painted


def test_a_mesh_keeps_colours_by_vertex_and_by_material(tmp_path):
    ball = trimesh.creation.icosphere(subdivisions=1)
    ball.visual.vertex_colors = np.arange(4 * len(ball.vertices)).reshape(-1, 4) % 256
    ball.export(tmp_path / "ball.ply")
    scene = trimesh.Scene()
    for place, color in ((0, [255, 0, 0, 255]), (2, [0, 0, 255, 255])):
        box = trimesh.creation.box()
        box.visual = trimesh.visual.TextureVisuals(
            material=trimesh.visual.material.PBRMaterial(baseColorFactor=color)
        )
        scene.add_geometry(box, transform=trimesh.transformations.translation_matrix([place, 0, 0]))
    scene.export(tmp_path / "two.glb")
    robot = made(
        tmp_path,
        visual('<mesh filename="ball.ply" scale="1 1 -1"/>', material("", "1 0 0 1")),
        visual('<mesh filename="two.glb"/>', material("", "1 0 0 1")),
    )
    first, second = robot.link_visuals("a")
    assert first.painted
    assert np.array_equal(first.mesh.visual.vertex_colors, ball.visual.vertex_colors)
    assert np.allclose(first.mesh.vertices, ball.vertices * [1, 1, -1], atol=1e-6)
    assert second.painted
    right = second.mesh.vertices[:, 0] > 1
    assert np.array_equal(np.unique(second.mesh.visual.vertex_colors[right], axis=0), [[0, 0, 255, 255]])
    assert np.array_equal(np.unique(second.mesh.visual.vertex_colors[~right], axis=0), [[255, 0, 0, 255]])


def textured(folder, image="paint.png"):
    """An OBJ square with a texture, its material file, and a picture of two colours, the upper half red."""
    folder.mkdir(parents=True, exist_ok=True)
    write(folder, f"newmtl m\nKd 1 1 1\nmap_Kd {image}\n", "square.mtl")
    write(
        folder,
        "mtllib square.mtl\nusemtl m\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
        "f 1/1 2/2 3/3\nf 1/1 3/3 4/4\n",
        "square.obj",
    )
    pixels = np.zeros((4, 4, 3), dtype=np.uint8)
    pixels[:2, :, 0], pixels[2:, :, 2] = 255, 255
    Image.fromarray(pixels).save(folder / "paint.png")


def test_textures_come_with_the_mesh(tmp_path):
    textured(tmp_path)
    (found,) = made(tmp_path, visual('<mesh filename="square.obj"/>')).link_visuals("a")
    assert found.painted
    assert found.mesh.visual.kind == "texture"
    top = found.mesh.visual.to_color().vertex_colors[found.mesh.vertices[:, 1] > 0.5]
    assert np.array_equal(np.unique(top, axis=0), [[255, 0, 0, 255]])


@pytest.mark.parametrize(
    "image", ["../../secret.png", "paint.txt", "http://example.org/paint.png", "none.png"]
)
def test_files_beside_a_mesh_are_read_from_allowed_folders_only(tmp_path, image):
    folder = tmp_path / "pkg" / "urdf"
    textured(folder, image)
    write(tmp_path, "<package/>", "pkg/package.xml")
    Image.new("RGB", (2, 2)).save(tmp_path / "secret.png")
    write(folder, "text", "paint.txt")
    robot = made(folder, visual('<mesh filename="square.obj"/>', material("", "1 0 0 1")))
    (found,) = robot.link_visuals("a")
    assert not found.painted
    assert len(found.mesh.faces) == 2
    (note,) = robot.visual_notes
    assert image in note.text
    assert note.kind == "approximated"


def test_a_picture_larger_than_memory_is_not_opened(tmp_path, monkeypatch):
    textured(tmp_path)
    monkeypatch.setattr("elbowroom.robot.descriptions._painted.MAX_PIXELS", 15)
    robot = made(tmp_path, visual('<mesh filename="square.obj"/>'))
    assert not robot.link_visuals("a")[0].painted
    assert "4 x 4 pixels" in robot.visual_notes[0].text


@pytest.mark.parametrize(
    ("element", "said"),
    [
        ('<mesh filename="none.stl"/>', "was not found"),
        ('<mesh filename="package://nobody/none.stl"/>', "package 'nobody' was not found"),
        ('<mesh filename="../../outside.stl"/>', "outside the description's own folder"),
        ('<mesh filename="package://../outside.stl"/>', "not the name of a package"),
        ('<mesh filename="https://example.org/m.stl"/>', "never https:// addresses"),
        ('<mesh filename="m.stl" scale="1 nan 1"/>', "NaN"),
        ('<mesh filename="m.stl" scale="0 1 1"/>', "no extent"),
        ('<mesh filename="broken.stl"/>', "cannot be read as a mesh|no triangle"),
        ('<mesh filename="evil.dae"/>', "document types"),
        ('<mesh filename="m.txt"/>', "not read"),
        ("<mesh/>", "'filename' is missing"),
        ('<box size="1 1"/>', "expected 3 numbers"),
        ('<ball radius="1"/>', "no shape is called so"),
        ('<sphere radius="0"/>', "no extent"),
    ],
)
def test_what_cannot_be_read_is_left_out_and_said(tmp_path, element, said):
    folder = tmp_path / "pkg/urdf"
    write(tmp_path, "<package/>", "pkg/package.xml")
    write_box_mesh(tmp_path / "outside.stl")
    write_box_mesh(folder / "m.stl")
    write(folder, b"solid nothing", "broken.stl")
    write(folder, b"nothing", "m.txt")
    write(folder, b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><COLLADA/>', "evil.dae")
    robot = made(folder, visual(element), visual('<sphere radius="0.5"/>'))  # loading does not look at it
    with pytest.warns(ApproximationWarning, match="not everything can be shown"):
        (other,) = robot.link_visuals("a")
    assert other.name == "visual_1"
    (note,) = robot.visual_notes
    assert note.where == "a"
    assert any(word in note.text for word in said.split("|"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(robot.link_visuals("a")) == 1  # said once


def test_a_colour_that_is_none_costs_the_colour_only(tmp_path):
    robot = made(tmp_path, visual('<sphere radius="0.5"/>', material("", "1 x 0 1")))
    assert robot.link_visuals("a")[0].color == GREY
    assert "a visual has no colour" in robot.visual_notes[0].text


def test_collada_with_broken_materials_keeps_its_triangles(tmp_path):
    """The reader of Collada drops shapes whose material is broken, of what is seen and of what collides."""
    whole = trimesh.creation.box().export(file_type="dae")
    broken = whole.replace(b'target="#', b'target="#gone')
    assert broken != whole
    write(tmp_path, broken, "m.dae")
    robot = made(tmp_path, visual('<mesh filename="m.dae"/>'), collision('<mesh filename="m.dae"/>'))
    assert len(robot.link_mesh("a").faces) == 12
    assert sum(len(piece.mesh.faces) for piece in robot.link_visuals("a")) == 12
    assert [note.text for note in robot.visual_notes] == [
        "its materials are broken; it is shown without its own colours"
    ]


def test_nothing_is_read_before_it_is_asked_for(tmp_path, monkeypatch):
    write_box_mesh(tmp_path / "m.stl")
    opened = []
    monkeypatch.setattr(
        "elbowroom.robot.descriptions._painted.mesh_bytes",
        lambda path, where: opened.append(path.name) or path.read_bytes(),
    )
    robot = made(tmp_path, visual('<mesh filename="m.stl"/>'))
    copy = pickle.loads(pickle.dumps(robot))
    assert opened == []
    assert robot.link_visuals("a")[0].mesh.volume == pytest.approx(0.024)
    assert len(pickle.dumps(robot)) < len(pickle.dumps(copy)) + 100  # what was read does not travel
    assert copy.link_visuals("a")[0].mesh.volume == pytest.approx(0.024)
    assert opened == ["m.stl", "m.stl"]


def test_joined_and_parted_robots_keep_their_looks(tmp_path):
    box = visual('<box size="0.1 0.1 0.1"/>', material("", "1 0 0 1"))
    arm = er.load_robot(
        write(tmp_path, robot_xml(link("a"), link("hand", box), joint("j", "a", "hand")), "arm.urdf")
    )
    hand = er.load_robot(
        write(tmp_path, robot_xml(link("hand", visual('<sphere radius="1"/>'))), "hand.urdf")
    )
    bare = without_links(arm, ["hand"])
    assert set(bare.visual_sources) == {"a"}
    new = joined(bare, hand, "a")
    assert new.link_visuals("hand")[0].color == GREY
    both = joined(arm, hand, "hand", prefix="my_")
    assert both.link_visuals("hand")[0].color == RED
    assert both.link_visuals("my_hand")[0].mesh.extents[0] == pytest.approx(2.0, abs=0.03)


def test_yourdfpy_objects(tmp_path):
    import yourdfpy

    write_box_mesh(tmp_path / "m.stl")
    text = robot_xml(
        link("a", visual('<mesh filename="m.stl" scale="2 2 2"/>', material("p", "0 0 1 0.5"), xyz="1 2 3"))
    )
    robot = er.load_robot(yourdfpy.URDF.load(str(write(tmp_path, text)), load_meshes=False))
    (found,) = robot.link_visuals("a")
    assert found.color == BLUE
    assert np.allclose(found.mesh.bounds.mean(axis=0), [1, 2, 3])
    assert np.allclose(found.mesh.extents, [0.4, 0.6, 0.8])


PARTED = """
<mujoco><asset><material name="steel" rgba="0 0 1 0.5"/></asset><worldbody>
 <geom type="plane" size="1 1 1"/>
 <body name="a"><joint name="j" axis="0 0 1"/>
  <geom name="seen" type="box" size="0.1 0.2 0.3" pos="1 0 0" euler="0 0 90" contype="0" conaffinity="0" group="2" material="steel"/>
  <geom name="hits" size="0.5" group="3"/>
  <geom name="ghost" size="0.5" rgba="1 0 0 0" contype="0" conaffinity="0" group="2"/>
  <body name="b" pos="0 0 1"><geom name="both" type="capsule" size="0.1 0.5" rgba="1 0 0 1"/>
   <body name="c"><geom name="core" size="0.1"/><geom name="badge" size="0.02" contype="0" conaffinity="0"/></body>
  </body></body></worldbody></mujoco>"""


def test_mjcf_geoms_that_are_seen(tmp_path):
    path = write(tmp_path, PARTED, "r.xml")
    model = mujoco.MjModel.from_xml_path(str(path))
    with pytest.warns(ApproximationWarning, match="plane"):
        robots = er.load_robot(path), er.load_robot(model)
    for robot in robots:
        looks = {name: robot.link_visuals(name) for name in ("a", "b", "c")}
        assert {name: [piece.name for piece in found] for name, found in looks.items()} == {
            "a": ["seen"],
            "b": ["both"],
            "c": ["core", "badge"],  # MuJoCo cannot show them apart
        }
        assert looks["a"][0].color == BLUE
        assert looks["b"][0].color == RED
        assert np.allclose(looks["a"][0].mesh.bounds, [[0.8, -0.1, -0.3], [1.2, 0.1, 0.3]])
        with pytest.warns(ApproximationWarning, match="visual plane geom"):
            assert robot.link_visuals("world") == ()


def test_mjcf_textures_are_upright(tmp_path):
    textured(tmp_path)
    text = """<mujoco><asset><texture name="t" type="2d" file="paint.png"/><material name="m" texture="t"/>
     <mesh name="square" file="square.obj" inertia="shell"/></asset><worldbody><body name="a">
     <geom type="mesh" mesh="square" material="m" contype="0" conaffinity="0"/></body></worldbody></mujoco>"""
    (found,) = er.load_robot(write(tmp_path, text, "r.xml")).link_visuals("a")
    assert found.painted
    top = found.mesh.vertices[:, 1] > 0.5
    colors = found.mesh.visual.to_color().vertex_colors
    assert np.array_equal(np.unique(colors[top], axis=0), [[255, 0, 0, 255]])
    assert np.array_equal(np.unique(colors[~top], axis=0), [[0, 0, 255, 255]])


def test_an_mjcf_file_that_is_gone_is_said(tmp_path):
    path = write(tmp_path, PARTED.replace('<geom type="plane" size="1 1 1"/>', ""), "r.xml")
    robot = er.load_robot(path)
    path.unlink()
    with pytest.warns(ApproximationWarning, match="not everything can be shown"):
        assert robot.link_visuals("a") == ()
