"""Wrapped cylinders: MuJoCo and Coal see every finger touch and none inside, and MuJoCo's physics holds them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
import trimesh

from elbowroom import _core
from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.errors import ElbowroomError, InputError
from elbowroom.grasp import (
    Grasp,
    GraspChecker,
    GraspPlanner,
    GraspRangeError,
    Hand,
    Opposition,
    UnknownFingerError,
    Wrap,
    contacts_on_cylinder,
    contacts_on_sides,
    grasp_quality,
    load_hand,
    plan_approach,
)
from elbowroom.grasp._grasp import rotation
from elbowroom.grasp._quality import rate_grasp
from elbowroom.grasp._wrap import WrapClosure
from elbowroom.grasp.internal import grasped_object, rh56_spec

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
        size=(grasp.width / 2, grasped_object(grasp).size[1] / 2, 0.0),
        quat=(np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0),
        mass=0.2,
        friction=(1.0, 0.005, 0.001),
        condim=4,
    )
    spec.option.gravity = np.zeros(3)
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10.0  # as MuJoCo's documentation advises against creeping in grasps
    for key in list(spec.keys):  # of the hand alone: older versions do not widen them
        spec.delete(key)
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
    pytest.importorskip("coal")
    from tests.oracles import coal, coal_mesh, coal_pose

    grasp = smooth.cylinder(diameter)
    poses = matrix_from_wxyz_xyz(hand.robot.link_poses(hand.cfg(grasp.ctrl)))
    axis = coal.Cylinder(1e-6, 2.0)  # as good as a line
    turned = coal.Transform3s(np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]), np.array(grasp.midpoint))
    found: dict[str, float] = {}
    for link in hand.robot.mesh_links:
        mesh = hand.robot.link_mesh(link)
        own, place = coal_mesh(mesh.vertices, mesh.faces), coal_pose(poses[hand.robot.link_index(link)])
        found[link] = coal.distance(own, place, axis, turned, coal.DistanceRequest(), coal.DistanceResult())
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
    with pytest.raises(InputError, match="height"):
        contacts_on_cylinder(smooth.cylinder(0.03), "high")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no flat sides"):
        contacts_on_sides(smooth.cylinder(0.03))


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


@pytest.mark.long
def test_checks_know_what_touches(checker: GraspChecker, smooth: GraspPlanner) -> None:
    T = np.eye(4)
    T[2, 3] = 0.1
    for diameter in DIAMETERS:
        grasp = smooth.cylinder(diameter)
        found = checker.check(grasp, object_mesh=cylinder(diameter), T_world_object=T)
        assert found.free, found.why
        assert set(grasp.touching) < set(found.tip_links)
        assert "base" not in found.tip_links
        assert found.clearance > 0.01
        thicker = checker.check(grasp, object_mesh=cylinder(diameter + 0.003), T_world_object=T)
        assert set(grasp.touching) <= set(thicker.blocked)
        tolerant = GraspChecker(checker.hand, wrap_tolerance=0.01)
        assert tolerant.check(grasp, object_mesh=cylinder(diameter + 0.003), T_world_object=T).free
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
    checker = GraspChecker(allegro)
    sweep = GraspPlanner(allegro).sweep("cylinder", 33)
    assert max(abs(g.width_error) for g in sweep.grasps) < 1e-9
    assert max(abs(g.height_error) for g in sweep.grasps) < 1e-9
    assert max(g.range_violation for g in sweep.grasps) <= 1e-9
    assert sweep.largest_slope / 1e3 < 0.05
    T = np.eye(4)
    T[2, 3] = 0.3
    for grasp in sweep.grasps[::4]:
        assert {allegro.link_fingers[link] for link in grasp.touching} == set(allegro.finger_names)
        assert grasp.to_world(0.1).T_world_base[2, 3] > 0.1
        assert grasp_quality(contacts_on_cylinder(grasp), friction=0.5).force_closure
        found = checker.check(grasp, height=0.3, object_mesh=cylinder(grasp.width, 0.2), T_world_object=T)
        assert found.free, found.why


@pytest.mark.parametrize(
    ("places", "text"),
    [
        ((), "two or more rows"),
        (((0.05, 0.02, 0.15),), "two or more rows"),
        (((0.05, 0.02), (0.06, 0.02)), "two or more rows"),
        (((0.05, 0.02, 0.15), (0.06, np.nan, 0.15)), "two or more rows"),
        (((0.06, 0.02, 0.15), (0.05, 0.02, 0.15)), "positive and rise"),
        (((0.0, 0.02, 0.15), (0.05, 0.02, 0.15)), "positive and rise"),
        ((("a", "b", "c"), (1, 2, 3)), "two or more rows"),
        (((0.05, 0.02, 0.15), (0.06, 0.02)), "two or more rows"),
        ({"a": 1}, "two or more rows"),
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


@pytest.mark.parametrize(
    ("posture", "text"),
    [
        ({"index": np.nan}, "'index' needs a finite number, found nan"),
        ({"index": "much"}, "'index' needs a finite number, found 'much'"),
        ({"indx": 1.0}, "did you mean 'index'"),
        ([1.0], "maps actuators to rad"),
    ],
)
def test_bad_postures_are_refused(hand: Hand, posture: Any, text: str) -> None:
    places = ((0.04, 0.03, 0.15), (0.05, 0.03, 0.15))
    for wrap in (Wrap(("index",), places, posture), Wrap(("index",), places, {}, posture)):
        with pytest.raises(ElbowroomError, match=text):
            WrapClosure(hand, "mine", wrap)


@pytest.mark.parametrize("fingers", [(), ("indx",), ("thumb",), ("index", "index")])
def test_sets_name_different_fingers(hand: Hand, fingers: tuple[str, ...]) -> None:
    for entry in (Wrap(fingers, ((0.04, 0.03, 0.15), (0.05, 0.03, 0.15))), Opposition(fingers)):
        with pytest.raises(InputError, match="'mine' must name different fingers of: index, middle"):
            replace(hand, oppositions={"mine": entry})


def test_a_wrap_of_any_name_wraps_cylinders(hand: Hand) -> None:
    wrap = hand.opposition("cylinder")
    planner = GraspPlanner(replace(hand, oppositions={"around": wrap}))
    grasp = planner.cylinder(0.05)
    assert grasp.opposition == "around"
    np.testing.assert_allclose(planner.grasp("cylinder", 0.05).ctrl, grasp.ctrl)
    with pytest.raises(GraspRangeError, match="diameter 500"):
        planner.oppose("around", 0.5)
    two = GraspPlanner(replace(hand, oppositions={"around": wrap, "other": wrap}))
    with pytest.raises(UnknownFingerError, match="there are: around, other"):
        two.cylinder(0.05)
    with pytest.raises(InputError, match="needs method='smooth'"):
        GraspPlanner(replace(hand, oppositions={"cylinder": wrap, "mine": wrap}), "proportional").oppose(
            "mine", 0.05
        )


def test_idle_fingers_stay_where_they_are_told(hand: Hand) -> None:
    places = ((0.045, 0.044, 0.153), (0.055, 0.040, 0.155))
    across = {"thumb_yaw": 1.308}
    mine = replace(hand, oppositions={"two": Wrap(("index", "middle"), places, across, across)})
    planner = GraspPlanner(mine, unused=0.2)
    grasp = planner.oppose("two", 0.05)
    assert grasp.actuators["ring"] == grasp.actuators["pinky"] == 0.2
    motion = plan_approach(planner, grasp)
    assert np.ptp(motion.ctrl[:, [0, 1]]) == 0.0
    with pytest.raises(InputError, match="into (ring|pinky)"):  # curled, they are where the cylinder is
        GraspPlanner(mine, unused=1.2).oppose("two", 0.05)


def test_distances_of_meshes_with_degenerate_faces() -> None:
    """Against sampled points of every face: no face seen edge-on or without area counts as met by the line."""
    rng = np.random.default_rng(0)
    weights = rng.dirichlet((1.0, 1.0, 1.0), 4000)
    turned = np.array([1.0, 0, 0, 0, 0, 0, 0])
    for case in range(300):
        corners = rng.uniform(-0.05, 0.05, (4, 3, 3))
        corners[0, 1:] = corners[0, 0]  # a point
        corners[1, :, [0, 2]] = corners[1, 0, [0, 2]][:, None]  # a line along Y
        corners[2, 2] = 0.5 * (corners[2, 0] + corners[2, 1])  # a line
        corners[3, :, 0] = corners[3, 0, 0]  # a face seen edge-on
        if case % 2:
            turned = rng.normal(size=7) * [1, 1, 1, 1, 0.01, 0.01, 0.01]
            turned[:4] /= np.linalg.norm(turned[:4])
        x, z = rng.uniform(-0.08, 0.08, 2)
        faces = np.arange(12).reshape(4, 3)
        edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
        found, point = _core.line_distance(corners.reshape(-1, 3), edges, faces, turned, x, z)
        T = matrix_from_wxyz_xyz(turned)
        cloud = np.einsum("sk,fkj->fsj", weights, corners).reshape(-1, 3) @ T[:3, :3].T + T[:3, 3]
        sampled = np.hypot(cloud[:, 0] - x, cloud[:, 2] - z).min()
        assert found <= sampled + 1e-12
        assert found > sampled - 0.004
        assert np.hypot(point[0] - x, point[2] - z) == pytest.approx(found, abs=1e-12)


TOY = """
<mujoco><compiler angle="radian"/><worldbody><body name="palm">
  <geom type="box" size="0.06 0.05 0.01" pos="0.05 0 0.05"/>
  <body name="mount" pos="0 0 0.1">{mount}
    <body name="a1"><joint name="a" axis="0 1 0" range="0 1.5"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.08" size="0.008"/>{pad}
    </body>
  </body>
  <body name="b1" pos="0 0.04 0.1"><joint name="b" axis="0 1 0" range="0 1.5"/>
    <geom type="capsule" fromto="0 0 0 0 0 0.08" size="0.008"/></body>
  <body name="t1" pos="0.1 0.02 0.1">{slide}<joint name="t" axis="0 -1 0" range="0 1.5"/>
    <geom type="capsule" fromto="0 0 0 0 0 0.08" size="0.008"/></body>
</body></worldbody>{couplings}</mujoco>
"""


def toy_hand(folder: Path, actuators: tuple[str, ...] = ("a", "b", "t"), **parts: str) -> Hand:
    """Two fingers and a thumb, one hinge each, that close in the XZ plane around x 50, z 160 mm."""
    path = folder / "toy.xml"
    path.write_text(TOY.format(**{"mount": "", "pad": "", "slide": "", "couplings": "", **parts}))
    tips = {name: (f"{name[0]}1", (0.0, 0.0, 0.08)) for name in ("thumb", "a", "b")}
    places = ((0.03, 0.035, 0.16), (0.05, 0.025, 0.16))
    return load_hand(
        path, fingertips=tips, oppositions={"cylinder": Wrap(("a", "b"), places)}, actuators=actuators
    )


def test_a_mount_that_touches_is_not_the_finger(tmp_path: Path) -> None:
    """A fixed link below a finger, level with the underside of the cylinder: the finger closes all the same."""
    hand = toy_hand(tmp_path, mount='<geom type="box" size="0.07 0.01 0.01" pos="0.05 0 0.03"/>')
    grasp = GraspPlanner(hand).cylinder(0.04)
    assert set(grasp.touching) == {"mount", "a1", "b1", "t1"}
    assert abs(grasp.width_error) < 1e-9
    assert grasp.actuators["a"] == pytest.approx(grasp.actuators["b"])


def test_what_hangs_on_the_tip_is_the_finger(tmp_path: Path) -> None:
    pad = '<body name="pad" pos="0.01 0 0.06"><geom type="sphere" size="0.006"/></body>'
    grasp = GraspPlanner(toy_hand(tmp_path, pad=pad)).cylinder(0.04)
    assert "pad" in grasp.touching
    assert grasp.actuators["a"] < grasp.actuators["b"] - 0.05


def test_slides_without_limits_do_not_stop_it(tmp_path: Path) -> None:
    slide = '<joint name="rail" type="slide" axis="0 1 0"/>'
    plain, railed = (GraspPlanner(toy_hand(tmp_path, slide=part)).cylinder(0.04).ctrl for part in ("", slide))
    np.testing.assert_allclose(railed, plain, atol=1e-9)


def test_fingers_that_share_an_actuator_are_refused(tmp_path: Path) -> None:
    coupled = '<equality><joint joint1="b" joint2="a" polycoef="0 1 0 0 0"/></equality>'
    hand = toy_hand(tmp_path, ("a", "t"), couplings=coupled)
    with pytest.raises(InputError, match="'a' moves a and b.*same value in both postures"):
        GraspPlanner(hand).cylinder(0.04)


def test_idle_joints_beyond_a_tip_count_where_they_are(tmp_path: Path) -> None:
    """A slide on the finger that the wrap does not move: its place is the idle one, also for the advance."""
    pad = """<body name="side" pos="0.012 0 0.05"><joint name="c" type="slide" axis="1 0 0" range="0 0.02"/>
        <geom type="sphere" size="0.004"/></body>"""
    hand = toy_hand(tmp_path, ("a", "b", "t", "c"), pad=pad)
    still = {"c": 0.0}
    places = ((0.03, 0.035, 0.16), (0.05, 0.025, 0.16))
    named = replace(hand, oppositions={"cylinder": Wrap(("a", "b"), places, still, still)})
    for one in (hand, named):
        grasp = GraspPlanner(one, unused=0.01).cylinder(0.04)
        assert grasp.actuators["c"] == 0.01
        assert "side" in grasp.touching


def test_fingers_without_a_joint_of_their_own_are_told(tmp_path: Path) -> None:
    hand = toy_hand(tmp_path)
    twins = tuple(replace(f, tip_link="a1") if f.name == "b" else f for f in hand.fingers)
    with pytest.raises(InputError, match="moves with a or b alone"):
        GraspPlanner(replace(hand, fingers=twins)).cylinder(0.04)
