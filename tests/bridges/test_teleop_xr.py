"""Robots of Elbowroom in teleop_xr's solver, which `standins` stands in for."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import jax
import jax.numpy as jnp
import jaxlie
import numpy as np
import pytest

import elbowroom as er
from elbowroom import ik
from elbowroom.distance import self_collision_residual
from elbowroom.errors import InputError, MeshError, MissingExtraError, UnknownLinkError
from tests.bridges import standins
from tests.robot.builders import collision, joint, link, robot_xml, write, write_box_mesh

BRIDGE = "elbowroom.bridges.teleop_xr"
LEFT, RIGHT, WAIST = "frame_left_arm_ee", "frame_right_arm_ee", "waist_link"
FRAMES = ("left", "right", "head")


def bridge_with(patch: pytest.MonkeyPatch, base: type = standins.BaseRobot):
    """The bridge, imported anew where jaxls and a teleop_xr with this BaseRobot are installed."""
    for name, module in {"jaxls": standins.jaxls_module(), **standins.teleop_xr_modules(base)}.items():
        patch.setitem(sys.modules, name, module)
    patch.delitem(sys.modules, BRIDGE, raising=False)
    return importlib.import_module(BRIDGE)


@pytest.fixture
def bridge(monkeypatch):
    return bridge_with(monkeypatch)


@pytest.fixture(scope="module")
def tea():
    """The bundled dual arm in teleop_xr, made once; its solver compiles for a while."""
    with pytest.MonkeyPatch.context() as patch:
        robot = bridge_with(patch).TeaArm()
        yield robot, standins.PyrokiSolver(robot)


def arms(gap: float = 0.5, limits: str = "", mesh: str = "") -> str:
    """Text of a robot with two arms of three joints each beside each other, and a neck."""
    rod = collision('<cylinder radius="0.03" length="0.3"/>', xyz="0 0 0.15")
    hand = collision(f'<mesh filename="{mesh}"/>') if mesh else collision('<sphere radius="0.05"/>')
    limits = limits or '<limit lower="-2" upper="2" velocity="2" effort="3"/>'
    parts = [link("base", collision('<box size="0.2 0.2 0.1"/>', xyz="0 0 -0.2")), link("neck")]
    parts.append(joint("turn", "base", "neck", xyz="0 0 0.5", inner=limits))
    for side, y in (("left", gap / 2), ("right", -gap / 2)):
        above = "base"
        for k, axis in enumerate(("1 0 0", "0 1 0", "1 0 0")):
            place = f"0 {y} 0" if k == 0 else "0 0 0.3"
            parts.append(link(f"{side}_{k}", rod))
            parts.append(joint(f"{side}_j{k}", above, f"{side}_{k}", xyz=place, axis=axis, inner=limits))
            above = f"{side}_{k}"
        parts += [
            link(f"{side}_hand", hand),
            joint(f"{side}_fix", above, f"{side}_hand", "fixed", "", "0 0 0.35"),
        ]
    return robot_xml(*parts)


def errors_of(robot, cfg, **targets) -> dict[str, tuple[float, float]]:
    """Metres and radians that frames are off."""
    found = robot.forward_kinematics(cfg)
    return {
        frame: (
            float(jnp.linalg.norm(found[frame].translation() - target.translation())),
            float(jnp.linalg.norm((found[frame].rotation().inverse() @ target.rotation()).log())),
        )
        for frame, target in targets.items()
    }


def moved(pose: jaxlie.SE3, shift) -> jaxlie.SE3:
    return jaxlie.SE3.from_rotation_and_translation(pose.rotation(), pose.translation() + jnp.asarray(shift))


def ticks(solver, targets, cfg, count=6):
    for _ in range(count):
        cfg = solver.solve(*targets, cfg)
    return cfg


# The dual arm in the solver -----------------------------------------------------------------------


def test_the_robot_is_what_teleop_xr_asks_for(tea):
    robot, _ = tea
    assert isinstance(robot, standins.BaseRobot)
    assert robot.actuated_joint_names == list(robot.robot.joint_names)
    assert robot.supported_frames == {"left", "right", "head"}
    ahead = robot.base_to_ros @ jnp.array([0.0, 1.0, 0.0])  # its arms reach along y of the base
    np.testing.assert_allclose(ahead, [1.0, 0.0, 0.0], atol=1e-6)
    arms_forward = robot.forward_kinematics(jnp.asarray(robot.robot.named_cfgs["arms_forward"]))
    assert all(float(arms_forward[side].translation()[1]) > 0.4 for side in ("left", "right"))
    shown = robot.get_vis_config()
    assert Path(shown.urdf_path).is_file()
    assert robot._load_default_urdf().robot.name == "teaarm"
    start = robot.get_default_config()
    assert isinstance(start, jax.Array)
    assert robot.joint_var_cls.tangent_dim == start.size == 16
    np.testing.assert_allclose(robot.joint_var_cls.default_factory(), start)


def test_forward_kinematics_is_that_of_the_robot(tea):
    robot, _ = tea
    kinematics = jax.jit(robot.forward_kinematics)
    for cfg in robot.robot.random_cfgs(20, seed=3):
        found = kinematics(jnp.asarray(cfg))
        assert set(found) == {"left", "right", "head"}
        poses = robot.robot.link_poses(cfg)
        for frame, name in {"left": LEFT, "right": RIGHT, "head": WAIST}.items():
            matrix = jaxlie.SE3(jnp.asarray(poses[robot.robot.link_index(name)])).as_matrix()
            np.testing.assert_allclose(found[frame].as_matrix(), matrix, atol=2e-6)


def near_targets(robot, count):
    """Poses of the frames at configurations around the default one."""
    rng, lower, upper = np.random.default_rng(1), robot.robot.lower + 0.05, robot.robot.upper - 0.05
    for _ in range(count):
        cfg = np.clip(robot.robot.default_cfg + rng.normal(0.0, 0.2, robot.robot.dof), lower, upper)
        yield robot.forward_kinematics(jnp.asarray(cfg))


def test_the_whole_solve_reaches_both_hands_and_the_heading_under_jit(tea):
    robot = type(tea[0])(self_collision=False)
    solver, start = standins.PyrokiSolver(robot), robot.get_default_config()
    for aim in near_targets(robot, 10):
        found = ticks(solver, (aim["left"], aim["right"], aim["head"]), start, 3)
        assert np.all((found > robot.robot.lower - 1e-3) & (found < robot.robot.upper + 1e-3))
        off = errors_of(robot, found, **aim)
        assert max(metres for metres, _ in off.values()) < 5e-4, off
        assert max(radians for _, radians in off.values()) < 2e-3, off
    assert solver._jit_solve._cache_size() == 1, "other targets must not compile anew"


@pytest.mark.long
def test_the_whole_solve_with_spheres_arrives_where_our_own_solver_does(tea):
    robot, solver = tea
    start = robot.get_default_config()
    for aim in near_targets(robot, 3):
        targets = (aim["left"], aim["right"], aim["head"])
        found = solver.solve(*targets, start)
        ours = [cost.args[0][1] for cost in robot.build_costs(*targets, start)]
        best = ik.minimize(ours, start, robot.robot)
        reached = 0.5 * sum(float(jnp.sum(cost(found) ** 2)) for cost in ours)
        assert reached < 1.05 * float(best.cost), (reached, best.cost)
    assert solver._jit_solve._cache_size() == 1


@pytest.mark.long
def test_hands_that_are_asked_to_cross_stay_apart(tea):
    """Judged by meshes; without the cost the same targets end in contact, so it is the cost that keeps them apart."""
    robot, solver = tea
    free_to_touch = standins.PyrokiSolver(type(robot)(self_collision=False))
    judge = er.CollisionModel(robot.robot)
    start = jnp.asarray(robot.robot.named_cfgs["arms_forward"])
    here = robot.forward_kinematics(start)
    for shift in (0.16, 0.184, 0.25):
        targets = (moved(here["left"], (shift, 0, 0)), moved(here["right"], (-shift, 0, 0)), None)
        kept = ticks(solver, targets, start)
        assert judge.free(np.asarray(kept, dtype=float)), shift
        touching = ticks(free_to_touch, targets, start)
        assert not judge.free(np.asarray(touching, dtype=float)), shift


@pytest.mark.long
def test_costs_are_those_of_the_library_and_jaxls_adds_them_up(tea):
    robot, _ = tea
    plain = robot.robot
    cfg = jnp.asarray(plain.named_cfgs["self_collision"])
    aim = robot.forward_kinematics(robot.get_default_config())
    costs = robot.build_costs(aim["left"], aim["right"], aim["head"], cfg + 0.1)
    assert all(isinstance(cost, standins.Cost) for cost in costs)
    values = standins.VarValues.make([robot.joint_var_cls(jnp.array([0])).with_value(cfg[None])])
    problem = standins.LeastSquaresProblem(costs, [robot.joint_var_cls(0)]).analyze()
    w = robot.weights
    spheres = ik.TeaArmRobot().multi_sphere_coll
    margins = ik.margins_at_rest(plain, spheres, w["margin"], plain.default_cfg)
    expected = [
        ik.rest_cost(cfg + 0.1, w["rest"]),
        ik.manipulability_cost(plain, (LEFT, RIGHT), w["manipulability"]),
        ik.pose_cost(plain, LEFT, aim["left"], w["position"], w["orientation"]),
        ik.pose_cost(plain, RIGHT, aim["right"], w["position"], w["orientation"]),
        ik.heading_cost(plain, WAIST, aim["head"], w["orientation"]),
        ik.limit_cost(plain, w["limits"]),
        ik.self_collision_cost(plain, spheres, margins, w["self_collision"]),
    ]
    total = sum(float(jnp.sum(cost(cfg) ** 2)) for cost in expected)
    assert len(costs) == len(expected)
    assert float(jnp.sum(expected[-1](cfg) ** 2)) > 1.0
    np.testing.assert_allclose(float(jnp.sum(problem.residuals(values) ** 2)), total, rtol=1e-4)
    assert len(robot.build_costs(None, None, None)) == 4


# Any model, and texts -----------------------------------------------------------------------------


@pytest.mark.long
def test_any_model_with_named_links_is_steered(bridge, tmp_path):
    path = write(tmp_path, arms())
    robot = bridge.ModelRobot(robot=str(path), left="left_hand", right="right_hand", head="neck", faces="-x")
    assert robot.robot_description == str(path)
    np.testing.assert_allclose(robot.orientation @ jnp.array([-1.0, 0.0, 0.0]), [1, 0, 0], atol=1e-6)
    assert robot.get_vis_config().urdf_path == str(path)
    solver = standins.PyrokiSolver(robot)
    start = robot.get_default_config() + 0.3
    aim = robot.forward_kinematics(start + jnp.linspace(-0.2, 0.2, start.size))
    found = ticks(solver, (aim["left"], aim["right"], aim["head"]), start)
    off = errors_of(robot, found, **aim)
    assert max(off[side][0] for side in ("left", "right")) < 2e-3, off


@pytest.mark.long
@pytest.mark.parametrize("asked", [("left",), ("right",), ("head",), ()])
def test_targets_that_are_none_are_left_free(bridge, tmp_path, asked):
    path = write(tmp_path, arms())
    robot = bridge.ModelRobot(robot=str(path), left="left_hand", right="right_hand", head="neck")
    start = robot.get_default_config() + 0.3
    aim = robot.forward_kinematics(start + 0.2)
    found = ticks(
        standins.PyrokiSolver(robot), [aim[frame] if frame in asked else None for frame in FRAMES], start
    )
    for frame, (metres, radians) in errors_of(robot, found, **aim).items():
        off = radians if frame == "head" else metres
        assert (off < 2e-3) == (frame in asked), (frame, metres, radians)


@pytest.mark.long
def test_a_robot_with_one_hand_has_that_frame_alone(bridge, tmp_path):
    path = write(tmp_path, arms())
    robot = bridge.ModelRobot(robot=str(path), right="right_hand", weights={"self_collision": 20.0})
    assert robot.supported_frames == set(robot.forward_kinematics(robot.get_default_config())) == {"right"}
    aim = robot.forward_kinematics(robot.get_default_config() + 0.2)["right"]
    solver = standins.PyrokiSolver(robot)
    found = ticks(
        solver, (aim, aim, aim), robot.get_default_config() + 0.1
    )  # what it has no link for is ignored
    assert errors_of(robot, found, right=aim)["right"][0] < 2e-3


def test_the_text_of_a_urdf_takes_the_place_of_the_robot(bridge, tmp_path):
    write_box_mesh(tmp_path / "shapes" / "meshes" / "hand.stl", size=(0.1, 0.1, 0.1))
    text = arms(gap=0.7, mesh="package://shapes/meshes/hand.stl")
    links = {"left": "left_hand", "right": "right_hand"}
    robot = bridge.ModelRobot(text, robot="teaarm", package_dirs=str(tmp_path), **links)
    assert robot.robot.name == "made"
    assert Path(robot.get_vis_config().urdf_path).read_text() == text
    assert robot.get_vis_config().mesh_path == str(tmp_path)
    with pytest.raises(MeshError, match=r"package 'shapes' was not found.*package_dirs in --robot-args"):
        bridge.ModelRobot(text, **links)
    bare = text.replace("<collision>", "<!--").replace("</collision>", "-->")
    with pytest.raises(InputError, match="geometry"):
        bridge.ModelRobot(bare, **links)
    assert len(bridge.ModelRobot(bare, self_collision=False, **links).build_costs(None, None, None)) == 3
    with pytest.raises(UnknownLinkError, match=f"no link '{LEFT}'"):
        bridge.TeaArm(text, package_dirs=[str(tmp_path)])


def test_a_teaarm_given_as_text_has_the_default_pose_of_the_bundled_one(bridge):
    tea = ik.TeaArmRobot()
    meshes = Path(tea.urdf_path).parent / "meshes"
    text = Path(tea.urdf_path).read_text().replace('"meshes/', f'"{meshes.as_posix()}/')
    robot = bridge.TeaArm(text, package_dirs=[str(meshes)], self_collision=False)
    np.testing.assert_allclose(robot.get_default_config(), tea.default_cfg, atol=1e-6)


@pytest.mark.parametrize("base", [standins.FirstBaseRobot, standins.SwappingBaseRobot, standins.BaseRobot])
def test_every_known_base_of_teleop_xr_takes_it(monkeypatch, tmp_path, base):
    bridge = bridge_with(monkeypatch, base)
    path = write(tmp_path, arms())
    options = {"left": "left_hand", "right": "right_hand", "self_collision": False}
    robot = bridge.ModelRobot(robot=str(path), **options)
    assert isinstance(robot, base)
    if base is standins.SwappingBaseRobot:
        before = np.asarray(robot.forward_kinematics(robot.get_default_config())["left"].translation())
        robot.override_robot_description(arms(gap=1.0))
        after = np.asarray(robot.forward_kinematics(robot.get_default_config())["left"].translation())
        np.testing.assert_allclose(after - before, [0.0, 0.25, 0.0], atol=1e-5)
        robot.override_robot_description(None)
        assert robot.robot.path == path


def test_a_first_question_under_jit_leaves_no_traced_arrays_behind(bridge, tmp_path):
    robot = bridge.ModelRobot(robot=str(write(tmp_path, arms())), left="left_hand")
    solve = jax.jit(standins.PyrokiSolver(robot)._solve_internal)
    start = robot.get_default_config()
    solve(jaxlie.SE3.identity(), None, None, start)
    assert isinstance(np.asarray(robot.joint_var_cls.default_factory()), np.ndarray)
    again = er.load_robot(robot.robot_description)
    with jax.checking_leaks():
        jax.jit(lambda cfg: again.joint_var_cls.default_factory() + cfg)(start)
    np.testing.assert_allclose(again.joint_var_cls.default_factory(), start)


# How teleop_xr finds it ---------------------------------------------------------------------------


def test_entry_points_load_subclasses(bridge):
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    points = project["project"]["entry-points"]["teleop_xr.robots"]
    assert points.keys() == {"elbowroom", "elbowroom-teaarm"}
    for name, value in points.items():
        found = importlib.metadata.EntryPoint(name, value, "teleop_xr.robots").load()
        assert isinstance(found, type)
        assert issubclass(found, standins.BaseRobot)
        assert found is getattr(bridge, found.__name__)  # the same class every time
    assert "teaarm" not in points, (
        "teleop_xr has a robot of this name, and the first that is found would be taken"
    )


def test_arguments_fit_into_robot_args(bridge, tmp_path):
    """teleop_xr reads them from JSON."""
    text = json.dumps(
        {"robot": str(write(tmp_path, arms())), "left": "left_hand", "weights": {"rest": 1}, "faces": "y"}
    )
    assert bridge.ModelRobot(**json.loads(text)).weights["rest"] == 1


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({}, InputError, "nothing to load"),
        ({"robot": "teaarm"}, InputError, f"left, right or head; ends of teaarm: {LEFT}, {RIGHT}"),
        ({"robot": "teaarm", "left": "hand"}, UnknownLinkError, "no link 'hand'"),
        ({"robot": "teaarm", "left": LEFT, "weights": {"pose": 1.0}}, InputError, "no weight 'pose'"),
        ({"robot": "teaarm", "left": LEFT, "weights": {"rest": "a"}}, InputError, "rest must be a number"),
        ({"robot": "teaarm", "left": LEFT, "weights": {"rest": -1.0}}, InputError, "rest must be a number"),
        (
            {"robot": "teaarm", "left": LEFT, "faces": "up"},
            InputError,
            "no axis 'up'; there are: x, y, -x, -y",
        ),
        ({"robot": "teaarm", "left": LEFT, "package_dirs": ["/no/such"]}, InputError, "is not a folder"),
        ({"urdf_string": "<robot", "left": LEFT}, er.ElbowroomError, "robot.urdf"),
        ({"urdf_string": 5, "left": LEFT}, InputError, "urdf_string: expected a text"),
        ({"robot": 5, "left": LEFT}, InputError, "robot: expected a text"),
        ({"robot": "teaarm", "left": LEFT, "weights": 5}, InputError, "weights: expected a map"),
        ({"robot": "teaarm", "left": LEFT, "faces": []}, InputError, "faces: no axis"),
        ({"robot": "teaarm", "left": LEFT, "package_dirs": 5}, InputError, "package_dirs: expected paths"),
        ({"robot": "teaarm", "left": LEFT, "n_spheres": "x"}, InputError, "n_spheres must be"),
    ],
)
def test_bad_input_is_refused_by_name(bridge, options, error, said):
    with pytest.raises(error, match=said):
        bridge.ModelRobot(**options)


def test_what_is_missing_is_said(monkeypatch):
    bridge = bridge_with(monkeypatch)
    monkeypatch.setitem(sys.modules, "jaxls", None)
    with pytest.raises(MissingExtraError, match="jaxls, which is not installed: pip install git"):
        bridge.ModelRobot(robot="teaarm", left=LEFT)
    monkeypatch.delitem(sys.modules, BRIDGE)
    monkeypatch.setitem(sys.modules, "teleop_xr.ik.robot", None)
    bridge = importlib.import_module(BRIDGE)
    with pytest.raises(MissingExtraError, match="TeaArm needs teleop_xr: pip install git.*teleop_xr"):
        _ = bridge.TeaArm
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = bridge.no_such_name


def test_the_folder_loads_nothing():
    code = (
        "import sys, elbowroom.bridges; sys.exit(', '.join({'jax', 'jaxls', 'teleop_xr'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stderr.strip() == ""


def test_only_costs_of_the_library_become_costs_of_jaxls(bridge):
    with pytest.raises(InputError, match="expected an elbowroom Cost, found a function"):
        ik.jaxls_cost(lambda cfg: cfg, None)


def test_the_cost_of_the_spheres_alone_is_mapped_over_like_any_other(bridge, tmp_path):
    """Its spheres are arguments, so jaxls stacks and maps over them."""
    robot = er.load_robot(write(tmp_path, arms(gap=0.2)))
    spheres, var = er.build_multi_sphere_collision(robot), robot.joint_var_cls(0)
    cfg = jnp.asarray(robot.default_cfg) + 0.5

    @jax.jit
    def rows(cfg):
        cost = ik.multi_sphere_self_collision_cost(robot, spheres, var, margin=0.05, weight=5.0)
        values = standins.VarValues.make([robot.joint_var_cls(jnp.array([0])).with_value(cfg[None])])
        return standins.LeastSquaresProblem([cost], [var]).analyze().residuals(values)

    expected = self_collision_residual(spheres, robot, cfg, 0.05, 5.0)
    assert float(expected.min()) < 0.0
    np.testing.assert_allclose(rows(cfg), expected, atol=1e-6)


def test_the_dual_arm_is_made_of_a_text_with_the_same_links(bridge):
    """As ROS 2 hands it over: meshes by package."""
    folder = Path(er.load_robot("teaarm").path).parent
    text = (
        (folder / "teaarm.urdf").read_text(encoding="utf-8").replace('"meshes/', '"package://teaarm/meshes/')
    )
    robot = bridge.TeaArm(text, package_dirs=[str(folder.parent)])
    assert robot.robot.path != folder / "teaarm.urdf"
    assert robot.supported_frames == set(FRAMES)
    assert len(robot.build_costs(None, None, None)) == 4  # rest, manipulability, limits, self-collision
    cfg = robot.robot.random_cfgs(1, seed=2)[0]
    np.testing.assert_allclose(
        robot.robot.link_poses(cfg), er.load_robot("teaarm").link_poses(cfg), atol=1e-12
    )
