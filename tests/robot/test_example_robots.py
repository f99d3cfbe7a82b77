"""Every URDF and SRDF file of example-robot-data, known by name or not: what Pinocchio loads, loads here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import elbowroom as er
from elbowroom.errors import ApproximationWarning, DescriptionError
from elbowroom.robot.descriptions._catalogue import example_robots_dir
from elbowroom.robot.internal import find_robot

pytest.importorskip("pinocchio")
sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import example_robots

pytestmark = pytest.mark.robots


def test_every_urdf_that_pinocchio_loads():
    rows = list(example_robots.urdfs(example_robots_dir(), meshes=False))
    assert len(rows) >= 69
    assert [row.path.name for row in rows if row.loads != row.pinocchio] == []
    refused = {row.path.name: row.text for row in rows if not row.loads}
    refused.pop("falcon.urdf", None)  # before example-robot-data 6.0 it names a link that is not there
    assert refused == {"ur3.urdf": "it has no link"}  # nothing but a header, as xacro left it
    assert [row.path.stem for row in rows if row.loads and row.text] == ["alex_psyonic_hands"]


def test_every_srdf_that_pinocchio_loads():
    rows = list(example_robots.srdfs(example_robots_dir()))
    assert len(rows) >= 38
    assert [row.path.name for row in rows if not row.loads] == ["cassie_v2.srdf"]  # its robot is an SDF file
    assert [row.path.name for row in rows if row.pinocchio and not row.loads] == []


def test_mimics_of_joints_that_do_not_exist():
    with pytest.warns(
        ApproximationWarning, match="mended: Left_index_q2: it mimics 'index_q1', which does not exist"
    ):
        robot = er.load_robot("alex_psyonic_hands")
    assert len(robot.mended) == 8
    assert "Left_index_q2" in robot.joint_names
    with pytest.raises(DescriptionError, match="strict.*Left_index_q2.*; 7 more"):
        er.load_robot(find_robot("alex_psyonic_hands").description, strict=True)
