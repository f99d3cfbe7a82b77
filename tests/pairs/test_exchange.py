"""cuRobo's and MuJoCo's lists of ignored pairs."""

from __future__ import annotations

import mujoco
import pytest

from elbowroom.errors import FormatError, InputError, UnknownLinkError
from elbowroom.pairs import (
    PairOptions,
    PairReason,
    compute_pairs,
    curobo_ignore_from_pairs,
    mjcf_excludes_from_pairs,
    pairs_from_curobo_ignore,
    pairs_from_mjcf_excludes,
)


@pytest.fixture(scope="module")
def teaarm(model):
    robot, spheres = model("teaarm")
    return robot, compute_pairs(robot, spheres, PairOptions(samples=1000, proof_boxes=200))


def test_curobo_lists_each_pair_once_and_comes_back(teaarm):
    robot, pairs = teaarm
    ignore, lost = curobo_ignore_from_pairs(pairs)
    listed = [(a, b) for a, others in ignore.items() for b in others]
    assert len(listed) == len(set(map(frozenset, listed))) == len(pairs.ignored)
    assert any("reasons" in text for text in lost)
    back = pairs_from_curobo_ignore(ignore, robot)
    assert back.checked == pairs.checked
    mirrored = {b: [a] for a, others in ignore.items() for b in others[:1]}
    both = pairs_from_curobo_ignore(
        {**ignore, **{k: v + ignore.get(k, []) for k, v in mirrored.items()}}, robot
    )
    assert both.checked == pairs.checked
    assert any("more than once" in note for note in both.notes)


def test_bad_curobo_maps_are_refused(teaarm):
    robot, _ = teaarm
    with pytest.raises(FormatError, match="must map"):
        pairs_from_curobo_ignore([("a", "b")], robot)
    with pytest.raises(FormatError, match="list of links"):
        pairs_from_curobo_ignore({"base_link": "torso_link"}, robot)
    with pytest.raises(UnknownLinkError):
        pairs_from_curobo_ignore({"base_link": ["nose"]}, robot)
    with pytest.raises(InputError, match="itself"):
        pairs_from_curobo_ignore({"base_link": ["base_link"]}, robot)


def test_mjcf_excludes_come_back_and_compile(teaarm):
    robot, pairs = teaarm
    excludes, lost = mjcf_excludes_from_pairs(pairs, robot)
    carried = {frozenset((joint.parent, joint.child)) for joint in robot.tree.joints}
    assert not {frozenset(pair) for pair in excludes} & carried
    assert lost
    back = pairs_from_mjcf_excludes(excludes, robot)
    assert back.checked == pairs.checked
    assert back.reason("base_link", "waist_link") is PairReason.ADJACENT
    bodies = "".join(f'<body name="{name}"/>' for name in robot.link_names)
    rows = "".join(f'<exclude body1="{a}" body2="{b}"/>' for a, b in excludes)
    compiled = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody>{bodies}</worldbody><contact>{rows}</contact></mujoco>"
    )
    assert compiled.nexclude == len(excludes)


def test_a_checked_pair_that_mujoco_filters_is_reported(teaarm):
    robot, pairs = teaarm
    wanted = pairs.with_user(check=[("base_link", "waist_link")])
    _, lost = mjcf_excludes_from_pairs(wanted, robot)
    assert any("base_link" in text and "waist_link" in text for text in lost)
