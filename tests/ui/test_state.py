"""The state of the page: events, undo, and what makes no sense."""

from __future__ import annotations

import pytest

from elbowroom.errors import ElbowroomError
from elbowroom.ui.state import (
    DropPose,
    Fade,
    History,
    LayerName,
    Move,
    OverridePair,
    PageState,
    PickLink,
    Redo,
    RobotKey,
    RobotOpened,
    SavePose,
    SetCfg,
    SetDark,
    SetSpheres,
    ShowLayer,
    Undo,
    update,
)

OPENED = RobotOpened(RobotKey("rails"), ("slide", "turn"), (-1.0, -1.0), (1.0, 1.0), (0.0, 0.0))
START = History().after(OPENED, 0.0)


def after(*events, history=START, apart=10.0):
    for k, event in enumerate(events):
        history = history.after(event, apart * (k + 1))
    return history


def test_a_move_changes_one_joint_within_its_limits():
    state = update(START.state, Move(1, 0.5))
    assert state.robot.cfg == (0.0, 0.5)
    assert update(state, Move(0, 1e9)).robot.cfg == (1.0, 0.5)
    assert START.state.robot.cfg == (0.0, 0.0)


@pytest.mark.parametrize(
    "event",
    [
        Move(0, float("nan")), Move(0, float("inf")), Move(7, 0.0), Move(-1, 0.0), SetCfg((0.0,)), SavePose("  "),
        Fade("visual", float("nan")),
    ],
)  # fmt: skip
def test_nonsense_is_refused_and_changes_nothing(event):
    with pytest.raises(ElbowroomError):
        START.after(event, 1.0)


def test_undo_and_redo_walk_the_same_states():
    done = after(Move(0, 0.1), Move(1, 0.2), SavePose("here"))
    back = after(Undo(), Undo(), history=done)
    assert back.state.robot.cfg == (0.1, 0.0)
    assert back.state.robot.saved == ()
    forth = after(Redo(), Redo(), history=back)
    assert forth.state.robot == done.state.robot
    assert after(Undo(), Undo(), Undo(), Undo(), history=done).state.robot == START.state.robot
    assert not START.past  # nothing before the first robot


def test_a_slider_drawn_is_one_step_and_another_move_forgets_what_was_undone():
    drawn = after(*(Move(0, 0.01 * k) for k in range(50)), apart=0.05)
    assert len(drawn.past) == 1
    assert drawn.after(Undo(), 9.0).state.robot.cfg == (0.0, 0.0)
    later = drawn.after(Move(0, 0.9), 60.0)
    assert len(later.past) == 2
    assert after(Undo(), Move(1, 0.3), history=later).future == ()


def test_undo_leaves_the_look_alone():
    history = after(Move(0, 0.1), SetDark(True), PickLink("tip"), ShowLayer("spheres", True))
    assert len(history.past) == 1
    undone = history.after(Undo(), 99.0).state
    assert undone.look == history.state.look
    assert undone.robot.cfg == (0.0, 0.0)
    assert history.after(PickLink("tip"), 99.0).state.look.link is None


def test_poses_are_saved_by_name_and_forgotten():
    state = after(Move(0, 0.3), SavePose(" up "), Move(0, 0.4), SavePose("up"), SavePose("other")).state
    assert dict(state.robot.saved) == {"up": (0.4, 0.0), "other": (0.4, 0.0)}
    assert dict(update(state, DropPose("up")).robot.saved) == {"other": (0.4, 0.0)}


def test_the_last_word_on_a_pair_counts_and_spheres_forget_pairs():
    state = after(OverridePair("b", "a", False), OverridePair("a", "b", True)).state
    assert state.model.overrides == ((("a", "b"), True),)
    assert update(state, OverridePair("a", "b", None)).model.overrides == ()
    assert update(state, SetSpheres(None)).model.overrides == state.model.overrides


def test_another_robot_starts_afresh():
    other = RobotOpened(RobotKey("other"), ("a",), (0.0,), (1.0,), (5.0,))
    state = after(SavePose("here"), OverridePair("a", "b", True), PickLink("tip"), other).state
    assert state.robot.cfg == (1.0,)
    assert (state.robot.saved, state.model.overrides, state.look.link) == ((), (), None)
    assert update(state, other) is state
    assert isinstance(state, PageState)
    assert set(LayerName.__args__) == {"visual", "collision", "spheres"}
