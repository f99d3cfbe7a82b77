"""`elbowroom spheres` and `elbowroom convert`."""

from __future__ import annotations

import json

import pytest

from elbowroom import formats
from elbowroom.cli import main


@pytest.fixture
def fitted(tmp_path, capsys):
    """A centerline model of the bundled arm, written by the command line."""
    path = tmp_path / "arm.json"
    assert main(["spheres", "teaarm", "--method", "centerline", "--out", str(path)]) == 0
    assert "proved to cover every link" in capsys.readouterr().out
    return path


def test_report_as_json_with_occupancy(fitted, capsys):
    assert main(["spheres", "teaarm", "--spheres", str(fitted), "--occupancy", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["proved"] is True
    assert report["n_spheres"] == sum(link["n_spheres"] for link in report["links"].values())
    for link in report["occupancy"].values():
        assert link["surface_occupancy"] == link["volume_occupancy"] == 1.0
        assert link["volumes"]["union"] > link["volumes"]["reference"]


def test_spheres_that_do_not_cover_are_named(fitted, tmp_path, capsys, load):
    data = json.loads(fitted.read_text())
    data["spheres"]["left_arm_l3"][0]["radius"] *= 0.5
    fitted.write_text(json.dumps(data))
    assert main(["spheres", "teaarm", "--spheres", str(fitted)]) == 1
    out = capsys.readouterr().out
    assert "NOT covering: left_arm_l3" in out


def test_plot_is_a_picture(fitted, tmp_path):
    assert main(["spheres", "teaarm", "--spheres", str(fitted), "--plot", str(tmp_path / "arm.png")]) == 0
    assert (tmp_path / "arm.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["arm.yml", "arm.xrdf", "arm.srdf", "arm.urdf", "arm.xml"])
def test_convert_to_every_format_and_back(fitted, tmp_path, capsys, load, name):
    assert main(["convert", str(fitted), str(tmp_path / name), "--robot", "teaarm"]) == 0
    assert (
        main(["convert", str(tmp_path / name), str(tmp_path / "back.json"), "--robot", "teaarm", "--json"])
        == 0
    )
    robot = load("teaarm")
    first = formats.read(fitted, robot=robot).spheres
    back = formats.read(tmp_path / "back.json", robot=robot).spheres
    assert first == back


def test_errors_are_one_line(tmp_path, fitted, capsys):
    (tmp_path / "bad.json").write_text('{"left_arm_l3": [{"center": [0, 0, 0], "radius": -1}]}')
    cases = [
        ["spheres", "teaarm", "--spheres", str(tmp_path / "bad.json")],
        ["spheres", "rh56", "--spheres", str(fitted)],
        ["spheres", "teaarm", "--n-spheres", "0"],
        ["convert", str(tmp_path / "ghost.json"), str(tmp_path / "x.yml")],
        ["convert", str(fitted), str(tmp_path / "x.bin")],
        ["convert", str(fitted), str(tmp_path / "x.urdf")],
    ]
    for arguments in cases:
        assert main(arguments) == 2
        err = capsys.readouterr().err
        assert len(err.strip().splitlines()) == 1, err
        assert err.startswith(f"elbowroom {arguments[0]}: ")
