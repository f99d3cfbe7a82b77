"""Wrapped cylinders: MuJoCo and Coal see every finger touch and none inside, and MuJoCo's physics holds them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pytest
import trimesh

from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.errors import InputError
from elbowroom.grasp import (
    Grasp,
    GraspChecker,
    GraspPlanner,
    Hand,
    Wrap,
    contacts_on_cylinder,
    drawn_object,
    grasp_quality,
    plan_approach,
    rate_grasp,
    rh56_spec,
)
from elbowroom.grasp._grasp import rotation
from elbowroom.grasp._wrap import WrapClosure

Planners = Callable[..., GraspPlanner]
DIAMETERS = [0.015, 0.03, 0.045, 0.06, 0.075, 0.09, 0.105]
CAPSULE_ERROR = 1e-4
"""m; how far the triangles that enclose a capsule of this hand may stand off it."""


def mujoco_scene(grasp: Grasp) -> tuple[Any, Any]:
    """The hand with a free cylinder where the grasp has it, base at the origin, gravity off."""
    spec = rh56_spec(grasp.hand.revision)
    body = spec.worldbody.add_body(name="object", pos=grasp.midpoint)
    body.add_freejoint()
    body.add_geom(
        name="object",
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        size=(grasp.width / 2, drawn_object(grasp).size[1] / 2, 0.0),
        quat=(np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0),
        mass=0.2,
        friction=(1.0, 0.005, 0.001),
        condim=4,
    )
    spec.option.gravity = np.zeros(3)
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10.0  # as MuJoCo's documentation advises against creeping in grasps
    model = spec.compile()
    data = mujoco.MjData(model)
    for name, value in grasp.joints.items():
        data.qpos[model.joint(name).qposadr[0]] = value
    mujoco.mj_forward(model, data)
    return model, data


@pytest.mark.parametrize("diameter", DIAMETERS)
def test_mujoco_sees_every_finger_touch_and_no_link_inside(
    smooth: GraspPlanner, hand: Hand, diameter: float
) -> None:
    grasp = smooth.cylinder(diameter)
    model, data = mujoco_scene(grasp)
    nearest = dict.fromkeys(hand.finger_names, np.inf)
    for geom in range(model.ngeom):
        link = model.body(model.geom_bodyid[geom]).name
        if link == "object":
            continue
        gap = mujoco.mj_geomDistance(model, data, geom, model.geom("object").id, 1.0, None)
        assert gap > -1e-6
        finger = hand.link_fingers.get(link, "")
        if finger:
            nearest[finger] = min(nearest[finger], gap)
    assert max(nearest.values()) < CAPSULE_ERROR


@pytest.mark.parametrize("diameter", DIAMETERS)
def test_coal_measures_the_diameter(smooth: GraspPlanner, hand: Hand, diameter: float) -> None:
    coal = pytest.importorskip("coal")
    grasp = smooth.cylinder(diameter)
    poses = matrix_from_wxyz_xyz(hand.robot.link_poses(hand.cfg(grasp.ctrl)))
    axis = coal.Cylinder(1e-6, 2.0)  # as good as a line
    turned = coal.Transform3s(np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]), np.array(grasp.midpoint))
    found: dict[str, float] = {}
    for link in hand.robot.mesh_links:
        mesh = hand.robot.link_mesh(link)
        model = coal.BVHModelOBBRSS()
        model.beginModel(len(mesh.faces), len(mesh.vertices))
        model.addVertices(np.asarray(mesh.vertices))
        for face in mesh.faces:
            model.addTriangle(*(np.asarray(mesh.vertices[i]) for i in face))
        model.endModel()
        T = poses[hand.robot.link_index(link)]
        place = coal.Transform3s(np.ascontiguousarray(T[:3, :3]), np.ascontiguousarray(T[:3, 3]))
        result = coal.DistanceResult()
        found[link] = coal.distance(model, place, axis, turned, coal.DistanceRequest(), result)
    assert min(found.values()) == pytest.approx(diameter / 2, abs=5e-6)
    for link in grasp.touching:
        assert found[link] == pytest.approx(diameter / 2, abs=5e-6)
    for finger in hand.finger_names:
        assert any(hand.link_fingers[link] == finger for link in grasp.touching if link in hand.link_fingers)


@pytest.mark.parametrize("revision", ["spec", "newest"])
@pytest.mark.parametrize("share", np.linspace(0.0, 1.0, 6))
def test_mujoco_holds_it_against_gravity(planners: Planners, revision: str, share: float) -> None:
    """Gripped by 0.03 rad more than contact and let go: 200 g come to rest within 4 mm."""
    planner = planners("smooth", revision)
    low, high = planner.range("cylinder")
    grasp = planner.cylinder(low + share * (high - low))
    model, data = mujoco_scene(grasp)
    down = rotation(grasp.tilt_y).T @ np.array([0.0, 0.0, -9.81])
    squeeze = np.array([0.0 if name == "thumb_yaw" else 0.03 for name in grasp.hand.actuator_names])
    motors = [model.actuator(name).id for name in grasp.hand.actuator_names]
    for step in range(int(1.5 / model.opt.timestep)):
        time = step * model.opt.timestep
        data.ctrl[motors] = grasp.ctrl + squeeze * min(1.0, time / 0.25)
        model.opt.gravity[:] = down if time > 0.3 else 0.0
        mujoco.mj_step(model, data)
    assert np.linalg.norm(data.body("object").xpos - grasp.midpoint) < 0.004
    assert np.abs(data.body("object").cvel[3:]).max() < 1e-3  # m/s


def test_fingers_do_not_touch_before(smooth: GraspPlanner, hand: Hand) -> None:
    closure = smooth.wrap("cylinder")
    for diameter in DIAMETERS:
        grasp = smooth.cylinder(diameter)
        x, _, z = grasp.midpoint
        for way in np.linspace(0.0, 1.0, 300)[:-1]:
            ctrl = (1.0 - way) * closure.opened() + way * grasp.ctrl
            for link, (distance, _) in closure.nearest(ctrl, float(x), float(z)).items():
                assert distance > diameter / 2 - 1e-6, link


def test_links_are_never_faster_than_their_bound(smooth: GraspPlanner, hand: Hand) -> None:
    """What conservative advancement rests on."""
    closure = smooth.wrap("cylinder")
    opened, closed = (
        closure.opened(),
        np.where(hand.actuator_index("thumb_yaw") == np.arange(6), 1.308, hand.ctrl_upper),
    )
    ways = np.linspace(0.0, 1.0, 400)
    poses = matrix_from_wxyz_xyz(hand.robot.link_poses(hand.cfg(opened + ways[:, None] * (closed - opened))))
    for link, bound in closure._speeds.items():
        T = poses[:, hand.robot.link_index(link)]
        points = (
            np.einsum("nij,vj->nvi", T[:, :3, :3], hand.robot.link_mesh(link).vertices) + T[:, None, :3, 3]
        )
        fastest = np.linalg.norm(np.diff(points, axis=0), axis=-1).max() / (ways[1] - ways[0])
        assert 0.5 * bound <= fastest <= bound or bound == fastest == 0.0


def test_a_line_through_the_palm_has_no_distance(smooth: GraspPlanner) -> None:
    closure = smooth.wrap("cylinder")
    distance, point = closure.nearest(closure.opened(), 0.0, 0.1, ["base"])["base"]
    assert distance == 0.0
    np.testing.assert_allclose(point[[0, 2]], [0.0, 0.1])


def test_contacts_press_on_the_axis_and_hold(smooth: GraspPlanner) -> None:
    for diameter in DIAMETERS:
        grasp = smooth.cylinder(diameter)
        contacts = contacts_on_cylinder(grasp, 0.2)
        assert {contact.finger for contact in contacts} == set(grasp.touching)
        for contact in contacts:
            assert abs(contact.gap) < 1e-6
            foot = contact.point + (diameter / 2 + contact.gap) * contact.normal
            np.testing.assert_allclose(foot[[0, 2]], [0.0, 0.2], atol=1e-12)
        quality = grasp_quality(contacts, friction=0.5)
        assert quality.force_closure
    with pytest.raises(InputError, match="wraps no cylinder"):
        contacts_on_cylinder(smooth.line(0.03))


def test_the_hand_reaches_half_around_up_to_55_mm(smooth: GraspPlanner) -> None:
    around = {d: np.degrees(smooth.cylinder(d).wrapped) for d in DIAMETERS}
    assert min(around[d] for d in DIAMETERS[:3]) > 180.0
    assert all(a > b for a, b in zip(list(around.values())[3:], list(around.values())[4:], strict=False))
    assert around[0.105] < 140.0
    assert smooth.line(0.03).wrapped == 0.0


def cylinder(diameter: float, length: float = 0.14) -> trimesh.Trimesh:
    mesh = trimesh.creation.cylinder(radius=diameter / 2, height=length, sections=256)
    return mesh.apply_transform(trimesh.transformations.rotation_matrix(np.pi / 2, (1, 0, 0)))


@pytest.fixture(scope="module")
def checker(hand: Hand) -> GraspChecker:
    return GraspChecker(hand)


def test_checks_know_what_touches(checker: GraspChecker, smooth: GraspPlanner) -> None:
    T = np.eye(4)
    T[2, 3] = 0.1
    for diameter in DIAMETERS:
        grasp = smooth.cylinder(diameter)
        found = checker.check(grasp, object_mesh=cylinder(diameter), T_world_object=T)
        assert found.free, found.why
        assert found.tip_links == tuple(grasp.touching)
        thicker = checker.check(grasp, object_mesh=cylinder(diameter + 0.003), T_world_object=T)
        assert set(grasp.touching) <= set(thicker.blocked)
    rated = rate_grasp(smooth.cylinder(0.05), checker, cylinder(0.05), T_world_object=T)
    assert rated.quality.force_closure
    assert rated.quality.largest_gap < 1e-5
    assert rated.score > 0


@pytest.mark.parametrize("diameter", DIAMETERS)
def test_the_open_hand_comes_down_around_it(
    checker: GraspChecker, smooth: GraspPlanner, diameter: float
) -> None:
    grasp = smooth.cylinder(diameter)
    motion = plan_approach(smooth, grasp, height=0.2)
    T = np.eye(4)
    T[2, 3] = 0.2
    assert checker.check_motion(motion, every=3, object_mesh=cylinder(diameter), T_world_object=T) is None
    closing = np.array([phase == "close" for phase in motion.phases])
    assert np.ptp(motion.Ts_world_base[closing], axis=0).max() < 1e-12
    np.testing.assert_allclose(motion.ctrl[-1], grasp.ctrl)


def test_other_hands_wrap_too(allegro: Hand) -> None:
    """Allegro: boxes and spheres, four actuators a finger."""
    curled = {"joint_12.0": 1.3, "joint_13.0": 0.8, "joint_14.0": 1.4, "joint_15.0": 1.2}
    opened = {"joint_12.0": 1.3, "joint_13.0": 0.3, "joint_14.0": 0.0, "joint_15.0": 0.0}
    for first in (0, 4, 8):
        names = [f"joint_{first + k}.0" for k in range(4)]
        opened |= dict(zip(names, (0.0, 0.1, 0.1, 0.1), strict=True))
        curled |= dict(zip(names, (0.0, 1.5, 1.4, 1.2), strict=True))
    wrap = Wrap(("index", "middle", "ring"), ((0.06, 0.0112, 0.01), (0.09, 0.0112, 0.01)), opened, curled)
    planner = GraspPlanner(replace(allegro, oppositions={"around": wrap}))
    sweep = planner.sweep("around", 31)
    assert max(abs(g.width_error) for g in sweep.grasps) < 1e-9
    assert max(abs(g.height_error) for g in sweep.grasps) < 1e-9
    assert max(g.range_violation for g in sweep.grasps) <= 1e-9
    for grasp in sweep.grasps:
        assert {allegro.link_fingers[link] for link in grasp.touching} == set(allegro.finger_names)
        assert grasp.to_world(0.1).T_world_base[2, 3] > 0.1


@pytest.mark.parametrize(
    ("places", "text"),
    [
        ((), "two or more rows"),
        (((0.05, 0.02, 0.15),), "two or more rows"),
        (((0.05, 0.02), (0.06, 0.02)), "two or more rows"),
        (((0.05, 0.02, 0.15), (0.06, np.nan, 0.15)), "two or more rows"),
        (((0.06, 0.02, 0.15), (0.05, 0.02, 0.15)), "positive and rise"),
        (((0.0, 0.02, 0.15), (0.05, 0.02, 0.15)), "positive and rise"),
    ],
)
def test_bad_places_are_refused(hand: Hand, places: Any, text: str) -> None:
    with pytest.raises(InputError, match=text):
        WrapClosure(hand, "mine", Wrap(("index",), places))


@pytest.mark.parametrize(
    ("side", "z", "text"),
    [
        (0.008, 0.110, "into base"),
        (0.060, 0.120, "thumb is .* before it closes"),
        (0.300, 0.150, "thumb does not reach"),
        (0.072, 0.160, "index does not reach"),
    ],
)
def test_cylinders_that_do_not_fit_are_told(hand: Hand, side: float, z: float, text: str) -> None:
    wrap = Wrap(("index",), ((0.04, side, z), (0.05, side, z)), {"thumb_yaw": 1.308}, {"thumb_yaw": 1.308})
    with pytest.raises(InputError, match=f"mine.*({text}).*give another place"):
        WrapClosure(hand, "mine", wrap).solve(0.045)


def test_wraps_and_branches_are_told_apart(smooth: GraspPlanner) -> None:
    with pytest.raises(InputError, match="wraps a cylinder"):
        smooth.branch("cylinder")
    with pytest.raises(InputError, match="does not wrap"):
        smooth.wrap("line index")
