"""SRDF: named poses, disabled pairs, other robots' files."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.errors import ApproximationWarning, DescriptionError
from elbowroom.robot.descriptions._srdf import srdf_for_robot

from .builders import joint, link, robot_xml, write


@pytest.fixture
def description(tmp_path):
    return write(
        tmp_path, robot_xml(link("a"), link("b"), link("c"), joint("j", "a", "b"), joint("k", "b", "c"))
    )


def test_states_pairs_and_groups(tmp_path, description):
    srdf = write(
        tmp_path,
        robot_xml(
            '<group name="arm"><joint name="j"/><chain base_link="a" tip_link="c"/><!-- comment --></group>',
            '<group_state name="default" group="arm"><joint name="j" value="0.5"/></group_state>',
            '<group_state name="ready" group="arm"><joint name="k" value="-0.25"/></group_state>',
            '<disable_collisions link1="b" link2="a" reason="Adjacent"/>',
            '<disable_collisions link1="a" link2="c"/>',
        ),
        "made.srdf",
    )
    robot = er.load_robot(description, srdf=srdf)
    np.testing.assert_allclose(robot.default_cfg, [0.5, 0.0])
    np.testing.assert_allclose(robot.named_cfgs["ready"], [0.5, -0.25])  # unnamed joints stay at the default
    assert robot.disabled_pairs == {("a", "b"): "Adjacent", ("a", "c"): ""}
    assert srdf_for_robot(srdf, ("a", "b", "c"), ("j", "k")).groups == {"arm": ("j", "a", "c")}


def test_names_of_a_variant_are_noted(tmp_path, description):
    srdf = write(
        tmp_path,
        robot_xml(
            '<disable_collisions link1="a" link2="camera" reason="Never"/>',
            '<disable_collisions link1="a" link2="b" reason="Adjacent"/>',
        ),
        "made.srdf",
    )
    with pytest.warns(ApproximationWarning, match="no link 'camera'"):
        robot = er.load_robot(description, srdf=srdf)
    assert robot.disabled_pairs == {("a", "b"): "Adjacent"}


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ('<disable_collisions link1="x" link2="y" reason="Never"/>', "another robot"),
        ('<disable_collisions link1="a" link2="a"/>', "paired with itself"),
        ('<disable_collisions link1="a"/>', "'link2' is missing"),
        ('<group_state name="s"><joint name="j" value="high"/></group_state>', "expected"),
        ('<group_state><joint name="j" value="1"/></group_state>', "'name' is missing"),
        ('<group_state name="s"><joint name="j"/></group_state>', "'value' is missing"),
    ],
)
def test_broken_files_name_the_place(tmp_path, description, inner, expected):
    with pytest.raises(DescriptionError, match=expected):
        er.load_robot(description, srdf=write(tmp_path, robot_xml(inner), "made.srdf"))


@pytest.mark.robots
@pytest.mark.parametrize(("name", "pairs"), [("panda", 13), ("baxter", 100), ("talos", 100)])
def test_published_files_are_read(load, name, pairs):
    robot = load(name)
    assert len(robot.disabled_pairs) > pairs
    assert set().union(*robot.disabled_pairs) <= set(robot.link_names)


def test_pairs_of_unknown_links_are_noted_even_with_themselves(tmp_path):
    srdf = write(
        tmp_path,
        '<robot name="x"><disable_collisions link1="a" link2="b"/><disable_collisions link1="gone" link2="gone"/></robot>',
        "x.srdf",
    )
    found = srdf_for_robot(srdf, ("a", "b"), ())
    assert {pair: said.reason for pair, said in found.disabled.items()} == {("a", "b"): ""}
    assert "gone" in found.notes[0]


def test_defaults_enabled_and_disabled_pairs_are_read_as_moveit_does(tmp_path, description):
    srdf = write(
        tmp_path,
        robot_xml(
            '<disable_default_collisions link="a"/>',
            '<enable_collisions link1="c" link2="a"/>',
            '<disable_collisions link1="c" link2="b" reason="Never"/>',
        ),
        "made.srdf",
    )
    assert er.load_robot(description, srdf=srdf).disabled_pairs == {("a", "b"): "User", ("b", "c"): "Never"}
    found = srdf_for_robot(srdf, ("a", "b", "c"), ("j", "k")).disabled
    assert found[("a", "b")].default_of == "a"
    assert found[("b", "c")].default_of is None
