"""`elbowroom check`: the verdict on the command line."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

from elbowroom.cli import main
from elbowroom.collision import CollisionModel
from elbowroom.spheres import FitOptions, fit_spheres
from elbowroom.world import Box, World

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
    given = ["--spheres", str(path), "--named", "self_collision", "--samples", "200", "--json"]
    assert main(["check", "teaarm", *given]) == 1
    report = json.loads(capsys.readouterr().out)
    assert "left_arm_l5" in report["uncovered"]
    assert ("left_arm_l5", "right_arm_l5") in [(c["a"], c["b"]) for c in report["listed"][0]["clashes"]]


def test_counting_starts_at_one_and_json_says_what_it_leaves_out(capsys):
    code, report = report_of(capsys, "--random", "60", "--limit", "2")
    assert code == 1
    assert report["configurations"] == 60
    assert len(report["colliding_names"]) == report["colliding"] > 2
    assert [entry["name"] for entry in report["listed"]] == report["colliding_names"][:2]
    assert report["not_listed"]["colliding"] == report["colliding"] - 2
    assert report["not_listed"]["free"] == 60 - report["colliding"]
    assert report["not_listed"]["how_to_list"] == "--limit 60"
    assert main(["check", "teaarm", *QUICK, "--random", "60", "--limit", "2"]) == 1
    assert (
        f"... and {report['colliding'] - 2} more; --limit {report['colliding']} lists all"
        in capsys.readouterr().out
    )
    code, report = report_of(capsys, "--random", "3", "--limit", "3")
    assert [entry["name"] for entry in report["listed"]] == ["random 1", "random 2", "random 3"]
    assert report["not_listed"] == {"colliding": 0, "free": 0, "how_to_list": "--limit 3"}


def table(tmp_path, cfgs, names, name="moves.csv", times=None):
    """A CSV of configurations, with times if given."""
    lines = [",".join([*(["time"] if times is not None else []), *names])]
    for k, cfg in enumerate(cfgs):
        lines.append(",".join(map(str, [*([times[k]] if times is not None else []), *cfg])))
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_configurations_from_a_file_are_named_by_their_line(capsys, tmp_path, load):
    robot = load("teaarm")
    rows = [robot.named_cfgs[name][::-1] for name in ("hug", "self_collision")]
    path = table(tmp_path, rows, robot.joint_names[::-1])
    code, report = report_of(capsys, "--cfg-file", path, "--named", "zero")
    assert code == 1
    assert [entry["name"] for entry in report["listed"]] == [f"{path}:2", f"{path}:3", "zero"]
    assert [entry["free"] for entry in report["listed"]] == [True, False, True]


def test_degrees_and_held_joints(capsys, tmp_path, load):
    robot = load("teaarm")
    path = table(tmp_path, [[90.0]], robot.joint_names[2:3])
    assert main(["check", "teaarm", *QUICK, "--cfg-file", path]) == 2
    assert "no column for" in capsys.readouterr().err
    _, report = report_of(capsys, "--cfg-file", path, "--missing", "default", "--degrees")
    expected = robot.default_cfg.copy()
    expected[2] = np.pi / 2
    np.testing.assert_allclose(report["listed"][0]["cfg"], expected)
    assert any(note.startswith("held: ") for note in report["notes"])
    _, report = report_of(capsys, "--cfg-file", path, "--missing", "0.01")
    assert report["listed"][0]["cfg"][0] == 0.01


def test_a_recorded_motion_is_audited(capsys, tmp_path, load):
    robot = load("teaarm")
    way = [robot.named_cfgs[name] for name in ("hug", "self_collision", "arms_up")]
    rows = np.concatenate([np.linspace(a, b, 10) for a, b in pairwise(way)])
    path = table(tmp_path, rows, robot.joint_names, times=np.arange(20) / 10)
    plot, out = tmp_path / "run.png", tmp_path / "run_audit.csv"
    code, report = report_of(capsys, "--trajectory", path, "--plot", str(plot), "--csv", str(out))
    assert code == 1
    assert report["rows"] == 20 == len(report["rows_free"]) == len(report["clearance"])
    assert report["free"] is False
    first, worst = report["first_contact"], report["worst_contact"]
    assert first["time"] == pytest.approx((first["row"] - 1) / 10)
    assert first["place"] == f"{path}:{first['row'] + 1}"
    assert report["rows_free"].index(False) == first["row"] - 1
    assert worst["clashes"][0]["distance"] == min(report["clearance"])
    assert sum(report["segments"].values()) == 19
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert len(out.read_text().splitlines()) == 21
    assert main(["check", "teaarm", *QUICK, "--trajectory", path]) == 1
    text = capsys.readouterr().out
    assert "first contact: row" in text
    assert "of 19 segments proved free" in text


def test_a_free_motion_from_standard_input_is_exit_code_0(capsys, tmp_path, load, monkeypatch):
    robot = load("teaarm")
    rows = np.linspace(robot.named_cfgs["hug"], robot.named_cfgs["arms_forward"], 5)
    path = table(tmp_path, rows, robot.joint_names)
    with open(path, "rb") as stream:
        monkeypatch.setattr("sys.stdin", type("Stdin", (), {"buffer": stream}))
        code, report = report_of(capsys, "--trajectory", "-")
    assert code == 0
    assert report["source"] == "standard input"
    assert report["segments"] == {"proved": 4, "blocked": 0, "undecided": 0, "contact": 0}
    assert report["closest"][0]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (["--cfg"], "at least one value"),
        (["--random", "100000000000"], "10,000,000"),
        (["--limit", "-1"], "--limit"),
        (["--plot", "x.png"], "no effect"),
        (["--missing", "default"], "no effect"),
        (["--degrees", "--named", "zero"], "no effect"),
        (["--trajectory", "run.csv", "--random", "5"], "no effect"),
        (["--trajectory", "run.csv", "--by", "spheres"], "no effect"),
        (["--trajectory", "ghost.csv"], "cannot read ghost.csv"),
        (["--cfg-file", "ghost.csv"], "cannot read ghost.csv"),
    ],
)
def test_what_has_no_effect_or_no_file_is_refused(capsys, bad, message):
    assert main(["check", "teaarm", *QUICK, *bad]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--trajectory", "--cfg-file"])
def test_a_file_that_is_not_there_is_said_before_long_work(capsys, monkeypatch, option):
    monkeypatch.setattr("elbowroom.cli._model_options.ModelOptions.chosen_spheres", None)
    assert main(["check", "teaarm", option, "ghost.csv"]) == 2
    assert "cannot read ghost.csv: No such file" in capsys.readouterr().err


def test_the_pairs_of_an_audit_are_those_that_a_model_keeps(capsys, tmp_path, load, monkeypatch):
    robot = load("teaarm")
    CollisionModel(robot, spheres=fit_spheres(robot, FitOptions(method="centerline")))
    monkeypatch.setattr("elbowroom.collision._defaults.compute_pairs", None)  # nothing is decided twice
    path = table(tmp_path, [robot.named_cfgs["hug"]] * 2, robot.joint_names)
    assert report_of(capsys, "--trajectory", path)[0] == 0


def test_clearances_that_no_joint_changes_are_named_apart_and_once(capsys, tmp_path, load):
    """The base of panda 2 mm above a table, at three configurations: none of them is told by that alone."""
    low = float(load("panda").link_mesh("panda_link0").bounds[0, 2])
    table = Box((2.0, 2.0, 0.1), pose=[1, 0, 0, 0, 0, 0, low - 0.052], name="table")
    scene = tmp_path / "scene.json"
    World([table]).write(scene)
    rows = np.array([[0, -0.6, 0, -2.0, 0, 1.5, 0.8, 0.04], [0.5, -0.4, 0, -1.8, 0, 1.6, 0.8, 0.04]])
    columns = ",".join(load("panda").joint_names)
    values = rows[:, : load("panda").dof]
    motion = tmp_path / "rows.csv"
    motion.write_text("\n".join([columns, *(",".join(map(str, row)) for row in values)]))
    asked = ["check", "panda", *QUICK, "--scene", str(scene)]
    assert main([*asked, "--cfg-file", str(motion)]) == 0
    text = capsys.readouterr().out
    assert text.count("always 2.0 mm: panda_link0 and table") == 1
    assert text.count("--allow panda_link0 table") == 1
    assert "closest checked pair: panda_link0 and table" not in text
    assert main([*asked, "--cfg-file", str(motion), "--json"]) == 0
    for entry in json.loads(capsys.readouterr().out)["listed"]:
        assert entry["clearance"] == pytest.approx(0.002, abs=1e-6)
        assert entry["varying_clearance"] > 0.002
        assert (entry["constant"][0]["a"], entry["constant"][0]["b"]) == ("panda_link0", "table")
    assert main([*asked, "--trajectory", str(motion), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["clearance"] == pytest.approx([0.002, 0.002], abs=1e-6)
    assert min(report["varying_clearance"]) == pytest.approx(
        report["closest_at"]["clashes"][0]["distance"], abs=1e-9
    )
    assert report["constant"][0]["samples"] == 0
    allowed = [*asked, "--allow", "panda_link0", "table", "--cfg-file", str(motion)]
    assert main(allowed) == 0
    assert "panda_link0 and table" not in capsys.readouterr().out
