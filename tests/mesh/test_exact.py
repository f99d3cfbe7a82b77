"""The exact robot checker against Coal on the same posed meshes."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.errors import InputError, UnknownLinkError
from elbowroom.mesh import ExactCollision, TriangleMesh

from .mesh_tools import coal_of, coal_pose


def far_pairs(robot) -> list[tuple[str, str]]:
    """Pairs of links with meshes that are at least four apart in the list of links."""
    names = [n for n in robot.link_names if robot.link_mesh(n) is not None]
    return [(a, b) for i, a in enumerate(names) for b in names[i + 4 :]]


def matrix(pose: np.ndarray) -> np.ndarray:
    w, x, y, z = pose[:4]
    T = np.eye(4)
    T[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    T[:3, 3] = pose[4:]
    return T


@pytest.mark.robots
@pytest.mark.parametrize("name", ["panda", "teaarm"])
def test_equals_coal_on_random_configurations(load, name):
    coal = pytest.importorskip("coal")
    robot = load(name)
    pairs = far_pairs(robot)
    exact = ExactCollision(robot, pairs, contain=False)
    rng = np.random.default_rng(0)
    cfgs = rng.uniform(robot.lower, robot.upper, size=(40, robot.dof))
    ours = exact.colliding(cfgs)
    assert ours.shape == (40, len(exact.pairs))
    models = {n: coal_of(robot.link_mesh(n)) for n in exact.meshes}
    poses = np.asarray(robot.link_poses(cfgs))
    index = {n: list(robot.link_names).index(n) for n in exact.meshes}
    for i in range(len(cfgs)):
        for k, (a, b) in enumerate(exact.pairs):
            T_a, T_b = (coal_pose(matrix(poses[i, index[n]])) for n in (a, b))
            result = coal.CollisionResult()
            coal.collide(models[a], T_a, models[b], T_b, coal.CollisionRequest(), result)
            assert ours[i, k] == result.isCollision()
    np.testing.assert_array_equal(exact.free(cfgs), ~ours.any(axis=1))


@pytest.mark.robots
def test_batches_are_the_same_for_any_number_of_threads(load):
    robot = load("panda")
    pairs = far_pairs(robot)
    cfgs = np.random.default_rng(1).uniform(robot.lower, robot.upper, size=(3, 100, robot.dof))
    one, two = ExactCollision(robot, pairs, threads=1), ExactCollision(robot, pairs, threads=2)
    free = one.free(cfgs)
    assert free.shape == (3, 100)
    assert 0 < free.mean() < 1
    np.testing.assert_array_equal(free, two.free(cfgs))
    np.testing.assert_array_equal(free, ~two.colliding(cfgs).any(axis=-1))
    assert one.free(cfgs[0, 0]).shape == ()


@pytest.mark.robots
def test_contacts_say_which_links_where_and_how_deep(load):
    robot = load("panda")
    exact = ExactCollision(robot, far_pairs(robot))
    cfgs = np.random.default_rng(2).uniform(robot.lower, robot.upper, size=(200, robot.dof))
    cfg = cfgs[np.flatnonzero(~exact.free(cfgs))[0]]
    contacts = exact.contacts(cfg)
    assert len(contacts) == exact.colliding(cfg).sum()
    depths = [c.depth for c in contacts]
    assert depths == sorted(depths, reverse=True)
    distances = exact.distances(cfg)
    assert sorted(clash.pair for clash in distances) == sorted(exact.pairs)
    assert [clash.distance for clash in distances] == sorted(clash.distance for clash in distances)
    measured = {clash.pair: clash.distance for clash in distances}
    for clash in contacts:
        assert measured[clash.pair] == pytest.approx(-clash.depth, abs=1e-12)
        np.testing.assert_allclose(clash.point_b - clash.point_a, clash.distance * clash.normal, atol=1e-9)
    assert distances[0].pair == contacts[0].pair
    (again,) = exact.contacts(cfg, [contacts[-1].pair])
    assert again.pair == contacts[-1].pair
    free = cfgs[np.flatnonzero(exact.free(cfgs))[0]]
    assert exact.contacts(free) == ()
    assert exact.distances(free)[0].distance > 0


class Stub:
    """A robot of three links: two cubes and one without a mesh."""

    link_names = ("one", "two", "bare")

    def link_mesh(self, name):
        return None if name == "bare" else TriangleMesh.box((1, 1, 1))

    def link_poses(self, cfgs):
        poses = np.zeros((len(cfgs), 3, 7))
        poses[..., 0] = 1
        poses[:, 1, 4] = cfgs[:, 0]
        return poses


def test_pairs_may_come_as_an_object_with_checked():
    class Pairs:
        checked = (("two", "one"), ("one", "bare"))

    exact = ExactCollision(Stub(), Pairs())
    assert exact.pairs == (("one", "two"),)
    assert exact.unchecked == (("bare", "one"),)
    assert exact.free(np.array([[0.5], [1.5], [0.0]])).tolist() == [False, True, False]
    assert exact.contacts(np.array([0.9]))[0].depth == pytest.approx(0.1, abs=1e-9)


def test_no_pairs_means_free():
    exact = ExactCollision(Stub(), [("one", "bare")])
    assert exact.free(np.zeros((4, 1))).all()
    assert exact.colliding(np.zeros((4, 1))).shape == (4, 0)
    assert exact.distances(np.zeros(1)) == ()


def test_bad_pairs_are_refused():
    with pytest.raises(UnknownLinkError, match="did you mean 'one'"):
        ExactCollision(Stub(), [("one", "ones")])
    for bad in (5, ["ab"], [("one", "two", "bare")], [("one", 2)], [("one", "one")]):
        with pytest.raises(InputError):
            ExactCollision(Stub(), bad)
    with pytest.raises(InputError, match="cfg"):
        ExactCollision(Stub(), [("one", "two")]).contacts(np.zeros((2, 1)))
