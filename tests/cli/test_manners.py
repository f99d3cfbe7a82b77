"""Manners of the command line: exit codes, pipes, help, examples, completion, progress, interrupts."""

from __future__ import annotations

import importlib
import json
import logging
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import trimesh

from elbowroom import load_robot
from elbowroom._text import number
from elbowroom.cli import VERBS, _doctor, _options, _progress, main
from elbowroom.pairs import PairOptions
from elbowroom.spheres import FitOptions
from elbowroom.world import Box, World

ELBOWROOM = [sys.executable, "-m", "elbowroom"]
MODULES = {verb: importlib.import_module(f"elbowroom.cli._{verb}") for verb in VERBS}


def shell(line: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", line.replace("elbowroom", shlex.join(ELBOWROOM))],
        capture_output=True,
        text=True,
        **options,
    )


# Exit codes -----------------------------------------------------------------------------------------


def test_a_fault_of_ours_is_one_line_and_exit_code_3(capsys, monkeypatch):
    def broken():
        raise TypeError("two\nlines")

    monkeypatch.setattr(_doctor, "examine", broken)
    monkeypatch.delenv("ELBOWROOM_DEBUG", raising=False)
    assert main(["doctor"]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert "bug in elbowroom, please report" in line
    assert "TypeError: two lines" in line
    monkeypatch.setenv("ELBOWROOM_DEBUG", "1")
    assert main(["doctor"]) == 3
    assert "Traceback" in capsys.readouterr().err


def test_too_much_memory_is_no_fault(capsys, monkeypatch):
    def greedy():
        raise MemoryError("Unable to allocate 1 PiB")

    monkeypatch.setattr(_doctor, "examine", greedy)
    assert main(["doctor"]) == 2
    assert "not enough memory" in capsys.readouterr().err


@pytest.mark.parametrize(("named", "code"), [("arms_forward", 0), ("self_collision", 1)])
def test_a_closed_pipe_does_not_change_the_answer(named, code):
    command = f"elbowroom check teaarm --method centerline --samples 64 --named {named} --json"
    result = shell(f"{command} | true; echo ${{PIPESTATUS[0]}}")
    assert result.stdout.strip() == str(code)
    assert "Traceback" not in result.stderr
    assert "Broken" not in result.stderr


def test_output_that_cannot_be_written_is_said():
    result = shell("elbowroom info > /dev/full")
    assert result.returncode == 2
    assert result.stderr.strip() == "elbowroom info: cannot write standard output: No space left on device"
    assert shell("elbowroom info >&-").returncode == 0
    assert shell("elbowroom info ghost 2>&-").returncode == 2


def test_files_to_standard_output_leave_text_to_standard_error():
    result = shell("elbowroom spheres teaarm --method centerline --out /dev/stdout --format json")
    assert result.returncode == 0
    assert json.loads(result.stdout)["robot"] == "teaarm"
    assert "proved to cover every link" in result.stderr
    assert Path("/dev/stdout").exists()


# Text -----------------------------------------------------------------------------------------------


def test_numbers_are_as_people_read_them():
    texts = [
        number(value) for value in (1.7e-17, -0.0, -1e-12, 0.1 + 0.2, -2.0, 1234567.0, 3.2e-5, float("inf"))
    ]
    assert texts == ["0", "0", "0", "0.3", "-2", "1235000", "0.000032", "inf"]


def test_text_in_a_pipe_does_not_wrap(capsys):
    assert (
        main(["pairs", "teaarm", "--method", "centerline", "--samples", "64", "--proof-boxes", "8", "--all"])
        == 0
    )
    lines = capsys.readouterr().out.splitlines()
    rows = [line for line in lines if " because " in line]
    assert len(rows) == 17 * 16 // 2  # one line a pair
    assert max(map(len, rows)) > 160
    assert all(line == line.rstrip() for line in lines)
    assert main(["info", "rh56"]) == 0
    assert "e-" not in capsys.readouterr().out


def test_json_holds_everything(capsys):
    assert main(["spheres", "teaarm", "--method", "centerline", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert sum(map(len, report["spheres"].values())) == report["n_spheres"]
    assert main(["info", "teaarm", "--json"]) == 0
    pairs = json.loads(capsys.readouterr().out)["disabled_pairs"]
    assert {"link_a", "link_b", "reason"} == set(pairs[0])


# Help and options -----------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_help_names_things_and_shows_examples(capsys, verb):
    assert main([verb, "--help"]) == 0
    out = capsys.readouterr().out
    for word in ("STR", "{None}", "INT", "FLOAT", "PATH"):
        assert f" {word}" not in out
        assert f"[{word}" not in out
    assert f"  elbowroom {verb}" in out


def test_options_of_algorithms_are_defined_once():
    for verb, algorithm in (("spheres", FitOptions), ("pairs", PairOptions), ("pairs", FitOptions)):
        texts = _options.field_texts(algorithm)
        shared = [
            argument
            for argument in _options.arguments_of(MODULES[verb].Options)
            if argument.group and argument.name in texts
        ]
        assert shared
        defaults = algorithm()
        for argument in shared:
            assert argument.default == getattr(defaults, argument.name)
    spheres = {argument.name: argument for argument in _options.arguments_of(MODULES["spheres"].Options)}
    assert spheres["margin"].help == _options.field_texts(FitOptions)["margin"]


EXAMPLES = [command for module in MODULES.values() for command in getattr(module, "EXAMPLES", {})]
SLOW = (
    "elbowroom demo",
    "elbowroom spheres teaarm -n",
    "elbowroom check",
    "elbowroom pairs teaarm --method centerline --diff",
    "elbowroom setup",
    "elbowroom ik",
    "elbowroom bench",
)


@pytest.fixture(scope="module")
def work_folder(tmp_path_factory):
    """A folder with the files that examples of other verbs have written."""
    place = tmp_path_factory.mktemp("examples")
    before = Path.cwd()
    os.chdir(place)
    try:
        quick = ["teaarm", "--method", "centerline"]
        assert main(["spheres", *quick, "--out", "teaarm.json"]) == 0
        few = ["--samples", "64", "--proof-boxes", "8"]
        assert main(["pairs", *quick, *few, "--out", "teaarm_pairs.json"]) == 0
        robot = load_robot("teaarm")
        rows = np.linspace(robot.named_cfgs["arms_forward"], robot.named_cfgs["arms_up"], 5)
        for name, columns, table in (
            ("grasps.csv", robot.joint_names, rows),
            ("run.csv", ("time", *robot.joint_names), np.column_stack([np.arange(5.0), rows])),
        ):
            np.savetxt(name, table, delimiter=",", header=",".join(columns), comments="")
        Path("poses.csv").write_text(
            "frame_left_arm_ee.x,frame_left_arm_ee.y,frame_left_arm_ee.z\n0.3,0.3,0.6\n"
        )
        for name, turn in (("start.json", 0.0), ("goal.json", 0.5)):
            Path(name).write_text(json.dumps([turn, 0.0, 0.0, -1.6, 0.0, 1.6, 0.0, 0.02]))
        for name, size in (("hand.stl", 0.1), ("cup.obj", 0.08), ("cup.stl", 0.02)):
            trimesh.creation.box((size, size, size)).export(name)
        World([Box((2, 2, 0.1), pose=[1, 0, 0, 0, 0, 0, -0.05], name="table")]).write("scene.yaml")
    finally:
        os.chdir(before)
    return place


@pytest.mark.filterwarnings("ignore::elbowroom.errors.ApproximationWarning")
@pytest.mark.parametrize(
    "command", [pytest.param(c, marks=pytest.mark.long if c.startswith(SLOW) else ()) for c in EXAMPLES]
)
def test_examples_run(work_folder, tmp_path, capsys, monkeypatch, command):
    for path in work_folder.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    words = shlex.split(re.split(" [<>] ", command)[0])[1:]  # of input, pytest leaves nothing to read
    if words[0] == "view":  # would wait for an interrupt
        monkeypatch.setattr("elbowroom.ui.PageServer.wait", lambda server: None)
        monkeypatch.setattr("webbrowser.open", lambda url: True)
    if words[0] == "bench":  # would measure for two minutes
        words += ["--seconds", "0.1"]
    assert main(words) in (0, 1), capsys.readouterr().err


def test_shells_complete_verbs_options_and_values(capsys, tmp_path):
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "elbowroom.bash"
    script.write_text(capsys.readouterr().out)
    ask = (
        f"cd {tmp_path}; source {script}\n"
        'ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); COMPREPLY=(); _tyro_elbowroom; echo "${COMPREPLY[@]}"; }\n'
    )
    for words, expected in [
        ("elbowroom sph", "spheres"),
        ("elbowroom spheres teaarm --meth", "--method"),
        ("elbowroom spheres teaarm --method ''", "tight centerline"),
    ]:
        result = subprocess.run(
            ["bash", "-c", f"{ask} ask {words}"], capture_output=True, text=True, check=True
        )
        assert result.stdout.strip() == expected
    how = subprocess.run(
        ["bash", "-c", f"{ask} complete -p elbowroom"], capture_output=True, text=True, check=True
    )
    assert how.stdout.split()[:3] == ["complete", "-o", "default"]  # names of files
    assert main(["completion", "fish"]) == 0
    assert "--command 'elbowroom'" in capsys.readouterr().out


# Progress -------------------------------------------------------------------------------------------


def test_long_work_says_what_it_does_in_a_pipe_too(capsys, monkeypatch):
    monkeypatch.setattr(_progress, "PATIENCE", 0.05)
    monkeypatch.setattr("elbowroom._progress.PATIENCE", 0.05)
    with _progress.library_progress(), _progress.progress_bar("counting") as progress:
        assert progress is not None
        for done in range(1, 9):
            time.sleep(0.06)
            progress(done, 8)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "counting ..."
    assert [line.split(" (")[0] for line in lines[1:]] == [f"counting: {k} of 8" for k in (2, 4, 6)]
    with _progress.waiting("nothing much"):
        pass
    with _progress.library_progress():
        logging.getLogger("elbowroom.progress").info("fitting %s", "spheres")
    assert capsys.readouterr().err == "fitting spheres\n"


# Interrupts -----------------------------------------------------------------------------------------

KERNEL = "check teaarm --method centerline --samples 64 --random 3000000"
WORKERS = "pairs teaarm --method centerline --samples 30000000 --workers 2"
FIT = "spheres teaarm -n 400"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("group", [False, True], ids=["process", "terminal"])
@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        (FIT, 0.3),
        (KERNEL, 2.5),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in ((FIT, 1.2), (FIT, 6.0), (KERNEL, 7.0), (WORKERS, 8.0))
        ),
    ],
)
def test_an_interrupt_is_exit_code_130_at_any_moment(tmp_path, line, seconds, group):
    environment = {**os.environ, "ELBOWROOM_CACHE": str(tmp_path)}  # nothing is taken from the cache
    process = subprocess.Popen(
        [*ELBOWROOM, *line.split()],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(seconds)
    assert process.poll() is None, "it ended before it could be interrupted"
    (os.killpg if group else os.kill)(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err.splitlines()[-1].endswith(": interrupted")
    assert "Traceback" not in err
    assert all(line.endswith(("...", "s)", "interrupted")) for line in err.splitlines())
    for _ in range(50):  # joblib's tracker of shared memory leaves last
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.2)
    else:
        raise AssertionError("processes are left")
