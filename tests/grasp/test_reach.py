"""From a width to an arm: judged by Coal on shapes that Pinocchio (arm) and MuJoCo (hand) move, all along the path."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import trimesh

import elbowroom as er
from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.errors import ApproximationWarning, InputError
from elbowroom.grasp import GraspPlanner, GraspRangeError, ReachOptions, load_hand, mount, reach_for
from elbowroom.grasp.internal import TIP_TOLERANCE, rh56_spec
from elbowroom.pairs import PairOptions, compute_pairs
from elbowroom.robot.internal import find_robot
from elbowroom.spheres import FitOptions, fit_spheres
from elbowroom.world import Box, World
from tests.oracles import PinocchioModel, ShapeCoal
from tests.world_oracles import CoalWorld

pytestmark = pytest.mark.robots
mujoco = pytest.importorskip("mujoco")

TABLE = Box((0.8, 1.2, 0.04), pose=(1, 0, 0, 0, 0.55, 0, 0.18), name="table")
PLACE = (0.5, 0.1, 0.26)
"""Of the object: 6 cm above the table."""


class MountedCoal(ShapeCoal):
    """The shapes of panda with the hand: Pinocchio moves the arm, MuJoCo the hand, and the two are multiplied here."""

    def __init__(self, robot: er.Robot) -> None:
        super().__init__(robot)
        self.arm = PinocchioModel(find_robot("panda").description)
        self.hand = rh56_spec().compile()
        self.data = mujoco.MjData(self.hand)
        self.fingers = [joint for joint in robot.tree.moving if not joint.name.startswith("panda")]
        self.links = tuple(robot.mesh_links)

    def frame_poses(self, cfgs: np.ndarray) -> np.ndarray:
        cfgs = np.atleast_2d(cfgs)
        robot = self.robot
        out = np.tile(np.eye(4), (len(cfgs), len(robot.link_names), 1, 1))
        arm = [link for link in robot.link_names if link.startswith("panda")]
        full = np.concatenate([cfgs[:, :7], np.zeros((len(cfgs), 1))], axis=1)
        out[:, : len(arm)] = self.arm.link_poses(full, arm)
        flange = out[:, arm.index("panda_link8")]
        slots = [self.hand.joint(joint.name).qposadr[0] for joint in self.fingers]
        bodies = [self.hand.body(link).id for link in robot.link_names[len(arm) :]]
        for k, values in enumerate(robot.tree.expand(cfgs)[:, 7:]):
            self.data.qpos[slots] = values
            mujoco.mj_kinematics(self.hand, self.data)
            own = np.tile(np.eye(4), (len(bodies), 1, 1))
            own[:, :3, :3], own[:, :3, 3] = self.data.xmat[bodies].reshape(-1, 3, 3), self.data.xpos[bodies]
            out[k, len(arm) :] = flange[k] @ own
        return out


@pytest.fixture(scope="module")
def rh56():
    return load_hand("rh56")


@pytest.fixture(scope="module")
def planner(rh56):
    return GraspPlanner(rh56)


@pytest.fixture(scope="module")
def model(rh56):
    robot = mount(er.load_robot("panda"), rh56, "panda_link8", without=("panda_hand",))
    spheres = fit_spheres(robot, FitOptions(method="centerline"))
    pairs = compute_pairs(robot, spheres, PairOptions(samples=1000))
    return er.CollisionModel(robot, spheres, pairs, World([TABLE]))


@pytest.fixture(scope="module")
def judge(model):
    return MountedCoal(model.robot)


def at(place: tuple[float, ...], turn: float = 0.0) -> np.ndarray:
    """Pose of an object, turned about the vertical."""
    return np.array([np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2), *place])


def rows_between(a: np.ndarray, b: np.ndarray, n: int = 25) -> np.ndarray:
    return a + np.linspace(0.0, 1.0, n)[:, None] * (b - a)


def deepest_point(judge, cfg, link, thing) -> float:
    """Signed distance to a box or cylinder of the deepest of many points of a link's exact capsules."""
    T_thing_link = np.linalg.inv(thing.pose) @ judge.frame_poses(cfg)[0][judge.robot.link_index(link)]
    mesh = judge.robot.link_mesh(link, within=2e-5)
    points = trimesh.remesh.subdivide_to_size(mesh.vertices, mesh.faces, 0.0015, max_iter=12)[0]
    p = np.abs(points @ T_thing_link[:3, :3].T + T_thing_link[:3, 3])
    if isinstance(thing, Box):
        out = p - 0.5 * np.array(thing.size)
    else:
        out = np.stack([np.hypot(p[:, 0], p[:, 1]) - thing.radius, p[:, 2] - 0.5 * thing.length], axis=1)
    return float((np.linalg.norm(np.maximum(out, 0.0), axis=1) + np.minimum(out.max(axis=1), 0.0)).min())


def assert_sound(result, judge, hand):
    """Free along the whole path by Coal, the fingers on the object and only they, and only in the last piece."""
    assert result.success, result.why
    assert not result.why
    assert all(proof.free for proof in result.proofs)
    assert len(result.proofs) == len(result.path) - 1
    np.testing.assert_array_equal(result.path[-1], result.cfg)
    robot, world = result.model.robot, result.model.world
    assert (robot.lower - 1e-9 <= result.path).all()
    assert (result.path <= robot.upper + 1e-9).all()
    pairs = result.model.pairs.checked
    nobody = CoalWorld(judge, world)
    may_touch = {(link, result.obstacle) for link in result.contact.touching}
    fingers = CoalWorld(judge, world, may_touch)
    last = len(result.path) - 2
    for k in range(last + 1):
        rows = rows_between(result.path[k], result.path[k + 1])
        assert judge.free(rows, pairs).all()
        assert (fingers if k == last else nobody).free(rows).all()
    active = (hand.thumb, *result.grasp.fingers)
    for finger in active:
        links = [link for link in result.contact.touching if hand.link_fingers.get(link) == finger]
        near = nobody.distances(result.cfg, [(link, result.obstacle) for link in links]).min()
        assert abs(near) <= TIP_TOLERANCE, finger
        deepest = min(deepest_point(judge, result.cfg, link, world[result.obstacle]) for link in links)
        assert deepest == pytest.approx(result.contact.tips[finger], abs=3e-4)
        assert near <= deepest + 1e-4  # Coal's depth is how far to move apart, which is no less


@pytest.mark.parametrize(
    ("mode", "width", "turn"),
    [
        ("line", 0.03, 0.0),
        ("line", 0.06, 1.2),
        ("line", 0.09, 0.3),
        ("plane", 0.05, 0.0),
        ("cylinder", 0.06, 0.4),
    ],
)
def test_the_hand_closes_on_the_object_and_nothing_else_touches(
    model, planner, judge, rh56, mode, width, turn
):
    result = reach_for(model, planner, at(PLACE, turn), width=width, mode=mode)
    assert_sound(result, judge, rh56)
    assert ("index" in result.contact.settled) == (width in (0.09, 0.05))
    if (
        mode == "line" and not result.contact.settled
    ):  # points of the fingertips, by the judge's own kinematics
        poses = judge.frame_poses(result.cfg)[0]
        T_object = matrix_from_wxyz_xyz(at(PLACE, turn))
        tips = {}
        for name in ("thumb", "index"):
            finger = rh56.finger(name)
            T = np.linalg.inv(T_object) @ poses[model.robot.link_index(finger.tip_link)]
            tips[name] = T[:3, :3] @ finger.tip_point + T[:3, 3]
        side = -1.0 if result.placement.flipped else 1.0
        assert side * (tips["thumb"][0] - tips["index"][0]) == pytest.approx(width, abs=5e-4)
        assert np.abs(0.5 * (tips["thumb"] + tips["index"])).max() < 5e-4
    open_hand, closed = result.path[-2][7:], result.cfg[7:]
    assert np.abs(open_hand - closed).max() > 0.05


def test_an_obstacle_beside_the_object_changes_the_answer(model, planner, judge, rh56):
    """The first answer, without the post, would hit it: the judge and the test can fail."""
    first = reach_for(model, planner, at(PLACE), width=0.03)
    hand = judge.frame_poses(first.cfg)[0][model.robot.link_index("panda_link7")][:3, 3]
    post = Box((0.06, 0.06, 0.06), pose=at(tuple(hand)), name="post")
    among = model.with_world(model.world.add(post))
    assert not CoalWorld(judge, World([TABLE, post])).free(first.cfg[None])[0]
    assert_sound(reach_for(among, planner, at(PLACE), width=0.03), judge, rh56)


def test_it_comes_from_where_it_is_asked_to(model, planner, judge, rh56):
    above = reach_for(
        model, planner, at(PLACE), width=0.03, options=ReachOptions(approach=(0, 0, -1), approach_within=0.3)
    )
    assert_sound(above, judge, rh56)
    assert np.arccos(above.placement.approach @ (0, 0, -1)) <= 0.3
    start, end = (
        judge.frame_poses(row)[0][model.robot.link_index("base")][:3, 3] for row in above.path[[0, -2]]
    )
    np.testing.assert_allclose(end - start, 0.10 * above.placement.approach, atol=5e-4)
    with pytest.raises(InputError, match="no placement of the hand comes within"):
        reach_for(model, planner, at(PLACE), width=0.03, options=ReachOptions(approach=(0, 0, 1)))


def test_an_obstacle_of_the_world_is_grasped_by_its_name(model, planner, judge, rh56):
    block = Box((0.04, 0.06, 0.10), pose=at((0.45, -0.15, 0.251), 0.5), name="block")
    among = model.with_world(model.world.add(block))
    result = reach_for(among, planner, obstacle="block", width=0.04, height=0.03)
    assert result.obstacle == "block"
    assert_sound(result, judge, rh56)
    assert not among.allow
    again = reach_for(among, planner.line(0.04), obstacle=block, height=0.03)
    np.testing.assert_array_equal(again.cfg, result.cfg)


def test_what_cannot_be_done_is_said(model, planner):
    far = reach_for(model, planner, at((1.6, 0.0, 0.3)), width=0.03)
    assert not far
    assert "out of the arm's reach" in far.why
    assert "m off" in far.why
    assert len(far.path) == 0
    with pytest.raises(InputError, match="there is no motion"):
        _ = far.pre_cfg
    with pytest.raises(GraspRangeError, match=r"300\.00 mm is out of range; it can do"):
        reach_for(model, planner, at(PLACE), width=0.3)
    in_table = reach_for(model, planner, at((0.5, 0.1, 0.18)), width=0.03)
    assert not in_table
    assert "collide" in in_table.why
    assert "table" in in_table.why
    block = Box((0.06, 0.06, 0.06), pose=at(PLACE), name="block")
    assert "inside the object" in reach_for(model, planner, obstacle=block, width=0.03).why
    thin = Box((0.02, 0.06, 0.06), pose=at(PLACE), name="block")
    assert (
        "away from the object: is it 40.0 mm wide" in reach_for(model, planner, obstacle=thin, width=0.04).why
    )


def test_wrong_questions_are_told(model, planner, rh56):
    with pytest.raises(InputError, match="pose of the object"):
        reach_for(model, planner, width=0.03)
    with pytest.raises(InputError, match="width: expected"):
        reach_for(model, planner, at(PLACE))
    with pytest.raises(InputError, match="has its own"):
        reach_for(model, planner.line(0.03), at(PLACE), width=0.03)
    with pytest.raises(InputError, match="smooth method"):
        reach_for(model, GraspPlanner(rh56, "proportional"), at(PLACE), width=0.06, mode="cylinder")
    with pytest.raises(InputError, match="expected a GraspPlanner"):
        reach_for(model, "rh56", at(PLACE), width=0.03)
    with pytest.raises(InputError, match="standoff must not be negative"):
        ReachOptions(standoff=-0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        other = load_hand("allegro_right_hand")
    with pytest.raises(InputError, match="carries no hand"):
        reach_for(model, GraspPlanner(other), at(PLACE), width=0.05)
