"""The Spheres panel with a gui and a scene that nobody looks at."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from elbowroom.cli import main
from elbowroom.errors import InputError
from elbowroom.spheres.internal import link_twins
from elbowroom.ui._commands import fit_words
from elbowroom.ui._escape import escape
from elbowroom.ui._sphere_work import fit
from elbowroom.ui.panels import RobotPanel, SpheresPanel
from elbowroom.ui.scene import COLLIDING, link_colours
from elbowroom.ui.state import (
    AddSphere,
    CarrySpheres,
    ChooseSphere,
    DeleteSphere,
    FitForm,
    MoveSphere,
    ScaleSphere,
    SetFit,
    Undo,
    chosen_sphere,
    coverage,
    spheres_of,
)
from tests.ui.page_tools import HOSTILE, act, of_file, rails_file, widget


def proved(desk):
    """Answers until nothing is left to prove."""
    for _ in range(10):
        if "coverage" not in desk.questions:
            break
        desk.answer()
    return coverage(desk.model.robot, desk.history.state)


def nodes(scene):
    return scene._handle_from_node_name


def test_deleting_a_sphere_names_link_and_gap_and_undo_restores_the_proof(stage, desk):
    panel, gui, scene = stage(SpheresPanel)
    act(widget(gui, "Prove and measure"))
    assert all(proof.proved for proof in proved(desk).values())
    assert "Covered: proved" in panel._head.content
    before = spheres_of(desk.history.state)

    act(widget(gui, "Link"), HOSTILE)
    act(widget(gui, "Change"), "Add")
    act(widget(gui, "Change"), "Delete")
    assert proved(desk)[HOSTILE].proved
    desk.send(ScaleSphere(HOSTILE, 0, 0.1))
    gap = proved(desk)[HOSTILE]
    np.testing.assert_allclose(gap.worst_gap, 0.1 * (np.sqrt(3.0) - 1.0), atol=1e-6)  # a corner of its box
    assert f"**{escape(HOSTILE)}** sticks out by **73.2 mm**" in panel._head.content
    act(widget(gui, "Change"), "Delete")
    assert not proved(desk)[HOSTILE].proved
    assert "Not covered" in panel._head.content
    assert f"**{escape(HOSTILE)}** has **no sphere**" in panel._head.content
    assert "<" not in panel._head.content + panel._table.content
    assert f"/robot/{desk.model.robot.link_index(HOSTILE)}/gap_words" in nodes(scene)

    for _ in range(4):
        desk.send(Undo())
    assert spheres_of(desk.history.state) is before
    assert all(proof.proved for proof in proved(desk).values())
    assert "Covered: proved" in panel._head.content
    assert f"/robot/{desk.model.robot.link_index(HOSTILE)}/gap_words" not in nodes(scene)


def test_the_gap_is_the_one_that_meshes_have(stage, desk):
    panel, gui, _ = stage(SpheresPanel)
    desk.send(ChooseSphere(("tip", 0)))
    radius = chosen_sphere(desk.history.state)[3]
    act(widget(gui, "Radius mm"), 1000 * (radius - 0.01))
    gap = proved(desk)["tip"]
    np.testing.assert_allclose(gap.worst_gap, 0.01, atol=1e-6)
    assert "**tip** sticks out by **10.0 mm**" in panel._head.content
    act(widget(gui, "Change"), "Add")  # at the corner that sticks out
    added = desk.sent[-1]
    assert isinstance(added, AddSphere)
    np.testing.assert_allclose(added.center, gap.witness)


def test_only_the_link_that_changed_is_proved_again(stage, desk):
    _, gui, _ = stage(SpheresPanel)
    act(widget(gui, "Prove and measure"))
    before = proved(desk)
    desk.send(ScaleSphere("tip", 0, 0.3))
    after = coverage(desk.model.robot, desk.history.state)
    assert after["tip"] is None
    assert after["base"] is before["base"]
    assert proved(desk)["tip"].volume_ratio > before["tip"].volume_ratio


def test_spheres_are_clicked_dragged_and_mirrored(stage, desk):
    stage(RobotPanel)
    _, gui, scene = stage(SpheresPanel)
    act(widget(gui, "Show spheres"), True)
    frame = f"/robot/{desk.model.robot.link_index('tip')}"
    click = nodes(scene)[f"{frame}/spheres"]._impl.click_cb[0]
    clicked = type("Event", (), {"client_id": 0, "instance_index": 0})()
    assert list(getattr(click, "callback", click)(clicked).__await__()) == []
    assert desk.history.state.spheres.chosen == ("tip", 0)
    assert nodes(scene)[f"{frame}/spheres"].batched_colors.shape == (1, 3)

    handle = nodes(scene)[f"{frame}/sphere_handle"]
    handle._impl.position = np.array([0.05, 0.0, 0.01])
    listener = handle._impl_aux.update_cb[0]
    for phase in ("start", "update", "end"):
        happened = type("Event", (), {"client_id": 0, "phase": phase, "target": handle})()
        assert list(listener(happened).__await__()) == []
    np.testing.assert_allclose(chosen_sphere(desk.history.state)[2], [0.05, 0.0, 0.01])
    np.testing.assert_allclose(nodes(scene)[f"{frame}/spheres"].batched_positions, [[0.05, 0.0, 0.01]])

    widget(gui, "Mirror").value = "across its x"
    act(widget(gui, "Change"), "Mirror")
    centers, _ = spheres_of(desk.history.state).link("tip")
    np.testing.assert_allclose(centers, [[0.05, 0.0, 0.01], [-0.05, 0.0, 0.01]], atol=1e-12)
    widget(gui, "Mirror").value = "link to twins"
    act(widget(gui, "Change"), "Mirror")
    desk.work()
    assert len(spheres_of(desk.history.state).link("base")[1]) == 2  # three boxes of one size are twins
    assert spheres_of(desk.history.state).counts == {"base": 2, "tip": 2, HOSTILE: 2}


@pytest.mark.parametrize(
    "event",
    [
        MoveSphere("tip", 0, (math.nan, 0.0, 0.0)),
        MoveSphere("tip", 0, (1e9, 0.0, 0.0)),
        ScaleSphere("tip", 0, -1.0),
        ScaleSphere("tip", 0, math.inf),
        ScaleSphere("tip", 5, 0.1),
        DeleteSphere("tip", -1),
        AddSphere("tip", (0.0, 0.0, 0.0), math.nan),
    ],
)
def test_what_makes_no_sense_is_refused(desk, event):
    with pytest.raises(InputError):
        desk.history.after(event, 0.0)


def test_links_are_coloured_by_tightness(stage, desk):
    _, gui, _ = stage(SpheresPanel)
    act(widget(gui, "Colour by tightness"), True)
    proved(desk)
    tight = link_colours(desk.view)["tip"]
    desk.send(ScaleSphere("tip", 0, 0.1))
    proved(desk)
    assert link_colours(desk.view)["tip"] == COLLIDING != tight
    desk.send(Undo())
    proved(desk)
    assert link_colours(desk.view)["tip"] == tight


def test_the_form_says_what_is_fitted(stage, desk):
    _, gui, _ = stage(SpheresPanel)
    act(widget(gui, "Count"), "per link")
    act(widget(gui, "Of link"), "tip")
    act(widget(gui, "At most"), 4)
    act(widget(gui, "Method"), "centerline")
    act(widget(gui, "Spheres"), "Fit")
    (job,) = desk.jobs
    assert job.key == "spheres"
    form = desk.history.state.spheres.form
    assert form == FitForm(method="centerline", count="per link", per_link=(("tip", 4),))
    assert fit_words(form.options(["tip"])) == ("--method", "centerline", "--per-link", "tip", 4)
    desk.send(SetFit(FitForm(margin=math.nan)))
    act(widget(gui, "Spheres"), "Fit")
    assert "margin" in desk.said[-1]
    assert len(desk.jobs) == 1


def test_the_command_of_a_fit_writes_the_file_of_the_page(stage, desk, tmp_path, monkeypatch, capsys):
    _, gui, _ = stage(SpheresPanel)
    rails_file(tmp_path)
    form = FitForm(count="in total", n_spheres=3, effort=0.0, share_mirrored=False)
    desk.send(SetFit(form))
    act(widget(gui, "Spheres"), "Fit")

    class Here:
        """In this process: the other one is tested with the worker."""

        def child(self, function, *args):
            assert function is fit
            return function(*args, type("P", (), {"say": print, "__call__": lambda *_: None})())

    fitted = desk.jobs.pop().work(Here())
    desk.send(fitted)
    act(widget(gui, "Download spheres"))
    desk.answer()
    ((name, data),) = desk.files.items()
    monkeypatch.chdir(tmp_path)
    words = fitted.command(of_file(desk.view, "rails.urdf"))
    assert words.startswith("elbowroom spheres rails.urdf -n 3 --effort 0.0 --no-share-mirrored --out")
    assert main(words.split()[1:]) == 0
    assert (tmp_path / name).read_bytes() == data
    assert json.loads(data)["evidence"]["n_spheres"] == 3
    capsys.readouterr()


def test_twins_carry_onto_each_other(desk):
    robot = desk.model.robot
    twins = link_twins(robot)
    assert {twin.link for twin in twins["tip"]} == {"base", HOSTILE}
    for twin in twins["tip"]:
        corners = twin.carry(np.asarray(robot.link_mesh("tip").vertices))
        there = np.asarray(robot.link_mesh(twin.link).vertices)
        assert np.abs(corners[:, None] - there[None]).sum(axis=2).min(axis=1).max() < 1e-9


def test_carrying_twice_puts_a_sphere_once(desk):
    event = CarrySpheres("tip", (("base", np.array([[0.0, 0.0, 0.05, 0.1]])),))
    desk.send(event)
    desk.send(event)
    assert spheres_of(desk.history.state).counts["base"] == 2
