"""The Pairs panel with a gui and a scene that nobody looks at."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom import CollisionModel, PairOptions, compute_pairs
from elbowroom.cli import main
from elbowroom.errors import InputError
from elbowroom.mesh import ExactCollision
from elbowroom.pairs import PairReason
from elbowroom.ui._escape import escape
from elbowroom.ui._jobs import Report
from elbowroom.ui._shared import SharedModels
from elbowroom.ui._sphere_work import closest_cfg, decide, file_bytes
from elbowroom.ui.panels import PairsPanel
from elbowroom.ui.panels._pairs import matrix_svg
from elbowroom.ui.scene import link_colours
from elbowroom.ui.state import (
    ChoosePair,
    DecidePair,
    ModelMade,
    ModelParts,
    PairForm,
    PairsComputed,
    SetPairForm,
    SetSpheres,
)
from tests.ui.page_tools import APART, HOSTILE, act, of_file, rails_file, widget


class Here:
    """A child's work in this process: the other one is tested with the worker."""

    def child(self, function, *args):
        assert function is decide
        return function(*args, self)

    def __call__(self, done, total):
        pass

    def say(self, text):
        pass


def test_a_pair_is_chosen_coloured_and_explained(stage, desk):
    panel, gui, scene = stage(PairsPanel)
    assert "<svg" in panel._picture.content
    act(widget(gui, "Link A"), "tip")
    assert desk.history.state.pairs.pair is None
    assert widget(gui, "Link A").value == "tip"
    act(widget(gui, "Link B"), "base")
    assert desk.history.state.pairs.pair == ("tip", "base")
    assert set(link_colours(desk.view)) == {"tip", "base"}
    desk.answer()
    near = desk.history.state.pairs.near.clash
    assert f"{1000 * abs(near.distance):.1f} mm" in panel._words.content
    evidence = desk.model.pairs.evidence("tip", "base")
    assert str(evidence.reason) in panel._words.content
    assert escape(evidence.text, 600)[1:] in panel._words.content
    assert scene._handle_from_node_name["/pairs/segment"].visible
    act(widget(gui, "Look"), "Clear")
    assert link_colours(desk.view) == {}
    assert not scene._handle_from_node_name["/pairs/segment"].visible


def test_names_are_harmless(desk):
    pairs = desk.model.pairs
    text = matrix_svg(pairs, pairs.link_names, ("tip", HOSTILE))
    assert "<img" not in text
    assert escape(HOSTILE, 22) in text
    assert text.count("<rect") == 3 + 1 + len(set(pairs.counts()))  # cells, mark, legend


def test_closest_is_found(stage, desk):
    _, gui, _ = stage(PairsPanel)
    desk.send(ChoosePair((HOSTILE, "tip")))
    act(widget(gui, "Look"), "Closest")
    desk.work()
    cfg = np.array(desk.history.state.robot.cfg)
    robot, spheres = desk.model.robot, desk.model.spheres
    desk.answer()
    found = desk.history.state.pairs.near.clash.distance
    exact = ExactCollision(robot, [(HOSTILE, "tip")])
    drawn = robot.random_cfgs(200, seed=3)
    assert found < min(exact.distances(row)[0].distance for row in drawn)
    assert (robot.lower <= cfg).all()
    assert (cfg <= robot.upper).all()
    met = closest_cfg(robot, spheres, ("base", "tip"), cfg, lambda: None)
    assert ExactCollision(robot, [("base", "tip")]).contacts(met)


def test_a_pair_is_toggled_and_the_word_outlives_a_computation(stage, desk):
    _, gui, _ = stage(PairsPanel)
    desk.send(SetSpheres(desk.model.spheres))
    desk.send(ChoosePair(("tip", "base")))
    act(widget(gui, "Override"), "ignored")
    parts = desk.history.state.model
    assert parts.overrides == ((("base", "tip"), False),)
    assert widget(gui, "Override").value == "ignored"
    desk.send(SetPairForm(PairForm(samples=64, seed=3, buffer=0.01)))
    act(widget(gui, "Pairs"), "Recompute")
    desk.send(desk.jobs.pop().work(Here()))
    parts = desk.history.state.model
    found = parts.pairs.evidence("base", "tip")
    assert found.reason is PairReason.USER
    assert parts.overrides == ((("base", "tip"), False),)
    shared = SharedModels()
    shared.put(desk.key, desk.model.robot)
    model = shared.model(desk.key, parts, Report(lambda: None))
    assert model.pairs == parts.pairs  # the word is not said twice
    desk.send(ModelMade(model, desk.key, parts))
    act(widget(gui, "Override"), "as computed")
    assert desk.history.state.model.overrides == ()
    assert desk.history.state.model.pairs is None  # those were decided with the word
    desk.send(DecidePair("tip", HOSTILE, True))
    desk.send(SetSpheres(desk.model.spheres))
    assert desk.history.state.model.overrides == (((HOSTILE, "tip"), True),)


def test_the_command_writes_the_file_of_the_page(stage, desk, tmp_path, monkeypatch, capsys):
    _, gui, _ = stage(PairsPanel)
    rails_file(tmp_path)
    desk.send(SetSpheres(desk.model.spheres))
    (tmp_path / "rails_spheres.json").write_bytes(file_bytes("spheres.json", spheres=desk.model.spheres))
    desk.send(DecidePair("tip", "base", False))
    act(widget(gui, "Samples"), 100)
    act(widget(gui, "Buffer mm"), 15.0)
    act(widget(gui, "Pairs"), "Download")
    computed = desk.jobs.pop().work(Here())
    desk.send(computed)
    ((name, data),) = desk.files.items()
    words = computed.command(of_file(desk.view, "rails.urdf"))
    assert words == (
        "elbowroom pairs rails.urdf --spheres rails_spheres.json --samples 100 --seed 0 --buffer 0.015 "
        "--ignore base tip --out rails_pairs.json"
    )
    monkeypatch.chdir(tmp_path)
    assert main(words.split()[1:]) == 0
    assert (tmp_path / name).read_bytes() == data
    capsys.readouterr()
    desk.send(SetSpheres(None))
    assert "--spheres" not in computed.command(of_file(desk.view, "rails.urdf"))
    bare = PairsComputed(computed.pairs, options=computed.options, uncovered=("tip",))
    assert bare.command(of_file(desk.view, "rails.urdf")) == ""


def test_wishes_that_make_no_sense_are_said(stage, desk):
    _, gui, _ = stage(PairsPanel)
    act(widget(gui, "Samples"), 10**9)
    act(widget(gui, "Pairs"), "Recompute")
    assert desk.jobs == []
    assert "samples" in desk.said[-1]
    with pytest.raises(InputError, match="do not hold"):
        PairForm().options(ModelParts(buffer=0.05))


def test_pairs_of_uncovered_spheres_are_those_of_the_model(desk):
    robot = desk.model.robot
    small = desk.model.spheres.with_padding(self_collision={"tip": -0.1})
    pairs, uncovered = decide(robot, small, PairOptions(samples=64), Here())
    assert uncovered == ("tip",)
    model = CollisionModel(robot, small, pairs)
    assert model.free(np.array(APART))
    assert pairs == compute_pairs(robot, model.spheres, PairOptions(samples=64))
