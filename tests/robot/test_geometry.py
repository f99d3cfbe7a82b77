"""Robots with visual geometry only, in whole or in part: nothing is said of nothing, and the remedy is named."""

from __future__ import annotations

import json

import numpy as np
import pytest

import elbowroom as er
from elbowroom.cli import main
from elbowroom.errors import ApproximationWarning, InputError
from elbowroom.robot.internal import require_geometry, unseen_links

from .builders import collision, joint, link, robot_xml, write

BOX = '<box size="0.1 0.1 0.1"/>'
VISUAL = collision(BOX).replace("collision", "visual")
JOINTS = joint("j", "a", "b"), joint("k", "b", "c")


@pytest.fixture
def seen(tmp_path):
    """Three links that can be seen; no check sees them."""
    return write(tmp_path, robot_xml(link("a", VISUAL), link("b", VISUAL), link("c"), *JOINTS), "seen.urdf")


@pytest.fixture
def part(tmp_path):
    """One link that checks see, one that they do not, and a frame."""
    return write(
        tmp_path, robot_xml(link("a", VISUAL), link("b", collision(BOX)), link("c"), *JOINTS), "part.urdf"
    )


def test_a_robot_that_can_only_be_seen_is_refused_with_advice(seen):
    robot = er.load_robot(seen)
    assert robot.visual_only == ("a", "b")
    spheres = er.SphereModel.from_links(
        robot.link_names, {"a": (np.zeros((1, 3)), np.ones(1))}, robot_name=robot.name
    )
    for work in (
        lambda: er.fit_spheres(robot),
        lambda: er.fit_spheres(robot, er.FitOptions(method="centerline")),
        lambda: er.prove_coverage(robot, spheres),
        lambda: er.CollisionModel(robot),
        lambda: er.CollisionModel(robot, spheres),
        lambda: er.build_multi_sphere_collision(robot),
        lambda: require_geometry(robot),
    ):
        with pytest.raises(InputError, match=r"no link has collision geometry.* 2 of 3 links .*--use-visual"):
            work()


def test_visual_geometry_is_taken_on_demand(seen):
    with pytest.warns(ApproximationWarning, match="its visual geometry is used"):
        robot = er.load_robot(seen, use_visual=True)
    assert robot.visual_only == ()
    assert set(robot.shapes) == {"a", "b"}
    assert er.prove_coverage(robot, er.fit_spheres(robot)).proved


def test_a_robot_without_any_geometry(tmp_path):
    robot = er.load_robot(write(tmp_path, robot_xml(link("a"))))
    with pytest.raises(InputError, match="no visual geometry to take instead either"):
        er.fit_spheres(robot)
    assert unseen_links(robot) is None


@pytest.mark.parametrize(
    "arguments", [["spheres"], ["spheres", "--method", "centerline"], ["check"], ["pairs"]]
)
def test_verbs_offer_visual_geometry(seen, capsys, arguments):
    verb, *options = arguments
    assert main([verb, str(seen), *options]) == 2
    captured = capsys.readouterr()
    assert "proved" not in captured.out
    assert "no link has collision geometry" in captured.err
    assert "--use-visual" in captured.err


def test_links_that_no_check_sees_are_named(part, capsys):
    robot = er.load_robot(part)
    assert unseen_links(robot).startswith("1 link has visual geometry only and no check sees it (a); ")
    for verb in ("info", "spheres", "check"):
        assert main([verb, str(part)]) == 0
        said = capsys.readouterr()
        assert "1 link has visual geometry only and no check sees it (a)" in said.out + said.err
    assert main(["info", str(part), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["visual_only"] == ["a"]


def test_mjcf_geoms_that_collide_with_nothing(tmp_path):
    text = """<mujoco><worldbody><geom type="plane" size="1 1 1" contype="0" conaffinity="0"/><body name="a">
      <geom size="0.1" contype="0" conaffinity="0"/><body name="b"><geom size="0.1"/></body></body></worldbody></mujoco>"""
    robot = er.load_robot(write(tmp_path, text, "r.xml"))
    assert robot.visual_only == ("a",)
    bare = text.replace('<geom size="0.1"/>', '<geom size="0.1" contype="0" conaffinity="0"/>')
    with pytest.raises(InputError, match="2 of 2 links have visual geometry.*--use-visual"):
        er.fit_spheres(er.load_robot(write(tmp_path, bare, "r.xml")))


@pytest.mark.parametrize(("name", "links"), [("human", 16), ("asr_twodof", 3)])
def test_robots_of_example_robot_data(load, name, links):
    robot = load(name)
    assert not robot.shapes
    with pytest.raises(InputError, match=f"{links} of .* links have visual geometry"):
        er.CollisionModel(robot)
