"""Costs for jaxls, the solver of pyroki and teleop_xr: any of ours, and the one of many spheres a link by itself.

jaxls refuses costs that are not its own. Its factory takes a residual function and stacks the arguments of all costs
of a kind, so everything that changes from call to call (targets, the configuration to stay near) has to be an argument;
the values of a `Cost` are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ...distance import MultiSphereCollision, self_collision_residual
from ...errors import InputError
from ...robot.doors import as_kinematics, jaxls_module
from ...typing import RobotLike
from ._costs import Cost


def jaxls_cost(cost: Cost, joint_var: Any) -> Any:
    """A cost of this package as a cost of jaxls, to be put among those of pyroki; pyroki itself is not needed.

    Args:
        cost: any cost, also one that is made under jit of traced targets.
        joint_var: the jaxls variable of the configuration, such as `robot.joint_var_cls(0)`.

    Raises:
        MissingExtraError: jaxls (brentyi's, not on PyPI) is not installed.
        InputError: not a cost of this package.
    """
    if not isinstance(cost, Cost):
        raise InputError(f"jaxls_cost: expected an elbowroom Cost, found a {type(cost).__name__}")
    return _factory(jaxls_module("jaxls_cost").Cost, elbowroom_cost)(joint_var, cost)


def multi_sphere_self_collision_cost(
    robot: RobotLike, multi_sphere_coll: MultiSphereCollision, joint_var: Any, margin: Any, weight: Any
) -> Any:
    """A jaxls cost: the rows of `distance.self_collision_residual`, one a pair of links.

    To be put among pyroki's own, with an Elbowroom or a pyroki Robot.

    Args:
        robot: whose links the spheres are on.
        multi_sphere_coll: the spheres and pairs.
        joint_var: the jaxls variable of the configuration, such as `robot.joint_var_cls(0)`.
        margin: metres at which a pair starts to cost; the specification has 0.02.
        weight: per metre; the specification has 5.0.

    Raises:
        MissingExtraError: jaxls (brentyi's, not on PyPI) is not installed.
    """
    robot = as_kinematics(robot)
    jaxls = jaxls_module("multi_sphere_self_collision_cost")
    make = _factory(jaxls.Cost, multi_sphere_self_collision)
    return make(robot, multi_sphere_coll, joint_var, margin, weight)


@cache
def _factory(cost_class: Any, residual: Callable[..., Any]) -> Any:
    """The cost class's own factory of a residual: `factory`, which older versions call `create_factory`."""
    make = getattr(cost_class, "factory", None) or cost_class.create_factory
    return make(residual)


def elbowroom_cost(vals: Any, joint_var: Any, cost: Cost) -> Any:
    """Residual in the manner of jaxls: values of variables first. jaxls names the cost after it."""
    return cost(vals[joint_var])


def multi_sphere_self_collision(
    vals: Any, robot: Any, multi_sphere_coll: Any, joint_var: Any, margin: Any, weight: Any
) -> Any:
    """The same for the spheres of any robot."""
    rows = self_collision_residual(multi_sphere_coll, robot, vals[joint_var], margin, weight)
    return rows.reshape(-1)
