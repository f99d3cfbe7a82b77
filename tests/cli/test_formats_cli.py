"""`pairs --out`, `convert` and `check --pairs`: every format is written by its extension and read back."""

from __future__ import annotations

import json

import pytest

from elbowroom import formats
from elbowroom.cli import main
from elbowroom.formats.internal import format_of

WRITTEN = ("json", "srdf", "yml", "xrdf", "xml")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Spheres, and the same pairs in every format that holds pairs."""
    place = tmp_path_factory.mktemp("formats")
    assert main(["spheres", "teaarm", "--method", "centerline", "--out", str(place / "spheres.json")]) == 0
    for extension in WRITTEN:
        few = ["--samples", "64", "--proof-boxes", "8", "--spheres", str(place / "spheres.json")]
        assert main(["pairs", "teaarm", *few, "--out", str(place / f"pairs.{extension}")]) == 0
    return place


@pytest.fixture(scope="module")
def matrix(folder, load):
    return formats.read(folder / "pairs.json", robot=load("teaarm")).pairs


@pytest.mark.parametrize("extension", WRITTEN)
def test_pairs_are_written_in_the_format_of_the_extension(folder, matrix, load, extension):
    path = folder / f"pairs.{extension}"
    found = formats.read(path, robot=load("teaarm"))
    assert found.format == format_of(path)
    assert found.pairs is not None
    assert set(found.pairs.ignored) == set(matrix.ignored)


@pytest.mark.parametrize("extension", WRITTEN)
def test_check_reads_pairs_of_every_format(folder, matrix, capsys, extension):
    words = [
        "--spheres",
        str(folder / "spheres.json"),
        "--pairs",
        str(folder / f"pairs.{extension}"),
        "--json",
    ]
    assert main(["check", "teaarm", *words]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["checked_pairs"] == len(matrix.checked)


@pytest.mark.parametrize("option", ["--srdf", "--pairs"])
@pytest.mark.parametrize("extension", WRITTEN)
def test_convert_adds_pairs_of_every_format(folder, matrix, load, tmp_path, option, extension):
    target = tmp_path / "robot.yml"
    given = ["--robot", "teaarm", option, str(folder / f"pairs.{extension}")]
    assert main(["convert", str(folder / "spheres.json"), str(target), *given]) == 0
    found = formats.read(target, robot=load("teaarm"))
    assert found.spheres == formats.read(folder / "spheres.json", robot=load("teaarm")).spheres
    assert set(matrix.ignored) <= set(found.ignored)


def test_a_matrix_is_converted_whole(folder, matrix, load, tmp_path):
    target = tmp_path / "copy.json"
    assert main(["convert", str(folder / "pairs.json"), str(target), "--robot", "teaarm"]) == 0
    assert formats.read(target, robot=load("teaarm")).pairs == matrix


def test_the_robots_own_description_is_not_written_over(tmp_path, capsys, load):
    own = tmp_path / "box.urdf"
    own.write_text(
        '<robot name="a"><link name="b"><collision><geometry><box size="1 1 1"/></geometry></collision></link></robot>'
    )
    before = own.read_text()
    assert main(["spheres", str(own), "--method", "centerline", "--out", str(own)]) == 2
    assert own.read_text() == before
    again = tmp_path / "spherized.urdf"
    for _ in range(2):  # ours may be replaced by ours
        assert main(["spheres", str(own), "--method", "centerline", "--out", str(again)]) == 0
    capsys.readouterr()
    assert main(["spheres", str(again), "--method", "centerline", "--out", str(again)]) == 2
    assert "the robot's own description" in capsys.readouterr().err
