"""xacro files: expanded when xacro or xacrodoc is there, refused with advice when not."""

from __future__ import annotations

import sys
import types
from xml.dom import minidom

import pytest

import elbowroom as er
from elbowroom.cli import main
from elbowroom.errors import DescriptionError, UnsafeFileError
from elbowroom.robot.descriptions import _urdf_elements

from .builders import LIMIT, extents, write, write_box_mesh

HEAD = '<?xml version="1.0"?><robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="made">'
MACRO = f"""{HEAD}<xacro:macro name="box" params="name size"><link name="${{name}}"><collision><geometry>
<box size="${{size}} ${{2 * size}} ${{3 * size}}"/></geometry></collision></link></xacro:macro></robot>"""
ROBOT = f"""{HEAD}<xacro:arg name="prefix" default="left"/><xacro:include filename="$(find pkg)/urdf/macro.xacro"/>
<xacro:box name="$(arg prefix)_base" size="0.5"/><link name="tip"><collision><geometry>
<mesh filename="package://pkg/meshes/box.stl"/></geometry></collision></link><joint name="j" type="revolute">
<parent link="$(arg prefix)_base"/><child link="tip"/>{LIMIT}</joint></robot>"""


@pytest.fixture
def package(tmp_path):
    write(tmp_path, "<package/>", "pkg/package.xml")
    write_box_mesh(tmp_path / "pkg/meshes/box.stl", (0.2, 0.3, 0.4))
    write(tmp_path, MACRO, "pkg/urdf/macro.xacro")
    write(tmp_path, ROBOT, "pkg/urdf/made.urdf.xacro")
    return tmp_path / "pkg"


@pytest.fixture
def no_xacro(monkeypatch):
    for name in ("xacro", "xacrodoc", "xacrodoc.xacrodoc"):
        monkeypatch.setitem(sys.modules, name, None)


class Standin(types.ModuleType):
    """As much of xacro as we call: it puts files in the place of includes, finds packages and fills in arguments."""

    def __init__(self):
        super().__init__("xacro")
        self.all_includes = []
        self.substitution_args = types.SimpleNamespace(_eval_find=self.no_ros)

    @staticmethod
    def no_ros(package):
        raise ModuleNotFoundError("No module named 'ament_index_python'")

    def process_file(self, name, mappings):
        with open(name) as file:
            document = minidom.parseString(file.read())
        for include in document.getElementsByTagName("xacro:include"):
            path = include.getAttribute("filename")
            if path.startswith("$(find "):
                package, _, rest = path[len("$(find ") :].partition(")")
                path = self.substitution_args._eval_find(package) + rest
            self.all_includes.append(path)
            with open(path) as file:
                for link in minidom.parseString(file.read()).getElementsByTagName("link"):
                    document.documentElement.appendChild(document.importNode(link, True))
            include.parentNode.removeChild(include)
        for element in document.getElementsByTagName("link"):
            element.setAttribute(
                "name", element.getAttribute("name").replace("$(arg name)", mappings.get("name", "?"))
            )
        print("when processing file", name, file=sys.stderr)
        return document


@pytest.fixture
def standin(monkeypatch, no_xacro):
    module = Standin()
    monkeypatch.setitem(sys.modules, "xacro", module)
    monkeypatch.setitem(sys.modules, "xacro.substitution_args", module.substitution_args)
    return module


def including(folder, filename, name="pkg/urdf/r.xacro"):
    return write(folder, f'{HEAD}<xacro:include filename="{filename}"/></robot>', name)


class TestStandin:
    """What is ours: which module is called, with what, and what is made of its answer."""

    def test_packages_are_found_as_for_meshes(self, package, standin, capsys):
        write(package.parent, f'{HEAD}<link name="$(arg name)"/></robot>', "pkg/urdf/inner.xacro")
        path = including(package.parent, "$(find pkg)/urdf/inner.xacro")
        assert er.load_robot(path, xacro_args={"name": "base"}, strict=True).link_names == ("base",)
        assert capsys.readouterr().err == ""
        assert standin.substitution_args._eval_find is standin.no_ros
        far = including(package.parent, "$(find pkg)/urdf/inner.xacro", "far/away/r.xacro")
        with pytest.raises(DescriptionError, match="package 'pkg' was not found; looked in .*--package-dirs"):
            er.load_robot(far)
        assert er.load_robot(far, package_dirs=[package]).dof == 0

    def test_files_elsewhere_are_not_included(self, package, standin):
        outside = write(package.parent, f'{HEAD}<link name="stolen"/></robot>', "outside/inner.xacro")
        path = including(package.parent, outside)
        with pytest.raises(UnsafeFileError, match="outside the description's own folder"):
            er.load_robot(path)
        assert er.load_robot(path, package_dirs=[outside.parent]).link_names == ("stolen",)

    def test_entities_never_reach_xacro(self, tmp_path, standin):
        bomb = (
            '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="r"><link name="&x;"/></robot>'
        )
        with pytest.raises(UnsafeFileError):
            er.load_robot(write(tmp_path, bomb, "r.xacro"))

    def test_what_xacro_raises_is_one_clear_error(self, tmp_path, standin, monkeypatch, capsys):
        def fail(name, mappings):
            raise NameError("name 'size' is not defined\nwhen evaluating expression")

        monkeypatch.setattr(standin, "process_file", fail)
        path = write(tmp_path, f'{HEAD}<link name="a"/></robot>', "r.xacro")
        assert main(["info", str(path)]) == 2
        said = capsys.readouterr().err
        assert "xacro cannot expand it: NameError: name 'size' is not defined" in said
        assert len(said.splitlines()) == 1

    def test_xacrodoc_serves_as_well(self, package, no_xacro, monkeypatch):
        inner = types.ModuleType("xacrodoc.xacrodoc")
        inner.xacro = Standin()
        monkeypatch.setitem(sys.modules, "xacrodoc", types.ModuleType("xacrodoc"))
        monkeypatch.setitem(sys.modules, "xacrodoc.xacrodoc", inner)
        path = write(package.parent, f'{HEAD}<link name="a"/></robot>', "pkg/urdf/r.xacro")
        assert er.load_robot(path).link_names == ("a",)

    def test_other_names_are_never_expanded(self, package, standin):
        path = including(package.parent, "inner.xacro", "pkg/urdf/r.urdf")
        with pytest.raises(DescriptionError, match="expand it first: xacro r.urdf > robot.urdf"):
            er.load_robot(path)

    def test_the_expanded_text_is_what_is_written_with_spheres(self, package, standin, tmp_path):
        shape = '<collision><geometry><sphere radius="1"/></geometry></collision>'
        write(package.parent, f'{HEAD}<link name="a">{shape}</link></robot>', "pkg/urdf/inner.xacro")
        robot = er.load_robot(including(package.parent, "$(find pkg)/urdf/inner.xacro"))
        er.formats.write(tmp_path / "balls.urdf", robot=robot, spheres=er.fit_spheres(robot))
        assert er.load_robot(tmp_path / "balls.urdf").link_names == ("a",)


def test_arguments_on_the_command_line(tmp_path, standin, capsys):
    path = write(tmp_path, f'{HEAD}<link name="$(arg name)"/></robot>', "r.xacro")
    assert main(["info", str(path), "--xacro-args", "name:=base", "other:=a:=b", "--json"]) == 0
    assert '"root": "base"' in capsys.readouterr().out
    assert main(["info", str(path), "--xacro-args", "name=base"]) == 2
    assert "expected name:=value, found 'name=base'" in capsys.readouterr().err


def test_without_xacro_the_message_says_what_to_do(package, no_xacro, capsys):
    assert main(["info", str(package / "urdf/made.urdf.xacro")]) == 2
    said = capsys.readouterr().err
    assert "pip install xacro" in said
    assert "xacro made.urdf.xacro > robot.urdf" in said


@pytest.mark.skipif(_urdf_elements._module() is None, reason="neither xacro nor xacrodoc is installed")
def test_the_real_xacro(package, capsys):
    robot = er.load_robot(package / "urdf/made.urdf.xacro", xacro_args={"prefix": "right"}, strict=True)
    assert robot.link_names == ("right_base", "tip")
    assert extents(robot, "right_base").tolist() == [0.5, 1.0, 1.5]
    assert robot.link_mesh("tip") is not None
    assert er.load_robot(package / "urdf/made.urdf.xacro").link_names[0] == "left_base"
    assert capsys.readouterr() == ("", "")
    far = write(package.parent, ROBOT, "far/away/r.xacro")
    with pytest.raises(
        DescriptionError, match=r"r.xacro: package 'pkg' was not found; looked in .*--package-dirs"
    ):
        er.load_robot(far)
    assert er.load_robot(far, package_dirs=[package]).dof == 1
    broken = write(package.parent, ROBOT.replace('size="0.5"', 'size="${ghost}"'), "pkg/urdf/broken.xacro")
    with pytest.raises(DescriptionError, match="xacro cannot expand it: .*ghost"):
        er.load_robot(broken)
