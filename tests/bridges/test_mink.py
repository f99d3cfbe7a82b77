"""Our collision limit inside mink."""

from __future__ import annotations

import sys

import mujoco
import numpy as np
import pytest

import elbowroom as er
from elbowroom.errors import InputError, MissingExtraError
from elbowroom.world import Box, World

from .test_mujoco import BALL, BEGIN, MEET, TWO_ARMS

mink = pytest.importorskip("mink")
pytest.importorskip("daqp")
from elbowroom.bridges.mink import CollisionLimit  # noqa: E402 (mink first)

DT = 0.01
ON_A_FREE_BASE = TWO_ARMS.format("").replace(
    '<body name="base">', '<body name="base"><freejoint name="float"/>'
)


@pytest.fixture(scope="module")
def model():
    return er.CollisionModel(mujoco.MjModel.from_xml_string(TWO_ARMS.format("")))


def scene(text):
    mj = mujoco.MjModel.from_xml_string(text)
    configuration = mink.Configuration(mj)
    q = configuration.q.copy()
    for joint, value in BEGIN.items():
        q[mj.joint(joint).qposadr[0]] = value
    configuration.update(q)
    return configuration


def follow(configuration, limits, ticks=300):
    """Both arms towards where they meet; angles of the arms."""
    mj = configuration.model
    at = [mj.joint(joint).qposadr[0] for joint in BEGIN]
    target = configuration.q.copy()
    target[at] = MEET
    task = mink.PostureTask(mj, cost=1.0)
    task.set_target(target)
    rows = []
    for _ in range(ticks):
        velocity = mink.solve_ik(configuration, [task], DT, solver="daqp", limits=limits)
        configuration.integrate_inplace(np.clip(velocity, -2.0, 2.0), DT)
        rows.append(configuration.q[at].copy())
    return np.array(rows)


@pytest.mark.parametrize("text", [TWO_ARMS.format(""), TWO_ARMS.format("").replace("<worldbody>", BALL), ON_A_FREE_BASE])  # fmt: skip
def test_what_mink_finds_keeps_apart(model, text):
    assert not model.free(follow(scene(text), [])).all()
    rows = follow(scene(text), [CollisionLimit(model)])
    assert model.free(rows).all()
    assert model.clearance(rows, exact=True).min() > 0.003
    assert np.abs(rows[-1] - rows[0]).max() > 1.0  # it went as far as it could


def test_what_is_within_the_buffer_is_asked_to_part_by_joints_that_move(model):
    """Linear rows lose a little on every curve. A joint that stands still may be held by another limit: it is not asked."""
    configuration = scene(TWO_ARMS.format(""))
    at = [configuration.model.joint(joint).qposadr[0] for joint in BEGIN]
    limit = CollisionLimit(model, buffer=0.5)

    def room_at(cfg):
        q = configuration.q.copy()
        q[at] = cfg
        configuration.update(q)
        return limit.compute_qp_inequalities(configuration, DT)

    cfg, moved = np.array([2.1, -2.2]), np.array([2.101, -2.2])
    assert model.clearance(cfg, exact=True) < 0.5
    assert (room_at(cfg).h == 0.0).all()  # nothing is known of what moves
    assert (room_at(cfg).h == 0.0).all()  # nothing moved
    found = room_at(moved)
    assert found.h.min() < 0.0
    apart = np.linalg.lstsq(found.G[found.h < 0.0], found.h[found.h < 0.0], rcond=None)[0]
    assert np.abs(apart).max() <= 0.2 * DT + 1e-9  # calmly
    q = configuration.q.copy()
    before = model.clearance(q[at], exact=True)
    assert model.clearance(q[at] + apart[[configuration.model.joint(joint).dofadr[0] for joint in BEGIN]], exact=True) > before  # fmt: skip
    assert (room_at(moved).h == 0.0).all()


def test_rows_are_derivatives_of_distances_in_the_columns_of_mink(model):
    configuration = scene(TWO_ARMS.format("").replace("<worldbody>", BALL))
    mj = configuration.model
    q = configuration.q.copy()
    at = [mj.joint(joint).qposadr[0] for joint in BEGIN]
    q[at] = cfg = np.array([2.1, -2.2])
    configuration.update(q)
    found = CollisionLimit(model, buffer=0.0, reach=1.0, approach_time=DT).compute_qp_inequalities(configuration, DT)  # fmt: skip
    assert isinstance(found, mink.Constraint)
    assert found.G.shape == (len(found.h), mj.nv)
    dofs = [mj.joint(joint).dofadr[0] for joint in BEGIN]
    assert not np.delete(found.G, dofs, axis=1).any()
    row = int(np.argmin(found.h))
    exact = model.clearance(cfg, exact=True)
    assert exact - 0.01 < found.h[row] <= exact  # spheres show that they are far enough apart
    for k, dof in enumerate(dofs):
        step = 1e-5 * np.eye(2)[k]
        slope = (model.clearance(cfg + step, exact=True) - model.clearance(cfg - step, exact=True)) / 2e-5
        assert -found.G[row, dof] == pytest.approx(slope, abs=0.02)
    configuration.update(scene(TWO_ARMS.format("").replace("<worldbody>", BALL)).q)
    assert CollisionLimit(model).compute_qp_inequalities(configuration, DT).inactive


def test_obstacles_hold_back_too(model):
    box = Box((0.1, 0.1, 0.1), pose=[1, 0, 0, 0, -0.1, -0.3, 0.0], name="box")
    among = model.with_world(World([box]))
    rows = follow(scene(TWO_ARMS.format("")), [CollisionLimit(among)])
    assert among.free(rows).all()
    assert not among.free(follow(scene(TWO_ARMS.format("")), [CollisionLimit(model)])).all()
    with pytest.raises(InputError, match="the base is free and the model has obstacles"):
        CollisionLimit(among).compute_qp_inequalities(scene(ON_A_FREE_BASE), DT)


def test_names_and_numbers_are_refused(model):
    renamed = mink.Configuration(
        mujoco.MjModel.from_xml_string(TWO_ARMS.format("").replace('"ja"', '"left"'))
    )
    with pytest.raises(InputError, match="not a joint of .*: left; .* lack: ja"):
        CollisionLimit(model).compute_qp_inequalities(renamed, DT)
    CollisionLimit(model, names={"left": "ja"}).compute_qp_inequalities(renamed, DT)
    with pytest.raises(InputError, match="dt must be seconds above zero"):
        CollisionLimit(model).compute_qp_inequalities(scene(TWO_ARMS.format("")), 0.0)
    with pytest.raises(InputError, match="buffer must be 0 or more"):
        CollisionLimit(model, buffer=-1.0)
    with pytest.raises(InputError, match="reach must be above 0"):
        CollisionLimit(model, reach=0.0)
    bad = scene(TWO_ARMS.format(""))
    bad.data.qpos[0] = np.nan
    with pytest.raises(InputError, match="ja.*nan|NaN|finite"):
        CollisionLimit(model).compute_qp_inequalities(bad, DT)


def test_without_mink_the_install_line_is_said(monkeypatch):
    monkeypatch.delitem(sys.modules, "elbowroom.bridges.mink")
    monkeypatch.setitem(sys.modules, "mink", None)
    with pytest.raises(MissingExtraError, match="needs mink: pip install mink"):
        __import__("elbowroom.bridges.mink")
