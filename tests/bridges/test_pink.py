"""Our collision limit inside pink."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import elbowroom as er
from elbowroom.errors import InputError, MissingExtraError
from elbowroom.world import Box, World

pin = pytest.importorskip("pinocchio")
pink = pytest.importorskip("pink")
pytest.importorskip("daqp")
from elbowroom.bridges.pink import CollisionLimit  # noqa: E402 (pink first)

DT = 0.01
ARM = """
<link name="{0}"><collision><origin xyz="{1} 0 0"/><geometry><box size=".3 .06 .06"/></geometry></collision></link>
<joint name="j{0}" type="{3}"><parent link="base"/><child link="{0}"/><origin xyz="{2} 0 0"/><axis xyz="0 0 1"/>
<limit lower="-3.1" upper="3.1" velocity="2" effort="1"/></joint>
"""
ARMS = f"""<robot name="arms"><link name="base"><collision><geometry><sphere radius=".05"/></geometry></collision></link>
{ARM.format("a", -0.25, -0.3, "revolute")}{ARM.format("b", 0.25, 0.3, "continuous")}</robot>"""
BEGIN, MEET = np.array([1.2, -1.2]), np.array([3.0, -3.0])


@pytest.fixture(scope="module")
def arms(tmp_path_factory):
    path = tmp_path_factory.mktemp("arms") / "arms.urdf"
    path.write_text(ARMS)
    return path, er.CollisionModel(er.load_robot(path))


def full(model, angles):
    """Pinocchio's q: cosine and sine of the continuous joint, the base at rest."""
    q = pin.neutral(model)
    for name, value in zip(("ja", "jb"), angles, strict=True):
        joint = model.joints[model.getJointId(name)]
        q[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else (np.cos(value), np.sin(value))
    return q


def follow(model, limits, ticks=300):
    configuration = pink.Configuration(model, model.createData(), full(model, BEGIN))
    task = pink.tasks.PostureTask(cost=1.0)
    task.set_target(full(model, MEET))
    rows = []
    for _ in range(ticks):
        velocity = pink.solve_ik(configuration, [task], DT, solver="daqp", limits=limits, safety_break=False)
        configuration.integrate_inplace(np.clip(velocity, -2.0, 2.0), DT)
        ja, jb = (model.joints[model.getJointId(name)] for name in ("ja", "jb"))
        q = configuration.q
        rows.append([q[ja.idx_q], np.arctan2(q[jb.idx_q + 1], q[jb.idx_q])])
    return np.array(rows)


@pytest.mark.parametrize("free_base", [False, True])
def test_what_pink_finds_keeps_apart(arms, free_base):
    path, model = arms
    base = [pin.JointModelFreeFlyer()] if free_base else []
    theirs = pin.buildModelFromUrdf(str(path), *base)
    assert not model.free(follow(theirs, [])).all()
    rows = follow(theirs, [CollisionLimit(model)])
    assert model.free(rows).all()
    assert model.clearance(rows, exact=True).min() > 0.003
    assert np.abs(rows[-1] - BEGIN).max() > 1.0
    if free_base:
        world = World([Box((0.1, 0.1, 0.1), pose=[1, 0, 0, 0, 0, 2, 0], name="box")])
        configuration = pink.Configuration(theirs, theirs.createData(), full(theirs, BEGIN))
        with pytest.raises(InputError, match="the base is free and the model has obstacles"):
            CollisionLimit(model.with_world(world)).compute_qp_inequalities(configuration, DT)


def test_obstacles_hold_back_and_nothing_near_is_no_limit(arms):
    path, model = arms
    theirs = pin.buildModelFromUrdf(str(path))
    configuration = pink.Configuration(theirs, theirs.createData(), full(theirs, [0.3, 0.3]))
    assert CollisionLimit(model).compute_qp_inequalities(configuration, DT) is None
    among = model.with_world(World([Box((0.1, 0.1, 0.1), pose=[1, 0, 0, 0, -0.1, -0.3, 0.0], name="box")]))
    rows = follow(theirs, [CollisionLimit(among)])
    assert among.free(rows).all()
    assert not among.free(follow(theirs, [CollisionLimit(model)])).all()


def test_names_and_times_are_refused(arms):
    path, model = arms
    text = ARMS.replace("ja", "left")
    theirs = pin.buildModelFromXML(text)
    configuration = pink.Configuration(theirs, theirs.createData(), pin.neutral(theirs))
    with pytest.raises(InputError, match="not a joint of arms: left; .* lack: ja"):
        CollisionLimit(model).compute_qp_inequalities(configuration, DT)
    CollisionLimit(model, names={"left": "ja"}).compute_qp_inequalities(configuration, DT)
    theirs = pin.buildModelFromUrdf(str(path))
    configuration = pink.Configuration(theirs, theirs.createData(), full(theirs, BEGIN))
    with pytest.raises(InputError, match="dt must be seconds above zero"):
        CollisionLimit(model).compute_qp_inequalities(configuration, np.nan)
    with pytest.raises(InputError, match="approach_time must be above 0"):
        CollisionLimit(model, approach_time=0.0)


def test_without_pink_the_install_line_is_said(monkeypatch):
    monkeypatch.delitem(sys.modules, "elbowroom.bridges.pink")
    monkeypatch.setitem(sys.modules, "pink.limits", None)
    with pytest.raises(MissingExtraError, match="needs pink: pip install pin-pink"):
        __import__("elbowroom.bridges.pink")
