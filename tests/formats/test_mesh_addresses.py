"""A spherized URDF in another folder names every mesh so that its readers find it."""

from __future__ import annotations

import os
import shutil

import pytest
from lxml import etree

import elbowroom as er
from elbowroom import formats
from elbowroom.cli import main
from elbowroom.formats import ExportOptions
from elbowroom.mesh import TriangleMesh

URDF = """<robot name="dressed">
  <link name="base"><visual><geometry><mesh filename="package://looks/meshes/base.stl"/></geometry></visual>
    <collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
  <link name="arm"><visual><geometry><mesh filename="package://looks/meshes/arm.stl"/></geometry></visual>
    <collision><origin xyz="0 0 0.2"/><geometry><box size="0.06 0.06 0.4"/></geometry></collision></link>
  <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 0.1"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="1" effort="1"/></joint>
</robot>"""


@pytest.fixture
def places(tmp_path):
    """A description, a package elsewhere with its visual meshes alone, and a folder for the results."""
    meshes = tmp_path / "packages/looks/meshes"
    (tmp_path / "robots").mkdir()
    meshes.mkdir(parents=True)
    (tmp_path / "robots/dressed.urdf").write_text(URDF)
    cube = TriangleMesh.box((0.1, 0.1, 0.1))
    import trimesh

    for name in ("base", "arm"):
        trimesh.Trimesh(cube.vertices, cube.faces).export(meshes / f"{name}.stl")
    return tmp_path


def addresses(path):
    return [mesh.get("filename") for mesh in etree.parse(str(path)).iter("mesh")]


def test_visual_meshes_are_found_through_the_package_folders(places, monkeypatch):
    """Collision geometry says nothing of where the package is: it is boxes."""
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    robot = er.load_robot(places / "robots/dressed.urdf", package_dirs=[places / "packages"])
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    (places / "out").mkdir()
    notes = formats.write(places / "out/a.urdf", robot=robot, spheres=spheres)
    assert any("2 mesh paths were made absolute" in note for note in notes)
    assert not any("not found" in note for note in notes)
    monkeypatch.chdir("/")
    assert all(
        os.path.isfile(address.removeprefix("file://")) for address in addresses(places / "out/a.urdf")
    )
    back = er.load_robot(places / "out/a.urdf")  # without package folders
    assert all(len(back.link_visuals(link)) == 1 for link in ("base", "arm"))
    yourdfpy = pytest.importorskip("yourdfpy")
    drawn = yourdfpy.URDF.load(str(places / "out/a.urdf"))
    assert len(drawn.scene.geometry) == 2
    pin = pytest.importorskip("pinocchio")
    _, collision, visual = pin.buildModelsFromUrdf(str(places / "out/a.urdf"))
    assert [os.path.isfile(shape.meshPath) for shape in visual.geometryObjects] == [True, True]
    assert len(collision.geometryObjects) == len(spheres)


def test_relative_addresses_move_with_the_folders(places):
    robot = er.load_robot(places / "robots/dressed.urdf", package_dirs=[places / "packages"])
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    (places / "robots/out").mkdir()
    options = ExportOptions(paths="relative")
    formats.write(places / "robots/out/a.urdf", robot=robot, spheres=spheres, options=options)
    assert addresses(places / "robots/out/a.urdf") == [
        f"../../packages/looks/meshes/{n}.stl" for n in ("base", "arm")
    ]
    moved = places / "elsewhere"
    moved.mkdir()
    for name in ("robots", "packages"):
        shutil.move(places / name, moved / name)
    back = er.load_robot(moved / "robots/out/a.urdf", package_dirs=[moved / "packages"])
    assert all(len(back.link_visuals(link)) == 1 for link in ("base", "arm"))


def test_curobo_is_told_the_folder_of_the_packages(places):
    from ruamel.yaml import YAML

    robot = er.load_robot(places / "robots/dressed.urdf", package_dirs=[places / "packages"])
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    notes = formats.write(places / "a.yml", robot=robot, spheres=spheres)
    kinematics = YAML(typ="safe").load(places / "a.yml")["robot_cfg"]["kinematics"]
    assert kinematics["asset_root_path"] == str(places / "packages")
    assert not any("does not find" in note for note in notes)


def test_setup_s_files_are_used_from_another_folder(places, monkeypatch):
    """The command with `--package-dirs`, then its files with the working directory elsewhere."""
    urdf, packages, out = places / "robots/dressed.urdf", places / "packages", places / "files"
    monkeypatch.chdir(places)
    assert main(["setup", str(urdf), "--package-dirs", str(packages), "--out", str(out), "-n", "8"]) == 0
    monkeypatch.chdir("/")
    assert all(os.path.isfile(address.removeprefix("file://")) for address in addresses(out / "spheres.urdf"))
    assert main(["info", str(out / "spheres.urdf"), "--package-dirs", str(packages)]) == 0
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(out / "mujoco.xml"))
    assert model.nu == 1
    report = (out / "report.md").read_text()
    assert "states a mass for 2 links" in report
    assert {g.get("name") for g in etree.parse(str(out / "robot.srdf")).getroot().findall("group")} == {"arm"}
