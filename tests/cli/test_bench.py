"""`elbowroom bench`: ours and the peer's answers to the same questions, timed."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from elbowroom.cli import main
from elbowroom.cli._bench import (
    Peer,
)  # the table shows its times alone, and its answers are to be trusted
from elbowroom.collision import CollisionModel


def test_a_table_of_ratios(capsys):
    pytest.importorskip("pinocchio")
    pytest.importorskip("coal")
    assert main(["bench", "rh56", "--seconds", "0.01", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["robot"] == "rh56"
    assert facts["peer"] == "Pinocchio + Coal"
    rows = {row["what"]: row for row in facts["rows"]}
    assert len(rows) == 9
    for row in rows.values():
        assert row["ours"] > 0.0
        assert row["theirs"] is None or row["ratio"] == pytest.approx(row["theirs"] / row["ours"])
    assert sum(row["theirs"] is not None for row in rows.values()) == 5


def test_without_a_peer_ours_is_timed_alone(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "coal", None)
    assert main(["bench", "rh56", "--seconds", "0.01"]) == 0
    out = capsys.readouterr().out
    assert "pip install" in out
    assert "verdict in a batch, random" in out


def test_seconds_are_positive(capsys):
    assert main(["bench", "rh56", "--seconds", "0"]) == 2
    assert "--seconds: expected a positive number" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["panda", "rh56"])  # rh56: joints that follow others, MJCF
def test_the_peer_has_the_same_robot(load, name):
    pytest.importorskip("pinocchio")
    pytest.importorskip("coal")
    model = CollisionModel(load(name))
    peer = Peer(model.robot, model.pairs.checked)
    cfgs = model.robot.random_cfgs(300, seed=1)
    rows = peer.rows(cfgs)
    theirs = np.array([not peer.collides(row) for row in rows])
    assert 0.0 < theirs.mean() < 1.0
    clearance = model.clearance(cfgs, exact=True)
    clear = np.abs(clearance) > 1e-6  # where they touch, rounding decides
    np.testing.assert_array_equal(theirs[clear], model.free(cfgs)[clear])
    k = int(np.argmax(clearance))
    assert peer.distance(rows[k]) == pytest.approx(clearance[k], abs=1e-6)
