"""Descriptions where people have them: workspaces, links, `..`, packages inside, beside and elsewhere."""

from __future__ import annotations

import os
import shutil
import warnings
from pathlib import Path

import pytest

import elbowroom as er
from elbowroom.cli import main
from elbowroom.errors import ApproximationWarning, DescriptionError, MeshError, UnsafeFileError
from elbowroom.robot.internal import find_robot

from .builders import collision, link, robot_xml, write, write_box_mesh

BOX = "package://pkg/meshes/box.stl"


def urdf(address):
    return robot_xml(link("a", collision(f'<mesh filename="{address}"/>')))


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """A package in a workspace, and a folder beside it in which we stand."""
    write(tmp_path, "<package/>", "ws/src/pkg/package.xml")
    write_box_mesh(tmp_path / "ws/src/pkg/meshes/box.stl")
    write(tmp_path, urdf(BOX), "ws/src/pkg/urdf/r.urdf")
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


class TestPaths:
    @pytest.mark.parametrize(
        "path",
        [
            "../ws/src/pkg/urdf/r.urdf",
            "../here/../ws/src/pkg/urdf/../urdf/r.urdf",
            "./../ws/src/pkg/urdf/r.urdf",
        ],
    )
    def test_paths_with_dots(self, workspace, path, capsys):
        assert er.load_robot(path, strict=True).link_mesh("a") is not None
        assert main(["info", path]) == 0

    def test_a_path_through_a_link_climbs_as_the_system_does(self, workspace):
        (workspace / "here/link").symlink_to(workspace / "ws/src/pkg/urdf")
        assert er.load_robot("link/r.urdf").link_mesh("a") is not None
        assert er.load_robot("link/../urdf/r.urdf").link_mesh("a") is not None  # here/urdf does not exist

    def test_relative_meshes_beside_a_linked_folder(self, workspace):
        write(workspace, urdf("../meshes/box.stl"), "ws/src/pkg/urdf/r.urdf")
        assert er.load_robot("../ws/src/pkg/urdf/r.urdf").link_mesh("a") is not None
        (workspace / "here/urdf").symlink_to(workspace / "ws/src/pkg/urdf")
        assert er.load_robot("urdf/r.urdf").link_mesh("a") is not None

    @pytest.mark.parametrize("folder", ["../ws/src", "../ws/src/pkg", "../here/../ws/./src", "link"])
    def test_relative_package_folders(self, workspace, folder):
        (workspace / "here/link").symlink_to(workspace / "ws/src")
        path = write(workspace, urdf(BOX), "far/away/r.urdf")
        assert er.load_robot(path, package_dirs=[folder]).link_mesh("a") is not None
        assert main(["info", "../far/away/r.urdf", "--package-dirs", folder]) == 0

    def test_absolute_paths_and_file_addresses(self, workspace):
        inside = workspace / "ws/src/pkg/meshes/box.stl"
        outside = write_box_mesh(workspace / "outside/box.stl")
        for address in (str(inside), f"file://{inside}", f"file://{outside}"):
            path = write(workspace, urdf(address), "ws/src/pkg/urdf/r.urdf")
            assert er.load_robot(path, strict=True).link_mesh("a") is not None
        with pytest.raises(UnsafeFileError, match="--package-dirs"):
            er.load_robot(write(workspace, urdf(outside), "ws/src/pkg/urdf/r.urdf"))

    @pytest.mark.parametrize("address", ["../../../../outside/box.stl", "package://pkg/../../outside/box.stl",
                                         "package://pkg/meshes/link.stl", "meshes/../../link.stl"])  # fmt: skip
    def test_dots_and_links_open_no_other_folder(self, workspace, address):
        outside = write_box_mesh(workspace / "outside/box.stl")
        (workspace / "ws/src/pkg/meshes/link.stl").symlink_to(outside)
        (workspace / "ws/src/pkg/link.stl").symlink_to(outside)
        write(workspace, urdf(address), "ws/src/pkg/urdf/r.urdf")
        with pytest.raises((UnsafeFileError, MeshError), match="outside|leaves its package|may be read"):
            er.load_robot("../ws/src/pkg/urdf/r.urdf")


class TestPackages:
    def test_a_missing_package_names_folders_and_option(self, workspace, capsys):
        write(workspace, urdf("package://ghost/meshes/m.stl"), "ws/src/pkg/urdf/r.urdf")
        extra = workspace / "extra"
        extra.mkdir()
        assert main(["info", "../ws/src/pkg/urdf/r.urdf", "--package-dirs", "../extra"]) == 2
        said = capsys.readouterr().err
        for word in (
            "'ghost'",
            str(extra),
            str(workspace / "ws/src/pkg"),
            "--package-dirs",
            "ROS_PACKAGE_PATH",
        ):
            assert word in said

    def test_a_missing_file_of_a_known_package_names_the_place(self, workspace):
        write(workspace, urdf("package://pkg/meshes/ghost.stl"), "ws/src/pkg/urdf/r.urdf")
        with pytest.raises(MeshError, match=f"looked at {workspace / 'ws/src/pkg/meshes/ghost.stl'}"):
            er.load_robot("../ws/src/pkg/urdf/r.urdf")

    @pytest.mark.parametrize(
        ("variable", "folder"), [("ROS_PACKAGE_PATH", "ws/src"), ("AMENT_PREFIX_PATH", "install")]
    )
    def test_environment_of_ros(self, workspace, monkeypatch, variable, folder):
        shutil.copytree(workspace / "ws/src/pkg", workspace / "install/share/pkg")
        path = write(workspace, urdf(BOX), "far/away/r.urdf")
        with pytest.raises(MeshError, match="was not found"):
            er.load_robot(path)
        monkeypatch.setenv(variable, f"/no/such/folder:{workspace / folder}")
        assert er.load_robot(path, strict=True).link_mesh("a") is not None

    def test_a_sibling_package_is_read_when_it_is_named(self, workspace):
        shutil.copytree(workspace / "ws/src/pkg", workspace / "ws/src/other")
        path = write(workspace, urdf("package://other/meshes/box.stl"), "ws/src/pkg/urdf/r.urdf")
        with pytest.raises(UnsafeFileError, match="lies outside .*--package-dirs"):
            er.load_robot(path)
        assert er.load_robot(path, package_dirs=["../ws/src"], strict=True).link_mesh("a") is not None

    def test_gazebo_model_addresses(self, workspace):
        write(workspace, urdf(BOX.replace("package", "model")), "ws/src/pkg/urdf/r.urdf")
        assert er.load_robot("../ws/src/pkg/urdf/r.urdf", strict=True).link_mesh("a") is not None

    def test_a_package_under_another_name_is_found_and_said(self, workspace):
        write(workspace, urdf("package://original/some/pkg/meshes/box.stl"), "ws/src/pkg/urdf/r.urdf")
        with pytest.warns(
            ApproximationWarning, match="package 'original': not found; its files are taken from"
        ):
            robot = er.load_robot("../ws/src/pkg/urdf/r.urdf")
        assert robot.shapes["a"][0].source == str(workspace / "ws/src/pkg/meshes/box.stl")
        with pytest.raises(DescriptionError, match="strict"):
            er.load_robot("../ws/src/pkg/urdf/r.urdf", strict=True)

    @pytest.mark.parametrize(
        "address", ["package://pkg/meshes/BOX.STL", "../Meshes/Box.stl", "../meshes/box.STL"]
    )
    def test_names_in_another_case(self, workspace, address):
        write(workspace, urdf(address), "ws/src/pkg/urdf/r.urdf")
        with pytest.warns(ApproximationWarning, match="the file is spelled 'box.stl'"):
            assert er.load_robot("../ws/src/pkg/urdf/r.urdf").link_mesh("a") is not None
        write_box_mesh(workspace / "ws/src/pkg/meshes/bOX.stl")  # which of the two is meant?
        with pytest.raises(MeshError, match="was not found"):
            er.load_robot("../ws/src/pkg/urdf/r.urdf")

    def test_names_as_windows_writes_them(self, workspace):
        write(workspace, urdf(r" ..\meshes\box.stl "), "ws/src/pkg/urdf/r.urdf")
        assert er.load_robot("../ws/src/pkg/urdf/r.urdf").link_mesh("a") is not None


LAYOUTS = {
    "packages in a folder": ("", None),
    "in robots/": ("robots", None),
    "in example-robot-data/robots/": ("example-robot-data/robots", None),
    "file beside the packages": ("", "."),
    "file in a folder beside the packages": ("", "robots"),
}
"""Folder of the packages, and where the file is put if it does not stay in its own."""


class TestSeveralPackages:
    """b1-z1 has meshes of two packages, ur10 of one; both come without package.xml."""

    @pytest.mark.robots
    @pytest.mark.filterwarnings("ignore::elbowroom.errors.ApproximationWarning")
    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize(
        ("name", "packages"), [("ur10", ["ur_description"]), ("b1-z1", ["b1_description", "z1_description"])]
    )
    def test_copied_packages_are_found(self, workspace, name, packages, layout):
        original = find_robot(name).description
        folder, put = LAYOUTS[layout]
        for package in packages:
            shutil.copytree(original.parents[2] / package, workspace / "mine" / folder / package)
        path = workspace / "mine" / folder / packages[0] / "urdf" / original.name
        if put is not None:
            path = write(workspace / "mine", path.read_text(), f"{put}/{path.name}")
        robot = er.load_robot(path)
        sources = {
            Path(shape.source) for shapes in robot.shapes.values() for shape in shapes if shape.kind == "mesh"
        }
        assert all((workspace / "mine") in source.parents for source in sources)
        assert len(robot.mesh_links) == len(er.load_robot(name).mesh_links)

    @pytest.mark.parametrize("address", ["package://p/other/meshes/box.stl", "package://p/box.stl",
                                         "package://p/.hidden/meshes/box.stl", "../../other/meshes/box.stl",
                                         "package://p/far/meshes/box.stl", "package://p/papers/box.stl",
                                         "package://p/other/.git/box.stl"])  # fmt: skip
    def test_what_else_is_beside_stays_closed(self, workspace, address):
        """Only folders beside a package in the common form are reached, by package:// and without links elsewhere."""
        closed = ("mine", "mine/.hidden/meshes", "mine/other/.git", "mine/papers", "outside/meshes")
        for place in ("mine/other/meshes", *closed):
            write_box_mesh(workspace / place / "box.stl")
        (workspace / "mine/far").symlink_to(workspace / "outside")
        path = write(workspace, urdf(address), "mine/pkg/urdf/r.urdf")
        if address == "package://p/other/meshes/box.stl":
            with pytest.warns(ApproximationWarning, match="its files are taken from"):
                assert er.load_robot(path).link_mesh("a") is not None
            path = write(
                workspace, urdf(address), "mine/pkg/deep/folder/r.urdf"
            )  # not urdf/: no package known
        with pytest.raises((UnsafeFileError, MeshError), match="outside|was not found"):
            er.load_robot(path)

    @pytest.mark.parametrize(
        "place", ["home/Downloads", "home/Documents", "home/Documents/meshes", "home/pictures/meshes"]
    )
    def test_a_home_folder_is_no_folder_of_packages(self, workspace, monkeypatch, place):
        """~/Downloads/urdf/r.urdf reads what lies in ~/Downloads, and nothing beside it."""
        monkeypatch.setenv("HOME", str(workspace / "home"))
        write_box_mesh(workspace / place / "private.stl")
        address = f"package://p/{place.removeprefix('home/')}/private.stl"
        path = write(workspace, urdf(address), "home/Downloads/urdf/r.urdf")
        if place == "home/Downloads":  # the description's own package
            with pytest.warns(ApproximationWarning, match="its files are taken from"):
                assert er.load_robot(path).link_mesh("a") is not None
            return
        with pytest.raises((UnsafeFileError, MeshError), match="outside|was not found"):
            er.load_robot(path)

    @pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
    def test_a_folder_that_everybody_writes_to_is_no_folder_of_packages(self, workspace):
        """As /tmp/pkg/urdf/r.urdf and /tmp/other/meshes."""
        write_box_mesh(workspace / "mine/other/meshes/box.stl")
        path = write(workspace, urdf("package://p/other/meshes/box.stl"), "mine/pkg/urdf/r.urdf")
        (workspace / "mine").chmod(0o1777)
        with pytest.raises((UnsafeFileError, MeshError), match="outside|was not found"):
            er.load_robot(path)


@pytest.mark.robots
class TestKinova:
    """The workspace of the issue: a robot of example-robot-data, copied or linked, and `..` on the way to it."""

    @pytest.fixture
    def original(self):
        return find_robot("kinova").description.parent.parent

    def test_copied_into_a_workspace(self, workspace, original):
        shutil.copytree(original, workspace / "ws/kinova_description")
        with pytest.warns(ApproximationWarning, match="package 'example-robot-data': not found"):
            robot = er.load_robot("../ws/kinova_description/robots/kinova.urdf")
        assert len(robot.shapes) == 11
        assert all(str(workspace) in shape.source for shapes in robot.shapes.values() for shape in shapes)

    def test_linked_into_a_workspace(self, workspace, original):
        (workspace / "ws/kinova_description").symlink_to(original)
        assert len(er.load_robot("../ws/kinova_description/robots/kinova.urdf", strict=True).shapes) == 11

    def test_in_a_package_of_its_own_name(self, workspace, original):
        shutil.copytree(original, workspace / "ws/example-robot-data/robots/kinova_description")
        path = "../ws/example-robot-data/robots/kinova_description/robots/kinova.urdf"
        assert len(er.load_robot(path, strict=True).shapes) == 11
        alone = write(workspace, Path(path).read_text(), "alone/kinova.urdf")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert len(er.load_robot(alone, package_dirs=["../ws"]).shapes) == 11


class TestMjcf:
    BODY = '<worldbody><body name="a"><geom type="mesh" mesh="m"/></body></worldbody>'

    def scene(self, workspace, file="box.stl", folder="../meshes"):
        text = f'<mujoco><compiler meshdir="{folder}"/><asset><mesh name="m" file="{file}"/></asset>{self.BODY}</mujoco>'
        return write(workspace, text, "ws/src/pkg/mjcf/r.xml")

    def test_dots_and_links(self, workspace):
        self.scene(workspace)
        assert er.load_robot("../ws/src/pkg/mjcf/r.xml").link_mesh("a") is not None
        (workspace / "here/link").symlink_to(workspace / "ws/src/pkg/mjcf")
        for path in ("link/../mjcf/r.xml", "link/r.xml"):
            assert er.load_robot(path).link_mesh("a") is not None

    def test_a_missing_asset_names_the_folders(self, workspace):
        self.scene(workspace, "ghost.stl")
        with pytest.raises(
            DescriptionError, match=f"'ghost.stl' is not in .*{workspace / 'ws/src/pkg/meshes'}"
        ):
            er.load_robot("../ws/src/pkg/mjcf/r.xml")

    def test_a_namespace_hides_no_include(self, workspace):
        outside = write(workspace, "<mujoco/>", "outside/inc.xml")
        write(workspace, f'<mujoco><include file="{outside}"/></mujoco>', "ws/src/pkg/mjcf/inner.xml")
        text = f'<mujoco><include xmlns="hidden" file="inner.xml"/>{self.BODY}</mujoco>'
        path = write(workspace, text, "ws/src/pkg/mjcf/r.xml")
        with pytest.raises(UnsafeFileError, match="outside"):
            er.load_robot(path)
