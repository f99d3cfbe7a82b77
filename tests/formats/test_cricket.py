"""Files for cricket, which makes VAMP's robots."""

from __future__ import annotations

import json

import numpy as np
import pytest

import elbowroom as er
from elbowroom import formats
from elbowroom.errors import InputError
from elbowroom.formats import ExportOptions


@pytest.fixture(scope="module")
def parts(load):
    robot = load("teaarm")
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    return robot, spheres, er.compute_pairs(robot, spheres, er.PairOptions(samples=200))


@pytest.mark.long
def test_the_three_files_hold_what_cricket_reads(parts, tmp_path):
    robot, spheres, pairs = parts
    notes = formats.write_cricket(tmp_path / "tea.json", robot=robot, spheres=spheres, pairs=pairs)
    data = json.loads((tmp_path / "tea.json").read_text())
    assert data["name"] == "Teaarm"
    assert data["resolution"] == 64
    assert data["end_effectors"][0] == data["end_effector"]
    assert set(data["end_effectors"]) <= set(robot.link_names)
    assert data["output"] == "tea_fk.hh"
    back = formats.read_urdf(tmp_path / data["urdf"], robot=robot).spheres
    for link in spheres.counts:
        np.testing.assert_allclose(back.link(link)[1], spheres.link(link)[1], rtol=1e-6)
    ignored = formats.read_srdf(tmp_path / data["srdf"], robot=robot).ignored
    assert set(ignored) == set(pairs.ignored) | set(pairs.by_meshes)  # spheres cannot decide the second
    assert all("\n" not in note for note in notes)


def test_locked_joints_and_tools_are_told(parts, tmp_path):
    robot, spheres, pairs = parts
    options = ExportOptions(tool_frames=("frame_left_arm_ee",), locked={"waist_yaw": 0.2})
    formats.write_cricket(tmp_path / "tea.json", robot=robot, spheres=spheres, pairs=pairs, options=options)
    data = json.loads((tmp_path / "tea.json").read_text())
    assert data["end_effectors"] == ["frame_left_arm_ee"]
    assert data["active_joints"] == [name for name in robot.joint_names if name != "waist_yaw"]
    assert data["default_configuration"] == {"waist_yaw": [0.2]}


def test_another_extension_is_refused(parts, tmp_path):
    robot, spheres, _ = parts
    with pytest.raises(InputError, match="cricket reads JSON"):
        formats.write_cricket(tmp_path / "tea.yml", robot=robot, spheres=spheres)
