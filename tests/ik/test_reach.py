"""Reachability of many targets, and maps of the workspace, against what geometry says."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.errors import InputError, UnknownLinkError
from elbowroom.ik import reach_map
from elbowroom.ui.draw import plot_reach, save_figure
from tests.ik.models import HAND, block_at, model_of, rest_pose, solver_of


def test_counts_per_reason():
    pose = rest_pose("panda", HAND)
    model = model_of("panda").with_world(block_at(pose[4:] + np.array([0.0, 0.4, 0.0])))
    poses = np.repeat(pose[None], 4, axis=0)
    poses[1, 4] += 5.0
    poses[2, 4] -= 5.0
    poses[3, 5] += 0.4
    found = er.IkSolver(model).reachability({HAND: poses})
    np.testing.assert_array_equal(found.reached, [True, False, False, False])
    assert found.reasons == {"out of reach": 2, "collision": 1}
    assert found.share == 0.25
    assert found.position_error[1] > 4.0
    assert "1 of 4 reached" in str(found)
    assert "2 out of reach" in str(found)


def test_none_at_all():
    found = solver_of("panda").reachability([])
    assert len(found) == 0
    assert np.isnan(found.share)


@pytest.fixture(scope="module")
def rings(tmp_path_factory):
    """Two links of 0.5 and 0.3 that turn all round in the plane z = 0: the tip reaches a ring from 0.2 to 0.8."""
    joint = '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><origin xyz="{3} 0 0"/><axis xyz="0 0 1"/><limit lower="-3.14159" upper="3.14159" velocity="1" effort="1"/></joint>'
    text = (
        '<robot name="rings"><link name="base"/><link name="a"/><link name="b"/><link name="tip"/>'
        + joint.format("j1", "base", "a", 0.0)
        + joint.format("j2", "a", "b", 0.5)
        + '<joint name="end" type="fixed"><parent link="b"/><child link="tip"/><origin xyz="0.3 0 0"/></joint></robot>'
    )
    path = tmp_path_factory.mktemp("rings") / "rings.urdf"
    path.write_text(text)
    return er.IkSolver(er.load_robot(path))


def test_a_map_is_the_ring_that_two_links_reach(rings):
    found = reach_map(rings, "tip", plane="xy", at=0.0, extent=(-1.0, 1.0, -1.0, 1.0), cells=20)
    radius = np.hypot(found.across[None, :], found.up[:, None])
    assert found.share.shape == (20, 20)
    np.testing.assert_array_equal(found.share > 0.0, (radius > 0.2) & (radius < 0.8))
    np.testing.assert_array_equal(found.share, found.met)
    assert np.isnan(found.clearance).all()
    off_plane = reach_map(rings, "tip", plane="xy", at=0.1, extent=(-1.0, 1.0, -1.0, 1.0), cells=5)
    assert not off_plane.share.any()


def test_orientations_asked_at_every_cell(rings):
    """A fixed heading leaves a circle of the first link: cells beside it are not reached, any heading is."""
    turned = np.array([[1.0, 0, 0, 0], [0.0, 1.0, 0, 0]])  # the second can never be had
    found = reach_map(
        rings, "tip", plane="xy", at=0.0, extent=(0.79, 0.81, -0.01, 0.01), cells=1, orientations=turned
    )
    assert found.orientations == 2
    assert found.share[0, 0] == 0.5


def test_the_default_extent_covers_what_the_link_reaches(rings):
    found = reach_map(rings, "tip", plane="xy", cells=12)
    assert found.across[0] < -0.7
    assert found.up[-1] > 0.7
    assert found.at == pytest.approx(0.0)


def test_a_map_among_obstacles_and_its_picture(tmp_path):
    pose = rest_pose("panda", HAND)
    model = model_of("panda").with_world(block_at(pose[4:], 0.25))
    x, y, z = pose[4:]
    found = reach_map(
        er.IkSolver(model), HAND, plane="xz", at=y, extent=(x - 0.25, x + 0.25, z - 0.25, z + 0.25), cells=9
    )
    inside = (np.abs(found.across[None, :] - x) < 0.125) & (np.abs(found.up[:, None] - z) < 0.125)
    assert not found.share[inside].any()
    assert (found.met[inside] > 0.0).all()
    assert found.share[~inside].any()
    assert (found.clearance[found.share > 0.0] >= 0.0).all()
    save_figure(plot_reach(found), tmp_path / "reach.png")
    assert (tmp_path / "reach.png").stat().st_size > 10_000


def test_questions_that_make_no_sense(rings):
    with pytest.raises(UnknownLinkError):
        reach_map(rings, "hand")
    with pytest.raises(InputError, match="plane"):
        reach_map(rings, "tip", plane="zz")
    with pytest.raises(InputError, match="extent"):
        reach_map(rings, "tip", extent=(1, 0, 0, 1))
    with pytest.raises(InputError, match="orientations"):
        reach_map(rings, "tip", orientations=[1.0, 0.0])
    with pytest.raises(InputError, match="cells"):
        reach_map(rings, "tip", cells=0)
