"""What goes to Rerun: a recording of the real package, with what it was given noted."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import rerun as rr

import elbowroom as er
from elbowroom.bridges.rerun import log
from elbowroom.errors import InputError, MissingExtraError
from elbowroom.world import Box, Capsule, Cylinder, HalfSpace, MeshObstacle, PointCloud, Sphere, World

PLACE = [1, 0, 0, 0, 3, 0, 0]


class Noted(rr.RecordingStream):
    """A recording that keeps what it is given."""

    def __init__(self, name):
        super().__init__(name)
        self.given, self.times = [], []

    def log(self, entity_path, entity, *extra, static=False, **options):
        self.given.append((entity_path, entity, static))
        super().log(entity_path, entity, *extra, static=static, strict=True, **options)

    def set_time(self, timeline, **at):
        self.times.append((timeline, at))
        super().set_time(timeline, **at)

    def of(self, path):
        return [entity for found, entity, _ in self.given if found == path]


@pytest.fixture(scope="module")
def tea(load):
    return er.CollisionModel(load("teaarm"))


@pytest.fixture
def recording(request):
    return Noted(request.node.name)


def numbers(entity, field):
    return np.array(getattr(entity, field).as_arrow_array().to_pylist(), dtype=float)


def test_meshes_once_and_poses_at_every_step(tea, recording, tmp_path):
    recording.save(str(tmp_path / "steps.rrd"))
    guard, cfg = er.Guard(tea), tea.robot.named_cfgs["arms_forward"]
    goal = tea.robot.named_cfgs["self_collision"]
    steps = []
    for _ in range(3):
        steps.append(guard.step(cfg, goal, 0.02))
        cfg = steps[-1].cfg
        log(recording, tea, steps[-1])
    meshes = [(path, static) for path, entity, static in recording.given if isinstance(entity, rr.Mesh3D)]
    assert sorted(meshes) == sorted((f"robot/links/{link}", True) for link in tea.robot.mesh_links)
    link = "left_arm_l5"
    poses = [entity for entity in recording.of(f"robot/links/{link}") if isinstance(entity, rr.Transform3D)]
    wanted = tea.robot.link_poses(np.array([step.cfg for step in steps]))[:, tea.robot.link_index(link)]
    np.testing.assert_allclose([numbers(pose, "translation")[0] for pose in poses], wanted[:, 4:], atol=1e-6)
    np.testing.assert_allclose([numbers(pose, "quaternion")[0] for pose in poses], np.roll(wanted[:, :4], -1, axis=1), atol=1e-6)  # fmt: skip
    shown = [numbers(entity, "scalars")[0] for entity in recording.of("robot/clearance")]
    np.testing.assert_allclose(shown, tea.clearance(np.array([step.cfg for step in steps])))
    assert [numbers(e, "scalars")[0] for e in recording.of("robot/altered")] == [
        float(s.altered) for s in steps
    ]
    assert recording.times == [("step", {"sequence": k}) for k in range(3)]
    recording.flush()
    assert (tmp_path / "steps.rrd").stat().st_size > 100_000


def test_contacts_are_arrows(tea, recording):
    cfg = tea.robot.named_cfgs["self_collision"]
    log(recording, tea, cfg, time=1.5)
    (arrows,) = recording.of("robot/contacts")
    touching = [clash for clash in tea.near(cfg) if clash.distance < 0.02]
    assert len(touching) > 0
    np.testing.assert_allclose(numbers(arrows, "origins"), [clash.point_a for clash in touching], atol=1e-5)
    assert any("left_arm_l5, right_arm_l5: -" in text for text in arrows.labels.as_arrow_array().to_pylist())
    assert recording.times == [("time", {"duration": 1.5})]
    log(recording, tea, tea.robot.default_cfg, time=2.0)
    assert len(recording.of("robot/contacts")) == 2  # old arrows are replaced


def test_whole_motions_have_their_own_times(tea, recording):
    begin, end = tea.robot.named_cfgs["arms_forward"], tea.robot.named_cfgs["self_collision"]
    motion = er.Guard(tea).filter(begin + np.linspace(0, 1, 5)[:, None] * (end - begin), 0.5)
    log(recording, tea, motion)
    assert [at["duration"] for _, at in recording.times] == motion.times.tolist()
    plan = er.plan_motion(tea, begin, begin + 0.05)
    log(recording, tea, plan, path="plan")
    assert len(recording.of("plan/clearance")) == len(plan.path)
    log(recording, tea, np.array([begin, begin]), time=[0.0, 0.1], path="rows")
    assert len(recording.of("rows/clearance")) == 2
    with pytest.raises(InputError, match="the plan has no path to show"):
        log(recording, tea, er.plan_motion(tea, begin, end))


def test_obstacles_are_shown(tea, recording):
    ring = tea.robot.link_mesh("left_arm_l5")
    world = World([
        Box((1, 1, 1), pose=PLACE, name="box"), Sphere(0.5, pose=PLACE, name="ball"), Cylinder(0.2, 1.0, pose=PLACE, name="post"),
        Capsule(0.2, 1.0, pose=PLACE, name="pill"), MeshObstacle(ring, pose=PLACE, name="part"),
        PointCloud(np.full((4, 3), 3.0), radius=0.01, name="cloud"), HalfSpace(offset=-5.0, name="floor"),
    ])  # fmt: skip
    log(recording, tea.with_world(world), tea.robot.default_cfg)
    found = {path.rsplit("/", 1)[1]: entity for path, entity, _ in recording.given if "/obstacles/" in path}
    assert set(found) == {"box", "ball", "post", "pill", "part", "cloud"}
    assert isinstance(found["cloud"], rr.Points3D)
    corners = numbers(found["box"], "vertex_positions")
    np.testing.assert_allclose(corners.min(axis=0), [2.5, -0.5, -0.5])
    np.testing.assert_allclose(numbers(found["pill"], "vertex_positions")[:, 2].max(), 0.7, atol=0.01)


def test_what_cannot_be_shown_is_refused(tea, recording):
    with pytest.raises(InputError, match="recording: expected a rerun.RecordingStream"):
        log("file.rrd", tea, tea.robot.default_cfg)
    with pytest.raises(InputError, match="16"):
        log(recording, tea, np.zeros(3))
    with pytest.raises(InputError, match="nan|NaN|finite"):
        log(recording, tea, np.full(16, np.nan))
    with pytest.raises(InputError, match="time must be seconds, one for each of 1 configurations"):
        log(recording, tea, tea.robot.default_cfg, time=[1.0, 2.0])


def test_without_rerun_the_install_line_is_said(monkeypatch):
    monkeypatch.delitem(sys.modules, "elbowroom.bridges.rerun")
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(MissingExtraError, match="needs rerun: pip install rerun-sdk"):
        __import__("elbowroom.bridges.rerun")
