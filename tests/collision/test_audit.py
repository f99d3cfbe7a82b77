"""Audits of recorded motions: known answers of two boxes on rails, and brute force on a real robot."""

from __future__ import annotations

import csv
import io
import pickle
from itertools import pairwise

import numpy as np
import pytest

import elbowroom as er
from elbowroom.errors import InputError
from elbowroom.mesh import ExactCollision
from elbowroom.world import Box, World


def along_x(*values):
    return np.array([[value, 0.0] for value in values])


def test_a_free_motion_is_proved_and_measured(rails):
    found = er.audit(rails(), along_x(0.9, 0.5, 0.2, 0.4))
    assert found
    assert found.free
    np.testing.assert_allclose(found.clearance, [0.75, 0.35, 0.05, 0.25], atol=1e-9)
    assert found.count("proved") == 3
    assert found.first is None
    assert found.worst.row == 2
    assert found.worst.clashes[0].pair == ("cart", "post")
    assert (found.proved_clearance <= np.minimum(found.clearance[1:], found.clearance[:-1]) + 1e-9).all()
    assert (found.proved_clearance > 0).all()
    assert "all free; closest at row 3: cart and post are apart by 50.0 mm" in str(found)


def test_first_and_worst_contact_have_time_links_and_depth(rails):
    found = er.audit(rails(), along_x(0.3, 0.2, 0.14, 0.1, 0.13, 0.2, 0.149, 0.3), 10.0 + np.arange(8))
    assert not found
    assert found.rows_free.tolist() == [True, True, False, False, False, True, False, True]
    assert found.stretches == ((2, 4), (6, 6))
    assert (found.first.row, found.first.time) == (2, 12.0)
    assert found.first.clashes[0].depth == pytest.approx(0.01, abs=1e-6)
    assert (found.worst.row, found.worst.time) == (3, 13.0)
    assert found.worst.clashes[0].depth == pytest.approx(0.05, abs=1e-6)
    np.testing.assert_allclose(found.clearance[[2, 3, 4, 6]], [-0.01, -0.05, -0.02, -0.001], atol=1e-6)
    assert found.count("contact") == 6
    assert found.count("proved") == 1
    assert "first contact: row 3 (t = 12.000 s): cart and post overlap by 10.0 mm" in str(found)
    assert "5 in contact" not in str(found)
    assert "4 in contact (rows 3-5, 7)" in str(found)


def test_rows_that_are_free_with_a_collision_between_them(rails):
    """The cart jumps across the post: no row touches, the way between them does."""
    found = er.audit(rails(), along_x(0.6, 0.2, -0.2, -0.6), [0.0, 1.0, 2.0, 3.0])
    assert found.rows_free.all()
    assert not found.free
    assert found.unproved.tolist() == [1]
    assert found.count("blocked") == 1
    at = 0.2 - 0.4 * found.blocked_at[1]
    assert abs(at) <= 0.15
    assert found.time_at(1, found.blocked_at[1]) == pytest.approx(1.0 + found.blocked_at[1])
    assert "rows 2 to 3: cart and post touch at" in str(found)
    assert "not free" in str(found).splitlines()[0]


def test_the_buffer_counts(rails):
    rows = along_x(0.3, 0.18)
    assert er.audit(rails(), rows).free
    found = er.audit(rails(0.05), rows)
    assert found.rows_free.tolist() == [True, False]
    assert found.worst.clashes[0].distance == pytest.approx(0.03, abs=1e-9)


def test_limits_are_named_and_do_not_collide(rails):
    found = er.audit(rails(), [[0.6, 0.4], [0.6, 0.6], [0.6, 0.7]])
    assert found.free
    assert found.outside.tolist() == [[False, False], [False, True], [False, True]]
    assert "y is outside its limits in 2 rows, from row 2 on" in str(found)


def test_long_contacts_are_measured_around_the_deepest(rails):
    x = 0.14 - 0.1 * np.sin(np.linspace(0.01, np.pi - 0.01, 2001))
    found = er.audit(rails(), along_x(*x), depths=40)
    assert not found.rows_free.any()
    assert 20 <= np.isfinite(found.clearance).sum() <= 40
    assert found.worst.clashes[0].depth == pytest.approx(0.11, abs=1e-5)
    assert "depth measured at" in str(found)
    full = er.audit(rails(), along_x(*x[:60]), depths=None)
    np.testing.assert_allclose(full.clearance, x[:60] - 0.15, atol=1e-6)


def test_blocks_make_no_difference(rails, monkeypatch):
    rows = np.random.default_rng(0).uniform(-0.4, 0.4, (60, 2))
    whole = er.audit(rails(), rows)
    monkeypatch.setattr("elbowroom.collision._audit.BLOCK", 7)
    seen = []
    cut = er.audit(rails(), rows, progress=lambda done, total: seen.append((done, total)))
    for name in (
        "rows_free",
        "clearance",
        "closest_idx",
        "between",
        "blocked_at",
        "blocked_idx",
        "proved_clearance",
    ):
        np.testing.assert_array_equal(getattr(cut, name), getattr(whole, name), err_msg=name)
    assert seen[-1] == (60, 60)
    assert {0, 1, 3} <= set(whole.between.tolist())


def test_a_table_of_all_rows(rails):
    found = er.audit(rails(), along_x(0.3, 0.1, 0.3, -0.3), [0, 1, 2, 3])
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [row["free"] for row in rows] == ["1", "0", "1", "1"]
    assert [row["to_next"] for row in rows] == ["contact", "contact", "blocked", ""]
    assert float(rows[1]["clearance"]) == pytest.approx(-0.05, abs=1e-6)
    assert rows[2]["blocked_a"] == "cart"
    assert rows[0]["time"] == "0.0"


def test_one_row_and_wrong_input(rails):
    model = rails()
    assert er.audit(model, [0.5, 0.0]).free
    for rows, times, message in [
        (np.empty((0, 2)), None, "at least one row"),
        ([[0.5, 0.0]], [0.0, 1.0], "expected 1 finite"),
        ([[0.5, 0.0]], [np.nan], "expected 1 finite"),
        ([[0.5, 0.0]] * 3, [0.0, 2.0, 1.0], "times go back at row 3"),
        ([[0.5, np.nan]], None, "NaN"),
    ]:
        with pytest.raises(InputError, match=message):
            er.audit(model, rows, times)


def test_the_value_travels(rails):
    again = pickle.loads(pickle.dumps(er.audit(rails(), along_x(0.3, 0.1))))
    assert not again.clearance.flags.writeable
    assert str(again)


def test_against_brute_force_on_a_real_robot(quick):
    """Rows as the exact meshes see them; no segment in which a dense sample collides is called proved."""
    model = quick("teaarm")
    robot, exact = model.robot, ExactCollision(model.robot, model.pairs)
    names = ("default", "arms_forward", "self_collision", "hug", "arms_up")
    way = [robot.named_cfgs[name] for name in names]
    rows = np.concatenate([np.linspace(a, b, 12, endpoint=False) for a, b in pairwise(way)])
    found = er.audit(model, rows)
    np.testing.assert_array_equal(found.rows_free, exact.free(rows))
    np.testing.assert_allclose(
        found.clearance[found.rows_free], model.clearance(rows[found.rows_free], exact=True)
    )
    measured = [model.clashes(row)[0].distance for row in rows[~found.rows_free]]
    np.testing.assert_allclose(found.clearance[~found.rows_free], measured)
    for k in range(len(rows) - 1):
        dense = exact.free(rows[k] + np.linspace(0, 1, 200)[:, None] * (rows[k + 1] - rows[k]))
        assert dense.all() or found.between[k] != 0
        if found.between[k] == 1:
            assert not exact.free(rows[k] + found.blocked_at[k] * (rows[k + 1] - rows[k]))
    assert found.count("proved") > 20
    assert found.first is not None


def test_angles_that_wrap_around_are_noticed(quick):
    model = quick("panda")
    rows = np.tile(model.default_cfg, (2, 1))
    rows[1, 0] += 6.0
    assert any("turns by 6.00 rad from row 1 to 2" in note for note in er.audit(model, rows).notes)


def test_obstacles_are_named_at_rows_and_between_them(rails):
    """A thin wall across the rail: between two free rows, then in a row."""
    T = np.eye(4)
    T[0, 3] = 0.5
    model = rails().with_world(World([Box((0.01, 1.0, 1.0), pose=T, name="wall")]))
    free = er.audit(model, along_x(0.3, 0.4))
    assert free
    assert free.worst.clashes[0].pair == ("cart", "wall")
    np.testing.assert_allclose(free.clearance, [0.145, 0.045], atol=1e-9)
    assert [free.pairs[k] for k in free.closest_idx] == [("cart", "wall")] * 2
    jump = er.audit(model, along_x(0.3, 0.4, 0.6, 0.7))
    assert not jump
    assert jump.rows_free.all()
    assert jump.count("blocked") == 1
    assert jump.pairs[jump.blocked_idx[1]] == ("cart", "wall")
    assert "cart and wall touch at" in jump.segment_text(1)
    assert ",cart,wall," in jump.to_csv()
    stopped = er.audit(model, along_x(0.3, 0.45, 0.46))
    assert stopped.rows_free.tolist() == [True, False, False]
    assert stopped.first.clashes[0].pair == ("cart", "wall")
    assert "cart and wall overlap by" in str(stopped)
    assert stopped.pairs[stopped.closest_idx[2]] == ("cart", "wall")
