"""Clearances that a motion cannot change are told from those that it can, and each is said as it is known."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

import elbowroom as er
from elbowroom.collision import ConstantClearance, VaryingClearance
from elbowroom.errors import ApproximationWarning, UnknownJointError
from elbowroom.world import Box, Sphere, World

TURNTABLE = """<robot name="turntable">
  <link name="foot"><collision><geometry><box size="0.4 0.4 0.1"/></geometry></collision></link>
  <link name="drum"><collision>{drum}</collision></link>
  <link name="lift"/>
  <link name="arm"><collision><origin xyz="0.25 0 0"/><geometry><box size="0.3 0.04 0.04"/></geometry></collision></link>
  <link name="wrist"/>
  <link name="tip"><collision><origin xyz="0.1 0 0"/><geometry><box size="0.1 0.04 0.04"/></geometry></collision></link>
  <joint name="turn" type="revolute"><parent link="foot"/><child link="drum"/><origin xyz="0 0 0.1"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
  <joint name="up" type="prismatic"><parent link="drum"/><child link="lift"/><origin xyz="0 0 0.1"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="0.5" velocity="1" effort="1"/></joint>
  <joint name="at" type="fixed"><parent link="lift"/><child link="arm"/></joint>
  <joint name="bend" type="revolute"><parent link="arm"/><child link="wrist"/><origin xyz="0.5 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
  <joint name="end" type="fixed"><parent link="wrist"/><child link="tip"/></joint>
</robot>"""
ROUND = '<geometry><cylinder radius="0.05" length="0.06"/></geometry>'
CRANK = '<origin xyz="0.04 0 0"/><geometry><box size="0.3 0.06 0.06"/></geometry>'
"""A bar that reaches over the edge of the foot when it turns: the distance from the foot stays, from a post it does not."""
TABLE = Box((2.0, 2.0, 0.1), pose=[1, 0, 0, 0, 0, 0, -0.102], name="table")
"""2 mm below the foot, whose lower side is at -0.05."""
ALL = {"foot", "drum", "arm", "tip"}


@pytest.fixture(scope="module")
def turntable(tmp_path_factory):
    """A foot, a drum that turns 20 mm above it, an arm that the drum lifts, a tip that bends."""

    def make(drum=ROUND, world=None, buffer=0.0):
        path = tmp_path_factory.mktemp("turntable") / "turntable.urdf"
        path.write_text(TURNTABLE.format(drum=drum))
        robot = er.load_robot(path)
        spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
        pairs = er.pairs.pairs_from_ignored(robot, {}, "all pairs are checked")
        return er.CollisionModel(robot, spheres, pairs, world, buffer=buffer)

    return make


def brute(model, rows, without=()):
    """Smallest distance at rows over all pairs but some, each measured by itself."""
    out = np.full(len(rows), np.inf)
    exact = er.ExactCollision(model.robot, model.pairs.checked)
    for k, row in enumerate(rows):
        found = {clash.pair: clash.distance for clash in exact.distances(row)}
        out[k] = min((far for pair, far in found.items() if pair not in without), default=np.inf)
    return out


def test_a_drum_that_turns_over_its_foot_is_constant_at_all_samples(turntable):
    model = turntable()
    verdict = model.explain([0.3, 0.4, 0.0])
    assert verdict.clearance == pytest.approx(0.02, abs=1e-9)  # the contract: over everything
    assert verdict.closest.pair == ("drum", "foot")
    assert verdict.closest_varying.pair == ("arm", "tip")
    (found,) = (one for one in verdict.constant if one.pair == ("drum", "foot"))
    assert str(found) == "20.0 mm at all 64 sampled positions of turn: drum and foot"
    assert (found.joints, found.samples, found.obstacle) == (("turn",), 64, False)
    rows = np.random.default_rng(1).uniform(model.robot.lower, model.robot.upper, (300, 3))
    exact = er.ExactCollision(model.robot, [("drum", "foot")])
    assert (
        np.ptp([exact.distances(row)[0].distance for row in rows]) < 1e-4
    )  # as is said, at other configurations too
    assert "--ignore" not in str(verdict)  # samples are no proof, so leaving it out is not offered


def test_what_turns_unevenly_is_not_called_constant(turntable):
    """The same joint, and a part that is not round: near a post, the distance depends on the angle."""
    post = Sphere(0.02, pose=[1, 0, 0, 0, 0.25, 0.0, 0.1], name="post")
    model = turntable(CRANK, World([post]))
    rows = np.array([[angle, 0.4, 0.0] for angle in (0.0, 0.7, 1.4, 2.1)])
    found = model.varying_clearance(rows)
    assert ("drum", "post") in found.pairs
    assert all(one.pair != ("drum", "post") for one in found.constant)
    assert np.ptp(found.clearance) > 0.01


def test_a_base_over_its_table_is_always_as_far(turntable):
    model = turntable(world=World([TABLE]))
    verdict = model.explain([0.3, 0.4, 0.0])
    assert verdict.clearance == model.clearance([0.3, 0.4, 0.0], exact=True) == pytest.approx(0.002, abs=1e-9)
    assert str(verdict.constant[0]) == "always 2.0 mm: foot and table"
    assert verdict.constant[0].joints == ()
    assert [one.distance for one in verdict.constant] == sorted(one.distance for one in verdict.constant)
    assert all(one.distance < verdict.varying_clearance for one in verdict.constant)
    text = str(verdict)
    assert text.splitlines()[0].endswith(f"closest checked pair: {verdict.closest_varying}")
    assert "always 2.0 mm: foot and table" in text
    assert "--allow foot table" in text
    # What is offered is enough: allowed, the pair is gone, and nothing else has changed.
    allowed = model.with_world(model.world, allow=[("foot", "table")])
    assert all(one.pair != ("foot", "table") for one in allowed.explain([0.3, 0.4, 0.0]).constant)
    rows = np.random.default_rng(2).uniform(model.robot.lower, model.robot.upper, (200, 3))
    assert (allowed.free(rows) == model.free(rows)).all()


def test_a_constant_clash_is_a_clash(turntable):
    sunk = World([Box((2.0, 2.0, 0.1), pose=[1, 0, 0, 0, 0, 0, -0.09], name="table")])
    with pytest.warns(ApproximationWarning, match="no configuration is free"):
        model = turntable(world=sunk)
    verdict = model.explain([0.3, 0.4, 0.0])
    assert not verdict.free
    assert verdict.constant == ()
    assert verdict.closest_varying.pair == verdict.clashes[0].pair == ("foot", "table")
    assert model.varying_clearance([0.3, 0.4, 0.0]).clearance[0] == pytest.approx(-0.01, abs=1e-6)
    # The same within the buffer: 20 mm are constant, and too little.
    near = turntable(buffer=0.03).explain([0.3, 0.4, 0.0])
    assert not near.free
    assert near.constant == ()


def test_varying_clearance_is_that_of_all_other_pairs(turntable):
    model = turntable()
    rows = np.random.default_rng(3).uniform([-3, 0.06, -1], [3, 0.5, 1], (40, 3))
    found = model.varying_clearance(rows)
    assert isinstance(found, VaryingClearance)
    constant = {one.pair for one in found.constant}
    assert constant
    np.testing.assert_allclose(found.clearance, brute(model, rows, constant), atol=1e-9)
    np.testing.assert_allclose(model.clearance(rows, exact=True), brute(model, rows), atol=1e-9)
    # Whatever was asked before, the answer is the same.
    again = pickle.loads(pickle.dumps(turntable())).varying_clearance(rows[::-1])
    assert (again.clearance[::-1] == found.clearance).all()
    assert again.pairs[::-1] == found.pairs
    for row, far in zip(rows, found.clearance, strict=True):
        assert model.explain(row).varying_clearance == pytest.approx(far, abs=1e-9)


def test_joints_that_do_not_move_keep_pairs_as_they_are(turntable):
    """Only the drum turns: arm and tip are 150 mm apart all along, which another motion would change."""
    model = turntable(world=World([Box((0.1, 0.1, 0.1), pose=[1, 0, 0, 0, 0.0, 0.8, 0.6], name="crate")]))
    rows = np.array([[angle, 0.4, 0.0] for angle in np.linspace(1.0, 1.5, 9)])
    found = model.varying_clearance(rows, ["turn"])
    held = next(one for one in found.constant if one.pair == ("arm", "tip"))
    assert str(held) == "150.0 mm throughout, without bend moving: arm and tip"
    assert held.samples == 0
    assert {pair[1] for pair in found.pairs} == {"crate"}
    assert model.varying_clearance(rows).pairs[0] == ("arm", "tip")
    audited = er.audit(model, rows)
    assert audited.worst.clashes[0].b == "crate"
    assert audited.varying_clearance.min() == pytest.approx(audited.worst.clashes[0].distance, abs=1e-9)
    assert "without bend moving: arm and tip" in str(audited)
    assert "ignore=[('arm', 'tip')" not in str(audited)  # another motion needs the pair
    bent = er.audit(model, rows + np.array([[0.0, 0.0, 0.1 * k] for k in range(9)]))
    assert all(one.pair != ("arm", "tip") for one in bent.constant)
    with pytest.raises(UnknownJointError, match="no actuated joint 'twist'"):
        model.varying_clearance(rows, ["twist"])


def test_an_audit_leads_with_what_the_motion_changes(turntable):
    model = turntable(world=World([TABLE]))
    rows = np.array([[0.0, 0.1, 0.8], [0.5, 0.1, 0.9], [1.0, 0.2, 0.5]])
    found = er.audit(model, rows)
    np.testing.assert_allclose(found.clearance, 0.002, atol=1e-9)
    assert found.varying_clearance.min() > 0.002
    assert set(found.worst.clashes[0].pair) <= ALL | {"table"}
    assert found.worst.row == found.varying_clearance.argmin()
    assert f"closest at {found.worst}" in str(found)
    assert "  always 2.0 mm: foot and table" in str(found).splitlines()
    first, *lines = found.to_csv().splitlines()
    cells = [dict(zip(first.split(","), line.split(","), strict=True)) for line in lines]
    assert [float(cell["varying_clearance"]) for cell in cells] == pytest.approx(
        found.varying_clearance, abs=1e-9
    )
    assert {(cell["closest_a"], cell["closest_b"]) for cell in cells} == {("foot", "table")}
    standing = er.audit(model, rows[[0, 0]])  # nothing moves: then everything could
    assert standing.worst.clashes[0].pair == found.pairs[found.varying_idx[0]]


def test_decisions_of_links_are_shared_and_those_of_obstacles_are_not(turntable):
    model = turntable(world=World([TABLE]))
    cfg = [0.3, 0.4, 0.0]
    assert "always 2.0 mm" in str(model.explain(cfg))
    lower = model.with_world(World([Box(TABLE.size, pose=[1, 0, 0, 0, 0, 0, -0.105], name="table")]))
    assert "always 5.0 mm: foot and table" in str(lower.explain(cfg))
    assert "always 2.0 mm: foot and table" in str(model.explain(cfg))
    alone = model.with_world(None)
    assert all(not one.obstacle for one in alone.explain(cfg).constant)


@pytest.mark.parametrize(("name", "pair", "far"), [("ur10", ("ee_link", "wrist_2_link"), 0.0156)])
def test_the_flange_of_a_ur_is_said_to_be_constant_and_coal_agrees(quick, judge, name, pair, far):
    made = quick(name)  # by itself it ignores the pair, which is proved never to collide
    options = er.PairOptions(check=[pair], samples=500, proof_boxes=0)
    model = er.CollisionModel(made.robot, made.spheres, er.compute_pairs(made.robot, made.spheres, options))
    verdict = model.explain(model.default_cfg)
    assert verdict.closest.pair == pair
    assert verdict.clearance == pytest.approx(far, abs=1e-4)
    (found,) = verdict.constant
    assert (
        str(found)
        == f"{1e3 * far:.1f} mm at all 64 sampled positions of wrist_3_joint: {pair[0]} and {pair[1]}"
    )
    rows = model.robot.random_cfgs(60, seed=5)
    by_coal = judge(name).distances(rows, [pair])[:, 0]
    assert np.ptp(by_coal) < 1e-4
    assert by_coal.min() == pytest.approx(found.distance, abs=1e-4)
    # The pair that leads now: Coal's smallest among the others, and it does change.
    others = [other for other in model.pairs.checked if other != pair]
    seen = judge(name).distances(np.array([model.default_cfg]), others)[0]
    assert verdict.varying_clearance == pytest.approx(seen.min(), abs=1e-4)
    lead = verdict.closest_varying.pair
    assert np.ptp(judge(name).distances(rows, [lead])) > 1e-3


def test_sentences_name_few_joints():
    many = ConstantClearance("a", "b", 0.0123, tuple("ijklm"), 64)
    assert str(many) == "12.3 mm at all 64 sampled positions of 5 joints between them: a and b"
    assert all(
        one in str(ConstantClearance("a", "b", 0.0123, tuple("ijk"), 64)) for one in itertools.chain("ijk")
    )


def test_a_bump_between_the_samples_is_not_called_constant(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    angles = np.sort(np.random.default_rng(0).uniform(-3.0, 3.0, (64, 1))[:, 0])
    widest = int(np.diff(angles).argmax())
    at = 0.5 * (angles[widest] + angles[widest + 1])  # where the samples of `_decided` leave the widest gap
    disc = trimesh.creation.cylinder(0.1, 0.04, sections=720)
    bump = trimesh.creation.box((0.008, 0.002, 0.04))
    bump.apply_translation((0.1, 0.0, 0.0))
    bump.apply_transform(trimesh.transformations.rotation_matrix(-at, (0.0, 0.0, 1.0)))
    trimesh.util.concatenate([disc, bump]).export(tmp_path / "disc.stl")
    path = tmp_path / "bump.urdf"
    path.write_text(
        """<robot name="bump"><link name="base"><collision><origin xyz="0.125 0 0"/><geometry><box size="0.04 0.002 0.04"/>
        </geometry></collision></link><link name="mid"/>
        <link name="disc"><collision><geometry><mesh filename="disc.stl"/></geometry></collision></link>
        <joint name="fix" type="fixed"><parent link="base"/><child link="mid"/></joint>
        <joint name="turn" type="revolute"><parent link="mid"/><child link="disc"/><axis xyz="0 0 1"/>
        <limit lower="-3" upper="3" effort="1" velocity="1"/></joint></robot>"""
    )
    robot = er.load_robot(path)
    spheres = er.fit_spheres(robot, er.FitOptions(n_spheres=12, effort=0.0))
    pairs = er.compute_pairs(robot, spheres, er.PairOptions(check=[("base", "disc")], samples=2000))
    model = er.CollisionModel(robot, spheres, pairs)
    rows = np.array([[at - 0.2], [at], [at + 0.2]])
    assert model.explain(rows[0]).constant, "away from the bump it looks constant"
    exact = model.clearance(rows[1], exact=True)
    assert exact == pytest.approx(0.001, abs=1e-5)
    assert model.explain(rows[1]).varying_clearance == pytest.approx(exact)
    found = model.varying_clearance(rows)
    assert found.clearance.min() == pytest.approx(exact)
    assert not found.constant
    assert er.audit(model, rows).varying_clearance.min() == pytest.approx(exact)
