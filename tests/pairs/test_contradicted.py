"""Pairs that a file disables for a reason that is wrong: said once, with a configuration and a remedy.

Looks inside: the page must word a contradiction as the log does.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import elbowroom as er
from elbowroom.errors import ApproximationWarning
from elbowroom.pairs import PairMatrix, PairOptions, PairReason, compute_pairs
from elbowroom.ui.panels._pairs import pair_text

PAIR = ("right_upper_elbow_visual", "torso")


@pytest.fixture(scope="module")
def baxter(model):
    robot, spheres = model("baxter")
    return robot, spheres, compute_pairs(robot, spheres, PairOptions(proof_boxes=0, search_starts=0))


def test_baxter_says_never_of_an_elbow_that_hits_the_torso(baxter, coal_judge, tmp_path):
    robot, _, pairs = baxter
    found = pairs.evidence(*PAIR)
    assert robot.disabled_pairs[PAIR] == "Never"
    assert found.reason is PairReason.NEVER_SAMPLED
    assert found.source == "SRDF"
    assert found.contradicted
    assert found.collides
    assert pairs.contradicted == (PAIR,)
    assert coal_judge("baxter")(np.array([found.witness]), [PAIR]).all()  # the configuration shows it
    said = [note for note in pairs.notes if all(name in note for name in PAIR)]
    assert len(said) == 1
    assert f"collide in {found.mesh_hits} of {found.mesh_samples} samples" in said[0]
    assert "right_s1 " in said[0]
    assert "stays ignored as the file says" in said[0]
    assert f"--check {PAIR[0]} {PAIR[1]}" in said[0]
    pairs.write(tmp_path / "pairs.json")
    again = PairMatrix.read(tmp_path / "pairs.json")
    assert again.contradicted == pairs.contradicted
    assert again.notes == pairs.notes


def test_the_option_checks_it(baxter):
    robot, spheres, _ = baxter
    options = PairOptions(proof_boxes=0, search_starts=0, samples=500, check=[PAIR])
    pairs = compute_pairs(robot, spheres, options)
    assert PAIR in pairs.checked
    assert pairs.contradicted == ()


def test_the_model_and_the_page_say_so(baxter, monkeypatch):
    robot, spheres, pairs = baxter
    monkeypatch.setattr("elbowroom.collision._model.default_pairs", lambda *_: pairs)
    with pytest.warns(
        ApproximationWarning, match="the SRDF says that right_upper_elbow_visual and torso never"
    ):
        model = er.CollisionModel(robot, spheres)
    found = pairs.evidence(*PAIR)
    assert PAIR in model.ignored
    assert PAIR in model.explain(np.array(found.witness)).ignored_touching
    with warnings.catch_warnings():
        warnings.simplefilter("error", ApproximationWarning)
        er.CollisionModel(robot, spheres, pairs)  # whoever gives pairs has read their notes
    shown = pair_text(None, pairs, None)  # type: ignore[arg-type]
    assert "never collide, but their meshes collide in" in shown
    assert shown.count("never collide") == 1


def test_a_pair_that_always_collides_is_not_recommended_for_checking(model):
    """talos: the SRDF says Never of a shank and a foot that overlap in every sample."""
    robot, spheres = model("talos")
    pairs = compute_pairs(robot, spheres, PairOptions(samples=300, proof_boxes=0, search_starts=0))
    pair = ("leg_left_4_link", "leg_left_6_link")
    assert pair in pairs.contradicted
    note = next(note for note in pairs.notes if all(name in note for name in pair))
    assert "all of 300 samples" in note
    assert "--check" not in note
