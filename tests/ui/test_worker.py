"""The threads of a page: order, latest wins, errors, progress and cancelling."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import pytest

from elbowroom.errors import ElbowroomError
from elbowroom.ui._jobs import Cancelled, Job, Jobs, Report
from elbowroom.ui._worker import AnswerQueue, Worker
from elbowroom.ui.state import Event, Move, SetDark
from tests.ui.child_work import count_to, divide, leave, refuse, sleep_long
from tests.ui.page_tools import until


@dataclass(frozen=True)
class Note(Event):
    """An event with a number."""

    number: int


def test_waiting_moves_of_one_slider_are_worth_the_last_and_nothing_else_is_lost():
    steps, faults, hold = [], [], threading.Event()

    def step(events):
        hold.wait(10)
        steps.append(list(events))

    worker = Worker(step, faults.append, "test")
    worker.send(Note(0))
    until(lambda: worker.settled)
    sent = [*(Move(0, k) for k in range(9)), Note(1), Move(0, 9), Move(1, 0), Move(1, 1), Note(2), Note(3)]
    for event in sent:
        worker.send(event)
    hold.set()
    until(lambda: len(steps) == 2)
    assert steps[1] == [Move(0, 8), Note(1), Move(0, 9), Move(1, 1), Note(2), Note(3)]
    worker.stop()
    assert not faults


def test_a_step_that_raises_does_not_end_the_worker():
    seen, faults = [], []

    def step(events):
        if events[0] == Note(0):
            raise ZeroDivisionError("oh")
        seen.extend(events)

    worker = Worker(step, faults.append, "test")
    worker.send(Note(0))
    until(lambda: faults)
    worker.send(Note(1))
    until(lambda: seen == [Note(1)])
    worker.stop()
    worker.send(Note(2))
    assert isinstance(faults[0], ZeroDivisionError)


def test_the_lane_answers_the_latest_of_each_question():
    answers, faults, hold = [], [], threading.Event()
    lane = AnswerQueue(answers.append, faults.append, "test")
    lane.ask("a", lambda: hold.wait(10) and Note(0))
    time.sleep(0.05)
    for k in range(1, 6):
        lane.ask("a", lambda k=k: Note(k))
        lane.ask("b", lambda k=k: Note(10 * k))
    lane.ask("c", lambda: 1 / 0)
    hold.set()
    until(lambda: len(answers) == 3 and faults)
    assert answers == [Note(0), Note(5), Note(50)]
    lane.stop()


def jobs():
    answers, faults = [], []
    return Jobs(answers.append, faults.append, lambda: None), answers, faults


def test_a_job_reports_and_answers():
    crew, answers, faults = jobs()
    step = threading.Event()

    def work(report):
        report.say("halfway")
        report(1, 2)
        step.wait(10)
        return SetDark(True)

    crew.run(Job("x", "working", work))
    until(lambda: crew.busy and crew.busy[0].share == 0.5)
    assert crew.busy[0].title == "halfway"
    step.set()
    until(lambda: answers)
    assert (answers, faults, crew.busy) == ([SetDark(True)], [], ())
    crew.stop()


def test_a_newer_job_of_a_key_takes_over_and_cancelling_drops_results():
    crew, answers, faults = jobs()
    started = threading.Event()

    def endless(report):
        started.set()
        while True:
            report(0, 1)
            time.sleep(0.01)

    crew.run(Job("x", "endless", endless))
    assert started.wait(10)
    crew.run(Job("x", "quick", lambda report: Note(1)))
    until(lambda: answers == [Note(1)])
    crew.run(Job("x", "endless", endless))
    crew.run(Job("y", "raises", lambda report: 1 / 0))
    until(lambda: faults)
    crew.cancel()
    crew.stop()
    assert answers == [Note(1)]
    assert isinstance(faults[0], ZeroDivisionError)


def report():
    return Report(lambda: None)


def test_a_child_process_answers_reports_and_fails_like_a_function():
    told = report()
    assert told.child(count_to, 3) == 6
    assert (told.text, told.share) == ("counting", 1.0)
    with pytest.raises(ElbowroomError, match="three is too many"):
        report().child(refuse, 3)
    with pytest.raises(ElbowroomError, match="ZeroDivisionError"):
        report().child(divide)
    with pytest.raises(ElbowroomError, match="ended by itself"):
        report().child(leave)


def test_a_child_that_never_listens_is_killed():
    told = report()
    threading.Timer(1.0, told.stop.set).start()
    start = time.monotonic()
    with pytest.raises(Cancelled):
        told.child(sleep_long)
    assert time.monotonic() - start < 60  # it would sleep for ten minutes
    with pytest.raises(Cancelled):
        told.child(count_to, 3)
