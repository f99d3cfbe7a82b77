"""`elbowroom grasp`: table, JSON, files, self-test, exit codes."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from elbowroom.cli._grasp import Options, run
from elbowroom.errors import ElbowroomError
from elbowroom.grasp import GraspRangeError, Hand


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Options("line", width_mm=25.0)) == 0
    out = capsys.readouterr().out
    for text in ("line index, smooth", "25.00 mm", "thumb_yaw", "force closure", "in range"):
        assert text in out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Options("cylinder", width_mm=70.0, json=True)) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["mode"] == "cylinder"
    assert data["width"] == pytest.approx(0.07)
    assert list(data["ctrl"]) == ["pinky", "ring", "middle", "index", "thumb_proximal", "thumb_yaw"]
    assert data["range"] == pytest.approx([0.015, 0.105])
    assert data["quality"]["force_closure"]
    assert len(data["touching_base"]) == 5


def test_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plot, sweep, motion = tmp_path / "g.png", tmp_path / "s.png", tmp_path / "m.csv"
    options = Options("plane", width_mm=40.0, fingers=3, plot=plot, sweep=sweep, export=motion, json=True)
    assert run(options) == 0
    assert json.loads(capsys.readouterr().out)["written"] == [str(plot), str(sweep), str(motion)]
    for path in (plot, sweep):
        assert path.read_bytes().startswith(b"\x89PNG")
    assert len(list(csv.DictReader(motion.open()))) > 20


def test_check_exits_1_when_something_collides(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Options("line", width_mm=30.0, check=True)) == 0
    assert "free" in capsys.readouterr().out
    assert run(Options("line", width_mm=30.0, height_mm=-50.0, check=True, json=True)) == 1
    assert "inside the table" in json.loads(capsys.readouterr().out)["check"]["why"]


def test_other_hands(allegro: Hand, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep = tmp_path / "s.png"
    assert (
        run(Options("cylinder", width_mm=90.0, hand="allegro_right_hand", check=True, sweep=sweep, json=True))
        == 0
    )
    data = json.loads(capsys.readouterr().out)
    assert data["hand"] == allegro.name
    assert len(data["ctrl"]) == 16
    assert sweep.read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
def test_self_test(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Options(self_test=True, json=True)) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["ok"]
    assert len(data["lines"]) > 40
    assert data["ranges"]["proportional line"] == pytest.approx([0.008674, 0.122078], abs=1e-6)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (Options("line", width_mm=200.0), GraspRangeError),
        (Options("line", width_mm=float("nan")), GraspRangeError),
        (Options("line", finger="toe"), ElbowroomError),
        (Options("plane", fingers=7), ElbowroomError),
        (Options(hand="panda"), ElbowroomError),
        (Options(revision="old"), ElbowroomError),
        (Options(hand="allegro_right_hand", revision="newest"), ElbowroomError),
        (Options(hand="allegro_right_hand", self_test=True), ElbowroomError),
        (Options(export=Path("x.txt")), ElbowroomError),
        (Options(check=True, object=Path("nowhere.stl")), ElbowroomError),
        (Options(plot=Path("/dev/null/x.png")), ElbowroomError),
    ],
)
def test_mistakes_are_our_errors(options: Options, error: type[Exception]) -> None:
    with pytest.raises(error):
        run(options)


def test_check_states_the_tip_tolerance_and_what_exceeds_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Options("plane", width_mm=30.0, check=True)) == 1
    out = capsys.readouterr().out
    assert "not free: middle_intermediate is 4.6 mm inside the object, 3.0 mm are allowed" in out
    assert "middle_intermediate 4.6 mm (too deep)" in out
    assert "fingertips may be 3.0 mm inside" in out
    assert run(Options("plane", width_mm=30.0, check=True, json=True)) == 1
    check = json.loads(capsys.readouterr().out)["check"]
    assert check["tip_tolerance"] == 0.003
    entry = check["inside_object"][0]
    assert (entry["finger"], entry["exceeds"], entry["tolerance"]) == ("middle", True, 0.003)
    assert [other["exceeds"] for other in check["inside_object"][1:]] == [False]
    assert run(Options("plane", width_mm=30.0, check=True, tip_tolerance_mm=5.0)) == 0
    with pytest.raises(ElbowroomError, match="tip-tolerance"):
        run(Options("plane", check=True, tip_tolerance_mm=-1.0))


def test_registers_are_printed_with_their_addresses(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Options("line", width_mm=30.0, registers=True)) == 0
    lines = capsys.readouterr().out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:1] == ["register"])
    rows = [line.split() for line in lines[start + 1 : start + 7]]
    assert rows == [
        ["1486", "1000", "pinky"],
        ["1487", "1000", "ring"],
        ["1488", "1000", "middle"],
        ["1489", "554", "index"],
        ["1490", "814", "thumb_proximal"],
        ["1491", "88", "thumb_yaw"],
    ]
    with pytest.raises(ElbowroomError, match="no angle registers"):
        run(Options("line", hand="allegro_right_hand", width_mm=50.0, registers=True))


def test_rebuild_makes_everything_anew_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ELBOWROOM_CACHE", str(tmp_path))
    start = time.process_time()
    assert run(Options("line", rebuild=True, json=True)) == 0
    assert time.process_time() - start < 15.0
    sets = ["line index", "line middle", "line ring", "line pinky", "plane 3", "plane 4", "plane 5"]
    assert json.loads(capsys.readouterr().out)["rebuilt"] == ["finger tables", *sets]
    assert len(list((tmp_path / "grasp").glob("*.npz"))) == 8


@pytest.mark.parametrize("name", ["rh56", pytest.param("rh56_left", marks=pytest.mark.long)])
def test_self_test_of_either_hand_passes_in_time(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    start = time.process_time()
    assert run(Options(hand=name, self_test=True)) == 0
    assert time.process_time() - start < 15.0
    assert "FAILED" not in capsys.readouterr().out


def program(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """`python -m elbowroom.grasp` without a display."""
    shown = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    command = [sys.executable, "-m", "elbowroom.grasp", *words]
    return subprocess.run(command, env={**shown, **env}, capture_output=True, text=True, timeout=300)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere a display is assumed")
def test_the_module_opens_the_window() -> None:
    done = program()
    assert done.returncode == 2
    assert "a window needs a display" in done.stderr


def test_the_module_takes_the_options_of_the_verb(tmp_path: Path) -> None:
    done = program("line", "--width-mm", "40", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["width"] == pytest.approx(0.04)
    done = program("--self-test", "--hand", "allegro_right_hand")
    assert done.returncode == 2
    assert "--self-test is of the bundled hands" in done.stderr
    assert "usage" in program("--help").stdout
