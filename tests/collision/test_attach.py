"""Attached objects are links of their own, seen against every other link."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom import mesh
from elbowroom.collision import CollisionModel
from elbowroom.errors import InputError, UnknownLinkError
from elbowroom.pairs import PairReason

BOX = mesh.Box((0.08, 0.12, 0.25))
FINGERS = ("panda_leftfinger", "panda_rightfinger")


@pytest.fixture(scope="module")
def holding(quick):
    """The panda with a box in its gripper."""
    pose = np.array([1.0, 0, 0, 0, 0, 0, 0.2])
    return quick("panda").attach("box", "panda_hand", BOX, pose, touch_links=FINGERS)


def test_a_box_in_the_gripper_is_seen_as_coal_sees_it(holding):
    pytest.importorskip("coal")
    pytest.importorskip("pinocchio")
    from tests.oracles import ShapeCoal

    oracle = ShapeCoal(holding.robot)
    rigid = ("panda_hand", "panda_link7")  # fixed to each other and to the box
    others = [link for link in holding.robot.mesh_links if link not in ("box", *rigid, *FINGERS)]
    pairs = [tuple(sorted(("box", link))) for link in others]
    assert set(pairs) <= set(holding.pairs.checked)
    cfgs = holding.robot.random_cfgs(1500, seed=0)
    bare = holding.detach("box").free(cfgs)
    hits = ~oracle.free(cfgs, pairs)
    assert (hits & bare).sum() > 10  # the box collides where the arm alone does not
    np.testing.assert_array_equal(holding.free(cfgs), bare & ~hits)
    assert not (holding.free(cfgs, by="spheres") & hits).any()


def test_its_pairs_have_reasons(holding):
    assert holding.pairs.reason("box", "panda_hand") is PairReason.ADJACENT
    assert holding.pairs.reason("box", FINGERS[0]) is PairReason.USER
    assert "attached" in holding.pairs.evidence("box", "panda_link5").text
    assert "box" in repr(holding)


def test_the_old_matrix_is_refused(quick, holding):
    with pytest.raises(InputError, match="description changed|box"):
        CollisionModel(holding.robot, holding.spheres, quick("panda").pairs)


def test_detach_gives_the_old_answers(quick, holding):
    plain = quick("panda")
    cfgs = plain.robot.random_cfgs(300, seed=1)
    np.testing.assert_array_equal(holding.detach("box").free(cfgs), plain.free(cfgs))
    two = holding.attach("ball", "panda_link0", mesh.Sphere(0.1), np.array([1.0, 0, 0, 0, -0.3, 0, 0.1]))
    assert set(two.attachments) == {"box", "ball"}
    assert set(two.detach("box").attachments) == {"ball"}
    np.testing.assert_array_equal(two.detach("ball").free(cfgs), holding.free(cfgs))


@pytest.mark.parametrize(
    "shape", [BOX, mesh.Sphere(0.05), mesh.Capsule(0.03, 0.1), mesh.TriangleMesh.box((0.1, 0.1, 0.1))]
)
def test_shapes_of_every_kind_are_covered(quick, shape):
    model = quick("panda").attach("thing", "panda_hand", shape, touch_links=FINGERS)
    assert er.prove_coverage(model.robot, model.spheres, measure=False).proved
    assert model.uncovered == ()


def test_bad_attachments_are_refused(quick, holding):
    model = quick("panda")
    with pytest.raises(UnknownLinkError, match="panda_hand"):
        model.attach("box", "panda_hnd", BOX)
    with pytest.raises(UnknownLinkError):
        model.attach("box", "panda_hand", BOX, touch_links=("finger",))
    with pytest.raises(InputError, match="name"):
        holding.attach("box", "panda_hand", BOX)
    with pytest.raises(InputError, match="Trimesh"):
        model.attach("box", "panda_hand", 0.1)
    with pytest.raises(InputError, match="pose"):
        model.attach("box", "panda_hand", BOX, np.full(7, np.nan))
    with pytest.raises(InputError, match="there are: box"):
        holding.detach("cup")


def test_on_a_moving_frame_without_geometry_the_link_before_it_is_seen(tmp_path):
    """Links joined by one joint may touch, but an object on the far side of a joint is not part of the near link."""
    path = tmp_path / "arm.urdf"
    path.write_text(
        """<robot name="arm"><link name="base"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
        <link name="frame"/><joint name="j" type="prismatic"><parent link="base"/><child link="frame"/>
        <axis xyz="1 0 0"/><limit lower="0" upper="1" velocity="1" effort="1"/></joint></robot>"""
    )
    robot = er.load_robot(path)
    model = CollisionModel(robot, er.fit_spheres(robot)).attach("cup", "frame", mesh.Box((0.1, 0.1, 0.1)))
    assert model.free([[0.0], [0.1], [0.2], [0.9]]).tolist() == [False, False, True, True]
    assert model.segment_free([0.2], [1.0])
    assert not model.segment_free([0.0], [1.0])
