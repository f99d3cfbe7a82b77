"""What a matrix was made for, and how that differs from something else.

Looks inside: `made_for` computes the hash that the public `PairMatrix.made_for` holds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from elbowroom.pairs import PairOptions, compute_pairs
from elbowroom.pairs.internal import made_for


@pytest.fixture(scope="module")
def teaarm(model):
    return model("teaarm")


def test_the_same_robot_and_spheres_do_not_differ(teaarm):
    robot, spheres = teaarm
    pairs = compute_pairs(robot, spheres, PairOptions(samples=100, proof_boxes=10))
    assert pairs.made_for == made_for(robot, spheres, 0.02)
    assert pairs.made_for.differs(made_for(robot, spheres, 0.02)) == ()
    assert pairs.made_for.differs(made_for(robot, spheres, 0.0)) == ()  # holds for smaller buffers too


def test_a_larger_buffer_differs(teaarm):
    robot, spheres = teaarm
    held = made_for(robot, spheres, 0.02)
    (said,) = held.differs(made_for(robot, spheres, 0.03))
    assert "the buffer grew" in said
    (said,) = held.differs(made_for(robot, spheres, {"torso_link": 0.05}))
    assert "50 mm, not 10 mm, for link torso_link" in said


def test_spheres_that_changed_are_named_by_link(teaarm):
    robot, spheres = teaarm
    held = made_for(robot, spheres)
    mine = spheres.link_idx == spheres.link_names.index("left_arm_l3")
    grown = replace(spheres, radii=np.where(mine, spheres.radii + 0.01, spheres.radii))
    assert held.differs(made_for(robot, grown)) == ("radii of link left_arm_l3 grew",)
    shrunk = replace(spheres, radii=np.where(mine, 0.5 * spheres.radii, spheres.radii))
    assert held.differs(made_for(robot, shrunk)) == ("radii of link left_arm_l3 shrank",)
    padded = replace(spheres, self_padding={"left_arm_l3": 0.01})
    assert held.differs(made_for(robot, padded)) == ("radii of link left_arm_l3 grew",)
    moved = replace(spheres, centers=np.where(mine[:, None], spheres.centers + 0.01, spheres.centers))
    assert held.differs(made_for(robot, moved)) == ("spheres of link left_arm_l3 moved",)
    fewer = replace(
        spheres,
        centers=spheres.centers[~mine],
        radii=spheres.radii[~mine],
        link_idx=spheres.link_idx[~mine],
        attached=(),
    )
    (said,) = held.differs(made_for(robot, fewer))
    assert said == f"link left_arm_l3 has 0 spheres, not {int(mine.sum())}"


def test_a_description_that_changed_says_what(teaarm):
    robot, spheres = teaarm
    held = made_for(robot, spheres)
    joints = list(robot.tree.actuated)
    narrower = replace(joints[0], upper=joints[0].upper - 0.1)
    limited = replace(robot, tree=replace(robot.tree, actuated=(narrower, *joints[1:])))
    assert held.differs(made_for(limited, spheres)) == ("the joint limits changed",)
    turned = replace(robot.tree.joints[0], axis=-robot.tree.joints[0].axis)
    other = replace(robot, tree=replace(robot.tree, joints=(turned, *robot.tree.joints[1:])))
    (said,) = held.differs(made_for(other, spheres))
    assert "description changed" in said
    shapes = {**robot.shapes, "left_arm_l3": robot.shapes["right_arm_l4"]}
    (said,) = held.differs(made_for(replace(robot, shapes=shapes, _meshes={}), spheres))
    assert said == "the collision shapes of link left_arm_l3 changed"
