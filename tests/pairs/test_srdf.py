"""SRDF in and out: equal after a round trip, comments and order kept, differences explained.

Looks inside: the SRDF reader and writer of pairs are tried without the formats around them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from elbowroom.errors import DescriptionError
from elbowroom.pairs import PairOptions, PairReason, compute_pairs
from elbowroom.pairs._srdf import read_pairs_srdf
from elbowroom.pairs.internal import write_pairs_srdf
from elbowroom.robot import catalogue

SRDFS = ("panda", "baxter", "talos")


@pytest.fixture(scope="module")
def srdf():
    """Path of a robot's published SRDF."""
    paths = {entry.name: entry.srdf for entry in catalogue() if entry.origin == "example-robot-data"}

    def find(name):
        if not paths:
            pytest.skip("example-robot-data is not installed")
        return paths[name]

    return find


def comments(path: Path) -> list[str]:
    return re.findall(r"<!--.*?-->", path.read_text(), flags=re.DOTALL)


@pytest.mark.robots
@pytest.mark.parametrize("name", SRDFS)
def test_published_files_survive_a_round_trip(load, srdf, tmp_path, name):
    robot = load(name)
    first = read_pairs_srdf(srdf(name), robot)
    assert {pair for pair in robot.disabled_pairs if set(pair) <= set(first.link_names)} == set(first.ignored)
    copy = tmp_path / "copy.srdf"
    write_pairs_srdf(copy, first, srdf(name))
    again = read_pairs_srdf(copy, robot)
    assert again == first
    assert comments(copy) == comments(srdf(name))
    before = [line.strip() for line in srdf(name).read_text().splitlines() if "disable_collisions" in line]
    after = [line.strip() for line in copy.read_text().splitlines() if "disable_collisions" in line]
    assert len(after) <= len(before)  # a pair listed twice is written once
    assert [re.sub(r"\s*/>", "/>", line) for line in after] == list(
        dict.fromkeys(re.sub(r"\s*/>", "/>", line) for line in before)
    )
    fresh = tmp_path / "fresh.srdf"
    write_pairs_srdf(fresh, first)
    second = read_pairs_srdf(fresh, robot)
    assert (
        second.notes == ()
    )  # what only the published file says, of links that the robot has not, is not written
    assert replace(second, notes=first.notes) == first


@pytest.mark.robots
def test_our_matrix_goes_into_the_published_file_and_back(load, model, srdf, tmp_path):
    robot, spheres = model("panda")
    ours = compute_pairs(robot, spheres, PairOptions(samples=2000, use_srdf=False))
    path = tmp_path / "ours.srdf"
    lost = write_pairs_srdf(path, ours, srdf("panda"))
    assert lost
    back = read_pairs_srdf(path, robot)
    assert {pair: found.reason for pair, found in back.entries.items()} == {
        pair: found.reason for pair, found in ours.entries.items()
    }
    assert {
        pair: found.text for pair, found in back.entries.items() if found.reason is not PairReason.CHECKED
    } == {pair: found.text for pair, found in ours.entries.items() if found.reason is not PairReason.CHECKED}
    assert comments(path) == comments(srdf("panda"))
    assert not ours.diff(back)
    write_pairs_srdf(path, back, path)  # and once more in place
    assert read_pairs_srdf(path, robot) == back


@pytest.mark.long
@pytest.mark.robots
@pytest.mark.parametrize("name", SRDFS)
def test_differences_from_the_published_matrix_are_explained(model, coal_judge, name):
    robot, spheres = model(name)
    ours = compute_pairs(robot, spheres, PairOptions(samples=3000, proof_boxes=500, use_srdf=False))
    for pair, given in robot.disabled_pairs.items():
        if not set(pair) <= set(ours.link_names):
            continue
        found = ours.evidence(*pair)
        assert found.srdf_reason == given
        if found.reason is PairReason.CHECKED:  # with a configuration in which it collides, or is closest
            at = coal_judge(name).distances(np.array([found.witness]), [pair])[0, 0]
            # Ours are triangles around round shapes, up to millimetres larger than the exact ones of Coal.
            is_round = any(shape.kind not in ("mesh", "box") for link in pair for shape in robot.shapes[link])
            low, high = (-np.inf, 0.0) if found.collides else (found.closest, found.closest)
            assert low - 1e-6 <= at <= high + (2e-3 if is_round else 1e-6), (pair, found.text)
    # What we alone call never does not meet by the robot's own shapes either.
    by_us_only = [
        pair
        for pair in ours.ignored
        if pair not in robot.disabled_pairs and ours.reason(*pair).name.startswith("NEVER")
    ]
    assert not coal_judge(name)(robot.random_cfgs(300, seed=9), by_us_only).any()


SMALL = """<?xml version="1.0"?>
<!-- head comment -->
<robot name="teaarm">
  <!-- the arms never get there -->
  <disable_default_collisions link="base_link"/>
  <enable_collisions link1="base_link" link2="left_arm_l7"/>
  <disable_collisions link1="torso_link" link2="left_arm_l1" reason="Adjacent"/> <!-- bolted -->
  <disable_collisions link1="left_arm_l2" link2="left_arm_l4" reason="Never"/>
  <custom thing="kept"/>
</robot>
"""


def test_defaults_and_enabled_pairs_follow_moveit_and_survive_changes(load, tmp_path):
    robot = load("teaarm")
    path = tmp_path / "small.srdf"
    path.write_text(SMALL)
    pairs = read_pairs_srdf(path, robot)
    assert pairs.reason("base_link", "left_arm_l3") is PairReason.USER
    assert pairs.reason("base_link", "left_arm_l7") is PairReason.CHECKED
    assert pairs.reason("left_arm_l1", "torso_link") is PairReason.ADJACENT
    assert pairs.reason("left_arm_l2", "left_arm_l4") is PairReason.NEVER_SAMPLED
    assert pairs.reason("left_arm_l7", "right_arm_l7") is PairReason.CHECKED
    changed = pairs.with_user(
        check=[("base_link", "left_arm_l3"), ("left_arm_l2", "left_arm_l4")],
        ignore=[("base_link", "left_arm_l7"), ("left_arm_l7", "right_arm_l7")],
    )
    write_pairs_srdf(path, changed, path)
    text = path.read_text()
    for kept in (
        "<!-- head comment -->",
        "<!-- the arms never get there -->",
        "<!-- bolted -->",
        'thing="kept"',
    ):
        assert kept in text
    again = read_pairs_srdf(path, robot)
    assert set(again.checked) == set(changed.checked)
    assert again.ignored.keys() == changed.ignored.keys()
    write_pairs_srdf(tmp_path / "twice.srdf", again, path)
    assert (tmp_path / "twice.srdf").read_text() == text


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('<disable_collisions link1="torso_link" link2="torso_link"/>', "itself"),
        ('<disable_collisions link1="torso_link"/>', "link2"),
        ('<disable_collisions link1="nose" link2="ear"/>', "another robot"),
        ("<disable_collisions", "not well-formed"),
    ],
)
def test_broken_files_are_refused(load, tmp_path, body, message):
    path = tmp_path / "bad.srdf"
    path.write_text(f'<robot name="x">{body}</robot>')
    with pytest.raises(DescriptionError, match=message):
        read_pairs_srdf(path, load("teaarm"))


def test_a_file_with_some_foreign_links_is_read_with_a_note(load, tmp_path):
    path = tmp_path / "shared.srdf"
    path.write_text(
        '<robot name="x"><disable_collisions link1="base_link" link2="torso_link" reason="Never"/>'
        '<disable_collisions link1="base_link" link2="hat" reason="Never"/></robot>'
    )
    pairs = read_pairs_srdf(path, load("teaarm"))
    assert pairs.reason("base_link", "torso_link") is PairReason.NEVER_SAMPLED
    assert any("hat" in note for note in pairs.notes)
