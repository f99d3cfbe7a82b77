"""What pyroki's costs and solver ask of a robot. pyroki and jaxls are not on PyPI: a stand-in takes their place.

The stand-in has the shape of jaxls that pyroki's costs rely on (`Var` subclasses with a default, values looked up by
variable, `Cost` with a factory whose products leave out the first argument), written for these tests. It shows that our
side fits that shape, not that every version of jaxls accepts it.
"""

from __future__ import annotations

import sys
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import elbowroom as er
from elbowroom import ik
from elbowroom._poses import as_matrix
from elbowroom.errors import InputError, MissingExtraError
from tests.double import enable_x64

LINKS = {"teaarm": "frame_left_arm_ee", "rh56": "thumb_distal", "panda": "panda_leftfinger"}
ROBOTS = [pytest.param("panda", marks=pytest.mark.robots), "teaarm", "rh56"]


def stand_in(factory_name: str, default_name: str) -> types.ModuleType:
    """A module of the shape of jaxls, with the names of newer or older versions."""

    class Var:
        def __init__(self, index: int) -> None:
            self.index = index

        def __init_subclass__(cls, **given: object) -> None:
            (name,) = given
            if name != default_name:
                raise TypeError(f"unexpected {name}")
            cls.start = given[name]

    class Cost:
        def __init__(self, rows, args, name) -> None:
            self.rows, self.args, self.name = rows, args, name

    def factory(rows):
        return lambda *args, **kwargs: Cost(lambda vals: rows(vals, *args, **kwargs), args, rows.__name__)

    setattr(Cost, factory_name, staticmethod(factory))
    module = types.ModuleType("jaxls")
    module.Var, module.Cost = Var, Cost
    return module


@pytest.mark.parametrize(
    ("factory_name", "default_name"), [("factory", "default_factory"), ("create_factory", "default")]
)
def test_the_factory_gives_the_specified_cost(monkeypatch, factory_name, default_name):
    monkeypatch.setitem(sys.modules, "jaxls", stand_in(factory_name, default_name))
    robot = er.load_robot("teaarm")  # its own: the class of variables is kept
    coll = er.build_multi_sphere_collision(robot)
    var = robot.joint_var_cls(0)
    assert robot.joint_var_cls is type(var)
    start = type(var).start
    np.testing.assert_allclose(start() if callable(start) else start, robot.default_cfg, atol=1e-6)
    cost = ik.multi_sphere_self_collision_cost(robot, coll, var, margin=0.02, weight=5.0)
    cfg = jnp.asarray(robot.named_cfgs["self_collision"])
    rows = cost.rows({var: cfg})
    expected = 5.0 * er.colldist_from_sdf(coll.compute_link_pair_distance(robot, cfg), 0.02)
    np.testing.assert_allclose(rows, expected, atol=1e-6)
    assert rows.shape == (len(coll.link_pairs()),)
    assert float(rows.min()) < 0.0
    assert cost.name == "multi_sphere_self_collision"


def test_without_jaxls_or_with_the_wrong_one_it_says_so(monkeypatch, load):
    robot = load("teaarm")
    monkeypatch.setitem(sys.modules, "jaxls", None)
    with pytest.raises(
        MissingExtraError, match="joint_var_cls needs jaxls, which is not installed: pip install git"
    ):
        _ = robot.joint_var_cls
    monkeypatch.setitem(sys.modules, "jaxls", types.ModuleType("jaxls"))
    with pytest.raises(MissingExtraError, match="on PyPI is another project"):
        ik.multi_sphere_self_collision_cost(robot, None, None, 0.02, 5.0)


@pytest.mark.parametrize("name", ROBOTS)
def test_twists_and_transforms_are_the_kinematics(load, name):
    robot = load(name)
    cfgs = robot.random_cfgs(10, seed=1)
    with enable_x64(True):
        joints = robot._forward_kinematics_joints(jnp.asarray(cfgs))
        links = np.asarray(robot._link_poses_from_joint_poses(joints))
    assert joints.shape == (10, robot.joints.num_joints, 7)
    np.testing.assert_allclose(as_matrix(links), as_matrix(robot.link_poses(cfgs)), atol=1e-9)


def test_facts_that_are_first_asked_for_under_jit_are_facts():
    robot = er.load_robot("teaarm")
    jax.jit(lambda: (robot.joints.parent_indices + 1, robot.joints.actuated_indices + 1))()
    assert np.asarray(robot.joints.parent_indices).min() == -1
    assert np.asarray(robot.joints.actuated_indices).max() == robot.dof - 1


@pytest.mark.parametrize("name", ROBOTS)
def test_a_jacobian_made_of_pyrokis_fields_is_ours(load, name):
    """Column by column from the link to the root, as an analytic Jacobian reads these fields."""
    robot, link = load(name), LINKS[name]
    info, cfg = robot.joints, robot.random_cfgs(1, seed=2)[0]
    with enable_x64(True):
        poses = np.asarray(robot._forward_kinematics_joints(jnp.asarray(cfg)))
    Ts = as_matrix(poses)
    tip = robot.link_poses(cfg)[robot.link_index(link), 4:]
    found = np.zeros((6, robot.dof))
    joint = int(robot.links.parent_joint_indices[robot.link_index(link)])
    while joint >= 0:
        column = int(info.actuated_indices[joint])
        column = column if column >= 0 else int(info.mimic_act_indices[joint])
        if column >= 0:
            twist = info.twists[joint] * info.mimic_multiplier[joint]
            slide, turn = Ts[joint, :3, :3] @ twist[:3], Ts[joint, :3, :3] @ twist[3:]
            found[:3, column] += slide + np.cross(turn, tip - Ts[joint, :3, 3])
            found[3:, column] += turn
        joint = int(info.parent_indices[joint])
    np.testing.assert_allclose(found, robot.jacobian(cfg, link), atol=1e-9)


@pytest.mark.parametrize("name", ROBOTS)
def test_mimic_fields_give_the_full_configuration(load, name):
    robot = load(name)
    info, cfg = robot.joints, robot.random_cfgs(1, seed=3)[0]
    follows = np.where(np.asarray(info.mimic_act_indices) >= 0, info.mimic_act_indices, info.actuated_indices)
    values = np.where(follows >= 0, cfg[follows] * info.mimic_multiplier + info.mimic_offset, 0.0)
    with enable_x64(True):
        np.testing.assert_allclose(info.get_full_config(jnp.asarray(cfg)), values, atol=1e-12)


def test_indices_may_be_traced(load):
    """pyroki walks up the tree in a `while_loop`."""
    info = load("rh56").joints

    def root_of(joint):
        return jax.lax.while_loop(
            lambda j: info.parent_indices[j] >= 0, lambda j: info.parent_indices[j], joint
        )

    assert int(jax.jit(root_of)(jnp.int32(info.num_joints - 1))) >= 0


def test_a_robot_with_our_fields_becomes_ours_again(load):
    """The round trip: what we offer is what `as_robot` reads of a pyroki Robot."""
    robot = load("rh56")
    twin = er.as_robot(types.SimpleNamespace(joints=robot.joints, links=robot.links))
    cfgs = robot.random_cfgs(10, seed=4)
    np.testing.assert_allclose(
        as_matrix(twin.link_poses(cfgs)), as_matrix(robot.link_poses(cfgs)), atol=1e-12
    )


def test_laws_that_are_no_line_are_refused_by_name(tmp_path):
    path = tmp_path / "bent.xml"
    path.write_text(
        """<mujoco><worldbody><body name="a"><joint name="first" axis="0 0 1" range="-1 1" limited="true"/>
        <geom size="0.1"/><body name="b" pos="0.3 0 0"><joint name="second" axis="0 0 1" range="-1 1" limited="true"/>
        <joint name="third" axis="0 1 0" range="-1 1" limited="true"/><geom size="0.1"/></body></body></worldbody>
        <equality><joint joint1="second" joint2="first" polycoef="0.1 0.5 0.3 0 0"/></equality></mujoco>"""
    )
    robot = er.load_robot(path)
    with pytest.raises(InputError, match="'second' follows 'first' by a polynomial of degree 2"):
        _ = robot.joints.mimic_multiplier
    cfgs = robot.random_cfgs(
        5, seed=5
    )  # two joints on one body: each is placed in the frame of the one before
    with enable_x64(True):
        links = robot._link_poses_from_joint_poses(robot._forward_kinematics_joints(jnp.asarray(cfgs)))
    np.testing.assert_allclose(as_matrix(np.asarray(links)), as_matrix(robot.link_poses(cfgs)), atol=1e-9)
