"""TeaArmRobot: attributes, the costs of the specification, and that they work."""

from __future__ import annotations

from pathlib import Path

import jax.numpy as jnp
import jaxlie
import numpy as np
import pytest

import elbowroom as er
from elbowroom import ik


@pytest.fixture(scope="module")
def tea():
    return er.TeaArmRobot()


def by_name(costs):
    return {cost.name: cost for cost in costs}


def test_attributes(tea):
    assert tea.robot.dof == 16
    assert Path(tea.urdf_path).is_file()
    assert tea.urdf_path.endswith(".urdf")
    assert (
        er.load_robot(tea.urdf_path).joint_names == tuple(tea.actuated_joint_names) == tea.robot.joint_names
    )
    assert tea.multi_sphere_coll.link_names == tea.robot.links.names
    assert tea.multi_sphere_coll.num_primitives > 2 * tea.robot_coll.num_primitives
    assert tea.robot_coll.num_primitives == len(tea.robot.mesh_links)
    assert tea.default_cfg[tea.robot.joint_names.index("left_j4")] == pytest.approx(1.48352986)


def test_identity_targets_give_six_costs_and_a_few_iterations_stay_finite(tea):
    costs = tea.build_costs(jaxlie.SE3.identity(), jaxlie.SE3.identity(), None)
    assert len(costs) >= 6
    found = ik.minimize(costs, jnp.zeros(16), tea.robot, iterations=5)
    assert np.isfinite(np.asarray(found.cfg)).all()
    assert np.isfinite(float(found.cost))
    for coll in (tea.multi_sphere_coll, tea.robot_coll):
        assert np.isfinite(np.asarray(coll.compute_self_collision_distance(tea.robot, jnp.zeros(16)))).all()


def test_weights_are_those_of_the_specification(tea):
    costs = by_name(tea.build_costs(np.eye(4), np.eye(4), None))
    for link in ("frame_left_arm_ee", "frame_right_arm_ee"):
        np.testing.assert_array_equal(costs[f"pose of {link}"].weight, [50, 50, 50, 10, 10, 10])
    assert float(costs["manipulability"].weight) == 0.005
    assert float(costs["self-collision"].weight) == 5.0
    cfg = jnp.asarray(tea.robot.named_cfgs["self_collision"])
    distance = tea.multi_sphere_coll.compute_self_collision_distance(tea.robot, cfg)
    expected = 5.0 * np.asarray(er.colldist_from_sdf(distance, 0.02))
    np.testing.assert_allclose(costs["self-collision"](cfg), expected, atol=1e-6)
    assert expected.min() < -0.05


def test_targets_may_be_left_out_and_come_in_any_form(tea):
    pose = tea.robot.link_poses(tea.default_cfg)[tea.robot.link_index(tea.left)]
    none = by_name(tea.build_costs(None, None, None))
    assert set(none) == {"rest", "manipulability", "limits", "self-collision"}
    cfg = jnp.zeros(16)
    forms = [pose, jaxlie.SE3(jnp.asarray(pose)), np.array(jaxlie.SE3(pose).as_matrix(), dtype=np.float64)]
    rows = [by_name(tea.build_costs(form, None, None))["pose of frame_left_arm_ee"](cfg) for form in forms]
    np.testing.assert_allclose(rows[1], rows[0], atol=1e-4)
    np.testing.assert_allclose(rows[2], rows[0], atol=1e-4)
    assert len(tea.build_costs(pose, pose, pose)) == 7


def test_current_configuration_is_where_it_rests(tea):
    current = tea.robot.random_cfgs(1, seed=1)[0]
    assert (
        np.abs(by_name(tea.build_costs(None, None, None))["rest"](jnp.asarray(tea.default_cfg))).max() == 0.0
    )
    rest = by_name(tea.build_costs(None, None, None, q_current=current))["rest"]
    assert np.abs(rest(jnp.asarray(current))).max() == 0.0
    assert np.abs(rest(jnp.asarray(tea.default_cfg))).max() > 0.0


def test_the_head_turns_the_waist(tea):
    yaw = 0.7
    head = np.array([np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2), 0.3, 0.2, 1.5])
    costs = by_name(tea.build_costs(None, None, head))
    found = ik.minimize([costs["heading of waist_link"], costs["rest"]], tea.default_cfg, tea.robot)
    assert float(found.cfg[tea.robot.joint_names.index("waist_yaw")]) == pytest.approx(yaw, abs=0.01)


def test_hands_that_are_in_reach_are_reached(tea):
    poses = tea.robot.link_poses(tea.default_cfg)
    left, right = (poses[tea.robot.link_index(link)].copy() for link in (tea.left, tea.right))
    left[6] += 0.05
    right[6] += 0.05
    cfg = ik.minimize(tea.build_costs(left, right, None), tea.default_cfg, tea.robot).cfg
    poses = tea.robot.link_poses(np.asarray(cfg, dtype=np.float64))
    for link, target in ((tea.left, left), (tea.right, right)):
        assert np.linalg.norm(poses[tea.robot.link_index(link), 4:] - target[4:]) < 1e-3


def test_the_self_collision_cost_pulls_links_apart(tea):
    """From a configuration in which the arms run through each other, held by nothing but the cost of rest."""
    start = tea.robot.named_cfgs["self_collision"]
    costs = tea.build_costs(np.eye(4), np.eye(4), None, q_current=start)
    for cost in costs:
        if cost.name not in ("rest", "self-collision"):
            cost.weight = 0.0 * cost.weight  # silent, and the program of the other tests
    found = ik.minimize(costs, start, tea.robot)
    before, after = (
        float(tea.multi_sphere_coll.max_penetration(tea.robot, jnp.asarray(cfg)))
        for cfg in (start, found.cfg)
    )
    assert before > 0.01
    assert after < 0.5 * before


def test_which_pairs_are_left_to_meshes_is_said(tea):
    assert tea.multi_sphere_coll.left_to_meshes == tuple(tea.model.pairs.by_meshes)
    shared = set(tea.multi_sphere_coll.link_pairs()) & set(tea.model.pairs.by_meshes)
    assert shared == set()


def test_a_new_target_compiles_nothing(tea):
    from elbowroom.ik._jax_solve import _minimize

    poses = tea.robot.link_poses(tea.robot.random_cfgs(3, seed=2))[:, tea.robot.link_index(tea.left)]
    ik.minimize(tea.build_costs(poses[0], poses[1], None), tea.default_cfg, tea.robot, iterations=5)
    size = _minimize._cache_size()
    ik.minimize(
        tea.build_costs(jaxlie.SE3(jnp.asarray(poses[2])), poses[0], None), tea.default_cfg, tea.robot
    )
    assert _minimize._cache_size() == size
