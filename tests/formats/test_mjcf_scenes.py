"""Writing into a user's scene touches the robot alone: simulated by MuJoCo, what lay on the floor still does."""

from __future__ import annotations

import warnings
from itertools import combinations

import mujoco
import numpy as np
import pytest

import elbowroom as er
from elbowroom import formats
from elbowroom.errors import ApproximationWarning, InputError
from elbowroom.robot.internal import adjacent_pairs
from elbowroom.spheres import SphereModel

ARM = """
<mujoco model="arm">
  <default><default class="arm"><geom contype="2" conaffinity="1" group="3"/></default></default>
  <worldbody>
    <body name="base" pos="0 0 0.2" childclass="arm">
      <geom name="base_box" type="box" size="0.08 0.08 0.08"/>
      <body name="upper" pos="0 0 0.12">
        <joint name="shoulder" axis="0 1 0" range="-2 2" damping="5"/>
        <geom type="capsule" fromto="0 0 0.05 0 0 0.3" size="0.04"/>
        <frame pos="0 0 0.05"><geom type="box" size="0.03 0.03 0.03"/></frame>
        <body name="fore" pos="0 0 0.35">
          <joint name="elbow" axis="0 1 0" range="-2.5 2.5" damping="5"/>
          <geom type="capsule" fromto="0 0 0.05 0 0 0.3" size="0.035"/>
        </body>
      </body>
    </body>
  </worldbody>
  <contact><exclude name="mine" body1="base" body2="upper"/><exclude body1="upper" body2="fore"/></contact>
  <actuator><motor joint="shoulder"/><motor joint="elbow"/></actuator>
</mujoco>
"""
SCENE = """
<mujoco model="scene">
  <!-- the user's kitchen -->
  <option timestep="0.002"/>
  {arm}
  <worldbody>
    <geom name="floor" type="plane" size="3 3 0.1" conaffinity="3"/>
    <body name="table" pos="1 0 0.2"><geom name="top" type="box" size="0.3 0.3 0.02" conaffinity="3"/></body>
    <body name="cup" pos="0.6 0 0.051"><freejoint name="cup_free"/><geom name="wall" type="cylinder" size="0.04 0.05"/></body>
    <body name="bowl" pos="1 0 0.271"><freejoint/><geom type="sphere" size="0.05"/></body>
    <body name="cupboard" pos="-1 0 0.5">
      <geom type="box" size="0.2 0.2 0.5" contype="0" conaffinity="0"/>
      <body name="door" pos="0.22 -0.2 0"><joint name="hinge" axis="0 0 1" range="0 2"/>
        <geom name="door_panel" type="box" size="0.01 0.2 0.4" pos="0 0.2 0"/></body>
    </body>
  </worldbody>
  <contact><exclude body1="cup" body2="bowl"/></contact>
</mujoco>
"""
OWN = {"base", "upper", "fore"}


def at_rest(path, seconds=2.0):
    """Poses of the free bodies after some seconds, and the number of contacts between the cup and the floor."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, int(seconds / model.opt.timestep))
    names = {model.geom("floor").id, model.geom("wall").id}
    touching = sum({int(c.geom1), int(c.geom2)} == names for c in data.contact)
    return np.concatenate([data.body("cup").xpos, data.body("bowl").xpos]), touching


@pytest.fixture(params=["one file", "included"])
def scene(request, tmp_path):
    inner = ARM.replace('<mujoco model="arm">', "").replace("</mujoco>", "")
    if request.param == "included":
        (tmp_path / "arm.xml").write_text(ARM)
        inner = '<include file="arm.xml"/>'
    path = tmp_path / "scene.xml"
    path.write_text(SCENE.format(arm=inner))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)  # the floor has no mesh, the cup is held
        return er.load_robot(path)


@pytest.fixture
def spheres(scene):
    return er.fit_spheres(scene, er.FitOptions(method="centerline"))


def others(path):
    """Every geom that is not the robot's: name, type, size, bits."""
    model = mujoco.MjModel.from_xml_path(str(path))
    rows = []
    for k in range(model.ngeom):
        body = model.body(model.geom_bodyid[k]).name
        if body not in OWN:
            bits = (int(model.geom_contype[k]), int(model.geom_conaffinity[k]))
            rows.append((body, model.geom(k).name, int(model.geom_type[k]), *model.geom_size[k], *bits))
    return rows


@pytest.mark.parametrize("what", ["spheres", "pairs", "both"])
def test_the_scene_is_unharmed(tmp_path, scene, spheres, what):
    given = {}
    if what != "pairs":
        given["spheres"] = spheres
    if what != "spheres":
        given["pairs"] = er.compute_pairs(scene, spheres, er.PairOptions(samples=200))
    before, touched = at_rest(scene.path)
    assert touched > 0
    target = tmp_path / "new.xml"
    formats.write(target, robot=scene, **given)
    after, touching = at_rest(target)
    np.testing.assert_array_equal(after, before)  # not a micrometre: nothing near them changed
    assert touching == touched
    assert others(target) == others(scene.path)
    assert "<!-- the user's kitchen -->" in target.read_text()
    model = mujoco.MjModel.from_xml_path(str(target))
    excluded = {
        frozenset((model.body(s >> 16).name, model.body(s & 0xFFFF).name))
        for s in model.exclude_signature.tolist()
    }
    assert frozenset(("cup", "bowl")) in excluded  # the user's stays
    assert all(names <= OWN for names in excluded - {frozenset(("cup", "bowl"))})


def test_the_robot_collides_by_its_spheres_and_with_what_it_met_before(tmp_path, scene, spheres):
    lost = formats.write(tmp_path / "new.xml", robot=scene, spheres=spheres)
    assert any("not the robot's get no spheres" in text and "cup" in text and "door" in text for text in lost)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "new.xml"))
    for k in range(model.ngeom):
        if model.body(model.geom_bodyid[k]).name in OWN:
            ours = model.geom(k).name.startswith("sphere:")
            assert (model.geom_contype[k], model.geom_conaffinity[k]) == ((2, 1) if ours else (0, 0))
    data = mujoco.MjData(model)
    data.joint("shoulder").qpos = 2.0
    data.joint("elbow").qpos = 0.5
    mujoco.mj_forward(model, data)
    met = {model.geom(int(g)).name.split(":")[0] for c in data.contact for g in (c.geom1, c.geom2)}
    assert {"sphere", "floor"} <= met


def test_links_whose_bits_did_not_fit_meet_as_the_pairs_say(tmp_path, scene, spheres):
    """The arm's own geoms never met each other; its checked pairs do, and what it met in the scene stays the same."""
    formats.write(
        tmp_path / "new.xml",
        robot=scene,
        spheres=spheres,
        pairs={("base", "upper"): "", ("fore", "upper"): ""},
    )
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "new.xml"))
    data = mujoco.MjData(model)
    data.joint("elbow").qpos = 2.5
    data.joint("shoulder").qpos = 1.5
    mujoco.mj_forward(model, data)
    met = {
        frozenset(model.body(model.geom_bodyid[int(g)]).name for g in (c.geom1, c.geom2))
        for c in data.contact
    }
    assert frozenset(("base", "fore")) in met
    sphere = model.geom("sphere:fore:0")
    assert (int(sphere.contype[0]), int(sphere.conaffinity[0])) == (2 | 4, 1 | 4)


def test_excludes_alone_need_no_spheres(tmp_path, scene):
    pairs = {("base", "upper"): "ADJACENT", ("base", "cup"): "NEVER_SAMPLED", ("cup", "fore"): ""}
    lost = formats.write(tmp_path / "new.xml", robot=scene, pairs=pairs)
    assert any("2 ignored pairs with bodies that are not the robot's" in text for text in lost)
    text = (tmp_path / "new.xml").read_text()
    assert 'name="mine"' in text
    assert 'body2="cup"' not in text
    assert "sphere:" not in text
    assert set(formats.read(tmp_path / "new.xml").ignored) == {("base", "upper"), ("bowl", "cup")}


def test_checked_pairs_that_mujoco_drops_are_said_one_by_one(tmp_path):
    """The plate is welded to the upper arm, so for MuJoCo it carries the forearm."""
    plate = '<body name="plate" pos="0 0 0.1"><geom type="box" size="0.1 0.01 0.01"/></body><body name="fore"'
    text = ARM.replace('contype="2" conaffinity="1"', "")
    (tmp_path / "arm.xml").write_text(text.replace('<body name="fore"', plate))
    arm = er.load_robot(tmp_path / "arm.xml")
    adjacent = adjacent_pairs(arm)
    assert ("fore", "plate") not in adjacent
    lost = formats.write(tmp_path / "a.xml", robot=arm, pairs=dict.fromkeys(adjacent, ""))
    assert [text for text in lost if text.endswith("no spheres to pair: fore and plate")]
    lost = formats.write(
        tmp_path / "b.xml", robot=arm, spheres=ball(arm, "fore", "plate"), pairs=dict.fromkeys(adjacent, "")
    )
    assert not any("no spheres to pair" in text for text in lost)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "b.xml"))
    assert model.npair == 1
    assert {model.geom(int(g[0])).name for g in (model.pair_geom1, model.pair_geom2)} == {
        "sphere:fore:0",
        "sphere:plate:0",
    }


def test_a_robot_without_an_mjcf_gets_a_file_to_include(tmp_path, load):
    arm = load("teaarm")
    pairs = {("base_link", "waist_link"): "ADJACENT", ("base_link", "torso_link"): "ALWAYS"}
    lost = formats.write(tmp_path / "excludes.xml", robot=arm, pairs=pairs)
    assert any("<include>" in text for text in lost)
    assert set(formats.read(tmp_path / "excludes.xml", robot=arm).ignored) == set(pairs)
    formats.write(tmp_path / "arm.xml", robot=arm, spheres=ball(arm, "base_link"), pairs={})
    text = (tmp_path / "arm.xml").read_text().replace("</mujoco>", '<include file="excludes.xml"/></mujoco>')
    (tmp_path / "main.xml").write_text(text)
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "main.xml")).nexclude == 2


class TestWhatIsThere:
    """A robot from a URDF, and a scene of the user's at the place to write to."""

    URDF = """<robot name="arm"><link name="base"/><link name="upper"/><link name="fore"/>
      <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
        <limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
      <joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/><axis xyz="0 1 0"/>
        <limit lower="-2" upper="2" effort="1" velocity="1"/></joint></robot>"""

    @pytest.fixture
    def robot(self, tmp_path):
        (tmp_path / "arm.urdf").write_text(self.URDF)
        return er.load_robot(tmp_path / "arm.urdf")

    def test_excludes_go_into_it(self, tmp_path, scene, robot):
        before, touched = at_rest(scene.path)
        pairs = {("base", "fore"): "NEVER_PROVED", ("base", "upper"): "ADJACENT", ("cup", "fore"): ""}
        lost = formats.write(scene.path, robot=robot, pairs=pairs)
        assert any("1 ignored pairs with bodies that are not the robot's" in text for text in lost)
        after, touching = at_rest(scene.path)
        np.testing.assert_array_equal(after, before)
        assert touching == touched
        assert set(formats.read(scene.path).ignored) == {("base", "fore"), ("base", "upper"), ("bowl", "cup")}

    def test_a_new_robot_does_not_take_its_place(self, tmp_path, scene, robot):
        text = scene.path.read_bytes()
        with pytest.raises(InputError, match="there is a scene already"):
            formats.write(scene.path, robot=robot, spheres=ball(robot, "base"))
        (tmp_path / "other.xml").write_bytes(robot.path.read_bytes())
        for given in ({"pairs": {("base", "fore"): ""}}, {"spheres": ball(robot, "base")}):
            with pytest.raises(InputError, match="not MJCF: <robot>"):
                formats.write(tmp_path / "other.xml", robot=robot, **given)
        assert scene.path.read_bytes() == text

    def test_excludes_to_include_are_replaced(self, tmp_path, robot):
        formats.write(tmp_path / "x.xml", robot=robot, pairs=[("base", "fore"), ("base", "upper")])
        formats.write(tmp_path / "x.xml", robot=robot, pairs=[("base", "fore"), ("fore", "upper")])
        assert set(formats.read(tmp_path / "x.xml").ignored) == {("base", "fore"), ("fore", "upper")}


def ball(robot, *links):
    return SphereModel.from_links(robot.link_names, {link: ([[0.0, 0.0, 0.0]], [0.03]) for link in links})


def meeting(model, data, links):
    """Pairs of bodies whose spheres overlap, by brute force over all geoms."""
    centers, radii = data.geom_xpos, model.geom_size[:, 0]
    gaps = np.linalg.norm(centers[:, None] - centers, axis=-1) - radii[:, None] - radii
    rows, columns = np.nonzero(np.triu(gaps < 0, 1))
    return {
        tuple(sorted((links[i], links[k])))
        for i, k in zip(rows, columns, strict=True)
        if links[i] != links[k]
    }


def assert_contacts(robot, path, checked, n):
    """MuJoCo's contacts are the checked pairs whose spheres meet, on every one of n random configurations."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    links = [model.body(body).name for body in model.geom_bodyid]
    kept = 0
    explicit = {
        tuple(sorted((links[g1], links[g2])))
        for g1, g2 in zip(model.pair_geom1, model.pair_geom2, strict=True)
    }
    names = [joint.name for joint in robot.tree.moving]
    for cfg in robot.random_cfgs(n, seed=3):
        q_full = dict(zip(names, robot.tree.expand(cfg), strict=True))
        for joint in range(model.njnt):
            data.qpos[model.jnt_qposadr[joint]] = q_full[model.joint(joint).name]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_collision(model, data)
        found = {tuple(sorted((links[c.geom1], links[c.geom2]))) for c in data.contact}
        assert found == meeting(model, data, links) & checked
        kept += bool(found & explicit)
    assert not any(warning.number for warning in data.warning)
    return explicit, kept


def test_baxter_keeps_the_pairs_that_mujoco_filters(tmp_path, load):
    """Links welded to a parent count as the parent for MuJoCo: 500 configurations, none differs."""
    robot = load("baxter")
    covering = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    # Smaller than what covers, so that neighbours of neighbours are apart at rest, as with tight spheres.
    spheres = SphereModel(covering.link_names, covering.centers, covering.radii * 0.6, covering.link_idx)
    ignored = dict.fromkeys(robot.disabled_pairs, "")
    adjacent = adjacent_pairs(robot, spheres.counts)
    checked = set(combinations(sorted(spheres.counts), 2)) - set(ignored) - adjacent
    lost = formats.write(
        tmp_path / "a.xml", robot=robot, spheres=spheres, pairs={**ignored, **dict.fromkeys(adjacent, "")}
    )
    assert not any("lost" in text or "welds" in text for text in lost)
    explicit, kept = assert_contacts(robot, tmp_path / "a.xml", checked, 500)
    assert explicit <= checked
    assert kept > 0  # without explicit pairs these contacts would be missing
    again = er.load_robot(tmp_path / "a.xml")
    formats.write(tmp_path / "b.xml", robot=again, spheres=spheres)  # explicit pairs outlive new spheres
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "b.xml")).npair > 0
    formats.write(tmp_path / "c.xml", robot=again, pairs=ignored)  # and excludes alone
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "c.xml")).npair > 0


@pytest.mark.long
def test_g1_by_its_pair_matrix(tmp_path, computed):
    robot, spheres, pairs = computed("g1")
    lost = formats.write(tmp_path / "a.xml", robot=robot, spheres=spheres, pairs=pairs)
    assert pairs.by_meshes
    assert any(f"meshes alone decide {len(pairs.by_meshes)} checked pair" in text for text in lost)
    assert_contacts(robot, tmp_path / "a.xml", set(pairs.by_spheres), 100)
