"""`elbowroom mesh`."""

from __future__ import annotations

import json

import pytest
import trimesh

from elbowroom.cli import main


@pytest.fixture
def cubes(tmp_path):
    for name in ("a.stl", "b.obj"):
        trimesh.creation.box(extents=(1, 1, 1)).export(tmp_path / name)
    return [str(tmp_path / "a.stl"), str(tmp_path / "b.obj")]


def test_collision_with_true_depth(cubes, capsys):
    assert main(["mesh", *cubes, "--pose-b", "0.9", "0.05", "0", "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert facts["depth"] == pytest.approx(0.1, abs=1e-6)
    assert facts["normal"] == pytest.approx([1, 0, 0], abs=1e-6)
    assert main(["mesh", *cubes, "--pose-b", "0.9", "0.05", "0"]) == 1
    assert "depth 100 mm" in capsys.readouterr().out


def test_distance_when_apart(cubes, capsys):
    assert main(["mesh", *cubes, "--pose-b", "1", "0", "0", "0", "1.5", "0", "0", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["distance"] == pytest.approx(0.5, abs=1e-9)


def test_containment_is_an_option(cubes, tmp_path, capsys):
    trimesh.creation.box(extents=(0.1, 0.1, 0.1)).export(tmp_path / "small.stl")
    inside = [cubes[0], str(tmp_path / "small.stl")]
    assert main(["mesh", *inside]) == 1
    assert main(["mesh", *inside, "--surfaces"]) == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["--pose-b", "1", "2"],
        ["--scale", "0"],
        ["--scale", "nan"],
        ["--scale-a", "-1"],
        ["--scale-b", "0"],
        ["--scale", "2", "--scale-a", "1", "--scale-b", "1"],
        ["--pose-a", "0", "0", "0", "0", "1", "1", "1"],
    ],
)
def test_wrong_arguments(cubes, capsys, arguments):
    assert main(["mesh", *cubes, *arguments]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_missing_file(cubes, tmp_path, capsys):
    assert main(["mesh", cubes[0], str(tmp_path / "ghost.stl")]) == 2
    assert "no such mesh file" in capsys.readouterr().err


def test_meshes_of_different_units(cubes, tmp_path, capsys):
    trimesh.creation.box(extents=(1000, 1000, 1000)).export(tmp_path / "mm.stl")
    pair = [cubes[0], str(tmp_path / "mm.stl"), "--pose-b", "1.5", "0", "0", "--json"]
    assert main(["mesh", *pair, "--scale-b", "0.001"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["distance"] == pytest.approx(0.5)
    assert (facts["a"]["scale"], facts["b"]["scale"]) == (1.0, 0.001)
    assert facts["b"]["size"] == pytest.approx([1, 1, 1])
    assert main(["mesh", *pair[1::-1], "--scale-a", "0.001", "--pose-b", "1.5", "0", "0"]) == 0
    assert main(["mesh", *pair, "--scale", "0.5", "--scale-b", "0.001"]) == 0
    capsys.readouterr()
    assert main(["mesh", *pair]) == 1


def test_boxes_that_touch_do_so_on_both_surfaces(cubes, capsys):
    assert main(["mesh", *cubes, "--pose-b", "1", "0", "0", "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert facts["depth"] == pytest.approx(0, abs=1e-12)
    assert len(facts["points"]) == 8
    for x, y, z in facts["points"]:
        assert x == pytest.approx(0.5, abs=1e-9)
        assert max(abs(y), abs(z)) <= 0.5 + 1e-9
    assert main(["mesh", *cubes, "--pose-b", "1", "0", "0"]) == 1
    text = capsys.readouterr().out
    assert "they touch, depth 0 mm" in text
    assert "e-1" not in text
    assert "-0 " not in text
