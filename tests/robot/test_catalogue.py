"""Robots known by name."""

from __future__ import annotations

import sys
import types

import pytest

import elbowroom as er
from elbowroom.errors import ElbowroomError, MissingExtraError, UnknownRobotError
from elbowroom.robot.descriptions import _catalogue

from .builders import link, robot_xml, write


def test_bundled_robots_come_first_and_load():
    names = [entry.name for entry in er.catalogue()]
    assert names[:2] == ["teaarm", "rh56"]
    assert len(names) == len(set(names))


@pytest.mark.robots
def test_every_example_robot_loads(load):
    entries = [entry for entry in er.catalogue() if entry.origin == "example-robot-data"]
    assert len(entries) >= 50
    for entry in entries:
        robot = load(entry.name)
        assert robot.dof > 0 or entry.name in ("hector", "iris")
        assert len(robot.link_poses(robot.default_cfg)) == len(robot.link_names)


def test_unknown_names_suggest_the_nearest():
    with pytest.raises(UnknownRobotError, match="did you mean 'teaarm'"):
        er.load_robot("teaam")


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(_catalogue, "example_robots_dir", lambda: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'elbowroom\[robots\]'"):
        er.load_robot("panda")
    assert all(entry.origin != "example-robot-data" for entry in er.catalogue())


def test_robot_descriptions_are_loaded_by_their_own_module(tmp_path, monkeypatch):
    path = write(tmp_path, robot_xml(link("a")), "pkg/made.urdf")
    module = types.ModuleType("robot_descriptions.made_description")
    module.URDF_PATH, module.PACKAGE_PATH, module.REPOSITORY_PATH = str(path), str(path.parent), str(tmp_path)
    monkeypatch.setitem(sys.modules, "robot_descriptions.made_description", module)
    monkeypatch.setattr(_catalogue, "_description_names", lambda: ("made_description",))
    assert er.load_robot("made_description").link_names == ("a",)
    del module.URDF_PATH
    with pytest.raises(ElbowroomError, match="neither URDF, MJCF nor xacro"):
        er.load_robot("made_description")


def test_a_failed_download_is_one_clear_error(monkeypatch):
    def fail(name):
        raise RuntimeError("Cmd('git') failed\n  stderr: no network")

    monkeypatch.setattr(_catalogue, "_description_names", lambda: ("far_description",))
    monkeypatch.setattr(_catalogue.importlib, "import_module", fail)
    with pytest.raises(ElbowroomError, match="could not fetch 'far_description'.*no network"):
        er.load_robot("far_description")
