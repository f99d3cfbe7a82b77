"""The judge of motions must find what is wrong with them; it is asked about ways whose contacts are known by hand."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.plan import Curve
from elbowroom.world import Box, HalfSpace, Sphere, World

from .motion_limits import beyond_limits
from .plan_oracles import Held, PathJudge
from .world.world_tools import at

# A cart of 0.2 that slides in x and lifts in z, beside a post whose near face is at x = 0.9.
URDF = """
<robot name="cart">
  <link name="base"><collision><origin xyz="1 0 0"/><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <link name="rail"/>
  <link name="cart"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <joint name="x" type="prismatic">
    <parent link="base"/><child link="rail"/><axis xyz="1 0 0"/><limit lower="-2" upper="2" velocity="1" effort="1"/>
  </joint>
  <joint name="z" type="prismatic">
    <parent link="rail"/><child link="cart"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/>
  </joint>
</robot>
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> er.CollisionModel:
    path = tmp_path_factory.mktemp("cart") / "cart.urdf"
    path.write_text(URDF)
    return er.CollisionModel(er.load_robot(path))


def test_the_first_contact_of_a_way_is_found_within_a_millimetre(model):
    judge = PathJudge(model)
    over = [[0.0, 0.0], [0.0, 0.3], [2.0, 0.3], [2.0, 0.0]]
    assert judge.free(over)
    assert judge.faults(over, ["x", "z"], (over[0], over[-1])) == []
    found = judge.first_touch([[0.0, 0.3], [0.0, 0.0], [2.0, 0.0]])
    assert found is not None
    assert {found.a, found.b} == {"base", "cart"}
    assert 1.4 <= found.place <= 1.4 + 0.5 * 1.1e-3  # x = 0.8, seen a millimetre later at the latest
    assert judge.free([[0.0, 0.2002], [2.0, 0.2002]])
    assert not judge.free([[0.0, 0.1998], [2.0, 0.1998]])


def test_a_brush_that_waypoints_do_not_see(model):
    assert PathJudge(model).free([[0.0, 0.0], [0.0, 0.3]])
    assert not PathJudge(model).free([[0.0, 0.0], [1.99, 0.0]])  # free at both ends


def test_a_curve_is_judged_off_its_chords(model):
    judge = PathJudge(model)
    line = Curve.polyline([[0.0, 0.25], [2.0, 0.25]])
    assert judge.free(line)
    sagging = np.array(line.pieces)
    sagging[0, 1:3, 1] = 0.15  # down to 0.175 in the middle of a chord at 0.25
    assert not judge.free(Curve(sagging, line.knots, line.stops))


def test_obstacles_and_what_is_inside_them(model):
    wall = World([HalfSpace((0, 0, 1), -0.5, name="floor"), Sphere(0.1, pose=at(-1.0, 0, 0), name="ball")])
    judge = PathJudge(model, wall)
    found = judge.first_touch([[0.0, 0.0], [0.0, -1.0]])
    assert found is not None
    assert found.b == "floor"
    assert found.cfg[1] == pytest.approx(-0.4, abs=1.1e-3)
    found = judge.first_touch([[0.0, 0.0], [-1.6, 0.0]])
    assert found is not None
    assert found.b == "ball"
    assert found.cfg[0] == pytest.approx(-0.8, abs=1.1e-3)
    assert judge.free([[0.0, 0.0], [-0.79, 0.0], [-0.79, 0.3]])


def test_a_held_object_touches_obstacles_and_links_but_not_its_own(model):
    stick = Held("stick", "cart", Box((0.6, 0.02, 0.02)), at(0.3, 0, 0))
    world = World([Box((0.1, 1, 1), pose=at(-1, 0, 0), name="wall")])
    found = PathJudge(model, world, [stick]).first_touch([[0.0, 0.0], [0.5, 0.0]])
    assert found is not None
    assert {found.a, found.b} == {"base", "stick"}
    assert found.cfg[0] == pytest.approx(0.3, abs=1.1e-3)
    loose = Held("stick", "cart", Box((0.6, 0.02, 0.02)), at(-0.3, 0, 0))
    found = PathJudge(model, world, [loose]).first_touch([[0.0, 0.0], [-0.5, 0.0]])
    assert found is not None
    assert (found.a, found.b) == ("stick", "wall")
    assert found.cfg[0] == pytest.approx(-0.35, abs=1.1e-3)
    may = Held("stick", "cart", Box((0.6, 0.02, 0.02)), at(0.3, 0, 0), touch_links=("base",))
    assert PathJudge(model, None, [may]).free([[0.0, 0.0], [0.5, 0.0]])


def test_limits_ends_and_joints_that_should_stay(model):
    judge = PathJudge(model)
    assert "limits -1 to 1" in judge.faults([[0.0, 0.5], [0.0, 1.001]])[0]
    assert "is held" in judge.faults([[0.0, 0.5], [0.1, 0.6]], ["z"])[0]
    assert "ends 0.1 from" in judge.faults([[0.0, 0.5], [0.0, 0.6]], None, ([0.0, 0.5], [0.0, 0.7]))[0]
    assert "not a path" in judge.faults([[0.0, 0.5], [np.nan, 0.6]])[0]


class Swing:
    """From rest to rest over one radian: speed up to 1, acceleration up to 2, jerk up to 4."""

    duration = float(np.pi / 2)

    def at(self, t: np.ndarray, derivative: int = 0) -> np.ndarray:
        phase = 2.0 * np.asarray(t)[:, None]
        if derivative:
            return np.sin(phase)
        return 0.5 * (1.0 - np.cos(phase))


def test_limits_of_a_motion_by_differences():
    swing = Swing()
    assert beyond_limits(swing, [1.0], [2.0], [4.0]) == []
    assert "velocity of joint 0: 1.01" in beyond_limits(swing, [0.99], [2.0], [4.0])[0]
    assert "acceleration of joint 0: 1.01" in beyond_limits(swing, [1.0], [1.98], [4.0])[0]
    assert "jerk of joint 0: 1.01" in beyond_limits(swing, [1.0], [2.0], [3.96])[0]
    short = Swing()
    short.duration = 1.0
    assert "not at rest" in beyond_limits(short, [1.0], [2.0])[0]
