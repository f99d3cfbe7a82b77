"""Examples run without a display, as their docstrings say, print what their pages show, and what they claim is judged."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.image
import numpy as np
import pytest
import trimesh
from ruamel.yaml import YAML

import elbowroom as er
from elbowroom.errors import MissingExtraError
from elbowroom.world import World

ROOT = Path(__file__).parent.parent
BRIDGES = re.compile(r"^from elbowroom\.bridges|search=theirs", re.MULTILINE)
"""Examples of bridges, which are to be read at a glance."""
SELF = ("left_arm_l5", "right_arm_l5")


@cache
def tool():
    """What writes the pages."""
    spec = importlib.util.spec_from_file_location(
        "write_example_pages", ROOT / "tools" / "write_example_pages.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def by_name(path):
    return path.stem


each = pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=by_name)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs the example of a number in a folder of its own; the module and what `main` returns."""

    def go(number):
        path = next(path for path in tool().example_paths() if path.stem.startswith(number))
        example = tool().load(path)
        monkeypatch.chdir(tmp_path)
        found = example.main(tool().arguments(example))
        page = tool().page(path, example, capsys.readouterr().out)
        known = (tool().PAGES / f"{path.stem}.md").read_text(encoding="utf-8")
        assert tool().shape(page) == tool().shape(known)
        made = tool().picture(example)
        if made is not None:
            size = matplotlib.image.imread(made).shape
            assert size[:2] == matplotlib.image.imread(tool().image_of(path, made)).shape[:2]
        return example, found

    return go


@cache
def coal():
    """Pinocchio and Coal on the bundled robot's own file."""
    from tests.oracles import oracle_of

    return oracle_of(er.load_robot("teaarm"))


@cache
def counted():
    """Pairs of its links that the judge is asked about."""
    from benchmarks.truth import judged_pairs

    return judged_pairs(er.CollisionModel(er.load_robot("teaarm")), coal())


def judge(model, held=(), world=None):
    """Pinocchio and Coal all along a motion."""
    from tests.plan_oracles import PathJudge

    return PathJudge(model, world, held, oracle=coal(), pairs=counted())


# All of them ---------------------------------------------------------------------------------------


@each
def test_examples_are_short_numbered_and_alike(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= (60 if BRIDGES.search(text) else 149)
    assert path in tool().example_paths()
    title, about, command = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")
    assert ": " in title
    assert about.count(". ") <= 6
    assert command.strip().startswith(f"python examples/{path.name}")
    assert text.endswith('if __name__ == "__main__":\n    main()\n')
    mains = [item for item in ast.parse(text).body if getattr(item, "name", "") == "main"]
    assert [[arg.arg for arg in main.args.args] for main in mains] == [["argv"]]


@each
def test_examples_use_public_names(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("elbowroom"):
            try:
                module = importlib.import_module(node.module)
            except MissingExtraError:  # of examples that need an environment of their own
                assert node.module == "elbowroom.bridges.robosuite"
                continue
            for alias in node.names:
                listed = alias.name in module.__all__ or f"{node.module}.{alias.name}" == "elbowroom.mesh"
                assert listed, f"{node.module}.{alias.name}"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "er":
            assert node.attr in er.__all__ or node.attr == "formats", node.attr
        if isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_") or node.attr.endswith("__"), node.attr


def test_every_example_has_a_page_and_every_page_an_example():
    pages = {path.stem for path in tool().PAGES.glob("*.md")} - {"index"}
    assert pages == {path.stem for path in tool().example_paths()}
    assert (tool().PAGES / "index.md").read_text(encoding="utf-8") == tool().index()


def test_the_pages_say_otherwise_when_words_change():
    """The comparison can fail: numbers do not count, words and lines do."""
    shape = tool().shape
    assert shape("left_arm_l5 is -1.5 mm off, 3e-05 s") == shape("right_arm_l5 is 20 mm off, 12 s")
    assert shape("free: 1 mm") != shape("blocked: 1 mm")
    assert shape("a\nb") != shape("a b")


def test_long_lines_of_output_are_wrapped_and_compared_as_one():
    long = "word " * 30 + "12.5 mm"
    wrapped = tool().wrap(long)
    assert max(map(len, wrapped.splitlines())) <= 88
    assert len(wrapped.splitlines()) == 2
    assert tool().shape(wrapped) == tool().shape(tool().wrap(long.replace("12.5", "1000.25")))
    assert tool().shape(wrapped) != tool().shape(tool().wrap(long.replace("mm", "m")))


# One by one ----------------------------------------------------------------------------------------


@pytest.mark.long
def test_01_first_clearance(run):
    _, (model, forward, crossed, cfgs, free) = run("01")
    assert forward.clearance == pytest.approx(coal().distances(forward.cfg, counted()).min(), abs=1e-6)
    touching = {
        pair for pair, hit in zip(counted(), coal().colliding(crossed.cfg, counted())[0], strict=True) if hit
    }
    assert {clash.pair for clash in crossed.clashes} == touching
    np.testing.assert_array_equal(free[:300], coal().free(cfgs[:300], counted()))
    assert 0.0 < model.clearance(forward.cfg) <= forward.clearance


@pytest.mark.long
def test_02_spheres_with_proof(run):
    _, (spheres, proof, smaller, refuted, read) = run("02")
    robot = er.load_robot("teaarm")
    assert proof.proved
    for link in robot.mesh_links:
        points, _ = trimesh.sample.sample_surface(robot.link_mesh(link), 2000, seed=0)
        centers, radii = spheres.link(link)
        gaps = np.linalg.norm(points[:, None] - centers, axis=2) - radii
        assert gaps.min(axis=1).max() <= 1e-9
    (name,) = refuted.uncovered
    found = refuted.links[name]
    centers, radii = smaller.link(name)
    assert (np.linalg.norm(centers - found.witness, axis=1) - radii).min() == pytest.approx(
        found.worst_gap, abs=1e-9
    )
    assert 1e-4 < found.worst_gap <= 1e-3 + 1e-9
    written = YAML(typ="safe").load(Path("teaarm.yml"))["robot_cfg"]["kinematics"]["collision_spheres"]
    rows = [(*ball["center"], ball["radius"]) for link in robot.mesh_links for ball in written[link]]
    ours = np.concatenate([np.column_stack(spheres.link(link)) for link in robot.mesh_links])
    np.testing.assert_allclose(rows, ours, atol=1e-6)
    np.testing.assert_allclose(read.radii, spheres.radii, atol=1e-6)


@pytest.mark.long
def test_03_pairs_with_reasons(run):
    _, (pairs, given, difference) = run("03")
    assert given.reason(*SELF) is er.PairReason.NEVER_SAMPLED
    assert difference.newly_checked == (SELF,)
    robot = er.load_robot("teaarm")
    assert coal().colliding(robot.named_cfgs["self_collision"], [SELF]).all()
    proved = [pair for pair, found in pairs.entries.items() if found.reason is er.PairReason.NEVER_PROVED]
    least = coal().distances(robot.random_cfgs(20, seed=3), proved).min(axis=0)
    assert (least >= [pairs.entries[pair].clearance for pair in proved]).all()
    elements = ElementTree.parse("teaarm.srdf").getroot().findall("disable_collisions")
    assert {tuple(sorted((e.get("link1"), e.get("link2")))) for e in elements} == set(pairs.ignored)


@pytest.mark.long
def test_04_differentiable_clearance(run):
    example, (_, spheres, way, depths) = run("04")
    assert coal().colliding(way[0], counted()).any()
    assert not coal().colliding(way[-1], counted()).any()

    i, j = np.asarray(spheres.pair_i), np.asarray(spheres.pair_j)
    links, local = np.asarray(spheres.sphere_link_indices), np.asarray(spheres.sphere_centers_local)

    def distances(cfgs):
        """Of all pairs of spheres, by Pinocchio's kinematics in double precision."""
        Ts = coal().kinematics.link_poses(cfgs, spheres.link_names)[:, links]
        centers = np.einsum("npij,pj->npi", Ts[..., :3, :3], local) + Ts[..., :3, 3]
        radii = np.asarray(spheres.sphere_radii)
        return np.linalg.norm(centers[:, i] - centers[:, j], axis=-1) - radii[i] - radii[j]

    np.testing.assert_allclose(
        -distances(way).min(axis=1), depths, atol=1e-5
    )  # JAX works in single precision

    def cost(cfgs):
        d, m = np.minimum(distances(cfgs), example.MARGIN), example.MARGIN
        return np.where(d < 0.0, m / 2 - d, (d - m) ** 2 / (2 * m)).sum(axis=1)

    steps = 1e-6 * np.eye(len(way[0]))
    gradient = (cost(way[0] + steps) - cost(way[0] - steps)) / 2e-6
    np.testing.assert_allclose(
        way[1] - way[0], -example.STEP * gradient / np.linalg.norm(gradient), atol=1e-4 * example.STEP
    )


@pytest.mark.long
def test_05_world_and_point_cloud(run):
    _, (model, verdicts, second) = run("05")
    from tests.clouds import CloudJudge
    from tests.world_oracles import CoalWorld

    cloud = model.world["camera"]
    solids, points = (
        CoalWorld(coal(), model.world.remove("camera")),
        CloudJudge(model.robot, cloud.points, cloud.radius),
    )
    named = [{clash.b for clash in verdict.world_clashes} for verdict in verdicts.values()]
    assert named == [set(), {"ring"}, {"table"}, {"camera"}]
    for verdict in verdicts.values():
        assert coal().free(verdict.cfg[None], counted()).all()
        hits = [clash.pair for clash in verdict.world_clashes if clash.b != "camera"]
        assert sorted(hits) == solids.hits(verdict.cfg)
        assert (points.clearance(verdict.cfg) <= 0.0) == (
            "camera" in {clash.b for clash in verdict.world_clashes}
        )
    assert second.free
    again = World.read("scene.json")
    assert [obstacle.name for obstacle in again] == ["table", "ring", "camera"]


@pytest.mark.long
def test_06_mesh_contacts(run):
    from tests.oracles import coal as library
    from tests.oracles import coal_mesh, coal_pose

    _, (ring, peg, cases) = run("06")
    a, b = (coal_mesh(mesh.vertices, mesh.faces) for mesh in (ring, peg))
    measure, touch = library.ComputeDistance(a, b), library.ComputeCollision(a, b)

    def collide(T):
        return bool(
            touch(coal_pose(np.eye(4)), coal_pose(T), library.CollisionRequest(), library.CollisionResult())
        )

    def shifted(case, by):
        T = case.T_world_peg.copy()
        T[:3, 3] += by * case.manifold.normal
        return T

    apart = measure(
        coal_pose(np.eye(4)),
        coal_pose(cases[0].T_world_peg),
        library.DistanceRequest(),
        library.DistanceResult(),
    )
    assert cases[0].distance.distance == pytest.approx(apart, abs=1e-9)
    assert [len(case.contacts) > 0 for case in cases] == [collide(case.T_world_peg) for case in cases]
    for case in cases[1:]:
        assert collide(shifted(case, case.manifold.depth - 1e-4))
        assert not collide(shifted(case, case.manifold.depth + 1e-5))
    assert [case.manifold.n_patches for case in cases[1:]] == [1, 2]


@pytest.mark.long
def test_07_prove_a_motion(run):
    _, (model, (straight, bent), (blocked, free), audit) = run("07")
    touch = judge(model).first_touch(straight)
    assert {touch.a, touch.b} == set(blocked.by)
    assert touch.place == pytest.approx(blocked.blocked_at, abs=0.02)
    assert coal().free(straight, counted()).all()
    assert free.free
    assert judge(model).free(bent)
    assert audit.rows_free.all()
    assert list(np.flatnonzero(audit.between)) == [int(touch.place)]
    assert len(Path("swing.csv").read_text().splitlines()) == len(audit) + 1


@pytest.mark.long
def test_08_two_hands_cross_and_keep_clear(run):
    example, (tracked, blind, cfgs) = run("08")
    assert blind < -5.0  # it would collide, deep, without avoidance
    assert tracked >= 1e3 * example.BUFFER
    distances = coal().distances(cfgs[::40], counted())
    assert 1e3 * distances.min() >= tracked - 1e-3


@pytest.mark.long
def test_09_guard_a_controller(run):
    example, (model, asked, done, steps) = run("09")
    from tests.world_oracles import CoalWorld

    posts = CoalWorld(coal(), model.world)
    assert not posts.free(asked[::20]).all()
    assert posts.free(done[::5]).all()
    assert coal().free(done[::20], counted()).all()
    assert min(posts.clearance(cfg, 0.05) for cfg in done[::20]) >= example.CLEARANCE
    assert all(step.proved for step in steps)
    velocities = np.diff(done, axis=0, prepend=done[:1]) / example.DT
    assert (np.abs(velocities) <= model.robot.velocity_limits + 1e-9).all()
    assert np.abs(np.diff(velocities, axis=0)).max() <= 15.0 * example.DT + 1e-9
    np.testing.assert_allclose(done[-1], asked[-1], atol=1e-3)


@pytest.mark.long
def test_10_an_arm_is_led_around_a_board(run):
    example, (there, back, inside) = run("10")
    assert (there.method, back.method, inside.reason) == ("sampler", "roadmap", "goal")
    assert min(there.proof.margin, back.proof.margin) >= example.BUFFER
    assert len(Path("motion.csv").read_text().splitlines()) == len(there.path) + 1
    model = example.scene(er.load_robot("teaarm"))
    arm = [name for name in model.robot.joint_names if name.startswith("left_")]
    ends = model.robot.named_cfgs["arms_forward"], there.path[-1]
    assert judge(model).faults(there.motion, arm, ends) == []
    hand = coal().kinematics.link_poses(there.path[-1:], [example.HAND])[0, 0, :3, 3]
    np.testing.assert_allclose(hand, example.beside(model.robot, 0.3), atol=1e-3)


@pytest.mark.long
def test_11_stomp_keeps_a_glass_upright(run):
    example, (model, paths, proofs) = run("11")
    assert all(proof.free for proof in proofs)
    tilts = []
    for path in paths:
        assert (
            judge(model).faults(path, [name for name in model.robot.joint_names if name.startswith("left_")])
            == []
        )
        poses = coal().kinematics.link_poses(path, [example.HAND])[:, 0]
        tilts.append(np.degrees(np.arccos(poses[:, 2, :3] @ np.array(example.UP))).max())
        low, high = poses[[0, -1], 2, 3].min(), poses[[0, -1], 2, 3].max()
        assert example.HEIGHT - example.BAND < low <= high < example.HEIGHT + example.BAND
    assert tilts[0] > 25.0
    assert tilts[1] < 0.5 * tilts[0]


@pytest.mark.long
def test_12_plans_are_the_same_for_any_number_of_workers(run):
    _, (model, problems, alone, together) = run("12")
    assert all(result.success for result in together)
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one.path, other.path)
    for k in (0, -1):
        problem = problems[k]
        faults = judge(model, world=problem.world).faults(
            together[k].path, ends=(problem.start, problem.goal)
        )
        assert faults == []


@pytest.mark.long
def test_13_a_width_is_grasped(run):
    mujoco = pytest.importorskip("mujoco")
    _, grasps = run("13")
    hand = grasps["line"].hand
    model = mujoco.MjModel.from_xml_path(str(Path(er.__file__).parent / "assets" / "rh56" / "rh56.xml"))
    data = mujoco.MjData(model)
    for grasp in (grasps["line"], grasps["plane"]):
        for joint, value in grasp.joints.items():
            data.qpos[model.joint(joint).qposadr[0]] = value
        mujoco.mj_kinematics(model, data)
        T_world_base = grasp.to_world(height=0.12).T_world_base
        tips = {}
        for name in ("thumb", *grasp.fingers):
            finger = hand.finger(name)
            body = model.body(finger.tip_link).id
            point = data.xmat[body].reshape(3, 3) @ finger.tip_point + data.xpos[body]
            tips[name] = T_world_base[:3, :3] @ point + T_world_base[:3, 3]
        mean = np.mean([tips[name] for name in grasp.fingers], axis=0)
        assert tips["thumb"][0] - mean[0] == pytest.approx(0.03, abs=5e-4)
        assert [tips["thumb"][2], mean[2]] == pytest.approx([0.12, 0.12], abs=5e-4)
    assert all(grasp.range_violation <= 0.0 for grasp in grasps.values())


@pytest.mark.long
@pytest.mark.robots
def test_14_an_arm_grasps_a_block(run):
    _, result = run("14")
    from tests.oracles import ShapeCoal
    from tests.world_oracles import CoalWorld

    assert result.success, result.why
    shapes, world = ShapeCoal(result.model.robot), result.model.world
    may_touch = [(link, result.obstacle) for link in result.contact.touching]
    for k, (a, b) in enumerate(zip(result.path[:-1], result.path[1:], strict=True)):
        rows = a + np.linspace(0.0, 1.0, 15)[:, None] * (b - a)
        closing = k == len(result.path) - 2
        assert shapes.free(rows, result.model.pairs.checked).all()
        assert CoalWorld(shapes, world, may_touch if closing else ()).free(rows).all()
    assert set(result.contact.tips) == {"thumb", "index"}
    assert max(abs(gap) for gap in result.contact.tips.values()) < 3e-3


@pytest.mark.long
def test_17_boxes_hold_the_links(run):
    example, (model, boxes, cfg, distance, touching) = run("17")
    from tests.world_oracles import CoalWorld

    assert example.met(boxes, model.robot, cfg, model.world)
    assert not example.met(boxes, model.robot, cfg, example.post(distance + example.STEP))
    assert CoalWorld(coal(), model.world).free(cfg[None]).all()
    assert touching <= distance
    assert not CoalWorld(coal(), example.post(touching)).free(cfg[None]).any()
    poses = coal().kinematics.link_poses(cfg[None], boxes.links)[0]
    for k, link in enumerate(boxes.links):
        T = np.linalg.inv(poses[k] @ boxes.T_link_box[k]) @ poses[k]
        points = model.robot.link_mesh(link).vertices @ T[:3, :3].T + T[:3, 3]
        assert (np.abs(points) <= boxes.half_extents[k] + 1e-9).all()


@pytest.mark.long
def test_15_two_arms_carry_a_box(run):
    example, (model, without, with_box, found, proof) = run("15")
    from tests.plan_oracles import Held

    start = model.robot.named_cfgs["arms_forward"]
    assert found.proof.free
    assert proof.free
    assert not with_box.free
    bare = er.CollisionModel(er.load_robot("teaarm"), world=example.WORLD)
    held = [Held("box", example.LEFT, example.BOX)]
    assert judge(bare, held).faults(found.motion, ends=(start, found.path[-1])) == []
    assert judge(bare).faults(without.motion) == []
    touch = judge(bare, held).first_touch(without.motion)
    assert {touch.a, touch.b} == set(with_box.by)
    goal = example.above(model.robot, start)
    hands = coal().kinematics.link_poses(found.path[-1:], [example.LEFT, example.RIGHT])[0, :, :3, 3]
    np.testing.assert_allclose(hands, [goal[example.LEFT][4:], goal[example.RIGHT]], atol=1e-3)
    assert len(Path("carry.csv").read_text().splitlines()) == len(found.path) + 1


@pytest.mark.long
def test_16_commands_of_a_real_hand(run):
    """What they do over Modbus is in tests/grasp/test_registers.py."""
    _, (grasp, reported) = run("16")
    assert reported == []
    np.testing.assert_allclose(grasp.hand.from_registers(grasp.to_registers()), grasp.ctrl, atol=0.001)


@pytest.mark.long
def test_18_a_policy_behind_the_guard(run):
    _, rows = run("18")
    assert not coal().free(rows["without"], counted()).all()
    assert coal().free(rows["with"], counted()).all()


@pytest.mark.long
def test_19_a_simulation_behind_the_guard(run):
    _, contacts = run("19")
    assert contacts["without"] > 100
    assert contacts["with"] == 0


@pytest.mark.long
@pytest.mark.parametrize("number", ["20", "21"])
def test_limits_for_mink_and_pink_keep_apart(run, number):
    _, rows = run(number)
    assert not coal().free(rows["without"][::5], counted()).all()
    assert coal().free(rows["with"], counted()).all()


@pytest.mark.long
def test_22_gello_behind_the_guard(run):
    _, rows = run("22")
    assert coal().free(rows, counted()).all()
    assert np.abs(rows[-1] - rows[0]).max() > 0.1


@pytest.mark.long
def test_23_a_guarded_motion_in_rerun(run):
    _, (_, motion) = run("23")
    assert motion.altered.any()
    assert coal().free(motion.cfgs, counted()).all()
    assert Path("guarded.rrd").stat().st_size > 100_000  # meshes and poses are in it


@pytest.mark.long
def test_24_commands_of_ros_behind_the_guard(run):
    _, rows = run("24")
    assert coal().free(rows, counted()).all()
    assert np.abs(rows[-1] - rows[0]).max() > 0.1


@pytest.mark.long
def test_25_the_path_of_another_planner_is_proved(run):
    example, (model, plan) = run("25")
    assert plan.method == "given search"
    assert not model.free(plan.path[0] + example.LINE * (plan.path[-1] - plan.path[0])).all()
    assert judge(er.CollisionModel(model.robot), world=model.world).faults(plan.motion) == []


@pytest.mark.long
def test_26_a_robosuite_arm_does_not_touch_the_table(run):
    pytest.importorskip(
        "robosuite", reason="robosuite needs an environment of its own: docs/howto/robosuite.md"
    )
    _, touching = run("26")
    assert touching["without"] > 5
    assert touching["with"] == 0


@pytest.mark.long
def test_27_a_robot_in_the_solver_of_teleop_xr(run, monkeypatch):
    """With stand-ins: pyroki and jaxls, which its solver needs, are not on PyPI."""
    from tests.bridges import standins

    stand_ins = {"jaxls": standins.jaxls_module(), **standins.teleop_xr_modules()}
    for name, module in stand_ins.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "elbowroom.bridges.teleop_xr", raising=False)
    _, (robot, cfg) = run("27")
    sys.modules.pop("elbowroom.bridges.teleop_xr", None)
    rest = np.asarray(robot.get_default_config())
    hands = [coal().kinematics.link_poses(row[None], ["frame_left_arm_ee", "frame_right_arm_ee"])[0, :, :3, 3] for row in (rest, cfg)]  # fmt: skip
    np.testing.assert_allclose(hands[1] - hands[0], [[0, 0, 0.05]] * 2, atol=0.005)


@pytest.mark.long
def test_30_actions_of_a_policy_are_guarded(run):
    _, (model, asked, sent) = run("30")
    assert not coal().free(asked, counted()).all()
    assert coal().distances(sent[::10], counted()).min() >= 0.01
    np.testing.assert_allclose(sent[1:40], asked[:39], atol=1e-9)  # passed on until the arms come near
    assert (np.abs(np.diff(sent, axis=0)) <= model.robot.velocity_limits / 30 + 1e-9).all()
