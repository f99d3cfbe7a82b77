"""The soak itself: planted faults are found, kept and repeated, the run outlives them; a few cases of every fuzzer."""

from __future__ import annotations

import importlib
import json
import os
from dataclasses import replace

import numpy as np
import pytest

import elbowroom as er
from elbowroom import formats
from elbowroom.plan import plan_motion

from . import FUZZERS, Fuzzer, planted
from .__main__ import main
from .case import Case, Failure
from .runner import Soak
from .worker import resident, run_case

FAULTS = {
    planted.WRONG: "wrong",
    planted.RAISES: "exception",
    planted.HANGS: "hang",
    planted.DIES: "crash",
    **({planted.GROWS: "memory"} if resident() else {}),
}
PLANTED = {"planted": Fuzzer("tests.soak.planted", 1.5)}


@pytest.fixture(scope="module")
def soaked(tmp_path_factory):
    """Sixteen planted cases, handed out one by one."""
    folder = tmp_path_factory.mktemp("soak")
    soak = Soak(PLANTED, 4, folder, cases={"planted": range(16)}, memory=0.8)
    return soak.run(), folder


def test_planted_faults_are_found_and_survived(soaked):
    report, _ = soaked
    tally = report.tallies["planted"]
    assert {failure.index: failure.how for failure in tally.failures} == FAULTS
    assert tally.cases == 16
    assert tally.refused == 1
    assert tally.kinds == {"plain": 16 - len(FAULTS)}
    assert report.replaced["hang"] == report.replaced["crash"] == 1


@pytest.mark.parametrize("index", FAULTS)
def test_a_fault_is_kept_with_its_input_and_how_to_repeat_it(soaked, index, tmp_path):
    kept = soaked[1] / f"planted-4-{index}"
    told = json.loads((kept / "failure.json").read_text())
    assert told["how"] == FAULTS[index]
    assert told["again"] == f'make soak ARGS="--case planted:{index} --seed 4"'
    drawn = Case("planted", 4, index, tmp_path).number()
    assert (kept / "input.txt").read_text() == f"{drawn}\n"  # by its number alone, the same draws
    word = {"hang": "planted.py", "crash": "Fatal Python error: Aborted", "memory": "0.8 GB"}
    assert word.get(FAULTS[index], f"planted {drawn}") in (kept / "failure.txt").read_text()


def test_a_case_is_repeated_on_the_command_line(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("tests.soak.__main__.FUZZERS", PLANTED)
    monkeypatch.chdir(tmp_path)
    again = [
        "--seed",
        "4",
        "--case",
        f"planted:{planted.WRONG}",
        "--case",
        "planted:0",
        "--json",
        "figures.json",
    ]
    assert main(again) == 1
    drawn = Case("planted", 4, planted.WRONG, tmp_path).number()
    assert f"Wrong: planted {drawn}" in capsys.readouterr().out
    assert os.listdir("soak-failures") == [f"planted-4-{planted.WRONG}"]
    figures = json.loads((tmp_path / "figures.json").read_text())["fuzzers"]["planted"]
    assert (figures["cases"], len(figures["failures"])) == (2, 1)
    assert main(["--case", "planted:0"]) == 0
    with pytest.raises(SystemExit):
        main(["--case", "planted"])


def test_a_run_of_given_time_goes_through_the_cases_once(tmp_path):
    soak = Soak(PLANTED, 0, tmp_path, minutes=0.05, workers=2, memory=0.8)
    seen = []
    add = soak.report.tallies["planted"].add
    soak.report.tallies["planted"].add = lambda index, *told: (seen.append(index), add(index, *told))
    report = soak.run()
    assert report.cases == len(seen) > 0
    assert len(set(seen)) == len(seen)
    assert {failure.index for failure in report.failures} <= set(FAULTS)
    assert 3.0 <= 60.0 * report.minutes < 30.0


def test_processes_that_cannot_start_end_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.soak.runner.worker.main", os.abort)  # takes no arguments: dies of any
    report = Soak(PLANTED, 0, tmp_path, cases={"planted": [0]}).run()
    assert "died before they ran a case" in report.ended
    assert report.cases == 0


def test_every_case_has_draws_of_its_own(tmp_path):
    drawn = {
        Case(name, seed, index, tmp_path).number() for name in FUZZERS for seed in (0, 1) for index in (0, 1)
    }
    assert len(drawn) == 4 * len(FUZZERS)


@pytest.mark.parametrize(
    ("name", "indices"),
    [
        ("descriptions", range(5)),
        ("formats", range(10)),
        ("meshes", range(20)),
        ("verdicts", [6, 12]),  # of random robots, which need no long fit
        ("plans", [30, 35]),
    ],
)
def test_a_few_cases_of_every_fuzzer(tmp_path, monkeypatch, name, indices):
    pytest.importorskip("coal")
    pytest.importorskip("pinocchio")
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(FUZZERS[name].module)
    told = [run_case(module, Case(name, 0, index, tmp_path / "case")) for index in indices]
    assert [found.text for found in told if isinstance(found, Failure)] == []


def broken_poses(monkeypatch):
    right = er.Robot.link_poses
    monkeypatch.setattr(er.Robot, "link_poses", lambda robot, cfgs: right(robot, cfgs) + 1e-6)


def broken_files(monkeypatch):
    right = formats.read
    monkeypatch.setattr(
        formats, "read", lambda path, **how: replace(right(path, **how), ignored={("a", "b"): ""})
    )


def broken_meshes(monkeypatch):
    monkeypatch.setattr("tests.soak.meshes.collide_states", lambda *asked, **how: np.zeros(1))


def broken_verdicts(monkeypatch):
    monkeypatch.setattr(
        er.CollisionModel, "free", lambda model, cfgs, **how: np.ones(np.shape(cfgs)[:-1], bool)
    )


def broken_plans(monkeypatch):
    def plan(*asked):
        found = plan_motion(*asked)
        return found if found.path is None else replace(found, path=found.path + 0.5)

    monkeypatch.setattr("tests.soak.plans.plan_motion", plan)


@pytest.mark.parametrize(
    ("name", "breaks", "indices"),
    [
        ("descriptions", broken_poses, range(3)),
        ("formats", broken_files, range(6)),
        ("meshes", broken_meshes, range(10)),
        ("verdicts", broken_verdicts, [6]),
        ("plans", broken_plans, [30]),
    ],
)
def test_the_judges_find_what_is_broken(tmp_path, monkeypatch, name, breaks, indices):
    pytest.importorskip("coal")
    pytest.importorskip("pinocchio")
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(FUZZERS[name].module)
    breaks(monkeypatch)
    told = [run_case(module, Case(name, 0, index, tmp_path / "case")) for index in indices]
    assert "wrong" in {found.how for found in told if isinstance(found, Failure)}


def test_brute_force_tells_what_crosses_and_what_is_apart():
    """The judge of meshes: a triangle through another, one beside it, one that touches it."""
    from .brute import gap, surely_cross, touch_exactly

    flat = np.array([[[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]])
    through = np.array([[[0.2, 0.2, -1.0], [0.2, 0.3, 1], [0.3, 0.2, 1]]])
    up = np.array([0.0, 0.0, 1.0])
    assert surely_cross(flat, through, 2.0)
    beside = through + 3.0 * up
    assert not surely_cross(flat, beside, 2.0)
    assert gap(flat, beside) == pytest.approx(2.0)
    resting = through + up
    assert not surely_cross(flat, resting, 2.0)
    assert touch_exactly(flat[0], resting[0])
    assert not touch_exactly(flat[0], (through + (1.0 + 2.0**-52) * up)[0])
