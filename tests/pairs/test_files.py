"""Pair matrices in files: JSON without loss, SRDF and cuRobo without a change of what is checked.

Looks inside: the SRDF reader is used alone, and YAML is read with its notes.
"""

from __future__ import annotations

import copy
import json
import pickle
from functools import cache

import numpy as np
import pytest

from elbowroom import formats
from elbowroom.errors import FormatError, InputError
from elbowroom.pairs import PairMatrix, PairOptions, PairReason, compute_pairs
from elbowroom.pairs._srdf import read_pairs_srdf
from elbowroom.robot import load_robot

ROBOTS = ("panda", "ur5", "teaarm")


@pytest.fixture(scope="module")
def computed(model):
    """Robot, spheres and pairs, without and with the SRDF's word."""

    @cache
    def make(name, use_srdf=False):
        robot, spheres = model(name)
        options = PairOptions(samples=1000, proof_boxes=500, use_srdf=use_srdf)
        return robot, spheres, compute_pairs(robot, spheres, options)

    return make


@pytest.mark.parametrize("use_srdf", [False, True])
@pytest.mark.parametrize("name", ROBOTS)
def test_json_holds_everything(computed, tmp_path, name, use_srdf):
    _, _, pairs = computed(name, use_srdf)
    path = tmp_path / "pairs.json"
    assert pairs.write(path) == ()
    back = PairMatrix.read(path)
    assert back == pairs
    assert back.made_for == pairs.made_for is not None
    assert back.default_pose == pairs.default_pose is not None
    assert not any(found.seconds for found in back.entries.values())  # or the same answer were another file
    contents = formats.read(path)
    assert contents.pairs == pairs
    assert set(contents.ignored) == set(pairs.ignored)
    formats.write(tmp_path / "again.json", pairs=pairs)
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("use_srdf", [False, True])
@pytest.mark.parametrize("name", ROBOTS)
def test_our_srdf_gives_the_same_pairs_as_computed(computed, tmp_path, name, use_srdf):
    robot, _, pairs = computed(name, use_srdf)
    path = tmp_path / "pairs.srdf"
    lost = pairs.write(path)
    assert any("made for" in text for text in lost)
    back = PairMatrix.read(path, robot)
    assert back.by_spheres == pairs.by_spheres
    assert back.by_meshes == pairs.by_meshes
    assert back.ignored == pairs.ignored
    assert back.default_pose == pairs.default_pose
    for pair, found in pairs.entries.items():
        if found.source == "computed":
            assert back.evidence(*pair).source == "computed"
            if found.reason is not PairReason.CHECKED or found.decided_by == "meshes":
                assert back.evidence(*pair).text == found.text
    assert back.made_for is None
    before = path.read_bytes()
    back.write(path)
    assert path.read_bytes() == before


def test_what_we_computed_is_no_word_of_the_srdf(computed, tmp_path):
    """A robot loaded with our SRDF computes anew instead of believing what was once computed."""
    _, spheres, pairs = computed("teaarm")
    path = tmp_path / "pairs.srdf"
    pairs.with_user(ignore=[("left_arm_l7", "right_arm_l7")], why="a cover").write(path)
    again = load_robot("teaarm", srdf=path)
    assert again.disabled_pairs == {("left_arm_l7", "right_arm_l7"): "User"}
    found = compute_pairs(again, spheres, PairOptions(samples=1000, proof_boxes=500))
    assert found.evidence("left_arm_l7", "right_arm_l7").source == "SRDF"
    assert set(pairs.checked) - set(found.checked) == {("left_arm_l7", "right_arm_l7")}


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("file", ["robot.yml", "robot.xrdf"])
def test_curobo_and_xrdf_check_what_spheres_can_decide(computed, tmp_path, name, file):
    """Pairs for meshes alone overlap at rest: checked by spheres, the robot would always collide. We know them again."""
    robot, spheres, pairs = computed(name)
    lost = formats.write(tmp_path / file, robot=robot, spheres=spheres, pairs=pairs)
    back = formats.read(tmp_path / file, robot=robot)
    assert set(back.ignored) == {*pairs.ignored, *pairs.by_meshes}
    assert (back.pairs.by_spheres, back.pairs.by_meshes) == (pairs.by_spheres, pairs.by_meshes)
    if pairs.by_meshes:
        assert any(f"meshes alone decide {len(pairs.by_meshes)} checked pair" in text for text in lost)


def test_a_moved_default_pose_is_exported(computed, tmp_path):
    from dataclasses import replace

    from elbowroom.formats._yaml import load_yaml

    robot, spheres, pairs = computed("ur5")
    moved = replace(pairs.default_pose, cfg=pairs.default_cfg + 0.25, source="moved")
    elsewhere = replace(pairs, default_pose=moved)
    formats.write(tmp_path / "a.yml", robot=robot, spheres=spheres, pairs=elsewhere)
    formats.write(tmp_path / "a.xrdf", robot=robot, spheres=spheres, pairs=elsewhere)
    curobo, xrdf = load_yaml(tmp_path / "a.yml")[0], load_yaml(tmp_path / "a.xrdf")[0]
    cspace = curobo["robot_cfg"]["kinematics"]["cspace"]
    assert list(cspace["default_joint_position"]) == moved.cfg.tolist()
    assert list(xrdf["default_joint_positions"].values()) == moved.cfg.tolist()


def test_values_survive_pickle_and_copy(computed):
    _, _, pairs = computed("teaarm")
    for twin in (pickle.loads(pickle.dumps(pairs)), copy.deepcopy(pairs)):
        assert twin == pairs
        assert twin.checked == pairs.checked
        with pytest.raises(TypeError):
            twin.entries["a", "b"] = None
        with pytest.raises(ValueError, match="read-only"):
            twin.default_cfg[0] = 1.0


def test_it_prints_in_a_few_lines_and_as_a_table(computed):
    _, _, pairs = computed("teaarm")
    assert len(repr(pairs).splitlines()) <= 2 + len(pairs.notes)
    assert f"{len(pairs.by_meshes)} of the checked by meshes" in repr(pairs)
    assert "default pose: SRDF state 'default'" in repr(pairs)
    html = pairs._repr_html_()
    assert html.count("<tr>") == len(pairs.counts()) + len(pairs.ignored)
    assert "proved" in html


def test_broken_and_foreign_files_are_refused(computed, tmp_path):
    _, _, pairs = computed("teaarm")
    path = tmp_path / "pairs.json"
    pairs.write(path)
    good = json.loads(path.read_text())
    for change in (
        {"format": "other"},
        {"version": 99},
        {"pairs": good["pairs"][1:]},
        {"pairs": [*good["pairs"], 3]},
        {"links": None},
        {"made_for": {"kinematics": 1}},
        {"default_pose": {"cfg": ["x"]}},
    ):
        path.write_text(json.dumps({**good, **change}))
        with pytest.raises(FormatError, match="pairs.json"):
            PairMatrix.read(path)
    path.write_text("{[")
    with pytest.raises(FormatError, match="pairs.json"):
        PairMatrix.read(path)
    with pytest.raises(FormatError, match="no.json"):
        PairMatrix.read(tmp_path / "no.json")
    with pytest.raises(InputError, match="depends on the robot"):
        PairMatrix.read(tmp_path / "a.srdf")
    with pytest.raises(InputError, match=r"\.json or \.srdf"):
        pairs.write(tmp_path / "a.yml")


def test_pairs_go_into_a_published_file_without_touching_its_lines(computed, tmp_path):
    from elbowroom.robot.internal import find_robot

    robot, _, pairs = computed("panda", use_srdf=True)
    published = find_robot("panda").srdf
    path = tmp_path / "panda.srdf"
    path.write_bytes(published.read_bytes())
    pairs.write(path)
    before = {line.strip() for line in published.read_text().splitlines() if "disable_collisions" in line}
    after = {line.strip() for line in path.read_text().splitlines()}
    assert {line.replace(" />", "/>") for line in before} <= {line.replace(" />", "/>") for line in after}
    assert read_pairs_srdf(path, robot).checked == pairs.checked
    np.testing.assert_array_equal(read_pairs_srdf(path, robot).default_cfg, pairs.default_cfg)
