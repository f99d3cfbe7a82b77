"""The judge of worlds, on answers known by hand."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

import elbowroom as er
from elbowroom.world import Box, Capsule, Cylinder, HalfSpace, MeshObstacle, Sphere, World
from tests.world.world_tools import at

from .oracles import ShapeCoal
from .world_oracles import CoalWorld, winding

URDF = """
<robot name="slide">
  <link name="base"/>
  <link name="ball"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <link name="block"><collision><geometry><mesh filename="block.obj"/></geometry></collision></link>
  <joint name="x" type="prismatic">
    <parent link="base"/><child link="ball"/><axis xyz="1 0 0"/>
    <limit lower="-5" upper="5" velocity="1" effort="1"/>
  </joint>
  <joint name="y" type="prismatic">
    <parent link="base"/><child link="block"/><axis xyz="0 1 0"/>
    <limit lower="-5" upper="5" velocity="1" effort="1"/>
  </joint>
</robot>
"""


@pytest.fixture
def slide(tmp_path) -> ShapeCoal:
    trimesh.creation.box((0.4, 0.4, 0.4)).export(tmp_path / "block.obj")
    (tmp_path / "slide.urdf").write_text(URDF)
    return ShapeCoal(er.load_robot(tmp_path / "slide.urdf"))


def hollow() -> trimesh.Trimesh:
    """A closed box of 1 m."""
    return trimesh.creation.box((1.0, 1.0, 1.0))


@pytest.mark.parametrize(
    ("obstacle", "gap"),
    [
        (Box((0.2, 0.2, 0.2), pose=at(1, 0), name="o"), 0.8),
        (Sphere(0.2, pose=at(1, 0), name="o"), 0.7),
        (Cylinder(0.2, 0.1, pose=at(1, 0), name="o"), 0.7),
        (Capsule(0.2, 0.1, pose=at(1, 0), name="o"), 0.7),
        (HalfSpace((-1.0, 0.0, 0.0), -1.0, name="o"), 0.9),
        (HalfSpace((-1.0, 0.0, 0.0), 0.0, pose=at(1, 0), name="o"), 0.9),
        (MeshObstacle(hollow(), pose=at(1, 0), name="o"), 0.4),
    ],
)
def test_every_shape_is_where_the_world_says(slide, obstacle, gap):
    judge = CoalWorld(slide, World([obstacle]))
    cfgs = np.array([[0.0, 3.0], [gap - 1e-4, 3.0], [gap + 1e-4, 3.0]])
    assert judge.free(cfgs).tolist() == [True, True, False]
    assert judge.distances(cfgs[0], [("ball", "o")])[0] == pytest.approx(gap, abs=1e-6)
    assert judge.clearance(cfgs[1], 1e-3) == pytest.approx(1e-4, abs=1e-6)
    assert judge.clearance(cfgs[0], 1e-3) == np.inf
    assert judge.hits(cfgs[2]) == [("ball", "o")]
    assert CoalWorld(slide, World([obstacle]), allow=[("ball", "o")]).free(cfgs).all()


def test_solids_contain(slide):
    cfg = np.array([[1.0, 3.0]])
    assert not CoalWorld(slide, World([MeshObstacle(hollow(), pose=at(1, 0))])).free(cfg)[
        0
    ]  # ball in a closed mesh
    assert not CoalWorld(slide, World([MeshObstacle(hollow(), pose=at(0, 3))])).free(cfg)[
        0
    ]  # mesh in a closed mesh
    assert not CoalWorld(slide, World([Sphere(0.02, pose=at(0.03, 3))])).free(cfg)[0]  # ball in a link's mesh
    small = MeshObstacle(trimesh.creation.icosphere(1, 0.02), pose=at(1.03, 0))
    assert not CoalWorld(slide, World([small])).free(cfg)[0]  # mesh in a link's ball
    assert not CoalWorld(slide, World([Box((1, 1, 1), pose=at(0, 3))])).free(cfg)[0]  # link's mesh in a box
    lid = hollow()
    lid.update_faces(np.arange(len(lid.faces)) > 1)
    with pytest.warns(er.errors.ApproximationWarning, match="not closed"):
        open_box = MeshObstacle(lid, pose=at(1, 0))
    assert CoalWorld(slide, World([open_box])).free(cfg)[0]  # an open one contains nothing


def test_windings_are_whole_numbers():
    ball = trimesh.creation.icosphere(2, 1.0)
    points = np.random.default_rng(0).uniform(-1.2, 1.2, (300, 3))
    around = np.array([winding(ball.triangles, point) for point in points])
    np.testing.assert_allclose(around, ball.contains(points), atol=1e-9)


def test_what_coal_cannot_tell_from_touching_is_told_apart(slide):
    """Its distance is zero up to about a micrometre; an overlap of ten is one."""
    world = World([Box((0.4, 0.4, 0.4), pose=at(0.0, 1.0, 0.0), name="wall")])
    judge = CoalWorld(slide, world)
    block = slide.shape_links.index("block")
    for gap, touching in ((1e-3, False), (5e-8, False), (-1e-5, True), (-1e-3, True)):
        poses, _ = judge._at(np.array([0.0, 0.6 - gap]), 0.1)
        assert (judge.decided_distance(poses, block, 0) <= 0.0) == touching


def test_what_coal_cannot_tell_from_touching_is_told_apart_for_links_too(slide):
    block, ball = slide.shape_links.index("block"), slide.shape_links.index("ball")
    for gap, touching in ((1e-3, False), (-1e-5, True)):
        (poses,) = slide.shape_poses(np.array([[0.3 + gap, 0.0]]))
        assert (slide.decided_distance(poses, ball, block) <= 0.0) == touching
        assert (slide.decided_distance(poses, block, ball) <= 0.0) == touching
