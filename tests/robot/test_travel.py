"""Robots go through pickle, copies, joblib and JAX."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import joblib
import numpy as np
import pytest

import elbowroom as er

COPIES = {"pickle": lambda value: pickle.loads(pickle.dumps(value)), "deepcopy": copy.deepcopy}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", ["teaarm", "rh56", "panda", "talos"])
def test_a_robot_arrives_as_it_was(load, name, way):
    robot = load(name)
    cfgs = robot.random_cfgs(5, seed=1)
    np.asarray(robot.forward_kinematics(cfgs))  # a compiled function that stays behind
    twin = COPIES[way](robot)
    np.testing.assert_array_equal(twin.link_poses(cfgs), robot.link_poses(cfgs))
    np.testing.assert_array_equal(
        np.asarray(twin.forward_kinematics(cfgs)), np.asarray(robot.forward_kinematics(cfgs))
    )
    assert twin.named_cfgs.keys() == robot.named_cfgs.keys()
    assert twin.disabled_pairs == robot.disabled_pairs
    assert repr(twin) == repr(robot)
    for link in robot.mesh_links[:3]:
        np.testing.assert_array_equal(twin.link_mesh(link).triangles, robot.link_mesh(link).triangles)
    for array in (twin.lower, twin.default_cfg, twin.tree.parent, twin.tree.shift, *twin.named_cfgs.values()):
        assert not array.flags.writeable


def test_meshes_that_were_read_travel_along(tmp_path):
    file = tmp_path / "block.stl"
    import trimesh

    trimesh.creation.box((1, 2, 3)).export(file)
    (tmp_path / "one.urdf").write_text(
        '<robot name="one"><link name="base"><collision><geometry><mesh filename="block.stl"/></geometry></collision></link></robot>'
    )
    robot = er.load_robot(tmp_path / "one.urdf")
    extents = robot.link_mesh("base").extents
    sent = pickle.dumps(robot)
    file.unlink()
    np.testing.assert_array_equal(pickle.loads(sent).link_mesh("base").extents, extents)


def _reach(robot: er.Robot, cfg: np.ndarray) -> np.ndarray:
    return robot.link_poses(cfg)


def test_joblib_takes_a_robot_to_another_process(load):
    robot = load("teaarm")
    cfgs = robot.random_cfgs(2, seed=2)
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(_reach)(robot, cfg) for cfg in cfgs)
    np.testing.assert_array_equal(np.array(found), robot.link_poses(cfgs))


def test_spheres_travel(model):
    spheres = model("teaarm")[1]
    for way in COPIES.values():
        twin = way(spheres)
        np.testing.assert_array_equal(twin.centers, spheres.centers)
        assert not twin.centers.flags.writeable
        assert dict(twin.evidence) == dict(spheres.evidence)


JIT = """
{first}
import sys
robot = elbowroom.load_robot("teaarm")
assert {jax_loaded} == ("jax" in sys.modules)
import jax
import numpy as np
found = jax.jit(lambda robot, cfg: robot.forward_kinematics(cfg))(robot, robot.default_cfg)
np.testing.assert_allclose(found, robot.link_poses(robot.default_cfg), atol=1e-5)
assert jax.tree_util.tree_leaves(robot) == []
"""


@pytest.mark.parametrize("order", ["elbowroom first", "jax first"])
def test_a_robot_is_an_argument_of_jit_whichever_is_imported_first(order):
    first = "import elbowroom" if order == "elbowroom first" else "import jax, elbowroom"
    code = JIT.format(first=first, jax_loaded=order == "jax first")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
