"""Generated scenes: the same from the same seed, of every shape, neither empty nor impassable."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.errors import InputError
from elbowroom.world import SCENES, Box, HalfSpace, MeshObstacle, World, scene_for

KINDS = ("box", "sphere", "cylinder", "capsule", "half_space", "mesh")


@pytest.mark.parametrize("kind", SCENES)
def test_the_seed_decides(load, kind):
    robot = load("teaarm")
    first, again, other = (scene_for(robot, kind, seed) for seed in (3, 3, 4))
    assert first.names == again.names
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a.pose, b.pose)
        np.testing.assert_array_equal(a.bounds, b.bounds)
    assert len(first) >= 8
    assert not any(np.array_equal(a.pose, b.pose) for a in first for b in other if a.kind != "half_space")


def test_scenes_hold_every_shape(load):
    obstacles = [o for kind in SCENES for o in scene_for(load("teaarm"), kind)]
    assert {o.kind for o in obstacles} == set(KINDS)
    meshes = [o.mesh for o in obstacles if isinstance(o, MeshObstacle)]
    closed = [mesh for mesh in meshes if mesh.closed]
    assert len(closed) < len(meshes)  # a panel is open
    for mesh in closed:  # wound outward, so that its volume is positive
        a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
        assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() > 0.0


def test_things_stand_on_the_table_without_overlapping(load):
    world = scene_for(load("teaarm"), "table", 2)
    top = world["table_top"]
    assert isinstance(top, Box)
    height = top.pose[2, 3] + 0.5 * top.size[2]
    standing = [
        o for o in world if o.name.startswith("table_") and "top" not in o.name and "leg" not in o.name
    ]
    assert standing
    for thing in standing:
        low = thing.bounds[0, 2]
        assert height - 1e-9 <= low < height + 0.05
    floor = world["floor"]
    assert isinstance(floor, HalfSpace)
    assert world["table_leg_1"].bounds[0, 2] == pytest.approx(floor.pose[2, 3])


def test_scenes_follow_the_reach(load):
    def extent(world: World) -> float:
        return max(float(np.abs(o.bounds).max()) for o in world if o.kind != "half_space")

    hand, arm = (extent(scene_for(load(name), "boxes")) for name in ("rh56", "teaarm"))
    assert hand < 0.5 < arm < 3.0


@pytest.mark.parametrize("name", ["teaarm", "panda", "ur5", "baxter"])
def test_a_fair_share_is_free_and_the_default_pose_is(load, name):
    from ..oracles import oracle_of
    from ..world_oracles import CoalWorld

    robot = load(name)
    oracle = oracle_of(robot)
    cfgs = robot.random_cfgs(150, seed=1)
    for kind in SCENES:
        judge = CoalWorld(oracle, scene_for(robot, kind))
        assert 0.1 < judge.free(cfgs).mean() < 0.75, kind
        assert judge.free(robot.default_cfg[None])[0], judge.hits(robot.default_cfg)


def test_what_is_not_a_scene_is_refused(load):
    with pytest.raises(InputError, match="no kind of scene 'tabel'; did you mean 'table'"):
        scene_for(load("teaarm"), "tabel")
    with pytest.raises(InputError, match="seed"):
        scene_for(load("teaarm"), "table", -1)


def test_a_scene_is_for_a_robot(load):
    with pytest.raises(InputError, match="cannot load a robot from a int"):
        scene_for(3, "table")
    assert scene_for("teaarm", "table").names == scene_for(load("teaarm"), "table").names
