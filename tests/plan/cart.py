"""A cart that slides in a plane among boxes: motion that plain arithmetic can judge."""

from __future__ import annotations

import itertools
import warnings
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import elbowroom as er
from elbowroom.world import Box, World

HALF = 0.05
"""Half the edge of the cart."""
SPEED = 1.0
CART = """<robot name="cart">
  <link name="ground"/><link name="rail"/><link name="lift"/>
  <link name="cart"><collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  <joint name="x" type="prismatic"><parent link="ground"/><child link="rail"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
  <joint name="y" type="prismatic"><parent link="rail"/><child link="lift"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
  <joint name="z" type="prismatic"><parent link="lift"/><child link="cart"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="0.04" velocity="1" effort="1"/></joint>
</robot>"""
PLANE = ("x", "y")
"""The joints that tests let move; z is held."""
LEFT, RIGHT = np.array([-0.6, 0.0, 0.0]), np.array([0.6, 0.0, 0.0])


@cache
def cart() -> er.CollisionModel:
    """The cart alone."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "cart.urdf"
        path.write_text(CART)
        robot = er.load_robot(path)
        spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
        return er.CollisionModel(robot, spheres, er.compute_pairs(robot, spheres))


ROOTED = """<robot name="rooted">
  <link name="post"><collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  <link name="flag"><collision><origin xyz="0 0 2"/><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  <joint name="turn" type="revolute"><parent link="post"/><child link="flag"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
</robot>"""


def rooted(world: World) -> er.CollisionModel:
    """A post that no joint moves, and a flag high above it that turns."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rooted.urdf"
        path.write_text(ROOTED)
        robot = er.load_robot(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that nothing is free is what tests ask about
        return er.CollisionModel(
            robot, er.fit_spheres(robot, er.FitOptions(method="centerline")), world=world
        )


def block(name: str, x: tuple[float, float], y: tuple[float, float]) -> Box:
    """A box of a metre's height over an area."""
    return Box((x[1] - x[0], y[1] - y[0], 1.0), pose=[1, 0, 0, 0, sum(x) / 2, sum(y) / 2, 0.0], name=name)


@cache
def wall(gap: float = 0.3) -> er.CollisionModel:
    """The cart and a wall across the plane at x = 0, open for so much at y = 0.6; 0 closes it."""
    boxes = [block("below", (-0.05, 0.05), (-2.0, 0.6 - gap / 2))]
    if gap:
        boxes.append(block("above", (-0.05, 0.05), (0.6 + gap / 2, 2.0)))
    else:
        boxes = [block("wall", (-0.05, 0.05), (-2.0, 2.0))]
    return cart().with_world(World(boxes))


def clear(world: World, cfgs: np.ndarray) -> np.ndarray:
    """Distance (n,) of the cart from boxes that are not turned, along the axis that parts them most; arithmetic."""
    found = np.full(len(cfgs), np.inf)
    for box in world:
        centre, half = box.pose[:2, 3], np.array(box.size[:2]) / 2
        found = np.minimum(found, (np.abs(cfgs[:, :2] - centre) - half - HALF).max(axis=1))
    return found


def along(path: np.ndarray, step: float = 0.0005) -> np.ndarray:
    """Configurations on the straight lines of a path, closer than a step."""
    rows = [path[:1]]
    for a, b in itertools.pairwise(path):
        count = max(1, int(np.ceil(np.abs(b - a).max() / step)))
        rows.append(a + (b - a) * (np.arange(1, count + 1) / count)[:, None])
    return np.concatenate(rows)
