"""Files in between do not change the verdict."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom import formats
from elbowroom.collision import CollisionModel


@pytest.mark.parametrize("name", ["panda without SRDF", "ur5", "teaarm"])
@pytest.mark.parametrize("extension", ["srdf", "json", "yaml"])
def test_pairs_through_a_file_give_the_same_answers(quick, tmp_path, name, extension):
    model = quick(name)
    path = tmp_path / f"pairs.{extension}"
    spheres = model.spheres if extension == "yaml" else None  # cuRobo's files are about spheres
    formats.write(path, robot=model.robot, spheres=spheres, pairs=model.pairs)
    back = formats.read(path, robot=model.robot).pairs
    assert back.checked == model.pairs.checked
    cfgs = model.robot.random_cfgs(10_000, seed=12)
    again = CollisionModel(model.robot, model.spheres, back)
    np.testing.assert_array_equal(again.free(cfgs), model.free(cfgs))
    assert not (again.free(cfgs, by="spheres") & ~model.free(cfgs)).any()


@pytest.mark.parametrize("name", ["panda without SRDF", "ur5", "teaarm"])
@pytest.mark.parametrize("extension", ["json", "srdf", "urdf", "xml", "xrdf", "yaml"])
def test_whatever_a_format_holds_gives_the_same_answers(quick, tmp_path, name, extension):
    """Spheres and pairs; URDF holds no pairs, so they are the model's own."""
    model = quick(name)
    path = tmp_path / f"model.{extension}"
    formats.write(path, robot=model.robot, spheres=model.spheres, pairs=model.pairs)
    back = formats.read(path, robot=model.robot)
    assert back.spheres is not None
    assert (back.pairs is None) == (extension == "urdf")
    if back.pairs is not None:
        assert back.pairs.checked == model.pairs.checked
    again = CollisionModel(model.robot, back.spheres, back.pairs or model.pairs)
    assert again.uncovered == model.uncovered
    cfgs = model.robot.random_cfgs(10_000, seed=14)
    np.testing.assert_array_equal(again.free(cfgs), model.free(cfgs))
    assert not (again.free(cfgs, by="spheres") & ~model.free(cfgs)).any()


@pytest.mark.parametrize("name", ["panda without SRDF", "ur5"])
def test_a_robot_loaded_with_our_srdf_gives_the_same_answers(quick, tmp_path, name):
    """What we computed and wrote comes back as computed, not as somebody's word."""
    import elbowroom as er
    from elbowroom.robot import catalogue

    model = quick(name)
    path = tmp_path / "ours.srdf"
    model.pairs.write(path)
    entry = next(entry for entry in catalogue() if entry.name == name.removesuffix(" without SRDF"))
    robot = er.load_robot(entry.description, srdf=path, package_dirs=entry.package_dirs)
    again = CollisionModel(robot, model.spheres)
    cfgs = robot.random_cfgs(10_000, seed=13)
    np.testing.assert_array_equal(again.free(cfgs), model.free(cfgs))
    assert again.pairs.counts() == model.pairs.counts()
    np.testing.assert_array_equal(again.default_cfg, model.default_cfg)
