"""`elbowroom spheres` and `elbowroom convert`."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from elbowroom import formats
from elbowroom.cli import main
from elbowroom.errors import InputError
from elbowroom.ui.draw import save_png


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


def test_outputs_are_checked_before_the_fit(tmp_path, capsys, monkeypatch):
    def never(*_args, **_kwargs):
        raise AssertionError("the fit began")

    monkeypatch.setattr("elbowroom.spheres.fit_spheres", never)
    for arguments, expected in [
        (["--plot", str(tmp_path / "arm.jpq")], "ending in .png"),
        (["--plot", str(tmp_path / "arm")], "ending in .png"),
        (["--out", str(tmp_path / "arm.bin")], "unknown format '.bin'"),
        (["--out", str(tmp_path / "arm.json"), "--format", "pdf"], "unknown format 'pdf'"),
        (["--out", str(tmp_path / "missing/arm.json")], "there is no folder"),
    ]:
        assert main(["spheres", "teaarm", *arguments]) == 2
        err = capsys.readouterr().err
        assert expected in err
        assert len(err.strip().splitlines()) == 1


def test_convert_takes_srdf_and_package_folders(fitted, tmp_path, capsys, load):
    robot = load("teaarm")
    path, srdf = tmp_path / "arm.urdf", tmp_path / "arm.srdf"
    path.write_text(robot.path.read_text().replace('filename="', 'filename="package://parts/'))
    srdf.write_text('<robot name="teaarm"/>')
    shutil.copytree(robot.path.parent, tmp_path / "else/parts")
    arguments = ["convert", str(fitted), str(tmp_path / "x.yml")]
    robot_arguments = ["--robot", str(path), "--srdf", str(srdf), "--package-dirs", str(tmp_path / "else")]
    assert main([*arguments, *robot_arguments]) == 0
    assert formats.read(tmp_path / "x.yml", robot=robot).spheres == formats.read(fitted, robot=robot).spheres
    capsys.readouterr()
    assert main([*arguments, "--srdf", str(srdf)]) == 2
    assert "name it with --robot" in capsys.readouterr().err
    assert main([*arguments, "--robot", str(path)]) == 2
    assert "package://parts/" in capsys.readouterr().err


def test_pictures_of_another_kind_are_refused(tmp_path):
    image = np.zeros((4, 4, 3))
    for name in ("a.xyz", "a", "a.jpg"):
        with pytest.raises(InputError, match="ending in .png"):
            save_png(tmp_path / name, image)
    save_png(tmp_path / "a.PNG", image)
    assert (tmp_path / "a.PNG").read_bytes().startswith(b"\x89PNG")
