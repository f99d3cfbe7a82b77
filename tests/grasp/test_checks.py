"""Collision checks against Coal, and the choice of the best grasp."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.errors import InputError
from elbowroom.grasp import GraspChecker, GraspPlanner, Hand, best_grasp, load_hand, plan_approach
from elbowroom.grasp._quality import rate_grasp
from elbowroom.grasp.internal import TIP_TOLERANCE, grasped_object
from tests.oracles import coal, coal_mesh, coal_pose


@pytest.fixture(scope="module")
def checker(hand: Hand) -> GraspChecker:
    return GraspChecker(hand)


def box(width: float, height: float) -> tuple[trimesh.Trimesh, np.ndarray]:
    T = np.eye(4)
    T[2, 3] = height - 0.02
    return trimesh.creation.box((width, 0.05, 0.06)), T


@pytest.mark.parametrize("width", [0.01, 0.03, 0.06, 0.1])
def test_object_distances_agree_with_coal(checker: GraspChecker, smooth: GraspPlanner, width: float) -> None:
    grasp = smooth.line(width)
    mesh, T_object = box(width, 0.1)
    found = checker.check(grasp, object_mesh=mesh, T_world_object=T_object)
    robot = grasp.hand.robot
    poses = grasp.to_world(0.1).T_world_base @ matrix_from_wxyz_xyz(
        robot.link_poses(grasp.hand.cfg(grasp.ctrl))
    )
    other = coal_mesh(mesh.vertices, mesh.faces)
    for link, distance in found.object_distances.items():
        result = coal.DistanceResult()
        link_mesh = robot.link_mesh(link, within=1e-4)  # as the collision model encloses it
        own = coal_mesh(link_mesh.vertices, link_mesh.faces)
        theirs = coal.distance(
            own,
            coal_pose(poses[robot.link_index(link)]),
            other,
            coal_pose(T_object),
            coal.DistanceRequest(),
            result,
        )
        if distance > 0:
            assert distance == pytest.approx(theirs, abs=1e-6)
        else:
            assert theirs <= 1e-9


def test_line_grasps_touch_with_their_tips_only(checker: GraspChecker, smooth: GraspPlanner) -> None:
    for width in (0.01, 0.03, 0.06):
        mesh, T = box(width, 0.1)
        found = checker.check(smooth.line(width), object_mesh=mesh, T_world_object=T)
        assert found.free, found.why
        assert found.tip_links == ("thumb_distal", "index_intermediate")
        assert found.clearance > 0.0


def test_a_low_grasp_meets_the_table_with_its_open_fingers(checker: GraspChecker, hand: Hand) -> None:
    grasp = GraspPlanner(hand).line(0.01)
    low = checker.check(grasp, height=0.03)
    assert low.table_clearance < 0
    assert "table" in low.why
    curled = checker.check(GraspPlanner(hand, unused=1.0).line(0.01), height=0.03)
    assert curled.table_clearance > low.table_clearance + 0.02
    assert checker.check(grasp, height=0.03, table_height=None).table_clearance == np.inf


def test_table_clearance_is_the_lowest_vertex(checker: GraspChecker, smooth: GraspPlanner) -> None:
    grasp = smooth.plane(0.05)
    T, _ = grasp.to_world(0.2)
    robot = grasp.hand.robot
    poses = T @ matrix_from_wxyz_xyz(robot.link_poses(grasp.hand.cfg(grasp.ctrl)))
    lowest = min(
        float(
            trimesh.transform_points(robot.link_mesh(link).vertices, poses[robot.link_index(link)])[
                :, 2
            ].min()
        )
        for link in robot.mesh_links
    )
    found = checker.check(grasp, height=0.2, table_height=0.05)
    assert found.table_clearance == pytest.approx(lowest - 0.05, abs=1e-9)


def test_an_object_in_the_palm_blocks(checker: GraspChecker, smooth: GraspPlanner) -> None:
    grasp = smooth.line(0.05)
    T = np.eye(4)
    T[:3, 3] = grasp.to_world(0.1).T_world_base[:3, 3]
    found = checker.check(grasp, object_mesh=trimesh.creation.box((0.02, 0.02, 0.02)), T_world_object=T)
    assert not found.free
    assert "base" in found.blocked


def test_self_collision_is_found(checker: GraspChecker, hand: Hand) -> None:
    ctrl = np.array([0.0, 0.0, 0.8, 0.8, 0.5, 1.308])  # the thumb is driven through the flexed fingers
    assert checker.model.clashes(hand.cfg(ctrl))
    assert not checker.model.clashes(hand.cfg(hand.ctrl_lower))


@pytest.mark.parametrize(
    ("mode", "fingers"), [("line", 2), ("plane", 3), ("plane", 4), ("plane", 5), ("cylinder", 5)]
)
def test_smooth_grasps_do_not_meet_themselves(
    checker: GraspChecker, smooth: GraspPlanner, mode: str, fingers: int
) -> None:
    for grasp in smooth.sweep(mode, 15, fingers=fingers).grasps:
        assert not checker.check(grasp, table_height=None).self_collisions


def test_defect_narrow_proportional_cylinders_meet_themselves(checker: GraspChecker, hand: Hand) -> None:
    planner = GraspPlanner(hand, "proportional")
    found = {d: checker.check(planner.cylinder(d), table_height=None).self_collisions for d in (0.03, 0.06)}
    assert found[0.03]
    assert not found[0.06]


def test_the_best_of_several(checker: GraspChecker, smooth: GraspPlanner) -> None:
    mesh, T = box(0.04, 0.1)
    candidates = [smooth.line(0.04), smooth.plane(0.04, fingers=3), smooth.plane(0.04, fingers=4)]
    best, rated = best_grasp(candidates, checker, mesh, T_world_object=T)
    assert [entry.score for entry in rated] == sorted((entry.score for entry in rated), reverse=True)
    assert best.check.free
    assert best.score == max(rate_grasp(g, checker, mesh, T_world_object=T).score for g in candidates)
    far = T.copy()
    far[0, 3] = 0.3
    assert not rate_grasp(candidates[0], checker, mesh, T_world_object=far).quality.force_closure
    with pytest.raises(InputError, match="at least one"):
        best_grasp([], checker, mesh)
    with pytest.raises(InputError, match="none of 1 grasps is free.*table"):
        best_grasp([smooth.line(0.04)], checker, mesh, T_world_object=T, height=-0.2)


def test_motions_are_checked_row_by_row(checker: GraspChecker, smooth: GraspPlanner) -> None:
    motion = plan_approach(smooth, smooth.line(0.03), height=0.1)
    mesh, T = box(0.03, 0.1)
    assert checker.check_motion(motion, object_mesh=mesh, T_world_object=T) is None
    T[2, 3] += 0.12  # an object that the hand comes down through
    found = checker.check_motion(motion, object_mesh=mesh, T_world_object=T)
    assert found is not None
    assert motion.phases[found[0]] == "descend"
    assert found[1].blocked
    low = plan_approach(smooth, smooth.line(0.03), height=0.0)
    hit = checker.check_motion(low, every=1)
    assert hit is not None
    assert hit[1].table_clearance < 0
    assert hit[0] > 0


def test_grasps_of_other_hands_are_refused(checker: GraspChecker) -> None:
    with pytest.raises(InputError, match="another hand"):
        checker.check(GraspPlanner(load_hand("rh56")).line(0.03))


def test_a_finger_deeper_than_the_tolerance_is_not_free(hand: Hand, smooth: GraspPlanner) -> None:
    """Four fingers on 30 mm: the side is at the mean of the fingertips, the middle one is 4.6 mm inside."""
    grasp = smooth.plane(0.03, fingers=4)
    mesh = grasped_object(grasp, 0.1).mesh()
    found = GraspChecker(hand).check(grasp, object_mesh=mesh)
    deepest = found.overlaps[0]
    assert (deepest.link, deepest.finger) == ("middle_intermediate", "middle")
    assert deepest.depth == pytest.approx(0.0046, abs=2e-4)
    assert deepest.tolerance == found.tip_tolerance == TIP_TOLERANCE == 0.003
    assert deepest.exceeds
    assert not found.free
    assert "middle_intermediate is 4.6 mm inside the object, 3.0 mm are allowed" in found.why
    thumb = next(overlap for overlap in found.overlaps if overlap.finger == "thumb")
    assert not thumb.exceeds
    soft = GraspChecker(hand, tip_tolerance=0.005).check(grasp, object_mesh=mesh)
    assert soft.free
    assert not soft.blocked


@pytest.mark.parametrize("width", [0.01, 0.03, 0.06])
def test_the_tolerance_is_what_shapes_reach_beyond_tips_on_the_surface(
    checker: GraspChecker, smooth: GraspPlanner, width: float
) -> None:
    """With two fingers both tips are on the object's sides: what is inside then is the shapes around them."""
    grasp = smooth.line(width)
    found = checker.check(grasp, object_mesh=grasped_object(grasp, 0.1).mesh())
    assert found.free
    assert 0.5 * TIP_TOLERANCE < max(overlap.depth for overlap in found.overlaps) <= TIP_TOLERANCE
