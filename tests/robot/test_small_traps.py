"""Descriptions that are easily written wrong: ranges the wrong way round, lengths in millimetres."""

from __future__ import annotations

import subprocess
import sys
import warnings

import mujoco
import pytest

import elbowroom as er
from elbowroom.errors import ApproximationWarning, DescriptionError

from .builders import collision, joint, link, robot_xml, write, write_box_mesh

ARM = """<mujoco model="arm">
  <worldbody>
    <body name="base">
      <geom type="box" size=".1 .1 .1"/>
      <body name="arm" pos="0 0 .3">
        <joint name="turn" axis="0 0 1" RANGE/>
        <geom type="box" size=".1 .1 .1"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def arm(folder, range_text, name="arm.xml"):
    return write(folder, ARM.replace("RANGE", range_text), name)


@pytest.mark.parametrize("limited", ["", 'limited="auto"', 'limited="true"'])
def test_a_range_the_wrong_way_round_is_refused_with_its_line(tmp_path, limited):
    with pytest.raises(DescriptionError) as caught:
        er.load_robot(arm(tmp_path, f'{limited} range="90 -90"'))
    said = str(caught.value)
    assert "arm.xml: line 6: <joint name='turn'>" in said
    assert "range='90 -90'" in said
    assert 'range="-90 90"' in said, "what to write instead"


def test_so_is_one_in_an_included_file_or_a_default(tmp_path):
    write(tmp_path, '<mujoco>\n<default>\n<joint range="1 -1"/></default></mujoco>', "defaults.xml")
    text = ARM.replace("RANGE", "").replace("<worldbody>", '<include file="defaults.xml"/><worldbody>')
    with pytest.raises(DescriptionError, match=r"defaults.xml: line 3: <joint>: range='1 -1'"):
        er.load_robot(write(tmp_path, text, "arm.xml"))


def test_ranges_in_order_and_those_not_in_force_are_fine(tmp_path):
    compiled = '<compiler angle="radian"/><worldbody>'
    path = write(tmp_path, ARM.replace("RANGE", 'range="-1 2"').replace("<worldbody>", compiled), "arm.xml")
    robot = er.load_robot(path)
    assert (robot.lower.tolist(), robot.upper.tolist()) == ([-1.0], [2.0])
    with pytest.warns(ApproximationWarning, match="not in force; it is read as a joint without limits"):
        robot = er.load_robot(arm(tmp_path, 'limited="false" range="90 -90"'))
    assert robot.joint("turn").type == "continuous"


def test_a_compiled_model_has_no_lines_but_it_is_said(tmp_path):
    model = mujoco.MjModel.from_xml_path(str(arm(tmp_path, 'range="90 -90"')))
    with pytest.warns(ApproximationWarning, match="turn: its range is the wrong way round"):
        er.load_robot(model)


def test_a_mesh_in_millimetres_is_asked_about_once(tmp_path):
    write_box_mesh(tmp_path / "forearm.stl", (200, 50, 50))
    mesh = collision('<mesh filename="forearm.stl"/>')
    robot = er.load_robot(write(tmp_path, robot_xml(link("a", mesh), link("b", mesh), joint("j", "a", "b"))))
    with pytest.warns(ApproximationWarning) as caught:
        er.fit_spheres(robot, er.FitOptions(n_spheres=2))
    (said,) = [str(warning.message) for warning in caught]
    assert said == (
        "made: link 'a' is 200 m long. Is its mesh 'forearm.stl' in millimetres? It is read as metres; "
        'scale="0.001 0.001 0.001" on its <mesh> element makes it 0.2 m'
    )
    scaled = collision('<mesh filename="forearm.stl" scale="0.001 0.001 0.001"/>')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mended = er.load_robot(write(tmp_path, robot_xml(link("a", scaled)), "scaled.urdf")).link_mesh("a")
    assert mended.extents.tolist() == pytest.approx([0.2, 0.05, 0.05])


def test_every_step_that_reads_meshes_asks(tmp_path):
    path = write(tmp_path, robot_xml(link("a", collision('<box size="200 1 1"/>'))))
    with pytest.warns(ApproximationWarning, match="Are the lengths of the description in millimetres"):
        er.fit_spheres(er.load_robot(path))
    command = [sys.executable, "-m", "elbowroom", "info", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr.count("in millimetres?") == 1


def test_large_machines_are_left_alone(tmp_path):
    robot = er.load_robot(write(tmp_path, robot_xml(link("rail", collision('<box size="15 1 1"/>')))))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert robot.link_mesh("rail").extents.max() == pytest.approx(15.0)
