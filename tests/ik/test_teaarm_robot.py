"""TeaArmRobot: attributes, the costs of the specification, and that they work."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import jaxlie
import numpy as np
import pytest

import elbowroom as er
from elbowroom import ik
from elbowroom.errors import ElbowroomError, InputError


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


@pytest.mark.long
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
    distance = tea.multi_sphere_coll.compute_link_pair_distance(tea.robot, cfg)
    assert tea.self_collision_margins.max() == 0.02
    expected = 5.0 * np.asarray(er.colldist_from_sdf(distance, tea.self_collision_margins))
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


def test_the_cost_misses_no_collision_and_seldom_sees_one_where_there_is_none(tea):
    """Judged by meshes, over every pair of links that the robot's description does not join."""
    coll = tea.multi_sphere_coll
    assert coll.left_to_meshes == ()
    cfgs = tea.robot.random_cfgs(3000, seed=2026)
    joined = {tuple(sorted((joint.parent, joint.child))) for joint in tea.robot.tree.joints}
    shaped = sorted(tea.robot.mesh_links)
    every = [(a, b) for k, a in enumerate(shaped) for b in shaped[k + 1 :] if (a, b) not in joined]
    free = er.ExactCollision(tea.robot, every).free(cfgs)
    clear = np.asarray(coll.compute_link_pair_distance(tea.robot, cfgs)).min(axis=1) > 0.0
    assert (clear & ~free).sum() == 0
    assert 300 < (~free).sum() < 600
    assert (free & ~clear).sum() < 0.1 * free.sum()


@pytest.mark.long
def test_left_and_right_are_called_colliding_alike(tea):
    """The same configurations with left and right exchanged; the arms differ by tenths of a millimetre."""
    names = tea.robot.joint_names
    cfgs = tea.robot.random_cfgs(4000, seed=5)
    mirrored = cfgs.copy()
    mirrored[:, names.index("waist_yaw")] *= -1.0
    for k in range(1, 8):
        a, b = names.index(f"left_j{k}"), names.index(f"right_j{k}")
        sign = 1.0 if k == 4 else -1.0
        mirrored[:, a], mirrored[:, b] = sign * cfgs[:, b], sign * cfgs[:, a]
    pairs = tea.multi_sphere_coll.link_pairs()
    counts = []
    for side, rows in (("left", cfgs), ("right", mirrored)):
        column = pairs.index((f"{side}_arm_l5", f"{side}_arm_l7"))
        distance = tea.multi_sphere_coll.compute_link_pair_distance(tea.robot, rows)[:, column]
        counts.append(int((distance <= 0.0).sum()))
    assert min(counts) > 150
    assert abs(counts[0] - counts[1]) <= 0.05 * max(counts)


@pytest.mark.parametrize("part", range(1, 8))
def test_mirrored_links_have_mirrored_spheres(tea, part):
    """In the sagittal plane at the zero pose; l4 is the same part on both sides, not a reflected one."""
    robot, spheres = tea.robot, tea.model.spheres
    left, right = f"left_arm_l{part}", f"right_arm_l{part}"
    poses = np.array([jaxlie.SE3(p).as_matrix() for p in robot.link_poses(np.zeros((1, 16)))[0]])
    turns = [poses[robot.link_index(name), :3, :3] for name in (left, right)]
    plane = np.eye(3) if part == 4 else np.diag([-1.0, 1.0, 1.0])
    turn = np.round(turns[1].T @ plane @ turns[0])
    assert np.abs(turns[1].T @ plane @ turns[0] - turn).max() < 1e-5
    vertices = [np.asarray(robot.link_mesh(name).vertices) for name in (left, right)]
    middles = [(v.min(axis=0) + v.max(axis=0)) / 2 for v in (vertices[0] @ turn.T, vertices[1])]
    (centers, radii), (others, other_radii) = spheres.link(left), spheres.link(right)
    np.testing.assert_allclose(centers @ turn.T + middles[1] - middles[0], others, rtol=0, atol=1e-9)
    np.testing.assert_allclose(radii, other_radii, rtol=0, atol=1e-9)


def test_at_rest_the_cost_is_zero_and_its_gradient_finite(tea):
    cost = by_name(tea.build_costs(None, None, None))["self-collision"]
    for cfg in (np.zeros(16), tea.default_cfg):
        assert np.abs(np.asarray(cost(jnp.asarray(cfg)))).max() == 0.0
    rows = jax.jit(jax.vmap(jax.grad(lambda q: jnp.sum(cost(q) ** 2))))(
        jnp.asarray(tea.robot.random_cfgs(50), dtype=jnp.float32)
    )
    assert np.isfinite(np.asarray(rows)).all()
    assert np.abs(np.asarray(rows)).max() > 0.0


@pytest.fixture(scope="module")
def other_teaarm(tmp_path_factory):
    """A TeaArm with other shapes: the bundled ones shrunk about their middles and simplified to their hulls."""
    import trimesh

    folder = tmp_path_factory.mktemp("real_teaarm")
    source = Path(er.TeaArmRobot().urdf_path)
    (folder / "meshes").mkdir()
    for path in (source.parent / "meshes").glob("*.stl"):
        mesh = trimesh.load_mesh(path).convex_hull
        middle = mesh.bounds.mean(axis=0)
        mesh.vertices = middle + 0.8 * (mesh.vertices - middle)
        mesh.export(folder / "meshes" / path.name)
    urdf = folder / "real.urdf"
    urdf.write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    return urdf


@pytest.mark.long
def test_a_urdf_with_other_meshes_goes_all_the_way(tea, other_teaarm):
    real = er.TeaArmRobot(n_spheres=60, urdf_path=other_teaarm)
    assert real.urdf_path == str(other_teaarm)
    assert real.actuated_joint_names == tea.actuated_joint_names
    np.testing.assert_allclose(real.default_cfg, tea.default_cfg, rtol=0, atol=1e-12)
    assert not np.array_equal(
        real.robot.link_mesh("torso_link").vertices, tea.robot.link_mesh("torso_link").vertices
    )
    proof = er.prove_coverage(real.robot, real.model.spheres)
    assert proof.proved
    assert proof.links["torso_link"].proved
    assert len(real.model.spheres) < len(tea.model.spheres)
    pose = real.robot.link_poses(real.default_cfg)[real.robot.link_index(real.left)].copy()
    pose[6] += 0.05
    found = ik.minimize(real.build_costs(pose, None, None), real.default_cfg, real.robot, iterations=15)
    reached = real.robot.link_poses(np.asarray(found.cfg, dtype=np.float64))
    assert np.linalg.norm(reached[real.robot.link_index(real.left), 4:] - pose[4:]) < 1e-3
    assert real.model.free(np.asarray(found.cfg, dtype=np.float64))


def test_a_urdf_of_another_robot_is_refused(tmp_path, tea):
    text = Path(tea.urdf_path).read_text(encoding="utf-8").replace("left_j4", "elbow")
    meshes = (Path(tea.urdf_path).parent / "meshes").as_posix()
    (tmp_path / "other.urdf").write_text(text.replace('"meshes/', f'"{meshes}/'), encoding="utf-8")
    with pytest.raises(InputError, match="no joint 'left_j4'"):
        er.TeaArmRobot(urdf_path=tmp_path / "other.urdf", package_dirs=[meshes])
    with pytest.raises(ElbowroomError, match=r"nowhere\.urdf"):
        er.TeaArmRobot(urdf_path=tmp_path / "nowhere.urdf")
    for n_spheres in (0, "x", 2.5):
        with pytest.raises(InputError, match="n_spheres"):
            er.TeaArmRobot(n_spheres=n_spheres)
    with pytest.raises(InputError, match="urdf_path: expected the path"):
        er.TeaArmRobot(urdf_path=5)
    with pytest.raises(InputError, match="package_dirs"):
        er.TeaArmRobot(urdf_path=tea.urdf_path, package_dirs=5)


def test_margins_at_rest_refuse_what_makes_no_sense(tea):
    coll, robot = tea.multi_sphere_coll, tea.robot
    one = ik.margins_at_rest(robot, coll, 0.02, tea.default_cfg)
    assert one.shape == (len(coll.link_pairs()),)
    np.testing.assert_array_equal(one, ik.margins_at_rest(robot, coll, 0.02, tea.default_cfg[None]))
    assert (ik.margins_at_rest(robot, coll, 0.02, np.stack([np.zeros(16), tea.default_cfg])) <= one).all()
    for margin in (-0.01, np.nan, np.inf, "x"):
        with pytest.raises(InputError, match="margin: expected"):
            ik.margins_at_rest(robot, coll, margin, tea.default_cfg)
    with pytest.raises(InputError, match="at least one configuration"):
        ik.margins_at_rest(robot, coll, 0.02, np.zeros((0, 16)))
    with pytest.raises(InputError, match="one number or one per link pair"):
        ik.self_collision_cost(robot, coll, np.zeros(3))(jnp.zeros(16))


def test_a_new_target_compiles_nothing(tea):
    from elbowroom.ik.jax._solve import _minimize

    poses = tea.robot.link_poses(tea.robot.random_cfgs(3, seed=2))[:, tea.robot.link_index(tea.left)]
    ik.minimize(tea.build_costs(poses[0], poses[1], None), tea.default_cfg, tea.robot, iterations=5)
    size = _minimize._cache_size()
    ik.minimize(
        tea.build_costs(jaxlie.SE3(jnp.asarray(poses[2])), poses[0], None), tea.default_cfg, tea.robot
    )
    assert _minimize._cache_size() == size
