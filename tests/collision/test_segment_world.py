"""Proofs between two configurations among obstacles, against Coal at steps of a millimetre.

Looks inside: one ball per link saves a fit, and the robot is built without a file.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import elbowroom as er
from elbowroom.collision import CollisionModel
from elbowroom.collision.internal import one_ball_a_link
from elbowroom.errors import ApproximationWarning
from elbowroom.mesh import ExactCollision
from elbowroom.pairs import pairs_from_ignored
from elbowroom.robot.internal import build_tree
from elbowroom.world import Box, Capsule, Cylinder, HalfSpace, PointCloud, SdfGrid, Sphere, World, scene_for
from tests.world.world_tools import at

ARM = """
<robot name="arm">
  <link name="base"><collision><origin xyz="0 0 0.05"/><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
  <link name="upper"><collision><origin xyz="0.3 0 0"/><geometry><box size="0.6 0.08 0.08"/></geometry></collision></link>
  <link name="lower"><collision><origin xyz="0.2 0 0"/><geometry><box size="0.4 0.06 0.06"/></geometry></collision></link>
  <link name="follower"><collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.3"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="0.7 0 0"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" velocity="1" effort="1"/></joint>
  <joint name="slide" type="prismatic"><parent link="base"/><child link="follower"/><origin xyz="-0.5 0 0.5"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="1"/><mimic joint="elbow" multiplier="0.2"/></joint>
</robot>
"""
"""Turns a long box over a small one; a third follows the elbow up and down."""


@pytest.fixture(scope="module")
def arm(tmp_path_factory) -> er.Robot:
    path = tmp_path_factory.mktemp("arm") / "arm.urdf"
    path.write_text(ARM)
    return er.load_robot(path)


def among(robot: er.Robot, world: World, buffer: float = 0.0, allow=()) -> CollisionModel:
    """A model in which only obstacles can be hit."""
    pairs = pairs_from_ignored(robot, {}, "empty")
    every = dict.fromkeys(pairs.checked, "user")
    alone = pairs_from_ignored(robot, every, "nothing but obstacles")
    return CollisionModel(robot, one_ball_a_link(robot), alone, world, buffer, allow=allow)


@pytest.fixture(scope="module")
def scene(described):
    """A robot in a generated scene, with spheres of the quick fit, and its judge."""
    pytest.importorskip("pinocchio")
    pytest.importorskip("coal")
    from tests.oracles import oracle_of
    from tests.world_oracles import CoalWorld

    bare = cache(lambda name: CollisionModel(described(name), er.fit_spheres(described(name), QUICK)))
    judge = cache(lambda name: oracle_of(described(name)))

    def make(name: str, kind: str, seed: int):
        world = scene_for(described(name), kind, seed)
        model = bare(name).with_world(world)
        return model, CoalWorld(judge(name), world, model.allow)

    return make


QUICK = er.FitOptions(method="centerline")


def edges(model: CollisionModel, count: int, length: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Segments that begin at free configurations, towards other free ones, `length` of the way."""
    cfgs = model.robot.random_cfgs(40 * count, seed=seed)
    free = cfgs[model.free(cfgs)][: 2 * count]
    half = len(free) // 2
    return free[:half], free[:half] + length * (free[half : 2 * half] - free[:half])


@pytest.mark.parametrize(
    ("name", "kind", "length"),
    [("panda", "shelf", 0.3), ("panda", "clutter", 0.4), ("ur5", "boxes", 0.1), ("ur5", "workshop", 0.15)],
)
def test_no_segment_that_coal_refutes_is_called_free_and_free_ones_are_proved(scene, name, kind, length):
    from tests.segment_oracles import refuted_by_world, small_steps

    model, judge = scene(name, kind, 3)
    exact = ExactCollision(model.robot, model.pairs)
    begins, ends = edges(model, 40, length, seed=5)
    proofs = model.segments_free(begins, ends)
    names = set(model.world.names)
    free = proved = blocked = 0
    for k, (a, b) in enumerate(zip(begins, ends, strict=True)):
        proof = proofs[k]
        if proof.blocked_at is not None:
            hit = a + proof.blocked_at * (b - a)
            assert not model.free(hit)
            if proof.pair[1] in names:
                blocked += 1
                assert proof.pair in judge.hits(hit)
            continue
        path = small_steps(judge, a, b)
        truth = not refuted_by_world(judge, path) and exact.free(path[::4]).all()
        assert truth or not proof.free
        free += truth
        proved += proof.free
        if proof.free:
            measured = model.clearance(path[:: len(path) // 20 + 1], exact=True).min()
            assert 0.0 < proof.clearance <= measured + 1e-9
    assert free > 3
    assert blocked > 3
    assert proved >= 0.95 * free


def test_the_world_counts_with_what_moves_and_what_stays(arm):
    post = World([Cylinder(0.05, 1.0, pose=at(0.3, 0.3, 0.3), name="post")])
    a, b, beyond = np.array([0.0, 0.0]), np.array([0.5, 0.0]), np.array([1.5, 0.0])
    model = among(arm, post)
    assert model.segment_free(a, b)
    proof = model.segment_free(a, beyond)
    assert (proof.free, proof.pair) == (False, ("upper", "post"))
    assert not model.free(a + proof.blocked_at * (beyond - a))
    assert "upper and post touch" in str(proof)
    under = World([Box((1.0, 1.0, 0.1), pose=at(0, 0, -0.05), name="table")])
    with pytest.warns(ApproximationWarning, match="base and table"):
        model = among(arm, under)
    stuck = model.segment_free(a, b)
    assert (stuck.free, stuck.pair) == (False, ("base", "table"))
    assert among(arm, under, allow=[("base", "table")]).segment_free(a, b)
    assert among(arm, World()).segment_free(a, b).clearance == np.inf


def test_a_coupled_joint_carries_its_link_into_an_obstacle(arm):
    lid = World([Sphere(0.05, pose=at(-0.5, 0, 0.75), name="lid")])
    proof = among(arm, lid).segment_free([0.0, 0.0], [0.0, 1.5])
    assert proof.pair == ("follower", "lid")
    height = 0.5 + 0.2 * 1.5 * proof.blocked_at
    assert abs(height - 0.75) <= 0.1
    assert among(arm, lid).segment_free([0.0, 0.0], [0.0, 0.7])  # up to 0.64 m, with half its edge 0.69


def test_between_free_ends_a_thin_wall_is_found(arm):
    wall = World([Box((0.5, 0.0005, 0.5), pose=at(0.6, 0, 0.3), name="sheet")])
    model = among(arm, wall)
    a, b = np.array([-0.5, 0.0]), np.array([0.5, 0.0])
    assert model.free(a)
    assert model.free(b)
    proof = model.segment_free(a, b)
    assert proof.blocked_at is not None
    assert proof.pair[1] == "sheet"


def test_a_base_somewhere_else_sees_the_same_world_moved(arm):
    rng = np.random.default_rng(0)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    T = at(0.3, -1.2, 0.7)
    T[:3, :3] = turn * np.sign(np.linalg.det(turn))
    tree = arm.tree
    moved = replace(arm, tree=build_tree(arm.name, tree.link_names, tree.joints, T), _meshes={})
    world = World(
        Capsule(0.06, 0.2, pose=at(*rng.uniform((-0.9, -0.9, 0.0), (0.9, 0.9, 0.6))), name=f"c{k}")
        for k in range(5)
    )
    there = World(o.at(T @ o.pose) for o in world)
    one, other = among(arm, world), among(moved, there)
    begins, ends = arm.random_cfgs(40, seed=1), arm.random_cfgs(40, seed=2)
    found, again = one.segments_free(begins, ends), other.segments_free(begins, ends)
    assert 3 < found.free.sum() < 37
    np.testing.assert_array_equal(found.free, again.free)
    np.testing.assert_array_equal(found.blocked_at, again.blocked_at)
    for k in range(40):
        assert found[k].pair == again[k].pair


def test_a_buffer_counts_among_obstacles(arm):
    floor = World([HalfSpace((0, 0, 1), -0.25, name="floor")])
    a, b = np.array([0.0, 0.0]), np.array([1.0, 0.3])
    plain, near = among(arm, floor), among(arm, floor, 0.2)
    proof = near.segment_free(a, b)
    assert proof.free
    assert 0.2 < proof.clearance <= near.clearance(b, exact=True) + 1e-9
    lower = np.array([0.0, 1.0])
    assert plain.segment_free(a, lower).free
    assert not near.segment_free(a, lower).free


def test_links_that_are_only_spheres_are_proved_by_them(arm):
    shapes = {name: arm.shapes[name] for name in ("base", "upper")}
    bare = replace(arm, shapes=shapes, _meshes={})
    balls = {name: one_ball_a_link(bare).link(name) for name in shapes}
    spheres = er.SphereModel.from_links(
        bare.link_names, {**balls, "lower": ([[0.2, 0.0, 0.0]], [0.1])}, world_padding={"lower": 0.05}
    )
    ball = World([Sphere(0.1, pose=at(0.7, 0.0, -0.1), name="ball")])
    model = CollisionModel(bare, spheres, None, ball)
    proof = model.segment_free([0.0, 0.0], [0.0, 1.6])
    assert proof.pair == ("lower", "ball")
    angle = 1.6 * proof.blocked_at
    center = np.array([0.7 + 0.2 * np.cos(angle), 0.0, 0.3 - 0.2 * np.sin(angle)])
    assert np.linalg.norm(center - [0.7, 0.0, -0.1]) <= 0.1 + 0.15
    assert proof.by_meshes == 0
    assert model.segment_free([0.0, 0.0], [0.0, 0.4])


def sampled(kind: str) -> World:
    """A ball with a radius of 20 cm beside the arm, as a cloud or as a field."""
    rng = np.random.default_rng(1)
    if kind == "cloud":
        points = rng.normal(size=(4000, 3))
        points *= 0.19 / np.linalg.norm(points, axis=1)[:, None]
        return World([PointCloud(points, 0.01, pose=at(0.5, 0.6, 0.3), name="ball")])
    grid = np.stack(np.meshgrid(*[np.arange(-0.3, 0.301, 0.02)] * 3, indexing="ij"), axis=-1)
    values = np.linalg.norm(grid, axis=-1) - 0.2
    return World([SdfGrid(values, 0.02, (-0.3, -0.3, -0.3), pose=at(0.5, 0.6, 0.3), name="ball")])


@pytest.mark.parametrize("kind", ["cloud", "field"])
def test_clouds_and_fields_are_proved_as_they_are_judged(arm, kind):
    model = among(arm, sampled(kind))
    begins, ends = arm.random_cfgs(60, seed=3), arm.random_cfgs(60, seed=4)
    proofs = model.segments_free(begins, ends)
    truth = []
    for k, (a, b) in enumerate(zip(begins, ends, strict=True)):
        free = model.free(a + np.linspace(0.0, 1.0, 1200)[:, None] * (b - a))
        truth.append(free.all())
        assert free.all() or not proofs[k].free
        if proofs[k].blocked_at is not None:
            assert not model.free(a + proofs[k].blocked_at * (b - a))
    assert proofs.free.sum() >= 0.95 * sum(truth) > 3


def test_many_segments_are_proved_as_one_by_one_among_obstacles(arm):
    world = World(Box((0.1, 0.1, 0.1), pose=at(x, y, 0.3)) for x in (-0.6, 0.6) for y in (-0.6, 0.6))
    model = among(arm, world)
    begins, ends = arm.random_cfgs(30, seed=6), arm.random_cfgs(30, seed=7)
    many = model.segments_free(begins, ends)
    assert 0 < many.free.sum() < 30
    for k in range(30):
        one = model.segment_free(begins[k], ends[k])
        assert (one.free, one.blocked_at, one.pair, one.clearance, one.why) == (
            many[k].free, many[k].blocked_at, many[k].pair, many[k].clearance, many[k].why,
        )  # fmt: skip
    assert len(model.segments_free(begins[:0], ends[:0])) == 0
