"""What CollisionModel answers, refuses and says.

Looks inside: a robot with longer links, which the pairs were not computed for, is built without a file.
"""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import elbowroom as er
from elbowroom.collision import CollisionModel
from elbowroom.errors import InputError, UnknownLinkError
from elbowroom.mesh import ExactCollision
from elbowroom.pairs import PairReason
from elbowroom.robot.internal import build_tree


def test_free_equals_the_meshes_alone(quick):
    model = quick("panda")
    cfgs = model.robot.random_cfgs(3000, seed=1)
    exact = ExactCollision(model.robot, model.pairs)
    np.testing.assert_array_equal(model.free(cfgs), exact.free(cfgs))
    assert [model.free(cfg) for cfg in cfgs[:50]] == exact.free(cfgs[:50]).tolist()
    spheres = model.free(cfgs, by="spheres")
    assert not (spheres & ~exact.free(cfgs)).any()
    assert spheres.sum() < exact.free(cfgs).sum()  # spheres do refuse what meshes accept


def test_threads_do_not_change_the_answer(quick):
    model = quick("teaarm")
    cfgs = model.robot.random_cfgs(5000, seed=2)
    one = CollisionModel(model.robot, model.spheres, model.pairs, threads=1)
    two = CollisionModel(model.robot, model.spheres, model.pairs, threads=2)
    np.testing.assert_array_equal(one.free(cfgs), two.free(cfgs))
    np.testing.assert_array_equal(one.clearance(cfgs[:200]), two.clearance(cfgs[:200]))


def test_clearance_is_a_lower_bound_and_positive_where_free(quick):
    model = quick("panda")
    cfgs = model.robot.random_cfgs(300, seed=3)
    bound, measured = model.clearance(cfgs), model.clearance(cfgs, exact=True)
    free = model.free(cfgs)
    np.testing.assert_array_equal(bound > 0, free)
    np.testing.assert_array_equal(measured > 0, free)
    assert (bound <= measured + 1e-9).all()
    assert 0 < free.sum() < len(free)
    exact = ExactCollision(model.robot, model.pairs)
    for cfg, value in zip(cfgs[:20], measured, strict=False):
        assert value == pytest.approx(exact.distances(cfg)[0].distance, abs=1e-7)
    assert model.clearance(cfgs[0]) == bound[0]


def test_a_buffer_is_clearance_asked_of_every_pair(quick):
    plain, wide = quick("panda"), quick("panda", 0.03)
    cfgs = plain.robot.random_cfgs(400, seed=4)
    measured = plain.clearance(cfgs, exact=True)
    sure = np.abs(measured - 0.03) > 1e-6
    np.testing.assert_array_equal(wide.free(cfgs)[sure], measured[sure] > 0.03)
    assert (wide.free(cfgs) != plain.free(cfgs)).any()


def test_explain_names_links_limits_and_what_to_write(quick):
    model = quick("teaarm")
    verdict = model.explain(model.robot.named_cfgs["self_collision"])
    assert not verdict
    assert ("left_arm_l5", "right_arm_l5") in [clash.pair for clash in verdict.clashes]
    assert verdict.clearance == verdict.clashes[0].distance < 0
    assert "left_arm_l5 and right_arm_l5 overlap by" in str(verdict)
    assert '<disable_collisions link1="left_arm_l5" link2="right_arm_l5"' in verdict.how_to_allow
    cfg = np.array(model.default_cfg)
    cfg[0] = model.robot.upper[0] + 0.1
    outside = model.explain(cfg)
    assert [entry.joint for entry in outside.out_of_limits] == [model.robot.joint_names[0]]
    assert "outside its limits" in str(outside)
    fine = model.explain(model.default_cfg)
    assert fine
    assert fine.clashes == ()
    assert fine.how_to_allow == ""
    assert "is free" in str(fine)


def test_ignored_pairs_that_touch_are_named(quick):
    model = quick("teaarm")
    pairs = model.pairs.with_user(ignore=[("left_arm_l5", "right_arm_l5")])
    quiet = CollisionModel(model.robot, model.spheres, pairs)
    verdict = quiet.explain(model.robot.named_cfgs["self_collision"])
    assert verdict.ignored_touching["left_arm_l5", "right_arm_l5"].reason is PairReason.USER
    assert "touching here, but not checked (user): left_arm_l5 and right_arm_l5" in str(verdict)


def test_a_pair_that_touches_at_rest_says_how_often_and_how_deep_elsewhere(quick):
    model = quick("icub")  # its half-sitting pose collides by mesh
    evidence = model.ignored["chest", "l_upper_arm"]
    assert evidence.reason is PairReason.DEFAULT
    assert evidence.mesh_hits > 0
    assert evidence.mesh_depth is not None
    touching = model.explain(model.default_cfg).ignored_touching["chest", "l_upper_arm"]
    assert touching.text in str(model.explain(model.default_cfg))
    assert f"{evidence.mesh_hits} of" in touching.text


def test_pairs_of_something_else_are_refused_with_what_differs(quick, described):
    model = quick("teaarm")
    grown = model.spheres.with_padding(self_collision={"left_arm_l3": 0.01})
    with pytest.raises(InputError, match="left_arm_l3"):
        CollisionModel(model.robot, grown, model.pairs)
    with pytest.raises(InputError, match="buffer"):
        CollisionModel(model.robot, model.spheres, model.pairs, buffer=0.05)
    tree = model.robot.tree
    longer = [
        replace(joint, T_parent_joint=joint.T_parent_joint + np.eye(4, k=3) * 0.01)
        if joint.name == tree.actuated[3].name
        else joint
        for joint in tree.joints
    ]
    changed = replace(model.robot, tree=build_tree("teaarm", tree.link_names, longer, np.eye(4)))
    with pytest.raises(InputError, match="description"):
        CollisionModel(changed, model.spheres, model.pairs)


def test_spheres_that_do_not_cover_cost_time_not_truth(quick):
    model = quick("panda")
    small = replace(model.spheres, radii=0.6 * model.spheres.radii)
    doubted = CollisionModel(model.robot, small)
    assert set(doubted.uncovered) == set(model.robot.mesh_links)
    cfgs = model.robot.random_cfgs(500, seed=7)
    np.testing.assert_array_equal(
        doubted.free(cfgs), model.free(cfgs)
    )  # the whole robot, not the doubted pairs
    assert not (doubted.free(cfgs, by="spheres") & ~model.free(cfgs)).any()
    assert model.uncovered == ()


@pytest.mark.long
def test_a_link_without_spheres_is_still_looked_at(quick):
    model = quick("teaarm")
    spheres = {name: model.spheres.link(name) for name in model.spheres.counts if name != "right_arm_l5"}
    some = er.SphereModel.from_links(model.robot.link_names, spheres, robot_name="teaarm")
    clash = model.robot.named_cfgs["self_collision"]
    without = CollisionModel(model.robot, some)
    assert not without.free(clash)
    assert not without.free(clash, by="spheres")


@pytest.mark.parametrize(
    ("cfg", "text"),
    [(np.zeros(3), "shape"), (np.full(16, np.nan), "NaN"), ("home", "numbers"), (np.full(16, 1e6), "1e5")],
)
def test_bad_configurations_are_refused(quick, cfg, text):
    with pytest.raises(InputError, match=text):
        quick("teaarm").free(cfg)


def test_bad_arguments_are_refused(quick, described):
    model = quick("teaarm")
    with pytest.raises(InputError, match="by must be"):
        model.free(model.default_cfg, by="boxes")
    with pytest.raises(InputError, match="buffer"):
        CollisionModel(model.robot, model.spheres, buffer=-0.01)
    with pytest.raises(InputError, match="obstacles"):
        CollisionModel(model.robot, model.spheres, model.pairs, world=object())
    with pytest.raises(InputError, match="attach"):
        CollisionModel(model.robot, model.spheres.attach("left_arm_l7", [[0, 0, 0]], [0.1], "cup"))
    with pytest.raises(UnknownLinkError):
        CollisionModel(model.robot, quick("panda").spheres)
    with pytest.raises(InputError, match="one configuration"):
        model.explain(np.zeros((2, model.robot.dof)))
    assert model.with_world(None) is model


def test_models_travel(quick):
    model = quick("teaarm")
    other = pickle.loads(pickle.dumps(model))
    cfgs = model.robot.random_cfgs(200, seed=8)
    np.testing.assert_array_equal(other.free(cfgs), model.free(cfgs))


def test_every_pair_is_in_one_part_with_a_reason(quick):
    model = quick("teaarm")
    parts = [model.by_spheres, model.by_meshes, model.ignored]
    assert sum(len(part) for part in parts) == len(model.pairs.entries)
    assert set().union(*parts) == set(model.pairs.entries)
    assert all(found.text for part in parts for found in part.values())
    assert ("left_arm_l5", "left_arm_l7") in model.by_meshes


@pytest.mark.long
def test_links_of_spheres_alone_are_decided_and_named_by_them(described):
    """A tool that exists only as spheres: no mesh can decide, so its spheres do, and the verdict names them."""
    robot = described("teaarm")
    fitted = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    balls = {name: fitted.link(name) for name in fitted.counts}
    bare = next(name for name in robot.link_names if name not in robot.mesh_links and "left" in name)
    spheres = er.SphereModel.from_links(
        robot.link_names, {**balls, bare: (np.zeros((1, 3)), np.array([0.4]))}, robot_name="teaarm"
    )
    model = CollisionModel(robot, spheres)
    assert not model.free(model.robot.named_cfgs["hug"])
    verdict = model.explain(model.robot.named_cfgs["hug"])
    assert all(bare in clash.pair for clash in verdict.clashes)
    assert verdict.by == "spheres"
    assert model.explain(model.robot.named_cfgs["self_collision"]).by == "meshes"
    assert any(bare in clash.pair for clash in model.clashes(model.robot.named_cfgs["hug"]))
    assert model.clearance(model.robot.named_cfgs["hug"], exact=True) < 0


@pytest.mark.long
def test_another_default_pose_gives_other_pairs_not_cached_ones(described):
    robot = described("teaarm")
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    before = CollisionModel(robot, spheres).pairs
    pose = replace(
        robot.default_pose, cfg=robot.named_cfgs["self_collision"], source="test", guessed_joints=()
    )
    moved = CollisionModel(replace(robot, default_pose=pose, named_cfgs={}), spheres).pairs
    assert before.reason("left_arm_l5", "right_arm_l5") is PairReason.CHECKED
    assert moved.reason("left_arm_l5", "right_arm_l5") is PairReason.DEFAULT
