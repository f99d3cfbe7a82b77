"""Default classes of a user's MJCF do not change our spheres: compiled by MuJoCo, they are what was meant."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pytest

import elbowroom as er
from elbowroom import formats
from elbowroom.errors import ApproximationWarning, InputError
from elbowroom.robot.internal import adjacent_pairs
from elbowroom.spheres import SphereModel

WEDGE = '<mesh name="wedge" vertex="0 0 0 0.1 0 0 0 0.1 0 0 0 0.1"/>'
MESH = 'type="mesh" mesh="wedge"'
FROMTO = 'type="capsule" size="0.03" fromto="0 0 0 0 0 0.2"'


def scene(folder, *, root="", rob="", base='childclass="rob"', frame=("", ""), name="scene.xml"):
    """An arm whose geoms are as their class says; a default of all geoms, one of the class `rob`."""
    path = folder / name
    geom = "<geom/>" if "type" in root + rob else '<geom type="box" size="0.05 0.05 0.1"/>'
    path.write_text(f"""<mujoco><default><geom {root}/><default class="rob"><geom {rob}/></default></default>
      <asset>{WEDGE}</asset><worldbody>{frame[0]}<body name="base" {base}>{geom}
        <body name="upper" pos="0 0 0.25"><joint name="j1" axis="0 1 0" range="-2 2"/>{geom}
          <body name="fore" pos="0 0 0.25"><joint name="j2" axis="0 1 0" range="-2 2"/>{geom}
          </body></body></body>{frame[1]}</worldbody></mujoco>""")
    return er.load_robot(path)


def balls(robot):
    rng = np.random.default_rng(4)
    links = {link: (rng.normal(size=(3, 3)), rng.uniform(0.01, 0.1, 3)) for link in robot.link_names}
    return SphereModel.from_links(robot.link_names, links)


def assert_as_meant(path, spheres):
    model = mujoco.MjModel.from_xml_path(str(path))
    for link in spheres.counts:
        for index, (center, radius) in enumerate(zip(*spheres.link(link), strict=True)):
            geom = model.geom(f"sphere:{link}:{index}")
            assert geom.type[0] == mujoco.mjtGeom.mjGEOM_SPHERE
            assert geom.size[0] == radius
            np.testing.assert_array_equal(geom.pos, center)
            assert (geom.margin[0], geom.gap[0]) == (0.0, 0.0)
    return model


@pytest.mark.parametrize(
    "said",
    [
        {"rob": f'{MESH} margin="0.02"'},
        {"rob": FROMTO},
        {"rob": 'margin="0.02" gap="0.01"'},
        {"root": f'{MESH} margin="0.02"', "base": ""},
        {"root": 'margin="0.02"', "rob": FROMTO},
        {"rob": FROMTO, "base": "", "frame": ('<frame childclass="rob">', "</frame>")},
        {"root": 'pos="1 2 3" quat="0 1 0 0" size="1 2 3" type="ellipsoid"'},
    ],
)
@pytest.mark.parametrize("folder", ["", "elsewhere"])
def test_spheres_inherit_no_shape_and_no_margin(tmp_path, said, folder):
    robot = scene(tmp_path, **said)
    spheres = balls(robot)
    (tmp_path / folder).mkdir(exist_ok=True)
    target = tmp_path / folder / "new.xml"
    formats.write(target, robot=robot, spheres=spheres)
    assert_as_meant(target, spheres)
    assert sorted(path.name for path in target.parent.glob("*.xml")) == sorted(
        {"new.xml", "scene.xml"} if not folder else {"new.xml"}
    )


def test_defaults_of_included_files_count(tmp_path):
    robot = scene(tmp_path, rob=f'{MESH} margin="0.02"')
    text = robot.path.read_text()
    first, last = text.index("<default>"), text.rindex("</default>") + len("</default>")
    (tmp_path / "defaults.xml").write_text(f"<mujoco>{text[first:last]}</mujoco>")
    robot.path.write_text(text[:first] + '<include file="defaults.xml"/>' + text[last:])
    robot = er.load_robot(robot.path)
    spheres = balls(robot)
    formats.write(tmp_path / "new.xml", robot=robot, spheres=spheres)
    assert_as_meant(tmp_path / "new.xml", spheres)


def test_explicit_pairs_inherit_no_margin(tmp_path):
    """The plate is welded to the upper arm, so MuJoCo's filter takes it for what carries the forearm."""
    path = scene(tmp_path).path
    plate = '<body name="plate"><geom type="box" size="0.1 0.01 0.01"/></body><body name="fore"'
    text = path.read_text().replace('<body name="fore"', plate)
    path.write_text(text.replace("<default>", '<default><pair margin="0.03" gap="0.01"/>', 1))
    robot = er.load_robot(path)
    formats.write(tmp_path / "new.xml", robot=robot, spheres=balls(robot), pairs=adjacent_pairs(robot))
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "new.xml"))
    assert model.npair == 9
    assert not model.pair_margin.any()
    assert not model.pair_gap.any()


def test_friction_stays_the_class_s_where_it_can(tmp_path):
    robot = scene(tmp_path, rob=f'{MESH} margin="0.02" friction="0.3 0.01 0.001"')
    formats.write(tmp_path / "new.xml", robot=robot, spheres=balls(robot))
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "new.xml"))
    assert model.geom("sphere:fore:0").friction[0] == 0.3
    robot = scene(tmp_path, rob=f'{FROMTO} friction="0.3 0.01 0.001"')
    lost = formats.write(tmp_path / "other.xml", robot=robot, spheres=balls(robot))
    assert any("friction" in text and "base, upper, fore" in text for text in lost)


def test_end_points_of_all_geoms_are_refused(tmp_path):
    robot = scene(tmp_path, root=FROMTO, base="")
    with pytest.raises(InputError, match="default of all geoms in scene.xml has fromto"):
        formats.write(tmp_path / "new.xml", robot=robot, spheres=balls(robot))
    assert not (tmp_path / "new.xml").exists()


@pytest.mark.parametrize(
    ("rob", "words"),
    [
        (MESH, "MuJoCo takes size of 'sphere:base:0' as"),
        ('margin="0.02"', "MuJoCo takes margin of 'sphere:base:0' as 0.02, not as 0.0"),
        (FROMTO, "MuJoCo rejects the result, so nothing is written: .*fromto"),
    ],
)
def test_what_mujoco_would_change_is_not_written(tmp_path, monkeypatch, rob, words):
    """The proof itself: without the attributes that refuse the defaults, it sees what they do."""
    robot = scene(tmp_path, rob=rob)
    monkeypatch.setattr("elbowroom.formats._mjcf_spheres.refusals", lambda *_: {})
    for target in (tmp_path / "new.xml", robot.path):
        before = target.read_bytes() if target.exists() else None
        with pytest.raises(InputError, match=words):
            formats.write(target, robot=robot, spheres=balls(robot))
        assert (target.read_bytes() if target.exists() else None) == before
    assert [path.name for path in tmp_path.iterdir()] == ["scene.xml"]


CUP = """
<mujoco model="scene"><worldbody><geom name="floor" type="plane" size="2 2 0.1"/>
  <body name="base" pos="0 0 0.2"><geom type="box" size="0.05 0.05 0.1"/>
    <body name="upper" pos="0 0 0.25"><joint name="j1" axis="0 1 0" range="-2 2"/>
      <geom type="box" size="0.05 0.05 0.1" pos="0 0 0.1"/>
      <body name="fore" pos="0 0 0.25"><joint name="j2" axis="0 1 0" range="-2 2"/>
        <geom type="box" size="0.05 0.05 0.1" pos="0 0 0.1"/></body></body></body>
  <body name="cup" pos="0.5 0 0.06"><freejoint/><geom type="cylinder" size="0.03 0.05"/>
    <body name="handle"><geom type="box" size="0.01 0.01 0.01" pos="0.04 0 0"/></body></body>
</worldbody><contact><exclude body1="base" body2="cup"/><exclude body1="base" body2="upper"/></contact>
<actuator><motor joint="j1"/><motor joint="j2"/></actuator></mujoco>
"""


@pytest.fixture
def with_cup(tmp_path):
    (tmp_path / "scene.xml").write_text(CUP)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        return er.load_robot(tmp_path / "scene.xml")


def test_a_free_body_beside_the_robot_is_said_to_be_taken_as_a_part_of_it(tmp_path, with_cup):
    [note] = [note for note in with_cup.notes if note.kind == "loose"]
    assert note.warns
    assert note.where == "cup"
    assert "not the robot's" in note.text
    assert "taken as a part of the robot" in note.text


@pytest.mark.parametrize("name", ["a.srdf", "a.yml", "a.xrdf"])
@pytest.mark.parametrize("kind", ["matrix", "mapping", "none"])
def test_planners_are_not_told_that_a_cup_is_fixed_to_the_base(tmp_path, with_cup, name, kind):
    spheres = er.fit_spheres(with_cup, er.FitOptions(method="centerline"))
    matrix = er.compute_pairs(with_cup, spheres, er.PairOptions(samples=100))
    assert {"cup", "handle"} <= set(spheres.counts)
    pairs = {"matrix": matrix, "mapping": dict(matrix.ignored), "none": None}[kind]
    lost = formats.write(tmp_path / name, robot=with_cup, spheres=spheres, pairs=pairs)
    assert [text for text in lost if "free bodies" in text and "cup, handle" in text]
    text = (tmp_path / name).read_text()
    assert "cup" not in text
    assert "handle" not in text
    found = formats.read(tmp_path / name)
    assert found.spheres is not None
    assert set(found.spheres.counts) == {"base", "upper", "fore"}
    if kind != "none" or name != "a.srdf":
        assert ("base", "upper") in found.ignored


def test_a_base_pose_moves_the_robot_and_not_only_the_cup(tmp_path, with_cup):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        moved = er.load_robot(with_cup.path, base_pose=[1, 0, 0, 0, 5, 0, 0])
    shift = moved.link_poses(np.zeros(2))[:, 4:] - with_cup.link_poses(np.zeros(2))[:, 4:]
    np.testing.assert_allclose(shift, np.tile([5.0, 0, 0], (len(shift), 1)), atol=1e-12)
