"""The judge itself: on a robot whose answers are known by hand, and against its own slower self."""

from __future__ import annotations

import numpy as np
import pytest

from .oracles import PinocchioCoal, PinocchioModel, ShapeCoal, mujoco_link_poses, oracle_of

# Joints are listed in an order that is not the alphabet's, which is Pinocchio's: a slide z, a wheel that turns
# without end, and a slide a that goes twice as far as z, plus 0.1 m.
URDF = """
<robot name="slides">
  <link name="base"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <link name="left"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <link name="wheel"><collision><origin xyz="0 0 1"/><geometry><sphere radius="0.1"/></geometry></collision></link>
  <link name="right">
    <collision><geometry><sphere radius="0.05"/></geometry></collision>
    <collision><origin xyz="0 0 0.3"/><geometry><sphere radius="0.05"/></geometry></collision>
  </link>
  <joint name="z" type="prismatic">
    <parent link="base"/><child link="left"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="2" velocity="1" effort="1"/>
  </joint>
  <joint name="turn" type="continuous"><parent link="base"/><child link="wheel"/><axis xyz="0 1 0"/></joint>
  <joint name="a" type="prismatic">
    <parent link="base"/><child link="right"/><axis xyz="1 0 0"/>
    <mimic joint="z" multiplier="2" offset="0.1"/><limit lower="0" upper="5" velocity="1" effort="1"/>
  </joint>
</robot>
"""


@pytest.fixture
def slides(tmp_path) -> PinocchioCoal:
    (tmp_path / "slides.urdf").write_text(URDF)
    (tmp_path / "slides.srdf").write_text(
        '<robot name="slides"><disable_collisions link1="wheel" link2="base"/></robot>'
    )
    return PinocchioCoal(tmp_path / "slides.urdf", srdf=tmp_path / "slides.srdf")


def test_answers_known_by_hand(slides):
    assert slides.joint_names == ("z", "turn")
    assert slides.link_pairs == (
        ("base", "left"), ("base", "right"), ("left", "right"), ("left", "wheel"), ("right", "wheel"),
    )  # fmt: skip
    # left at x = z, right at x = 2 z + 0.1 with a second ball 0.3 above, wheel at (sin, cos) of the turn.
    cfgs = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, np.pi / 2], [0.3, np.arctan2(0.7, 0.3)]])
    expected = np.array([[1, 1, 1, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0]], dtype=bool)
    np.testing.assert_array_equal(slides.colliding(cfgs), expected)
    distances = slides.distances(cfgs)
    np.testing.assert_allclose(
        distances[1], [0.8, 1.95, 0.95, np.sqrt(2) - 0.2, np.hypot(2.1, 0.7) - 0.15], atol=1e-6
    )
    assert distances[0, 2] == pytest.approx(-0.05, abs=1e-6)  # balls of 0.1 and 0.05, centres 0.1 apart
    np.testing.assert_array_equal(slides(cfgs, [("right", "wheel")]), expected[:, 4:])
    assert slides(cfgs, []).shape == (4, 0)
    with pytest.raises(KeyError, match="nose"):
        slides(cfgs, [("base", "nose")])


def test_the_peer_gives_the_same_answer(slides):
    peer = slides.peer(slides.link_pairs)
    cfgs = np.random.default_rng(0).uniform([0, -3], [2, 3], (200, 2))
    found = [peer.collides(q) for q in peer.q(cfgs)]
    assert 0 < sum(found) < 200
    assert found == slides.colliding(cfgs).any(axis=1).tolist()


@pytest.mark.long
@pytest.mark.robots
@pytest.mark.parametrize("name", ["panda", "baxter", "talos", "rh56", "teaarm"])
def test_bounding_spheres_leave_nothing_out_and_the_shapes_we_read_answer_alike(load, name):
    robot = load(name)
    oracle = oracle_of(robot)
    assert set(oracle.links) == set(robot.mesh_links)
    cfgs = robot.random_cfgs(20, seed=1)
    found = oracle.colliding(cfgs)
    assert 0 < found.sum() < found.size
    np.testing.assert_array_equal(found, oracle.colliding(cfgs, prefilter=False))
    np.testing.assert_array_equal(found, ShapeCoal(robot).colliding(cfgs, oracle.link_pairs))


@pytest.mark.robots
def test_collisions_and_distances_agree(load):
    oracle = oracle_of(
        load("baxter")
    )  # overlapping coaxial cylinders, which Coal misses when it finds no contacts
    cfgs = load("baxter").random_cfgs(10, seed=1)
    np.testing.assert_array_equal(oracle.distances(cfgs) <= 0, oracle.colliding(cfgs))


def test_mujoco_moves_the_hand_as_we_do(load):
    from elbowroom._poses import matrix_from_wxyz_xyz

    robot = load("rh56")
    cfgs = robot.random_cfgs(20, seed=2)
    ours = matrix_from_wxyz_xyz(robot.link_poses(cfgs))
    np.testing.assert_allclose(mujoco_link_poses(robot, cfgs), ours, rtol=0, atol=1e-9)


def test_a_chain_of_mimics_is_followed(tmp_path):
    chained = URDF.replace(
        "</robot>",
        '<link name="third"/><joint name="c" type="prismatic"><parent link="base"/><child link="third"/>'
        '<axis xyz="0 0 1"/><mimic joint="a" multiplier="-1"/>'
        '<limit lower="-9" upper="9" velocity="1" effort="1"/></joint></robot>',
    )
    (tmp_path / "chained.urdf").write_text(chained)
    pose = PinocchioModel(tmp_path / "chained.urdf").link_poses(np.array([0.5, 0.0]), ["third"])[0, 0]
    assert pose[2, 3] == pytest.approx(-1.1)
