"""CollisionModel among obstacles: known answers of a cart on rails, and Coal on a real arm.

Looks inside: measurements of gaps are counted, since only obstacles near by may be measured.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import trimesh

from elbowroom.collision import CollisionModel, _links, _outside
from elbowroom.collision._surroundings import Surroundings
from elbowroom.errors import ApproximationWarning, InputError, UnknownLinkError, UnknownNameError
from elbowroom.spheres import SphereModel
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

AWAY = np.array([0.5, 0.0])
"""The cart at x = 0.5: from 0.45 to 0.55 along x."""


def ball_field(radius: float, step: float = 0.02) -> SdfGrid:
    """The exact distance field of a ball around the origin, sampled."""
    axis = np.arange(-0.3, 0.3001, step)
    x, y, z = np.meshgrid(axis, axis, axis, indexing="ij")
    return SdfGrid(np.sqrt(x * x + y * y + z * z) - radius, step, (-0.3, -0.3, -0.3), name="thing")


BALL_MESH = trimesh.creation.icosphere(subdivisions=3, radius=0.1)
KINDS = [
    Box((0.2, 0.2, 0.2), name="thing"),
    Sphere(0.1, name="thing"),
    Cylinder(0.1, 0.3, name="thing"),
    Capsule(0.1, 0.3, name="thing"),
    HalfSpace((-1.0, 0.0, 0.0), 0.1, name="thing"),
    MeshObstacle(BALL_MESH, name="thing"),
    PointCloud(np.zeros((1, 3)), 0.1, name="thing"),
    ball_field(0.1),
]
"""Things that reach 0.1 towards -x from the origin of their frame."""
IDS = [thing.kind for thing in KINDS]


@pytest.mark.parametrize("thing", KINDS, ids=IDS)
def test_a_cart_comes_to_an_obstacle(rails, thing):
    """The cart's face at x = 0.55 against a thing whose nearest point is at x = 0.7, then 0.56, then 0.53."""
    model = rails()
    for place, gap in ((0.8, 0.15), (0.66, 0.01), (0.63, -0.02)):
        here = model.with_world(World([thing.at(at(place))]))
        verdict = here.explain(AWAY)
        assert verdict.free == here.free(AWAY) == (gap > 0.0)
        assert here.free(AWAY[None]).tolist() == [gap > 0.0]
        near = verdict.closest
        assert near is not None
        assert near.pair == ("cart", "thing")
        assert verdict.obstacles == {"thing"}
        np.testing.assert_allclose(near.point_b - near.point_a, near.distance * near.normal, atol=1e-9)
        if isinstance(thing, SdfGrid):  # distances over the slope, to 3 %; depths are those of a few points
            assert min(gap, 0.97 * gap / thing.slope) - 2e-3 < near.distance < max(gap, 0.0) + 1e-3
        else:
            rough = (
                2e-3 if isinstance(thing, MeshObstacle) else 5e-5 if gap < 0.0 else 1e-9
            )  # facets; a prism
            assert near.distance == pytest.approx(gap, abs=rough)
            np.testing.assert_allclose(near.normal, [1.0, 0.0, 0.0], atol=20.0 * rough)
        assert here.clearance(AWAY) <= here.clearance(AWAY, exact=True) + 1e-12
        assert (here.clearance(AWAY) > 0.0) == (gap > 0.0)
        assert here.clearance(AWAY, exact=True) == near.distance
        assert [clash.pair for clash in here.clashes(AWAY)] == ([] if gap > 0.0 else [("cart", "thing")])
        assert here.in_contact(AWAY) == (() if gap > 0.0 else (("cart", "thing"),))


def test_the_verdict_says_what_to_allow(rails):
    world = World([Box((0.2, 0.2, 0.2), pose=at(0.63), name="my box")])
    verdict = rails().with_world(world).explain(AWAY)
    assert 'allow=[("cart", "my box")]' in verdict.how_to_allow
    assert "--allow cart 'my box'" in verdict.how_to_allow
    assert "disable_collisions" not in verdict.how_to_allow
    assert "cart and my box overlap by 20.0 mm" in str(verdict)
    assert verdict.world_clashes == verdict.clashes
    allowed = rails().with_world(world, allow=[("my box", "cart")])  # either may be named first
    assert allowed.allow == {("cart", "my box")}
    verdict = allowed.explain(AWAY)
    assert verdict.free
    assert verdict.allowed_touching == (("cart", "my box"),)
    assert "touching here, and allowed to: cart and my box" in str(verdict)
    assert verdict.closest is not None
    assert verdict.closest.pair == ("cart", "post")
    assert allowed.free(AWAY, by="spheres")
    assert allowed.in_contact(AWAY) == ()


def test_links_and_obstacles_clash_in_one_verdict(rails):
    """The cart in the post and in a ball: one list, the deepest first, each with its own advice."""
    model = rails().with_world(World([Sphere(0.1, pose=at(0.26), name="ball")]))
    verdict = model.explain([0.12, 0.0])
    assert [clash.pair for clash in verdict.clashes] == [("cart", "post"), ("cart", "ball")]
    assert verdict.clashes[0].distance == pytest.approx(-0.03, abs=1e-6)
    assert verdict.clashes[1].distance == pytest.approx(-0.01, abs=1e-6)
    assert verdict.link_clashes + verdict.world_clashes == verdict.clashes
    assert '("cart", "ball")' in verdict.how_to_allow
    assert 'link1="cart" link2="post"' in verdict.how_to_allow


def test_a_buffer_is_asked_of_obstacles_too(rails):
    world = World([Sphere(0.1, pose=at(0.69), name="ball")])  # 0.04 from the cart
    model = rails(0.05).with_world(world)
    assert not model.free(AWAY)
    assert rails(0.03).with_world(world).free(AWAY)
    (clash,) = model.clashes(AWAY)
    assert clash.pair == ("cart", "ball")
    assert clash.distance == pytest.approx(0.04, abs=1e-9)
    assert model.in_contact(AWAY) == (("cart", "ball"),)


@pytest.mark.parametrize("first", ["pea", "wall"])
def test_what_is_apart_does_not_deepen_the_clearance(rails, first):
    """A pea is 5 mm in the cart; a wall askew is 1 mm from a corner of it, nearer than the corner's sphere ends."""
    away = 0.05 + (10.0 + 0.001) / np.sqrt(2.0)
    turned = [np.cos(np.pi / 8), 0.0, 0.0, np.sin(np.pi / 8)]
    things = {
        "pea": Sphere(0.01, pose=[1, 0, 0, 0, 0.6 - 0.055, 0.0, 0.0], name="pea"),
        "wall": Box((20.0, 20.0, 20.0), pose=[*turned, 0.6 + away, away, 0.0], name="wall"),
    }
    world = World([things.pop(first), *things.values()])
    cart = rails().with_world(world, allow=[("post", "wall")])
    assert cart.in_contact([0.6, 0.0]) == (("cart", "pea"),)
    assert -0.1 < cart.clearance([0.6, 0.0]) <= cart.clearance([0.6, 0.0], exact=True) < 0.0


def test_a_link_that_cannot_move_is_told_to_be_stuck_once(rails):
    world = World([Box((2.0, 2.0, 0.1), pose=at(0.0, 0.0, -0.15), name="table")])  # the post rests on it
    with pytest.warns(ApproximationWarning, match=r'no configuration is free.*allow=\[\("post", "table"\)\]'):
        model = rails().with_world(world)
    assert model.in_contact() == (("post", "table"),)
    assert not model.free(AWAY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        resting = rails().with_world(world, allow=model.in_contact())
    assert resting.free(AWAY)
    assert resting.with_world(world.move("table", at(0.0, 0.0, -0.15))).allow == {("post", "table")}
    assert resting.with_world(World([Sphere(0.1, pose=at(2.0), name="ball")])).allow == frozenset()
    assert resting.with_world(None).world is None
    assert resting.with_world(None).allow == frozenset()


def test_bad_worlds_and_allowances_are_refused(rails):
    model, world = rails(), World([Sphere(0.1, pose=at(0.8), name="ball")])
    for bad in (object(), [Sphere(0.1)], "scene.json"):
        with pytest.raises(InputError, match="expected a World"):
            model.with_world(bad)
        with pytest.raises(InputError, match="expected a World"):
            CollisionModel(model.robot, model.spheres, model.pairs, bad)
    with pytest.raises(InputError, match="'cart' names an obstacle and a link"):
        model.with_world(World([Sphere(0.1, name="cart")]))
    with pytest.raises(UnknownNameError, match="no obstacle 'bal'; did you mean 'ball'"):
        model.with_world(world, allow=[("cart", "bal")])
    with pytest.raises(UnknownLinkError, match="did you mean 'cart'"):
        model.with_world(world, allow=[("crt", "ball")])
    with pytest.raises(InputError, match="both links"):
        model.with_world(world, allow=[("cart", "post")])
    for bad in ("cart", [("cart",)], [("cart", "ball", "post")], ["ab"], 3, [(1, 2)]):
        with pytest.raises(InputError, match="expected pairs"):
            model.with_world(world, allow=bad)
    with pytest.raises(UnknownNameError, match="no obstacle 'ball'"):
        CollisionModel(model.robot, model.spheres, model.pairs, allow=[("cart", "ball")])


def test_empty_worlds_change_nothing(rails):
    model = rails()
    empty = model.with_world(World())
    assert empty.free(AWAY)
    assert empty.clearance(AWAY) == model.clearance(AWAY)
    assert empty.explain(AWAY).obstacles == frozenset()
    assert empty.in_contact(AWAY) == ()


def test_models_with_worlds_travel_and_say_what_they_hold(rails):
    world = World([Sphere(0.1, pose=at(0.63), name="ball"), HalfSpace(offset=-2.0, name="floor")])
    model = rails().with_world(world, allow=[("cart", "floor")])
    other = pickle.loads(pickle.dumps(model))
    cfgs = model.robot.random_cfgs(200, seed=0)
    np.testing.assert_array_equal(other.free(cfgs), model.free(cfgs))
    assert 0 < model.free(cfgs).sum() < len(cfgs)
    assert other.allow == model.allow
    assert other.explain(AWAY).clashes[0].pair == ("cart", "ball")
    assert "among 2 obstacles, 1 pair allowed to touch" in repr(model)


@pytest.mark.parametrize("x", [0.5, 2.5], ids=["within limits", "held far beyond"])
def test_what_is_made_of_the_robot_is_made_once_for_all_worlds(rails, monkeypatch, x):
    model, made = rails(), []
    reach = _outside.Outside._reach  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(_outside.Outside, "_reach", lambda self: made.append("reach") or reach(self))
    for where in (_links, _outside):
        pack = where.link_spheres
        monkeypatch.setattr(
            where, "link_spheres", lambda *given, pack=pack: made.append("spheres") or pack(*given)
        )
    cloud = PointCloud(np.zeros((1, 3)), 0.01, pose=at(0.0, 0.0, 3.0), name="cloud")
    first = model.with_world(World([cloud]))
    row = np.array([x, 0.0])
    assert first.free(row)  # a cloud is asked by a grid, which reaches as far as the robot
    assert "reach" in made
    made.clear()
    other = first.with_world(World([PointCloud(cloud.points, 0.02, pose=at(0.0, 0.0, 3.0), name="cloud")]))
    assert other.free(row)
    assert model.with_world(World([Sphere(0.1, pose=at(x), name="ball")])).free(row) is False
    assert made == []


def test_explain_measures_only_what_can_matter_of_many_obstacles(rails, monkeypatch):
    rng = np.random.default_rng(0)
    places = rng.uniform(-1.0, 1.0, (10_000, 3))
    world = World([Sphere(0.01, pose=at(*place)) for place in places])
    model = rails()
    with pytest.warns(ApproximationWarning, match="no configuration is free"):
        stuck = model.with_world(world)
    inside = rails().with_world(world, allow=stuck.in_contact())
    asked = []
    real = Surroundings._gap

    def counted(self, *args):
        asked.append(args)
        return real(self, *args)

    monkeypatch.setattr(Surroundings, "_gap", counted)
    found = inside.explain(np.array([0.9, 0.4]))
    centers = np.abs(places - [0.9, 0.4, 0.0])
    touching = np.flatnonzero(np.linalg.norm(np.maximum(centers - 0.05, 0.0), axis=1) <= 0.01)
    expected = {f"sphere_{k + 1}" if k else "sphere" for k in touching}
    assert {clash.b for clash in found.clashes if clash.a == "cart"} == expected
    assert len(asked) < len(inside.allow) + 4 * max(len(expected), 16)


def test_a_link_of_spheres_alone_is_measured_by_them(rails):
    model = rails()
    balls = {name: model.spheres.link(name) for name in model.spheres.counts}
    spheres = SphereModel.from_links(
        model.robot.link_names, {**balls, "bare": (np.array([[0.0, 0.0, 0.5]]), np.array([0.1]))}, robot_name="rails"
    )  # fmt: skip
    world = World([Box((0.2, 0.2, 0.2), pose=at(0.65, 0.0, 0.5), name="box")])
    here = CollisionModel(model.robot, spheres, world=world)
    verdict = here.explain(AWAY)
    assert not verdict.free
    assert verdict.by == "spheres"
    (clash,) = verdict.clashes
    assert clash.pair == ("bare", "box")
    assert clash.distance == pytest.approx(-0.05, abs=1e-9)
    np.testing.assert_allclose(clash.normal, [1.0, 0.0, 0.0], atol=1e-9)
    assert here.clearance([0.3, 0.0], exact=True) == pytest.approx(0.15, abs=1e-9)


def test_spheres_that_are_too_small_for_the_world_are_not_believed(rails):
    model = rails()
    thin = model.spheres.with_padding(world=-0.04)
    assert (thin.padded_radii("world") > 0.0).all()
    world = World([Sphere(0.1, pose=at(0.64, 0.04, 0.04), name="ball")])
    here = CollisionModel(model.robot, thin, model.pairs, world)
    assert not here.free(AWAY)
    assert not here.free(AWAY, by="spheres")
    wide = CollisionModel(model.robot, model.spheres.with_padding(world=0.2), model.pairs, world)
    assert wide.free([0.35, 0.0])
    assert not wide.free([0.35, 0.0], by="spheres")  # padding counts where spheres decide


def test_a_verdict_loads_nothing_heavy():
    code = (
        "import sys, numpy as np\n"
        "import elbowroom as er\n"
        "from elbowroom.collision.internal import one_ball_a_link\n"
        "from elbowroom.world import Box, World\n"
        "robot = er.load_robot('teaarm')\n"
        "model = er.CollisionModel(robot, one_ball_a_link(robot), world=World([Box((0.1, 0.1, 0.1), name='box')]))\n"
        "model.free(robot.default_cfg), model.explain(robot.default_cfg), model.clearance(robot.default_cfg)\n"
        "model.segment_free(robot.default_cfg, robot.default_cfg + 0.01)\n"
        "assert 'jax' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_every_link_and_obstacle_is_measured(rails):
    """The cart of 0.1 and the post of 0.2 before a wall at x = 0.8, half sunk into a floor at z = 0 that is allowed."""
    world = World([HalfSpace((-1.0, 0.0, 0.0), -0.8, name="wall"), HalfSpace(offset=0.0, name="floor")])
    model = rails().with_world(world, allow=[("cart", "floor"), ("post", "floor")])
    found = {(clash.a, clash.b): clash.distance for clash in model.obstacle_distances(AWAY)}
    assert list(found) == [("post", "floor"), ("cart", "floor"), ("cart", "wall"), ("post", "wall")]
    assert list(found.values()) == pytest.approx([-0.1, -0.05, 0.25, 0.7], abs=1e-9)
    assert rails().obstacle_distances(AWAY) == ()
