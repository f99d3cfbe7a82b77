"""One default pose, one pair matrix: every verb, the page and Python give the same for a robot."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import elbowroom as er
from elbowroom import formats
from elbowroom.cli import main
from elbowroom.ui._page import opened
from elbowroom.ui._shared import SharedModels
from elbowroom.ui._sphere_work import decide
from elbowroom.ui.state import ModelMade, ModelParts, PageState, RobotKey

ROBOTS = [
    "double_pendulum",
    "finger_edu",
    "quadruped",
    pytest.param("hextilt", marks=pytest.mark.long),
    pytest.param("laikago", marks=pytest.mark.long),
    pytest.param("panda_collision", marks=pytest.mark.long),
    pytest.param(
        "so100", marks=pytest.mark.long
    ),  # its default pose is a guess that collides, and two of its links have visual geometry only
    pytest.param("borinot", marks=pytest.mark.long),
    pytest.param("ur3", marks=pytest.mark.long),
    pytest.param("tiago_pro", marks=pytest.mark.long),  # as so100, with 1128 pairs
]


class _Silent:
    """Progress and report of a job that nobody watches."""

    def __call__(self, done: int, total: int) -> None: ...

    def say(self, text: str) -> None: ...

    def check(self) -> None: ...


@pytest.mark.filterwarnings("ignore::elbowroom.errors.ApproximationWarning")
@pytest.mark.parametrize("name", ROBOTS)
def test_every_verb_the_page_and_python_agree(name, load, tmp_path, capsys):
    def told(*words: Any) -> dict[str, Any]:
        assert main([*map(str, words), "--json"]) in (0, 1)
        return json.loads(capsys.readouterr().out)

    robot = load(name)
    model = er.CollisionModel(robot)
    pairs, pose = model.pairs, model.pairs.default_pose
    assert pose is not None
    assert (model.default_cfg == pose.cfg).all()

    setup = told("setup", name, "--out", tmp_path / "files")
    written = formats.read(tmp_path / "files" / "robot.json", robot=robot)
    assert written.pairs == pairs  # every pair with its evidence, the default pose, the notes
    assert written.spheres == model.spheres
    assert list(setup["choices"]["default_pose"].values()) == pose.cfg.tolist()
    assert setup["default_pose"]["cfg"] == pose.cfg.tolist()

    listed = told("pairs", name)
    assert {(p["link_a"], p["link_b"]): (p["reason"], p["text"]) for p in listed["pairs"]} == {
        pair: (found.reason.name, found.text) for pair, found in pairs.entries.items()
    }
    assert told("spheres", name)["spheres"] == model.spheres.to_json()["spheres"]

    end = robot.mesh_links[-1]
    place = robot.link_poses(pose.cfg)[robot.link_index(end)][4:]
    answers = {
        "setup": setup["default_pose"],
        "pairs": listed["default_pose"],
        **{
            verb: _model_facts(told(verb, name, *words), pairs)
            for verb, words in {
                "check": (),
                "plan": ("--goal", "default"),
                "ik": ("--target", end, *place.tolist()),
            }.items()
        },
    }
    for verb, said in answers.items():
        assert said["cfg"] == pose.cfg.tolist(), verb
        assert said["source"] == pose.source, verb
    checked = told("check", name)
    assert checked["listed"][0]["cfg"] == pose.cfg.tolist()

    given = told("info", name)["default_pose"]  # what the description gives, before anything is checked
    moved = {j for j, a, b in zip(robot.joint_names, given["cfg"], pose.cfg.tolist(), strict=True) if a != b}
    assert moved <= set(given["guessed_joints"])
    assert pose.source.startswith(given["source"])
    assert bool(moved) == ("moved to the nearest free pose found" in pose.source)

    shared, key = SharedModels(), RobotKey(name, given=True)
    shared.put(key, robot)
    state = opened(key, robot).apply(PageState())
    shown = shared.model(key, state.model, _Silent())  # pyright: ignore[reportArgumentType]
    state = ModelMade(shown, key, ModelParts()).apply(state)
    assert shown.pairs == pairs
    np.testing.assert_array_equal(state.robot.cfg, np.clip(pose.cfg, robot.lower, robot.upper))
    assert decide(robot, None, er.PairOptions(), _Silent())[0] == pairs  # pyright: ignore[reportArgumentType]


def _model_facts(said: dict[str, Any], pairs: er.PairMatrix) -> dict[str, Any]:
    """The default pose that a verb tells, after a look at what it tells of pairs."""
    counts = (said["checked_pairs"], said["decided_by_meshes_alone"], said["ignored_pairs"])
    assert counts == (len(pairs.checked), len(pairs.by_meshes), len(pairs.ignored))
    return said["default_pose"]
