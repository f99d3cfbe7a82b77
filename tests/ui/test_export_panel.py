"""Every format leaves the page as a download or at a path, and commands write the same bytes."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from elbowroom import CollisionModel, formats
from elbowroom.errors import ElbowroomError, InputError
from elbowroom.pairs import pairs_from_ignored
from elbowroom.ui._commands import check_command, model_words, needed_files
from elbowroom.ui._exports import KINDS, export_bytes, export_command, export_to, typed_path
from elbowroom.ui._page import opened
from elbowroom.ui._view import View
from elbowroom.ui.panels import ExportPanel
from elbowroom.ui.state import (
    ChooseExport,
    Exported,
    Held,
    ModelMade,
    ModelParts,
    OverridePair,
    PageState,
    RobotKey,
    SetPairs,
    SetSpheres,
    SetWorld,
    update,
)
from elbowroom.world import Box, World
from tests.ui.page_tools import HOSTILE, act, widget

RUN = """
import shlex, sys
from elbowroom.cli import main
for line in sys.stdin:
    words = shlex.split(line)
    assert words[0] == "elbowroom", words
    code = main(words[1:])
    print("code", code, flush=True)
"""
"""Runs commands one after the other, in one process: what a shell would start, without starting it ten times."""
PAIR = ("left_arm_l5", "right_arm_l5")
KEPT = ("left_arm_l1", "right_arm_l1")


@pytest.fixture(scope="module")
def edited(model) -> View:
    """The bundled robot with pairs of its SRDF, one that the user took out, one put in, and an obstacle."""
    (robot, spheres), key = model("teaarm"), RobotKey("teaarm")
    state = update(PageState(), opened(key, robot))
    pairs = pairs_from_ignored(robot, robot.disabled_pairs, "SRDF")
    world = World([Box(size=(0.2, 0.3, 0.4), pose=[1, 0, 0, 0, 0.9, 0, 0.3], name="a box")])
    decided = OverridePair(*PAIR, False), OverridePair(*KEPT, True)
    for event in (SetSpheres(spheres), SetPairs(pairs), *decided, SetWorld(world)):
        state = update(state, event)
    made = CollisionModel(robot, spheres, pairs.with_user(ignore=[PAIR], check=[KEPT]), world)
    state = update(state, ModelMade(made, key, state.model))
    return View(state, robot, model=made, current=True)


def _run(lines: list[str], folder: Path) -> list[int]:
    """Exit codes."""
    done = subprocess.run(
        [sys.executable, "-c", RUN], input="\n".join(lines), cwd=folder, capture_output=True, text=True
    )
    codes = [int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("code ")]
    assert len(codes) == len(lines), done.stderr
    (folder / "out.txt").write_text(done.stdout)
    return codes


def test_commands_write_the_same_bytes_as_the_page(edited, tmp_path):
    assert needed_files(edited) == ("teaarm_model.json", "teaarm_scene.json")
    page: dict[str, bytes] = {}
    lines: list[str] = []
    for kind in KINDS:
        files, _ = export_bytes(edited, kind)
        line, needs = export_command(edited, kind)
        assert set(needs) <= {"model", "scene"}
        if line:
            page |= files
            lines.append(line)
        elif kind in ("model", "scene"):  # the page offers these first
            for name, data in files.items():
                (tmp_path / name).write_bytes(data)
    assert len(page) == len(KINDS) - 3  # commands start from the model and the scene; pairs alone have none
    other = tmp_path / "with space"
    other.mkdir()
    lines.append(export_command(edited, "srdf", str(other / "x.txt"))[0])
    lines.append(check_command(edited) + " --json")
    assert _run(lines, tmp_path) == [0] * len(lines)
    for name, data in page.items():
        assert (tmp_path / name).read_bytes() == data, name
    assert (other / "x.txt").read_bytes() == page["teaarm.srdf"]
    printed = (tmp_path / "out.txt").read_text()
    verdict = json.loads(printed[printed.rindex('{\n  "robot"') : printed.rindex("code 0")])
    assert verdict["obstacles"] == 1
    assert verdict["checked_pairs"] == len(edited.model.pairs.checked)
    cfg = np.array(edited.state.robot.cfg)
    assert verdict["listed"][0]["clearance"] == pytest.approx(edited.model.explain(cfg).clearance)


def test_a_real_shell_runs_the_line(edited, tmp_path):
    for name, data in export_bytes(edited, "scene")[0].items():
        (tmp_path / name).write_bytes(data)
    path = tmp_path / "it's; $(touch harm)"
    path.mkdir()
    line, _ = export_command(edited, "moveit", str(path / "scene.yaml"))
    function = f'elbowroom() {{ {shlex.quote(sys.executable)} -m elbowroom "$@"; }}'
    subprocess.run(["sh", "-c", f"{function}\n{line}"], cwd=tmp_path, check=True, capture_output=True)
    assert (path / "scene.yaml").read_bytes() == export_bytes(edited, "moveit")[0]["teaarm_scene.yaml"]
    assert not (tmp_path / "harm").exists()


def test_what_is_exported_reads_back(edited, tmp_path):
    export_to(edited, "model", tmp_path / "m.json")
    found = formats.read(tmp_path / "m.json", robot=edited.robot)
    assert found.pairs == edited.model.pairs
    assert np.array_equal(found.spheres.radii, edited.model.spheres.radii)
    assert World.read(_written(edited, "scene", tmp_path)).names == ("a box",)


def _written(view: View, kind: str, folder: Path) -> Path:
    path = typed_path(view, kind, str(folder))
    export_to(view, kind, path)
    return path


def test_nothing_is_harmed(edited, tmp_path):
    other = tmp_path / "notes.json"
    other.write_text('{"mine": 1}')
    for place in (other, tmp_path / "missing" / "x.yml", Path("/proc/version")):
        with pytest.raises(ElbowroomError):
            export_to(edited, "model", place)
    assert other.read_text() == '{"mine": 1}'
    assert not (tmp_path / "missing").exists()
    for text in ("", "  ", "\x00", "x" * 5000, "~nobody-of-that-name/x"):
        with pytest.raises(InputError):
            typed_path(edited, "model", text)
    assert typed_path(edited, "curobo", str(tmp_path)) == tmp_path / "teaarm.yml"
    if os.geteuid() != 0:
        closed = tmp_path / "closed"
        closed.mkdir(mode=0o500)
        with pytest.raises(InputError, match="read-only"):
            export_to(edited, "model", closed / "x.json")


def test_words_for_what_was_edited(edited):
    state = edited.state
    plain = replace(edited, state=replace(state, model=ModelParts()))
    assert needed_files(plain) == ()
    assert model_words(plain) == ()
    ignored = ModelParts(overrides=((PAIR, False),), buffer=0.01)
    words = model_words(replace(edited, state=replace(state, model=ignored)))
    assert words == ("--ignore", *PAIR, "--buffer", "0.01")
    allowed = replace(state.model, allow=(("base_link", "a box"),))
    words = model_words(replace(edited, state=replace(state, model=allowed)))
    assert words is not None
    assert words[-3:] == ("--allow", "base_link", "a box")
    held = replace(state.model, attached=(Held("cup", "left_arm_l7", Box(size=(0.1, 0.1, 0.1))),))
    assert check_command(replace(edited, state=replace(state, model=held))) == ""
    given = replace(state, robot=replace(state.robot, key=RobotKey("teaarm", given=True)))
    assert check_command(replace(edited, state=given)) == ""
    assert export_command(replace(edited, state=given), "curobo") == ("", ())
    dirs = replace(
        state,
        robot=replace(
            state.robot, key=RobotKey("a b.urdf", package_dirs=("x",), xacro_args=(("n", "1"),), strict=True)
        ),
    )
    line, _ = export_command(replace(edited, state=dirs), "xrdf")
    assert line == (
        "elbowroom convert teaarm_model.json teaarm.xrdf --robot 'a b.urdf' --package-dirs x --strict "
        "--xacro-args n:=1"
    )


def test_panel_downloads_writes_and_goes_on(stage, desk, tmp_path):
    _, gui, _ = stage(ExportPanel)
    act(widget(gui, "Format"), "Spheres (JSON)")
    assert desk.history.state.export.kind == "spheres"
    act(widget(gui, "Download"))
    desk.work()
    assert json.loads(desk.files["rails_spheres.json"])["spheres"]
    assert isinstance(desk.sent[-1], Exported)
    assert not desk.history.past

    act(widget(gui, "Format"), "Pairs (JSON)")
    act(widget(gui, "Path"), str(tmp_path))
    act(widget(gui, "Write to path"))
    desk.work()
    assert HOSTILE in (tmp_path / "rails_pairs.json").read_text()
    assert desk.history.state.export.done.place == str(tmp_path / "rails_pairs.json")

    act(widget(gui, "Path"), str(tmp_path / "none" / "x.json"))
    act(widget(gui, "Write to path"))
    with pytest.raises(InputError, match="there is no folder"):  # a page says so and goes on
        desk.work()
    act(widget(gui, "Format"), "Scene (JSON)")
    act(widget(gui, "Download"))
    with pytest.raises(InputError, match="no obstacles"):
        desk.work()


def test_others_may_not_write_here(stage, desk):
    desk.local = False
    _, gui, _ = stage(ExportPanel)
    labels = [getattr(handle, "label", None) for handle in gui._gui_input_handle_from_uuid.values()]
    assert "Download" in labels
    assert "Write to path" not in labels


def test_unknown_formats_are_refused():
    with pytest.raises(InputError):
        update(PageState(), ChooseExport("exe", ""))
