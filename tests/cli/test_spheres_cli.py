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


def test_a_budget_too_small_is_said_with_the_count_that_would_do(tmp_path, capsys):
    """Both verbs say it in one line; the report too."""
    size = '<collision><geometry><box size="{}"/></geometry></collision>'
    links = {"base": "0.2 0.2 0.2", "finger": "0.3 0.03 0.03"}
    text = "".join(f'<link name="{name}">{size.format(box)}</link>' for name, box in links.items())
    urdf = tmp_path / "two.urdf"
    urdf.write_text(
        f'<robot name="two">{text}<joint name="j" type="revolute"><parent link="base"/><child link="finger"/>'
        '<origin xyz="0.5 0 0"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>'
    )
    assert main(["spheres", str(urdf), "-n", "2"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "note: 1 link stays above 3 times the volume of the convex hull: finger (" in said
    enough = said.split("n_spheres=")[1].split()[0]
    assert main(["spheres", str(urdf), "-n", enough, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["loose"] == []
    assert main(["setup", str(urdf), "--out", str(tmp_path / "out"), "-n", "2"]) == 0
    line = f"n_spheres={enough} would bring it below"
    assert line in " ".join(capsys.readouterr().out.split())
    assert line in (tmp_path / "out" / "report.md").read_text()


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
    if name != "arm.srdf":
        assert first == back
        return
    assert first.counts == back.counts  # nine digits, rounded outwards
    shift = np.linalg.norm(first.centers - back.centers, axis=1)
    assert (shift + first.radii <= back.radii).all()
    assert (back.radii - first.radii).max() < 1e-8


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
