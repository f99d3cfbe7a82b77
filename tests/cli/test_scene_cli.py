"""Scenes on the command line: check among obstacles, convert, info."""

from __future__ import annotations

import json

import numpy as np
import pytest

from elbowroom.cli import main
from elbowroom.cli._options import arguments_of, parse
from elbowroom.world import Box, HalfSpace, MeshObstacle, World

from ..world.scene_files import SHELF, everything, put
from .test_bad_inputs import WITNESSES

pytestmark = pytest.mark.filterwarnings("ignore::elbowroom.errors.ApproximationWarning")
QUICK = ["--method", "centerline"]


def at(x, y, z):
    return [1, 0, 0, 0, x, y, z]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An arm of two cubes of 1 m: b at the origin, c at (3, 0, 0), turning about its own z axis."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.urdf").write_bytes(WITNESSES["arm.urdf"])
    return tmp_path


def report_of(capsys, *arguments):
    capsys.readouterr()
    code = main(["check", "arm.urdf", *QUICK, "--json", *arguments])
    return code, json.loads(capsys.readouterr().out)


def test_the_obstacle_is_named_and_may_be_allowed(folder, capsys):
    table = Box((1, 1, 0.2), pose=at(3, 0, 0.55), name="table")
    World([table, HalfSpace(offset=-2.0, name="floor")]).write("cell.json")
    code, report = report_of(capsys, "--scene", "cell.json", "--cfg", "0")
    assert code == 1
    assert (report["scene"], report["obstacles"], report["allowed"]) == ("cell.json", 2, [])
    (clash,) = report["listed"][0]["clashes"]
    assert (clash["a"], clash["b"]) == ("c", "table")
    assert clash["distance"] == pytest.approx(-0.05, abs=1e-6)
    assert main(["check", "arm.urdf", *QUICK, "--scene", "cell.json", "--cfg", "0"]) == 1
    text = capsys.readouterr().out
    assert "among 2 obstacles of cell.json" in text
    assert "c and table overlap by 50.0 mm" in text
    assert "--allow c table" in text
    code, report = report_of(capsys, "--scene", "cell.json", "--cfg", "0", "--allow", "c", "table")
    assert code == 0
    assert report["allowed"] == [["c", "table"]]
    assert report["listed"][0]["allowed_touching"] == [["c", "table"]]
    assert report_of(capsys, "--scene", "cell.json", "--cfg", "0", "--allow", "table", "c")[0] == code


def test_what_the_verdict_says_to_write_works(folder, capsys):
    names = ["a table", "b's"]
    World(
        [Box((1, 1, 0.2), pose=at(3, 0, 0.55 * sign), name=n) for sign, n in zip((1, -1), names, strict=True)]
    ).write("cell.json")
    given = ["check", "arm.urdf", *QUICK, "--scene", "cell.json", "--cfg", "0"]
    assert main(given) == 1
    import shlex

    said = capsys.readouterr().out.split("on the command line ")[1].split("\n")[0]
    assert main([*given, *shlex.split(said)]) == 0


def test_random_configurations_and_notes(folder, capsys):
    put(folder, "cell.yaml", SHELF)
    code, report = report_of(capsys, "--scene", "cell.yaml", "--random", "50")
    assert code == 0
    assert any("'base_link'" in note for note in report["notes"])
    assert main(["check", "arm.urdf", *QUICK, "--scene", "cell.yaml", "--random", "5"]) == 0
    out, err = capsys.readouterr()
    assert "note: the frame 'base_link' of 2 objects is treated as the world frame" in out
    assert "warning" not in err


def squares_meet(x, half, angle, post, post_half):
    """Whether a turned square at (x, 0) and an upright one at (post, 0) share a point: four separating axes."""
    c, s = np.cos(angle), np.sin(angle)
    gap = np.array([post - x, 0.0])
    for axis in np.array([(1, 0), (0, 1), (c, s), (-s, c)]):
        reach = half * (abs(axis @ (c, s)) + abs(axis @ (-s, c))) + post_half * np.abs(axis).sum()
        if abs(axis @ gap) > reach:
            return False
    return True


def test_a_motion_is_audited_among_obstacles(folder, capsys):
    """A corner of the turning cube reaches x = 3.707; the post starts at 3.65."""
    World([Box((0.2, 0.2, 0.2), pose=at(3.75, 0, 0), name="post")]).write("cell.json")
    put(folder, "turn.csv", "time,j\n" + "".join(f"{k / 10},{0.0785 * k}\n" for k in range(11)))
    given = ["--scene", "cell.json", "--trajectory", "turn.csv"]
    code, report = report_of(capsys, *given)
    assert code == 1
    assert report["obstacles"] == 1
    (clash,) = report["worst_contact"]["clashes"]
    assert (clash["a"], clash["b"]) == ("c", "post")
    touching = [squares_meet(3.0, 0.5, 0.0785 * k, 3.75, 0.1) for k in range(11)]
    assert [not free for free in report["rows_free"]] == touching
    assert touching[0] is False
    assert touching[-1] is True
    assert main(["check", "arm.urdf", *QUICK, *given]) == 1
    assert "post" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--scene", "cell.yaml", "--allow", "ghost", "Can1"], "--allow: no link 'ghost'; there are: b, c"),
        (
            ["--scene", "cell.yaml", "--allow", "c", "Can2"],
            "--allow: no obstacle 'Can2'; did you mean 'Can1'?",
        ),
        (["--scene", "cell.yaml", "--allow", "c"], "allow"),
        (["--allow", "c", "Can1"], "--allow has no effect here: no obstacles are given; --scene gives them"),
        (["--scene", "ghost.yaml"], "ghost.yaml: there is no such file"),
        (["--scene", "arm.urdf"], "arm.urdf: expected a scene of obstacles .*, found a URDF"),
        (["--scene", "links.yaml"], "'c'"),
        (["--pairs", "cell.yaml"], "found a scene of obstacles"),
    ],
)
def test_wrong_use(folder, capsys, words, expected):
    put(folder, "cell.yaml", SHELF)
    put(folder, "links.yaml", SHELF.replace("Can1", "c"))
    assert main(["check", "arm.urdf", *QUICK, *words]) == 2
    err = " ".join(capsys.readouterr().err.split())
    import re

    assert re.search(expected, err), err


def test_options_that_take_several_may_be_given_again():
    from elbowroom.cli import _check

    words = [
        "arm",
        "--allow",
        "a",
        "b",
        "--scene",
        "x",
        "--allow",
        "c",
        "d",
        "--ignore",
        "e",
        "f",
        "--ignore",
        "g",
        "h",
    ]
    found = parse(_check, [*words, "--cfg", "-1", "2", "--cfg", "-3"], "elbowroom check")
    assert found.allow == (("a", "b"), ("c", "d"))
    assert found.settings.ignore == (("e", "f"), ("g", "h"))
    assert found.cfg == (-1.0, 2.0, -3.0)
    assert {"scene", "allow"} <= {argument.name for argument in arguments_of(_check.Options)}


def test_scenes_are_converted_both_ways(folder, capsys):
    put(folder, "cell.yaml", SHELF)
    assert main(["convert", "cell.yaml", "cell.json"]) == 0
    assert "cell.yaml -> cell.json: 2 obstacles" in capsys.readouterr().out
    assert main(["convert", "cell.json", "back.yml", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["to"], report["obstacles"], report["not_written"]) == ("moveit", 2, [])
    assert World.read("back.yml").names == World.read("cell.yaml").names
    everything().write("all.json")
    assert main(["convert", "all.json", "/dev/stdout", "--target-format", "moveit"]) == 0
    out, err = capsys.readouterr()
    assert "sdf_grid 'field' is left out" in err + out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["cell.yaml", "a.xrdf"], "the format '' of a scene is not known"),
        (["cell.yaml", "a.json", "--robot", "teaarm"], "--robot has no effect here"),
        (["cell.yaml", "a.json", "--pairs", "b.json"], "--pairs has no effect here"),
        (["cell.yaml", "arm.urdf", "--target-format", "json"], "holds a URDF"),
        (["spheres.json", "cell.yaml"], "cell.yaml"),
        (["cell.yaml", "spheres.json"], "holds spheres as JSON"),
    ],
)
def test_conversions_that_are_refused(folder, capsys, words, expected):
    put(folder, "cell.yaml", SHELF)
    put(folder, "spheres.json", WITNESSES["spheres.json"])
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main(["convert", *words]) == 2
    assert expected in capsys.readouterr().err
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_info_lists_obstacles(folder, capsys):
    put(folder, "cell.yaml", SHELF)
    assert main(["info", "cell.yaml"]) == 0
    out = capsys.readouterr().out
    assert "cell.yaml: 2 obstacles" in out
    assert "Can1" in out
    assert "note: the frame 'base_link'" in out
    assert main(["info", "cell.yaml", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)["obstacles"]
    assert [entry["kind"] for entry in facts] == ["cylinder", "box"]
    assert np.allclose(facts[0]["upper"], [0.93, 0.03, 1.15])


def test_meshes_of_a_scene_are_found_by_package_dirs(folder, capsys):
    import trimesh

    trimesh.creation.box((1, 1, 0.2)).export(put(folder, "far/shapes/top.stl", ""))
    put(folder, "near/package.xml", "<package/>")
    text = "collision_objects:\n- id: top\n  meshes: [{resource: 'package://shapes/top.stl'}]\n  mesh_poses: [{position: [3, 0, 0.55]}]\n"
    put(folder, "near/cell.yaml", text)
    given = ["--scene", "near/cell.yaml", "--cfg", "0"]
    assert main(["check", "arm.urdf", *QUICK, *given]) == 2
    assert "package 'shapes' was not found" in capsys.readouterr().err
    code, report = report_of(capsys, *given, "--package-dirs", "far")
    assert code == 1
    assert report["listed"][0]["clashes"][0]["b"] == "top"
    assert isinstance(World.read("near/cell.yaml", package_dirs=["far"])["top"], MeshObstacle)
