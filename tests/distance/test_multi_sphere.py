"""MultiSphereCollision: the specified checks on teaarm, laws of the reductions, gradients against differences."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import jax_dataclasses as jdc
import numpy as np
import pytest

from elbowroom.distance import (
    MultiSphereCollision,
    auto_ignore_zero_pose_collisions,
    build_multi_sphere_collision,
    colldist_from_sdf,
    self_collision_residual,
)
from elbowroom.errors import InputError, UnknownLinkError
from tests.double import enable_x64


@pytest.fixture(scope="module")
def teaarm(load):
    robot = load("teaarm")
    return robot, auto_ignore_zero_pose_collisions(robot, build_multi_sphere_collision(robot))


def least_by_link_pair(coll, distances):
    """The smallest of all distances (..., K) by link pair, by brute force."""
    links = np.asarray(coll.sphere_link_indices)
    names = [coll.link_names[k] for k in links]
    pairs = [tuple(sorted((names[i], names[j]))) for i, j in zip(coll.pair_i, coll.pair_j, strict=True)]
    return np.stack(
        [
            np.asarray(distances)[..., [k for k, found in enumerate(pairs) if found == pair]].min(axis=-1)
            for pair in coll.link_pairs()
        ],
        axis=-1,
    )


def test_the_specified_facts_of_teaarm(teaarm):
    robot, coll = teaarm
    assert coll.num_primitives > 19
    assert coll.num_links == len(robot.link_names)
    assert coll.link_names == robot.link_names
    assert float(coll.sphere_radii.min()) > 0.005
    links = np.asarray(coll.sphere_link_indices)
    first, second = links[np.asarray(coll.pair_i)], links[np.asarray(coll.pair_j)]
    assert (first != second).all()
    joined = {frozenset((joint.parent, joint.child)) for joint in robot.tree.joints}
    assert not {frozenset(pair) for pair in coll.link_pairs()} & joined
    distance = coll.compute_self_collision_distance(robot, jnp.zeros(robot.dof))
    assert distance.shape == (coll.num_pairs,)
    assert coll.pair_i.shape == coll.pair_j.shape
    assert bool(jnp.isfinite(distance).all())
    assert float(distance.min()) > -0.01


def test_zero_pose_ignores_drop_exactly_the_close_pairs(load):
    robot = load("teaarm")
    before = build_multi_sphere_collision(robot)
    after = auto_ignore_zero_pose_collisions(robot, before, threshold=0.005)
    assert float(after.compute_self_collision_distance(robot, jnp.zeros(robot.dof)).min()) >= 0.005
    dropped = set(before.link_pairs()) - set(after.link_pairs())
    assert dropped
    at_zero = before.compute_self_collision_distance(robot, jnp.zeros(robot.dof))
    links = np.asarray(before.sphere_link_indices)
    for a, b in dropped:
        ends = {robot.link_index(a), robot.link_index(b)}
        mine = [
            k
            for k, (i, j) in enumerate(zip(links[before.pair_i], links[before.pair_j], strict=True))
            if {int(i), int(j)} == ends
        ]
        assert float(at_zero[np.array(mine)].min()) < 0.005
    other = auto_ignore_zero_pose_collisions(robot, before, cfg=robot.named_cfgs["arms_up"])
    assert set(other.link_pairs()) != set(after.link_pairs())


def test_a_self_colliding_pose_costs_and_a_clear_one_does_not(teaarm):
    robot, coll = teaarm
    cfgs = robot.random_cfgs(2000, seed=1)
    depth = np.asarray(coll.max_penetration(robot, cfgs))
    bad, good = cfgs[depth.argmax()], cfgs[depth.argmin()]
    assert depth.max() > 0.02
    assert depth.min() < -0.02
    residual = self_collision_residual(coll, robot, bad, margin=0.01, weight=5.0)
    distance = least_by_link_pair(coll, coll.compute_self_collision_distance(robot, bad))
    np.testing.assert_allclose(residual, 5.0 * colldist_from_sdf(distance, 0.01), rtol=0, atol=1e-5)
    assert float((residual**2).sum()) > 0
    assert float(residual.max()) <= 0
    assert float((self_collision_residual(coll, robot, good) ** 2).sum()) == 0


@pytest.mark.long
def test_gradients_are_finite_and_equal_finite_differences(teaarm):
    robot, coll = teaarm
    with enable_x64(True):
        exact = build_multi_sphere_collision(robot)
        cfg = jnp.asarray(robot.random_cfgs(1, seed=2)[0])
        step = 1e-6

        def weighted(q):
            distance = exact.compute_self_collision_distance(robot, q)
            return jnp.sum(colldist_from_sdf(distance, 0.05) ** 2) + 0.1 * jnp.mean(distance)

        def by_links(q):
            return jnp.sum(self_collision_residual(exact, robot, q, 0.05) ** 2)

        for function in (weighted, by_links, lambda q: exact.max_penetration(robot, q)):
            gradient = np.asarray(jax.jit(jax.grad(function))(cfg))
            moves = step * np.eye(robot.dof)
            value = jax.jit(function)
            numeric = [(value(cfg + m) - value(cfg - m)) / (2 * step) for m in moves]
            assert np.isfinite(gradient).all()
            assert np.abs(gradient).max() > 1e-3
            np.testing.assert_allclose(gradient, np.array(numeric), rtol=0, atol=1e-6)
            forward = np.asarray(jax.jit(jax.jacfwd(function))(cfg))
            np.testing.assert_allclose(forward, gradient, rtol=0, atol=1e-9)
    slopes = jax.jit(jax.vmap(jax.grad(lambda q: coll.max_penetration(robot, q))))(
        robot.random_cfgs(20, seed=3)
    )
    assert bool(jnp.isfinite(slopes).all())


@pytest.mark.long
def test_gradient_of_a_batch_is_the_batch_of_gradients(teaarm):
    robot, coll = teaarm
    cfgs = jnp.asarray(robot.random_cfgs(150, seed=4), dtype=jnp.float32)  # more than one block

    def total(q):
        return jnp.sum(colldist_from_sdf(coll.compute_self_collision_distance(robot, q), 0.05) ** 2)

    together = jax.jit(jax.grad(total))(cfgs)
    single = jax.jit(jax.vmap(jax.grad(total)))(cfgs)
    np.testing.assert_allclose(together, single, rtol=1e-3, atol=1e-4)
    depth = jax.jit(jax.grad(lambda q: jnp.sum(coll.max_penetration(robot, q))))(cfgs)
    apart = jax.jit(jax.vmap(jax.grad(lambda q: coll.max_penetration(robot, q))))(cfgs)
    np.testing.assert_allclose(depth, apart, rtol=1e-3, atol=1e-4)


def test_batches_of_any_shape_agree(teaarm):
    robot, coll = teaarm
    cfgs = jnp.asarray(robot.random_cfgs(300, seed=5), dtype=jnp.float32)
    rows = coll.compute_self_collision_distance(robot, cfgs)
    assert rows.shape == (300, coll.num_pairs)
    folded = coll.compute_self_collision_distance(robot, cfgs.reshape(3, 100, -1))
    np.testing.assert_allclose(folded.reshape(300, -1), rows, rtol=0, atol=2e-6)
    mapped = jax.jit(jax.vmap(lambda q: coll.compute_self_collision_distance(robot, q)))(cfgs)
    np.testing.assert_allclose(mapped, rows, rtol=0, atol=2e-6)
    centers, radii = coll.at_config(robot, cfgs.reshape(3, 100, -1))
    assert centers.shape == (3, 100, coll.num_primitives, 3)
    assert radii.shape == (coll.num_primitives,)
    i, j = np.asarray(coll.pair_i), np.asarray(coll.pair_j)
    flat = np.asarray(centers).reshape(300, -1, 3)
    plain = np.linalg.norm(flat[:, i] - flat[:, j], axis=-1) - np.asarray(radii)[i] - np.asarray(radii)[j]
    np.testing.assert_allclose(rows, plain, rtol=0, atol=2e-6)


@pytest.mark.parametrize("n", [1, 5, 31, 32, 200])
def test_max_penetration_is_the_largest_of_all_pairs_in_every_batch_size(teaarm, n):
    robot, coll = teaarm
    cfgs = jnp.asarray(robot.random_cfgs(n, seed=6), dtype=jnp.float32)
    expected = -coll.compute_self_collision_distance(robot, cfgs).min(axis=-1)
    np.testing.assert_allclose(coll.max_penetration(robot, cfgs), expected, rtol=0, atol=2e-6)


def test_distances_of_link_pairs_are_the_smallest_of_their_spheres(teaarm):
    robot, coll = teaarm
    cfgs = jnp.asarray(robot.random_cfgs(60, seed=10), dtype=jnp.float32)
    expected = least_by_link_pair(coll, coll.compute_self_collision_distance(robot, cfgs))
    found = coll.compute_link_pair_distance(robot, cfgs)
    assert found.shape == (60, len(coll.link_pairs()))
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6)
    folded = coll.compute_link_pair_distance(robot, cfgs.reshape(3, 20, -1))
    np.testing.assert_allclose(folded.reshape(60, -1), found, rtol=0, atol=2e-6)
    mapped = jax.jit(jax.vmap(lambda q: coll.compute_link_pair_distance(robot, q)))(cfgs)
    np.testing.assert_allclose(mapped, expected, rtol=0, atol=2e-6)
    for limit in (0.05, np.linspace(0.0, 0.4, len(coll.link_pairs()))):
        some = np.asarray(coll.compute_link_pair_distance(robot, cfgs, limit))
        near = expected < np.broadcast_to(limit, expected.shape) - 1e-5
        assert near.any()
        assert not near.all()
        np.testing.assert_allclose(some[near], expected[near], rtol=0, atol=2e-6)
        assert (some[~near] >= expected[~near] - 2e-6).all()
        assert (some >= np.minimum(limit, expected) - 2e-5).all()
    for wrong in (np.zeros(3), "x", None):
        with pytest.raises(InputError, match="limit"):
            coll.compute_link_pair_distance(robot, cfgs, wrong)


@pytest.mark.long
def test_link_pairs_that_are_left_out_are_left_out_of_every_answer(teaarm):
    robot, coll = teaarm
    cfgs = jnp.asarray(robot.random_cfgs(40, seed=12), dtype=jnp.float32)
    dropped = coll.link_pairs()[::2]
    fewer = coll.without_links(dropped)
    assert fewer.link_pairs() == coll.link_pairs()[1::2]
    expected = coll.compute_link_pair_distance(robot, cfgs)[:, 1::2]
    np.testing.assert_allclose(fewer.compute_link_pair_distance(robot, cfgs), expected, rtol=0, atol=2e-6)
    np.testing.assert_allclose(fewer.max_penetration(robot, cfgs), -expected.min(axis=-1), rtol=0, atol=2e-6)
    none = coll.without_links(coll.link_pairs())
    assert none.link_pairs() == ()
    assert none.compute_link_pair_distance(robot, cfgs).shape == (40, 0)
    assert bool(jnp.isneginf(none.max_penetration(robot, cfgs)).all())


def test_a_changed_radius_counts_in_searches(teaarm):
    """Bounds of groups are made of the radii at hand, not of those the model was made with."""
    robot, coll = teaarm
    cfgs = jnp.asarray(robot.random_cfgs(40, seed=13), dtype=jnp.float32)
    larger = jdc.replace(coll, sphere_radii=coll.sphere_radii.at[::3].add(0.03))
    expected = -larger.compute_self_collision_distance(robot, cfgs).min(axis=-1)
    np.testing.assert_allclose(larger.max_penetration(robot, cfgs), expected, rtol=0, atol=2e-6)


def test_buffers_count_per_link(teaarm):
    robot, coll = teaarm
    cfg = jnp.asarray(robot.random_cfgs(40, seed=7), dtype=jnp.float32)
    plain = coll.max_penetration(robot, cfg)
    np.testing.assert_allclose(coll.max_penetration(robot, cfg, 0.01), plain + 0.02, rtol=0, atol=2e-6)
    each = jnp.full(coll.num_links, 0.01)
    np.testing.assert_allclose(coll.max_penetration(robot, cfg, each), plain + 0.02, rtol=0, atol=2e-6)
    some = coll.max_penetration(robot, cfg, {"left_arm_l7": 0.05})
    assert bool((some >= plain).all())
    assert bool((some <= plain + 0.05 + 2e-6).all())
    assert bool((some > plain).any())
    with pytest.raises(UnknownLinkError):
        coll.max_penetration(robot, cfg, {"nose": 0.05})
    with pytest.raises(InputError, match="one number per link"):
        coll.max_penetration(robot, cfg, jnp.zeros(3))


@pytest.mark.long
def test_four_hundred_thousand_pairs_run_in_bounded_memory_and_differentiate(load):
    robot = load("teaarm")
    rng = np.random.default_rng(0)
    links = np.sort(rng.integers(0, len(robot.link_names), 1000))
    spheres = SimpleNamespace(
        link_names=robot.link_names,
        centers=rng.normal(0, 0.05, (1000, 3)),
        radii=np.full(1000, 0.01),
        link_idx=links,
    )
    coll = MultiSphereCollision.from_models(robot, spheres)
    assert coll.num_pairs > 400_000
    cfgs = jnp.asarray(robot.random_cfgs(256, seed=8), dtype=jnp.float32)
    for function in (
        lambda q: coll.max_penetration(robot, q),
        jax.vmap(jax.value_and_grad(lambda q: coll.max_penetration(robot, q))),
    ):
        compiled = jax.jit(function).lower(cfgs).compile()
        assert compiled.memory_analysis().temp_size_in_bytes < 50e6  # all pairs at once would take 400 MB
    value, gradient = jax.jit(jax.value_and_grad(lambda q: coll.max_penetration(robot, q)))(cfgs[0])
    expected = -coll.compute_self_collision_distance(robot, cfgs[0]).min()
    assert float(value) == pytest.approx(float(expected), abs=2e-6)
    assert bool(jnp.isfinite(gradient).all())
    assert float(jnp.abs(gradient).max()) > 0


def test_a_pyroki_like_robot_gives_the_same_numbers(teaarm):
    robot, coll = teaarm

    class PyrokiLike:
        joints, links = robot.joints, SimpleNamespace(names=robot.link_names)

        def forward_kinematics(self, cfg):
            return robot.forward_kinematics(cfg)

    twin = PyrokiLike()
    cfg = jnp.asarray(robot.random_cfgs(3, seed=9))
    np.testing.assert_array_equal(
        coll.compute_self_collision_distance(twin, cfg), coll.compute_self_collision_distance(robot, cfg)
    )
    assert auto_ignore_zero_pose_collisions(twin, coll).link_pairs() == coll.link_pairs()
    with pytest.raises(InputError, match="holds no meshes"):
        build_multi_sphere_collision(twin)


def test_another_robot_is_refused(teaarm, load):
    _, coll = teaarm
    panda = load("panda")
    with pytest.raises(InputError, match="another robot"):
        coll.max_penetration(panda, panda.default_cfg)


def test_build_takes_paths_counts_and_ignored_pairs(load, teaarm):
    robot, _ = teaarm
    import yourdfpy

    import elbowroom.assets

    path = str(Path(elbowroom.assets.__file__).parent / "teaarm" / "teaarm.urdf")
    base = build_multi_sphere_collision(robot)
    by_path = build_multi_sphere_collision(path)
    assert by_path.num_primitives == base.num_primitives
    assert by_path.link_names == base.link_names
    urdf = yourdfpy.URDF.load(path)
    assert build_multi_sphere_collision(urdf).num_pairs == by_path.num_pairs  # neither has an SRDF
    pair = ("left_arm_l6", "right_arm_l6")
    assert pair in base.link_pairs()
    fewer = build_multi_sphere_collision(robot, user_ignore_pairs=[pair[::-1]])
    assert set(base.link_pairs()) - set(fewer.link_pairs()) == {pair}
    bare = build_multi_sphere_collision(robot, spheres_per_link={"torso_link": 0})
    assert robot.link_index("torso_link") not in set(np.asarray(bare.sphere_link_indices).tolist())
    more = build_multi_sphere_collision(robot, spheres_per_link={"left_arm_l3": 8})
    assert more.num_primitives > base.num_primitives
    larger = build_multi_sphere_collision(robot, radius_margin=0.02)
    assert float(jnp.median(larger.sphere_radii - base.sphere_radii)) == pytest.approx(0.01, abs=1e-6)
    with pytest.raises(UnknownLinkError, match="did you mean"):
        build_multi_sphere_collision(robot, spheres_per_link={"left_arm_13": 2})
    with pytest.raises(InputError, match="whole number"):
        build_multi_sphere_collision(robot, spheres_per_link={"torso_link": -1})


SRDF = """<robot name="teaarm">
  <disable_default_collisions link="torso_link"/>
  <enable_collisions link1="torso_link" link2="left_arm_l6"/>
  <disable_collisions link1="right_arm_l6" link2="left_arm_l6" reason="User"/>
  <disable_collisions link1="left_arm_l7" link2="right_arm_l7" reason="Never" computed="elbowroom"/>
</robot>"""


def test_pairs_of_the_srdf_are_left_out_as_compute_pairs_does(tmp_path):
    """Defaults, pairs enabled again, pairs disabled; entries that we computed ourselves are not believed."""
    import elbowroom as er

    (tmp_path / "a.srdf").write_text(SRDF)
    path = Path(er.__file__).parent / "assets" / "teaarm" / "teaarm.urdf"
    robot = er.load_robot(path, srdf=tmp_path / "a.srdf")
    every = set(build_multi_sphere_collision(robot, use_srdf=False).link_pairs())
    assert every == set(build_multi_sphere_collision(path).link_pairs())
    checked = set(build_multi_sphere_collision(robot).link_pairs())
    with_torso = {pair for pair in every if "torso_link" in pair}
    assert ("left_arm_l6", "torso_link") in with_torso
    gone = with_torso - {("left_arm_l6", "torso_link")} | {("left_arm_l6", "right_arm_l6")}
    assert every - checked == gone
    assert checked < every
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    pairs = er.compute_pairs(robot, spheres, er.PairOptions(samples=100, proof_boxes=0))
    given = {pair for pair, found in pairs.entries.items() if found.source == "SRDF"}
    assert given & every == gone
    more = build_multi_sphere_collision(robot, user_ignore_pairs=[("left_arm_l5", "right_arm_l5")])
    assert checked - set(more.link_pairs()) == {("left_arm_l5", "right_arm_l5")}


def test_exclusions_of_an_mjcf_are_left_out(load):
    import mujoco

    text = """<mujoco><worldbody><body name="a"><geom size="0.1"/>
      <body name="b" pos="0 0 0.3"><joint axis="1 0 0" range="-1 1"/><geom size="0.1"/>
      <body name="c" pos="0 0 0.3"><joint axis="1 0 0" range="-1 1"/><geom size="0.1"/>
      <body name="d" pos="0 0 0.3"><joint axis="1 0 0" range="-1 1"/><geom size="0.1"/></body></body></body></body>
    </worldbody><contact><exclude body1="d" body2="a"/></contact></mujoco>"""
    robot = load(mujoco.MjModel.from_xml_string(text))
    every = set(build_multi_sphere_collision(robot, use_srdf=False).link_pairs())
    assert every - set(build_multi_sphere_collision(robot).link_pairs()) == {("a", "d")}


@pytest.mark.parametrize("given", ["robot.srdf", None, 1])
def test_use_srdf_takes_no_file(load, given):
    with pytest.raises(InputError, match=r"use_srdf must be True or False, found .*load_robot\(srdf=...\)"):
        build_multi_sphere_collision(load("teaarm"), use_srdf=given)


def test_colldist_follows_its_three_laws_and_joins_smoothly():
    margin = 0.1
    distance = jnp.array([-0.2, -1e-6, 0.0, 1e-6, 0.05, 0.1, 0.3])
    expected = [-0.25, -0.05, -0.05, -0.05, -0.0125, 0.0, 0.0]
    np.testing.assert_allclose(colldist_from_sdf(distance, margin), expected, rtol=0, atol=2e-6)
    slope = jax.vmap(jax.grad(lambda d: colldist_from_sdf(d, margin)))
    np.testing.assert_allclose(
        slope(jnp.array([-1e-5, 1e-5, 0.0999, 0.2])), [1.0, 1.0, 0.001, 0.0], atol=2e-3
    )
    np.testing.assert_allclose(colldist_from_sdf(jnp.array([-0.2, 0.0, 0.1]), 0.0), [-0.2, 0.0, 0.0])


def test_coinciding_centres_have_a_finite_gradient(load):
    robot = load("teaarm")
    names = robot.link_names
    spheres = SimpleNamespace(
        link_names=names, centers=np.zeros((2, 3)), radii=np.full(2, 0.1), link_idx=np.array([0, 1])
    )
    coll = MultiSphereCollision.from_models(robot, spheres, [(names[0], names[1])])
    pose = jnp.tile(jnp.array([1.0, 0, 0, 0, 0, 0, 0]), (len(names), 1))
    still = SimpleNamespace(
        links=SimpleNamespace(names=names), forward_kinematics=lambda q: pose * (1.0 + 0.0 * jnp.sum(q))
    )
    for function in (
        lambda q: jnp.sum(coll.compute_self_collision_distance(still, q)),
        lambda q: coll.max_penetration(still, q),
    ):
        assert bool(jnp.isfinite(jax.grad(function)(jnp.zeros(3))).all())
