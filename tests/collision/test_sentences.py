"""What verdicts, proofs and audits say holds as it is said: each sentence with a case in which more would be false.

Looks inside: the wording of numbers and of the page are compared with the verdict's.
"""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom import Clash
from elbowroom._text import at_least, beyond
from elbowroom.errors import ApproximationWarning
from elbowroom.mesh import ExactCollision
from elbowroom.ui.panels._live import details
from elbowroom.world import Box, World
from tests.rails import rails_parts


def clash(distance: float) -> Clash:
    zero = np.zeros(3)
    return Clash("a", "b", distance, zero, zero, np.array([0.0, 0.0, 1.0]))


@pytest.mark.parametrize(
    ("metres", "said"),
    [
        (0.0156, "a and b are apart by 15.6 mm"),
        (-0.02, "a and b overlap by 20.0 mm"),
        (-2.41e-5, "a and b overlap by 0.024 mm"),  # one decimal would say: by 0.0 mm
        (4e-6, "a and b are apart by 0.004 mm"),
        (0.0, "a and b touch"),
    ],
)
def test_a_small_distance_is_not_called_zero(metres, said):
    assert str(clash(metres)) == said


def test_why_a_pair_is_refused_depends_on_what_was_asked():
    assert clash(-0.001).refused(0.02) == "a and b overlap by 1.0 mm"
    assert clash(0.001).refused(0.02) == "a and b are apart by 1.0 mm, closer than the buffer of 20 mm"
    # Refused although measured a little farther than asked: neither contact nor buffer is claimed.
    assert (
        clash(1e-9).refused(0.0)
        == "a and b are apart by 1e-06 mm as measured, too little to be distinguished from touching"
    )
    assert clash(0.0201).refused(0.02).endswith("too little to be distinguished from the buffer of 20 mm")


def test_lower_bounds_are_rounded_down_and_values_beyond_limits_differ_from_them():
    rng = np.random.default_rng(0)
    for value in rng.uniform(-3.0, 3.0, 500):
        assert float(at_least(value)) <= value
        assert value - float(at_least(value)) < 0.01 + 1e-12
    assert at_least(0.29) == "0.29"  # 0.29 * 100 is a little less than 29
    assert beyond(np.nextafter(1.0, 2.0), -1.0, 1.0) == "1.0000000000000002, outside its limits [-1, 1]"


def test_by_spheres_is_said_where_spheres_alone_say_so(rails):
    model = rails()
    said = {True: "by spheres", False: "by meshes"}
    for x in (0.9, 0.4, 0.2, 0.152, 0.1501):
        verdict = model.explain([x, 0.0])
        assert verdict.free
        assert f"is free, {said[bool(model.free([x, 0.0], by='spheres'))]}" in str(verdict)
    assert {model.explain([x, 0.0]).by for x in (0.9, 0.1501)} == {"spheres", "meshes"}


def test_within_the_buffer_is_not_said_to_overlap(rails):
    verdict = rails(0.05).explain([0.17, 0.0])  # 20 mm apart
    assert not verdict.free
    assert "cart and post are apart by 20.0 mm, closer than the buffer of 50 mm" in str(verdict)
    assert "overlap" not in str(verdict)
    assert ExactCollision(rails().robot, [("cart", "post")]).free(np.array([0.17, 0.0]))
    assert "touch" not in str(verdict).splitlines()[0]


def test_touching_but_not_checked_is_said_where_meshes_touch_here(tmp_path):
    robot, spheres, pairs = rails_parts(tmp_path)
    model = er.CollisionModel(robot, spheres, pairs.with_user(ignore=[("cart", "post")]))
    exact = ExactCollision(robot, [("cart", "post")])
    for x in (0.0, 0.1, 0.149, 0.151, 0.4):
        said = "touching here, but not checked (user): cart and post" in str(model.explain([x, 0.0]))
        assert said is not bool(exact.free(np.array([x, 0.0])))


def test_what_is_offered_on_the_command_line_names_the_pairs(rails):
    text = str(rails().explain([0.1, 0.0]))
    assert "--ignore cart post" in text


def test_a_base_within_the_buffer_is_not_warned_of_as_touching(tmp_path):
    robot, spheres, _ = rails_parts(tmp_path)
    low = float(robot.link_mesh("post").bounds[0, 2])
    pairs = er.compute_pairs(robot, spheres, er.PairOptions(buffer=0.02, samples=200))
    world = World(
        [Box((1.0, 1.0, 0.1), pose=[1, 0, 0, 0, 0, 0, low - 0.06], name="table")]
    )  # 10 mm below the post
    with pytest.warns(
        ApproximationWarning, match=r"or come closer than the buffer of 20 mm: .*post and table"
    ):
        er.CollisionModel(robot, spheres, pairs, world, buffer=0.02)


def test_the_worst_of_some_rows_is_not_called_the_worst_of_all(rails):
    """A contact of 81 rows whose depth is measured at six of them."""
    rows = np.array([[x, 0.0] for x in np.linspace(0.13, 0.05, 81)])
    some = er.audit(rails(), rows, depths=6)
    assert np.isnan(some.clearance).any()
    assert "  worst measured contact: row" in str(some)
    all_of_them = er.audit(rails(), rows, depths=None)
    assert "  worst contact: row 81" in str(all_of_them)
    assert "in contact (rows 1-81)" in str(all_of_them)


def test_a_segment_that_was_given_up_is_not_said_to_touch():
    """Neither proof nor contact: what is known is said, the reason for it is not guessed."""
    found = er.collision.SegmentProofs(
        free=np.array([False]), blocked_at=np.array([np.nan]), undecided_at=np.array([0.25]),
        pair_idx=np.array([0]), clearance=np.array([0.0]), by_spheres=np.array([9]), by_meshes=np.array([3]),
        pairs=(("a", "b"),), seconds=0.1,
    )  # fmt: skip
    assert found[0].why == (
        "not decided: neither a proof nor a contact of a and b was found at 25.00 % of the segment, in 20000 pieces"
    )


def test_the_page_calls_pairs_within_the_buffer_not_free_with_their_distance(rails):
    """Two pairs within the buffer: a column of depths would say that they touch."""
    crate = Box((0.1, 1.0, 1.0), pose=[1, 0, 0, 0, 0.29, 0, 0], name="crate")
    model = rails(0.05).with_world(World([crate]))
    text = details(model.explain([0.17, 0.0]))
    assert "| not free | | distance, mm (below 0: depth) |" in text
    assert "| cart | post | 20.0 |" in text
    assert "touching" not in text
