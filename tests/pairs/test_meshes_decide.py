"""Meshes decide what is ignored at rest: faults of deciding by spheres, judged by Coal on the robot's own description.

Looks inside: adjacency and the place of a robot's file are needed by the judge.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import elbowroom as er
from elbowroom.distance import MultiSphereCollision, SelfCollisionChecker
from elbowroom.errors import ApproximationWarning, InputError
from elbowroom.pairs import PairOptions, PairReason, compute_pairs
from elbowroom.robot.internal import adjacent_pairs, find_robot

QUICK = {"samples": 1000, "proof_boxes": 200}


@pytest.fixture(scope="module")
def bare():
    """Robot, spheres and pairs from the description alone, without its SRDF, by name."""

    @cache
    def make(name):
        entry = find_robot(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ApproximationWarning)
            robot = er.load_robot(entry.description, package_dirs=entry.package_dirs)
        spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
        return robot, spheres, compute_pairs(robot, spheres, PairOptions(**QUICK))

    return make


def test_ur5_base_and_upper_arm_stay_checked(bare, coal_judge):
    """Their spheres overlap by 0.0 mm at rest; the links are apart there and collide elsewhere."""
    robot, _, pairs = bare("ur5")
    pair = ("base_link", "upper_arm_link")
    judge = coal_judge("ur5")
    assert not judge(robot.default_cfg[None], [pair]).any()
    assert judge(robot.random_cfgs(500, seed=1), [pair]).any()
    assert pair in pairs.checked
    assert not pairs.evidence(*pair).text.startswith("ignored")


def test_teaarm_forearm_and_hand_are_checked_by_meshes(model, coal_judge):
    robot, spheres = model("teaarm")
    pairs = compute_pairs(robot, spheres, PairOptions(**QUICK))
    judge = coal_judge("teaarm")
    for side in ("left", "right"):
        pair = (f"{side}_arm_l5", f"{side}_arm_l7")
        assert pair in pairs.by_meshes
        assert not judge(robot.default_cfg[None], [pair]).any()
        assert judge(robot.random_cfgs(1000, seed=2), [pair]).any()
        assert "meshes decide it, for its spheres overlap" in pairs.evidence(*pair).text
        assert pairs.evidence(*pair).mesh_hits > 0


def test_panda_hand_in_link5_blames_the_guessed_pose(bare, coal_judge):
    robot, _, pairs = bare("panda")
    pair = ("panda_hand", "panda_link5")
    judge = coal_judge("panda")
    assert robot.default_pose.guessed
    assert robot.default_cfg[3] == pytest.approx(0.5 * (robot.lower[3] + robot.upper[3]))
    assert judge(robot.default_cfg[None], [pair]).all()  # the guess collides
    assert pairs.reason(*pair) is PairReason.CHECKED
    assert "the pose is wrong, not the pair" in pairs.evidence(*pair).text
    assert not judge(pairs.default_cfg[None], [pair]).any()
    assert any("panda_hand and panda_link5" in note for note in pairs.notes)
    assert "moved to the nearest free pose found" in pairs.default_pose.source


@pytest.mark.long
def test_talos_hands_in_its_thighs_blame_the_guessed_pose(bare, coal_judge):
    robot, _, pairs = bare("talos")
    hands = [
        pair for pair in pairs.entries if pair[0].startswith("gripper_left") and pair[1] == "leg_left_3_link"
    ]
    judge = coal_judge("talos")
    touching = [p for p, hit in zip(hands, judge(robot.default_cfg[None], hands)[0], strict=True) if hit]
    assert touching
    assert all(pair in pairs.checked for pair in touching)
    moved = np.flatnonzero(pairs.default_cfg != robot.default_cfg)
    assert 0 < len(moved) <= 10  # a few joints of the arms and grippers, not the whole robot
    # What touches nearly everywhere is the robot's own making, not the pose's.
    found = pairs.evidence("leg_left_1_link", "leg_left_3_link")
    assert found.reason is PairReason.DEFAULT
    assert found.mesh_hits == found.mesh_samples > 0
    assert found.mesh_depth > 0.01


def test_kinova_is_not_folded_into_itself(bare, coal_judge):
    robot, _, pairs = bare("kinova")
    folded = np.clip(np.zeros(robot.dof), robot.lower, robot.upper)
    judge = coal_judge("kinova")
    assert judge(folded[None], pairs.checked).any()
    assert not judge(pairs.default_cfg[None], pairs.checked).any()
    assert "mid-range where zero is outside the limits" in robot.default_pose.source


def test_xarm7_is_checked_although_its_spheres_overlap_at_home(model, coal_judge):
    robot, spheres = model("xarm7")
    pairs = compute_pairs(robot, spheres, PairOptions(**QUICK))
    assert robot.default_pose.source == "SRDF state 'home'"
    assert ("link2", "link5") in pairs.by_meshes
    assert coal_judge("xarm7")(robot.random_cfgs(500, seed=3), [("link2", "link5")]).any()
    assert PairReason.DEFAULT not in pairs.counts()


@pytest.mark.parametrize(
    "name", ["ur5", "panda", "kinova", "xarm7", pytest.param("talos", marks=pytest.mark.long)]
)
def test_no_collision_is_ignored_but_at_the_default_pose_or_always(bare, coal_judge, name):
    robot, spheres, pairs = bare(name)
    judge = coal_judge(name)
    solid = [pair for pair in pairs.entries if pair not in adjacent_pairs(robot)]
    cfgs = np.concatenate([robot.random_cfgs(100, seed=4), pairs.default_cfg[None]])
    truth = judge(cfgs, solid)
    for pair, hits in zip(solid, truth.T, strict=True):
        found = pairs.evidence(*pair)
        if found.reason is PairReason.DEFAULT:
            assert judge(np.array([found.witness]), [pair]).all(), pair
        elif found.reason is not PairReason.CHECKED and found.reason is not PairReason.ALWAYS:
            assert not hits.any(), (pair, found.text)
    at_rest = dict(zip(solid, truth[-1].tolist(), strict=True))
    assert not [pair for pair in pairs.checked if at_rest.get(pair)]
    assert SelfCollisionChecker(robot, spheres, pairs).free(pairs.default_cfg)


@pytest.mark.long
def test_a_pose_that_somebody_gave_is_believed(model):
    robot, spheres = model("teaarm")
    options = PairOptions(**QUICK, default_cfgs=("self_collision",))
    pairs = compute_pairs(robot, spheres, options)
    pair = ("left_arm_l5", "right_arm_l5")
    found = pairs.evidence(*pair)
    assert found.reason is PairReason.DEFAULT
    assert found.witness == tuple(robot.named_cfgs["self_collision"].tolist())
    assert found.mesh_samples == 256
    assert found.mesh_hits < 128  # a guess would have been blamed
    assert f"in {found.mesh_hits} of 256 samples" in found.text
    np.testing.assert_array_equal(pairs.default_cfg, robot.named_cfgs["self_collision"])
    none = compute_pairs(robot, spheres, PairOptions(**QUICK, default_cfgs=()))
    assert PairReason.DEFAULT not in none.counts()


def test_links_without_spheres_take_part_by_meshes(model):
    robot, spheres = model("teaarm")
    keep = np.array([spheres.link_names[k] != "left_arm_l6" for k in spheres.link_idx])
    fewer = SimpleNamespace(
        link_names=spheres.link_names,
        centers=spheres.centers[keep],
        radii=spheres.radii[keep],
        link_idx=spheres.link_idx[keep],
    )
    pairs = compute_pairs(robot, fewer, PairOptions(**QUICK))
    pair = ("left_arm_l6", "right_arm_l6")
    assert "left_arm_l6" in pairs.link_names
    assert pair in pairs.by_meshes
    assert "left_arm_l6 has no spheres" in pairs.evidence(*pair).text
    assert pairs.reason("left_arm_l5", "left_arm_l6") is PairReason.ADJACENT
    assert any("no spheres" in note and "left_arm_l6" in note for note in pairs.notes)
    # Where the other link has spheres and no mesh, nothing can decide.
    shapes = {link: found for link, found in robot.shapes.items() if link != "right_arm_l6"}
    with pytest.raises(InputError, match="right_arm_l6 has spheres and no mesh, left_arm_l6 a mesh"):
        compute_pairs(replace(robot, shapes=shapes), fewer, PairOptions(**QUICK))


def test_spheres_that_do_not_cover_leave_the_pair_to_meshes(model):
    robot, spheres = model("panda")
    small = SimpleNamespace(
        link_names=spheres.link_names,
        centers=spheres.centers,
        radii=0.3 * spheres.radii,
        link_idx=spheres.link_idx,
    )
    pairs = compute_pairs(robot, small, PairOptions(**QUICK, use_srdf=False))
    missed = [pair for pair in pairs.by_meshes if "do not cover" in pairs.evidence(*pair).text]
    assert missed
    assert all(pairs.evidence(*pair).mesh_hits for pair in missed)
    assert any("do not cover" in note for note in pairs.notes)


def test_sphere_engines_take_what_spheres_can_decide_and_say_what_they_leave(model, caplog):
    robot, spheres = model("teaarm")
    pairs = compute_pairs(robot, spheres, PairOptions(**QUICK))
    assert pairs.by_meshes
    assert sorted((*pairs.by_spheres, *pairs.by_meshes)) == list(pairs.checked)
    with caplog.at_level("INFO", logger="elbowroom"):
        checker = SelfCollisionChecker(robot, spheres, pairs)
    assert "leaves" in caplog.text
    coll = MultiSphereCollision.from_models(robot, spheres, pairs)
    assert checker.pairs == coll.link_pairs() == pairs.by_spheres
    assert checker.left_to_meshes == coll.left_to_meshes == pairs.by_meshes
    plain = SelfCollisionChecker(robot, spheres, pairs.checked)
    assert plain.pairs == pairs.checked
    assert plain.left_to_meshes == ()


def test_what_an_mjcf_excludes_stays_excluded(tmp_path):
    ball = '<geom type="sphere" size="0.1"/>'
    path = tmp_path / "chain.xml"
    path.write_text(
        f'<mujoco><worldbody><body name="a">{ball}<body name="b" pos="0.5 0 0"><joint name="j" range="-1 1" '
        f'limited="true"/>{ball}<body name="c" pos="0.5 0 0"><joint name="k" range="-3 3" limited="true"/>{ball}'
        '</body></body></body></worldbody><contact><exclude body1="a" body2="c"/></contact></mujoco>'
    )
    robot = er.load_robot(path)
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    found = compute_pairs(robot, spheres, PairOptions(**QUICK)).evidence("a", "c")
    assert (found.reason, found.source) == (PairReason.USER, "MJCF")
    assert found.text.startswith("ignored because the MJCF excludes it")
    free = compute_pairs(robot, spheres, PairOptions(**QUICK, use_srdf=False))
    assert free.evidence("a", "c").source == "computed"


def test_a_robot_without_joints_has_pairs_too(load):
    robot = load("iris")
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    pairs = compute_pairs(robot, spheres)
    assert robot.dof == 0
    assert set(pairs.counts()) == {PairReason.ADJACENT}


def test_a_joint_without_limits_matters_only_where_something_is_sampled(tmp_path):
    def chain(*more):
        path = tmp_path / f"{len(more)}.xml"
        ball = '<geom type="sphere" size="0.1"/>'
        inner = "".join(
            f'<body name="{n}" pos="0.5 0 0"><joint name="j{n}" type="slide"/>{ball}' for n in more
        )
        path.write_text(
            f'<mujoco><worldbody><body name="a">{ball}{inner}{"</body>" * len(more)}</body></worldbody></mujoco>'
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ApproximationWarning)
            robot = er.load_robot(path)
        return robot, er.fit_spheres(robot, er.FitOptions(method="centerline"))

    assert set(compute_pairs(*chain("b")).counts()) == {PairReason.ADJACENT}
    with pytest.raises(InputError, match="no finite limits to sample within"):
        compute_pairs(*chain("b", "c"))
