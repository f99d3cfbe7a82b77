"""The scene of the compiled core: alone as in a batch, beyond limits as within, and curves proved as they are.

Looks inside: poses are built by the package's own conversion.
"""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.collision import CollisionModel
from elbowroom.errors import InputError
from elbowroom.mesh import ExactCollision, TriangleMesh, distance
from elbowroom.world import Box, Sphere, World

GLANCE, SPHERES, MESHES = range(3)


def at(x: float, y: float, z: float) -> np.ndarray:
    return np.array([1.0, 0.0, 0.0, 0.0, x, y, z])


@pytest.fixture(scope="module")
def among(quick):
    """Panda among a few obstacles, near enough that some of its poses touch them."""
    world = World(
        [
            Box((0.2, 0.2, 0.6), pose=at(0.45, 0.2, 0.3), name="post"),
            Sphere(0.1, pose=at(0.4, -0.3, 0.5), name="ball"),
        ]
    )
    return quick("panda").with_world(world)


@pytest.mark.parametrize("by", ["meshes", "spheres"])
def test_a_configuration_is_judged_alone_as_in_a_batch(among, by):
    cfgs = among.robot.random_cfgs(300, seed=3)
    together = among.free(cfgs, by=by)
    assert 30 < together.sum() < 270
    np.testing.assert_array_equal([among.free(cfg, by=by) for cfg in cfgs], together)
    for count in (1, 2, 3, 15, 17, 33):
        np.testing.assert_array_equal(among.free(cfgs[:count], by=by), together[:count])


def test_spheres_never_call_free_what_meshes_do_not(among):
    cfgs = among.robot.random_cfgs(2000, seed=4)
    assert not (among.free(cfgs, by="spheres") & ~among.free(cfgs)).any()


def test_a_slide_far_beyond_its_limits_is_answered(load):
    """A gripper held open beyond the description: a note, not an error."""
    robot = load("panda")
    model = CollisionModel(robot, er.fit_spheres(robot, er.FitOptions(method="centerline")))
    finger = robot.joint_names.index("panda_finger_joint1")
    wide = robot.random_cfgs(60, seed=1)
    wide[:, finger] = 0.3  # the limit is 0.04
    exact = ExactCollision(robot, model.pairs.for_buffer(np.inf))
    np.testing.assert_array_equal(model.free(wide), exact.free(wide))
    assert 0 < model.free(wide).sum() < len(wide)
    for cfg in wide[:5]:
        assert model.free(cfg) == exact.free(cfg)
        assert (model.clearance(cfg) > 0.0) == model.free(cfg)
        assert [joint.joint for joint in model.explain(cfg).out_of_limits] == ["panda_finger_joint1"]
    free = wide[model.free(wide)]
    assert model.segment_free(free[0], free[0] + 1e-4 * (np.arange(robot.dof) != finger)).free
    with_ball = model.with_world(World([Sphere(0.05, pose=at(0.0, 0.0, 2.5), name="ball")]))
    np.testing.assert_array_equal(with_ball.free(wide), model.free(wide))
    wide[0, finger] = 1e7
    with pytest.raises(InputError):
        model.free(wide)


def places(pieces: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Configurations (n, m, dof) on Bezier cubics."""
    t, s = t[:, None], 1.0 - t[:, None]
    weights = np.stack([s**3, 3 * s * s * t, 3 * s * t * t, t**3])
    return np.einsum("kmx,nkd->nmd", weights, pieces)


@pytest.mark.parametrize(("name", "bend"), [("panda", 0.15), ("rh56", 0.1)])
def test_curves_called_free_are_free_within_their_slack(quick, name, bend):
    """rh56 has coupled joints."""
    model = quick(name)
    robot, rng = model.robot, np.random.default_rng(5)
    ends = robot.random_cfgs(160, seed=6)
    ends = ends[model.free(ends)]
    begins, ends = ends[: len(ends) // 2], ends[len(ends) // 2 : len(ends) // 2 * 2]
    ends = begins + 0.3 * (ends - begins)
    inner = [begins + f * (ends - begins) + bend * rng.normal(size=begins.shape) for f in (0.3, 0.7)]
    pieces = np.clip(np.stack([begins, *inner, ends], axis=1), robot.lower, robot.upper)
    slack = rng.uniform(0.0, 0.01, robot.dof)
    proofs = model.curves_free(pieces, slack)
    exact = ExactCollision(robot, model.pairs.for_buffer(np.inf))
    rows = places(pieces, np.linspace(0.0, 1.0, 200))
    truth = exact.free(rows)
    off = rows + slack * rng.choice([-1.0, 0.0, 1.0], rows.shape)
    assert exact.free(off[proofs.free]).all()
    assert truth[proofs.free].all()
    assert proofs.free.sum() >= 0.8 * truth.all(axis=1).sum() > 5
    for k in np.flatnonzero(~np.isnan(proofs.blocked_at)):
        assert not model.free(places(pieces[k : k + 1], proofs.blocked_at[k : k + 1])[0, 0])


def test_a_straight_curve_is_a_segment(among):
    cfgs = among.robot.random_cfgs(200, seed=8)
    cfgs = cfgs[among.free(cfgs)]
    a, b = cfgs[: len(cfgs) // 2], cfgs[len(cfgs) // 2 : len(cfgs) // 2 * 2]
    b = a + 0.4 * (b - a)
    straight = np.stack([a, a + (b - a) / 3.0, a + 2.0 * (b - a) / 3.0, b], axis=1)
    curves, segments = among.curves_free(straight), among.segments_free(a, b)
    np.testing.assert_array_equal(curves.free, segments.free)
    assert 3 < curves.free.sum() < len(a)


def test_a_closer_look_proves_more_and_a_glance_proves_nothing(among):
    cfgs = among.robot.random_cfgs(200, seed=9)
    cfgs = cfgs[among.free(cfgs)]
    half = len(cfgs) // 2
    control = np.stack([cfgs[:half], cfgs[:half] + 0.5 * (cfgs[half : 2 * half] - cfgs[:half])], axis=1)
    scene, none = (
        among._scene,
        np.zeros((1, among.robot.dof)),
    )  # levels are not asked for by any public name yet
    levels = ((GLANCE, 1e-7), (SPHERES, 0.001), (MESHES, 0.001))  # a glance refuses what is within its margin
    outcome = [scene.prove(control, none, look, margin, 20_000)[1][:, 0] for look, margin in levels]
    free = [found == 0 for found in outcome]
    assert free[SPHERES].sum() <= free[MESHES].sum()
    assert not (free[SPHERES] & ~free[MESHES]).any()
    assert not (free[SPHERES] & ~free[GLANCE]).any()  # what is proved by spheres shows nothing at a glance
    assert (outcome[SPHERES] != 1).all()  # spheres do not know that meshes touch


def test_the_margin_of_a_proof_is_never_more_than_the_clearance(among):
    cfgs = among.robot.random_cfgs(300, seed=10)
    cfgs = cfgs[among.free(cfgs)]
    a, b = cfgs[:-1], cfgs[:-1] + 0.2 * (cfgs[1:] - cfgs[:-1])
    proofs = among.segments_free(a, b)
    for k in np.flatnonzero(proofs.free)[:25]:
        rows = a[k] + np.linspace(0.0, 1.0, 40)[:, None] * (b[k] - a[k])
        assert 0.0 < proofs.clearance[k] <= among.clearance(rows, exact=True).min() + 1e-9


def test_the_order_in_which_pairs_are_asked_changes_no_answer(quick):
    """Looks inside: a model has one order, and its answers must not show it."""
    model = quick("baxter")
    own, cfgs = model._own, model.robot.random_cfgs(400, seed=5)
    plain = own.scene(own.core_spheres)
    for tuned in (own.core, plain.tuned(cfgs[:64]), plain.tuned(np.tile(model.default_cfg, (16, 1)))):
        for by_meshes in (True, False):
            found, expected = (np.zeros(len(cfgs), dtype=bool) for _ in range(2))
            assert tuned.free(cfgs, by_meshes, found) == plain.free(cfgs, by_meshes, expected) == -1
            np.testing.assert_array_equal(found, expected)
            assert 0 < expected.sum() < len(cfgs)
    assert 0 < own.core.at_once < len(model.pairs.checked)
    assert f"meshes of {own.core.at_once} asked at once" in repr(model)


def test_a_link_measured_by_its_mesh_is_not_bounded_by_its_spheres(quick):
    """Where some sphere of a link overlaps an obstacle, the mesh tells of the whole link; elsewhere the nearest sphere."""
    bare = quick("panda")
    size, place = (0.3, 0.3, 0.3), at(0.55, 0.0, 0.4)
    model, robot = bare.with_world(World([Box(size, pose=place, name="box")])), bare.robot
    cfgs = robot.random_cfgs(600, seed=6)
    cfgs = cfgs[model.free(cfgs)]
    box, spheres, measured = TriangleMesh.box(size), bare.spheres, 0
    own, found = bare.clearance(cfgs), model.clearance(cfgs)
    meshes = {name: TriangleMesh.from_trimesh(robot.link_mesh(name)) for name in robot.mesh_links}
    for k, poses in enumerate(robot.link_poses(cfgs)):
        bound = own[k]
        for name, mesh in meshes.items():
            centers, radii = spheres.link(name)
            pose = poses[robot.link_index(name)]
            T = matrix_from_wxyz_xyz(pose)
            gaps = model.world.distance(centers @ T[:3, :3].T + T[:3, 3]) - radii
            overlaps = gaps.min() <= 0.0
            measured += overlaps
            bound = min(bound, distance(mesh, pose, box, place).distance if overlaps else gaps.min())
        assert found[k] == pytest.approx(bound, abs=2e-6)  # float32 of the pairs of links
    assert measured > 20
