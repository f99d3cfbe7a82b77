"""Where verdicts are easily wrong: absurd values, bare contact, foreign matrices, objects that change hands."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import trimesh

import elbowroom as er
from elbowroom import mesh
from elbowroom.collision import CollisionModel
from elbowroom.errors import InputError

TURNING = """<robot name="turning">
  <link name="base"><collision><origin xyz="0 0 0"/><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <link name="arm"><collision><origin xyz="0.3 0 0"/><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  <link name="hand"><collision><origin xyz="0.25 0 0"/><geometry><box size="0.2 0.1 0.1"/></geometry></collision></link>
  <joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint>
  <joint name="k" type="continuous"><parent link="arm"/><child link="hand"/><origin xyz="0.3 0 0"/><axis xyz="0 0 1"/></joint>
</robot>"""
SLIDING = """<robot name="sliding">
  <link name="base"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <link name="bare"/>
  <link name="cart"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <joint name="j" type="prismatic"><parent link="base"/><child link="bare"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.04" velocity="1" effort="1"/></joint>
  <joint name="m" type="prismatic"><parent link="bare"/><child link="cart"/><axis xyz="0 1 0"/>
    <mimic joint="j" multiplier="-30"/><limit lower="0" upper="0.04" velocity="1" effort="1"/></joint>
</robot>"""


@pytest.fixture
def turning(tmp_path):
    path = tmp_path / "turning.urdf"
    path.write_text(TURNING)
    return CollisionModel(er.load_robot(path))


@pytest.mark.parametrize(
    ("begin", "end"), [((-1e308, 0), (1e308, 0)), ((3.4e16, 0), (3.4e16 + 8, 0)), ((0, 0), (2e5, 0))]
)
def test_segments_of_values_that_free_refuses_are_refused(turning, begin, end):
    with pytest.raises(InputError, match="beyond 100000"):
        turning.segment_free(begin, end)


def test_a_whole_turn_is_seen(turning):
    assert ("base", "hand") in turning.pairs.checked
    assert not turning.free([0.0, np.pi])
    assert not turning.segment_free([0.0, 0.0], [0.0, 2 * np.pi])
    assert turning.segment_free([0.0, 0.0], [60.0, 0.0])


def test_a_follower_beyond_its_own_limits_is_no_error(tmp_path):
    path = tmp_path / "sliding.urdf"
    path.write_text(SLIDING)
    robot = er.load_robot(path)
    spheres = er.fit_spheres(robot)
    model = CollisionModel(
        robot, spheres, er.compute_pairs(robot, spheres, er.PairOptions(check=[("base", "cart")]))
    )
    assert model.free([[0.0], [0.04]]).tolist() == [False, True]
    assert not model.segment_free([0.0], [0.04])
    assert model.segment_free([0.01], [0.04])


def test_bare_contact_has_one_answer_everywhere(turning):
    """Boxes that just touch: every question agrees that they do, and none raises."""
    low, high = 0.0, np.pi
    for _ in range(60):  # the angle at which the hand first touches the base
        middle = 0.5 * (low + high)
        low, high = (middle, high) if turning.free([0.0, middle]) else (low, middle)
    for angle in (low, high, *np.nextafter(high, [0, 4]), *(high + np.linspace(-1e-13, 1e-13, 41))):
        cfg = np.array([0.3, angle])
        free, verdict = turning.free(cfg), turning.explain(cfg)
        assert verdict.free == free
        assert bool(verdict.clashes) == bool(turning.clashes(cfg)) == (not free)
        assert (turning.clearance(cfg) > 0) == free
        assert (turning.clearance(cfg, exact=True) > 0) == free or abs(
            turning.clearance(cfg, exact=True)
        ) < 1e-9


def test_a_matrix_that_does_not_know_a_link_is_refused(quick):
    model = quick("panda")
    held = model.attach("box", "panda_link0", mesh.Box((0.1, 0.1, 0.1)), np.array([1.0, 0, 0, 0, 0.5, 0, 0]))
    with pytest.raises(InputError, match="nothing of box"):
        CollisionModel(held.robot, held.spheres, replace(model.pairs, made_for=None))


def test_pairs_of_spheres_that_do_not_cover_say_what_to_do(quick):
    model = quick("teaarm")
    small = replace(model.spheres, radii=0.8 * model.spheres.radii)
    pairs = er.compute_pairs(model.robot, small, er.PairOptions(samples=200, proof_boxes=10))
    with pytest.raises(InputError, match=r"do not cover .* leave `pairs` out"):
        CollisionModel(model.robot, small, pairs)


@pytest.mark.long
def test_padding_that_eats_spheres_costs_time_not_truth(quick):
    model = quick("teaarm")
    eaten = model.spheres.with_padding(self_collision={"left_arm_l3": -1.0})
    cfgs = model.robot.random_cfgs(500, seed=21)
    doubted = CollisionModel(model.robot, eaten)
    assert doubted.uncovered == ("left_arm_l3",)
    np.testing.assert_array_equal(doubted.free(cfgs), model.free(cfgs))


def test_attached_objects_are_copies_and_carry_each_other(quick):
    shape, pose = trimesh.creation.box((0.1, 0.1, 0.1)), np.eye(4)
    pose[0, 3] = 0.6
    one = quick("panda").attach("tray", "panda_link0", shape, pose)
    two = one.attach("cup", "tray", mesh.Sphere(0.05), touch_links=("panda_link1",))
    third = two.attach("lid", "panda_link0", mesh.Box((0.05, 0.05, 0.05)), pose, touch_links=("cup",))
    cfgs = one.robot.random_cfgs(300, seed=22)
    before = one.free(cfgs)
    shape.apply_translation([5, 0, 0])
    pose[0, 3] = 7.0
    with pytest.raises(InputError, match="carries cup"):
        two.detach("tray")
    np.testing.assert_array_equal(two.detach("cup").free(cfgs), before)
    assert third.detach("cup").attachments["lid"].touch_links == ()
