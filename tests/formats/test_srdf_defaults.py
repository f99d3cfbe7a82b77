"""`<disable_default_collisions>` and `<enable_collisions>` in SRDF files."""

from __future__ import annotations

import pytest

from elbowroom import formats
from elbowroom.errors import FormatError
from elbowroom.pairs._srdf import read_pairs_srdf

from .test_foreign_files import put

SRDF = """<robot name="teaarm">
  <!-- the base is fixed to the table -->
  <disable_default_collisions link="base_link"/>
  <enable_collisions link1="left_arm_l3" link2="base_link"/>
  <disable_collisions link1="waist_link" link2="torso_link" reason="Adjacent"/>
  <disable_collisions link1="torso_link" link2="left_arm_l3" reason="Never"/>
</robot>
"""
EXPLICIT = {("torso_link", "waist_link"): "Adjacent", ("left_arm_l3", "torso_link"): "Never"}


def test_with_the_robot_they_are_applied(tmp_path, arm):
    path = put(tmp_path, "a.srdf", SRDF)
    contents = formats.read(path, robot=arm)
    matrix = read_pairs_srdf(path, arm)
    assert set(contents.ignored) == set(matrix.ignored)
    assert ("base_link", "torso_link") in contents.ignored
    assert ("base_link", "left_arm_l3") not in contents.ignored
    assert {names: contents.ignored[names] for names in EXPLICIT} == EXPLICIT


def test_without_the_robot_they_are_noted(tmp_path):
    contents = formats.read(put(tmp_path, "a.srdf", SRDF))
    assert contents.ignored == EXPLICIT
    assert any(
        "1 <disable_default_collisions>" in note and "1 <enable_collisions>" in note
        for note in contents.notes
    )


def test_links_of_another_variant_are_noted(tmp_path, arm):
    text = SRDF.replace(
        "</robot>", '<disable_collisions link1="base_link" link2="camera" reason="Never"/></robot>'
    )
    contents = formats.read(put(tmp_path, "a.srdf", text), robot=arm)
    assert any("'camera'" in note for note in contents.notes)
    assert not any("camera" in names for names in contents.ignored)


def test_writing_what_was_read_changes_nothing(tmp_path, arm):
    path = put(tmp_path, "a.srdf", SRDF)
    before = formats.read(path, robot=arm).ignored
    assert formats.write(path, robot=arm, pairs=before) == ()
    assert path.read_text().count("disable_collisions link1") == 2
    assert formats.read(path, robot=arm).ignored == before


def test_plain_pairs_count_against_enabled_and_default_ones(tmp_path, arm):
    path = put(tmp_path, "a.srdf", SRDF)
    pairs = {("base_link", "left_arm_l3"): "Never", ("base_link", "waist_link"): "User"}
    formats.write(path, robot=arm, pairs=pairs)
    assert formats.read(path, robot=arm).ignored == pairs
    assert set(read_pairs_srdf(path, arm).ignored) == set(pairs)
    assert "<!-- the base is fixed to the table -->" in path.read_text()


def test_contradictions_are_removed_without_the_robot_too(tmp_path):
    path = put(tmp_path, "a.srdf", SRDF)
    lost = formats.write(path, pairs={("base_link", "left_arm_l3"): "Never"})
    assert "<enable_collisions" not in path.read_text()
    assert any("<disable_default_collisions> stays" in text for text in lost)


@pytest.mark.parametrize("old", ['link="base_link"', 'link1="left_arm_l3" '])
def test_missing_attributes_name_the_line(tmp_path, arm, old):
    path = put(tmp_path, "a.srdf", SRDF.replace(old, "", 1))
    with pytest.raises(ValueError, match="a.srdf: line [34]: .*is missing"):
        formats.read(path, robot=arm)


def test_broken_pairs_stop_the_writing(tmp_path, arm):
    path = put(tmp_path, "a.srdf", SRDF.replace('link1="waist_link" ', ""))
    before = path.read_bytes()
    with pytest.raises(FormatError, match="a.srdf: line 5: .*'link1' is missing"):
        formats.write(path, robot=arm, pairs={("base_link", "waist_link"): "User"})
    assert path.read_bytes() == before


COMMENTED = """<robot name="teaarm">
  <!-- above -->
  <disable_collisions link1="base_link" link2="waist_link" reason="User"/> <!-- bolted -->
  kept
  <disable_collisions link1="base_link" link2="torso_link" reason="User"/> <!-- measured -->
</robot>
"""


def test_comments_stay_on_the_line_of_their_pair(tmp_path, arm):
    path = put(tmp_path, "a.srdf", COMMENTED)
    pairs = dict(formats.read(path, robot=arm).ignored) | {("left_arm_l3", "torso_link"): "User"}
    formats.write(path, robot=arm, pairs=pairs)
    lines = path.read_text().splitlines()
    assert [line for line in lines if "bolted" in line] == [COMMENTED.splitlines()[2]]
    assert [line for line in lines if "measured" in line] == [COMMENTED.splitlines()[4]]
    assert lines[-2] == '  <disable_collisions link1="left_arm_l3" link2="torso_link" reason="User"/>'
    before = path.read_bytes()
    formats.write(path, robot=arm, pairs=pairs)
    assert path.read_bytes() == before


def test_text_and_comments_stay_when_pairs_are_removed(tmp_path, arm):
    path = put(tmp_path, "a.srdf", COMMENTED)
    formats.write(path, robot=arm, pairs={})
    lines = [line.strip() for line in path.read_text().splitlines()]
    assert lines[-5:] == ["<!-- above -->", "<!-- bolted -->", "kept", "<!-- measured -->", "</robot>"]
