"""`elbowroom check`: the verdict on the command line."""

from __future__ import annotations

import json

import pytest

from elbowroom.cli import main

QUICK = ["--method", "centerline"]


def report_of(capsys, *arguments):
    code = main(["check", "teaarm", *QUICK, "--json", *arguments])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("by", ["meshes", "spheres"])
def test_a_known_collision_is_found_and_named(capsys, by):
    code, report = report_of(capsys, "--named", "self_collision", "--by", by)
    assert code == 1
    assert report["by"] == by
    names = [(clash["a"], clash["b"]) for clash in report["listed"][0]["clashes"]]
    assert ("left_arm_l5", "right_arm_l5") in names
    assert main(["check", "teaarm", *QUICK, "--named", "self_collision", "--by", by]) == 1
    text = capsys.readouterr().out
    assert "left_arm_l5 and right_arm_l5 overlap by" in text
    assert "disable_collisions" in text


def test_named_poses_are_free(capsys):
    named = ["zero", "default", "arms_forward", "arms_up", "hug"]
    code, report = report_of(capsys, "--named", *named)
    assert code == 0
    assert [entry["name"] for entry in report["listed"]] == named
    assert all(entry["free"] and entry["clearance"] > 0 for entry in report["listed"])


def test_what_is_ignored_and_touches_is_listed(capsys):
    code, report = report_of(
        capsys,
        "--named",
        "self_collision",
        "--ignore",
        "left_arm_l5",
        "right_arm_l5",
        "left_arm_l6",
        "right_arm_l5",
    )
    touching = {
        (entry["a"], entry["b"]): entry["reason"] for entry in report["listed"][0]["ignored_touching"]
    }
    assert touching["left_arm_l5", "right_arm_l5"] == "user"
    assert code in (0, 1)
    assert ("left_arm_l5", "right_arm_l5") not in [(c["a"], c["b"]) for c in report["listed"][0]["clashes"]]


def test_configurations_beyond_the_limits_are_flagged(capsys):
    values = ["9"] + ["0"] * 15
    _, report = report_of(capsys, "--cfg", *values)
    assert report["out_of_limits"] == 1
    assert len(report["listed"][0]["out_of_limits"]) == 1
    main(["check", "teaarm", *QUICK, "--cfg", *values])
    assert "outside its limits" in capsys.readouterr().out


def test_pairs_come_from_any_file_that_holds_them(capsys, tmp_path):
    for name in ("pairs.json", "pairs.srdf"):
        path = tmp_path / name
        assert main(["pairs", "teaarm", *QUICK, "--out", str(path)]) == 0
        capsys.readouterr()
        assert report_of(capsys, "--pairs", str(path), "--named", "self_collision")[0] == 1


@pytest.mark.parametrize(
    "bad", [["--cfg", "1", "2"], ["--random", "-1"], ["--ignore", "left_arm_l5"], ["--named", "hgu"]]
)
def test_wrong_use_is_exit_code_2(capsys, bad):
    assert main(["check", "teaarm", *QUICK, *bad]) == 2
    assert capsys.readouterr().err


def test_spheres_that_do_not_cover_are_said_and_do_not_change_the_answer(capsys, tmp_path):
    path = tmp_path / "small.json"
    path.write_text(json.dumps({"left_arm_l5": [{"center": [0, 0, 0], "radius": 0.001}]}))
    code, report = report_of(capsys, "--spheres", str(path), "--named", "self_collision", "--samples", "200")
    assert code == 1
    assert "left_arm_l5" in report["uncovered"]
    assert ("left_arm_l5", "right_arm_l5") in [(c["a"], c["b"]) for c in report["listed"][0]["clashes"]]
