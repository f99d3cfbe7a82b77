"""The first look at ten robots that nobody here prepared: what is printed is kept, and judged by Pinocchio and Coal.

The texts are in `first_hour/`; `python -m tests.first_hour` writes them again. Judged is what the verbs say as JSON, the
same figures that the texts give in words.
"""

from __future__ import annotations

import contextlib
import io
import json
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest

import elbowroom as er
from elbowroom.cli import main
from elbowroom.formats import read_json
from tests.first_hour import GOLDEN, ROBOTS, page_texts, transcript

oracles = pytest.importorskip("tests.oracles")
pytestmark = [
    pytest.mark.long,
    pytest.mark.robots,
    pytest.mark.filterwarnings("ignore::elbowroom.errors.ApproximationWarning"),
]
SAMPLES = 100
"""Random configurations in which Coal is asked about every pair."""
NEAR = 1e-4
"""Metres by which two measures of one distance may differ: the report rounds to 0.1 mm."""

COAL_RESOLUTION = 1e-6
"""Metres: Coal's boolean calls gaps below this contacts, although its own distance is positive there."""


@cache
def said(robot, verb):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        assert main([verb, robot, "--json"]) == 0
    return json.loads(out.getvalue())


@cache
def judge(robot):
    return oracles.oracle_of(er.load_robot(robot))


@cache
def samples(robot):
    loaded = er.load_robot(robot)
    return np.random.default_rng(27).uniform(loaded.lower, loaded.upper, (SAMPLES, loaded.dof))


def reasons(robot):
    return {(row["link_a"], row["link_b"]): row for row in said(robot, "pairs")["pairs"]}


@pytest.mark.parametrize("robot", ROBOTS)
def test_what_is_printed_is_what_was_read(robot):
    assert transcript(robot) == (GOLDEN / f"{robot}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("robot", ROBOTS)
def test_links_are_counted_as_the_file_has_them(robot):
    tree = ElementTree.parse(er.load_robot(robot).path).getroot()
    solid = {link.get("name") for link in tree.findall("link") if link.find("collision") is not None}
    seen = {link.get("name") for link in tree.findall("link") if link.find("visual") is not None}
    info, spheres = said(robot, "info"), said(robot, "spheres")
    assert {row["name"] for row in info["links"] if row["shapes"]} == solid == set(judge(robot).links)
    assert set(info["visual_only"]) == seen - solid
    assert set(spheres["links"]) == solid
    assert spheres["proved"]


@pytest.mark.parametrize("robot", ROBOTS)
def test_every_pair_has_one_reason_and_coal_agrees(robot):
    rows, coal = reasons(robot), judge(robot)
    assert set(rows) == set(coal.link_pairs)
    hit = dict(zip(rows, coal.colliding(samples(robot), rows).T, strict=True))
    for pair, row in rows.items():
        if row["reason"].startswith("NEVER"):
            assert not hit[pair].any(), (pair, row["text"])
        if row["reason"] == "ALWAYS":
            assert hit[pair].all(), (pair, row["text"])
    proved = [pair for pair, row in rows.items() if row["reason"] == "NEVER_PROVED"]
    apart = coal.distances(samples(robot)[: SAMPLES // 4], proved).min(axis=0)
    assert (apart >= [rows[pair]["clearance"] - NEAR for pair in proved]).all()


@pytest.mark.parametrize("robot", ROBOTS)
def test_check_says_what_coal_finds_at_the_default_pose(robot):
    rows, coal, answer = reasons(robot), judge(robot), said(robot, "check")["listed"][0]
    cfg = np.array([answer["cfg"]])
    np.testing.assert_allclose(cfg[0], said(robot, "pairs")["default_pose"]["cfg"], atol=1e-12)
    checked = [pair for pair, row in rows.items() if row["reason"] == "CHECKED"]
    assert answer["free"] == (not coal.colliding(cfg, checked).any())
    assert answer["clearance"] == pytest.approx(float(coal.distances(cfg, checked).min()), abs=NEAR)
    ignored = [pair for pair in rows if pair not in checked]
    hits, gaps = coal.colliding(cfg, ignored)[0], coal.distances(cfg, ignored)[0]
    unclear = {pair for pair, gap in zip(ignored, gaps, strict=True) if 0 < gap < COAL_RESOLUTION}
    touching = {pair for pair, hit in zip(ignored, hits, strict=True) if hit}
    assert {(row["a"], row["b"]) for row in answer["ignored_touching"]} - unclear == touching - unclear


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_verbs_and_the_page_count_alike(robot, tmp_path):
    pairs, check, spheres = said(robot, "pairs"), said(robot, "check"), said(robot, "spheres")
    n_checked = pairs["counts"].get("CHECKED", 0)
    assert check["checked_pairs"] == n_checked
    assert check["ignored_pairs"] == len(pairs["pairs"]) - n_checked
    shown = "\n".join(page_texts(robot))
    assert f"{spheres['n_spheres']} spheres" in shown
    assert f"{len(pairs['pairs'])} pairs: {n_checked} checked" in shown
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert main(["setup", robot, "--out", str(tmp_path)]) == 0
    contents = read_json(tmp_path / "robot.json")
    assert len(contents.spheres) == spheres["n_spheres"]
    assert len(contents.pairs.checked) == n_checked
