"""What is picked up leaves the world and moves with the robot; what is put down is the obstacle it was."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import trimesh

from elbowroom import mesh
from elbowroom.errors import InputError, UnknownLinkError, UnknownNameError
from elbowroom.pairs import PairReason
from elbowroom.world import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    MeshObstacle,
    PointCloud,
    SdfGrid,
    Sphere,
    World,
)
from tests.world.world_tools import at

GRASP = np.array([0.5, 0.0])
"""The cart from 0.45 to 0.55 along x, 0.05 from the cup."""


CUP = Box((0.1, 0.1, 0.1), pose=at(0.65), name="cup")
WALL = Box((0.1, 4.0, 1.0), pose=at(1.05), name="wall")
SHELF = Box((0.12, 0.12, 0.02), pose=at(0.65, 0.0, -0.06), name="shelf")


def test_a_cup_goes_along_and_comes_back(rails):
    model = rails().with_world(World([CUP, WALL]))
    held = model.pick_up("cup", "cart", GRASP)
    assert held.world.names == ("wall",)
    assert set(held.attachments) == {"cup"}
    np.testing.assert_allclose(held.attachments["cup"].pose, at(0.15), atol=1e-12)
    assert "holding cup, among 1 obstacle" in repr(held)
    assert model.free([0.75, 0.3])
    assert held.free([0.75, 0.3])  # the cup ends at 0.95, the wall begins at 1.0
    verdict = held.explain([0.82, 0.3])
    assert [clash.pair for clash in verdict.clashes] == [("cup", "wall")]
    assert verdict.clashes[0].distance == pytest.approx(-0.02, abs=1e-6)
    assert model.free([0.82, 0.3])  # the cart alone
    assert held.clearance([0.75, 0.3], exact=True) == pytest.approx(0.05, abs=1e-6)
    placed = held.put_down("cup", [0.3, 0.2])
    assert placed.attachments == {}
    np.testing.assert_allclose(placed.world["cup"].pose, at(0.45, 0.2), atol=1e-12)
    assert placed.world["cup"].size == CUP.size
    assert not placed.free([0.4, 0.2])
    assert placed.explain([0.4, 0.2]).clashes[0].pair == ("cart", "cup")
    back = held.put_down("cup", GRASP)
    cfgs = model.robot.random_cfgs(300, seed=0)
    np.testing.assert_allclose(back.world["cup"].pose, CUP.pose, atol=1e-12)
    np.testing.assert_array_equal(back.free(cfgs), model.free(cfgs))
    dropped = held.detach("cup")
    assert dropped.world.names == ("wall",)
    np.testing.assert_array_equal(dropped.free(cfgs), model.with_world(World([WALL])).free(cfgs))


def test_what_a_cup_rests_on_is_said_and_not_allowed_in_silence(rails):
    model = rails().with_world(World([CUP, SHELF]))
    assert model.free(GRASP)  # obstacles may touch each other
    held = model.pick_up("cup", "cart", GRASP)
    assert held.in_contact(GRASP) == (("cup", "shelf"),)
    assert 'allow=[("cup", "shelf")]' in str(held.explain(GRASP))
    resting = model.pick_up("cup", "cart", GRASP, allow=held.in_contact(GRASP))
    assert resting.free(GRASP)
    assert resting.explain(GRASP).allowed_touching == (("cup", "shelf"),)
    assert resting.put_down("cup", GRASP).allow == frozenset()  # the cup is no link any more
    assert resting.detach("cup").allow == frozenset()


def test_links_that_might_touch_the_cup_may_still_do_so(rails):
    close = CUP.at(at(0.13))  # in the post
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = rails().with_world(World([close, WALL]), allow=[("post", "cup"), ("cart", "wall")])
    held = model.pick_up("cup", "cart", [0.3, 0.0])
    assert held.pairs.reason("cup", "post") is PairReason.USER
    assert held.free([0.3, 0.0])
    assert held.allow == {("cart", "wall")}
    assert held.put_down("cup", [0.3, 0.0]).allow == model.allow


def test_fingers_that_put_down_still_touch(rails):
    """What holds an object is not allowed to touch it as an obstacle, until it is told."""
    touching = CUP.at(at(0.59))  # overlaps the cart by 0.01
    model = rails().with_world(World([touching]))
    held = model.pick_up("cup", "cart", GRASP)
    assert held.free(GRASP)
    placed = held.put_down("cup", GRASP)
    assert placed.in_contact(GRASP) == (("cart", "cup"),)
    assert held.put_down("cup", GRASP, allow=placed.in_contact(GRASP)).free(GRASP)


@pytest.mark.parametrize(
    "thing",
    [
        Sphere(0.05, pose=at(0.65), name="cup"),
        Cylinder(0.05, 0.1, pose=at(0.65), name="cup"),
        Capsule(0.05, 0.1, pose=at(0.65), name="cup"),
        MeshObstacle(trimesh.creation.box((0.1, 0.1, 0.1)), pose=at(0.65), name="cup"),
    ],
    ids=lambda thing: thing.kind,
)
def test_every_solid_can_be_carried(rails, thing):
    held = rails().with_world(World([thing, WALL])).pick_up("cup", "cart", GRASP)
    assert held.uncovered == ()
    # Curved shapes are carried by triangles around them, at most 1 % of the radius outside.
    assert held.clearance([0.75, 0.3], exact=True) == pytest.approx(0.05, abs=6e-4)
    assert held.clearance([0.75, 0.3], exact=True) <= 0.05 + 1e-9
    placed = held.put_down("cup", [0.3, 0.2]).world["cup"]
    assert type(placed) is type(thing)
    np.testing.assert_allclose(placed.bounds, thing.bounds + np.array([-0.2, 0.2, 0.0]), atol=1e-12)


@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        (mesh.Box((0.1, 0.2, 0.3)), Box),
        (mesh.Sphere(0.05), Sphere),
        (mesh.Capsule(0.05, 0.1), Capsule),
        (Cylinder(0.05, 0.1, name="other", pose=at(9.0)), Cylinder),
        (trimesh.creation.box((0.1, 0.1, 0.1)), MeshObstacle),
    ],
    ids=["box", "sphere", "capsule", "cylinder", "mesh"],
)
def test_what_was_attached_can_be_put_down(rails, shape, kind):
    held = rails().attach("tool", "cart", shape, at(0.0, 0.0, 0.3))
    placed = held.put_down("tool", GRASP)
    assert placed.world.names == ("tool",)
    assert type(placed.world["tool"]) is kind
    np.testing.assert_allclose(placed.world["tool"].pose, at(0.5, 0.0, 0.3), atol=1e-12)
    if kind is Box:
        assert placed.world["tool"].size == (0.1, 0.2, 0.3)


def test_what_cannot_be_carried_is_refused(rails):
    cloud = PointCloud(np.zeros((1, 3)), 0.05, pose=at(2.0), name="cloud")
    field = SdfGrid(np.ones((3, 3, 3)), 0.1, pose=at(2.0), name="field")
    model = rails().with_world(World([cloud, field, HalfSpace(offset=-2.0, name="floor"), CUP]))
    for name in ("cloud", "field", "floor"):
        with pytest.raises(InputError, match=f"{name}' cannot be picked up: only Box"):
            model.pick_up(name, "cart", GRASP)
    with pytest.raises(UnknownNameError, match="did you mean 'cup'"):
        model.pick_up("cap", "cart", GRASP)
    with pytest.raises(UnknownLinkError, match="cart"):
        model.pick_up("cup", "crt", GRASP)
    with pytest.raises(InputError, match="no world"):
        rails().pick_up("cup", "cart", GRASP)
    with pytest.raises(InputError, match="there are: none"):
        model.put_down("cup", GRASP)
    with pytest.raises(InputError, match="pick_up attaches"):
        model.attach("cup", "cart", mesh.Box((0.1, 0.1, 0.1)))
    with pytest.raises(UnknownNameError, match="no obstacle 'shelf'"):
        model.pick_up("cup", "cart", GRASP, allow=[("cup", "shelf")])
    held = model.pick_up("cup", "cart", GRASP)
    with pytest.raises(InputError, match="'cup' is held by rails"):
        held.with_world(World([CUP]))


def test_what_a_gripper_holds_meets_the_world_as_coal_sees_it(quick):
    pytest.importorskip("coal")
    pytest.importorskip("pinocchio")
    from tests.oracles import ShapeCoal
    from tests.world_oracles import CoalWorld

    world = World([
        Box((0.08, 0.12, 0.25), pose=at(0.45, 0.0, 0.6), name="parcel"),
        Box((0.5, 0.1, 0.5), pose=at(0.6, 0.3, 0.4), name="block"),
        Cylinder(0.1, 0.6, pose=at(0.5, -0.4, 0.4), name="pillar"),
        Sphere(0.15, pose=at(-0.4, 0.2, 0.8), name="lamp"),
    ])  # fmt: skip
    model = quick("panda").with_world(world)
    held = model.pick_up(
        "parcel", "panda_hand", model.default_cfg, touch_links=("panda_leftfinger", "panda_rightfinger")
    )
    rest = world.remove("parcel")
    cfgs = held.robot.random_cfgs(400, seed=1)
    alone = held.with_world(None).free(cfgs)
    measured = held.clearance(cfgs, exact=True)
    sure = np.abs(measured) > 1e-4
    expected = alone & CoalWorld(ShapeCoal(held.robot), rest).free(cfgs)
    np.testing.assert_array_equal(held.free(cfgs)[sure], expected[sure])
    without = model.with_world(rest).free(cfgs)
    assert (without & alone & ~expected).sum() >= 3  # what is held collides where the arm alone does not
    assert not (held.free(cfgs, by="spheres") & ~expected).any()


@pytest.mark.parametrize("z", [-0.31, -0.06, 0.07, 0.19, 0.33])
def test_what_just_touches_is_in_contact_wherever_it_stands(rails, z):
    """Boxes around things are rounded: they may be a hair apart where the things touch."""
    shelf = Box((0.12, 0.12, 0.05), pose=at(0.65, 0.0, z), name="shelf")
    cup = Box((0.07, 0.07, 0.12), pose=at(0.65, 0.0, z + 0.085), name="cup")
    model = rails().with_world(World([shelf, cup]))
    held = model.pick_up("cup", "cart", GRASP)
    assert held.in_contact(GRASP) == (() if held.free(GRASP) else (("cup", "shelf"),))
    assert model.pick_up("cup", "cart", GRASP, allow=held.in_contact(GRASP)).free(GRASP)


def test_what_is_held_is_not_an_obstacle_too(rails):
    world = World([CUP, WALL])
    held = rails().with_world(world).pick_up("cup", "cart", GRASP)
    with pytest.raises(InputError, match="'cup' is held by .* take it out of the world"):
        held.with_world(world)
    assert held.with_world(world.remove("cup")).world.names == ("wall",)
