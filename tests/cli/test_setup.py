"""`elbowroom setup`: one folder of files, each read back by somebody who is not us."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML

import elbowroom as er
from elbowroom import formats
from elbowroom.cli import main
from elbowroom.errors import InputError
from elbowroom.robot.internal import description_changes, description_facts

FILES = {
    "robot.json", "robot.srdf", "curobo_v1.yml", "curobo_v2.yml", "robot.xrdf", "spheres.urdf", "mujoco.xml",
    "robot.png", "pairs.png", "report.md", "setup.json",
}  # fmt: skip
ARM = """<robot name="arm">
  <link name="base"><collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
  <link name="upper"><collision><origin xyz="0 0 0.2"/><geometry><box size="0.06 0.06 0.4"/></geometry></collision></link>
  <link name="lower"><collision><origin xyz="0 0 0.2"/><geometry><box size="0.05 0.05 0.4"/></geometry></collision></link>
  <link name="tool"><collision><origin xyz="0 0 0.05"/><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.07"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" velocity="1" effort="1"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="0 0 0.42"/>
    <axis xyz="0 1 0"/><limit lower="-2.9" upper="2.9" velocity="1" effort="1"/></joint>
  <joint name="wrist" type="revolute"><parent link="lower"/><child link="tool"/><origin xyz="0 0 0.42"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
</robot>"""


def setup(*arguments: str | Path) -> int:
    return main(["setup", *map(str, arguments)])


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


def test_one_command_writes_everything(arm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert setup(arm, "--out", out, "-n", "12") == 0
    assert {path.name for path in out.iterdir()} == FILES
    said = capsys.readouterr().out
    assert "proved to cover every link" in said
    assert all(name in said for name in FILES - {"setup.json"})
    report = (out / "report.md").read_text()
    assert "tool frames tool" in report
    assert "| upper |" in report


def test_robot_json_is_lossless(arm: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    setup(arm, "--out", out, "-n", "12", "--json")
    robot = er.load_robot(arm)
    held = formats.read(out / "robot.json", robot=robot)
    model = er.CollisionModel(robot, held.spheres, held.pairs)
    cfgs = robot.random_cfgs(300)
    fresh = er.CollisionModel(robot, held.spheres)
    np.testing.assert_array_equal(model.free(cfgs), fresh.free(cfgs))
    assert held.pairs == fresh.pairs
    assert (
        main(["check", str(arm), "--spheres", str(out / "robot.json"), "--pairs", str(out / "robot.json")])
        == 0
    )


def test_choices_reach_the_files(arm: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = setup(
        arm, "--out", out, "-n", "12", "--base-link", "upper", "--ee-link", "lower", "tool", "--lock", "wrist=0.5",
        "--cfg", "0.1", "0.2", "0.3", "--per-link", "tool", "2", "--paths", "relative",
    )  # fmt: skip
    assert code == 0
    v1 = YAML(typ="safe").load(out / "curobo_v1.yml")["robot_cfg"]["kinematics"]
    assert (v1["base_link"], v1["ee_link"], v1["lock_joints"]) == ("upper", "lower", {"wrist": 0.5})
    assert (out / v1["urdf_path"]).resolve() == arm.resolve()
    assert len(v1["collision_spheres"]["tool"]) <= 2
    v2 = YAML(typ="safe").load(out / "curobo_v2.yml")["robot_cfg"]["kinematics"]
    assert v2["tool_frames"] == ["lower", "tool"]
    xrdf = YAML(typ="safe").load(out / "robot.xrdf")
    assert xrdf["tool_frames"] == ["lower", "tool"]
    assert xrdf["default_joint_positions"]["elbow"] == 0.2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--base-link", "nowhere"], "nowhere"),
        (["--ee-link", "base", "--base-link", "tool"], "not carried"),
        (["--lock", "tool"], "tool"),
        (["--lock", "wrist=soft"], "wrist=soft"),
        (["--lock", "wrist=99"], "outside the limits: wrist = 99 (from -3 to 3)"),
        (["--lock", "wrist", "wrist=0.1"], "twice"),
        (["--per-link", "tool"], "per-link"),
        (["--per-link", "tooth", "3"], "tooth"),
        (["--pose", "sleeping"], "sleeping"),
        (["--cfg", "1", "2"], "3"),
        (["--cfg", "9", "0", "0"], "outside the limits: shoulder = 9 (from -2 to 2)"),
        (["--pose", "zero", "--cfg", "0", "0", "0"], "give one"),
    ],
)
def test_wrong_choices_write_nothing(
    arm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert setup(arm, "--out", tmp_path / "out", *arguments) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_second_run_says_what_changed(arm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    setup(arm, "--out", out, "-n", "12")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    capsys.readouterr()
    setup(arm, "--out", out, "-n", "12")
    assert "changed since the last run: nothing" in capsys.readouterr().out
    after = {path.name: path.read_bytes() for path in out.iterdir()}
    for name in FILES - {"report.md", "setup.json", "robot.json"}:  # these say how long it took
        assert after[name] == before[name], name
    arm.write_text(
        ARM.replace('lower="-2" upper="2"', 'lower="-2" upper="1.5"').replace("0.1 0.1 0.1", "0.1 0.1 0.12")
    )
    setup(arm, "--out", out, "-n", "12", "--ee-link", "lower", "--json")
    changes = json.loads(capsys.readouterr().out)["changes"]
    assert "joint shoulder: upper limit 2 -> 1.5 rad" in changes
    assert "the collision shapes of link tool changed (12 -> 12 triangles)" in changes
    assert "tool frames: tool -> lower" in changes
    setup(arm, "--out", out, "-n", "12", "--ee-link", "lower", "--cfg", "0.1", "0.2", "0.3", "--json")
    changes = json.loads(capsys.readouterr().out)["changes"]
    assert "default pose: shoulder 0, elbow 0, wrist 0 -> shoulder 0.1, elbow 0.2, wrist 0.3" in changes


def test_the_folder_it_is_run_from_is_no_change(
    arm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for paths in ("absolute", "relative"):
        out = tmp_path / paths
        monkeypatch.chdir(tmp_path)
        assert setup("arm.urdf", "--out", paths, "-n", "12", "--paths", paths) == 0
        monkeypatch.chdir(elsewhere)
        assert setup("../arm.urdf", "--out", out, "-n", "12", "--paths", paths) == 0
        assert "## Changed since the last run\n\nNothing." in (out / "report.md").read_text()
    assert json.loads((out / "setup.json").read_text())["choices"]["description"] == "../arm.urdf"


def test_edited_files_stay_and_the_new_ones_go_beside_them(
    arm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    setup(arm, "--out", out, "-n", "12", "--lock", "wrist=0.4")
    edited = {}
    for name in ("curobo_v2.yml", "spheres.urdf", "report.md", "robot.png"):
        edited[name] = (out / name).read_bytes() + b"\n"
        (out / name).write_bytes(edited[name])
    (out / "robot.xrdf").unlink()
    for _ in range(2):
        capsys.readouterr()
        assert setup(arm, "--out", out, "-n", "12", "--json") == 0
        found = json.loads(capsys.readouterr().out)
        news = {"curobo_v2.new.yml", "spheres.new.urdf", "report.new.md", "robot.new.png"}
        assert set(found["edited"].values()) == news
        assert {name: (out / name).read_bytes() for name in edited} == edited
        assert {path.name for path in out.iterdir()} == FILES | news
        new = YAML(typ="safe").load(out / "curobo_v2.new.yml")["robot_cfg"]["kinematics"]
        assert not new["lock_joints"]
        assert not YAML(typ="safe").load(out / "curobo_v1.yml")["robot_cfg"]["kinematics"]["lock_joints"]


def test_foreign_files_are_refused(arm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "robot.srdf").write_text("<robot name='mine'/>")
    assert setup(arm, "--out", other, "-n", "12") == 2
    assert "robot.srdf" in capsys.readouterr().err
    assert [entry.name for entry in other.iterdir()] == ["robot.srdf"]
    assert (other / "robot.srdf").read_text() == "<robot name='mine'/>"


def test_links_and_permissions_stay(arm: Path, tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "ws.srdf"
    setup(arm, "--out", out, "-n", "12")
    (out / "robot.srdf").rename(elsewhere)
    (out / "robot.srdf").symlink_to(elsewhere)
    (out / "robot.json").chmod(0o600)
    assert setup(arm, "--out", out, "-n", "14", "--srdf", out / "robot.srdf") == 0
    assert (out / "robot.srdf").is_symlink()
    assert (out / "robot.json").stat().st_mode & 0o777 == 0o600


def test_a_failed_run_changes_nothing(arm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from elbowroom.cli import _setup_files

    out = tmp_path / "out"
    setup(arm, "--out", out, "-n", "12")
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    def full(made: object, path: Path) -> tuple[str, ...]:
        raise InputError(f"cannot write {path}: no space left") from OSError(28, "no space left")

    broken = replace(_setup_files.PRODUCTS["pairs.png"], write=full)
    monkeypatch.setitem(_setup_files.PRODUCTS, "pairs.png", broken)
    assert setup(arm, "--out", out, "-n", "16") == 2
    assert setup(arm, "--out", tmp_path / "new", "-n", "16") == 2
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert {path.name for path in tmp_path.iterdir()} == {"arm.urdf", "out"}


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_leaves_nothing_behind(arm: Path, tmp_path: Path) -> None:
    """Ended while the files are made, and once more while they are moved: the next run is like any other."""
    out = tmp_path / "out"
    for place in ("report", "_keep_record"):
        code = (
            "import os, signal, sys, time\n"
            "from elbowroom.cli import main, _setup_files\n"
            "def stop(*_):\n    os.kill(os.getpid(), signal.SIGINT); time.sleep(60)\n"
            f"keep, calls = _setup_files.{place}, []\n"
            "def second(*words):\n    calls.append(1)\n    return keep(*words) if len(calls) < 2 else stop()\n"
            f"_setup_files.{place} = stop if '{place}' == 'report' else second\n"
            f"sys.argv = ['elbowroom', 'setup', {str(arm)!r}, '--out', {str(out)!r}, '-n', '12']\n"
            "sys.exit(main())\n"
        )
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
        assert ended.returncode == 130
        assert {path.name for path in tmp_path.iterdir()} <= {"arm.urdf", "out"}
        if place == "report":
            assert not (out / "robot.json").exists()
    assert setup(arm, "--out", out, "-n", "12", "--json") == 0


def test_joints_held_still_reach_pose_and_pairs(
    arm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert setup(arm, "--out", out, "-n", "12", "--lock", "elbow=1.2", "wrist", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["default_pose"]["cfg"][1] == 1.2
    assert found["choices"]["held_still"] == {"elbow": 1.2, "wrist": 0.0}
    assert any("held still" in note for note in found["files"]["robot.srdf"])
    v1 = YAML(typ="safe").load(out / "curobo_v1.yml")["robot_cfg"]["kinematics"]
    assert v1["cspace"]["retract_config"][1] == 1.2


def test_odd_names_read_well_in_the_report(arm: Path, tmp_path: Path) -> None:
    arm.write_text(ARM.replace('"lower"', '"l|o*w*er"'))
    assert setup(arm, "--out", tmp_path / "out", "-n", "12") == 0
    assert "| l\\|o\\*w\\*er |" in (tmp_path / "out" / "report.md").read_text()


def test_folder_of_another_robot_is_refused(
    arm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    setup(arm, "--out", out, "-n", "12")
    second = tmp_path / "second.urdf"
    second.write_text(ARM.replace('name="arm"', 'name="leg"'))
    assert setup(second, "--out", out, "-n", "12") == 2
    assert "'arm'" in capsys.readouterr().err


def test_mjcf_robot_has_no_spherized_urdf(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert setup("rh56", "--out", out, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert "URDF" in found["not_written"]["spheres.urdf"]
    assert not (out / "spheres.urdf").exists()


def test_changes_of_a_description() -> None:
    old = description_facts(er.load_robot("rh56"))
    assert description_changes(old, json.loads(json.dumps(old))) == ()
    new = json.loads(json.dumps(old))
    joint = next(iter(new["joints"]))
    new["joints"][joint]["T_parent_joint"][0][3] += 0.012
    link = next(iter(new["links"]))
    new["links"]["extra"] = new["links"].pop(link)
    said = description_changes(old, new)
    assert f"joint {joint}: its place moved 12 mm and turned 0 degrees" in said
    assert "link extra is new" in said
    assert f"link {link} is gone" in said
