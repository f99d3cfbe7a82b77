"""The command line: verbs, JSON, exit codes, errors."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from elbowroom.cli import VERBS, main


def run(capsys, *arguments):
    code = main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_help_lists_every_verb(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert all(verb in out for verb in VERBS)
    assert run(capsys)[0] == 2


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_and_json(capsys, verb):
    code, out, _ = run(capsys, verb, "--help")
    assert code == 0
    assert "--json" in out


def test_unknown_verbs_and_options(capsys):
    code, _, err = run(capsys, "inof")
    assert code == 2
    assert "did you mean 'info'" in err
    code, _, err = run(capsys, "info", "--nonsense")
    assert code == 2
    assert "Traceback" not in err


def test_version(capsys):
    from elbowroom import __version__

    assert run(capsys, "--version")[1].strip() == f"elbowroom {__version__}"


def test_info_lists_the_catalogue(capsys):
    code, out, _ = run(capsys, "info")
    assert code == 0
    assert "teaarm" in out
    entries = json.loads(run(capsys, "info", "--json")[1])
    assert {"name": "teaarm", "origin": "bundled"}.items() <= entries[0].items()


def test_info_describes_a_robot(capsys):
    code, out, _ = run(capsys, "info", "teaarm")
    assert code == 0
    for text in ("left_arm_l3", "waist_pitch", "revolute", "self_collision"):
        assert text in out
    facts = json.loads(run(capsys, "info", "rh56", "--json")[1])
    assert facts["dof"] == 6
    assert len(facts["joints"]) == 12
    assert {note["kind"] for note in facts["notes"]} == {"meshed", "modelled"}
    follower = next(joint for joint in facts["joints"] if joint["name"] == "thumb_distal_joint")
    assert follower["follows"] == "thumb_proximal_pitch_joint"
    assert follower["velocity"] is None  # infinite: not given


def test_doctor_knows_every_dependency():
    from elbowroom.cli import _doctor

    project = Path(__file__).parents[2] / "pyproject.toml"
    asked = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["dependencies"]
    assert [re.split(r"[<>=]", line)[0] for line in asked] == list(_doctor.REQUIRED)


def test_doctor_reports_what_is_missing(capsys, monkeypatch):
    from elbowroom.cli import _doctor

    code, out, _ = run(capsys, "doctor", "--no-speed")
    assert code == 0
    assert "all required packages are installed" in out
    monkeypatch.setattr(_doctor, "_version", lambda name: None if name in ("jax", "ray") else "1.0")
    code, out, _ = run(capsys, "doctor", "--json")
    assert code == 1
    report = json.loads(out)
    assert report["missing_required"] == ["jax"]
    assert report["missing_optional"] == ["ray"]


def test_demo_into_a_place_that_cannot_be_written(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = run(capsys, "demo", "--out", str(tmp_path / "file/report"))
    assert code == 2
    assert "cannot make the folder" in err


def test_as_a_module_and_in_a_closed_pipe():
    command = [sys.executable, "-m", "elbowroom", "info", "ghost"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    piped = f"{sys.executable} -m elbowroom info | head -1"
    result = subprocess.run(["bash", "-c", piped], capture_output=True, text=True)
    assert "Traceback" not in result.stderr
